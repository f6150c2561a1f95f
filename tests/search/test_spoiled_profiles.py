"""A profile document with something wrong anywhere is the user's file, and told as such: with the key that is wrong."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

from profiler.questions.search.document import read_profile
from profiler.report.documents import parsed_json

SIMULATED = ("--engine", "simulated", "--nodes", "1", "--cores", "4", "--quick", "--windows", "2", "--quiet")
RECORD = ("rounds", 0, "record")
WINDOW = (*RECORD, "measurement", "windows", 0)
WRONG = {
    ("topology",): 5,
    ("gain",): "much",
    ("rounds",): {"1": 2},
    ("best",): [],
    ("best", "throughput_interval_per_s"): [],
    ("features", "operators"): 7,
    ("settings", "slots"): None,
    ("environment",): "here",
    ("warnings",): "one",
    ("parameters", "latency_ms"): [500],
    ("fingerprint", "reference"): 5,
    ("fingerprint", "platform"): [],
    ("fingerprint", "asked"): {"latency": 5},
    (*RECORD, "number"): "first",
    (*RECORD, "trial"): [],
    (*RECORD, "measurement", "configuration", "items", 0): [],
    (*WINDOW, "processing_ms"): "long",
    (*WINDOW, "operators"): 5,
    (*WINDOW, "throughput_per_s"): {},
}


@pytest.fixture(scope="module")
def documents():
    """Keep the document of a run, which is made once for all tests."""
    return {}


@pytest.fixture
def document(profile, folder, documents):
    if not documents:
        assert profile("run", "linear?depth=2", *SIMULATED, "--json", "profile.json").exit_code == 0
        documents["made"] = json.loads((folder / "profile.json").read_text())
    return deepcopy(documents["made"])


def spoil(document, keys, value):
    for key in keys[:-1]:
        document = document[key]
    assert isinstance(document, list) or keys[-1] in document
    document[keys[-1]] = value


@pytest.mark.parametrize("keys", WRONG, ids=lambda keys: ".".join(map(str, keys)))
def test_a_wrong_type_is_refused_with_its_key(keys, document, profile, refused, folder):
    spoil(document, keys, WRONG[keys])
    (folder / "spoiled.json").write_text(json.dumps(document))
    said = refused(profile("recalibrate", "spoiled.json", "--dry-run"))
    assert f"at '{'.'.join(map(str, keys))}" in said


@pytest.mark.parametrize("named", ["slots", "prefill"])
def test_a_number_that_is_written_as_text_is_one(named, document, profile, refused, folder):
    spoil(document, ("fingerprint", "platform" if named == "slots" else "asked"), {named: "many"})
    (folder / "spoiled.json").write_text(json.dumps(document))
    said = refused(profile("recalibrate", "spoiled.json", "--dry-run"))
    assert f"{named} is 'many', which is no number at 'fingerprint'" in said


def test_an_engine_that_nobody_knows_is_refused(document, profile, refused, folder):
    document["engine"] = "flink"
    (folder / "spoiled.json").write_text(json.dumps(document))
    assert "was made on 'flink', which is no engine. Its key 'engine' says spark or simulated." in refused(
        profile("recalibrate", "spoiled.json", "--dry-run")
    )


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"best":' * 500 + "5" + "}" * 500, "9" * 5000, "\0"])
def test_what_is_no_document_is_refused(text, profile, refused, folder):
    """Nested beyond what any document is, too long a number, no text."""
    (folder / "spoiled.json").write_text(text)
    assert refused(profile("recalibrate", "spoiled.json")).startswith("'spoiled.json' is no profile.")
    (folder / "spoiled.jsonl").write_text(f"{text}\n")
    assert "line 1: it is no JSON" in refused(profile("history", "import", "spoiled.jsonl"))


def test_what_another_version_wrote_of_a_fingerprint_is_none(document):
    """The profile is treated like one without."""
    document["fingerprint"] = {"version": 99}
    assert read_profile(document).fingerprint is None


def test_documents_of_ours_are_not_too_deep(document):
    assert parsed_json(json.dumps(document)) == document
