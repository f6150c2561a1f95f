"""The jobs whose announced rates are scored: what users have and the other benches don't.

Where a job's latency is to bind, its constraint is a multiple of what a row takes while nothing else is under way.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from profiler.shipped.random_dag import random_dag

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.constraint import LatencyConstraint
from profiler.job.configuration import Configuration
from profiler.job.topology import Cost, Operator, Output, Source, Topology
from profiler.questions.search.policies.policy import Parameters

_UNLOADED = 0.01
"""Part of its throughput at which a row meets hardly any other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A topology on a cluster, and the latency that it has to keep."""

    kind: str
    topology: Topology
    nodes: int = 3
    cores: int = 2
    slots: int = 24
    times_unloaded: float | None = None
    """The latency constraint, as a multiple of the unloaded latency; None is the default constraint."""

    @property
    def name(self) -> str:
        """Name of the topology: no two jobs have the same."""
        return self.topology.name

    def engine(self, preset: Preset, seed: int) -> SimulatedEngine:
        """Open the cluster; with the same seed, every job meets another noise: else they would all be lucky at once."""
        platform = SimulatedPlatform(nodes=self.nodes, cores_per_node=self.cores, slots=self.slots)
        return SimulatedEngine(platform, preset, seed=zlib.crc32(f"{self.name} {seed}".encode()))

    def parameters(self) -> Parameters:
        """Return the method's knobs, with this job's constraint; no preset changes what a user asks for."""
        usual = Parameters()
        if self.times_unloaded is None:
            return usual
        alone = Configuration.of({element.name: element.min_tasks for element in self.topology})
        truth = self.engine(Preset.QUIET, seed=0).truth(self.topology, alone, load=_UNLOADED)
        unloaded_ms = truth.processing_ms.quantile(usual.latency_quantile)
        return Parameters(latency_ms=round(self.times_unloaded * unloaded_ms, 1))

    def constraint(self) -> LatencyConstraint:
        """Return the latency that the answer has to keep."""
        return self.parameters().constraint


def jobs() -> list[Job]:
    """Return all jobs, kind after kind."""
    return [*_late(), *_thin(), *_hot(), *_long(), *_waiting(), *_dags(), *_capped(), *_dominated(), *_rooms()]


def _computing(name: str) -> Topology:
    return _chain(name, Cost(cpu_ms=0.15), Cost(cpu_ms=0.4), Cost(cpu_ms=0.1))


def _asking(name: str) -> Topology:
    return _chain(
        name, Cost(cpu_ms=0.05), Cost(cpu_ms=0.02, wait_ms=6), Cost(cpu_ms=0.08), Cost(cpu_ms=0.01, wait_ms=2)
    )


def _chain(name: str, *costs: Cost) -> Topology:
    return Topology.chain(
        name, Source("in"), *(Operator(f"step{place}", cost=cost) for place, cost in enumerate(costs))
    )


def _late() -> list[Job]:
    """Return jobs whose latency binds long before their cores or tasks do."""
    times = (1.2, 1.5, 2.0, 3.0)
    return [
        Job(kind="latency binds", topology=shape(f"{shape.__name__[1:]} × {factor:g}"), times_unloaded=factor)
        for shape in (_computing, _asking)
        for factor in times
    ]


def _thin() -> list[Job]:
    """Return jobs of which one row in a hundred comes out of a filter."""
    kept = Operator("keep", selectivity=0.01, cost=Cost(cpu_ms=0.05))
    ask = Operator("ask", cost=Cost(cpu_ms=0.05, wait_ms=40))
    count = Operator("count", stateful=True, key="id", cost=Cost(cpu_ms=2))
    return [
        Job(kind="selectivity 0.01", topology=Topology.chain("filter and ask", Source("in"), kept, ask)),
        Job(kind="selectivity 0.01", topology=Topology.chain("filter and count", Source("in"), kept, count)),
    ]


def _hot() -> list[Job]:
    """Return jobs with a key that many rows have."""

    def counting(share: float) -> Topology:
        count = Operator("count", stateful=True, key="id", hot_key_share=share, cost=Cost(cpu_ms=0.15, wait_ms=1))
        return Topology.chain(f"hot key of {share:.0%}", Source("in"), Operator("parse", cost=Cost(cpu_ms=0.1)), count)

    late = Job(kind="hot key", topology=counting(0.3), times_unloaded=3.0)
    return [*(Job(kind="hot key", topology=counting(share)) for share in (0.15, 0.5)), late]


def _long() -> list[Job]:
    """Return jobs of twenty operators."""
    costs = [Cost(cpu_ms=0.02 + 0.01 * (place % 4), wait_ms=1.0 * (place % 5 == 2)) for place in range(20)]
    dag = random_dag(2_026, 20)
    return [
        Job(kind="twenty operators", topology=_chain("twenty in a row", *costs), slots=40),
        Job(kind="twenty operators", topology=dag, slots=48),
    ]


def _waiting() -> list[Job]:
    """Return jobs that wait for a service, row by row."""
    return [
        Job(
            kind="waiting",
            topology=_chain(f"wait of {wait_ms:g} ms", Cost(cpu_ms=0.05), Cost(cpu_ms=0.03, wait_ms=wait_ms)),
            slots=40,
        )
        for wait_ms in (0.4, 2, 7, 25)
    ]


def _dags() -> list[Job]:
    """Return jobs whose rows part and meet."""
    branches = [Operator(f"branch{each}", inputs=["in"], cost=Cost(cpu_ms=0.05, wait_ms=each)) for each in range(4)]
    meet = Operator("meet", inputs=[each.name for each in branches], cost=Cost(cpu_ms=0.03))
    wide = Topology("four branches", [Source("in")], [*branches, meet])
    split = Operator("split", inputs=["in"], selectivity=4, output=Output.WORKLOAD, cost=Cost(cpu_ms=0.1))
    left = Operator("left", inputs=["split"], selectivity=0.5, cost=Cost(wait_ms=1, cpu_ms=0.02))
    right = Operator("right", inputs=["split"], cost=Cost(cpu_ms=0.12))
    join = Operator("join", inputs=["left", "right"], stateful=True, key="id", cost=Cost(cpu_ms=0.05))
    ends = [
        Operator("store", inputs=["join"], cost=Cost(wait_ms=0.5)),
        Operator("alert", inputs=["join"], cost=Cost(cpu_ms=0.02)),
    ]
    parted = Topology("parted twice", [Source("in")], [split, left, right, join, *ends])
    one = Operator("clean", inputs=["clicks"], cost=Cost(cpu_ms=0.2))
    both = Operator("unite", inputs=["clean", "views"], cost=Cost(cpu_ms=0.1, wait_ms=1))
    two = Topology("two sources", [Source("clicks", share=0.25), Source("views")], [one, both])
    return [
        Job(kind="fan-out and fan-in", topology=wide),
        Job(kind="fan-out and fan-in", topology=parted),
        Job(kind="fan-out and fan-in", topology=two),
        Job(kind="fan-out and fan-in", topology=random_dag(2_027, 8, sources=2)),
    ]


def _capped() -> list[Job]:
    """Return jobs whose sources pull no more than so much."""
    steps = (Operator("parse", cost=Cost(cpu_ms=0.1)), Operator("ask", cost=Cost(cpu_ms=0.02, wait_ms=3)))

    def capped(name: str, source: Source) -> Topology:
        return Topology.chain(name, source, *steps)

    return [
        Job(kind="source with a cap", topology=capped("slow pull", Source("in", pull_per_s=700))),
        Job(kind="source with a cap", topology=capped("two partitions", Source("in", pull_per_s=900, max_tasks=2))),
        Job(kind="source with a cap", topology=capped("dear pull", Source("in", cost=Cost(cpu_ms=0.5), max_tasks=3))),
    ]


def _dominated() -> list[Job]:
    """Return jobs with operators whose load doesn't grow with the input."""

    def top(per_s: float) -> Operator:
        return Operator("top", inputs=["parse"], output=Output.LOGIC, emits_per_s=per_s, cost=Cost(cpu_ms=0.1))

    parse = Operator("parse", inputs=["in"], cost=Cost(cpu_ms=0.2))
    report = Operator("report", inputs=["top"], cost=Cost(wait_ms=20))
    heavy = Operator("report", inputs=["top"], cost=Cost(cpu_ms=4))
    store = Operator("store", inputs=["parse"], cost=Cost(cpu_ms=0.03, wait_ms=4))
    return [
        Job(kind="dominated", topology=Topology("top and report", [Source("in")], [parse, top(10), report])),
        Job(kind="dominated", topology=Topology("dear report", [Source("in")], [parse, top(40), heavy])),
        Job(kind="dominated", topology=Topology("top beside store", [Source("in")], [parse, top(5), report, store])),
    ]


def _rooms() -> list[Job]:
    """Return jobs with few and with many slots, on few and on many nodes."""

    def mixed(name: str) -> Topology:
        costs: Sequence[Cost] = (Cost(cpu_ms=0.1), Cost(cpu_ms=0.05, wait_ms=3), Cost(cpu_ms=0.25))
        return _chain(name, *costs)

    return [
        Job(kind="few slots", topology=mixed("six slots"), slots=6),
        Job(kind="few slots", topology=_asking("seven slots"), slots=7),
        Job(kind="many slots", topology=mixed("sixty-four slots"), slots=64),
        Job(kind="nodes", topology=mixed("one node of eight"), nodes=1, cores=8, slots=32),
        Job(kind="nodes", topology=mixed("six nodes"), nodes=6, slots=48),
    ]
