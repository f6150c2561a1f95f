"""The simulated engine keeps the contract of all engines."""

import pytest
from conformance import EngineConformance

from profiler import Cost, Operator, Source, Topology
from profiler.engines.simulated import Preset, SimulatedEngine, SimulatedPlatform


@pytest.mark.parametrize("preset", list(Preset))
class TestSimulatedEngine(EngineConformance):
    windows = 8

    @pytest.fixture
    def engine(self, preset):
        engine = SimulatedEngine(SimulatedPlatform(nodes=2, cores_per_node=2), preset, seed=3)
        yield engine
        engine.close()

    @pytest.fixture
    def topology(self):
        return Topology(
            "diamond",
            [Source("in")],
            [
                Operator("left", inputs=["in"], cost=Cost(cpu_ms=0.2)),
                Operator("right", inputs=["in"], cost=Cost(cpu_ms=0.05, wait_ms=1.0)),
                Operator("meet", inputs=["left", "right"], cost=Cost(cpu_ms=0.1), stateful=True, key="word"),
            ],
        )

    @pytest.fixture
    def low_rate(self):
        return 100.0

    @pytest.fixture
    def stress_rate(self):
        return 5000.0
