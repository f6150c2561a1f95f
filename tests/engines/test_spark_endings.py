"""What ends with the Spark engine, and what the engine says when something it needs ends first."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import closing
from dataclasses import replace
from threading import Thread

import psutil
import pytest
import spark_operators as jobs

from profiler import Operator, Source, Topology
from profiler.engines.spark.deployment import SparkDeployment
from profiler.engines.spark.layout.chains import layout
from profiler.engines.spark.load.topics import Topics
from profiler.errors import ProfileError
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration
from profiler.services.kafka import open_kafka
from profiler.services.run_folder import cache_directory, create_run_folder
from tests.services.starting import marked_when_they_show, running

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

TOLD_WITHIN_S = 60.0
GONE_WITHIN_S = 60.0
ROWS = "key string, value string, event_time timestamp"


def listening(process: psutil.Process) -> dict[str, set[tuple[str, int]]]:
    """Tell by name where a process and all that it started listen; some may end meanwhile."""
    found: dict[str, set[tuple[str, int]]] = {}
    for each in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            listens = {open_.laddr for open_ in each.net_connections("tcp") if open_.status == psutil.CONN_LISTEN}
            found.setdefault(each.name(), set()).update((ip.removeprefix("::ffff:"), port) for ip, port in listens)
    return found


def test_a_running_job_listens_on_loopback_only(spark_engine):
    """Spark's driver, its page, its gateway, the shuffle and Python workers: nobody else can reach them."""
    topology = Topology.chain("wait", Source("lines"), Operator("wait", jobs.wait, batches="arrow", schema=ROWS))
    configuration = Configuration.of({"lines": 1, "wait": 2})
    jvm = psutil.Process(spark_engine.shared.session.process)
    found: dict[str, set[tuple[str, int]]] = {}
    with closing(spark_engine.deploy(topology, configuration, Detail.LIGHT)) as deployment:
        before = listening(jvm)["java"]
        windows = Thread(target=lambda: list(deployment.observe(100, 2)))
        windows.start()
        while windows.is_alive():  # servers of the shuffle live as long as a batch
            for name, addresses in listening(jvm).items():
                found.setdefault(name, set()).update(addresses)
        windows.join()
    assert any("python" in name for name in found), "the workers are looked at too"
    assert found["java"] - before, "and what a batch opens"
    listeners = [(name, at) for name, addresses in found.items() for at in addresses]
    assert not [each for each in listeners if not ipaddress.ip_address(each[1][0]).is_loopback]


def test_a_killed_broker_is_told_in_bounded_time(spark_engine, payloads, tmp_path):
    """Spark itself would wait and retry for minutes; the error names the broker, and closing does not hang."""
    topology = Topology.chain("keep", Source("lines"), Operator("keep", jobs.keep))
    configuration = Configuration.of({"lines": 1, "keep": 2})
    with create_run_folder(tmp_path, needed_bytes=0) as run, open_kafka(None, run, cache_directory()) as kafka:
        shared = replace(spark_engine.shared, kafka=kafka, topics=Topics(kafka.address))
        deployed = layout(topology, configuration)
        deployment = SparkDeployment(
            shared, topology, configuration, deployed, Detail.LIGHT, {"lines": payloads}, "mortal", fused=False
        )
        windows = deployment.observe(500, 100)
        next(windows)
        os.kill(kafka.pid, signal.SIGKILL)
        killed_s = time.monotonic()
        with pytest.raises(ProfileError, match="Kafka"):
            list(windows)
        deployment.close()
        assert time.monotonic() - killed_s < TOLD_WITHIN_S
        shared.topics.close()


def test_a_killed_jvm_and_spark_s_own_errors_are_told_in_a_sentence(tmp_path):
    """Nothing of py4j reaches the terminal; any error in the JVM stands for Spark's own."""
    source = """
        import os, signal, sys
        from pathlib import Path
        from types import SimpleNamespace
        from profiler.engines.spark.jvm.failures import explained
        from profiler.engines.spark.jvm.session import Session
        from profiler.errors import ProfileError
        from profiler.services.run_folder import create_run_folder
        with create_run_folder(Path(sys.argv[1]), needed_bytes=0) as run:
            session = Session(run, [], master="local[2]")
            def tell(work):
                try:
                    with explained(run, SimpleNamespace(check=lambda: None), session):
                        work()
                except ProfileError as error:
                    print(error)
            tell(lambda: session.spark.sparkContext._jvm.java.util.ArrayList().get(3))
            os.kill(session.process, signal.SIGKILL)
            tell(lambda: session.spark.range(4).collect())
            session.close()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    refused, killed = done.stdout.splitlines()
    assert refused.startswith("Spark failed: java.lang.IndexOutOfBoundsException: Index 3 out of bounds for length 0. ")
    assert killed.startswith("Spark's JVM was killed by SIGKILL. Where nobody did that, ")
    assert done.stderr == ""


@pytest.mark.exact
def test_ctrl_c_while_spark_starts_leaves_no_jvm(tmp_path):
    """The interruption is passed on when the JVM has ended, not before."""
    source = """
        import sys
        from pathlib import Path
        from profiler.engines.spark.jvm.session import Session
        from profiler.services.processes.marked import marked_processes
        from profiler.services.run_folder import create_run_folder
        with create_run_folder(Path(sys.argv[1]), needed_bytes=0) as run:
            try:
                Session(run, [], master="local[2]")
            except KeyboardInterrupt:
                print(len(marked_processes(run.path)))
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(source), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as program:
        marked_when_they_show(tmp_path, 1)
        os.killpg(program.pid, signal.SIGINT)
        said, complaints = program.communicate(timeout=GONE_WITHIN_S)
    assert (said, complaints) == ("0\n", "")


@pytest.mark.exact
def test_spark_s_jvm_ends_with_a_killed_parent(tmp_path):
    """Kill -9 leaves no JVM and no Python worker."""
    source = """
        import sys
        from pathlib import Path
        from profiler.engines.spark.jvm.session import Session
        from profiler.services.run_folder import create_run_folder
        run = create_run_folder(Path(sys.argv[1]), needed_bytes=0)
        session = Session(run, [], master="local[2]")
        session.spark.range(4).mapInArrow(lambda batches: batches, "id long").collect()
        print("ready", flush=True)
        sys.stdin.read()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(source), str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline().strip() == "ready"
        started = running(tmp_path)
        assert started
        program.kill()
    _, alive = psutil.wait_procs(started, timeout=GONE_WITHIN_S)
    assert not alive
