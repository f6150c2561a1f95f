"""`profile recalibrate` of an unchanged word count on Spark, as a user calls it: the rounds that a warm start saves.

The profile to recalibrate is the one that `scripts/bench workloads` keeps; where there is none it is made first. Every
recalibration is a process of its own and its document is kept, so the bench goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scripts.benches import workloads
from scripts.benches.commands import timed_document
from scripts.benches.rows import Row, rate_row, row
from scripts.benches.saved import Saved

WORKLOAD = "word-count"
RECALIBRATIONS = 3
GOAL = 0.6
MOST_ROUNDS = 2
MEASURED = (*workloads.MEASURED, "profiler/questions/recalibrate/decision.py", "scripts/benches/recalibrate_spark.py")
"""A change of these makes the recalibrations stale."""


def rows() -> Iterator[Row]:
    """Recalibrate what is not recalibrated yet, and yield what came of it."""
    cold = workloads.profiled_one(WORKLOAD)
    saved = Saved("recalibrate-spark", *MEASURED)
    found = [
        saved.get(f"unchanged {number}", partial(_recalibrated, cold.document))
        for number in range(1, RECALIBRATIONS + 1)
    ]
    yield from unchanged_rows(len(cold.document["rounds"]), [each["document"] for each in found])
    yield row(
        "minutes of a recalibration, the longest",
        max(each["minutes"] for each in found),
        unit="min",
        better="lower",
        against=f"cold {cold.minutes:.1f} min, with confirmation and verification",
        n=len(found),
    )


def unchanged_rows(cold: int, documents: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """Tell what recalibrations said of a job that did not change, and in how many rounds."""
    rounds = [document["rounds"] for document in documents]
    told = f"cold {cold} rounds, warm {', '.join(map(str, rounds))}"
    yield row("rounds saved", 1 - sum(rounds) / (cold * len(rounds)), GOAL, against=told, n=len(rounds))
    quickly = [document["verdict"] == "confirmed" and document["rounds"] <= MOST_ROUNDS for document in documents]
    yield rate_row("confirmed within two rounds", quickly)
    for called in ("changed", "inconclusive"):
        yield rate_row(
            f"unchanged, called {called}", [document["verdict"] == called for document in documents], better="lower"
        )


def _recalibrated(profile: Mapping[str, Any]) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "profile.json"
        file.write_text(json.dumps(profile), encoding="utf-8")
        return timed_document("recalibrate", str(file), "--no-confirm", check=False)
