"""A gate: is this version of a job slower than another? Both in turn, block by block, and one verdict.

First the baseline is loaded for as long as a cold engine needs, which also tells the rate that stresses both versions.
A candidate with code of its own is then loaded half as long: what a compiler has not seen yet would look slower (in one
drill on Spark without that, its four blocks took 43, 35, 40 and 32 µs per row). Then blocks of both alternate (ABBA…),
each a deployment of its own: windows under stress, then a latency probe at a rate that both can follow. There are two
looks at the blocks, after half of them and at the end. A baseline that cannot be run any more takes part with the
blocks that were stored of it, and the candidate is offered what was offered to it then. A gate that was interrupted
goes on after its last block: the engine, which is a new one, is loaded again, and the same rates are offered.

Operators are told apart all along (`Detail.APART`), as the one that got slower is to be named.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from profiler.configuration import Configuration
from profiler.confirming import looks
from profiler.drilling import Drilled, Loader, foreseen
from profiler.engines import Engine
from profiler.events import BlockMeasured, Report, TrialStarted, ignore
from profiler.measure import Arm, Design, measure, observe_blocks
from profiler.observation import BlockWindows, Detail, Measurement
from profiler.rounds import Action, Step, Trial
from profiler.statistics.gate_blocks import BASELINE, CANDIDATE
from profiler.statistics.gating import GateVerdict, Judgement, Limits, judge
from profiler.topology import Topology

DESIGN = Design(windows=6, warm_up=8, probe=0, block_probe=1, blocks=8)
"""Eight blocks each: with *shared* noise they find 9.6 % more CPU per row, and 5.7 % where one operator adds it."""

FEWEST_BLOCKS = 2
"""Of each version, to tell anything."""


@dataclass(frozen=True, slots=True)
class Side:
    """One version of the job, and the tasks it runs with."""

    name: str
    topology: Topology
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class StoredSide:
    """A version of which only blocks are left; their arm is the baseline's."""

    name: str
    blocks: tuple[BlockWindows, ...]
    throughput_per_s: float
    """By which the rates of its blocks were set."""


@dataclass(frozen=True, slots=True)
class Drill:
    """One operator of the candidate is to work longer, by a part of its work."""

    part: float
    runs_functions: bool
    """False on the simulated engine, which knows costs only."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a gate."""

    judgement: Judgement | None
    """None where nothing was measured, as it would have been in vain."""
    blocks: tuple[BlockWindows, ...] = ()
    throughput_per_s: float = 0.0
    """By which the rates of the blocks were set: of the baseline under stress."""
    interleaved: bool = True
    complete: bool = True
    """False where the budget ended it."""
    drilled: Drilled | None = None

    @property
    def verdict(self) -> GateVerdict:
        """What the gate says; one that misses its drill has shown that it does not see enough."""
        verdict = GateVerdict.INCONCLUSIVE if self.judgement is None else self.judgement.verdict
        return GateVerdict.INCONCLUSIVE if self.drilled and verdict is GateVerdict.PASS else verdict


