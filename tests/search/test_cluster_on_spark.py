"""`profile run` on a cluster that somebody else runs: a standalone master and a worker, on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyspark
import pytest

from profiler.services.java import find_java
from profiler.services.ports import LOOPBACK, free_ports, listens
from tests.commands import WAITING_JOB, write_job

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo]

CORES = 4
STARTS_WITHIN_S = 60.0
SHORT = ["--quick", "--windows", "3", "--window", "1s", "--warm-up", "2s", "--latency", "5s", "--budget", "150s"]


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """Run a master and a worker with some cores; give the master's address."""
    port, page, worker_page = free_ports(3)
    address = f"spark://{LOOPBACK}:{port}"
    with ExitStack() as ends:
        _start(ends, tmp_path, "master.Master", "--port", str(port), "--webui-port", str(page))
        deadline = time.monotonic() + STARTS_WITHIN_S
        while not listens(port):
            assert time.monotonic() < deadline, (tmp_path / "master.Master.log").read_text()
            time.sleep(0.1)
        room = ("--cores", str(CORES), "--memory", "2g", "--work-dir", str(tmp_path / "work"))
        _start(ends, tmp_path, "worker.Worker", *room, "--webui-port", str(worker_page), address)
        yield address


def _start(ends: ExitStack, folder: Path, name: str, *arguments: str) -> None:
    spark = Path(pyspark.__file__).parent
    command = [str(spark / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", "--host", LOOPBACK, *arguments]
    environment = {**os.environ, "SPARK_HOME": str(spark), "JAVA_HOME": str(find_java().home)}
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    ends.callback(process.wait, 30)
    ends.callback(process.terminate)


def test_a_cluster_s_slots_are_those_of_its_executors(command, master: str, spark_kafka, tmp_path: Path) -> None:
    """The source keeps one, the operator that waits gets the others; the settings to paste name the cluster's slots."""
    write_job(tmp_path, WAITING_JOB)
    given = ("--master", master, "--kafka", spark_kafka.address)
    run = command("run", "job.py", *SHORT, *given, "--json", "out.json")
    assert run.ended() == 0, run.err
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["environment"]["slots"] == CORES
    tasks = document["best"]["tasks"]
    assert tasks["wait"] > tasks["lines"] == 1
    assert document["gain"] > 1
