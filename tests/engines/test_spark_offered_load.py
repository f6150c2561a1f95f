"""What a deployment learns of a job while it is loaded, and teaches the next one."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from spark_stand_ins import SteadyProgress, placed, shared_parts

from profiler.engines.spark.load.offered_load import OfferedLoad
from profiler.errors import ProfileError


class Generator:
    def __init__(self) -> None:
        self.rates: list[float] = []

    def set_rate(self, rate_per_s: float, *, abandon_owed: bool) -> None:
        assert abandon_owed
        self.rates.append(rate_per_s)


def load(
    shared, generator: Generator | None = None, *, telling: frozenset[str] | None = None, sampled: bool = True
) -> OfferedLoad:
    progress = SteadyProgress(50, telling)
    return OfferedLoad(shared, placed(), SimpleNamespace(sampled=sampled), generator or Generator(), progress)


def learn(shared, **how) -> OfferedLoad:
    """Offer a rate for a moment."""
    learning = load(shared, **how)
    with learning.at(1000.0) as throttle_thread:
        deadline = time.monotonic() + 10
        while not throttle_thread.throttle.capacity_per_s and time.monotonic() < deadline:
            time.sleep(0.02)
    return learning


def test_what_a_job_took_is_where_its_next_deployment_begins() -> None:
    """A job of unknown capacity is approached gently, which takes seconds."""
    shared = shared_parts()
    first = load(shared)
    assert first.capacity_per_s == 0
    taken_per_s = learn(shared).capacity_per_s
    assert taken_per_s > 0
    assert load(shared).capacity_per_s == taken_per_s
    assert first.capacity_per_s == 0, "what was guessed at the beginning is kept"


def test_a_job_that_takes_much_is_sampled_thinly_from_the_start() -> None:
    shared = shared_parts()
    assert load(shared).sample_every == 1
    shared.memory_of("branches").capacity_per_s = 100_000.0
    assert load(shared).sample_every == 64


@pytest.mark.parametrize("capacity_per_s", [150.0, 1_000.0, 2_848.0, 3_692.0, 20_000.0])
def test_stress_and_probes_of_an_expected_job_need_no_other_start(capacity_per_s) -> None:
    """A start means that every task's Python worker has to come up again, which a short block has no time for."""
    shared = shared_parts(window_s=3.0)
    shared.memory_of("branches").capacity_per_s = capacity_per_s
    offered = load(shared)
    assert all(offered.is_sampled_well(part * capacity_per_s) for part in (0.25, 0.6, 0.9, 2.0, 4.0))


def test_queries_that_tell_are_remembered_once_they_are_known() -> None:
    """None that told are no queries to wait for."""
    shared = shared_parts()
    learn(shared)
    assert shared.memory_of("branches").telling is None
    learn(shared, telling=frozenset({"left"}))
    assert shared.memory_of("branches").telling == {"left"}
    learn(shared, telling=frozenset())
    assert shared.memory_of("branches").telling == {"left"}


def test_a_job_without_sampled_rows_is_blind() -> None:
    assert load(shared_parts(), sampled=False).blind
    assert not load(shared_parts()).blind


def test_nothing_is_offered_when_it_ends_however_it_does() -> None:
    """A block that fails must not leave a generator that sends."""
    generator = Generator()
    offered = load(shared_parts(), generator)

    def fail() -> None:
        raise ProfileError("failed")

    with pytest.raises(ProfileError, match="failed"), offered.at(1000.0):
        fail()
    assert generator.rates[0] > 0
    assert generator.rates[-1] == 0


def test_what_was_sent_has_drained_when_the_newest_of_it_came_out() -> None:
    """Nothing was sent at first; of a job that lags by seconds the last rows are missing."""
    progress = SteadyProgress(50)
    offered = OfferedLoad(shared_parts(), placed(), SimpleNamespace(sampled=True), Generator(), progress)
    progress.lag_s = 60.0
    assert offered.has_drained
    with offered.at(1000.0):
        pass
    assert not offered.has_drained
    progress.lag_s = 0.0
    assert offered.has_drained
