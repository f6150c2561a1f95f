"""Word count on the real engine, warm; opened at first need, so that a bench whose results are saved starts nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Self, TypeVar

from profiler.engines.opening import opened_engine
from profiler.engines.spark.engine import SparkEngine
from profiler.experiment.measure import STRESS, Load
from profiler.experiment.warmth import Warmth
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.loading import load_topology
from profiler.services.kafka import open_kafka
from profiler.services.run_folder import RunFolder, cache_directory, create_run_folder
from profiler.settings.declarations import Settings

T = TypeVar("T")
TOPOLOGY = load_topology("word-count")
CONFIGURATION = Configuration.of({"tweets": 1, "parse": 2, "split": 2, "count": 4})
"""One as a search on two cores ends with."""
WARM_UP = WindowPlan(windows=4, probe=1)


@dataclass(frozen=True, slots=True)
class WarmEngine:
    """An engine that has come up to its speed, and what it stands on."""

    engine: SparkEngine
    kafka_address: str
    run: RunFolder
    throughput_per_s: float
    """Of the bench's configuration, as its warm-up showed it."""

    @property
    def overload_per_s(self) -> float:
        """A rate that is stress even where the warm-up met a slow moment; too much of it does no harm."""
        return 2 * STRESS * self.throughput_per_s


@contextmanager
def warm_engine() -> Iterator[WarmEngine]:
    """Start Kafka and Spark, and load word count until the compilers are done."""
    cache = cache_directory()
    with (
        create_run_folder(cache) as run,
        open_kafka(None, run, cache, report=note) as kafka,
        opened_engine(TOPOLOGY, Settings(kafka=kafka.address), note) as engine,
    ):
        if not isinstance(engine, SparkEngine):
            raise AssertionError(engine.name)
        note("warming up")
        seen = Warmth(engine).measured(TOPOLOGY, Load(CONFIGURATION), WARM_UP)
        note(f"warm: {CONFIGURATION} does {seen.throughput_per_s:,.0f} rows/s")
        yield WarmEngine(engine, kafka.address, run, seen.throughput_per_s)


class AtNeed(Generic[T]):
    """Something that is opened when it is first asked for, and closed at the end if it was."""

    def __init__(self, opened: Callable[[], AbstractContextManager[T]]) -> None:
        self._opened = opened
        self._ends = ExitStack()
        self._made: list[T] = []

    def get(self) -> T:
        """Return it, opening it first where it is not open yet."""
        if not self._made:
            self._made.append(self._ends.enter_context(self._opened()))
        return self._made[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ends.close()


def note(text: str) -> None:
    """Tell those who wait what happens; standard output is for the rows."""
    print(text, file=sys.stderr, flush=True)
