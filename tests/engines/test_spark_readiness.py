"""What is done before the windows of a rate, and what is not done again."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest
from spark_stand_ins import placed, shared_parts

from profiler.engines.spark.load import readiness
from profiler.engines.spark.load.readiness import Readiness
from profiler.errors import ProfileError


class Load:
    """A load that does what the test says, and notes what is offered."""

    def __init__(self) -> None:
        self.capacity_per_s = 100.0
        self.blind = False
        self.has_drained = True
        self.well_sampled = True
        self.sample_every = 1
        self.offered: list[float] = []

    @contextlib.contextmanager
    def at(self, rate_per_s):
        self.offered.append(rate_per_s)
        throttle = SimpleNamespace(counted_from_s=1.0, capacity_per_s=self.capacity_per_s, blind=self.blind)
        yield SimpleNamespace(throttle=throttle, require_working=lambda: None)

    def is_sampled_well(self, rate_per_s):
        return self.well_sampled

    def sample_for(self, rate_per_s):
        self.sample_every, self.well_sampled = 16, True


class Queries:
    def __init__(self) -> None:
        self.starts: list[tuple[dict, int]] = []
        self.closed = False

    def start(self, starting, sample_every):
        self.starts.append((starting, sample_every))

    def stop(self):
        pass

    def next_batches(self):
        return {"lines": 3}

    def require_open(self):
        if self.closed:
            raise ProfileError("The deployment is closed.")

    def require_all_active(self):
        pass


class Batches:
    """Batches in which the state grows by a hundred keys each."""

    def __init__(self) -> None:
        self.state_rows = 0
        self.finished = 0
        self.forgotten = False

    def finish(self, numbers):
        assert self.forgotten, "a query that was started anew has no backlog yet"
        self.finished += 1
        self.state_rows += 100
        batch = SimpleNamespace(state_rows=self.state_rows)
        return {"lines": SimpleNamespace(stateful="count", batch=batch)}

    def next_after(self, numbers):
        return {name: number + 1 for name, number in numbers.items()}

    def forget_waiting(self):
        self.forgotten = True


@pytest.fixture
def parts(monkeypatch) -> SimpleNamespace:
    """A deployment that is ready for anything, until a test says otherwise."""
    monkeypatch.setattr(readiness, "DRAINS_WITHIN_S", 0.05)
    made = SimpleNamespace(load=Load(), queries=Queries(), batches=Batches(), shared=shared_parts())
    made.readiness = Readiness(made.shared, placed(), made.queries, made.batches, made.load, lambda: None)
    return made


def test_nothing_is_done_where_all_is_well(parts) -> None:
    """A restart takes seconds."""
    parts.readiness.make_ready(50.0)
    assert not parts.load.offered
    assert not parts.queries.starts


def test_a_job_of_unknown_capacity_is_approached(parts) -> None:
    """Else it would be sent twice of what it might take, and stand still."""
    parts.load.capacity_per_s = 0.0
    parts.readiness.make_ready(50.0)
    assert parts.load.offered == [50.0]


def test_a_blind_job_is_not_approached(parts) -> None:
    """Nothing would be learnt."""
    parts.load.capacity_per_s, parts.load.blind = 0.0, True
    parts.readiness.make_ready(50.0)
    assert not parts.load.offered


@pytest.mark.parametrize("blind", [True, False], ids=["blind", "seen"])
def test_a_backlog_that_does_not_drain_is_left_behind(parts, blind: bool) -> None:
    """The queries begin again where the topics end; of a blind job it is not known when it has drained."""
    parts.load.has_drained, parts.load.blind = False, blind
    parts.readiness.make_ready(50.0)
    ((starting, every),) = parts.queries.starts
    assert starting == {topic: {0: 7} for topic in placed().partitions}
    assert every == 16


def test_another_rate_of_sampling_needs_another_start(parts) -> None:
    parts.load.well_sampled = False
    parts.readiness.make_ready(50.0)
    assert [every for _, every in parts.queries.starts] == [16]


def test_queries_that_start_anew_come_up_before_the_rate(parts) -> None:
    """A few rows are let through first, until a batch has ended: those of the rate would wait for tasks to start."""
    parts.load.well_sampled = False
    parts.readiness.make_ready(50.0)
    assert parts.load.offered == [5.0]
    assert parts.batches.finished == 1


def test_who_waits_is_told_that_another_thread_has_closed(parts, monkeypatch) -> None:
    """And starts nothing any more."""
    monkeypatch.setattr(readiness, "DRAINS_WITHIN_S", 60.0)
    parts.load.has_drained, parts.queries.closed = False, True
    with pytest.raises(ProfileError, match="closed"):
        parts.readiness.make_ready(50.0)
    assert not parts.queries.starts


def test_a_state_is_filled_once_and_again_after_a_restart(parts) -> None:
    """What a deployment's checkpoint holds is gone with its queries."""
    parts.shared.prefill_keys = 300
    parts.readiness.make_ready(50.0)
    assert parts.load.offered == [200.0], "as fast as the job takes it"
    assert parts.batches.finished == 4, "three that fill it, and the one in which the last of it drained"
    parts.readiness.make_ready(50.0)
    assert len(parts.load.offered) == 1
    parts.readiness.restart()
    parts.readiness.make_ready(50.0)
    assert len(parts.load.offered) == 2
