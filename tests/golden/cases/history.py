"""`profile history` of runs of today, and of documents that an older version wrote."""

from __future__ import annotations

import json
from pathlib import Path

from tests.golden.transcript import Transcript

OLDER = Path(__file__).parents[2] / "history" / "older"
OLDER_RUN = "20250301-120000-0a1b2c3d"
SIMULATED = ("--engine", "simulated", "--nodes", "2", "--cores", "2", "--seed", "1")
KEPT = ("--mongo", "mongodb://nowhere")


def of_today(transcript: Transcript) -> None:
    small = ("linear?depth=2", *SIMULATED, *KEPT, "--quiet")
    transcript.profile("history", "list")
    transcript.profile("history", "list", "--json")
    transcript.profile("run", *small, "--quick", "--windows", "2", "--slots", "3", "--json", "run.json")
    run = transcript.newest_run()
    transcript.profile("history", "show", run)
    transcript.profile("history", "export", run, "run.jsonl", keep=("run.jsonl",))
    transcript.profile("gate", *small, "--aa", "--blocks", "2", "--budget", "1h")
    gate = transcript.newest_run()
    transcript.profile("history", "show", gate)
    transcript.profile("history", "show", gate, "--json")
    transcript.profile("history", "export", gate, "gate.jsonl")
    transcript.profile("history", "list")
    transcript.profile("history", "list", "--json", "--kind", "profile", "--since", "7d")
    transcript.profile("history", "list", "--state", "unfinished")
    transcript.profile("history", "import", "run.jsonl")
    transcript.profile("history", "prune", "--older-than", "1d", "--dry-run")
    transcript.profile("history", "prune", "--keep-last", "0", "--dry-run")
    transcript.profile("history", "prune", run, "--dry-run")
    transcript.profile("history", "prune", run)
    transcript.profile("history", "prune", run, "--yes")
    transcript.profile("history", "list", "--limit", "1")
    transcript.profile("run", *small, "--resume", gate)


def of_older_documents(transcript: Transcript) -> None:
    transcript.file("older.jsonl", _with_baseline())
    transcript.profile("history", "import", "older.jsonl")
    transcript.profile("history", "list")
    transcript.profile("history", "list", "--json")
    transcript.profile("history", "show", OLDER_RUN)
    transcript.profile("history", "export", OLDER_RUN, "again.jsonl")
    transcript.profile("history", "prune", "--older-than", "1d", "--keep-last", "0", "--dry-run")


def recalibration_of_older_documents(transcript: Transcript) -> None:
    transcript.file("older.jsonl", _with_baseline())
    transcript.profile("history", "import", "older.jsonl")
    again = (*KEPT, "--nodes", "2", "--cores", "2", "--no-confirm", "--windows", "2")
    transcript.profile("recalibrate", OLDER_RUN, *again)
    transcript.profile("recalibrate", OLDER_RUN, *again, "--topology", "linear?depth=2", "--dry-run")
    transcript.profile("recalibrate", OLDER_RUN, *again, "--topology", "linear?depth=2")
    document = transcript.profile("history", "show", OLDER_RUN, "--json")
    transcript.file("shown.json", document)
    transcript.profile(
        "recalibrate", "shown.json", *again[2:], "--topology", "linear?depth=2", "--slots", "8", "--quiet"
    )
    transcript.file("older.json", json.dumps(json.loads(_older_lines()[-1])["document"]))
    transcript.profile("recalibrate", "older.json", *again[2:], "--topology", "linear?depth=2", "--slots", "8")


def gate_on_an_older_baseline(transcript: Transcript) -> None:
    transcript.file("older.jsonl", _with_baseline())
    transcript.profile("history", "import", "older.jsonl")
    gate = (
        "gate",
        "linear?depth=2",
        "--baseline",
        "main",
        "--engine",
        "simulated",
        *KEPT,
        "--nodes",
        "2",
        "--seed",
        "1",
    )
    transcript.profile(*gate)
    transcript.profile(*gate, "--cores", "3")
    transcript.profile(*gate, "--force")


def _older_lines() -> list[str]:
    return (OLDER / "history-1.jsonl").read_text(encoding="utf-8").splitlines()


def _with_baseline() -> str:
    """Return the older export with the older baseline as one more record, which a gate would have taken along."""
    header, *records = _older_lines()
    baseline = json.loads((OLDER / "baseline-1.json").read_text(encoding="utf-8"))
    counted = json.loads(header) | {"records": len(records) + 1}
    lines = [json.dumps(counted), *records, json.dumps({"kind": "baseline", "document": baseline})]
    return "".join(f"{line}\n" for line in lines)
