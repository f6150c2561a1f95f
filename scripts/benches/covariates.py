"""What a window's covariates explain of its throughput: one job in equal rounds on Spark, beside a neighbour.

The neighbour burns half a core now and then (`disturber.py`); what else the machine does comes on top. Every round is a
deployment of the same configuration under stress, and is kept when it ends. What is told of them is worked out anew at
each call: `covariate_rows.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from pydantic import TypeAdapter

from profiler.experiment.observation import Detail, Observation
from profiler.report.documents import plain
from scripts.benches.covariate_rows import covariate_rows
from scripts.benches.disturber import Disturber
from scripts.benches.rows import Row
from scripts.benches.saved import Saved
from scripts.benches.warm_engine import CONFIGURATION, TOPOLOGY, AtNeed, WarmEngine, note, warm_engine

WINDOWS_OF = (
    "profiler/engines/spark",
    "profiler/traffic/generator",
    "workloads/word_count.py",
    "workloads/tweets.py",
    "scripts/benches/warm_engine.py",
    "scripts/benches/disturber.py",
)
"""Code whose change makes earlier windows stale."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much to measure."""

    rounds: int = 16
    warm_up: int = 2
    windows: int = 10


def rows(sizes: Sizes = Sizes()) -> Iterator[Row]:  # noqa: B008 - frozen
    """Measure what is not saved yet, and yield every figure; Ctrl-C ends the measuring."""
    saved = Saved("covariates", *WINDOWS_OF)
    rounds: list[tuple[Observation, ...]] = []
    with AtNeed(warm_engine) as warm:
        try:
            for number in range(1, sizes.rounds + 1):
                kept = saved.get(f"round {number}", partial(_round, warm, number, sizes))
                rounds.append(_windows().validate_python(kept)[sizes.warm_up :])
        except KeyboardInterrupt:
            note("Stopped: the rows hold what there is so far; the next call goes on.")
    if len(rounds) > 1:
        yield from covariate_rows(rounds)


def _round(warm: AtNeed[WarmEngine], number: int, sizes: Sizes) -> list[dict[str, Any]]:
    at = warm.get()
    note(f"round {number} of {sizes.rounds}")
    with Disturber(seed=number), closing(at.engine.deploy(TOPOLOGY, CONFIGURATION, Detail.LIGHT)) as deployment:
        return [plain(asdict(each)) for each in deployment.observe(at.overload_per_s, sizes.warm_up + sizes.windows)]


def _windows() -> TypeAdapter[tuple[Observation, ...]]:
    return TypeAdapter(tuple[Observation, ...])
