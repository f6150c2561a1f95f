"""`profile gate` with the real parts: a slower commit and a drill come out red and name the operator; unchanged code
does not."""

from __future__ import annotations

import json
import re
import signal

import jsonschema
import pytest

from profiler.questions.schemas import GATE
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
SHORT = ("--window", "1s", "--warm-up", "4s", "--master", "local[8]", "--json", "gate.json")


@pytest.fixture
def repository(tmp_path):
    """A job that draws numbers for every row, where the commands of the test run."""
    made = Repository(tmp_path)
    (tmp_path / "lines.jsonl").write_text("".join(f"line {number % 7}\n" for number in range(1000)))
    made.commit(job=JOB, sizes="NUMBERS = 500\n")
    return made


def gate_document_of(repository):
    document = json.loads((repository.folder / "gate.json").read_text())
    jsonschema.validate(document, GATE.read())
    return document


def test_unchanged_code_is_saved_and_a_slower_commit_that_meets_it_is_named(command, repository, tmp_path_factory):
    """The commit that was saved runs again beside the work tree's, in one session, though the first call was killed.

    It was measured against itself, where nothing can be slower. The killed gate is gone on with after its first turn;
    exit 1, and nothing is left of the saved commit's code.
    """
    saved = command("gate", "job.py", "--save-baseline", "main", "--blocks", "2", *SHORT)
    assert saved.ended() == 0, saved.err + saved.out
    document = gate_document_of(repository)
    assert document["saved_baseline"] == "main"
    assert "warm-up" not in saved.err, "the same code is known already"
    assert len(document["blocks"]) == 4
    assert abs(document["criteria"][0]["effect"]) < 0.5
    repository.commit(sizes="NUMBERS = 1000\n")
    elsewhere = tmp_path_factory.mktemp("elsewhere")  # the test's cache is in the repository, where no copy may be
    options = ("--baseline", "main", "--blocks", "3", *SHORT)
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
    assert (document["baseline"]["kind"], document["baseline"]["interleaved"]) == ("revision", True)
    assert document["baseline"]["name"].endswith("(main)")
    assert document["environment"]["turns"] == "two at a time"
    assert "mostly in 'draw'" in gate.out
    assert "WARN" not in gate.err
    assert list(elsewhere.glob("profile-revision-*")) == []


@pytest.mark.alone
def test_a_drill_of_a_function_of_dataframes_comes_out_red(command, repository):
    """What the drill adds is calibrated on the engine, so about as much is found as was expected."""
    gate = command("gate", "job.py", "--drill", "80%", "--blocks", "3", *SHORT, "--warm-up", "8s")
    assert gate.ended() == 1, gate.err + gate.out
    document = gate_document_of(repository)
    assert document["slower_operator"] == document["drill"]["operator"] == "draw"
    (operator,) = [each for each in document["operators"] if each["name"] == "draw"]
    assert 0.4 < operator["effect"] < 1.4