@dataclass(slots=True)
class Gate:
    """Run one gate; see the module's text."""

    engine: Engine
    baseline: Side | StoredSide
    candidate: Side
    limits: Limits = field(default_factory=Limits)
    design: Design = DESIGN
    drill: Drill | None = None
    report: Report = ignore
    note: Callable[[str], None] = lambda _: None
    """Hears what is expected of a drill before it is measured."""
    ends_s: float | None = None
    """On the clock: no block starts that would probably end later."""
    past: Sequence[BlockWindows] = ()
    """Blocks that an interrupted session of this gate measured, in their order."""
    past_expected_per_s: float | None = None
    """Throughput by which the rates of those were set."""
    clock: Callable[[], float] = time.monotonic
    _uncounted: int = field(default=0, init=False)
    """Blocks that prepared the candidate."""

    def run(self) -> Outcome:
        """Measure, look, decide."""
        reference = self._loaded()
        candidate, drilled = self.candidate, None
        if self.drill is not None:
            drilled = foreseen(candidate.topology, self.drill.part, reference, self._in_time(), self.limits)
            self.note(in_words(drilled))
            if not drilled.can_be_found:
                return Outcome(None, throughput_per_s=reference.throughput_per_s, drilled=drilled)
            candidate = self._slower(drilled, self.drill, reference)
        stored_per_s = self.baseline.throughput_per_s if isinstance(self.baseline, StoredSide) else None
        expected_per_s = self.past_expected_per_s or stored_per_s or reference.throughput_per_s
        self._warm_up(candidate, expected_per_s)
        return replace(self._judged(candidate, expected_per_s), drilled=drilled)

    @property
    def _first(self) -> Side:
        """The version that the engine is loaded with first."""
        return self.baseline if isinstance(self.baseline, Side) else self.candidate

    def _loaded(self) -> Measurement:
        """Load an engine that may be cold, and learn the rate that stresses the job."""
        side = self._first
        # Rows are counted only where an operator is to be loaded by the row.
        detail = Detail.APART if self.drill is None else Detail.FULL
        trial = Trial(side.configuration, Step.TODAY, Action.START, detail=detail)
        self.report(TrialStarted(1, trial))
        cold_s = self.engine.platform.cold_s
        return measure(
            self.engine, side.topology, trial, self.design, reference=None, cold_s=cold_s, report=self.report
        )

    def _in_time(self) -> Design:
        """Return the design with the blocks that there is time for at the best, if deploying took none."""
        if self.ends_s is None:
            return self.design
        left_s = self.ends_s - self.clock() - self.engine.platform.cold_s / 2
        turn_s = 2 * (self.design.block_warm_up + self.design.block + self.design.block_probe) * self.engine.window_s
        return replace(self.design, blocks=max(FEWEST_BLOCKS, min(self.design.blocks, int(left_s / turn_s))))

    def _slower(self, drilled: Drilled, drill: Drill, reference: Measurement) -> Side:
        """Load the drilled operator; where that has to be calibrated, one block tells what a burden costs."""
        side = self.candidate

        def measured(topology: Topology) -> BlockWindows:
            arm = Arm(side.configuration, reference.throughput_per_s, topology=topology, name="calibration")
            return self._uncounted_block(arm, self.design, Detail.FULL)

        loader = Loader(drill.runs_functions, measured)
        return replace(side, topology=loader.loaded(side.topology, drilled, reference))

    def _warm_up(self, candidate: Side, expected_per_s: float) -> None:
        """Let an engine that learns see the candidate's own code, where the baseline's is all it knows."""
        cold_s = self.engine.platform.cold_s
        if cold_s > 0 and candidate.topology is not self._first.topology:
            windows = math.ceil(cold_s / 2 / self.engine.window_s)
            arm = Arm(candidate.configuration, expected_per_s, topology=candidate.topology, name="candidate, warm-up")
            self._uncounted_block(arm, replace(self.design, block_warm_up=0, block=windows), Detail.APART)

    def _uncounted_block(self, arm: Arm, design: Design, detail: Detail) -> BlockWindows:
        (block,) = observe_blocks(
            self.engine,
            self.candidate.topology,
            [arm],
            [0],
            design,
            self.report,
            before=self._uncounted,
            planned=self._planned + 1,
            detail=detail,
        )
        self._uncounted += 1
        return block

    @property
    def _planned(self) -> int:
        versions = 2 if isinstance(self.baseline, Side) else 1
        return self._uncounted + versions * self.design.blocks

    def _judged(self, candidate: Side, expected_per_s: float) -> Outcome:
        blocks = list(self.baseline.blocks) if isinstance(self.baseline, StoredSide) else []
        interleaved = isinstance(self.baseline, Side)
        early_at, early = looks(self.design.blocks)[0]
        part_left, turns = 1.0, 0
        for turn in self._turns(candidate, expected_per_s):
            blocks += turn
            turns += 1
            if turns == early_at < self.design.blocks:
                judgement = judge(blocks, self.limits, part=early, interleaved=interleaved)
                part_left -= early
                if judgement.verdict is not GateVerdict.INCONCLUSIVE:
                    return Outcome(judgement, tuple(blocks), expected_per_s, interleaved=interleaved)
        judgement = judge(blocks, self.limits, part=part_left, interleaved=interleaved)
        is_complete = turns == self.design.blocks
        return Outcome(judgement, tuple(blocks), expected_per_s, interleaved=interleaved, complete=is_complete)

    def _turns(self, candidate: Side, expected_per_s: float) -> Iterator[Sequence[BlockWindows]]:
        """Measure turn after turn, a block of each version that can be run, as long as the time lasts."""
        sides = [self.baseline if isinstance(self.baseline, Side) else candidate, candidate]
        arms = [Arm(side.configuration, expected_per_s, topology=side.topology, name=side.name) for side in sides]
        order = [BASELINE, CANDIDATE] if isinstance(self.baseline, Side) else [CANDIDATE]
        longest_s = 0.0
        for number in range(self.design.blocks):
            began_s, before = self.clock(), number * len(order)
            known = list(self.past[before : before + len(order)])
            to_measure = tuple(order[len(known) :])
            if to_measure and self.ends_s is not None and began_s + longest_s > self.ends_s:
                return
            yield known + self._measured(candidate, arms, to_measure, before + len(known))
            longest_s = max(longest_s, self.clock() - began_s)
            order.reverse()  # mirrored, so that both versions meet a steady drift alike

    def _measured(self, candidate: Side, arms: Sequence[Arm], order: Sequence[int], before: int) -> list[BlockWindows]:
        """Measure the blocks that are missing of a turn; `before` counted ones are there already."""
        seen = observe_blocks(
            self.engine,
            candidate.topology,
            arms,
            order,
            self.design,
            self.report,
            before=self._uncounted + before,
            planned=self._planned,
            detail=Detail.APART,
        )
        blocks = []
        for number, block in enumerate(seen, start=before + 1):
            blocks.append(block)
            loop_s = self.engine.platform.loop_s
            self.report(BlockMeasured(number, block, arms[block.arm].expected_per_s, loop_s))
        return blocks


def in_words(drilled: Drilled) -> str:
    """Say what a drill does and what is expected of it."""
    return (
        f"drill: '{drilled.operator}' has {drilled.share:.0%} of the CPU time per row and works {drilled.part:.0%} "
        f"longer, so {drilled.expected_effect:+.1%} CPU per row are expected; "
        f"the gate finds {drilled.foreseen_effect:+.1%} at the best"
    )
