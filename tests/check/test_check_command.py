"""`profile check` draws a topology, counts its slots and tells what is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

BRANCHES = """
from profiler import Cost, Operator, Source, Topology

topology = Topology(
    "clicks",
    [Source("left"), Source("right")],
    [
        Operator("join", inputs=["left", "right"], cost=Cost(cpu_ms=0.1, wait_ms=2), tasks=4, max_tasks=8),
        Operator("sum", inputs=["join"], stateful=True, key="user", cost=Cost(cpu_ms=0.1), min_tasks=2),
        Operator("top", inputs=["join"], parallel=False, output="logic", cost=Cost(cpu_ms=0.1)),
    ],
)
"""

DRAWN = """clicks: 2 sources, 3 operators, 3 deep

              CPU ms  wait ms
  ○    left     0.01           source
  │ ○  right    0.01           source
  ├─╯
  ●    join      0.1        2  1 to 8 tasks, 4 today
  ├─╮
  ● │  sum       0.1           stateful by user, at least 2 tasks
    ●  top       0.1           logic output, one task

Slots: 6 needed at the least, one per task; the search may use 12.
"""


@pytest.fixture
def branches(folder: Path) -> str:
    (folder / "clicks.py").write_text(BRANCHES, encoding="utf-8")
    return "clicks.py"


def test_a_dag_is_drawn_with_what_is_stated_of_its_elements(profile, branches) -> None:
    answer = profile("check", branches, "--slots", "12")
    assert answer.exit_code == 0
    assert answer.stdout.startswith(DRAWN)


def test_available_slots_are_named_where_they_are_known(profile) -> None:
    """A machine's by default, a local master's, not a cluster's, and none where Spark has nothing to run."""

    def slots(*arguments: str) -> str:
        return profile("check", *arguments, "--no-spark").stdout.partition("Slots: ")[2].splitlines()[0]

    assert re.fullmatch(
        r"4 needed at the least, one per task; this machine gives (\d+) \(local\[\1\]\)\.", slots("linear")
    )
    assert slots("linear", "--master", "local[9]").endswith("; the master gives 9 (local[9]).")
    assert slots("linear", "--master", "spark://a:7077").endswith("; spark://a:7077 is not asked for its own.")
    assert slots("random-dag") == "6 needed at the least, one per task."


def test_slots_may_come_from_the_configuration(profile, folder: Path) -> None:
    (folder / "profile.toml").write_text("slots = 3\n", encoding="utf-8")
    assert profile("check", "linear", "--no-spark").exit_code == 2
    assert profile("check", "linear", "--no-spark", "--slots", "4").exit_code == 0


def test_a_master_with_too_few_slots_is_warned_of(profile) -> None:
    answer = profile("check", "linear", "--no-spark", "--master", "local[3]")
    assert answer.exit_code == 0
    assert "4 slots are needed at the least, but local[3] has 3. Give Spark more: --master 'local[4]'" in answer.stdout


def test_what_is_missing_is_warned_of(profile) -> None:
    warning = "warning: 'op1', 'op2': no function is stated. It runs on the simulated engine only.\n"
    assert warning in profile("check", "random-dag?operators=2").stdout


def test_todays_job_that_does_not_fit_is_warned_of(profile, branches) -> None:
    assert "today's job needs 9 slots, but there are 8." in profile("check", branches, "--slots", "8").stdout


def test_json_tells_the_same(profile, branches) -> None:
    answer = profile("check", branches, "--slots", "8", "--json")
    document = json.loads(answer.stdout)
    assert document["topology"] == "clicks"
    assert {key: document["slots"][key] for key in ("needed", "available", "today")} == {
        "needed": 6,
        "available": 8,
        "today": None,
    }
    assert {"from": "join", "to": "top", "topic": False} in document["edges"]
    assert document["queries"] is None
    by_name = {element["name"]: element for element in document["elements"]}
    assert by_name["left"]["kind"] == "source"
    assert by_name["sum"]["key"] == "user"
    assert by_name["top"]["parallel"] is False
    assert by_name["join"]["cost"] == {"cpu_ms": 0.1, "wait_ms": 2, "memory_mb": 0.0}
    assert [warning["elements"] for warning in document["warnings"]] == [["join", "sum", "top"], ["join", "sum"]]


def test_without_spark_no_session_is_started(profile) -> None:
    """An unmarked test fails where a JVM is started."""
    answer = profile("check", "word-count", "--no-spark")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert "stateful by word" in answer.stdout
    assert "tweets → parse → split → count" in answer.stdout
    assert "event_time: not looked at (--no-spark)." in answer.stdout


@pytest.mark.spark
def test_with_spark_a_dropped_event_time_is_found(shell, folder: Path) -> None:
    (folder / "job.py").write_text(
        "from profiler import Source, Topology\n"
        "def keep(rows):\n    return rows.select('event_time', 'value')\n"
        "def drop(rows):\n    return rows.select('value')\n"
        "def after(rows):\n    return rows\n"
        "topology = Topology.chain('job', Source('s'), keep, drop, after)\n",
        encoding="utf-8",
    )
    answer = shell("check", "job.py")
    assert answer.returncode == 0
    assert "'drop': the column event_time is dropped" in answer.stdout
    assert "drops event_time" in answer.stdout
    assert "'after': the column" not in answer.stdout
    assert answer.stderr.count("\n") == 1, "Spark's own noise must not reach the terminal"


@pytest.mark.spark
def test_every_operator_of_a_mixed_dag_keeps_event_time(shell) -> None:
    """SQL and Python operators, a fan-out and three that keep state: their columns are found without running them."""
    answer = shell("check", "twitter-sentiment", "--json")
    document = json.loads(answer.stdout)
    assert document["warnings"] == []
    assert all("event_time" in element["columns"] for element in document["elements"])
    assert [query["operators"][0] for query in document["queries"]] == ["store", "english", "tags", "top"]


@pytest.mark.spark
def test_with_spark_a_failing_operator_is_refused_with_its_line(shell, refused_after_progress, folder: Path) -> None:
    (folder / "job.py").write_text(
        "from profiler import Source, Topology\n"
        "def wrong(rows):\n    return rows.select('nothing')\n"
        "topology = Topology.chain('job', Source('s'), wrong)\n",
        encoding="utf-8",
    )
    sentence = refused_after_progress(shell("check", "job.py"))
    assert sentence.startswith("Error: Operator 'wrong' fails at job.py:3: AnalysisException: ")
    assert "nothing" in sentence


@pytest.fixture
def refused_after_progress():
    def sentence(answer) -> str:
        assert (answer.returncode, answer.stdout) == (2, "")
        progress, error = answer.stderr.splitlines()
        assert progress.startswith("Looking at the operators' columns")
        return error

    return sentence


def test_a_check_without_payloads_loads_no_mathematics(shell) -> None:
    """Half a second that a drawing does not need; `-X importtime` writes each module that is imported to stderr."""
    answer = shell("check", "linear", "--no-spark", PYTHONPROFILEIMPORTTIME="1")
    assert answer.returncode == 0
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in answer.stderr.splitlines()}
    assert {"profiler", "rich"} <= imported
    assert "scipy" not in imported
