"""The real engine: what its instrumentation costs, how fast its generator is, how long it takes between two rounds.

Decision windows, a light deployment as the engine makes it, are compared with an uninstrumented query of the same
topology and tasks (uninstrumented.py): in pairs of blocks, each pair in the other order (ABBA…), every pair one ratio.
The time between two rounds is that from a deployment's end to the first window of the next, of another configuration.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from profiler.errors import ProfileError
from profiler.experiment.engine import Deployment
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration
from profiler.job.slots import smallest_configuration
from profiler.statistics.interval import mean_interval
from scripts.benches import generator
from scripts.benches.ratios import mean_ratio
from scripts.benches.rows import Row, row
from scripts.benches.saved import Saved
from scripts.benches.uninstrumented import plain_windows
from scripts.benches.warm_engine import CONFIGURATION, TOPOLOGY, AtNeed, WarmEngine, note, warm_engine

MEASURED = (
    "profiler/engines/spark",
    "profiler/traffic/generator",
    "profiler/experiment",
    "workloads/word_count.py",
    "workloads/tweets.py",
    "scripts/benches/engine.py",
    "scripts/benches/uninstrumented.py",
    "scripts/benches/warm_engine.py",
)
"""Code whose change makes earlier results stale."""
GENERATOR = ("profiler/traffic/generator", "scripts/benches/generator.py")
COST_GOAL = 0.97
NEXT_WINDOW_GOAL_S = 12.0
"""Our own: the issue asks for the figure only."""
START = smallest_configuration(TOPOLOGY, None)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much to measure."""

    pairs: int = 12
    windows: int = 5
    """Per block."""
    warm_up: int = 2
    """Windows of a block that do not count."""
    rounds: int = 8


@dataclass(frozen=True, slots=True)
class Block:
    """What one block of windows shows."""

    per_s: float
    cpu_us_per_row: float

    @classmethod
    def of(cls, windows: Sequence[tuple[float, float, float]]) -> Block:
        """Sum up windows, given as rows, seconds and CPU seconds."""
        rows, seconds, cpu_s = np.sum(windows, axis=0).tolist()
        if rows <= 0:
            raise ProfileError("No row came through a whole block.", hint="Run the bench again when less else runs.")
        return cls(rows / seconds, 1e6 * cpu_s / rows)


@dataclass(frozen=True, slots=True)
class Between:
    """The seconds between two rounds, in the order in which they pass."""

    closing_s: float
    deploying_s: float
    first_window_s: float
    """From the first row offered to the first window's end."""
    window_s: float
    """Of that, the window itself."""

    @property
    def whole_s(self) -> float:
        """Seconds from the end of a round to the next round's first window."""
        return self.closing_s + self.deploying_s + self.first_window_s

    @property
    def lost_s(self) -> float:
        """The same, less the window itself."""
        return self.whole_s - self.window_s


def rows(sizes: Sizes = Sizes()) -> Iterator[Row]:  # noqa: B008 - frozen
    """Measure what is not saved yet, and yield every figure."""
    saved = Saved("engine", *MEASURED)
    with AtNeed(warm_engine) as warm:
        pairs = _Pairs(saved, warm, sizes)
        yield from cost_rows([pairs.get(number) for number in range(sizes.pairs)])
        with closing(SearchRounds(warm)) as search:
            yield from between_rows(
                [Between(**saved.get(f"round {number}", search.next_round)) for number in range(sizes.rounds)]
            )
    yield from generator.rows(Saved("engine-generator", *GENERATOR).get)


def cost_rows(pairs: Sequence[tuple[Block, Block]]) -> Iterator[Row]:
    """Yield what instrumentation costs, from pairs of an instrumented and an uninstrumented block."""
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    against = "an uninstrumented query"
    middle, low, high = mean_ratio([block.per_s for block in ours], [block.per_s for block in theirs])
    yield row("decision windows: throughput", middle, COST_GOAL, against=against, n=len(pairs), low=low, high=high)
    # Their inverse, rows per CPU second, so that more is better in both.
    costs = [[block.cpu_us_per_row for block in blocks] for blocks in (theirs, ours)]
    middle, low, high = mean_ratio(*costs)
    quantity = "decision windows: rows per CPU second"
    yield row(quantity, middle, COST_GOAL, against=against, n=len(pairs), low=low, high=high)
    for kind, blocks in (("instrumented", ours), ("uninstrumented", theirs)):
        yield _mean_row(f"{kind}: throughput", [block.per_s for block in blocks], unit="/s", better_higher=True)
        yield _mean_row(f"{kind}: CPU time per row", [block.cpu_us_per_row for block in blocks], unit="µs")


