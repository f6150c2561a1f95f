"""Calls as processes of their own: the entry of the package, and what a user who types them sees."""

from __future__ import annotations

from tests.golden.transcript import Transcript


def calls(transcript: Transcript) -> None:
    transcript.process("--version")
    transcript.process("check", "linaer")
    transcript.process("run", "linear", "--engine", "simulated", "--nodes", "2", "--quick", "--seed", "5")
