"""`profile gate` with the real parts: a pair of commits and a drill come out red and name the operator; unchanged code
does not."""

from __future__ import annotations

import json
import re
import signal

import jsonschema
import pytest

from profiler.questions.gate.document import gate_schema
from tests.git_repositories import Repository

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo]

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


def gate_document_of(repository):
    document = json.loads((repository.folder / "gate.json").read_text())
    jsonschema.validate(document, gate_schema())
    return document


def test_the_second_commit_is_slower_and_its_operator_is_named(command, repository, tmp_path_factory):
    """Exit 1, both commits measured together in one session, though the first call was killed in the second turn.

    The next call goes on after the first turn; nothing is left of the first commit's code.
    """
    elsewhere = tmp_path_factory.mktemp("elsewhere")  # the test's cache is in the repository, where no copy may be
    options = ("--against-rev", "HEAD~1", "--blocks", "3", *SHORT, "--json", "gate.json")
    killed = command("gate", "job.py", *options)
    killed.wait_for("block 4 of 7")  # one that warms the candidate up, and a turn
    killed.process.kill()
    assert killed.ended() == -signal.SIGKILL
    gate = command("gate", "job.py", *options, TMPDIR=str(elsewhere))
    assert gate.ended() == 1, gate.err + gate.out
    assert re.search(r"going on with gate \S+, which was interrupted after 2 blocks", gate.err)
    assert [int(number) for number in re.findall(r"block (\d) of 7", gate.err)][:2] == [1, 4]
    document = gate_document_of(repository)
    assert document["slower_operator"] == "draw"
    assert document["baseline"]["interleaved"]
    assert document["environment"]["turns"] == "two at a time"
    assert "mostly in 'draw'" in gate.out
    assert "WARN" not in gate.err
    assert list(elsewhere.glob("profile-revision-*")) == []


def test_unchanged_code_meets_the_baseline_that_was_saved_of_it(command, repository):
    """The commit that was saved is run again beside the work tree's code; that it is slower would be chance."""
    options = ("--blocks", "2", *SHORT, "--json", "gate.json")
    saved = command("gate", "job.py", "--save-baseline", "main", *options)
    assert saved.ended() == 0, saved.err + saved.out
    assert gate_document_of(repository)["saved_baseline"] == "main"
    gate = command("gate", "job.py", "--baseline", "main", *options)
    assert gate.ended() in (0, 4), gate.err + gate.out
    document = gate_document_of(repository)
    assert (document["baseline"]["kind"], document["baseline"]["interleaved"]) == ("revision", True)
    assert document["baseline"]["name"].endswith("(main)")
    assert "warm-up" not in gate.err, "the same code is known already"
    assert len(document["blocks"]) == 4
    assert abs(document["criteria"][0]["effect"]) < 0.5


def test_a_drill_of_a_function_of_dataframes_comes_out_red(command, repository):
    """What the drill adds is calibrated on the engine, so about as much is found as was expected."""
    gate = command("gate", "job.py", "--drill", "80%", "--blocks", "3", *SHORT, "--json", "gate.json")
    assert gate.ended() == 1, gate.err + gate.out
    document = gate_document_of(repository)
    assert document["slower_operator"] == document["drill"]["operator"] == "draw"
    (operator,) = [each for each in document["operators"] if each["name"] == "draw"]
    assert 0.4 < operator["effect"] < 1.4
