"""`profile run` with the real parts, as a user calls it: Spark, Kafka and MongoDB, embedded; nothing is left behind."""

from __future__ import annotations

import json
import sys

import jsonschema
import psutil
import pytest

from profiler.questions.schemas import PROFILE, RECALIBRATE
from tests.commands import WAITING_JOB, processes_of, write_job

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo]

JOB = """
import time
from pyspark.sql import functions as F
from profiler import Operator, Source, Topology

def wait(batches):
    for batch in batches:
        time.sleep(0.01 * batch.num_rows)
        yield batch

def count(rows):
    return rows.groupBy("value").agg(F.count("*").alias("n"), F.last("event_time").alias("event_time"))

ROWS = "key string, value string, event_time timestamp"
topology = Topology.chain(
    "small", Source("lines", payloads="lines.jsonl", max_tasks=1),
    Operator("wait", wait, batches="arrow", schema=ROWS, max_tasks=2),
    Operator("count", count, stateful=True, key="value", output="proportional", max_tasks=1),
)
"""
"""A job that waits: it has two configurations at the most, and other programs on the machine change little."""
WHOLE = ("--windows", "4", "--window", "1s", "--warm-up", "2s", "--slots", "4", "--latency", "5s")
TERMINAL = "import pty, sys; pty.spawn(sys.argv[1:])"
"""A program in whose terminal another one runs; it is gone when this one is."""
SHORT = ("--quick", "--windows", "3", "--window", "1s", "--warm-up", "2s", "--slots", "5", "--latency", "5s")


@pytest.fixture(autouse=True)
def job(tmp_path):
    """A small job and its data."""
    write_job(tmp_path, JOB)


def test_an_interrupted_profile_goes_on_to_an_answer_that_a_recalibration_keeps(command, tmp_path):
    """Ctrl-C in the second round: exit 130, round 1 is kept, and `--resume` does not repeat it.

    It ends with a configuration, settings to paste, a document by the schema, and the run in the history. As the
    job is unchanged, a recalibration does not search anew: two rounds at the most, which are in the history too.
    """
    run = command("run", "job.py", *SHORT)
    run.wait_for("round 2")
    run.interrupt()
    assert run.ended() == 130
    assert "Interrupted" in run.err
    listed = command("history", "list", "--json")
    assert listed.ended() == 0, listed.err
    (stored,) = json.loads(listed.out)["runs"]
    assert stored["rounds"] >= 1
    identity = stored["run"]
    assert f"--resume {identity}" in run.err
    resumed = command("run", "job.py", *SHORT, "--resume", identity, "--json", "out.json")
    assert resumed.ended() == 0, resumed.err
    assert "round 1: start" not in resumed.err
    assert identity in resumed.out
    assert "Settings to paste" in resumed.out
    assert "WARN" not in resumed.err
    assert "ERROR" not in resumed.err
    document = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(document, PROFILE.read())
    assert (document["engine"], document["run"]) == ("spark", identity)
    assert document["best"]["throughput_per_s"] > 0
    listed = command("history", "list", "--json")
    assert listed.ended() == 0, listed.err
    (stored,) = json.loads(listed.out)["runs"]
    assert (stored["run"], stored["state"]) == (identity, "finished")
    again = command("recalibrate", "--quick", "--json", "recalibrated.json")
    assert again.ended() in (0, 4), again.err + again.out
    recalibrated = json.loads((tmp_path / "recalibrated.json").read_text())
    jsonschema.validate(recalibrated, RECALIBRATE.read())
    assert recalibrated["profile"]["run"] == identity
    assert recalibrated["differences"] == []
    # A machine may be too noisy to tell; what must not happen is that an unchanged job is searched anew.
    assert recalibrated["verdict"] in ("confirmed", "inconclusive")
    assert recalibrated["rounds"] <= 2
    listed = command("history", "list", "--json")
    assert listed.ended() == 0, listed.err
    runs = {each["run"] for each in json.loads(listed.out)["runs"]}
    assert runs == {identity, recalibrated["result"]["run"]}


@pytest.mark.alone
def test_a_whole_profile_is_confirmed_and_has_a_rate_that_holds(command, tmp_path):
    """An operator that waits gets the slots that are left; blocks in turns and a long batch then say so too."""
    write_job(tmp_path, WAITING_JOB)
    run = command("run", "job.py", *WHOLE, "--production-batch", "3s", "--json", "out.json")
    assert run.ended() == 0, run.err
    document = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(document, PROFILE.read())
    assert document["best"]["tasks"] == {"lines": 1, "wait": 3}
    assert document["confirmed"]["verdict"] == "increased"
    assert document["confirmed"]["low"] > 0.5, "three tasks instead of one"
    assert document["verified"]["batch_s"] == 3
    assert document["verified"]["passed"]
    assert document["rate"]["holds_per_s"] > 0.5 * document["best"]["throughput_per_s"]
    assert "confirmed: increased" in run.out
    assert "rows/s in batches of 3 s" in run.out


@pytest.mark.exact
def test_a_closed_terminal_ends_a_profile_as_ctrl_c_does(command, cache):
    """The panel has nowhere to draw, JVM and generator hear of it as well, and still it tidies up what it started."""
    terminal = command("run", "job.py", *SHORT, wrapper=(sys.executable, "-c", TERMINAL))
    terminal.wait_for_windows(1)
    assert list(cache.glob("runs/*/data"))
    of_profile = processes_of(cache)
    terminal.close()
    _, alive = psutil.wait_procs(of_profile, timeout=60)
    assert not alive
    assert not list(cache.glob("runs/*/data"))
    listed = command("history", "list", "--json")
    assert listed.ended() == 0, listed.err
    (stored,) = json.loads(listed.out)["runs"]
    assert stored["state"] == "unfinished"
