"""Answers are whole and readable however narrow the terminal is; a CI log has 80 columns."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console, RenderableType
from rich.text import Text

from profiler.experiment.rounds import Action, Decision, Round
from profiler.report.rounds_table import RoundsTable
from profiler.report.row_table import WideRow
from profiler.report.words import counted
from tests.scenarios import outcome

NAMES = ("tweets", "store", "detect", "english", "tags", "sentiment", "count", "average", "top", "mood", "ranking")
TASKS = {name: 10 + number for number, name in enumerate(NAMES)}
WHY = "sentiment, detect + 1: no relevant change: +6.8% (p 0.14; detectable 13.5%)"
WIDTHS = [40, 45, 60, 80, 100, 200]


def rendered(what: RenderableType, width: int) -> list[str]:
    written = io.StringIO()
    Console(file=written, width=width, soft_wrap=True).print(what)
    lines = written.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    return lines


def decided(number: int) -> Round:
    measured = outcome(TASKS, [100.0, 101.0], number=number, action=Action.START)
    return replace(measured, decision=Decision(accepted=True, why=WHY, incumbent=1))


@pytest.mark.parametrize("width", WIDTHS)
def test_no_name_is_cut_and_no_figure_is_left_out(width: int) -> None:
    figures = [(name, Text(str(count))) for name, count in TASKS.items()]
    lines = rendered(WideRow([*figures, ("slots", Text("9"))]), width)
    assert " ".join(lines[0::3]).split() == [*NAMES, "slots"]
    assert " ".join(lines[2::3]).split() == [*map(str, TASKS.values()), "9"]


def test_a_name_wider_than_the_terminal_is_folded() -> None:
    lines = rendered(WideRow([("n" * 100, Text("7")), ("slots", Text("9"))]), 40)
    assert sum(line.count("n") for line in lines) == 100
    assert "7" in "".join(lines)


@pytest.mark.parametrize("width", WIDTHS)
def test_tasks_and_decisions_of_all_rounds_are_whole(width: int) -> None:
    text = " ".join(rendered(RoundsTable([decided(1), decided(2)]), width)).replace(", ", ",")
    together = "".join(text.split())
    assert "…" not in together
    assert together.count(f"({','.join(map(str, TASKS.values()))})") == 2
    if width != 100:  # where decisions stand beside their rounds in several lines
        assert together.count(WHY.replace(" ", "")) == 2


@pytest.mark.long
def test_the_answer_of_a_large_job_is_whole_in_80_columns(profile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = profile("run", "twitter-sentiment", "--engine", "simulated", "--quick").stdout
    answer, _, _ = said.partition("Settings to paste")
    assert "…" not in answer
    assert " slots" in answer
    assert all(f" {name} " in f"{answer} " for name in NAMES)
    assert max(map(len, answer.splitlines())) <= 80


@pytest.mark.parametrize("columns", ["0", "1", "00", "39"])
def test_no_width_at_all_hides_nothing(columns: str, profile, refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert "There is no file 'nowhere.py'." in refused(profile("check", "nowhere.py"))
    assert "latency-quantile" in profile("config", "show").stdout


@pytest.mark.parametrize(("number", "said"), [(0, "0 rounds"), (1, "1 round"), (2, "2 rounds"), (1200, "1,200 rounds")])
def test_one_is_not_many(number: int, said: str) -> None:
    assert counted(number, "round") == said
