"""`profile compare` on the simulated engine: rankings, documents and reports."""

from __future__ import annotations

from tests.golden.transcript import Transcript

SIMULATED = ("--engine", "simulated", "--nodes", "2", "--cores", "2", "--seed", "1")
KEPT = ("--mongo", "mongodb://nowhere")
WRITTEN = ("compare.json", "compare.md", "compare.csv")
REPORTS = ("--json", "compare.json", "--export", "md=compare.md", "--export", "csv=compare.csv")


def workloads(transcript: Transcript) -> None:
    variants = ("synthetic-word-count", "word-count")
    transcript.profile("compare", *variants, *SIMULATED, "--quick", *REPORTS, keep=WRITTEN)


def own_files(transcript: Transcript) -> None:
    transcript.job("steps.py")
    transcript.job("steps.py", ("cpu_ms=0.5", "cpu_ms=0.8"), instead_of="slow.py")
    quick = (*SIMULATED, "--quick", "--slots", "6")
    transcript.profile("compare", "steps.py", "slow.py", *quick, *KEPT, "--json", "-")
    transcript.profile("compare", "steps.py", "slow.py", "linear?depth=2", *quick, *KEPT, "--equal-slots")
    transcript.profile("compare", "steps.py", "steps.py", *quick, "--quiet")
    transcript.job("steps.py", ("cpu_ms=0.5", "cpu_ms=0.51"), instead_of="twin.py")
    noisy = ("--noise", "shared", "--blocks", "3")
    transcript.profile("compare", "steps.py", "twin.py", *quick, *noisy, "--quiet")
    transcript.profile("history", "list")
    transcript.profile("history", "list", "--kind", "compare", "--json")
    transcript.profile("history", "show", transcript.newest_run())
