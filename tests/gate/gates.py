"""Small builders of gates: blocks of two versions of a job, with noise where it is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from profiler.engines.simulated.noise import NoiseProcess, Preset
from profiler.experiment.observation import BlockWindows, Latency, Observation, OperatorWindow
from profiler.statistics.confirmation import order
from tests.scenarios import window


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a job: rows per second, CPU and waiting seconds per row of every operator, latency."""

    throughput_per_s: float = 1000.0
    cpu_s: Mapping[str, float] = field(default_factory=lambda: {"source": 1e-4, "parse": 4e-4, "count": 5e-4})
    wait_s: Mapping[str, float] = field(default_factory=dict)
    latency_ms: float = 20.0

    def with_cpu(self, **costs: float) -> Version:
        """Return a version whose named operators cost something else."""
        return replace(self, cpu_s={**self.cpu_s, **costs})


def blocks(
    baseline: Version,
    candidate: Version,
    *,
    per_version: int = 8,
    preset: Preset = Preset.QUIET,
    seed: int = 1,
    interleaved: bool = True,
) -> list[BlockWindows]:
    """Build the blocks of a gate: three windows under stress and one probe each."""
    process = NoiseProcess(preset, np.random.default_rng(seed))
    arms = order(per_version) if interleaved else (0,) * per_version + (1,) * per_version
    made = []
    for arm in arms:
        process.start_block()
        version = (baseline, candidate)[arm]
        windows = [_window(version, process) for _ in range(4)]
        made.append(BlockWindows(arm, tuple(windows[:3]), (windows[3],)))
    return made


def _window(version: Version, process: NoiseProcess) -> Observation:
    noise = process.window()
    throughput = version.throughput_per_s * noise.throughput_factor
    rows = 3.0 * throughput
    operators = {
        name: OperatorWindow(
            tasks=1,
            rows_in=None,
            rows_out=None,
            busy_s=rows * (cost * noise.cpu_factor + version.wait_s.get(name, 0.0)),
            cpu_s=rows * cost * noise.cpu_factor,
            busiest_task_s=0.0,
        )
        for name, cost in version.cpu_s.items()
    }
    latency = version.latency_ms / noise.throughput_factor
    return replace(
        window(throughput, operators=operators, latency=Latency(latency, latency, latency, latency)),
        cpu_s=sum(each.cpu_s for each in operators.values()),
        speed_index=noise.speed_index,
    )
