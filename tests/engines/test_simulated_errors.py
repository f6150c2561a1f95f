"""What the simulated engine refuses, in a sentence that names the culprit and the way out."""

import pytest
from simulated_scenarios import chain, tasks

from profiler import Cost, Operator
from profiler.engines.simulated import SimulatedEngine, SimulatedPlatform
from profiler.errors import UsageError
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration

TOPOLOGY = chain(Operator("parse", cost=Cost(cpu_ms=1)), Operator("top", parallel=False, cost=Cost(cpu_ms=1)))


def _refusal(configuration: Configuration, topology=TOPOLOGY, platform: SimulatedPlatform | None = None) -> UsageError:
    engine = SimulatedEngine(platform or SimulatedPlatform())
    with pytest.raises(UsageError) as refused:
        engine.deploy(topology, configuration, Detail.LIGHT)
    return refused.value


def test_an_operator_without_a_cost_cannot_be_simulated():
    """The message names it, the hint both ways out."""
    topology = chain(Operator("parse"))
    refusal = _refusal(tasks(topology, 1, 1), topology)
    assert "'parse'" in refusal.message
    assert "cpu_ms" in refusal.hint
    assert "--engine spark" in refusal.hint


def test_too_few_slots_say_how_many_are_needed():
    """Two slots for five tasks."""
    refusal = _refusal(tasks(TOPOLOGY, 2, 2, 1), platform=SimulatedPlatform(slots=2))
    assert "needs 5 slots" in refusal.message
    assert "has 2" in refusal.message


def test_fused_operators_need_no_slot_of_their_own():
    """Today's job needs the slots of its stages only."""
    engine = SimulatedEngine(SimulatedPlatform(slots=1))
    assert engine.deploy(TOPOLOGY, tasks(TOPOLOGY, 1, 1, 1), Detail.LIGHT, fused=True)


def test_slots_default_to_four_per_core():
    """Waiting tasks leave their core to others."""
    assert SimulatedEngine(SimulatedPlatform(nodes=3, cores_per_node=2)).platform.slots == 24


@pytest.mark.parametrize("field", ["nodes", "cores_per_node", "slots", "queue_rows"])
def test_a_platform_of_nothing_is_refused(field):
    """Zero of anything runs nothing."""
    with pytest.raises(UsageError, match=field.replace("_", " ")):
        SimulatedPlatform(**{field: 0})


def test_a_configuration_must_name_every_element():
    """The missing one is named."""
    assert "top" in _refusal(Configuration.of({"in": 1, "parse": 1})).message


def test_a_configuration_names_nothing_else():
    """A misspelt name is an error, not a silence."""
    assert "prase" in _refusal(Configuration.of({"in": 1, "parse": 1, "top": 1, "prase": 1})).message


@pytest.mark.parametrize("counts", [(0, 1, 1), (1, 1, 2)])
def test_task_counts_must_be_possible(counts):
    """No task at all, or two of what cannot run in parallel."""
    assert "tasks" in _refusal(tasks(TOPOLOGY, *counts)).message


@pytest.mark.parametrize("rate", [0, -1, float("nan")])
def test_a_rate_must_be_positive(rate):
    """Nothing offered, nothing to observe."""
    running = SimulatedEngine(SimulatedPlatform()).deploy(TOPOLOGY, tasks(TOPOLOGY, 1, 1, 1), Detail.LIGHT)
    with pytest.raises(UsageError, match="rate"):
        running.observe(rate, 1)
