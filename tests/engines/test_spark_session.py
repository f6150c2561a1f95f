"""What the engine chooses for the machine it finds."""

from __future__ import annotations

import io
import itertools
import json
import os
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import psutil
import pyspark
import pytest

from profiler import Operator, Source, Topology
from profiler.engines.spark import engine
from profiler.engines.spark.jvm import session
from profiler.engines.spark.jvm.job_settings import SHUFFLE
from profiler.engines.spark.jvm.launch import on_the_command_line
from profiler.engines.spark.jvm.session import (
    Session,
    default_master,
    default_slots,
    driver_memory_mb,
    local_slots,
    machine_cores,
    settled,
)
from profiler.errors import ProfileError, UsageError
from profiler.questions.check import columns
from profiler.services.java import Java
from profiler.services.run_folder import create_run_folder


@pytest.mark.parametrize(
    ("cores", "memory_mb", "slots"), [(2, 16_000, 40), (2, 4_000, 19), (8, 64_000, 64), (1, 1_500, 4)]
)
def test_slots_follow_cores_and_memory(cores, memory_mb, slots):
    """Many more than cores, as operators may wait; never more than there is memory for."""
    assert default_slots(cores, memory_mb) == slots


def test_the_driver_takes_a_quarter_of_the_memory_within_bounds():
    """Enough for the buffers, little enough for Python workers beside it."""
    assert [driver_memory_mb(size) for size in (1_000, 8_000, 100_000)] == [1024, 2000, 4096]


@pytest.mark.parametrize(
    ("master", "slots"),
    [("local[7]", 7), ("local[7, 2]", 7), ("local", 1), ("spark://host:7077", None), ("k8s://https://host", None)],
)
def test_only_a_local_master_s_slots_are_known_beforehand(master, slots):
    """A cluster is not asked before a session is started on it."""
    assert local_slots(master) == slots


def test_the_default_master_is_this_machine():
    """With the slots that it has room for."""
    assert local_slots(default_master()) >= 4
    assert local_slots("local[*]") == machine_cores()


class Cluster:
    """Executors that register as time passes; the clock moves only while somebody waits."""

    def __init__(self, *registered):
        self.now_s = 0.0
        self._registered = dict(registered)

    def count(self):
        return max((slots for at_s, slots in self._registered.items() if at_s <= self.now_s), default=0)

    def pause(self, seconds):
        self.now_s += seconds

    def settled(self):
        return settled(self.count, clock=lambda: self.now_s, pause=self.pause)


@pytest.mark.parametrize(
    ("registered", "slots", "waited_s"),
    [
        (((0, 4),), 4, 2),
        (((5, 4),), 4, 7),
        (((0, 2), (1, 4), (2.5, 8)), 8, 4.5),
        ((), 0, 60),
        (((59.5, 4),), 4, 60),
        (tuple((second, second + 1) for second in range(100)), 61, 60),
    ],
    ids=["at once", "late", "one after the other", "none", "too late to settle", "ever more"],
)
def test_the_slots_of_a_cluster_are_counted_when_no_more_executors_come(registered, slots, waited_s):
    """Right after its start a cluster has none; how long is waited for them is bounded."""
    cluster = Cluster(*registered)
    assert cluster.settled() == slots
    assert cluster.now_s == pytest.approx(waited_s, abs=0.3)


class SparkStandIn:
    """In place of Spark's own classes: a process that ends with its standard input, and an event at one point."""

    def __init__(self, monkeypatch, *, at, event):
        self.jvm = None
        self.environment: dict[str, str] = {}
        self.command_line: dict[str, str] = {}
        self.settings: dict[str, str] = {}
        self._at, self._event = at, event
        monkeypatch.setattr(session, "find_java", lambda: Java(Path("/jdk/bin/java"), 17))
        monkeypatch.setattr(session, "launch_gateway", self._launched)
        monkeypatch.setattr(session, "SparkContext", self._context_class())
        monkeypatch.setattr(session, "SparkSession", lambda context: SimpleNamespace(stop=lambda: None))

    def reached(self, point):
        if point == self._at:
            raise self._event

    def _launched(self, conf, popen_kwargs):
        self.jvm = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        self.environment = dict(os.environ)
        self.command_line = dict(conf.getAll())
        self.reached("launch")
        return SimpleNamespace(proc=self.jvm, shutdown=lambda: None, jvm=MagicMock())

    def _context_class(self):
        stand_in = self

        class Context:
            _active_spark_context = _gateway = _jvm = None
            # In Spark's own spelling.
            defaultParallelism, uiWebUrl, applicationId = 2, "http://ui", "app"  # noqa: N815

            def __init__(self, gateway, conf):
                Context._active_spark_context = self
                stand_in.settings = dict(conf.getAll())
                stand_in.reached("context")

        return Context

    @property
    def is_gone(self):
        return not psutil.pid_exists(self.jvm.pid)


