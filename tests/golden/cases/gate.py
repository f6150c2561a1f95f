"""`profile gate` on the simulated engine: verdicts, exit codes, documents and reports."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from unittest import mock

from tests.golden.transcript import Transcript

SIMULATED = ("--engine", "simulated", "--nodes", "2", "--cores", "2", "--seed", "1")
WRITTEN = ("gate.json", "gate.md", "gate.csv", "gate.xml")
REPORTS = ("--json", "gate.json", "--export", "md=gate.md", "--export", "csv=gate.csv", "--export", "junit=gate.xml")
KEPT = ("--mongo", "mongodb://nowhere")
SLOWER = ("cpu_ms=0.5", "cpu_ms=0.65")
COMMITTED = "2025-03-01T12:00:00+00:00"
"""When the commits of a test were made, so that their names are always the same."""


def unchanged(transcript: Transcript) -> None:
    with mock.patch.dict(os.environ, {"GITHUB_STEP_SUMMARY": "summary.md"}):
        transcript.profile("gate", "linear", *SIMULATED, "--aa", *REPORTS, keep=(*WRITTEN, "summary.md"))
    transcript.profile("gate", "diamond", *SIMULATED, "--aa", "--quiet", "--rule-out", "8%")
    transcript.profile(
        "gate", "linear", *SIMULATED, "--noise", "shared", "--aa", "--max-slowdown", "1%", "--blocks", "4"
    )


def drilled(transcript: Transcript) -> None:
    transcript.profile("gate", "word-count", *SIMULATED, "--drill", "20%", *REPORTS, keep=WRITTEN)
    noisy = ("--noise", "shared")
    transcript.profile("gate", "word-count", *SIMULATED, *noisy, "--drill", "20%", "--json", "-", "--quiet")
    transcript.profile("gate", "linear", *SIMULATED, *noisy, "--drill", "2%")


def against_a_file(transcript: Transcript) -> None:
    transcript.job("steps.py")
    transcript.job("steps.py", SLOWER, instead_of="slow/steps.py")
    tasks = ("--tasks", "count=2, work=2")
    transcript.profile("gate", "slow/steps.py", "--against", "steps.py", *SIMULATED, *tasks, *REPORTS, keep=WRITTEN)
    transcript.profile("gate", "steps.py", "--against", "slow/steps.py", *SIMULATED)
    transcript.profile("gate", "steps.py", "--against", "linear", *SIMULATED)


def against_a_revision(transcript: Transcript) -> None:
    _git("init", "--quiet", "--initial-branch", "main")
    for changes in ((), (SLOWER,)):
        transcript.job("steps.py", *changes)
        _git("add", "--all")
        _git("commit", "--quiet", "--message", "a change")
    transcript.profile("gate", "steps.py", "--against-rev", "HEAD~1", *SIMULATED)
    transcript.profile("gate", "steps.py", "--against-rev", "HEAD", *SIMULATED, "--json", "-", "--quiet")
    transcript.profile("gate", "steps.py", "--against-rev", "nothing", *SIMULATED)


def baselines(transcript: Transcript) -> None:
    transcript.job("steps.py")
    transcript.profile("gate", "steps.py", "--save-baseline", "main", *SIMULATED, *KEPT)
    transcript.profile("gate", "steps.py", "--baseline", "main", *SIMULATED, *KEPT, "--json", "-")
    transcript.job("steps.py", SLOWER)
    transcript.profile("gate", "steps.py", "--baseline", "main", *SIMULATED, *KEPT, "--anew")
    transcript.profile("gate", "steps.py", "--baseline", "main", *SIMULATED, *KEPT, "--cores", "3")
    transcript.profile("gate", "steps.py", "--baseline", "main", *SIMULATED, *KEPT, "--cores", "3", "--force")
    transcript.profile("gate", "steps.py", "--baseline", "mian", *SIMULATED, *KEPT)
    transcript.profile("history", "list")
    transcript.profile("history", "show", transcript.newest_run())


def _git(*arguments: str) -> None:
    """Run git in the current folder, by nobody's configuration and at a time of its own."""
    identity = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "a test"), ("EMAIL", "test@localhost"), ("DATE", COMMITTED))
    }
    nobody = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    with mock.patch.dict(os.environ, {**identity, **nobody}):
        subprocess.run(["git", *arguments], cwd=Path.cwd(), capture_output=True, check=True)
