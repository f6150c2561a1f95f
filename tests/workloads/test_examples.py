"""The examples load, are drawn and run: what a newcomer tries first."""

from __future__ import annotations

import difflib
import json
import re
import shlex
from pathlib import Path

import pytest
from typer import Context
from typer.main import get_command
from typer.testing import CliRunner

from profiler.cli.app import app
from profiler.job.loading import load_topology
from profiler.traffic.payload_files import payload_file

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_mixed_dag_is_drawn_with_its_queries_stages_and_topics():
    """SQL and Python operators, a stream that parts, two operators with state."""
    answer = CliRunner().invoke(app, ["check", str(EXAMPLES / "clickstream" / "topology.py"), "--no-spark", "--json"])
    assert answer.exit_code == 0, answer.output
    document = json.loads(answer.stdout)
    drawn = CliRunner().invoke(app, ["check", str(EXAMPLES / "clickstream" / "topology.py"), "--no-spark"]).stdout
    assert document["topology"] == "clickstream"
    assert "├┄╮" in drawn
    assert "people → segment → by_segment" in drawn
    assert "(reader) → by_page" in drawn
    assert "stateful by page" in drawn


def test_the_waiting_operator_of_the_dag_gets_the_tasks(tmp_path):
    """On the simulated engine, as the example says."""
    file = tmp_path / "out.json"
    topology = str(EXAMPLES / "clickstream" / "topology.py")
    answer = CliRunner().invoke(app, ["run", topology, "--engine", "simulated", "--json", str(file), "--quiet"])
    assert answer.exit_code == 0, answer.output
    tasks = json.loads(file.read_text())["best"]["tasks"]
    assert tasks["segment"] > sum(tasks.values()) / 2


def test_the_own_job_is_profiled_with_its_own_functions():
    """No line of it is repeated in the topology."""
    topology = load_topology(str(EXAMPLES / "own_job" / "topology.py"))
    assert [operator.name for operator in topology.operators] == ["parse", "price", "total"]
    assert {operator.function.__module__ for operator in topology.operators} == {"job"}


def test_a_job_of_one_expression_becomes_a_topology_by_few_lines():
    """The expression of ten lines goes, three functions and their call come; all else stays, line by line."""
    before, after = ((EXAMPLES / "own_job" / name).read_text().splitlines() for name in ("job_before.py", "job.py"))
    changes = [line for line in difflib.ndiff(before[2:], after[2:]) if line[:2] in ("- ", "+ ") and line[2:].strip()]
    gone = [line[2:].strip() for line in changes if line.startswith("- ")]
    assert len(gone) <= 12, "the expression, and the two lines that name columns or what is imported"
    assert sum(line.startswith("+ ") for line in changes) <= 20
    runs = "\n".join(after)
    assert all(part in runs for part in ("F.from_json(", "where(", "F.round(", "groupBy(", "F.sum("))


@pytest.mark.parametrize("example", ["own_job", "clickstream"])
def test_messages_are_found_from_any_directory(example, tmp_path, monkeypatch):
    """As their text calls them: from the repository's root, or elsewhere."""
    monkeypatch.chdir(tmp_path)
    (source,) = load_topology(str(EXAMPLES / example / "topology.py")).sources
    assert payload_file(source, tmp_path).parent == EXAMPLES / example


@pytest.mark.parametrize("file", ["own_job/orders.jsonl", "clickstream/clicks.jsonl"])
def test_messages_are_json_lines(file):
    lines = (EXAMPLES / file).read_text().splitlines()
    assert len(lines) >= 10
    assert [line for line in lines if not isinstance(json.loads(line), dict)] == []


def calls_in(text):
    """Find the calls of `profile` in a workflow, each as its words; there is no library here that reads YAML."""
    lines = [re.sub(r"\s+#.*", "", line) for line in text.replace("\\\n", " ").splitlines()]
    found = [re.search(r"(?:^|[\s;&|])(?:scripts/)?profile\s+([a-z].*?)(?:\|\||&&|;|$)", line) for line in lines]
    return [shlex.split(call[1]) for call in found if call and not call.string.lstrip().startswith("#")]


def unknown_in(words):
    """Return the words of a call that name no command, or no flag of it."""
    command, rest = get_command(app), list(words)
    while rest and hasattr(command, "get_command"):
        name = rest.pop(0)
        command = command.get_command(Context(command), name)
        if command is None:
            return [name]
    known = {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}
    return [flag for word in rest if word.startswith("-") and (flag := word.partition("=")[0]) not in known]


def test_the_ci_gate_calls_commands_and_flags_that_there_are():
    """Nobody runs it here, so a flag that was renamed would be noticed by its users only."""
    calls = calls_in((EXAMPLES / "ci-gate.yml").read_text())
    assert [words[0] for words in calls] == ["gate", "gate"]
    assert "--export" in calls[0], "it stands on the second line of the call"
    assert [unknown_in(words) for words in calls] == [[], []]


def test_a_wrong_call_in_a_workflow_would_be_found():
    """As the one above is of no use otherwise."""
    text = "  scripts/profile gates job.py || code=$?\n  profile gate job.py \\\n    --against-revision x --json y\n"
    assert [unknown_in(words) for words in calls_in(text)] == [["gates"], ["--against-revision"]]
