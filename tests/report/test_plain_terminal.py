"""What comes out of somebody else's file is shown on the terminal, and never obeyed by it."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager

import pytest
from rich.table import Table

from profiler.history.files.exchange import export_run
from profiler.history.memory import MemoryStore
from profiler.questions.archive import exchange, listing, removal, showing
from profiler.report.plain_terminal import PlainConsole
from tests.history.histories import a_gate_result, a_gate_run, a_result, a_run

ORDERS = "\x1b[2J\x1b]0;mine\x07\x9b31m"
COMMANDS = (["list"], ["list", "--json"], ["show", "odd"], ["show", "odd", "--json"], ["prune", "odd", "--dry-run"])


@pytest.mark.parametrize("kind", ["a profile", "a gate"])
def test_no_order_of_an_imported_run_reaches_the_terminal(kind, profile, folder, monkeypatch):
    """Whether it is listed, shown, imported or deleted."""
    theirs, ours = MemoryStore(), MemoryStore()
    made = a_run("odd", topology=f"job{ORDERS}") if kind == "a profile" else a_gate_run("odd", topology=f"job{ORDERS}")
    result = a_result("odd") if kind == "a profile" else a_gate_result("odd")
    theirs.begin_run(made)
    theirs.save_result("odd", {**result, "warnings": [f"w{ORDERS}"], "engine": f"e{ORDERS}"})
    export_run(theirs, "odd", folder / "run.jsonl")

    @contextmanager
    def opened(_):
        yield ours

    for module in (listing, showing, removal, exchange):
        monkeypatch.setattr(module, "opened_store", opened)
    answers = [profile("history", "import", "run.jsonl"), *(profile("history", *command) for command in COMMANDS)]
    assert [answer.exit_code for answer in answers[:2]] == [0, 0]
    for answer in answers:
        assert not {"\x1b", "\x07", "\x9b"} & {*answer.stdout, *answer.stderr}
    assert r"\x1b[2J" in answers[0].stdout
    assert json.loads(answers[2].stdout)["runs"][0]["topology"] == f"job{ORDERS}"


def test_styles_of_the_console_itself_are_kept():
    """Nobody else's are."""
    out = io.StringIO()
    console = PlainConsole(file=out, force_terminal=True, color_system="standard", width=60, highlight=False)
    table = Table()
    table.add_column("name")
    table.add_row("a\x1b[31mb")
    console.print("bold\x1b[2J", style="bold")
    console.print(table)
    assert "\x1b[1mbold\\x1b[2J\x1b[0m" in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()
