"""`profile gate` with the real parts: a pair of commits, and a drill; both come out red and name the operator."""

from __future__ import annotations

import json

import jsonschema
import pytest

from profiler.report.gate_document import gate_schema
from tests.git_repositories import Repository

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.alone]

JOB = """
from pyspark.sql import functions as F
from profiler import Operator, Source, Topology
from sizes import NUMBERS

def upper(rows):
    return rows.select("event_time", F.upper("value").alias("value"))

def draw(rows):
    last = F.aggregate(
        F.sequence(F.lit(1), F.lit(NUMBERS)), F.crc32("value"), lambda x, _: (x * 1103515245 + 12345) % F.lit(2**31)
    )
    return rows.select("event_time", last.cast("string").alias("value"))

topology = Topology.chain("draws", Source("lines", payloads="lines.jsonl"), upper, draw)
"""
SHORT = ("--window", "1s", "--warm-up", "10s", "--master", "local[8]")


@pytest.fixture
def repository(tmp_path):
    """A job whose second commit draws twice as many numbers per row, where the commands of the test run."""
    made = Repository(tmp_path)
    (tmp_path / "lines.jsonl").write_text("".join(f"line {number % 7}\n" for number in range(1000)))
    made.commit(job=JOB, sizes="NUMBERS = 500\n")
    made.commit(sizes="NUMBERS = 1000\n")
    return made


def test_the_second_commit_is_slower_and_its_operator_is_named(command, repository, tmp_path_factory):
    """Exit 1, both commits measured in turn in one session; nothing is left of the first one's code."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")  # the test's cache is in the repository, where no copy may be
    options = ("--against-rev", "HEAD~1", "--blocks", "3", *SHORT, "--json", "gate.json")
    gate = command("gate", "job.py", *options, TMPDIR=str(elsewhere))
    assert gate.ended() == 1, gate.err + gate.out
    document = json.loads((repository.folder / "gate.json").read_text())
    jsonschema.validate(document, gate_schema())
    assert document["slower_operator"] == "draw"
    assert document["baseline"]["interleaved"]
    assert "mostly in 'draw'" in gate.out
    assert "WARN" not in gate.err
    assert list(elsewhere.glob("profile-revision-*")) == []


def test_a_drill_of_a_function_of_dataframes_comes_out_red(command, repository):
    """What the drill adds is calibrated on the engine, so about as much is found as was expected."""
    gate = command("gate", "job.py", "--drill", "80%", "--blocks", "3", *SHORT, "--json", "gate.json")
    assert gate.ended() == 1, gate.err + gate.out
    document = json.loads((repository.folder / "gate.json").read_text())
    assert document["slower_operator"] == document["drill"]["operator"] == "draw"
    (operator,) = [each for each in document["operators"] if each["name"] == "draw"]
    assert 0.4 < operator["effect"] < 1.4
