"""`profile history`: what was measured, listed, shown, taken out and brought in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from profiler.history.files.unsaved import UnsavedFile, unsaved_path
from profiler.history.memory import MemoryStore
from profiler.questions.archive import exchange, listing, showing
from profiler.services.mongo import GivenMongo
from profiler.services.processes.marked import marked_processes
from tests.history.histories import (
    a_baseline,
    a_block,
    a_gate_result,
    a_gate_run,
    a_result,
    a_run,
    decided,
    measured,
    seen,
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the tests a cache directory of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "stepwise-profile"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """Put a store in memory in the place of MongoDB, with a finished run and one that was interrupted."""
    filled = MemoryStore()
    filled.begin_run(a_run("run-1"))
    filled.add_windows("run-1", [seen(1)])
    filled.save_result("run-1", a_result("run-1"))
    filled.begin_run(a_run("run-2", topology="linear", minutes=5))
    filled.save_round("run-2", decided(1))
    filled.save_round("run-2", measured(2))

    @contextmanager
    def opened(_: object) -> Iterator[MemoryStore]:
        yield filled

    for module in (listing, showing, exchange):
        monkeypatch.setattr(module, "opened_store", opened)
    return filled


def test_the_list_shows_the_newest_run_first(store, profile) -> None:
    """What was found, or that nothing was found yet."""
    answer = profile("history", "list")
    assert answer.exit_code == 0
    heading, newest, oldest = answer.stdout.splitlines()
    assert heading.split() == ["run", "kind", "topology", "engine", "when", "result", "rows/s", "gain", "measured"]
    assert newest.split()[:4] == ["run-2", "profile", "linear", "spark"]
    assert newest.split()[-3:] == ["unfinished", "2", "rounds"]
    assert oldest.split()[:4] == ["run-1", "profile", "word-count", "spark"]
    assert oldest.split()[-5:] == ["(1,2,3)", "100", "+25.0%", "2", "rounds"]


def test_gates_are_in_the_list(store, profile) -> None:
    """With their verdict, or that there is none yet."""
    store.begin_run(a_gate_run("gate-1", minutes=6))
    store.save_block("gate-1", a_block(1))
    store.begin_run(a_gate_run("gate-2", minutes=7))
    store.save_result("gate-2", a_gate_result("gate-2", verdict="slower"))
    _, ended, interrupted, *_ = profile("history", "list").stdout.splitlines()
    assert (ended.split()[:2], ended.split()[-3:]) == (["gate-2", "gate"], ["slower", "0", "blocks"])
    assert (interrupted.split()[:2], interrupted.split()[-3:]) == (["gate-1", "gate"], ["unfinished", "1", "block"])
    entry = json.loads(profile("history", "list", "--json", "--limit", "1").stdout)["runs"][0]
    assert (entry["kind"], entry["state"], entry["answer"]) == ("gate", "finished", None)
    assert entry["gate"]["verdict"] == "slower"


def test_the_list_is_narrowed_down(store, profile) -> None:
    """By topology, engine, kind, state, start and number; the conditions add up."""
    store.begin_run(a_run("run-3", engine="simulated", minutes=10))
    store.begin_run(a_gate_run("gate-1", minutes=-5))

    def listed(*conditions: str) -> list[str]:
        return [run["run"] for run in json.loads(profile("history", "list", "--json", *conditions).stdout)["runs"]]

    assert listed() == ["run-3", "run-2", "run-1", "gate-1"]
    assert listed("--topology", "linear") == ["run-2"]
    assert listed("--engine", "simulated") == ["run-3"]
    assert listed("--kind", "gate") == ["gate-1"]
    assert listed("--state", "unfinished") == ["run-3", "run-2", "gate-1"]
    assert listed("--state", "finished") == ["run-1"]
    assert listed("--since", "2025-03-01T12:01+00:00") == ["run-3", "run-2"]
    assert listed("--since", "1d") == []
    assert listed("--state", "unfinished", "--engine", "spark", "--limit", "1") == ["run-2"]
    assert profile("history", "list", "--topology", "nothing").stdout == "No runs.\n"


def test_the_way_on_is_the_command_that_was_interrupted(store, profile) -> None:
    """A profile and a gate want --resume, a recalibration goes on by itself."""
    store.begin_run(a_run("again", parameters={"recalibrates": "run-1"}))
    store.begin_run(a_gate_run("gate-1"))
    for run, command in (
        ("run-2", "profile run TOPOLOGY --resume run-2"),
        ("gate-1", "profile gate TOPOLOGY --resume gate-1"),
        ("again", "profile recalibrate run-1"),
    ):
        assert f"'{command}' goes on with it" in profile("history", "show", run).stdout


WRONG = {
    "--engine": ("flink", "--engine is 'flink', not one of spark, simulated."),
    "--kind": ("test", "--kind is 'test', not one of profile, gate, compare."),
    "--state": ("done", "--state is 'done', not one of finished, cut-short, unfinished."),
    "--since": ("monday", "--since is 'monday', not a moment: how long ago, or a date."),
}


@pytest.mark.parametrize("flag", WRONG)
def test_a_condition_that_does_not_exist_is_refused(store, profile, refused, flag) -> None:
    """With what there is."""
    value, said = WRONG[flag]
    assert refused(profile("history", "list", flag, value)).startswith(said)


def test_the_list_is_one_json_document_on_demand(store, profile) -> None:
    """For scripts; a run that has not ended has no answer."""
    document = json.loads(profile("history", "list", "--json").stdout)
    assert document["schema"] == "profile-history-list/1"
    newest, oldest = document["runs"]
    assert (newest["run"], newest["answer"], newest["rounds"]) == ("run-2", None, 2)
    assert oldest["started"] == "2025-03-01T12:00:00.123456+00:00"
    assert oldest["answer"]["best"]["tasks"] == {"tweets": 1, "a.b": 2, "$count": 3}
    assert oldest["answer"]["gain"] == 0.25


def test_the_list_has_the_baselines_of_gates(store, profile) -> None:
    """Those of the topology that is asked for."""
    store.save_baseline(a_baseline("main", run="gate-1"))
    store.save_baseline(a_baseline("release", topology="linear"))
    listed = profile("history", "list", "--topology", "linear").stdout
    assert "baseline 'release' of linear on " in listed
    assert "'main'" not in listed
    for condition in (("--kind", "profile"), ("--state", "unfinished"), ("--since", "2100-01-01")):
        assert "baseline '" not in profile("history", "list", *condition).stdout
    found = json.loads(profile("history", "list", "--json").stdout)["baselines"]
    assert [(each["name"], each["run"]) for each in found] == [("release", None), ("main", "gate-1")]


def test_a_run_is_shown_with_its_answer_and_its_rounds(store, profile) -> None:
    """Tasks by name, gain and confirmation, decisions, warnings."""
    shown = profile("history", "show", "run-1").stdout
    assert "Run run-1: word-count on spark by stepwise" in shown
    assert ["1", "2", "3", "6"] in [line.split() for line in shown.splitlines()], "the tasks and the slots"
    assert "confirmed: increased +24.0%" in shown
    assert shown.count("✓ more rows") == 2
    assert "warning: state was empty" in shown


def test_a_result_is_shown_as_it_was_written(store, profile, refused) -> None:
    """For scripts, with the rounds' records."""
    assert json.loads(profile("history", "show", "run-1", "--json").stdout) == store.result("run-1")
    assert "'run-2' is unfinished" in refused(profile("history", "show", "run-2", "--json"))