@pytest.fixture
def run(tmp_path):
    with create_run_folder(tmp_path, needed_bytes=0) as folder:
        yield folder


@pytest.mark.parametrize("at", ["launch", "context"])
@pytest.mark.parametrize(
    ("event", "raised"), [(KeyboardInterrupt(), KeyboardInterrupt), (RuntimeError("broken. Very"), ProfileError)]
)
@pytest.mark.filterwarnings("ignore:subprocess:ResourceWarning")  # the handle that is lost, as it is Spark's
def test_a_session_that_does_not_come_up_leaves_no_jvm(monkeypatch, run, at, event, raised):
    """Ctrl-C while the JVM starts, or while Spark starts in it, waits for its end; another child is left alone."""
    spark = SparkStandIn(monkeypatch, at=at, event=event)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
        with pytest.raises(raised):
            Session(run, [], master="local[2]")
        assert spark.is_gone
        assert other.poll() is None
    assert session.SparkContext._active_spark_context is None


def test_a_second_session_is_refused_and_the_first_one_stays(monkeypatch, run):
    """Spark has one context per process."""
    SparkStandIn(monkeypatch, at=None, event=None)
    first = Session(run, [], master="local[2]")
    with pytest.raises(UsageError, match="a Spark session in this process already"):
        Session(run, [], master="local[2]")
    assert session.SparkContext._active_spark_context is not None
    first.require_alive()
    first.close()


@pytest.mark.parametrize(("registered", "refused"), [(0, True), (3, False)])
def test_a_cluster_is_asked_for_its_executors(monkeypatch, run, registered, refused):
    """What Spark says right after the start is a guess; a cluster that gives nothing is told with the way out."""
    spark = SparkStandIn(monkeypatch, at=None, event=None)
    monkeypatch.setattr(session, "settled", lambda count: count())
    executors = [{"id": "driver", "maxTasks": 0}, *({"id": str(number), "maxTasks": 4} for number in range(registered))]
    answers = {"http://ui/api/v1/applications/app/executors": json.dumps(executors).encode()}
    monkeypatch.setattr(session.urllib.request, "urlopen", lambda url, timeout: io.BytesIO(answers[url]))
    if refused:
        with pytest.raises(ProfileError, match="No executor of spark://host:7077 has registered within 60 s") as raised:
            Session(run, [], master="spark://host:7077")
        assert "workers" in raised.value.hint
    else:
        started = Session(run, [], master="spark://host:7077")
        assert started.slots == 12
        started.close()
    assert spark.is_gone


OF_ANOTHER_SPARK = {
    "SPARK_HOME": "/opt/spark-3.5",
    "SPARK_CONF_DIR": "/etc/spark",
    "PYSPARK_SUBMIT_ARGS": "--master yarn pyspark-shell",
    "PYSPARK_GATEWAY_PORT": "25333",
    "PYSPARK_GATEWAY_SECRET": "hunter2",
}


@pytest.fixture
def another_spark(monkeypatch):
    """Set the variables of a user who works with another Spark as well."""
    for name, value in {**OF_ANOTHER_SPARK, "HADOOP_CONF_DIR": "/etc/hadoop"}.items():
        monkeypatch.setenv(name, value)


def left_of_another_spark(environment):
    assert environment["SPARK_HOME"] == str(Path(pyspark.__file__).parent)
    assert environment["HADOOP_CONF_DIR"] == "/etc/hadoop"
    return {name for name in OF_ANOTHER_SPARK if name in environment} - {"SPARK_HOME"}


