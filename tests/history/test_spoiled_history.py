"""One document that can't be read spoils nothing but itself: it is named, and can be removed."""

from __future__ import annotations

import json
import os
import stat
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from profiler.history.files.exchange import export_run
from profiler.history.memory import MemoryStore
from profiler.history.session.opening import HistorySession
from profiler.questions import needed_history
from profiler.questions.archive import exchange, listing, removal, showing
from tests.history.histories import a_baseline, a_result, a_run

LONG = "r" * 5000
ASKED = ("--engine", "simulated", "--mongo", "mongodb://nowhere", "--quick", "--windows", "2", "--quiet")
SPOILED = {
    "a topology that is a number": lambda store: store.begin_run(replace(a_run("bad"), topology=5)),
    "a result of another shape": lambda store: (store.begin_run(a_run("bad")), store.save_result("bad", {"best": 5})),
    "a result with a schema that is none": lambda store: (
        store.begin_run(a_run("bad")),
        store.save_result("bad", {**a_result("bad"), "schema": ["profile/1"]}),
    ),
    "a result without a gain": lambda store: (
        store.begin_run(a_run("bad")),
        store.save_result("bad", {**a_result("bad"), "gain": "much"}),
    ),
    "a run of a newer version": lambda store: (
        store.begin_run(a_run("bad")),
        store.save_result("bad", {**a_result("bad"), "schema": "profile/99"}),
    ),
}


@pytest.fixture
def store(monkeypatch, tmp_path):
    """Hold a run that is whole, where every command looks for its history."""
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path / "cache"))
    filled = MemoryStore()
    filled.begin_run(a_run("good", topology="linear", engine="simulated"))
    filled.save_result("good", a_result("good"))

    @contextmanager
    def opened(*_):
        yield filled

    @contextmanager
    def history(*_):
        yield HistorySession(lambda: filled)

    for module in (listing, showing, removal, exchange):
        monkeypatch.setattr(module, "opened_store", opened)
    monkeypatch.setattr(needed_history, "opened_history", history)
    return filled


@pytest.mark.parametrize("spoiled", SPOILED)
def test_the_others_are_listed_shown_and_pruned(spoiled, store, profile):
    SPOILED[spoiled](store)
    answer = profile("history", "list")
    assert answer.exit_code == 0
    assert "good" in answer.stdout
    assert "bad" not in answer.stdout
    assert "Run 'bad' can't be read: A stored " in answer.stderr
    assert [run["run"] for run in json.loads(profile("history", "list", "--json").stdout)["runs"]] == ["good"]
    assert profile("history", "show", "good").exit_code == 0
    assert "linear" in profile("history", "prune", "--older-than", "1d", "--dry-run").stdout


@pytest.mark.parametrize("spoiled", SPOILED)
def test_a_recalibration_passes_it_over(spoiled, store, profile):
    assert profile("run", "linear?depth=2", *ASKED).exit_code == 0
    SPOILED[spoiled](store)
    answer = profile("recalibrate", "--mongo", "mongodb://nowhere", "--quick", "--quiet")
    assert answer.exit_code in (0, 4), answer.stderr


@pytest.mark.parametrize("spoiled", SPOILED)
def test_asked_for_by_its_name_it_is_refused_with_the_way_out(spoiled, store, profile):
    SPOILED[spoiled](store)
    answer = profile("history", "show", "bad")
    assert answer.exit_code == 3
    assert "Run 'bad' can't be read: " in answer.stderr
    assert ("Update profile." if "newer" in spoiled else "'profile history prune --unreadable' removes it.") in (
        answer.stderr
    )


@pytest.mark.parametrize("asked", [["bad"], ["--unreadable"]], ids=" ".join)
@pytest.mark.parametrize("spoiled", SPOILED)
def test_it_can_be_removed(spoiled, asked, store, profile):
    """What a newer profile wrote is only removed by its name."""
    SPOILED[spoiled](store)
    spared = "newer" in spoiled and asked == ["--unreadable"]
    answer = profile("history", "prune", *asked, "--yes")
    assert answer.exit_code == 0, answer.stderr
    assert ("Nothing to delete." if spared else "Deleted 1 run and 0 baselines.") in answer.stdout
    assert ("bad" in profile("history", "list").stderr) is spared
    assert "good" in profile("history", "list").stdout


