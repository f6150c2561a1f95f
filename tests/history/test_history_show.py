"""`profile history show` of a profile: the whole answer, in the words of the command that found it."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from profiler.history.records import RunKind
from profiler.questions.archive import showing
from profiler.report.words import counted
from tests.history.histories import a_gate_run

WRITTEN = Path(__file__).parents[1] / "golden" / "expected"

KEPT = ("--engine", "simulated", "--mongo", "mongodb://nowhere", "--nodes", "2", "--cores", "2", "--quiet")


@pytest.fixture
def shown(profile, store, monkeypatch):
    """Show the newest run of the history."""

    @contextmanager
    def opened(_):
        yield store

    monkeypatch.setattr(showing, "opened_store", opened)
    return lambda: profile("history", "show", store.find_runs(kind=None, limit=1)[0].run.id)


@pytest.mark.parametrize(
    "asked",
    [("linear?depth=2", "--quick", "--windows", "2"), ("word-count", "--windows", "3", "--latency", "5ms")],
    ids=["a quick one", "one that is confirmed and late"],
)
def test_it_says_what_the_run_said(profile, shown, asked):
    """Answer, rounds, settings and warnings, line by line; all that is added is when it was."""
    said = profile("run", *asked, *KEPT)
    assert said.exit_code == 0, said.stderr
    heading, _, rest = shown().stdout.partition("\n")
    assert heading.startswith("Run ")
    assert rest == said.stdout
    assert rest.count("\n") > 15


def test_of_a_recalibration_it_shows_the_profile_that_came_of_it(profile, store, shown):
    """It is a profile like others."""
    profile("run", "linear?depth=2", "--no-confirm", *KEPT)
    profile("recalibrate", "--mongo", "mongodb://nowhere", "--seed", "2", "--quiet")
    document = store.result(store.find_runs(limit=1)[0].run.id)
    assert "recalibration" in json.loads(json.dumps(document))
    best = document["best"]
    said = shown().stdout
    assert f"Answer: linear on simulated, {counted(len(document['rounds']), 'round')}" in said
    assert f"capacity   {best['throughput_per_s']:,.0f} rows/s under stress" in said


@pytest.mark.parametrize(
    ("kind", "file", "key", "noun"),
    [
        (RunKind.GATE, "gate/drilled/gate.json", "drill", "gate"),
        (RunKind.GATE, "gate/unchanged/gate.json", "tasks", "gate"),
        (RunKind.COMPARE, "compare/workloads/compare.json", "pairs", "comparison"),
    ],
)
def test_a_stored_result_with_a_wrong_type_is_refused_with_the_key(store, shown, kind, file, key, noun):
    """It came from elsewhere, or from another version; that is no defect of the program."""
    document = json.loads((WRITTEN / file).read_text(encoding="utf-8"))
    run = replace(a_gate_run("kept"), kind=kind)
    store.begin_run(run)
    store.save_result("kept", document)
    assert document["why"] in " ".join(shown().stdout.split())
    store.save_result("kept", {**document, key: 5})
    said = shown()
    assert said.exit_code == 3
    assert re.search(rf"A stored {noun} can't be read: Input should be .* at '{key}'\.", said.stderr)
