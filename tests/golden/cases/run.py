"""`profile run` on the simulated engine: answers, progress, documents and reports."""

from __future__ import annotations

from tests.golden.transcript import Transcript

SIMULATED = ("--engine", "simulated", "--nodes", "2", "--cores", "2", "--seed", "7")
REPORTS = ("--json", "run.json", "--export", "md=run.md", "--export", "csv=run.csv")
WRITTEN = ("run.json", "run.md", "run.csv")


def linear_quick(transcript: Transcript) -> None:
    transcript.profile("run", "linear", *SIMULATED, "--quick", "--windows", "3", *REPORTS, keep=WRITTEN)
    transcript.profile(
        "run", "linear", *SIMULATED, "--quick", "--windows", "3", "--quiet", "--export", "json=again.json"
    )
    transcript.profile("run", "linear?depth=2", *SIMULATED, "--quick", "--slots", "3", "--seed", "8", "--json", "-")


def word_count_confirmed(transcript: Transcript) -> None:
    transcript.profile("run", "word-count", *SIMULATED, "--windows", "4", *REPORTS, keep=WRITTEN)
    transcript.profile("run", "word-count", *SIMULATED, "--slots", "9", "--latency", "20ms", "--no-confirm")
    transcript.profile("run", "word-count", *SIMULATED, "--production-batch", "5s", "--give-back", "0%")


def diamond_confirmed(transcript: Transcript) -> None:
    options = ("--noise", "hostile", "--windows", "3")
    transcript.profile("run", "diamond", *SIMULATED, *options, *REPORTS, keep=WRITTEN)
    transcript.profile("run", "diamond", *SIMULATED, "--latency", "12ms")
    transcript.profile("run", "diamond", *SIMULATED, "--budget", "1ms")


def policies(transcript: Transcript) -> None:
    for policy in ("threshold", "ds2", "stela", "slots"):
        transcript.profile("run", "word-count", *SIMULATED, "--noise", "shared", "--quick", "--policy", policy)
        transcript.profile("run", "diamond", *SIMULATED, "--quick", "--slots", "12", "--policy", policy, "--quiet")
    call = ("run", "linear?depth=2", *SIMULATED, "--quick", "--windows", "2", "--slots", "4", "--policy")
    transcript.profile(*call, "ds2", "--json", "ds2.json", "--export", "md=ds2.md", keep=("ds2.json", "ds2.md"))
    transcript.profile(*call, "exhaustive", "--export", "csv=all.csv", keep=("all.csv",))


def other_jobs(transcript: Transcript) -> None:
    for workload in ("star", "synthetic-word-count", "twitter-sentiment", "random-dag?operators=4,seed=2"):
        transcript.profile("run", workload, *SIMULATED, "--quick", "--noise", "shared")
    transcript.job("clicks.py")
    transcript.profile("run", "clicks.py", *SIMULATED, "--slots", "24")
    transcript.profile("run", "clicks.py", *SIMULATED, "--slots", "9", "--quick", "--slice", "50%", "--alpha", "80%")
