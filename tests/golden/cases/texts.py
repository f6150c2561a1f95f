"""The help of every command, settings, and the file to start from."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from tests.golden.transcript import Transcript

COMMANDS = ("run", "gate", "compare", "recalibrate", "check", "doctor", "init", "generate", "capture")
GROUPS = {"config": ("show",), "history": ("list", "show", "export", "import", "prune")}


def help_of_all(transcript: Transcript) -> None:
    transcript.profile()
    transcript.profile("--help")
    transcript.profile("-h")
    transcript.profile("--version")
    for command in COMMANDS:
        transcript.profile(command, "--help")
    for group, commands in GROUPS.items():
        transcript.profile(group)
        transcript.profile(group, "--help")
        for command in commands:
            transcript.profile(group, command, "--help")


def settings(transcript: Transcript) -> None:
    transcript.profile("config", "show")
    transcript.profile("config", "show", "--json")
    with mock.patch.dict(os.environ, {"PROFILE_SLOTS": "12", "PROFILE_KAFKA": "kafka:9092"}):
        transcript.profile("config", "show")
    with mock.patch.dict(os.environ, {"PROFILE_SLOT": "12"}):
        transcript.profile("config", "show")
    transcript.file("pyproject.toml", "[tool.profile]\nslots = 8\nquick = true\n")
    transcript.profile("config", "show", "--json")
    text = 'latency = "1500ms"\nmongo = "mongodb://me:secret@host/db"\nexport = ["md=a.md", "csv=b.csv"]\nwindows = 7\n'
    transcript.file("profile.toml", text)
    transcript.profile("config", "show")
    transcript.profile("check", "linear", "--no-spark")


def init(transcript: Transcript) -> None:
    transcript.profile("init", keep=("topology.py",))
    transcript.profile("init")
    transcript.profile("init", "--force")
    transcript.profile("check", "topology.py", "--no-spark", "--slots", "8")
    Path("jobs").mkdir()
    transcript.profile("init", "jobs/mine.py")
    transcript.profile("run", "topology.py", "--engine", "simulated", "--quick", "--nodes", "2")
    transcript.profile("init", "job.txt")
    transcript.profile("init", "a/b.py")
