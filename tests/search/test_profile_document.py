"""The `--json` document: it follows the published schema, with every key that scripts rely on."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import jsonschema
import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.errors import ProfileError, UsageError
from profiler.experiment.window_plan import WindowPlan
from profiler.history.fingerprint.fingerprint import fingerprint_of
from profiler.job.loading import load_topology
from profiler.questions.schemas import PROFILE
from profiler.questions.search.answer import ProfileOrigin
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document, read_profile, rounds_of
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies import POLICIES


@pytest.fixture(scope="module")
def profile():
    engine = SimulatedEngine(SimulatedPlatform(nodes=3, cores_per_node=2, slots=20), seed=4)
    found = Loop(engine, load_topology("word-count"), POLICIES["stepwise"](), design=WindowPlan(blocks=4)).run()
    platform, slots = engine.platform, engine.slots_for(found.topology)
    taken = fingerprint_of(found.topology, "word-count", "simulated", platform, slots=slots)
    made = profile_of(found, run="a-run", engine="simulated", environment={"cores": 6}, fingerprint=taken)
    origin = ProfileOrigin(of="another-run", scope="features", full_rounds=12, start=found.rounds[0])
    return replace(made, recalibration=origin)


@pytest.fixture(scope="module")
def document(profile):
    return json.loads(json.dumps(profile_document(profile), allow_nan=False))


def test_it_follows_the_published_schema(document):
    """Every document validates, and the schema itself is a valid schema."""
    jsonschema.Draft202012Validator.check_schema(PROFILE.read())
    jsonschema.validate(document, PROFILE.read())


@pytest.mark.parametrize("key", ["best", "rounds", "settings", "gain", "confirmed", "schema"])
def test_the_schema_refuses_a_document_without_a_promised_key(document, key):
    """A check that could not fail would promise nothing."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({name: value for name, value in document.items() if name != key}, PROFILE.read())


def test_the_gain_is_best_over_initial(document):
    """As the contract defines it."""
    ratio = document["best"]["throughput_per_s"] / document["initial"]["throughput_per_s"]
    assert document["gain"] == pytest.approx(ratio - 1)


def test_settings_say_what_to_paste(document):
    """Kafka partitions for sources, repartition for operators, shuffle partitions for the one with state."""
    tasks = document["best"]["tasks"]
    assert document["settings"]["kafka_partitions"] == {"tweets": tasks["tweets"]}
    assert document["settings"]["repartition"] == {"parse": tasks["parse"], "split": tasks["split"]}
    assert document["settings"]["shuffle_partitions"] == tasks["count"]
    assert document["settings"]["slots"] == sum(tasks.values())


def test_features_are_those_of_the_topology(document):
    """Ten words a tweet: split's output is ten times its input, and most rows flow to the count."""
    features = document["features"]
    assert features["operators"]["split"]["selectivity"] == pytest.approx(10, rel=0.15)
    sizes = {(edge["from"], edge["to"]): edge["relative_size"] for edge in features["edges"]}
    assert sizes["split", "count"] == pytest.approx(10 / 12, rel=0.05)
    assert sum(sizes.values()) == pytest.approx(1)


def test_a_document_of_another_schema_is_refused():
    """Only what this version wrote is replayed."""
    with pytest.raises(UsageError, match="profile/9"):
        rounds_of({"schema": "profile/9", "rounds": []})


def test_a_profile_can_be_made_from_its_document(profile, document):
    """Nothing that is told is lost, so that whoever reads it later says the same."""
    assert read_profile(document) == profile
    assert profile_document(read_profile(document)) == document


def test_a_document_of_an_older_version_is_read(document):
    """Without the keys that came later."""
    best = {key: document["best"][key] for key in PROFILE.generated()["$defs"]["ProfileBest"]["required"]}
    required = PROFILE.generated()["required"]
    older = {key: document[key] for key in required} | {"best": best, "initial": {"throughput_per_s": 2.0}}
    jsonschema.validate(older, PROFILE.read())
    profile = read_profile(older)
    assert (profile.answer, profile.is_late, profile.only_offers_less, profile.fingerprint) == (
        None,
        False,
        False,
        None,
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("best.throughput_per_s", "fast"),
        ("best.tasks", 5),
        ("best.tasks.split", 0),
        ("best.latency_ms.p95", None),
        ("best.bound.by", "magic"),
        ("rounds", "none"),
        ("rounds.0.tasks", [1, 2]),
        ("rounds.0.record", 5),
        ("rounds.0.record.measurement.windows", {}),
        ("rounds.1.comparison.effect", "a lot"),
        ("features.operators.split.class", "gpu"),
        ("features.edges.0.from", 5),
        ("settings.slots", "many"),
        ("environment", []),
        ("warnings", "mind the gap"),
        ("complete", "perhaps"),
        ("gain", None),
        ("topology", 5),
        ("fingerprint", "abc"),
        ("fingerprint.application.split", 5),
        ("fingerprint.asked.latency", 500),
        ("best.throughput_interval_per_s", [1.0]),
        ("rounds.0.record.trial.configuration.items.0", []),
        ("recalibration.full_rounds", "few"),
    ],
)
def test_a_wrong_type_is_refused_with_its_key(document, key, value):
    """Wherever it is, so that who wrote the document by hand finds it."""
    broken = json.loads(json.dumps(document))
    *path, last = [int(part) if part.isdigit() else part for part in key.split(".")]
    inner = broken
    for part in path:
        inner = inner[part]
    inner[last] = value
    with pytest.raises(ProfileError, match=f"at '{re.escape(key)}"):
        read_profile(broken)


def test_a_round_in_which_nothing_was_seen_is_refused_with_its_key(document):
    """It has no throughput."""
    broken = json.loads(json.dumps(document))
    broken["rounds"][0]["record"]["measurement"]["windows"] = []
    with pytest.raises(
        ProfileError, match=r"can't be read: a measurement without windows at 'rounds\.0\.record\.measurement'"
    ):
        read_profile(broken)


def test_a_key_that_is_missing_is_named(document):
    """With the place where it should be."""
    best = {key: value for key, value in document["best"].items() if key != "slots"}
    with pytest.raises(ProfileError, match=r"at 'best\.slots'"):
        read_profile({**document, "best": best})
