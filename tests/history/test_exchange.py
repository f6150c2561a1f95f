"""Export and import: a run goes through a file unharmed, a bad file leaves no trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from profiler.errors import ProfileError, UsageError
from profiler.history.files.exchange import export_run, history_of, import_file
from profiler.history.files.lines import header_line, read_history, record_line
from profiler.history.memory import MemoryStore
from profiler.history.records import Result
from profiler.history.store import StoreFailed
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


@pytest.fixture
def filled() -> MemoryStore:
    """A store with one whole run and another beside it."""
    store = MemoryStore()
    for name in ("run-1", "run-2"):
        store.begin_run(a_run(name))
        store.add_windows(name, [seen(10), seen(20, block=3)])
        store.save_result(name, a_result(name))
    return store


@pytest.fixture
def file(filled, tmp_path):
    path = tmp_path / "run.jsonl"
    export_run(filled, "run-1", path)
    return path


def contents(store, run="run-1"):
    return store.load_run(run), store.windows(run), store.rounds(run), store.result(run)


def test_a_run_goes_through_a_file_unharmed(filled, file):
    """Only the run that was asked for, and all of it."""
    other = MemoryStore()
    import_file(other, file)
    assert contents(other) == contents(filled)
    assert [found.run.id for found in other.find_runs()] == ["run-1"]


def test_a_gate_goes_through_a_file_unharmed(tmp_path):
    """With its blocks, its windows and its verdict; interrupted or not."""
    for name in ("gate-1", "gate-2"):
        store, other = MemoryStore(), MemoryStore()
        store.begin_run(a_gate_run(name))
        store.add_windows(name, [seen(10, block=0)])
        store.save_block(name, a_block(1))
        if name == "gate-1":
            store.save_result(name, a_gate_result(name))
        export_run(store, name, tmp_path / "gate.jsonl")
        import_file(other, tmp_path / "gate.jsonl")
        assert contents(other, name) == contents(store, name)
        assert other.blocks(name) == (a_block(1),)


def test_a_gate_takes_its_baselines_along(tmp_path):
    """Those that it was saved as; one that was saved later under the same name is not replaced."""
    store, path = MemoryStore(), tmp_path / "gate.jsonl"
    store.begin_run(a_gate_run("gate-1"))
    mine = a_baseline("main", run="gate-1")
    for each in (mine, a_baseline("other", run="gate-2"), a_baseline("older")):
        store.save_baseline(each)
    assert export_run(store, "gate-1", path).baselines == (mine,)
    for age, kept in ((timedelta(days=1), mine), (timedelta(days=-1), None)):
        other = MemoryStore()
        there = a_baseline("main", saved=mine.saved - age, throughput_per_s=1.0)
        other.save_baseline(there)
        import_file(other, path)
        assert other.load_baseline("word-count", "spark", "main") == (kept or there)
        assert [each.name for each in other.baselines()] == ["main"]
    empty = MemoryStore()
    import_file(empty, path)
    assert empty.load_baseline("word-count", "spark", "main") == mine


@pytest.mark.mongo
def test_a_run_goes_from_mongodb_to_mongodb(filled, file, mongo_uri, tmp_path):
    """Export and import with the real thing on both sides."""
    from profiler.history.mongo.store import MongoStore

    store = MongoStore(mongo_uri)
    import_file(store, file)
    import_file(store, file)
    assert contents(store) == contents(filled)
    export_run(store, "run-1", tmp_path / "again.jsonl")
    store.delete_run("run-1")
    import_file(store, tmp_path / "again.jsonl")
    assert contents(store) == contents(filled)
    store.close()


def test_importing_twice_changes_nothing(file):
    """A file may come in again, whole or in part."""
    store = MemoryStore()
    import_file(store, file)
    before = contents(store)
    import_file(store, file)
    assert contents(store) == before


def test_a_run_that_has_not_ended_can_be_exported(tmp_path):
    """Without a result, its rounds decided or not."""
    store = MemoryStore()
    store.begin_run(a_run())
    store.save_round("run-1", decided(1))
    store.save_round("run-1", measured(2))
    export_run(store, "run-1", tmp_path / "run.jsonl")
    other = MemoryStore()
    import_file(other, tmp_path / "run.jsonl")
    assert other.rounds("run-1") == (decided(1), measured(2))
    assert other.load_run("run-1").answer is None


def test_an_export_that_fails_leaves_no_file(filled, tmp_path):
    """Neither half a file nor its draft."""
    (tmp_path / "taken").mkdir()
    for path in (tmp_path / "taken", tmp_path / "missing" / "run.jsonl"):
        with pytest.raises(UsageError, match="can't be written"):
            export_run(filled, "run-1", path)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_another_run_of_the_same_name_is_not_mixed_with(file):
    """Two machines may have made the same name."""
    store = MemoryStore()
    store.begin_run(a_run("run-1", topology="linear"))
    with pytest.raises(UsageError, match="holds another run 'run-1', of linear"):
        import_file(store, file)
    assert (store.windows("run-1"), store.rounds("run-1")) == ((), ())


class FullStore(MemoryStore):
    """A store that takes windows but no rounds."""

    def save_round(self, run, outcome):
        raise StoreFailed("full")


def test_a_new_run_is_not_listed_before_all_of_it_is_there(file):
    """An import that dies in the middle leaves nothing that looks whole."""
    store = FullStore()
    with pytest.raises(ProfileError, match="full"):
        import_file(store, file)
    assert store.find_runs() == []


def line_changed(number: int, change: Callable[[str], str]) -> Callable[[str], str]:
    def changed(text: str) -> str:
        lines = text.split("\n")
        lines[number - 1] = change(lines[number - 1])
        return "\n".join(lines)

    return changed


def without(key: str) -> Callable[[str], str]:
    def changed(line: str) -> str:
        entry = json.loads(line)
        del entry["document"][key]
        return json.dumps(entry)

    return changed


def as_kind(kind: str) -> Callable[[str], str]:
    return lambda line: json.dumps({**json.loads(line), "kind": kind})


MALFORMED = {
    "empty": (lambda _: "", "holds no whole line"),
    "no JSON": (lambda _: "hello\n", "line 1: it is no JSON"),
    "a JSON document of another kind": (lambda _: "[1]\n", "line 1: it is no JSON object"),
    "another schema": (lambda text: text.replace("profile-history/2", "a-log/1"), "line 1: .*'a-log/1', not"),
    "a newer schema": (
        lambda text: text.replace("profile-history/2", "profile-history/3"),
        "'profile-history/3', and this profile knows up to 'profile-history/2'.*update",
    ),
    "a run of a newer schema": (lambda text: text.replace("profile-run/4", "profile-run/5"), "line 1: .*update"),
    "a file without its run": (lambda text: text[text.index("\n") + 1 :], "line 1: its kind is 'window', not 'run'"),
    "a run without its start": (line_changed(1, without("started")), "line 1: A stored run can't be read"),
    "a start without a time zone": (lambda text: text.replace("+00:00", ""), "line 1: A stored run.*time zone"),
    "cut off within a line": (lambda text: text[:-9], "after 4 of 5 records"),
    "cut off at a line": (lambda text: text[: text[:-1].rindex("\n") + 1], "line 5.*after 4 of 5 records"),
    "a broken line": (line_changed(3, lambda line: line[:-1]), "line 3: it is no JSON"),
    "a window without its phase": (line_changed(2, without("phase")), "line 2: A stored window can't be read"),
    "a round without its trial": (line_changed(4, without("trial")), "line 4: A stored round can't be read"),
    "a result without its best": (line_changed(6, without("best")), "line 6: A stored result can't be read"),
    "a result of another run": (line_changed(6, lambda line: line.replace("run-1", "run-9")), "line 6: .*'run-9'"),
    "a result of another schema": (line_changed(6, lambda line: line.replace("profile/1", "x")), "line 6: .*'x'"),
    "a line of an unknown kind": (line_changed(5, as_kind("joke")), "line 5: its kind is 'joke'"),
    "a line without a document": (line_changed(5, lambda _: '{"kind": "round"}'), "line 5: it has no document"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_file_is_refused_and_nothing_of_it_is_imported(file, case):
    """The error names the line."""
    spoil, said = MALFORMED[case]
    file.write_text(spoil(file.read_text()))
    store = MemoryStore()
    with pytest.raises(UsageError, match=said):
        import_file(store, file)
    assert store.find_runs() == []
    assert (store.windows("run-1"), store.rounds("run-1"), store.result("run-1")) == ((), (), None)


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path):
    """In the same words."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("binary", "missing"):
        with pytest.raises(UsageError, match=f"{name}' can't be read"):
            read_history(tmp_path / name)


def test_the_file_of_a_killed_run_is_read_up_to_its_unfinished_line(tmp_path):
    """Its writer could not count its lines beforehand, and died within the last."""
    path = tmp_path / "run.jsonl"
    path.write_text(header_line(a_run()) + record_line(seen(1)) + record_line(decided(1))[:-20])
    history = read_history(path)
    assert history.records == (seen(1),)
    assert history.cut_off


def test_a_result_keeps_its_records_where_the_rounds_are_not_there(tmp_path):
    """The keeper's file may hold a result whose rounds went to a database that is gone."""
    path = tmp_path / "run.jsonl"
    path.write_text(header_line(a_run()) + record_line(Result(a_result())))
    store = MemoryStore()
    import_file(store, path)
    assert store.rounds("run-1") == (decided(1), decided(2))


def test_a_history_counts_what_it_holds(filled):
    """For the sentence that the command line prints."""
    history = history_of(filled, "run-1")
    assert (history.count(type(seen(1))), history.count(type(decided(1))), history.count(Result)) == (2, 2, 1)
