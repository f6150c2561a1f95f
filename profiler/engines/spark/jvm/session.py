"""One Spark session for a whole profile: its settings in one place, its noise in one file.

The JVM is started here and not by Spark's builder, because only so its standard output and error can be sent to the
log; a user never sees them, and errors point to the file. The JVM ends when its standard input closes, so it does not
outlive this process; a session that does not come up, for whatever reason, ends it before it says so.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from profiler.engines.spark.jvm import loopback
from profiler.engines.spark.jvm.garbage import Garbage
from profiler.engines.spark.jvm.job_settings import PYTHON, SHUFFLE
from profiler.engines.spark.jvm.launch import Variables, environment, of_this_spark, on_the_command_line
from profiler.engines.spark.workers import profile_worker_daemon
from profiler.errors import ProfileError, UsageError
from profiler.services.java import find_java
from profiler.services.processes.child import ended
from profiler.services.processes.marked import children, end_children, marked
from profiler.services.run_folder import RunFolder

SHORTEST_BATCH_S = 1.0
"""Seconds that a batch must last at the least: below Spark's own five, for windows."""
SETTINGS: Mapping[str, str] = {
    "spark.sql.streaming.realTimeMode.minBatchDuration": f"{1000 * SHORTEST_BATCH_S:.0f}",
    **SHUFFLE,
    **PYTHON,
    # A query that is started again finds its code compiled.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Stages are asked for once a window; what is older is not needed.
    "spark.ui.retainedStages": "100",
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedTasks": "5000",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.sql.streaming.ui.retainedQueries": "10",
    # A query whose broker is gone does not stop by itself.
    "spark.sql.streaming.stopTimeout": "10s",
    # Every deployment has producers of its own (query.py): those of past ones need not stay for ten minutes.
    "spark.kafka.producer.cache.timeout": "30s",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.port": "0",
    # The time zone of stamps in inner topics.
    "spark.sql.session.timeZone": "UTC",
    # The check for free slots does not wait for executors that are still registering.
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
}
"""Settings of the engine; a user's own come on top."""

_WORKERS = Path(profile_worker_daemon.__file__)
_ON_THIS_MACHINE: Mapping[str, str] = {**loopback.SETTINGS, "spark.python.daemon.module": _WORKERS.stem}
"""Settings for a local master only: a cluster need not have this package."""

