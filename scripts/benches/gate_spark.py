"""`profile gate` on Spark, as CI calls it: unchanged code against its baseline, and drills that must be red.

Drills are of word count, whose largest operator is SQL, and of a job whose largest operator is a function over batches:
both have to be as large as they say. Every gate is a process of its own and its document is kept, so the bench goes on
where it stopped. The baseline is saved first, by a gate of its own, in the history that `profile` keeps anyway.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from profiler.statistics.interval import mean_interval
from scripts.benches.commands import timed_document
from scripts.benches.rows import Row, rate_row, row
from scripts.benches.saved import Saved

WORKLOAD = "word-count"
BASELINE = "bench"
OVER_BATCHES = "scripts/benches/checksums.py:topology"
GATES = 10
DRILLS_OVER_BATCHES = 4
DRILL = "20%"
MEASURED = (
    "profiler/engines/spark",
    "profiler/traffic/generator",
    "profiler/statistics",
    "profiler/experiment",
    "profiler/engines/spark/jvm/machine_speed.py",
    "profiler/questions/gate",
    "scripts/benches/gate_spark.py",
    "scripts/benches/checksums.py",
    "workloads",
)
"""A change of these makes the gates stale."""
MINUTES_GOAL = 6.0


@dataclass(frozen=True, slots=True)
class Gated:
    """One gate's document, and how long it took."""

    document: Mapping[str, Any]
    minutes: float

    @property
    def verdict(self) -> str:
        """What it said."""
        return str(self.document["verdict"])

    @property
    def cpu_effect(self) -> float | None:
        """Change of the CPU per row; None where nothing was measured."""
        found = [each["effect"] for each in self.document["criteria"] if each["criterion"] == "cpu-per-row"]
        return float(found[0]) if found else None

    @property
    def expected_effect(self) -> float:
        """The change of the CPU per row that was expected of a drill."""
        return float(self.document["drill"]["expected_effect"])


def rows() -> Iterator[Row]:
    """Run what is not run yet, and yield what came of it."""
    saved = Saved("gate-spark", *MEASURED)
    saved.get("baseline", partial(run_gate, WORKLOAD, "--save-baseline", BASELINE))
    # In turns: a bench that was stopped tells of both, and both meet the machine's good and bad hours.
    unchanged, drilled = [], []
    for number in range(1, GATES + 1):
        unchanged.append(_gated(saved, f"unchanged {number}", WORKLOAD, "--baseline", BASELINE))
        drilled.append(_gated(saved, f"drill {number}", WORKLOAD, "--drill", DRILL))
    over_batches = [
        _gated(saved, f"drill over batches {number}", OVER_BATCHES, "--drill", DRILL)
        for number in range(1, DRILLS_OVER_BATCHES + 1)
    ]
    yield from unchanged_rows(unchanged)
    yield from drill_rows(drilled, "an operator of SQL")
    yield from drill_rows(over_batches, "a function over batches")
    yield row(
        "minutes of a gate, the longest",
        max(each.minutes for each in (*unchanged, *drilled, *over_batches)),
        MINUTES_GOAL,
        unit="min",
        better="lower",
        n=2 * GATES + DRILLS_OVER_BATCHES,
    )


def unchanged_rows(gates: Sequence[Gated]) -> Iterator[Row]:
    """Tell what gates said of code that did not change."""
    yield rate_row("unchanged code called slower", [each.verdict == "slower" for each in gates], 0.1, better="lower")
    yield rate_row("unchanged code passed", [each.verdict == "pass" for each in gates])
    yield rate_row("unchanged code, inconclusive", [each.verdict == "inconclusive" for each in gates])
    in_turns = [each.document["baseline"]["interleaved"] for each in gates]
    yield rate_row("gates whose baseline took its turns", in_turns, against="its stored blocks otherwise")
    effects = [abs(each.cpu_effect) for each in gates if each.cpu_effect is not None]
    if effects:
        yield row(
            "change of CPU per row seen in it, median", statistics.median(effects), better="lower", n=len(effects)
        )


def drill_rows(gates: Sequence[Gated], kind: str) -> Iterator[Row]:
    """Tell whether drills came out red, named the operator that was made slower, and were as large as they said."""
    yield rate_row(f"drills of {DRILL} of {kind} that exit 1", [each.verdict == "slower" for each in gates], 0.9)
    named = [
        each.document["slower_operator"] == each.document["drill"]["operator"]
        for each in gates
        if each.verdict == "slower"
    ]
    if named:
        yield rate_row("of these, the right operator named", named)
    sizes = [each.cpu_effect / each.expected_effect for each in gates if each.cpu_effect is not None]
    if sizes:
        low, high = mean_interval(sizes) if len(sizes) > 1 else (None, None)
        quantity = f"drills of {kind}: CPU per row seen, in parts of what was expected"
        yield row(quantity, statistics.fmean(sizes), against="1", n=len(sizes), low=low, high=high)
    not_measured = [each.cpu_effect is None for each in gates]
    yield rate_row(f"drills of {kind} that were not measured", not_measured, better="lower")


def _gated(saved: Saved, key: str, *arguments: str) -> Gated:
    found = saved.get(key, partial(run_gate, *arguments))
    return Gated(found["document"], found["minutes"])


def run_gate(*arguments: str) -> dict[str, Any]:
    """Call the command, and return its document with how long it took."""
    return timed_document("gate", *arguments, "--anew", check=False)
