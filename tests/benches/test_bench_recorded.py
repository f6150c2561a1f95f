"""Windows that are kept: a series goes on where it stopped, and a finished one needs no engine."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from profiler.experiment.comparing.blocks import Arm
from profiler.experiment.comparing.confrontation import confront
from profiler.experiment.observation import Latency
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.topology import Operator, Source, Topology
from scripts.benches.recorded import RecordedEngine
from scripts.benches.saved import Saved
from tests.scenarios import operator_window, window

TOPOLOGY = Topology.chain("job", Source("in"), Operator("work"))
TASKS = Configuration.of({"in": 1, "work": 2})
DESIGN = WindowPlan(block=2, block_warm_up=1, blocks=2)
UNKNOWN = Latency(*[math.nan] * 4)


class CountingEngine:
    """An engine that shows how many windows it has shown so far, and fails after some deployments."""

    name = "counting"
    window_s = 3.0

    def __init__(self, deployments=math.inf):
        self.left = deployments
        self.open = 0
        self.shown = itertools.count(1)

    def deploy(self, topology, configuration, detail, *, fused=False, window_s=None):
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.open += 1
        return self

    def observe(self, rate_per_s, windows):
        for _ in range(windows):
            seen = window(float(next(self.shown)), operators={"work": operator_window(busy_s=1.0)})
            yield replace(seen, processing_ms=UNKNOWN)

    def close(self):
        self.open -= 1


@pytest.fixture
def saved(monkeypatch, tmp_path):
    """Open the same file again and again, as calls of the bench do."""
    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)
    return lambda: Saved("series", __file__)


def confronted(saved, opened):
    engine = RecordedEngine("confirmation 1", saved(), opened, 3.0)
    return confront(engine, TOPOLOGY, [Arm(TASKS, 100.0)] * 2, DESIGN, alpha=0.05), engine


def unopened():
    raise AssertionError


def test_a_finished_series_needs_no_engine(saved):
    """The blocks come back as they were, and every deployment was closed."""
    engine = CountingEngine()
    found, _ = confronted(saved, lambda: engine)
    assert not engine.open
    assert [block.values for block in found.blocks] == [(2, 3), (5, 6), (8, 9), (11, 12)]
    again, replayed = confronted(saved, unopened)
    assert again.blocks == found.blocks
    assert again.against == found.against
    assert [len(windows) for windows in replayed.blocks] == [3, 3, 3, 3]


def test_an_interrupted_series_goes_on_with_the_next_block(saved):
    """Two blocks were kept; the rest comes from another engine."""
    with pytest.raises(KeyboardInterrupt):
        confronted(saved, lambda: CountingEngine(0))
    first = CountingEngine(2)
    with pytest.raises(KeyboardInterrupt):
        confronted(saved, lambda: first)
    second = CountingEngine()
    found, _ = confronted(saved, lambda: second)
    assert [block.values for block in found.blocks] == [(2, 3), (5, 6), (2, 3), (5, 6)]


def test_windows_are_kept_whole(saved):
    """Latencies that are not known and what operators did come back too."""
    confronted(saved, CountingEngine)
    _, replayed = confronted(saved, unopened)
    seen = replayed.blocks[0][0]
    assert math.isnan(seen.processing_ms.p95)
    assert seen.operators["work"] == operator_window(busy_s=1.0)
