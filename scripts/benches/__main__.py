"""Run one bench: print its rows as a table, and write them as JSON where asked."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from scripts.benches.rows import Row

BENCHES = {
    "quality": "the chosen configuration and the announced rate against the best, what each addition contributes",
    "answer": "the answer on Spark: small jobs against a sweep, their rates offered for five minutes; hours, in pieces",
    "announced": "quality's part on announced rates: against the highest that truly keep the latency constraint",
    "waiting": "jobs that wait for services, with fixed costs, on 2 to 8 cores with 16 to 64 slots",
    "engine": "the real engine: cost of its instrumentation, its generator, the time between two rounds",
    "deployment": "where the time of a deployment on Spark goes, part by part",
    "turns": "two equal configurations in blocks, in turns and side by side: how they differ, what that costs",
    "trust": "the real machine: word count confirmed against itself, what each defence removes, profiles in a row",
    "workloads": "every workload profiled on Spark as a user does it, and how well the simulated engine foretells it",
    "gate": "the gate: false alarms, slowdowns of one operator that it finds, the operator that it names",
    "gate_spark": "the gate on Spark: word count unchanged, drills of SQL and of batch functions; 2.5 hours",
    "recalibrate": "rounds that a warm start saves: unchanged, and with half of the slots, on six workloads",
    "recalibrate_spark": "rounds that a warm start saves on Spark: word count, unchanged, three times",
    "covariates": "what speed index, other programs, stolen time, garbage and compilers explain of equal windows",
    "levers": "settings of Spark's shuffle that trade throughput for latency: word count and star",
    "generator": "the message generator: top rate against Kafka's own producer benchmark, rate error",
    "statistics": "false alarms and power of the tests, and what each defence removes",
}


def main() -> None:
    """Parse the call, run the bench, show what it found; the exit code says that it ran, not how it went."""
    listed = "\n".join(f"  {name:12} {purpose}" for name, purpose in BENCHES.items())
    parser = argparse.ArgumentParser(
        "scripts/bench", description=f"benches:\n{listed}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=BENCHES)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as a JSON list")
    chosen = parser.parse_args()
    rows: list[Row] = []
    console = Console()
    bench = import_module(f"scripts.benches.{chosen.name}")
    for row in bench.rows():
        rows.append(row)
        if chosen.json:
            chosen.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    console.print(_table(chosen.name, rows))
    if hasattr(bench, "appendix"):
        print(bench.appendix())


def _table(name: str, rows: list[Row]) -> Table:
    table = Table(title=f"bench {name}", title_justify="left")
    table.add_column("quantity", min_width=44)
    for heading in ("ours", "low", "high", "goal", "met", "n"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("against")
    for row in rows:
        table.add_row(
            row["quantity"],
            *(_figure(row[part], row["unit"]) for part in ("ours", "low", "high", "goal")),
            _met(row),
            str(row["n"]),
            row["against"],
        )
    return table


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:.1%}" if unit == "ratio" else f"{value:,.4g} {unit}"


def _met(row: Row) -> str:
    if row["goal"] is None:
        return ""
    return "yes" if (row["ours"] >= row["goal"] if row["better"] == "higher" else row["ours"] <= row["goal"]) else "NO"


if __name__ == "__main__":
    main()
