"""A gate: is this version of a job slower than another? Blocks of both, and one verdict.

First the baseline is loaded for as long as a cold engine needs, which also tells the rate that stresses both versions.
A candidate with code of its own is then loaded half as long: what a compiler has not seen yet would look slower. Then
come turns, a block of each version, each a deployment of its own: windows under stress, then a latency probe at a rate
that both can follow. There are two looks at the blocks, after half of the turns and at the end; an early look that no
turn can follow is left out, as it would use up a part of the significance level in vain. A baseline that cannot be run
any more takes part with the blocks that were stored of it, and the candidate is offered what was offered to it then. A
gate that was interrupted goes on with what is stored of it: the engine, a new one, is loaded again, and the same rates
are offered. Operators are told apart all along (`Detail.APART`), as the one that got slower is to be named.

**Two at a time.** Where the engine and its slots allow it, the two blocks of a turn are measured at the same time, and
the differences within turns are tested: what the machine does to one version it does to the other, so that far smaller
slowdowns are seen than one after the other (ABBA…). A version that takes more threads gets more of the cores, so that
throughput may be shared unevenly; CPU per row, the sharp criterion, is not, and a version that certainly takes less of
it is not failed for its throughput. Blocks of a baseline that had company then are compared with blocks of a candidate
that has it too: another deployment of it, whose blocks do not count, as two of one version at the same time are no two
values.

**Short gates.** Where the time is short, what is spent before the blocks is kept small: blocks that only prepare have
no latency probe, the block that calibrates a drill lets the compiler see the candidate as well, and the same code is
loaded once. The blocks get shorter too, where not all long ones fit: more turns are worth more than longer ones, as
what differs from one deployment to the next is averaged over blocks only. A block's first window counts: both versions
begin with an empty state and full caches of the other one. (It does not in confirmations, whose arms have other tasks.)
Every block keeps its probe: blocks of two kinds would differ by what counts as noise.

The figures behind these choices are in scripts/benches/results/gate.md and gate_spark.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from profiler.errors import ProfileError
from profiler.experiment.clock import BlockTime, Deadline
from profiler.experiment.comparing.blocks import Arm, Blocks
from profiler.experiment.comparing.standing import fit_at_once
from profiler.experiment.comparing.turns import Turn, Turns, looks
from profiler.experiment.engine import Engine
from profiler.experiment.events import Event, Listener, ignore
from profiler.experiment.measure import Load
from profiler.experiment.observation import BlockWindows, Detail, Measurement
from profiler.experiment.warmth import Warmth
from profiler.experiment.window_plan import FEWEST_WINDOWS, WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology
from profiler.questions.gate.criteria import BASELINE, CANDIDATE
from profiler.questions.gate.drill.preparation import Calibration, Loader, foreseen, in_words, largest_operator
from profiler.questions.gate.needed_blocks import blocks_to_find, blocks_to_settle
from profiler.questions.gate.result import GateResult
from profiler.questions.gate.verdict import GateLimits, GateVerdict, judge
from profiler.statistics.confirmation import BlockLayout

DESIGN = WindowPlan(windows=6, warm_up=8, probe=0, block_warm_up=0, block=4, block_probe=1, blocks=8)
"""The design of a gate: eight blocks of each version; what they find is in scripts/benches/results/gate.md."""

SHORT_BLOCK = 3
"""Windows of a block under stress where there is no time for all blocks."""

FEWEST_BLOCKS = 2
"""The fewest blocks of each version that tell anything."""


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
    """The throughput by which the rates of its blocks were set."""
    had_company: bool = False
    """Whether its blocks were measured two at a time."""


@dataclass(frozen=True, slots=True)
class Drill:
    """One operator of the candidate is to work longer, by a part of its work."""

    part: float
    runs_functions: bool
    """Whether the engine runs functions; False on the simulated one, which knows costs only."""


def side_by_side(engine: Engine, baseline: Side | StoredSide, candidate: Side) -> bool:
    """Tell whether two versions can run at the same time; blocks that are stored are met as they were measured."""
    if isinstance(baseline, StoredSide) and not baseline.had_company:
        return False
    sides = (baseline if isinstance(baseline, Side) else candidate, candidate)
    return fit_at_once(engine, [(side.topology, side.configuration) for side in sides])


@dataclass(slots=True)
class GateExperiment:
    """Run one gate; see the module's text."""

    engine: Engine
    baseline: Side | StoredSide
    candidate: Side
    limits: GateLimits = field(default_factory=GateLimits)
    design: WindowPlan = DESIGN
    drill: Drill | None = None
    report: Listener = ignore
    note: Callable[[str], None] = lambda _: None
    """A function that hears what is expected of a drill before it is measured."""
    ends_s: float | None = None
    """The moment on the clock after which no block should end: none starts that probably would."""
    past: Sequence[BlockWindows] = ()
    """Blocks that an interrupted session of this gate measured, in their order."""
    past_expected_per_s: float | None = None
    """The throughput by which the rates of those blocks were set."""
    same_code: bool = False
    """Whether both versions are the same code, so that a compiler that knows one of them knows the other."""
    clock: Callable[[], float] = time.monotonic
    _time: BlockTime = field(init=False)
    _warmth: Warmth = field(init=False)
    _together: bool = field(init=False)
    """Whether the blocks of a turn are measured at the same time."""
    _uncounted: int = field(default=0, init=False)
    """The number of blocks that prepared the candidate."""

    def __post_init__(self) -> None:
        """Begin to see how long things take."""
        self._time = BlockTime(Deadline(self.ends_s, self.clock))
        self._warmth = Warmth(self.engine)
        self._together = side_by_side(self.engine, self.baseline, self.candidate)

    def run(self) -> GateResult:
        """Measure, look, decide."""
        reference = self._loaded()
        if self.drill is not None:
            return self._drilled(self.drill, reference)
        expected_per_s = self._expected_per_s(reference)
        preparing = self._preparing()
        if preparing is not None and self._in_time(preparing).blocks > 0:
            self._warm_up(self.candidate, expected_per_s, preparing)
        return self._judged(self.candidate, expected_per_s)

    def _drilled(self, drill: Drill, reference: Measurement) -> GateResult:
        """Make an operator of the candidate work longer and compare, if there is time for that."""
        side, loader = self.candidate, Loader(drill.runs_functions)
        operator = largest_operator(side.topology, reference)
        calibrates = loader.calibrates(side.topology, operator)
        preparing = self._calibrating() if calibrates else self._preparing()
        design = self._in_time(preparing)
        is_time = design.blocks >= FEWEST_BLOCKS
        enough = replace(design, blocks=max(FEWEST_BLOCKS, design.blocks))
        drilled = foreseen(operator, drill.part, reference, enough, self.limits, paired=self._together)
        self.note(in_words(drilled))
        if not is_time:
            return GateResult(None, throughput_per_s=reference.throughput_per_s, complete=False, drilled=drilled)

        def measured(topology: Topology) -> Calibration:
            return self._calibrated(replace(side, topology=topology, name="calibration"), reference)

        expected_per_s = self._expected_per_s(reference)
        candidate = replace(side, topology=loader.loaded(side.topology, drilled, reference, measured))
        if preparing is not None and not calibrates:
            self._warm_up(candidate, expected_per_s, preparing)
        result = replace(self._judged(candidate, expected_per_s), drilled=drilled)
        if result.verdict is GateVerdict.SLOWER:
            return result
        needed = blocks_to_find(result.blocks, operator, drilled.expected_effect, self.limits, self._layout)
        return replace(result, needed_blocks=needed)

    @property
    def _first(self) -> Side:
        """The version that the engine is loaded with first."""
        return self.baseline if isinstance(self.baseline, Side) else self.candidate

    def _expected_per_s(self, reference: Measurement) -> float:
        """Settle the throughput by which all rates are set."""
        stored_per_s = self.baseline.throughput_per_s if isinstance(self.baseline, StoredSide) else None
        return self.past_expected_per_s or stored_per_s or reference.throughput_per_s

    def _loaded(self) -> Measurement:
        """Load an engine that may be cold, and learn the rate that stresses the job."""
        side = self._first
        # Rows are counted only where an operator is to be loaded by the row. Only a drill reads costs and their noise
        # off the windows; fewer tell the rate.
        detail, design = Detail.FULL, self.design
        if self.drill is None:
            detail, design = Detail.APART, replace(design, windows=min(design.windows, FEWEST_WINDOWS))
        return self._warmth.loaded(side.name, side.topology, Load(side.configuration, detail), design, self._tell)

    def _tell(self, event: Event) -> None:
        self._time(event)
        self.report(event)

    def _preparing(self) -> WindowPlan | None:
        """Return how the candidate is run before it counts; None where the engine knows its code already."""
        is_known = self.same_code or self.candidate.topology is self._first.topology
        windows = self._warmth.windows_left(new_code=True)
        if is_known or not windows:
            return None
        return replace(self.design, block_warm_up=0, block=windows, block_probe=0)

    def _calibrating(self) -> WindowPlan:
        """Return how a burden is run to learn its cost: what counts comes last, when the engine knows the code.

        A burden of another size is the same code, so the candidate needs no other preparation.
        """
        learning = self._warmth.windows_left(new_code=True)
        return replace(self.design, block_warm_up=max(self.design.block_warm_up, learning), block_probe=0)

    def _in_time(self, preparing: WindowPlan | None) -> WindowPlan:
        """Return the design that there is probably time for after preparing: short blocks where not all long ones fit.

        It may have no blocks at all.
        """
        left_s = self._time.deadline.left_s - (self._time.block_s(preparing.block_windows) if preparing else 0.0)
        for block in (self.design.block, min(SHORT_BLOCK, self.design.block)):
            design = replace(self.design, block=block)
            turn_s = self._blocks_in_line(len(self._order)) * self._time.block_s(design.block_windows)
            if left_s >= design.blocks * turn_s:
                return design
        return replace(design, blocks=max(0, int(left_s / turn_s)) if turn_s else 0)

    def _warm_up(self, candidate: Side, expected_per_s: float, design: WindowPlan) -> None:
        """Let an engine that learns see the candidate's own code, where the baseline's is all it knows."""
        arm = Arm(candidate.configuration, expected_per_s, topology=candidate.topology, name="candidate, warm-up")
        self._uncounted_blocks([arm], design, Detail.APART)

    def _calibrated(self, loaded: Side, reference: Measurement) -> Calibration:
        """Run a burdened candidate, beside the candidate as it is where that can be; else that was run before it."""
        sides = [self.candidate, loaded] if self._together else [loaded]
        arms = [
            Arm(side.configuration, reference.throughput_per_s, topology=side.topology, name=side.name)
            for side in sides
        ]
        *own, seen = self._uncounted_blocks(arms, self._calibrating(), Detail.APART if self._together else Detail.FULL)
        return Calibration(own[0].windows if own else reference.windows, seen.windows)

    def _uncounted_blocks(self, arms: Sequence[Arm], design: WindowPlan, detail: Detail) -> list[BlockWindows]:
        """Observe blocks that only prepare, at the same time where there are several."""
        planned = self._uncounted + len(self._order) * self.design.blocks + 1
        blocks = Blocks(self.engine, self.candidate.topology, arms, design, self._tell, detail)
        seen = list(self._observed(blocks, range(len(arms)), self._uncounted, planned))
        self._uncounted += 1
        return seen

    def _judged(self, candidate: Side, expected_per_s: float) -> GateResult:
        """Measure turn after turn, a block of each version that can be run, as long as the time lasts, and look."""
        stored = self.baseline.blocks if isinstance(self.baseline, StoredSide) else ()
        layout, design = self._layout, self._block_design()
        turns = Turns(
            self._order,
            looks(design.blocks, early=1),
            partial(self._measured, candidate, expected_per_s, design),
            past=self.past,
            whole=self._together,
            is_time_for=lambda missing: self._time.allows(self._blocks_in_line(missing), design.block_windows),
        )
        for part in turns:
            judgement = judge([*stored, *turns.blocks], self.limits, part=part, layout=layout)
            if judgement.verdict is not GateVerdict.INCONCLUSIVE:
                break
        is_open = layout.interleaved and judgement.verdict is GateVerdict.INCONCLUSIVE
        return GateResult(
            judgement,
            (*stored, *turns.blocks),
            throughput_per_s=expected_per_s,
            interleaved=layout.interleaved,
            together=self._together,
            complete=turns.complete,
            needed_blocks=blocks_to_settle(turns.blocks, self.limits, layout) if is_open else None,
            turn_s=self._blocks_in_line(len(self._order)) * self._time.block_s(design.block_windows),
        )

    @property
    def _layout(self) -> BlockLayout:
        interleaved = isinstance(self.baseline, Side)
        return BlockLayout(interleaved, self.engine.platform.session_sd, paired=interleaved and self._together)

    def _block_design(self) -> WindowPlan:
        """Settle how long the blocks are; like those that are there already, which they are compared with."""
        there = self.past or (self.baseline.blocks if isinstance(self.baseline, StoredSide) else ())
        block = len(there[0].windows) if there else self._in_time(None).block
        return replace(self.design, block=block)

    @property
    def _order(self) -> tuple[int, ...]:
        """The versions that can be run; every second turn is mirrored."""
        return (BASELINE, CANDIDATE) if isinstance(self.baseline, Side) else (CANDIDATE,)

    def _blocks_in_line(self, blocks: int) -> int:
        """Count the blocks of a turn that wait for each other."""
        return min(blocks, 1) if self._together else blocks

    def _measured(
        self, candidate: Side, expected_per_s: float, design: WindowPlan, turn: Turn
    ) -> Iterator[BlockWindows]:
        """Measure the blocks of a turn, and tell that they count."""
        sides = [self.baseline if isinstance(self.baseline, Side) else candidate, candidate]
        arms = [Arm(side.configuration, expected_per_s, topology=side.topology, name=side.name) for side in sides]
        blocks = Blocks(self.engine, candidate.topology, arms, design, self._tell, Detail.APART)
        wanted = turn.order
        if self._together and len(wanted) == 1:  # company, which does not count
            wanted += wanted
        seen: Iterable[BlockWindows] = _with_rows(
            self._observed(blocks, wanted, self._uncounted + turn.before, self._uncounted + turn.planned), arms
        )
        if self._together:  # they are stored together, or not at all
            seen = list(seen)[: len(turn.order)]
        return blocks.counted(seen, before=turn.before)

    def _observed(self, blocks: Blocks, order: Sequence[int], before: int, planned: int) -> Iterator[BlockWindows]:
        """Observe blocks in this order, or all at the same time."""
        measured = blocks.side_by_side if self._together and len(order) > 1 else blocks.in_turn
        return measured(order, before=before, planned=planned)


def _with_rows(blocks: Iterable[BlockWindows], arms: Sequence[Arm]) -> Iterator[BlockWindows]:
    """Refuse to compare with a version that lets nothing through: it hangs, and no test has a number for that."""
    for block in blocks:
        if not any(window.source_rows > 0 for window in block.windows):
            raise ProfileError(
                f"No row came through {arms[block.arm].name} in a whole block.",
                hint="Look into the engine's log for the reason.",
            )
        yield block
