"""`profile check`: drawings, documents and warnings."""

from __future__ import annotations

from tests.golden.transcript import Transcript

WORKLOADS = ("linear", "diamond", "star", "word-count", "synthetic-word-count", "twitter-sentiment", "random-dag")


def workloads(transcript: Transcript) -> None:
    for name in WORKLOADS:
        transcript.profile("check", name, "--no-spark", "--master", "local[12]")
    transcript.profile("check", "linear?depth=7,wait_ms=2.5", "--no-spark", "--master", "spark://a:7077")
    transcript.profile("check", "random-dag?operators=9,seed=4", "--no-spark", "--slots", "20")
    transcript.profile("check", "diamond", "--no-spark", "--json", "--master", "local[5]")
    transcript.profile("check", "twitter-sentiment", "--no-spark", "--json", "--slots", "30")
    transcript.profile("check", "linear", "--no-spark")


def own_files(transcript: Transcript) -> None:
    transcript.job("clicks.py")
    transcript.profile("check", "clicks.py", "--slots", "12")
    transcript.profile("check", "clicks.py", "--slots", "8")
    transcript.profile("check", "clicks.py", "--slots", "8", "--json")
    transcript.profile("check", "clicks.py:topology", "--master", "local[3]")
    transcript.profile("check", "clicks:topology", "--no-spark", "--master", "local[30]")
    transcript.job("words.py")
    transcript.profile("check", "words.py", "--no-spark", "--master", "local[8]")
    transcript.file("lines.jsonl", "four words in a line\n" * 50)
    transcript.profile("check", "words.py", "--no-spark", "--master", "local[8]")
    transcript.profile("check", "words.py", "--no-spark", "--slots", "8", "--payloads", "lines=lines.jsonl", "--json")
    transcript.file("broken.py", "x = [\n")
    transcript.profile("check", "broken.py")