def between_rows(seen: Sequence[Between]) -> Iterator[Row]:
    """Yield the time between two rounds and what it consists of."""
    whole = [each.whole_s for each in seen]
    yield _mean_row("from a round's end to the next one's first window", whole, goal=NEXT_WINDOW_GOAL_S)
    yield _mean_row("the same, less the window itself", [each.lost_s for each in seen])
    yield _mean_row("of that, taking the round down", [each.closing_s for each in seen])
    yield _mean_row("of that, deploying the next one", [each.deploying_s for each in seen])
    reaching = [each.first_window_s - each.window_s for each in seen]
    yield _mean_row("of that, coming to the rate and waiting for a batch", reaching)


class _Pairs:
    """Pairs of blocks, one of each kind."""

    def __init__(self, saved: Saved, warm: AtNeed[WarmEngine], sizes: Sizes) -> None:
        self._saved = saved
        self._warm = warm
        self._sizes = sizes
        self._first = True

    def get(self, number: int) -> tuple[Block, Block]:
        """Return a pair; even ones begin with the instrumented block."""
        key = f"pair {number}, {self._sizes.warm_up}+{self._sizes.windows} windows"
        instrumented, uninstrumented = (Block(*figures) for figures in self._saved.get(key, lambda: self._next(number)))
        return instrumented, uninstrumented

    def _next(self, number: int) -> list[list[float]]:
        if self._first:
            # Compilers take a third of a core in a session's first block: ratios of 0.65 and 0.67 were seen.
            note("instrumentation: a pair that does not count")
            self._measured(number)
            self._first = False
        note(f"instrumentation: pair {number + 1} of {self._sizes.pairs}")
        return self._measured(number)

    def _measured(self, number: int) -> list[list[float]]:
        kinds = [instrumented_block, uninstrumented_block]
        order = (0, 1) if number % 2 == 0 else (1, 0)
        blocks = {index: kinds[index](self._warm.get(), self._sizes) for index in order}
        return [[blocks[index].per_s, blocks[index].cpu_us_per_row] for index in (0, 1)]


def instrumented_block(at: WarmEngine, sizes: Sizes) -> Block:
    """Run the job as the engine does."""
    with closing(at.engine.deploy(TOPOLOGY, CONFIGURATION, Detail.LIGHT)) as deployment:
        seen = list(deployment.observe(at.overload_per_s, sizes.warm_up + sizes.windows))
    return Block.of([(each.source_rows, each.duration_s, each.cpu_s) for each in seen[sizes.warm_up :]])


def uninstrumented_block(at: WarmEngine, sizes: Sizes) -> Block:
    """Run the job as it is, and look from outside."""
    seen = plain_windows(at, TOPOLOGY, CONFIGURATION, at.overload_per_s, sizes.warm_up + sizes.windows)
    return Block.of([(each.rows, each.duration_s, each.cpu_s) for each in seen[sizes.warm_up :]])


class SearchRounds:
    """Rounds of two configurations in turn, as a search deploys them one after the other."""

    def __init__(self, warm: AtNeed[WarmEngine]) -> None:
        self._warm = warm
        self._running: Deployment | None = None
        self._tasks: Configuration = START

    def next_round(self) -> dict[str, Any]:
        """End the round that runs, begin the next, and tell the seconds that passed."""
        previous = self._running or self._begun()[0]
        note("rounds: the next one")
        ending_s = time.monotonic()
        previous.close()
        closed_s = time.monotonic()
        self._running, deployed_s, first_s, window_s = self._begun()
        return {
            "closing_s": closed_s - ending_s,
            "deploying_s": deployed_s - closed_s,
            "first_window_s": first_s - deployed_s,
            "window_s": window_s,
        }

    def close(self) -> None:
        """End the round that runs."""
        if self._running is not None:
            self._running.close()

    def _begun(self) -> tuple[Deployment, float, float, float]:
        """Deploy the other configuration; tell when it was deployed, when its first window was seen, and its length."""
        at = self._warm.get()
        self._tasks = CONFIGURATION if self._tasks == START else START
        deployment = at.engine.deploy(TOPOLOGY, self._tasks, Detail.LIGHT)
        deployed_s = time.monotonic()
        windows = deployment.observe(at.overload_per_s, 2)
        first = next(windows)
        first_s = time.monotonic()
        for _ in windows:  # a round ends under load
            pass
        return deployment, deployed_s, first_s, first.duration_s


def _mean_row(
    quantity: str, values: Sequence[float], *, goal: float | None = None, unit: str = "s", better_higher: bool = False
) -> Row:
    low, high = mean_interval(values)
    return row(
        quantity,
        float(np.mean(values)),
        goal,
        better="higher" if better_higher else "lower",
        unit=unit,
        n=len(values),
        low=low,
        high=high,
    )
