"""An engine whose capacity follows a script, and a small job for it."""

from __future__ import annotations

from dataclasses import replace

from profiler.experiment.engine import Platform
from profiler.job.configuration import Configuration
from profiler.job.topology import Cost, Operator, Source, Topology
from tests.scenarios import window

TOPOLOGY = Topology.chain("job", Source("in"), Operator("work", cost=Cost(cpu_ms=1)))
ONE_EACH = Configuration.of({"in": 1, "work": 1})


class ScriptedEngine:
    """An engine whose capacity in each window follows a script; it records what it was asked."""

    name = "scripted"
    window_s = 3.0
    platform = Platform(slots=8, cores=2)

    def __init__(self, capacity=lambda index: 1000.0, *, generator_limit=float("inf"), latency=None):
        self.capacity = capacity
        self.generator_limit = generator_limit
        self.latency = latency
        self.rates = []
        self.open = 0
        self.deployed = 0

    def deploy(self, topology, configuration, detail, *, fused=False):
        self.open += 1
        self.deployed += 1
        self.index = 0
        return self

    def slots_for(self, topology):
        return self.platform.slots

    def observe(self, rate_per_s, windows):
        self.rates.append(rate_per_s)
        for _ in range(windows):
            offered = min(rate_per_s, self.generator_limit)
            seen = window(min(offered, self.capacity(self.index)))
            self.index += 1
            more = {} if self.latency is None else {"processing_ms": self.latency}
            yield replace(seen, offered_per_s=rate_per_s, generator_limited=offered < rate_per_s, **more)

    def close(self):
        self.open -= 1