def test_a_baseline_that_can_t_be_read_is_named_and_can_be_removed(store, profile):
    store.save_baseline(a_baseline("fine"))
    store.save_baseline(replace(a_baseline("bad"), run=5))
    answer = profile("history", "list")
    assert "baseline 'fine'" in answer.stdout
    assert "Baseline 'bad' of word-count on spark can't be read: A stored baseline" in answer.stderr
    assert "Deleted 0 runs and 1 baseline." in profile("history", "prune", "--unreadable", "--yes").stdout
    assert "bad" not in profile("history", "list").stderr


@pytest.mark.parametrize("name", [LONG, "", "..", "a/b", "a\x1b[2Jb", "a\nb"])
def test_a_run_whose_name_is_none_is_not_imported(name, store, profile, refused, tmp_path):
    """Files are called by it."""
    file = tmp_path / "run.jsonl"
    export_run(store, "good", file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[0]["document"]["id"] = name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "line 1: A stored run can't be read: its id is no name of a run" in refused(
        profile("history", "import", str(file))
    )


def test_a_run_of_a_long_name_that_is_there_can_be_removed(store, profile):
    """An earlier version imported it."""
    store.begin_run(a_run(LONG))
    answer = profile("history", "list")
    assert answer.exit_code == 0
    assert f"Run '{LONG[:60]}…' can't be read" in answer.stderr
    assert profile("history", "prune", "--keep-last", "5", "--dry-run").exit_code == 0
    assert profile("history", "prune", LONG, "--yes").exit_code == 0
    assert profile("history", "list").stderr == ""


def test_a_topology_of_a_long_name_does_not_spoil_the_table(store, profile):
    store.begin_run(a_run("long", topology=LONG))
    assert max(map(len, profile("history", "list").stdout.splitlines())) < 300


def test_export_replaces_nothing_without_force(store, profile, refused, folder):
    """No file, link, pipe or device."""
    (folder / "file").write_text("mine")
    (folder / "link").symlink_to("file")
    (folder / "dangling").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    for name in ("file", "link", "dangling", "pipe", "/dev/null"):
        assert refused(profile("history", "export", "good", name)) == (
            f"'{name}' is there already. Name another file, or add --force."
        )
    assert (folder / "file").read_text() == "mine"
    assert profile("history", "export", "good", "/dev/null", "--force").exit_code == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert profile("history", "export", "good", "link", "--force").exit_code == 0
    assert (folder / "link").is_symlink()
    assert '"profile-history/' in (folder / "file").read_text()


@pytest.mark.parametrize("name", ["folder", "nowhere/file", "n" * 256])
def test_an_export_that_can_t_be_is_refused_before_a_server_is_started(name, profile, refused, folder, monkeypatch):
    monkeypatch.setattr(exchange, "opened_store", lambda _: pytest.fail("it was opened"))
    (folder / "folder").mkdir()
    said = refused(profile("history", "export", "good", name, "--force"))
    assert "can't be written: " in said


def test_the_newest_profile_is_passed_over_where_it_can_t_be_read(store, profile):
    """The one before it is recalibrated, and that is said."""
    assert profile("run", "linear?depth=2", *ASKED).exit_code == 0
    (made,) = [found.run for found in store.find_runs() if found.run.id != "good"]
    store.begin_run(replace(made, id="bad", started=made.started + timedelta(seconds=1)))
    store.save_result("bad", {**store.result(made.id), "run": "bad", "features": 7})
    answer = profile("recalibrate", "--mongo", "mongodb://nowhere", "--dry-run")
    assert answer.exit_code == 0, answer.stderr
    assert "Run 'bad' is passed over: A stored profile can't be read: " in answer.stderr
    assert made.id in answer.stdout + answer.stderr
