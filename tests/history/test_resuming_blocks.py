"""An interrupted gate: what it can be gone on with, and when it can't."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from profiler.errors import ProfileError, UsageError
from profiler.history.files.unsaved import UnsavedFile
from profiler.history.memory import MemoryStore
from profiler.history.records import RunState
from profiler.history.session.interrupted import interrupted
from profiler.history.session.opening import HistorySession
from profiler.history.session.resuming import resumed, resumed_blocks
from profiler.services.run_folder import cache_directory
from profiler.services.run_lock import only_writer
from tests.history.histories import NOON, a_block, a_gate_result, a_gate_run, a_run

SOON = NOON + timedelta(minutes=30)


@pytest.fixture
def store():
    filled = MemoryStore()
    filled.begin_run(a_gate_run())
    for number in (1, 2, 3):
        filled.save_block("gate-1", a_block(number, minutes=number))
    return filled


@pytest.fixture
def unsaved(tmp_path):
    return tmp_path / "unsaved" / "gate-1.jsonl"


def test_a_gate_goes_on_with_its_blocks(store, unsaved):
    """As it was begun, with all that were measured."""
    run, blocks = resumed_blocks(store, a_gate_run(minutes=20), unsaved, now=SOON)
    assert run == a_gate_run()
    assert blocks == tuple(a_block(number, minutes=number) for number in (1, 2, 3))


def test_what_the_gate_could_not_save_is_brought_in_first(store, unsaved):
    """A killed gate leaves its file without a word."""
    UnsavedFile(unsaved, a_gate_run()).append([a_block(4, minutes=4)])
    assert len(resumed_blocks(store, a_gate_run(), unsaved, now=SOON)[1]) == 4
    assert not unsaved.exists()


@pytest.mark.parametrize("complete", [True, False])
def test_a_gate_with_a_verdict_is_not_gone_on_with(store, unsaved, complete):
    """Also where its time was up: one more look would raise false alarms."""
    store.save_result("gate-1", a_gate_result(complete=complete))
    with pytest.raises(UsageError, match="'gate-1' has ended"):
        resumed_blocks(store, a_gate_run(), unsaved, now=SOON)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (a_gate_run(parameters={"candidate's code": "0ther"}), "candidate's code c0de, not 0ther"),
        (a_gate_run(parameters={"against": "revision 4567def"}), "against revision 0123abc, not revision 4567def"),
        (a_gate_run(environment={"machine": "another"}), "machine None, not another"),
        (a_gate_run(engine="simulated"), "engine spark, not simulated"),
    ],
)
def test_blocks_of_another_question_are_refused(store, unsaved, wanted, said):
    """Code, place and what it is compared with must be as they were."""
    with pytest.raises(UsageError, match=f"Run 'gate-1' was started with {said}"):
        resumed_blocks(store, wanted, unsaved, now=SOON)


def test_an_interruption_of_long_ago_is_refused(store, unsaved):
    """An hour after the last block, not after the start."""
    last = NOON + timedelta(minutes=3)
    assert resumed_blocks(store, a_gate_run(), unsaved, now=last + timedelta(minutes=59))
    with pytest.raises(UsageError, match=r"more than 60 minutes ago.*Leave --resume out"):
        resumed_blocks(store, a_gate_run(), unsaved, now=last + timedelta(minutes=61))


def test_a_block_that_is_missing_is_told(store, unsaved):
    """It may wait in the file that was saved while the database was gone."""
    store.save_block("gate-1", a_block(5, minutes=5))
    with pytest.raises(ProfileError, match="Block 4 of run 'gate-1' is not in the history"):
        resumed_blocks(store, a_gate_run(), unsaved, now=SOON)


def test_a_profile_is_no_gate_and_a_gate_no_profile(store, unsaved):
    """The right command is named."""
    store.begin_run(a_run("run-1"))
    with pytest.raises(UsageError, match=r"'run-1' is of another kind: profile, not gate\. 'profile run' goes on"):
        resumed_blocks(store, a_gate_run("run-1"), unsaved, now=SOON)
    with pytest.raises(UsageError, match=r"'gate-1' is of another kind: gate, not profile\. 'profile gate' goes on"):
        resumed(store, a_run("gate-1"), unsaved)


@pytest.fixture
def found(store, tmp_path, monkeypatch):
    """Find what a new gate would go on with, after so many minutes."""
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path / "cache"))

    def find(minutes=30):
        now = NOON + timedelta(minutes=minutes)
        past = interrupted(a_gate_run("new"), HistorySession(lambda: store), partial(resumed_blocks, now=now), now=now)
        return past and (past.run.id, past.done)

    return find


def test_the_interrupted_gate_of_the_same_question_is_found(store, found):
    """The newest one without a verdict that has a block, and is gone on with soon."""
    store.begin_run(a_gate_run("empty"))
    store.begin_run(a_gate_run("other", parameters={"candidate's code": "0ther"}))
    store.save_block("other", a_block(1))
    store.begin_run(a_gate_run("before", minutes=-10))
    store.save_block("before", a_block(1))
    assert found() == ("gate-1", 3)
    assert found(minutes=90) is None


def test_a_gate_that_was_started_over_is_done_with(store, found):
    """Whoever asks again after a verdict wants another one."""
    store.begin_run(a_gate_run("ended", minutes=10))
    store.save_block("ended", a_block(1))
    store.save_result("ended", a_gate_result("ended"))
    assert store.load_run("gate-1").state is RunState.UNFINISHED
    assert found() is None


def test_a_gate_that_is_being_measured_is_left_alone(found):
    """Two that ask the same at once each measure their own."""
    with only_writer(cache_directory(), "gate-1"):
        assert found() is None
    assert found() == ("gate-1", 3)
