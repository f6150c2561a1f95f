"""`profile compare` with the real parts: Spark, Kafka and MongoDB, embedded; a winner, and a sudden end before it."""

from __future__ import annotations

import json
import signal

import jsonschema
import pytest

from profiler.questions.compare.document import compare_schema

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo, pytest.mark.alone]

SHORT = (
    *("--quick", "--windows", "3", "--window", "1s", "--warm-up", "5s", "--blocks", "3", "--slots", "4"),
    *("--json", "out.json"),
)
JOB = """
from pyspark.sql import functions as F
from profiler import Operator, Source, Topology

def draw(rows):
    last = F.aggregate(
        F.sequence(F.lit(1), F.lit({numbers})), F.crc32("value"), lambda x, _: (x * 1103515245 + 12345) % F.lit(2**31)
    )
    return rows.select("event_time", last.cast("string").alias("value"))

topology = Topology.chain(
    "draw-{numbers}", Source("{source}", payloads="lines.jsonl", max_tasks=1), Operator("draw", draw, max_tasks=1)
)
"""


def test_a_killed_comparison_goes_on(command, tmp_path):
    """kill -9 in the third block: the next call reuses both profiles and measures the blocks that are missing.

    One task each is all that the jobs may have, so their profiles have one round.
    """
    (tmp_path / "lines.jsonl").write_text("".join(f"line {number % 7}\n" for number in range(1000)))
    for numbers, source in ((1000, "lines"), (4000, "rows")):
        (tmp_path / f"draw_{numbers}.py").write_text(JOB.format(numbers=numbers, source=source))
    variants = ("draw_1000.py", "draw_4000.py")
    broken = command("compare", *variants, *SHORT)
    broken.wait_for("block 3 of 6")
    broken.process.kill()
    assert broken.ended() == -signal.SIGKILL
    again = command("compare", *variants, *SHORT)
    assert again.ended() == 0, again.err + again.out
    assert again.err.count("still fits") == 2
    assert "going on with comparison" in again.err
    assert "block 2 of 6" not in again.err
    assert "block 3 of 6" in again.err
    document = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(document, compare_schema())
    assert (document["verdict"], document["fastest"]) == ("faster", ["draw_1000.py"])
    (pair,) = document["pairs"]
    assert 0 < pair["low"] < pair["effect"]
    assert all(each["slots"] <= 4 and each["latency_ms"]["p95"] > 0 for each in document["variants"])
    assert "faster: draw_1000.py, " in again.out
    assert "WARN" not in again.err
    assert "ERROR" not in again.err
    assert [each["profile"]["reused"] for each in document["variants"]] == [True, True]
