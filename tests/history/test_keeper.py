"""The keeper: whatever happens to the store, nothing that was measured is lost, and measuring never waits."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

import profiler
from profiler.experiment.events import (
    BlockStarted,
    Phase,
    RoundDecided,
    RoundMeasured,
    SearchEnded,
    TrialStarted,
    WindowSeen,
)
from profiler.history import keeper as keeper_module
from profiler.history.files.exchange import import_file
from profiler.history.files.lines import read_history
from profiler.history.files.unsaved import UnsavedFile
from profiler.history.keeper import Keeper, Kept, Patience
from profiler.history.memory import MemoryStore
from profiler.history.store import StoreFailed
from profiler.job.configuration import Configuration
from tests.history.histories import NOON, TASKS, a_result, a_run, decided, measured, seen
from tests.scenarios import window

CONFIGURATION = Configuration.of(TASKS)
EAGER = Patience(first_retry_s=0.01, longest_retry_s=0.02, at_close_s=60.0)
IMPATIENT = replace(EAGER, at_close_s=0.05)


def window_seen(throughput_per_s: float = 100.0, phase: Phase = Phase.STRESS) -> WindowSeen:
    return WindowSeen(phase, 1, 10, CONFIGURATION, window(throughput_per_s))


def throughputs(store, run="run-1"):
    return [each.observation.throughput_per_s for each in store.windows(run)]


class FragileStore(MemoryStore):
    """A store that can be broken, and that can be made to hang."""

    def __init__(self):
        super().__init__()
        self.error = None
        self.going = threading.Event()
        self.going.set()
        self.asked = threading.Event()
        self.opening = threading.Event()
        self.meanwhile = []
        """What else happens while windows are added, once each."""

    def open(self):
        """Open it, as a keeper does."""
        self.opening.set()
        self._work()
        return self

    def add_windows(self, run, windows):
        self._work()
        super().add_windows(run, windows)
        while self.meanwhile:
            self.meanwhile.pop()()

    def save_round(self, run, outcome):
        self._work()
        super().save_round(run, outcome)

    def _work(self):
        self.asked.set()
        self.going.wait()
        if self.error is not None:
            raise self.error


@pytest.fixture
def store():
    return FragileStore()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "unsaved" / "run-1.jsonl"


@pytest.fixture
def keep(store, file):
    return lambda patience=EAGER, **more: Keeper(store.open, a_run(), file, patience=patience, **more)


def test_what_happens_is_stored_as_it_happens(keep, store):
    """Every window with its round or block and its phase; a round is stored before the next one starts."""
    with keep() as keeper:
        assert store.load_run("run-1").run == a_run()
        keeper(TrialStarted(1, measured(1).trial))
        keeper(window_seen(1, Phase.WARM_UP))
        keeper(window_seen(2, Phase.STRESS))
        keeper(RoundMeasured(measured(1)))
        assert store.rounds("run-1") == (measured(1),)
        assert throughputs(store) == [1, 2]
        keeper(RoundDecided(decided(1)))
        assert store.rounds("run-1") == (decided(1),)
        keeper(SearchEnded(decided(1), decided(1)))
        keeper(BlockStarted(4, 12, CONFIGURATION))
        keeper(window_seen(3, Phase.BLOCK))
    kept = [(each.round, each.block, each.phase, each.observation.throughput_per_s) for each in store.windows("run-1")]
    assert kept == [(1, None, Phase.WARM_UP, 1), (1, None, Phase.STRESS, 2), (None, 4, Phase.BLOCK, 3)]
    assert {each.configuration for each in store.windows("run-1")} == {CONFIGURATION}


def test_windows_of_one_moment_are_told_apart(keep, store, monkeypatch):
    """A simulated engine is faster than a clock may be fine."""

    class StoppedClock(datetime):
        @classmethod
        def now(cls, tz=None):
            return NOON

    monkeypatch.setattr(keeper_module, "datetime", StoppedClock)
    with keep() as keeper:
        for number in range(20):
            keeper(window_seen(number))
    assert throughputs(store) == list(range(20))


def test_what_comes_while_the_file_is_brought_back_is_brought_back_too(keep, store, file):
    """A full queue may add to the file at any moment."""
    with keep(capacity=0) as keeper:
        store.meanwhile = [lambda: keeper(window_seen(2))]
        keeper(window_seen(1))
    assert keeper.close() == Kept()
    assert throughputs(store) == [1, 2]
    assert not file.exists()


def test_the_result_is_stored(keep, store):
    """And nothing is left to tell."""
    with keep() as keeper:
        keeper.keep_result(a_result())
    assert store.result("run-1") == a_result()
    assert keeper.close() == Kept()
    assert str(keeper.close()) == ""


def test_a_store_that_cannot_be_opened_is_told_before_anything_is_measured(keep, store, file):
    """The experiment does not start."""
    store.error = StoreFailed("gone")
    with pytest.raises(StoreFailed, match="gone"), keep():
        pytest.fail("it started")
    assert not file.exists()


def test_measuring_does_not_wait_for_a_store_that_hangs(keep, store, file):
    """Windows queue up, and where the queue is full they go to the file; in the end the store has them all."""
    with keep(capacity=3) as keeper:
        store.asked.clear()
        store.going.clear()
        keeper(window_seen(0))
        store.asked.wait()
        for number in range(1, 10):
            keeper(window_seen(number))
        assert [each.observation.throughput_per_s for each in read_history(file).records] == [4, 5, 6, 7, 8, 9]
        store.going.set()
    assert keeper.close() == Kept()
    assert not file.exists()
    assert throughputs(store) == list(range(10))


def test_the_end_of_a_round_waits_for_a_store_that_hangs_but_not_forever(keep, store, wait_until):
    """The next round starts, and the store gets the round when it goes on."""
    with keep(replace(EAGER, at_round_s=0.01)) as keeper:
        store.going.clear()
        keeper(RoundDecided(decided(1)))
        assert store.rounds("run-1") == ()
        store.going.set()
        wait_until(lambda: store.rounds("run-1") == (decided(1),))


def test_what_a_dead_store_misses_is_in_the_file_at_once_and_brought_back(keep, store, file, wait_until):
    """While the profile goes on, without any help."""
    with keep() as keeper:
        keeper(window_seen(1))
        wait_until(lambda: throughputs(store) == [1])
        store.error = StoreFailed("gone")
        keeper(window_seen(2))
        wait_until(file.exists)
        keeper(RoundMeasured(measured(1)))
        keeper(RoundDecided(decided(1)))
        store.error = None
        wait_until(lambda: not file.exists())
        keeper(window_seen(3))
    assert keeper.close() == Kept()
    assert throughputs(store) == [1, 2, 3]
    assert store.rounds("run-1") == (decided(1),)


def test_where_the_store_stays_dead_the_file_stays_and_is_told(keep, store, file):
    """With the reason and the command that imports it; the import gives what an undisturbed run has."""
    with keep(IMPATIENT) as keeper:
        store.error = StoreFailed("MongoDB at x is gone.", hint="Check it.")
        keeper(TrialStarted(1, measured(1).trial))
        for number in range(5):
            keeper(window_seen(number))
        keeper(RoundDecided(decided(1)))
        keeper.keep_result(a_result(rounds=1))
    kept = keeper.close()
    assert (kept.file, kept.lost) == (file, 0)
    assert str(kept) == (
        f"The history is not complete: MongoDB at x is gone. Check it. What it lacks is in {file}: "
        f"'profile history import {file}' adds it."
    )
    other = MemoryStore()
    import_file(other, file)
    assert throughputs(other) == [0, 1, 2, 3, 4]
    assert other.rounds("run-1") == (decided(1),)
    assert other.result("run-1") == a_result(rounds=1)


def test_any_error_of_a_store_sends_the_records_to_the_file(keep, store, file):
    """Even one that nobody thought of."""
    with keep(IMPATIENT) as keeper:
        store.error = ZeroDivisionError("a defect")
        keeper(window_seen(1))
    assert keeper.close().reason == "a defect"
    assert len(read_history(file).records) == 1


def test_closing_does_not_wait_for_a_store_that_never_comes_back(keep, store, file, monkeypatch, wait_until):
    """The writer that hangs is left behind; what was measured meanwhile is in the file."""
    monkeypatch.setattr(keeper_module, "LEFT_BEHIND_AFTER_S", 0.05)
    with keep(IMPATIENT) as keeper:
        store.error = StoreFailed("gone")
        keeper(window_seen(1))
        wait_until(file.exists)
        store.going.clear()
        store.opening.clear()
        store.opening.wait()
        keeper(window_seen(2))
    assert keeper.close().file == file
    assert [each.observation.throughput_per_s for each in read_history(file).records] == [1, 2]
    store.error = None
    store.going.set()
    for thread in threading.enumerate():
        if thread.name == "history":
            thread.join()
    assert file.exists()


def test_where_neither_store_nor_disk_takes_it_the_loss_is_told(keep, store, file):
    """The one case in which something is lost must not be silent."""
    file.parent.write_text("in the way")
    with keep(IMPATIENT) as keeper:
        store.error = StoreFailed("gone.")
        keeper(window_seen(1))
        keeper(window_seen(2))
    kept = keeper.close()
    assert (kept.file, kept.lost) == (None, 2)
    assert "gone." in str(kept)
    assert "2 records could be saved nowhere" in str(kept)


def test_what_the_disk_did_not_take_is_kept_for_the_store(keep, store, file):
    """It may come back before the end."""
    file.parent.write_text("in the way")
    with keep() as keeper:
        store.error = StoreFailed("gone.")
        store.asked.clear()
        keeper(window_seen(1))
        store.asked.wait()
        store.error = None
    assert keeper.close() == Kept()
    assert throughputs(store) == [1]


def test_a_full_disk_leaves_no_half_lines(file, monkeypatch):
    """What was written before it was full can be read, and what comes after it too."""
    unsaved = UnsavedFile(file, a_run())
    genuine = os.write

    def full(descriptor, data):
        if len(data) > 20:
            return genuine(descriptor, data[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    for before in ([], [seen(1)]):
        if before:
            unsaved.append(before)
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            with pytest.raises(OSError, match="No space left"):
                unsaved.append([seen(2)])
        assert unsaved.exists() == bool(before)
    unsaved.append([seen(3)])
    assert read_history(file).records == (seen(1), seen(3))


def test_a_file_that_has_grown_is_not_removed(file):
    """What came after the look into it is not in the store yet."""
    unsaved = UnsavedFile(file, a_run())
    unsaved.append([seen(1)])
    size = unsaved.size()
    unsaved.append([seen(2)])
    assert not unsaved.remove(size)
    assert unsaved.remove(unsaved.size())
    assert not unsaved.exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from profiler.history.keeper import Keeper
from tests.history.test_keeper import FragileStore, StoreFailed, a_run, window_seen
store, file = FragileStore(), Path(sys.argv[1])
with Keeper(store.open, a_run(), file) as keeper:
    store.error = StoreFailed("gone")
    for number in range(50):
        keeper(window_seen(number))
        while not file.exists() or f'"throughput_per_s": {number}' not in file.read_text():
            pass
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_profile_that_is_killed_while_the_store_is_dead_leaves_all_in_the_file(file):
    """kill -9 gives nobody a chance to write anything afterwards."""
    root = str(Path(profiler.__file__).parent.parent)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(file)], cwd=root, check=False, timeout=120)
    assert ended.returncode == -9
    store = MemoryStore()
    import_file(store, file)
    assert throughputs(store) == list(range(50))
