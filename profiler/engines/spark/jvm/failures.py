"""Why a query died, or was never built: the operator and the user's own line, found in what Spark says."""

from __future__ import annotations

import inspect
import linecache
import re
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import py4j  # type: ignore[import-untyped]
import pyspark
from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from profiler.engines.spark.jvm.session import Session
from profiler.engines.spark.query.python_operator import NOTE
from profiler.errors import ProfileError, TopologyError
from profiler.job.topology import Operator
from profiler.services.kafka import Kafka
from profiler.services.processes.child import ServiceDied, read_tail
from profiler.services.run_folder import RunFolder

_FOREIGN = (
    *map(str, (*pyspark.__path__, *py4j.__path__)),
    str(Path(__file__).parents[3]),
    str(Path(traceback.__file__).parent),
    "<",
)
"""Places where code lives that is not the user's: Spark, the profiler, Python itself, and what has no file."""
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_CALL = re.compile(r"was called from\s+(?P<file>.+?):(?P<line>\d+)\s*$", re.MULTILINE)
_RAISED = re.compile(r"^(?P<what>[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit)\b.*)$", re.MULTILINE)
_NO_SLOTS = "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT"
_CONSEQUENCE = "streaming shuffle"
"""Words in the message of a task that lost its connection to a task of another stage."""
_QUERY = re.compile(r"\[id = (?P<query>\w{5})")
_LOST = re.compile(
    r"\[queryId = (?P<query>\w{5})\w*\][^\n]*?Lost task [^\n]*?\): (?:[\w.$]+: )?(?P<why>.*?)^\d\d:\d\d:\d\d\.\d{3} ",
    re.DOTALL | re.MULTILINE,
)
"""A lost task in Spark's log, up to the next entry."""
_LOG_BYTES = 1_000_000
LOGGED_WITHIN_S = 2.0
"""Seconds that Spark is given to write why a task was lost."""
_POLL_S = 0.05
_GONE_WITHIN_S = 2.0
"""Seconds that a JVM whose connections broke is given to be gone."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of a user's code."""

    file: str
    number: int

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.number).strip()
        return f"{self.file}:{self.number}" + (f": {text}" if text else "")


@contextmanager
def explained(run: RunFolder, kafka: Kafka, session: Session) -> Iterator[None]:
    """Tell an error by its cause, where something that the engine stands on is gone: the disk, the broker, the JVM.

    What is left is Spark's own: it becomes a sentence while its JVM can still be asked for it.
    """
    try:
        yield
    except ServiceDied:
        raise
    except Exception as error:
        run.require_room()
        kafka.check()
        of_spark = isinstance(error, Py4JError | PySparkException | ConnectionError)
        session.require_alive(wait_s=_GONE_WITHIN_S if of_spark and not isinstance(error, Py4JJavaError) else 0.0)
        if of_spark:
            raise ProfileError(f"Spark failed: {_in_words(error)}.", hint=f"Its log is {session.log}.") from error
        raise


def not_built(operator: Operator, error: Exception) -> ProfileError:
    """Explain an exception in a user's function while its DataFrame was built."""
    if isinstance(error, ProfileError):
        return error
    frames = [CodeLine(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    where = _of_user(frames)
    return TopologyError(
        f"Operator '{operator.name}' cannot be built: {_first_line(str(error)) or type(error).__name__}{_at(where)}.",
        hint="Correct its function.",
    )


def died(text: str, operators: Sequence[Operator], log: Path) -> ProfileError:
    """Explain a query's end by what Spark says: a Python worker's traceback, or where a column function was called."""
    text = _cause(text, log)
    if _NO_SLOTS in text:
        return ProfileError(
            f"Spark has fewer free slots than the query needs: {_first_line(text)}.",
            hint="Lower the tasks, or give Spark more slots with --master.",
        )
    where = _of_user([CodeLine(match["file"].strip(), int(match["line"])) for match in _FRAME.finditer(text)])
    where = where or _of_user([CodeLine(match["file"].strip(), int(match["line"])) for match in _CALL.finditer(text)])
    raised = _RAISED.findall(text) if _FRAME.search(text) else []
    what = raised[-1] if raised else _first_line(text)
    name = _noted(text) or _owner(where, operators)
    subject = f"Operator '{name}' failed" if name else f"A query of {' → '.join(each.name for each in operators)} died"
    return ProfileError(f"{subject}: {what}{_at(where)}.", hint=f"Spark's log is {log}.")


def _cause(text: str, log: Path) -> str:
    """Find what made a stage end, where Spark tells only that the stage after it noticed.

    All stages run at once, and the first of them that reports its end is the reason of the query's. What the other
    tasks ended by is in the log, maybe a moment later.
    """
    query = _QUERY.search(text)
    deadline = time.monotonic() + LOGGED_WITHIN_S
    while _CONSEQUENCE in text:
        for lost in _LOST.finditer(read_tail(log, _LOG_BYTES)):
            own = query is None or query["query"] == lost["query"]
            if own and not any(word in lost["why"] for word in (_CONSEQUENCE, "TaskKilled")):
                return lost["why"]
        if time.monotonic() > deadline:
            break
        time.sleep(_POLL_S)
    return text


def _noted(text: str) -> str | None:
    match = re.search(re.escape(NOTE) + r"'([^'\n]*)'", text)
    return match[1] if match else None


def _owner(where: CodeLine | None, operators: Sequence[Operator]) -> str | None:
    """Find the operator whose function holds the line; the only operator where there is but one."""
    if where is not None:
        for operator in operators:
            file, first, last = _span(operator.function)
            if file and Path(file) == Path(where.file) and first <= where.number <= last:
                return operator.name
    return operators[0].name if len(operators) == 1 else None


def _span(function: Callable[..., Any] | None) -> tuple[str, int, int]:
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))  # type: ignore[arg-type]
        return inspect.getsourcefile(inspect.unwrap(function)) or "", first, first + len(lines) - 1  # type: ignore[arg-type]
    except (TypeError, OSError):
        return "", 0, 0


def _of_user(lines: Sequence[CodeLine]) -> CodeLine | None:
    """Take the innermost line that belongs to the user."""
    own = [line for line in lines if not line.file.startswith(_FOREIGN)]
    return own[-1] if own else None


def _at(where: CodeLine | None) -> str:
    return f" ({where})" if where else ""


def _in_words(error: Exception) -> str:
    return _first_line(str(error.java_exception if isinstance(error, Py4JJavaError) else error)) or type(error).__name__


def _first_line(text: str) -> str:
    """Take the first line that says something, without Spark's error code and its closing full stop."""
    for line in text.splitlines():
        cleaned = re.sub(r"^\[[A-Z0-9_.]+\]\s*|\s*SQLSTATE: \w+;?$", "", line.strip())
        if cleaned:
            return cleaned.rstrip(".")[:400]
    return ""
