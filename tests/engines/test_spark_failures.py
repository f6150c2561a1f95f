"""From what Spark says to the operator and the user's own line."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from profiler import Operator
from profiler.engines.spark.jvm import failures
from profiler.engines.spark.jvm.failures import died, not_built

LOG = Path("spark.log")


def double(rows):
    doubled = rows.no_such_thing
    return [doubled]


def halve(rows):
    return rows


FIRST = inspect.getsourcelines(double)[1]
CONSEQUENCE = "org.apache.spark.SparkException: Connection to streaming shuffle writer 3 closed before termination"
OPERATORS = [Operator("double", double), Operator("halve", halve)]


def test_a_python_worker_s_traceback_gives_operator_line_and_error():
    """The note names the operator; the innermost line of the user's file is shown with its text."""
    text = f"""[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):
  File "{__file__}", line {FIRST + 1}, in double
    doubled = rows.no_such_thing
  File "{__import__("pyspark").__path__[0]}/worker.py", line 7, in main
ValueError: user trouble
in the profiled operator 'double'
 SQLSTATE: 38000
=== Streaming Query ===
"""
    error = died(text, OPERATORS, LOG)
    assert error.message == (
        f"Operator 'double' failed: ValueError: user trouble ({__file__}:{FIRST + 1}: doubled = rows.no_such_thing)."
    )
    assert "spark.log" in error.hint


def test_a_column_function_s_call_names_the_operator_that_holds_it():
    """Spark tells where it was called; the operator is the one whose function has that line."""
    text = f"""[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate it. SQLSTATE: 22012
== DataFrame ==
"__truediv__" was called from
{__file__}:{FIRST + 1}

=== Streaming Query ===
"""
    error = died(text, OPERATORS, LOG)
    assert error.message.startswith("Operator 'double' failed: Division by zero.")
    assert f"{__file__}:{FIRST + 1}" in error.message


def test_a_death_without_a_line_names_the_chain():
    """Nothing is guessed where several operators could have been it."""
    assert died("Job aborted.", OPERATORS, LOG).message == "A query of double → halve died: Job aborted."


def test_the_only_operator_is_the_one_that_failed():
    """No line is needed to tell it."""
    assert died("Job aborted.", OPERATORS[:1], LOG).message.startswith("Operator 'double' failed")


def test_the_cause_is_found_in_the_log_where_only_its_consequence_is_told(tmp_path):
    """A stage that lost its neighbour may report before the one that failed; other queries' errors are not its."""
    log = tmp_path / "spark.log"
    log.write_text(f"""\
10:00:00.000 WARN TaskSetManager: [queryId = 0ther] [batchId = 1] Lost task 0.0 in stage 1.0 (TID 1) (h): x.Y: other
10:00:00.100 WARN TaskSetManager: [queryId = 12345] [batchId = 2] Lost task 0.0 in stage 4.0 (TID 4) (h): {CONSEQUENCE}
10:00:00.200 WARN TaskSetManager: [queryId = 12345] [batchId = 2] Lost task 0.0 in stage 3.0 (TID 3) (h): \
org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] An exception was thrown: Traceback:
  File "{__file__}", line {FIRST + 1}, in double
ValueError: user trouble
in the profiled operator 'double'
\tat org.apache.spark.api.python.BasePythonRunner

10:00:00.300 WARN TaskSetManager: [queryId = 12345] [batchId = 2] Lost task 0.0 in stage 2.0 (TID 2) (h): TaskKilled
""")
    text = f"[STREAM_FAILED] Query [id = 12345678-9abc, runId = 1] terminated with exception: {CONSEQUENCE}"
    error = died(text, OPERATORS, log)
    assert error.message.startswith(f"Operator 'double' failed: ValueError: user trouble ({__file__}:{FIRST + 1}")


def test_a_consequence_without_a_known_cause_is_told(monkeypatch):
    """In bounded time."""
    monkeypatch.setattr(failures, "LOGGED_WITHIN_S", 0.0)
    assert "streaming shuffle writer" in died(CONSEQUENCE, OPERATORS, LOG).message


def test_missing_slots_are_told_as_such():
    """They are no operator's fault."""
    text = "[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT] The minimum number of free slots required is 9. SQLSTATE: 53000"
    assert "fewer free slots" in died(text, OPERATORS, LOG).message


def test_an_error_while_building_shows_the_user_s_line():
    """The innermost frame that is the user's own."""
    with pytest.raises(AttributeError) as raised:
        double(object())
    error = not_built(OPERATORS[0], raised.value)
    assert error.message.startswith("Operator 'double' cannot be built: ")
    assert f"{__file__}:{FIRST + 1}: doubled = rows.no_such_thing" in error.message