_SLOTS_PER_CORE = 20
"""The number of slots per core: slots are threads, and operators that wait need far more of them than there are
cores."""
_MOST_SLOTS = 64
_TASK_MB = 150
"""Megabytes of a Python operator's worker and its task."""
_STOP_S = 20.0
_REGISTERED_WITHIN_S = 60.0
"""Seconds within which executors of a cluster register: each starts a JVM, maybe from an image that has to be
fetched."""
_STEADY_S = 2.0
_POLL_S = 0.2
_ANSWER_WITHIN_S = 60.0
"""Seconds within which the REST interface answers; its first answer takes some, as Spark then loads what answers."""
_LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{HH:mm:ss.SSS}} %p %c{{1}}: %m%n%ex
"""


def default_slots(cores: int, memory_mb: int) -> int:
    """Choose how many tasks may run at once on this machine: many more than cores, bounded by memory for them."""
    return max(4, min(_MOST_SLOTS, _SLOTS_PER_CORE * cores, (memory_mb - driver_memory_mb(memory_mb)) // _TASK_MB))


def driver_memory_mb(memory_mb: int) -> int:
    """Give the JVM a quarter of the free memory, between 1 and 4 GB."""
    return max(1024, min(4096, memory_mb // 4))


def machine_cores() -> int:
    """Count the cores that this process may use."""
    return len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else os.cpu_count() or 1


def free_memory_mb() -> int:
    """Ask the system how much memory is available."""
    return int(psutil.virtual_memory().available // 2**20)


def default_master() -> str:
    """Choose the master where the user names none: this machine, with as many slots as it has room for."""
    return f"local[{default_slots(machine_cores(), free_memory_mb())}]"


def local_slots(master: str) -> int | None:
    """Tell how many tasks a local master runs at once; None for a cluster, which says so only when it is asked."""
    match = re.fullmatch(r"local(?:\[(\d+|\*)(?:\s*,\s*\d+)?\])?", master.strip())
    if match is None:
        return None
    threads = match[1] or "1"
    return machine_cores() if threads == "*" else int(threads)


def settled(
    count: Callable[[], int],
    *,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> int:
    """Wait until a count is above zero and has stayed the same for a while; return it as it is when the time is up."""
    ends_s = clock() + _REGISTERED_WITHIN_S
    seen, since_s = count(), clock()
    while clock() < ends_s and not (seen > 0 and clock() - since_s >= _STEADY_S):
        pause(_POLL_S)
        before, seen = seen, count()
        since_s = since_s if seen == before else clock()
    return seen


class Session:
    """A running Spark session."""

    slots: int
    """Tasks that can run at once."""

    def __init__(
        self,
        run: RunFolder,
        jars: Sequence[Path],
        *,
        master: str | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        if SparkContext._active_spark_context is not None:  # noqa: SLF001
            raise UsageError("There is a Spark session in this process already.", hint="Stop it first.")
        self.master = master or default_master()
        self.log = run.logs / "spark.log"
        self.output = run.logs / "spark-output.log"
        self.local = self.master.startswith("local")
        self._run = run
        log4j = run.path / "log4j2.properties"
        log4j.write_text(_LOG4J.format(log=self.log))
        values = {
            **SETTINGS,
            **(_ON_THIS_MACHINE if self.local else {}),
            "spark.app.name": "profile",
            "spark.master": self.master,
            "spark.driver.memory": f"{driver_memory_mb(free_memory_mb())}m",
            "spark.jars": ",".join(map(str, jars)),
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log4j.as_uri()}",
            "spark.local.dir": str(run.data / "spark-local"),
            "spark.sql.warehouse.dir": str(run.data / "spark-warehouse"),
            **(settings or {}),
        }
        self._gateway: Any = None
        others = children()
        try:
            with environment(self._variables()):
                # Both are made while there is no JVM: such a one is a list, of which a context takes all.
                conf, shown = _conf(values), _conf(on_the_command_line(values))
                self._gateway = self._launch(shown)
                if self.local:
                    loopback.listen_on_loopback_only(self._gateway.jvm)
                self._context = self._started(conf)
            self.spark = SparkSession(self._context)
            self.slots = self._counted_slots()
            self.garbage = Garbage(self._gateway.jvm)
            """The collectors of its JVM."""
        except BaseException:
            self.close()
            # Who is interrupted while the JVM starts has no handle of it yet.
            end_children(but=others)
            raise
        for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
            # What they would write to the terminal is in the exception that follows.
            logging.getLogger(name).disabled = True
        # So is what py4j writes of a JVM that is gone, by nobody's logger.
        logging.getLogger().addFilter(_is_not_of_py4j)

    @property
    def cores(self) -> int:
        """Cores that do the work: the machine's for a local master, else the executors'."""
        return machine_cores() if self.local else self.slots

    @property
    def nodes(self) -> int:
        """Executors, or 1 where everything runs in this machine."""
        if self.local:
            return 1
        return max(1, int(self._context._jsc.sc().getExecutorMemoryStatus().size()) - 1)  # noqa: SLF001

    @property
    def process(self) -> int:
        """Number of the JVM's process."""
        return int(self._gateway.proc.pid)

    @property
    def rest_url(self) -> str:
        """Address of the REST interface for this application."""
        return f"{self._context.uiWebUrl}/api/v1/applications/{self._context.applicationId}"

    @property
    def rows_per_python_batch(self) -> int:
        """Rows that a Python operator is handed at once."""
        return int(str(self.spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")))

    def make_active(self) -> None:
        """Make this the session that functions find in the current thread, as they do in the one that opened it."""
        spark: Any = self.spark
        spark._get_j_spark_session_class(spark._jvm).setActiveSession(spark._jsparkSession)  # noqa: SLF001

    def configure(self, settings: Mapping[str, str]) -> None:
        """Set what a query copies when it starts."""
        for key, value in settings.items():
            self.spark.conf.set(key, value)

    def require_alive(self, *, wait_s: float = 0.0) -> None:
        """Raise where the JVM has ended by itself; its connections end a moment before it does, hence `wait_s`."""
        process: subprocess.Popen[bytes] | None = getattr(self._gateway, "proc", None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            if process is not None:
                raise ended("Spark's JVM", process.wait(wait_s), self.output)

    def close(self) -> None:
        """Stop Spark and its JVM; calling it twice is fine."""
        with contextlib.suppress(Exception):  # a JVM that has died already, or never came up, has nothing to stop
            self.spark.stop()
        self._end_jvm()

    def _launch(self, conf: SparkConf) -> Any:
        with self.output.open("ab") as output:
            try:
                return launch_gateway(conf, {"stdout": output, "stderr": output})  # type: ignore[no-untyped-call]
            except Exception as error:
                raise ProfileError(
                    f"Spark's JVM did not start: {_first_line(error)}.", hint=f"Its output is {self.output}."
                ) from error

    def _started(self, conf: SparkConf) -> SparkContext:
        try:
            return SparkContext(gateway=self._gateway, conf=conf)
        except Exception as error:
            raise ProfileError(
                f"Spark did not start with master {self.master}: {_first_line(error)}.",
                hint=f"Spark's log is {self.log}.",
            ) from error

    def _counted_slots(self) -> int:
        """Count them; a cluster's when its executors are there, as Spark's own figure before that is a guess."""
        if local_slots(self.master) is not None:
            return int(self._context.defaultParallelism)
        try:
            slots = settled(self._executors_slots)
        except OSError as error:
            raise ProfileError(
                f"Spark's REST interface does not answer: {error}.", hint=f"Spark's log is {self.log}."
            ) from error
        if slots == 0:
            raise ProfileError(
                f"No executor of {self.master} has registered within {_REGISTERED_WITHIN_S:g} s.",
                hint="Check that its workers run, have cores and memory left, and can reach this machine.",
            )
        return slots

    def _executors_slots(self) -> int:
        """Ask how many tasks the executors that have registered can run at once."""
        with urllib.request.urlopen(f"{self.rest_url}/executors", timeout=_ANSWER_WITHIN_S) as answer:  # noqa: S310
            return sum(int(each["maxTasks"]) for each in json.load(answer) if each["id"] != "driver")

    def _variables(self) -> Variables:
        """Make workers run this Python with the same modules, and the UI listen where the driver does."""
        variables: Variables = {
            **of_this_spark(local=self.local),
            **marked(self._run.path, owner=os.getpid(), env={}),
        }
        variables["JAVA_HOME"] = str(find_java().home)
        variables["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON", sys.executable)
        if self.local:
            variables["PYSPARK_PYTHON"] = sys.executable
            variables["SPARK_LOCAL_IP"] = "127.0.0.1"
            variables["PYTHONPATH"] = os.pathsep.join(
                path or str(Path.cwd()) for path in [*sys.path, str(_WORKERS.parent)]
            )
        return variables

    def _end_jvm(self) -> None:
        process: subprocess.Popen[bytes] | None = getattr(self._gateway, "proc", None)
        with contextlib.suppress(Exception):  # the JVM may be gone
            self._gateway.shutdown()
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        # Spark keeps all of it in the class; the next session of this process needs a JVM of its own.
        SparkContext._active_spark_context = None  # noqa: SLF001
        SparkContext._gateway = None  # noqa: SLF001
        SparkContext._jvm = None  # noqa: SLF001


def _conf(settings: Mapping[str, str]) -> SparkConf:
    return SparkConf(loadDefaults=False).setAll(list(settings.items()))


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return record.msg != "Exception while sending command."


def _first_line(error: BaseException) -> str:
    """Take the first line of what an error, or the one in the JVM that it stands for, says."""
    said = str(getattr(error, "java_exception", error)).strip()
    return said.splitlines()[0].rstrip(".") if said else type(error).__name__
