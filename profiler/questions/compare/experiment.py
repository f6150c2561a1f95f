"""Variants head to head: each at its own best configuration, in turn, block by block, and one ranking.

Variants may have other sources and operators; what is compared is the throughput of source rows. A variant that has not
run on this engine yet is loaded first, as long as a cold engine needs, or half as long where only its code is new; that
also tells the rate that stresses it today. Then blocks of all variants alternate (ABCCBA…), each a deployment of its
own: windows under stress, then a latency probe at a part of the variant's own throughput. There are two looks at the
blocks, as in a confirmation; variants whose rank is settled after the first are not measured any more. A comparison
that was interrupted goes on after its last block.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from profiler.experiment.clock import BlockTime, Deadline
from profiler.experiment.comparing.blocks import Arm, Blocks, throughput_blocks
from profiler.experiment.comparing.turns import Turn, Turns, looks
from profiler.experiment.engine import Engine
from profiler.experiment.events import Event, Listener, ignore
from profiler.experiment.measure import Load
from profiler.experiment.observation import BlockWindows
from profiler.experiment.warmth import Warmth
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology
from profiler.questions.compare.ranking import Pair, Ranking, Terms, rank

DESIGN = WindowPlan(windows=6, warm_up=8, probe=0, block_probe=1, blocks=8)
"""The design of a comparison: eight blocks of each variant; how often they name the fastest is in
scripts/benches/results/compare.md."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One of those that are compared, at the configuration that its profile found."""

    name: str
    topology: Topology
    configuration: Configuration
    expected_per_s: float
    """Throughput that its profile measured."""
    fused: bool = False
    """Whether it runs as written today, without extra shuffles."""
    is_warm: bool = False
    """Whether it was profiled on this very engine: its throughput is known then, and compilers have seen its code."""


@dataclass(frozen=True, slots=True)
class PastBlock:
    """A block that an interrupted session measured, and the throughput by which its rates were set."""

    block: BlockWindows
    expected_per_s: float


@dataclass(frozen=True, slots=True)
class CompareResult:
    """The result of a comparison."""

    variants: tuple[Variant, ...]
    """The variants as they were measured: with the throughput by which the rates were set."""
    ranking: Ranking
    """The ranking of the arms, which are the variants' positions."""
    blocks: tuple[BlockWindows, ...]
    confidence: float
    """The confidence of the last look, over all pairs together."""
    complete: bool = True
    """Whether the comparison ended by itself; False where the budget ended it."""

    def throughput_per_s(self, arm: int) -> float | None:
        """Give a variant's throughput, such that it differs from the first one's by what the ranking says."""
        first = self.ranking.order[0]
        level = self.ranking.levels[first]
        if level is None or self.ranking.levels[arm] is None:
            return None
        return level * (1 + self.effect(arm))

    def effect(self, arm: int) -> float:
        """Tell how much more or less a variant does than the first one."""
        first = self.ranking.order[0]
        if arm == first:
            return 0.0
        pair = self.ranking.pair(first, arm)
        return pair.effect if pair.first == arm else 1 / (1 + pair.effect) - 1

    def blocks_of(self, arm: int) -> list[BlockWindows]:
        """Return the blocks of a variant."""
        return [block for block in self.blocks if block.arm == arm]


@dataclass(slots=True)
class HeadToHead:
    """Run one comparison; see the module's text."""

    engine: Engine
    variants: Sequence[Variant]
    terms: Terms = field(default_factory=Terms)
    design: WindowPlan = DESIGN
    report: Listener = ignore
    ends_s: float | None = None
    """The moment on the clock after which no turn should end: none starts that probably would."""
    past: Sequence[PastBlock] = ()
    """Blocks that an interrupted session of this comparison measured, in its order."""
    clock: Callable[[], float] = time.monotonic
    _time: BlockTime = field(init=False)

    def __post_init__(self) -> None:
        """Begin to see how long things take."""
        self._time = BlockTime(Deadline(self.ends_s, self.clock))

    def run(self) -> CompareResult:
        """Load, measure, look, rank."""
        variants = self._ready()
        arms = [
            Arm(each.configuration, each.expected_per_s, fused=each.fused, topology=each.topology, name=each.name)
            for each in variants
        ]
        blocks = Blocks(self.engine, variants[0].topology, arms, self.design, self._tell)

        def measured(turn: Turn) -> Iterator[BlockWindows]:
            seen = blocks.in_turn(turn.order, before=turn.before, planned=turn.planned)
            return blocks.counted(seen, before=turn.before)

        turns = Turns(
            range(len(variants)),
            looks(self.design.blocks, early=1),
            measured,
            past=[past.block for past in self.past],
            is_time_for=lambda missing: self._time.allows(missing, self.design.block_windows),
        )
        settled: tuple[Pair, ...] = ()
        for part in turns:
            ranking = rank(throughput_blocks(turns.blocks), len(arms), self.terms, part=part, settled=settled)
            confidence = 1 - part * self.terms.alpha
            if not ranking.unsettled:
                break
            settled = tuple(pair for pair in ranking.pairs if pair.settled)
            turns.arms = [arm for arm in turns.arms if arm in ranking.unsettled]
        return CompareResult(variants, ranking, tuple(turns.blocks), confidence, complete=turns.complete)

    def _tell(self, event: Event) -> None:
        self._time(event)
        self.report(event)

    def _ready(self) -> tuple[Variant, ...]:
        """Load the variants that this engine has not run yet, and settle the rates of all."""
        known = {past.block.arm: past.expected_per_s for past in self.past}
        warmth = Warmth(self.engine, is_warm=any(variant.is_warm for variant in self.variants))
        ready = []
        for arm, variant in enumerate(self.variants):
            expected_per_s = variant.expected_per_s
            if not variant.is_warm:
                load = Load(variant.configuration, fused=variant.fused, predicted_per_s=expected_per_s)
                loaded = warmth.loaded(variant.name, variant.topology, load, self.design, self._tell)
                expected_per_s = loaded.throughput_per_s
            # Rates stay what they were before an interruption.
            ready.append(replace(variant, expected_per_s=known.get(arm, expected_per_s)))
        return tuple(ready)
