"""`profile history prune`: it says what it would do, asks, and spares what others need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from profiler.cli.app import app
from profiler.cli.commands import history
from profiler.history.memory import MemoryStore
from profiler.questions.archive import removal
from profiler.services.run_folder import cache_directory
from profiler.services.run_lock import only_writer, place_of
from tests.history.histories import a_baseline, a_gate_run, a_result, a_run


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """Two profiles of word-count, one of linear, and a gate that a baseline came from; all of long ago."""
    filled = MemoryStore()
    for name, topology, minutes in (("old", "word-count", 0), ("new", "word-count", 60), ("linear", "linear", 30)):
        filled.begin_run(a_run(name, topology=topology, minutes=minutes))
        filled.save_result(name, a_result(name, rounds=1))
    filled.begin_run(a_gate_run("gate"))
    filled.save_baseline(a_baseline("main", run="gate"))

    @contextmanager
    def opened(_: object) -> Iterator[MemoryStore]:
        yield filled

    monkeypatch.setattr(removal, "opened_store", opened)
    return filled


def left(store: MemoryStore) -> list[str]:
    return [each.run.id for each in store.find_runs(kind=None)]


def test_a_dry_run_deletes_nothing(store, profile) -> None:
    """It shows what would go, and what stays and why."""
    answer = profile("history", "prune", "--older-than", "1d", "--keep-last", "0", "--dry-run")
    assert answer.exit_code == 0, answer.stderr
    listed = [line.split()[0] for line in answer.stdout.splitlines()]
    assert listed[:4] == ["run", "new", "linear", "old"]
    assert "kept: gate, as baseline 'main' of word-count came from it (--with-baselines)" in answer.stdout
    assert answer.stdout.endswith("Would delete 3 runs and 0 baselines.\n")
    assert left(store) == ["new", "linear", "old", "gate"]


def test_what_is_older_goes(store, profile) -> None:
    """All of it, with its rounds."""
    answer = profile("history", "prune", "--older-than", "2025-03-01T12:45+00:00", "--topology", "word-count", "--yes")
    assert answer.stdout.endswith("Deleted 1 run and 0 baselines.\n")
    assert left(store) == ["new", "linear", "gate"]
    assert store.rounds("old") == ()


def test_the_last_ones_of_every_job_are_kept(store, profile) -> None:
    """Of linear there is only one."""
    profile("history", "prune", "--keep-last", "1", "--yes")
    assert left(store) == ["new", "linear", "gate"]


def test_a_named_run_goes_and_a_protected_one_needs_more(store, profile) -> None:
    """The gate of a baseline only together with it."""
    profile("history", "prune", "old", "gate", "--yes")
    assert left(store) == ["new", "linear", "gate"]
    answer = profile("history", "prune", "gate", "--with-baselines", "--yes")
    assert "baseline 'main' of word-count on spark" in answer.stdout
    assert left(store) == ["new", "linear"]
    assert store.baselines() == []


def test_a_run_that_is_being_measured_stays(store, profile) -> None:
    """Its process goes on writing."""
    with only_writer(cache_directory(), "old"):
        answer = profile("history", "prune", "old", "--yes")
    assert "kept: old, as it is being measured\nNothing to delete.\n" in answer.stdout
    assert "old" in left(store)


@pytest.mark.parametrize(("hours", "stays"), [(1, True), (30, False)])
def test_what_another_machine_may_be_measuring_stays_for_a_day(store, profile, hours, stays) -> None:
    """Its lock is not seen here, and a run that broke off there is not kept for ever."""
    started = datetime.now(UTC) - timedelta(hours=hours)
    store.begin_run(replace(a_run("theirs"), started=started, place="another machine's cache"))
    store.begin_run(replace(a_run("ours"), started=started, place=place_of(cache_directory())))
    answer = profile("history", "prune", "theirs", "ours", "--yes")
    assert ("kept: theirs, as it is being measured" in answer.stdout) is stays
    assert ("theirs" in left(store)) is stays
    assert "ours" not in left(store)


@pytest.mark.parametrize(("said", "stays"), [("y\n", False), ("n\n", True)])
def test_on_a_terminal_it_asks(store, folder, monkeypatch, said, stays) -> None:
    """And takes no for an answer."""
    monkeypatch.setattr(history, "can_ask", lambda: True)
    answer = CliRunner().invoke(app, ["history", "prune", "old"], input=said)
    assert "Delete 1 run and 0 baselines? [y/N]" in answer.stderr
    assert ("old" in left(store)) is stays
    assert answer.exit_code == 0


WRONG = {
    "nothing to go by": ([], "It is not said what to delete."),
    "a run and a condition": (["old", "--keep-last", "3"], "RUN and conditions exclude each other."),
    "nobody to ask": (["--keep-last", "3"], "There is nobody to ask whether to delete. Add --yes"),
    "no moment": (["--older-than", "ages", "--yes"], "--older-than is 'ages', not a moment"),
    "an unknown run": (["odl", "--yes"], "The history holds no run 'odl'. Did you mean 'old'?"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_usage_deletes_nothing(store, profile, refused, wrong) -> None:
    """One sentence."""
    arguments, said = WRONG[wrong]
    before = left(store)
    assert refused(profile("history", "prune", *arguments)).startswith(said)
    assert left(store) == before
