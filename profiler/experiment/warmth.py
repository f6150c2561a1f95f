"""What an engine has come to know: a new one is under load for a while before anything that is measured counts.

Compilers learn the engine's own code and then each job's, caches fill. One that is new to everything is loaded for as
long as its platform says, one that only meets new code for half as long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from profiler.experiment.engine import Engine
from profiler.experiment.events import Listener, LoadingStarted, ignore
from profiler.experiment.measure import Load, measure
from profiler.experiment.observation import Measurement
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Topology


@dataclass(slots=True)
class Warmth:
    """An engine, and whether it was loaded long enough already."""

    engine: Engine
    is_warm: bool = False
    _loaded: int = field(default=0, init=False)

    def left_s(self, *, new_code: bool = False) -> float:
        """Return the seconds under load that the engine still needs, to run code that it knows or code that is new."""
        if not self.is_warm:
            return self.engine.platform.cold_s
        return self.engine.platform.cold_s / 2 if new_code else 0.0

    def windows_left(self, *, new_code: bool = False) -> int:
        """Return the windows that those seconds take."""
        return math.ceil(self.left_s(new_code=new_code) / self.engine.window_s)

    def measured(
        self,
        topology: Topology,
        load: Load,
        design: WindowPlan,
        *,
        new_code: bool = False,
        reference_per_s: float | None = None,
        report: Listener = ignore,
    ) -> Measurement:
        """Measure a load once the engine has been under it for as long as it needs; then it is warm."""
        cold_s = self.left_s(new_code=new_code)
        seen = measure(
            self.engine, topology, load, design, reference_per_s=reference_per_s, cold_s=cold_s, report=report
        )
        self.is_warm = True
        return seen

    def loaded(
        self, name: str, topology: Topology, load: Load, design: WindowPlan, report: Listener = ignore
    ) -> Measurement:
        """Load the engine with code that is new to it, and learn the throughput that stresses it."""
        self._loaded += 1
        report(LoadingStarted(self._loaded, name, load.configuration))
        return self.measured(topology, load, design, new_code=True, report=report)
