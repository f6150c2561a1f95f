"""Small builders of what a store holds: runs, windows, rounds, results."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from profiler.experiment.events import Phase
from profiler.experiment.observation import BlockWindows, Latency
from profiler.experiment.rounds import Decision, Round
from profiler.history.baselines import Baseline
from profiler.history.documents import round_document
from profiler.history.records import MeasuredBlock, Run, RunKind, SeenWindow
from profiler.job.configuration import Configuration
from profiler.report.documents import plain
from profiler.statistics.doubt import Doubt
from profiler.statistics.result import Comparison, Verdict
from tests.scenarios import operator_window, outcome, window

NOON = datetime(2025, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
# Names with dots and dollars are legal in a topology and special to MongoDB.
TASKS = {"tweets": 1, "a.b": 2, "$count": 3}


def a_run(
    name: str = "run-1", *, topology: str = "word-count", engine: str = "spark", minutes: float = 0, **more: Any
) -> Run:
    """Build a run that started some minutes after noon."""
    parameters = {"latency_ms": 500.0, "slice": 0.3} | more.pop("parameters", {})
    environment = {"cores": 2, "nodes": 1, "slots": 8} | more.pop("environment", {})
    return Run(name, topology, engine, "stepwise", parameters, environment, NOON + timedelta(minutes=minutes))


def seen(microseconds: int, *, throughput_per_s: float = 100.0, block: int | None = None) -> SeenWindow:
    """Build a window that was seen that long after noon."""
    operators = {name: operator_window(busy_s=1.5, tasks=tasks) for name, tasks in TASKS.items()}
    return SeenWindow(
        at=NOON + timedelta(microseconds=microseconds),
        round=1 if block is None else None,
        block=block,
        phase=Phase.STRESS if block is None else Phase.BLOCK,
        configuration=Configuration.of(TASKS),
        observation=window(throughput_per_s, operators=operators),
    )


def measured(number: int, *, throughput_per_s: float = 100.0) -> Round:
    """Build a round that is not decided; its comparison has what plain JSON can't say."""
    operators = {name: operator_window(busy_s=1.5, tasks=tasks) for name, tasks in TASKS.items()}
    made = outcome(
        TASKS, [throughput_per_s, throughput_per_s + 1], number=number, operators=operators, against=number - 1 or None
    )
    comparison = Comparison(
        test="welch",
        verdict=Verdict.INCONCLUSIVE,
        effect=0.1,
        low=float("-inf"),
        high=float("inf"),
        p=0.2,
        detectable_effect=float("inf"),
        n_reference=2,
        n_candidate=2,
        warnings=(Doubt.TOO_FEW_WINDOWS,),
    )
    return Round(number, made.trial, made.measurement, comparison if number > 1 else None)


def decided(number: int, **more: Any) -> Round:
    """Build a round with its decision."""
    return measured(number, **more).decided(Decision(accepted=True, why="more rows", incumbent=number))


ROUND = {
    "step": "platform",
    "action": "sinks + R",
    "tasks": TASKS,
    "throughput_per_s": [100.0],
    "comparison": None,
    "decision": "accepted",
    "warnings": [],
}
"""What a result document says of a round besides its number and its record."""


def a_result(
    run: str = "run-1", *, rounds: int = 2, throughput_per_s: float = 100.0, complete: bool = True
) -> dict[str, Any]:
    """Build a result document with the keys that every version has."""
    confirmed = Comparison("blocks", Verdict.INCREASED, 0.24, 0.1, 0.4, 0.01, 0.2, n_reference=4, n_candidate=4)
    return {
        "schema": "profile/1",
        "run": run,
        "topology": "word-count",
        "engine": "spark",
        "policy": "stepwise",
        "complete": complete,
        "features": None,
        "best": {
            "tasks": TASKS,
            "slots": 6,
            "offered_per_s": None,
            "throughput_per_s": throughput_per_s,
            "latency_ms": None,
        },
        "initial": {"throughput_per_s": throughput_per_s / 1.25},
        "gain": 0.25,
        "confirmed": plain(asdict(confirmed)),
        "rounds": [
            plain({**ROUND, "number": number, "record": round_document(decided(number))})
            for number in range(1, rounds + 1)
        ],
        "settings": {"kafka_partitions": {"tweets": 1}, "repartition": {"a.b": 2}, "shuffle_partitions": 3, "slots": 6},
        "environment": {},
        "warnings": ["state was empty"],
    }


def a_gate_run(name: str = "gate-1", **more: Any) -> Run:
    """Build a gate that started some minutes after noon."""
    parameters = {"against": "revision 0123abc", "candidate's code": "c0de", "drill": None} | more.pop("parameters", {})
    return replace(a_run(name, parameters=parameters, **more), policy="", kind=RunKind.GATE)


def a_block(number: int, *, minutes: float = 0, throughput_per_s: float = 100.0) -> MeasuredBlock:
    """Build a block of a gate that ended some minutes after noon, in the mirrored order of two versions."""
    seen_windows = (window(throughput_per_s), window(throughput_per_s + 1))
    block = BlockWindows((0, 1, 1, 0)[(number - 1) % 4], seen_windows, (window(60.0),))
    return MeasuredBlock(NOON + timedelta(minutes=minutes, microseconds=number), number, 105.0, 0.0025, block)


def a_gate_result(run: str = "gate-1", *, verdict: str = "pass", complete: bool = True) -> dict[str, Any]:
    """Build the part of a gate's document that a list reads."""
    return {
        "schema": "profile-gate/1",
        "run": run,
        "topology": "word-count",
        "engine": "spark",
        "verdict": verdict,
        "why": "a slowdown of 10% is ruled out",
        "complete": complete,
        "warnings": [],
    }


def a_baseline(name: str = "main", *, topology: str = "word-count", engine: str = "spark", **more: Any) -> Baseline:
    """Build a baseline; one of its probes saw no sampled row."""
    operators = {element: operator_window(busy_s=1.5, tasks=tasks) for element, tasks in TASKS.items()}
    nothing = Latency(float("inf"), float("inf"), float("inf"), float("inf"))
    seen_windows = (window(100.0, operators=operators), window(110.0, operators=operators))
    blocks = (BlockWindows(0, seen_windows, (window(60.0),)), BlockWindows(0, seen_windows, (window(latency=nothing),)))
    given: dict[str, Any] = {
        "reference": "word-count",
        "revision": "0123abc",
        "saved": NOON,
        "configuration": Configuration.of(TASKS),
        "environment": {"engine": engine, "cores": "2", "machine": "a machine"},
        "loop_s": 0.0025,
        "throughput_per_s": 105.0,
        "blocks": blocks,
    }
    return Baseline(name, topology, engine, **(given | more))
