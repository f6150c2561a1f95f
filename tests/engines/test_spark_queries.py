"""The queries of a deployment start and stop together, whoever ends it meanwhile."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from spark_stand_ins import placed, shared_parts

from profiler.engines.spark.query import queries
from profiler.engines.spark.query.queries import Queries
from profiler.errors import ProfileError


@pytest.fixture
def started(monkeypatch) -> list[str]:
    """Names of the queries that were started, in that order; nothing runs."""
    names: list[str] = []

    def start(messages, layout, *more):
        names.append(layout.chain.name)
        return SimpleNamespace(stop=lambda: names.remove(layout.chain.name))

    builder = SimpleNamespace(build=lambda query, starting: None, latency_up_to=None, sampled=True)
    monkeypatch.setattr(queries, "Builder", lambda *arguments: builder)
    monkeypatch.setattr(queries, "start", start)
    return names


def test_readers_are_there_before_what_they_read(started: list[str], tmp_path: Path) -> None:
    job = placed()
    several = Queries(shared_parts(), job, tmp_path, lambda: None)
    several.start({}, 1)
    assert len(started) == 3
    assert started == [query.chain.name for query in reversed(job.layout.queries)]
    assert several.running.keys() == set(started)


def test_stopping_twice_is_fine(started: list[str], tmp_path: Path) -> None:
    several = Queries(shared_parts(), placed(), tmp_path, lambda: None)
    several.start({}, 1)
    several.stop()
    several.stop()
    assert not started
    assert not several.running


def test_what_is_closed_while_it_starts_starts_no_more(started: list[str], tmp_path: Path) -> None:
    """Who closes stops what runs by then; what would start after that would run for good."""

    def require_open() -> None:
        if started:
            raise ProfileError("closed")

    several = Queries(shared_parts(), placed(), tmp_path, require_open)
    with pytest.raises(ProfileError, match="closed"):
        several.start({}, 1)
    assert len(started) == 1
    several.stop()
    assert not started


def test_whether_it_is_closed_is_asked_while_nobody_can_stop_it(started: list[str], tmp_path: Path) -> None:
    """Else another thread could stop all queries between the question and the start."""
    shared, asked = shared_parts(), []
    several = Queries(shared, placed(), tmp_path, lambda: asked.append(shared.starting.locked()))
    several.start({}, 1)
    assert asked == [True] * 3


def test_every_start_has_checkpoints_of_its_own(started: list[str], monkeypatch, tmp_path: Path) -> None:
    """A new start begins at other offsets, and without state."""
    folders: list[Path] = []

    def start(messages, layout, address, client, checkpoint, window_s):
        folders.append(checkpoint)
        return SimpleNamespace(stop=lambda: None)

    monkeypatch.setattr(queries, "start", start)
    several = Queries(shared_parts(), placed(), tmp_path, lambda: None)
    several.start({}, 1)
    several.stop()
    several.start({}, 1)
    assert len(set(folders)) == 6
    assert all(folder.is_relative_to(several.checkpoints) for folder in folders)


def test_what_comes_after_an_end_goes_with_the_next(tmp_path: Path) -> None:
    """A state store may still write when its query has stopped."""
    shared = shared_parts()
    first, second = (Queries(shared, placed(), tmp_path / name, lambda: None) for name in ("first", "second"))
    first.delete_checkpoints()
    (tmp_path / "first").mkdir()
    second.delete_checkpoints()
    assert not (tmp_path / "first").exists()


def test_a_query_that_ended_is_told_behind_a_broker_that_died(tmp_path: Path) -> None:
    """It ended because of the broker then, and says so in words of its own."""

    def died() -> None:
        raise ProfileError("Kafka died.")

    kafka = SimpleNamespace(check=lambda: None)
    several = Queries(shared_parts(kafka=kafka), placed(), tmp_path, lambda: None)
    ended = SimpleNamespace(is_active=lambda: False, why_it_ended=lambda: ProfileError("An operator failed."))
    several.running["ended"] = ended
    with pytest.raises(ProfileError, match="An operator failed"):
        several.require_all_active()
    kafka.check = died
    with pytest.raises(ProfileError, match="Kafka died"):
        several.require_all_active()
