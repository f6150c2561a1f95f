"""An engine whose windows are kept: what was observed before is replayed, what is new is measured and kept.

Whoever measures through it, the product's own confirmation among others, goes on where it stopped, window by window
the same. Deployments are told apart by their number, so they must be asked for in the same order again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from profiler.experiment.engine import Deployment, Engine, Platform
from profiler.experiment.observation import Detail, Observation
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology
from profiler.report.documents import plain
from scripts.benches.saved import Saved


class RecordedEngine:
    """One series of deployments; those that are not kept are made on the engine that `open_engine` gives."""

    name = "recorded"

    def __init__(self, series: str, saved: Saved, open_engine: Callable[[], Engine], window_s: float) -> None:
        self.window_s = window_s
        self.blocks: list[tuple[Observation, ...]] = []
        """What every deployment showed, kept or new."""
        self._series = series
        self._saved = saved
        self._open_engine = open_engine
        self._numbers = itertools.count()

    @property
    def platform(self) -> Platform:
        """The engine's own."""
        return self._open_engine().platform

    def measure_speed_by(self, loop_s: float) -> None:
        """Tell the engine."""
        self._open_engine().measure_speed_by(loop_s)

    def slots_for(self, topology: Topology) -> int:
        """Return the engine's own."""
        return self._open_engine().slots_for(topology)

    def deploy(
        self,
        topology: Topology,
        configuration: Configuration,
        detail: Detail,
        *,
        fused: bool = False,
        window_s: float | None = None,
    ) -> RecordedDeployment:
        """Promise a deployment: it is made when its windows are asked for and not kept."""

        def deployed() -> Deployment:
            return self._open_engine().deploy(topology, configuration, detail, fused=fused, window_s=window_s)

        key = f"{self._series}, deployment {next(self._numbers)}, {configuration}"
        return RecordedDeployment(key, self._saved, deployed, self.blocks)

    def close(self) -> None:
        """Leave the engine to whoever opened it."""


class RecordedDeployment:
    """One deployment, observed once."""

    def __init__(
        self, key: str, saved: Saved, deployed: Callable[[], Deployment], blocks: list[tuple[Observation, ...]]
    ) -> None:
        self._key = key
        self._saved = saved
        self._deployed = deployed
        self._blocks = blocks

    def observe(self, rate_per_s: float, windows: int) -> Iterator[Observation]:
        """Yield the windows that were kept, or observe that many and keep them."""

        def observed() -> list[dict[str, Any]]:
            with closing(self._deployed()) as deployment:
                return [plain(asdict(window)) for window in deployment.observe(rate_per_s, windows)]

        kept = _windows(self._saved.get(f"{self._key}, {windows} windows", observed))
        self._blocks.append(kept)
        yield from kept

    def close(self) -> None:
        """Do nothing: the deployment ended with its last window."""


def _windows(documents: Sequence[dict[str, Any]]) -> tuple[Observation, ...]:
    return tuple(_adapter().validate_python(document) for document in documents)


@cache
def _adapter() -> TypeAdapter[Observation]:
    return TypeAdapter(Observation)
