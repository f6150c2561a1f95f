"""`profile recalibrate` of stored profiles and of documents on the simulated engine."""

from __future__ import annotations

from tests.golden.transcript import Transcript

SIMULATED = ("--engine", "simulated", "--nodes", "2", "--cores", "4", "--no-confirm", "--windows", "5")
KEPT = ("--mongo", "mongodb://nowhere")
LINE = "four words in a line of text\n"


def of_the_history(transcript: Transcript) -> None:
    _profiled(transcript, *KEPT)
    again = ("recalibrate", "--no-confirm", *KEPT)
    transcript.profile(*again, "--json", "again.json", "--export", "md=again.md", keep=("again.md", "again.json"))
    transcript.profile(*again, "--slots", "16", "--dry-run")
    transcript.profile(*again, "--slots", "16")
    transcript.job("words.py", ('"the", "a"', '"the"'))
    transcript.profile(*again, "words", "--dry-run", "--json", "-")
    transcript.profile(*again, "words", "--budget", "1ms")
    transcript.profile("history", "list")


def of_a_document(transcript: Transcript) -> None:
    _profiled(transcript)
    again = ("recalibrate", "profile.json")
    transcript.profile(*again, "--no-confirm")
    transcript.file("lines.jsonl", LINE * 3 + LINE.replace("\n", " ") * 5 + "\n")
    transcript.profile(*again, "--no-confirm", "--quiet")
    transcript.job("words.py", ("selectivity=4.0", "selectivity=12.0"))
    transcript.profile(*again)
    transcript.job("words.py", ('key="word"),', 'key="word"),\n    latency_ms=200,'))
    transcript.profile(*again, "--dry-run")
    transcript.profile(*again, "--dry-run", "--latency", "500ms", "--seed", "9", "--noise", "shared")


def _profiled(transcript: Transcript, *kept: str) -> None:
    transcript.job("words.py")
    transcript.file("lines.jsonl", LINE * 2000)
    transcript.profile("run", "words.py", *SIMULATED, *kept, "--quiet", "--json", "profile.json")
