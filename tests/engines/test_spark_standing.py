"""Deployments that stand on Spark while the load goes from one to the other."""

from __future__ import annotations

import contextlib

import psutil
import pytest
import spark_operators as jobs

from profiler import Operator, Source, Topology
from profiler.experiment.comparing.blocks import Arm, Blocks
from profiler.experiment.comparing.standing import StandingArms
from profiler.experiment.events import WindowSeen
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

ROWS = "key string, value string, event_time timestamp"
WAITS = Topology.chain("waits-in-turns", Source("lines"), Operator("wait", jobs.wait, batches="arrow", schema=ROWS))
"""A job that takes 100 rows/s for every task of its operator."""


def test_each_has_its_own_throughput_while_the_other_one_has_no_load(spark_engine):
    """Two and six tasks: what one shows is not the other's, and no query is started for a turn."""
    arms = [Arm(Configuration.of({"lines": 1, "wait": tasks}), 90.0 * tasks) for tasks in (2, 6)]
    told, started = [], []

    class Watched(Blocks):
        def deployed(self, number):
            made = super().deployed(number)
            started.append(made)
            return made

    blocks = Watched(spark_engine, WAITS, arms, WindowPlan(block=2, block_warm_up=2), told.append)
    with StandingArms(blocks) as standing:
        first = list(standing.in_turn((0, 1)))
        running = [query.run_id for each in started for query in each.queries.running.values()]
        second = list(standing.in_turn((1, 0)))
        assert running == [query.run_id for each in started for query in each.queries.running.values()]
    assert len(started) == 2
    assert all(each.closed for each in started)
    seen = {(turn, block.arm): block.windows for turn, found in enumerate((first, second)) for block in found}
    for turn in (0, 1):
        small, large = (sum(window.throughput_per_s for window in seen[turn, arm]) / 2 for arm in (0, 1))
        assert 1.5 < large / small < 5
    assert len([event for event in told if isinstance(event, WindowSeen)]) == 2 * (2 + 2) + 2 * 2


def _called(process):
    """Return a process's command line; nothing of one that has ended meanwhile."""
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def test_python_workers_come_from_the_warm_daemon(spark_engine):
    """On this machine; a cluster need not have this package."""
    arm = Arm(Configuration.of({"lines": 1, "wait": 3}), 250.0)
    blocks = Blocks(spark_engine, WAITS, [arm], WindowPlan(block=1, block_warm_up=0))
    deployment = blocks.deployed(0)
    try:
        next(deployment.observe(200.0, 1))
        daemons = [
            each for each in psutil.Process(spark_engine.shared.jvm).children() if "worker_daemon" in _called(each)
        ]
        assert sum(len(each.children()) for each in daemons) >= 3
    finally:
        deployment.close()
