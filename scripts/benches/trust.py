"""Is what is said of the real machine to be trusted? Word count against itself, and three profiles in a row.

A confirmation of a configuration against itself should say that nothing changed; at 5 % one in twenty may not. It is
the product's own (profiler/experiment/comparing/confrontation.py), with its early look. Each of its blocks is kept when
it ends, so that the hours this takes may be many short calls; a confirmation that was interrupted goes on in a new,
warm session. Ctrl-C ends the measuring and gives the rows of what there is.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TypeVar

from profiler.experiment.comparing.blocks import Arm, Blocks, throughput_blocks
from profiler.experiment.comparing.confrontation import confront
from profiler.experiment.engine import Engine
from profiler.experiment.window_plan import WindowPlan
from profiler.questions.search.loop import FEWEST_BLOCKS
from profiler.questions.search.terms import policy_parameters, search_design
from profiler.settings.declarations import Settings
from profiler.statistics.confirmation import Block, confirm, order
from profiler.statistics.result import Verdict
from scripts.benches.answers import Answer, profile_rows, quick_profile, spread_rows
from scripts.benches.defences import Confirmed, defence_rows
from scripts.benches.recorded import RecordedEngine
from scripts.benches.rows import Row, rate_row, row
from scripts.benches.saved import Saved
from scripts.benches.warm_engine import CONFIGURATION, TOPOLOGY, AtNeed, WarmEngine, note, warm_engine

T = TypeVar("T")
WINDOWS_OF = (
    "profiler/engines/spark",
    "profiler/traffic/generator",
    "profiler/experiment",
    "workloads/word_count.py",
    "workloads/tweets.py",
    "scripts/benches/warm_engine.py",
)
"""Code whose change makes earlier windows stale; what is said of them is worked out anew each time."""
ANSWERS_OF = (
    *WINDOWS_OF,
    "profiler/questions/search",
    "profiler/statistics",
    "profiler/questions/search/loop.py",
    "scripts/benches/answers.py",
)
MOST_CHANGED = 4
"""Of 30: with 5 % false alarms there are more in 1.6 % of all series."""
CHANGED = (Verdict.INCREASED, Verdict.DECREASED)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much to measure."""

    confirmations: int = 30
    profiles: int = 3
    design: WindowPlan = field(default_factory=lambda: search_design(Settings()))
    """The product's own."""


def rows(sizes: Sizes = Sizes()) -> Iterator[Row]:  # noqa: B008 - frozen
    """Measure what is not saved yet, and yield every figure."""
    confirmations: list[Confirmed] = []
    with AtNeed(warm_engine) as warm:
        is_whole = _until_interrupted(_confirmations(warm, sizes), confirmations.append)
    if confirmations:
        yield from alarm_rows(confirmations)
        yield from defence_rows(confirmations)
    answers: list[Answer] = []
    is_whole = is_whole and _until_interrupted(_profiles(sizes), answers.append)
    if answers:
        yield from profile_rows(answers)
    blocks: list[Block] = []
    with AtNeed(warm_engine) as warm:
        is_whole = is_whole and _until_interrupted(_side_by_side(warm, answers, sizes), blocks.append)
    if answers and is_whole:
        yield from spread_rows(answers, blocks)


def alarm_rows(confirmations: Sequence[Confirmed]) -> Iterator[Row]:
    """Yield how often a configuration was said to differ from itself."""
    alarms, made = [each.comparison.verdict in CHANGED for each in confirmations], len(confirmations)
    yield row(
        "A/A confirmations that say changed", sum(alarms), MOST_CHANGED, better="lower", unit=f"of {made}", n=made
    )
    yield rate_row("the same, as a rate", alarms, better="lower", against="nominal 5 %")
    # A profile that has little time left confirms with these; a shorter look at the same blocks.
    few = [confirm(each.blocks[: 2 * FEWEST_BLOCKS]).verdict in CHANGED for each in confirmations]
    quantity = f"the same, of the first {FEWEST_BLOCKS} blocks of each arm"
    yield rate_row(quantity, few, better="lower", against="nominal 5 %")
    detectable = sorted(each.comparison.detectable_effect for each in confirmations)
    yield row(
        "effect that these confirmations detect, median",
        statistics.median(detectable),
        better="lower",
        n=made,
        low=detectable[0],
        high=detectable[-1],
    )


def _confirmations(warm: AtNeed[WarmEngine], sizes: Sizes) -> Iterator[Confirmed]:
    """Confirm the configuration against itself, again and again."""
    saved = Saved("trust-windows", *WINDOWS_OF)
    alpha = policy_parameters(Settings()).significance
    seen_per_s = 0.0
    for number in range(1, sizes.confirmations + 1):
        expected_per_s: float = saved.get(f"confirmation {number}, rows/s", partial(_expected_per_s, warm, seen_per_s))
        arm = Arm(CONFIGURATION, expected_per_s)
        engine = _recorded(f"confirmation {number}", saved, warm)
        found = confront(engine, TOPOLOGY, [arm, arm], sizes.design, alpha=alpha)
        comparison = found.against[1]
        note(f"confirmation {number} of {sizes.confirmations}: {comparison.verdict}, {comparison.effect:+.1%}")
        seen_per_s = statistics.fmean(value for block in found.blocks for value in block.values)
        yield Confirmed.of(comparison, found.blocks, engine.blocks)


def _expected_per_s(warm: AtNeed[WarmEngine], seen_per_s: float) -> float:
    """Expect what was measured last, as a search does: the warm-up may have met a slow moment."""
    return max(warm.get().throughput_per_s, seen_per_s)


def _profiles(sizes: Sizes) -> Iterator[Answer]:
    saved = Saved("trust-answers", *ANSWERS_OF)
    for number in range(1, sizes.profiles + 1):
        note(f"profile {number} of {sizes.profiles}")
        yield Answer(**saved.get(f"profile {number}", lambda: asdict(quick_profile())))


def _side_by_side(warm: AtNeed[WarmEngine], answers: Sequence[Answer], sizes: Sizes) -> Iterator[Block]:
    """Measure the answers in turn, as a confirmation without an early look would."""
    engine = _recorded("answers", Saved("trust-answers", *ANSWERS_OF), warm)
    arms = [answer.arm for answer in answers]
    blocks = Blocks(engine, TOPOLOGY, arms, sizes.design)
    yield from throughput_blocks(blocks.in_turn(order(sizes.design.blocks, len(arms))))


def _recorded(series: str, saved: Saved, warm: AtNeed[WarmEngine]) -> RecordedEngine:
    def opened() -> Engine:
        note(f"{series}: block {len(engine.blocks) + 1}")
        return warm.get().engine

    engine = RecordedEngine(series, saved, opened, Settings().window_s)
    return engine


def _until_interrupted(steps: Iterable[T], take: Callable[[T], None]) -> bool:
    """Take step after step; tell whether Ctrl-C left some out."""
    try:
        for step in steps:
            take(step)
    except KeyboardInterrupt:
        note("Stopped: the rows hold what there is so far; the next call goes on.")
        return False
    return True
