"""Arms that stand while the load goes from one to the other: when they are deployed, what counts, when they end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.experiment.comparing.blocks import Arm, Blocks
from profiler.experiment.comparing.confrontation import confront
from profiler.experiment.comparing.standing import TURNS, StandingArms, fit_at_once, shorter_blocks
from profiler.experiment.engine import Platform
from profiler.experiment.events import BlockStarted
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.statistics.result import Verdict
from tests.experiment.scripted import ONE_EACH, TOPOLOGY
from tests.scenarios import window

DESIGN = WindowPlan(block=2, block_warm_up=1)
LARGER = ONE_EACH.plus({"work": 1})


class Machine:
    """An engine with room for several deployments, which all share the speed of the machine and its ups and downs."""

    name = "machine"
    window_s = 3.0

    def __init__(self, slots=8, speeds=(), side_by_side=True):
        self.platform = Platform(slots=slots, cores=2, side_by_side=side_by_side)
        self.told = []
        """What happened, in order: what was deployed, observed and closed, by tasks of the operator."""
        self.open = 0
        self._speeds = list(speeds)
        self._shown = 0

    def slots_for(self, topology):
        return self.platform.slots

    def deploy(self, topology, configuration, detail, *, fused=False):
        self.open += 1
        self.told.append(("deployed", configuration["work"]))
        return Stand(self, configuration["work"])

    def window(self, tasks, rate_per_s):
        speed = self._speeds[self._shown % len(self._speeds)] if self._speeds else 1.0
        self._shown += 1
        return replace(window(min(rate_per_s, 1000.0 * tasks * speed)), speed_index=speed)


class Stand:
    def __init__(self, machine, tasks):
        self.machine, self.tasks = machine, tasks

    def observe(self, rate_per_s, windows):
        self.machine.told.append(("observed", self.tasks))
        for _ in range(windows):
            yield self.machine.window(self.tasks, rate_per_s)

    def close(self):
        self.machine.open -= 1
        self.machine.told.append(("closed", self.tasks))


def arms(*tasks):
    return [Arm(Configuration.of({"in": 1, "work": each}), 1000.0 * each) for each in tasks]


def stood(machine, turns, tasks=(1, 2)):
    blocks = []
    with StandingArms(Blocks(machine, TOPOLOGY, arms(*tasks), DESIGN)) as standing:
        for order in turns:
            blocks += standing.in_turn(order)
    return blocks


def test_all_arms_stand_before_the_first_one_is_loaded():
    """Else the first one would have the machine for itself. Between their blocks nothing is deployed."""
    machine = Machine()
    stood(machine, [(0, 1), (1, 0)])
    ups = [("deployed", 1), ("deployed", 2)]
    assert machine.told == [*ups, *(("observed", each) for each in (1, 2, 2, 1)), ("closed", 2), ("closed", 1)]
    assert machine.open == 0


def test_only_the_first_block_after_a_deployment_has_windows_that_do_not_count():
    """A deployment that has been under load before is up to its speed."""
    counted = stood(Machine(speeds=[0.5, 1, 1, 0.5, 1, 1, 1, 1, 1, 1]), [(0, 1), (1, 0)])
    assert [[each.throughput_per_s for each in block.windows] for block in counted] == [
        [1000] * 2, [2000] * 2, [2000] * 2, [1000] * 2,
    ]  # fmt: skip


def test_arms_are_deployed_anew_after_some_turns():
    """What one deployment has over another of the same tasks must not look like a difference of the arms."""
    machine = Machine()
    stood(machine, [(0, 1)] * (2 * TURNS))
    assert machine.told.count(("deployed", 1)) == 2
    assert machine.open == 0


def test_an_arm_that_takes_no_part_any_more_is_taken_down():
    """It would cost slots and a little time of everyone's."""
    machine = Machine()
    stood(machine, [(0, 1, 2), (2, 0)], tasks=(1, 2, 3))
    assert machine.told.count(("closed", 2)) == 1
    assert ("observed", 2) not in machine.told[machine.told.index(("closed", 2)) :]


def test_blocks_of_arms_that_stand_are_shorter_and_more():
    """The same windows in all, closer together."""
    found = shorter_blocks(WindowPlan(block=3, blocks=6))
    assert (found.block, found.blocks) == (2, 9)
    assert shorter_blocks(WindowPlan(block=1, blocks=0)) == WindowPlan(block=1, blocks=0)


def test_an_interrupted_turn_leaves_nothing_standing():
    """Whoever looks may end it in the middle of a turn."""
    machine = Machine()
    with StandingArms(Blocks(machine, TOPOLOGY, arms(1, 2), DESIGN)) as standing:
        next(standing.in_turn((0, 1)))
        assert machine.open == 2
    assert machine.open == 0


@pytest.mark.parametrize(
    ("machine", "fits"),
    [(Machine(slots=5), True), (Machine(slots=4), False), (Machine(slots=5, side_by_side=False), False)],
)
def test_arms_stand_where_the_slots_hold_all_of_them(machine, fits):
    """(1,1) and (1,2) need five slots."""
    assert fit_at_once(machine, [(TOPOLOGY, ONE_EACH), (TOPOLOGY, LARGER)]) is fits


def test_what_changes_the_machine_from_turn_to_turn_is_in_no_pair():
    """A tenth more is found in four turns, although the machine's speed doubles and halves meanwhile."""
    speeds = [speed for speed in (1.0, 2.0, 0.7, 1.4, 1.0, 0.5) for _ in range(4)]

    class Tenth(Machine):
        def window(self, tasks, rate_per_s):
            seen = super().window(1, rate_per_s)
            more = 1.1 if tasks == 2 else 1.0
            wobble = 1 + 0.01 * (self._shown % 3)
            return replace(seen, throughput_per_s=seen.throughput_per_s * more * wobble, speed_index=1.0)

    told = []
    design = WindowPlan(block=2, block_warm_up=0, blocks=6)
    machine = Tenth(speeds=speeds)
    found = confront(machine, TOPOLOGY, arms(2, 1), design, alpha=0.05, standing=True, report=told.append)
    assert found.against[1].verdict is Verdict.INCREASED
    assert found.against[1].effect == pytest.approx(0.1, abs=0.02)
    assert len([event for event in told if isinstance(event, BlockStarted)]) < 12, "and decided early"
    assert machine.open == 0