@pytest.mark.usefixtures("another_spark")
@pytest.mark.parametrize(("master", "left"), [("local[2]", set()), ("spark://host:7077", {"SPARK_CONF_DIR"})])
def test_the_installed_spark_is_launched_whatever_the_environment_says(monkeypatch, run, master, left):
    """Another one would be launched with this one's Python, and fail; a cluster's settings may be meant for it."""
    spark = SparkStandIn(monkeypatch, at=None, event=None)
    monkeypatch.setattr(session, "settled", lambda count: 2)
    Session(run, [], master=master).close()
    assert left_of_another_spark(spark.environment) == left
    assert {name: os.environ[name] for name in OF_ANOTHER_SPARK} == OF_ANOTHER_SPARK


@pytest.mark.usefixtures("another_spark")
def test_a_check_launches_the_installed_spark_too(monkeypatch):
    """It needs no more of Spark than a plan, but a JVM all the same."""
    launched = []
    builder = MagicMock()
    builder.master.return_value.appName.return_value = builder.config.return_value = builder
    builder.getOrCreate = lambda: launched.append(dict(os.environ)) or MagicMock()
    monkeypatch.setattr("pyspark.sql.SparkSession", SimpleNamespace(builder=builder))
    columns.operator_columns(Topology.chain("checked", Source("lines"), Operator("words")))
    assert left_of_another_spark(launched[0]) == set()


def test_secrets_are_not_on_the_command_line(monkeypatch, run):
    """Everyone on the machine can read it; the context hands over what is missing there."""
    spark = SparkStandIn(monkeypatch, at=None, event=None)
    secret = {
        "spark.hadoop.fs.s3a.secret.key": "hunter2",
        "spark.mongodb.read.connection.uri": "mongodb://me:hunter2@host/db",
    }
    Session(run, [], master="local[2]", settings={**secret, "spark.some.setting": "7"}).close()
    assert "hunter2" not in str(spark.command_line)
    assert spark.command_line == {name: value for name, value in spark.settings.items() if name not in secret}
    assert spark.settings["spark.some.setting"] == "7"
    assert secret.items() <= spark.settings.items()


def test_what_only_the_launcher_reads_stays_on_the_command_line():
    """Without it the JVM would not come up as it was asked to."""
    options = {"spark.driver.extraJavaOptions": "-Djavax.net.ssl.trustStorePassword=hunter2"}
    assert on_the_command_line(options) == options


def test_what_a_session_starts_with_is_told_as_it_is(monkeypatch, run):
    """Buffers between stages and how long readers wait are not Spark's own; what a user gave goes before."""
    assert SHUFFLE.items() <= session.SETTINGS.items()
    given, *own = SHUFFLE
    stand_in = SimpleNamespace(rest_url="", local=False, master="spark://host:7077", slots=4, cores=4, nodes=1)
    stand_in.close = lambda: None
    monkeypatch.setattr(engine, "Session", lambda *arguments, **more: stand_in)
    monkeypatch.setattr(engine, "StageCosts", lambda url: None)
    monkeypatch.setattr(engine, "Topics", lambda address: SimpleNamespace(close=lambda: None))
    kafka, settings = SimpleNamespace(address="host:1"), {given: "7", "spark.some.setting": "8"}
    started = engine.SparkEngine(run, kafka, [], lambda source: None, settings=settings)
    platform = started.platform
    started.close()
    assert platform.launch_settings == {**{name: SHUFFLE[name] for name in own}, given: "7"}
    assert platform.job_settings.keys() == {"spark.sql.optimizer.excludedRules", "spark.some.setting"}
    assert platform.source_options == {"kafka.fetch.max.wait.ms": "100"}


def test_an_engine_that_does_not_come_up_closes_what_is_open(monkeypatch, run):
    """Here the client of the broker fails, after the session is there."""
    closed = itertools.count()
    open_session = SimpleNamespace(rest_url="http://127.0.0.1:1", local=True, close=lambda: next(closed))
    threads = threading.active_count()

    def fails(address):
        raise RuntimeError(address)

    monkeypatch.setattr(engine, "Session", lambda *arguments, **more: open_session)
    monkeypatch.setattr(engine, "StageCosts", lambda url: None)
    monkeypatch.setattr(engine, "Topics", fails)
    with pytest.raises(RuntimeError, match="host:1"):
        engine.SparkEngine(run, SimpleNamespace(address="host:1"), [], lambda source: None, master="local[2]")
    assert next(closed) == 1
    assert threading.active_count() == threads, "the speed index has ended"