def test_an_interrupted_gate_is_shown_with_the_way_to_go_on(store, profile) -> None:
    """By its own command."""
    store.begin_run(a_gate_run("gate-1"))
    store.save_block("gate-1", a_block(1))
    shown = profile("history", "show", "gate-1").stdout
    assert "Run gate-1: word-count on spark against revision 0123abc" in shown
    assert "unfinished after 1 block: 'profile gate TOPOLOGY --resume gate-1' goes on" in shown


def test_an_unfinished_run_is_shown_with_the_way_to_go_on(store, profile) -> None:
    """The last round may have no decision."""
    shown = profile("history", "show", "run-2").stdout
    assert "'profile run TOPOLOGY --resume run-2' goes on" in shown
    assert shown.count("✓ more rows") == 1


def test_the_way_to_go_on_is_told_as_the_user_calls_it(store, profile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFILE_COMMAND", "scripts/profile")
    assert "'scripts/profile run TOPOLOGY --resume run-2' goes on" in profile("history", "show", "run-2").stdout


@pytest.mark.parametrize("command", [["show", "run-9"], ["export", "run-9", "x.jsonl"]])
def test_an_unknown_run_is_refused(store, profile, refused, command) -> None:
    """With the nearest name."""
    assert "no run 'run-9'. Did you mean 'run-" in refused(profile("history", *command))
    assert not Path("x.jsonl").exists()


def test_a_run_goes_out_and_comes_in_again(store, profile) -> None:
    """Export, delete, import: the same run."""
    answer = profile("history", "export", "run-1", "run.jsonl")
    assert answer.stdout == "Wrote run run-1 to run.jsonl: 2 rounds, 1 window, with its answer.\n"
    before = store.load_run("run-1"), store.rounds("run-1"), store.windows("run-1"), store.result("run-1")
    store.delete_run("run-1")
    answer = profile("history", "import", "run.jsonl")
    assert answer.stdout == "Imported run run-1 (word-count): 2 rounds, 1 window, with its answer.\n"
    assert (store.load_run("run-1"), store.rounds("run-1"), store.windows("run-1"), store.result("run-1")) == before
    assert Path("run.jsonl").exists()


def test_a_gate_takes_its_baseline_to_another_database(store, profile) -> None:
    """What a build measured on one machine can be held against on the next one."""
    baseline = a_baseline("main", run="gate-1")
    store.begin_run(a_gate_run("gate-1"))
    store.save_baseline(baseline)
    wrote = profile("history", "export", "gate-1", "gate.jsonl").stdout
    assert wrote.endswith("0 rounds, 0 windows, without an answer, baseline 'main'.\n")
    store.delete_baseline("word-count", "spark", "main")
    assert profile("history", "import", "gate.jsonl").exit_code == 0
    assert store.load_baseline("word-count", "spark", "main") == baseline


def test_a_file_that_is_no_history_is_refused(store, profile, refused) -> None:
    """Before any server is started."""
    Path("notes.txt").write_text("hello\n")
    assert "'notes.txt' is no history: line 1" in refused(profile("history", "import", "notes.txt"))
    assert "'missing' can't be read" in refused(profile("history", "import", "missing"))


def test_a_file_that_a_run_had_to_save_is_told_of_until_it_is_imported(store, profile, cache) -> None:
    """It is ours, so it is cleared away when its records are in the history."""
    path = unsaved_path(cache, "run-1")
    UnsavedFile(path, a_run("run-1")).append([seen(2)])
    assert f"profile history import {path}" in profile("history", "list").stderr
    assert profile("history", "import", str(path)).exit_code == 0
    assert store.windows("run-1") == (seen(1), seen(2))
    assert not path.exists()
    assert profile("history", "list").stderr == ""


def test_an_unfinished_last_line_is_told(store, profile) -> None:
    """The rest is imported."""
    UnsavedFile(Path("cut.jsonl"), a_run("run-1")).append([seen(2), seen(3)])
    Path("cut.jsonl").write_text(Path("cut.jsonl").read_text()[:-5])
    answer = profile("history", "import", "cut.jsonl")
    assert "not finished" in answer.stderr
    assert store.windows("run-1") == (seen(1), seen(2))


def test_a_database_that_does_not_answer_is_told(profile, monkeypatch) -> None:
    """Exit code 3, and no credentials."""
    monkeypatch.setitem(GivenMongo.__init__.__kwdefaults__, "within_s", 0.2)
    answer = profile("history", "list", "--mongo", "mongodb://me:s3cr3t@127.0.0.1:1/")
    assert answer.exit_code == 3
    assert "No MongoDB answers at mongodb://***@127.0.0.1:1" in answer.stderr
    assert "s3cr3t" not in answer.stderr


@pytest.mark.mongo
def test_the_own_database_lasts_from_call_to_call(shell: Callable, cache: Path) -> None:
    """Started where none is given, on data that stay; nothing runs afterwards."""
    UnsavedFile(Path("run.jsonl").absolute(), a_run("run-1")).append([seen(1), decided(1)])
    assert shell("history", "import", "run.jsonl").returncode == 0
    listed = shell("history", "list")
    assert listed.returncode == 0, listed.stderr
    assert "run-1" in listed.stdout
    assert shell("history", "export", "run-1", "again.jsonl").returncode == 0
    assert Path("again.jsonl").exists()
    assert marked_processes(cache) == ()
