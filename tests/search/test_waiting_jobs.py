"""Jobs that wait for a service: what batches cost is no cost of rows, and free slots go where the waiting is."""

from __future__ import annotations

import numpy as np
import pytest

from profiler import Cost, Operator, Source, Topology
from profiler.engines.simulated import SimulatedEngine, SimulatedPlatform
from profiler.engines.simulated.noise import Preset
from profiler.experiment.rounds import Action
from profiler.experiment.window_plan import WindowPlan
from profiler.questions.search.loop import Loop, TimeLimits
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.readings.cpu_cost import cpu_of_two_rates
from profiler.questions.search.readings.loads import cpu_share
from scripts.benches.fixed_costs import FixedCosts
from scripts.benches.optimum import searched_optimum

BATCHES = 0.02
"""Cores that every task takes, whatever it does."""


def asking(wait_ms: float, *, asks_cpu_ms: float = 0.05) -> Topology:
    return Topology.chain(
        "asks",
        Source("in", cost=Cost(cpu_ms=0.005)),
        Operator("parse", cost=Cost(cpu_ms=0.02)),
        Operator("ask", cost=Cost(cpu_ms=asks_cpu_ms, wait_ms=wait_ms)),
    )


def profiled(topology, *, cores=2, slots=40, preset=Preset.QUIET, fixed=BATCHES, beside=0.0, rounds=None):
    """Profile; `beside` cores are in use by the broker and the generator, after so many rounds the time is up."""
    simulated = SimulatedEngine(SimulatedPlatform(cores_per_node=cores, slots=slots), preset, seed=1)
    ticks = iter(range(10_000))
    loop = Loop(
        FixedCosts(simulated, fixed, beside),
        topology,
        POLICIES["stepwise"](),
        design=WindowPlan(blocks=0),
        limits=TimeLimits(search_s=None if rounds is None else 2 * rounds),
        clock=lambda: float(next(ticks)),
    )
    found = loop.run()
    tasks = [found.answer.configuration[name] for name in topology.names]
    reached = float(simulated.capacities(topology, np.array([tasks]))[0])
    return found, reached / searched_optimum(simulated, topology, slots, starts=2)


@pytest.mark.parametrize("wait_ms", [0.4, 2, 7, 25])
@pytest.mark.parametrize(("cores", "slots"), [(2, 16), (2, 40), (4, 40), (8, 64)])
def test_a_service_that_waits_gets_the_slots_that_pay(wait_ms, cores, slots):
    """Whether the slots or the cores are what ends first; in as few rounds as it takes to see that."""
    found, part = profiled(asking(wait_ms), cores=cores, slots=slots)
    assert part > 0.87
    assert len(found.rounds) <= 4


@pytest.mark.parametrize("preset", [Preset.QUIET, Preset.SHARED])
def test_no_slot_is_left_while_waiting_bounds_the_job_and_cores_are_free(preset):
    """7 ms on two cores: 40 slots are not enough to use these up."""
    found, part = profiled(asking(7), preset=preset)
    assert found.answer.configuration["ask"] >= 36
    assert cpu_share(found.answer, 2) < 0.85
    assert part > 0.95


def test_the_first_trials_are_those_that_gain_most():
    """When the time is up after three rounds, the slots have been tried."""
    found, part = profiled(asking(7), rounds=3)
    assert len(found.rounds) <= 3
    assert part > 0.95


@pytest.mark.parametrize("wait_ms", [2, 7, 25])
def test_what_cannot_gain_is_not_tried(wait_ms):
    """All slots are used by what waits: one task more for another, or one of forty moved, is worth no round."""
    found, part = profiled(asking(wait_ms), fixed=0.0)
    assert len(found.rounds) == 2
    assert part > 0.99


@pytest.mark.parametrize("wait_ms", [0.4, 2, 7])
@pytest.mark.parametrize("preset", list(Preset))
def test_no_proposal_foretells_less_than_the_incumbent_does(wait_ms, preset):
    """It would be a round in vain by its own account."""
    found, _ = profiled(asking(wait_ms), preset=preset)
    best_per_s = 0.0
    for measured in found.rounds:
        if measured.trial.action is Action.SLOTS:
            assert measured.trial.predicted_per_s >= best_per_s
        if measured.decision.accepted:
            best_per_s = measured.throughput_per_s


def test_a_wrong_first_proposal_is_mended_by_what_was_measured_under_load():
    """A broker that takes cores for a while makes rows look dear; with many tasks they are seen to be cheap."""

    class DearAtFirst(FixedCosts):
        """Rows of the first deployment cost the broker 4 ms each, and nothing later."""

        def deploy(self, *asked, **more):
            self.deployed = getattr(self, "deployed", 0) + 1
            return super().deploy(*asked, **more)

        def with_them(self, seen):
            self.machine_cores = 0.1 + (0.004 * seen.throughput_per_s if self.deployed == 1 else 0.0)
            return super().with_them(seen)

    simulated = SimulatedEngine(SimulatedPlatform(cores_per_node=2, slots=40), seed=1)
    found = Loop(DearAtFirst(simulated, BATCHES), asking(7), POLICIES["stepwise"](), design=WindowPlan(blocks=0)).run()
    proposals = [each for each in found.rounds if each.trial.action is Action.SLOTS]
    assert proposals[0].configuration["ask"] < 10, "the cores seemed to be the limit"
    assert proposals[1].configuration["ask"] >= 36, "in one jump"
    assert found.answer is proposals[1]


def test_what_shares_the_machine_bounds_the_proposal():
    """A broker and a generator that use one of two cores leave one for the job."""
    free, _ = profiled(asking(2, asks_cpu_ms=0.5), fixed=0.0)
    shared, _ = profiled(asking(2, asks_cpu_ms=0.5), fixed=0.0, beside=1.0)
    assert shared.rounds[1].trial.predicted_per_s == pytest.approx(free.rounds[1].trial.predicted_per_s / 2, rel=0.2)


def test_costs_of_batches_are_read_apart_from_those_of_rows():
    """A third of a core goes to batches at any rate; a row costs what it does at many rows a second."""
    found, _ = profiled(asking(7), fixed=0.1)
    start = found.rounds[0].measurement
    cost = cpu_of_two_rates(start)
    assert cost.fixed_cores == pytest.approx(0.3, rel=0.1)
    assert cost.s_per_row == pytest.approx(79e-6, rel=0.2)
    assert sum(each.cpu_s for each in start.operators.values()) / start.source_rows > 10 * cost.s_per_row
