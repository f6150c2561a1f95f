"""`profile compare` with the real parts: Spark, Kafka and MongoDB, embedded; a winner, and a sudden end before it."""

from __future__ import annotations

import json
import signal

import jsonschema
import psutil
import pytest

from profiler.questions.schemas import COMPARE
from tests.commands import processes_of

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo]

SHORT = (
    *("--quick", "--windows", "3", "--window", "1s", "--warm-up", "2s", "--blocks", "3", "--slots", "4"),
    *("--latency", "5s"),
    *("--json", "out.json"),
)
JOB = """
import time
from profiler import Operator, Source, Topology

def wait(batches):
    for batch in batches:
        time.sleep(0.001 * {wait_ms} * batch.num_rows)
        yield batch

ROWS = "key string, value string, event_time timestamp"
topology = Topology.chain(
    "wait-{wait_ms}", Source("{source}", payloads="lines.jsonl", max_tasks=1),
    Operator("wait", wait, batches="arrow", schema=ROWS, max_tasks=1),
)
"""


@pytest.mark.exact
def test_a_killed_comparison_leaves_no_process_and_goes_on(command, cache, tmp_path):
    """kill -9 in the third block leaves no process; the next call reuses both profiles and measures what is missing.

    One task each is all that the jobs may have, so their profiles have one round; they wait, so that a machine which
    others use too gives the same verdict.
    """
    (tmp_path / "lines.jsonl").write_text("".join(f"line {number % 7}\n" for number in range(1000)))
    for wait_ms, source in ((5, "lines"), (20, "rows")):
        (tmp_path / f"wait_{wait_ms}.py").write_text(JOB.format(wait_ms=wait_ms, source=source))
    variants = ("wait_5.py", "wait_20.py")
    broken = command("compare", *variants, *SHORT)
    broken.wait_for("block 3 of 6")
    broken.process.kill()
    assert broken.ended() == -signal.SIGKILL
    _, alive = psutil.wait_procs(processes_of(cache), timeout=60)
    assert not alive, "broker, database, Spark and generator end by themselves"
    again = command("compare", *variants, *SHORT)
    assert again.ended() == 0, again.err + again.out
    assert again.err.count("still fits") == 2
    assert "going on with comparison" in again.err
    assert "block 2 of 6" not in again.err
    assert "block 3 of 6" in again.err
    document = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(document, COMPARE.read())
    assert (document["verdict"], document["fastest"]) == ("faster", ["wait_5.py"])
    (pair,) = document["pairs"]
    assert 0 < pair["low"] < pair["effect"]
    assert all(each["slots"] <= 4 and each["latency_ms"]["p95"] > 0 for each in document["variants"])
    assert "faster: wait_5.py, " in again.out
    assert "WARN" not in again.err
    assert "ERROR" not in again.err
    assert [each["profile"]["reused"] for each in document["variants"]] == [True, True]
