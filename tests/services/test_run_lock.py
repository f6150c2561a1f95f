"""Who writes a run: one process at a time."""

from __future__ import annotations

import multiprocessing

import pytest

from profiler.errors import UsageError
from profiler.services.run_lock import is_being_written, only_writer, place_of


def test_a_run_that_is_being_measured_is_known_as_such(tmp_path):
    """As long as it goes on, and no longer; nothing is left of it."""
    assert not is_being_written(tmp_path, "run-1")
    with only_writer(tmp_path, "run-1"):
        assert is_being_written(tmp_path, "run-1")
        assert not is_being_written(tmp_path, "run-2")
    assert not is_being_written(tmp_path, "run-1")
    assert list((tmp_path / "writing").iterdir()) == []


def test_a_second_writer_is_refused(tmp_path):
    """Two processes that go on with one run would mix their rounds."""
    second = only_writer(tmp_path, "run-1")
    with only_writer(tmp_path, "run-1"), pytest.raises(UsageError, match="'run-1' is still being measured"), second:
        pass
    with only_writer(tmp_path, "run-1"):
        pass


def test_a_name_does_not_leave_the_folder(tmp_path):
    """It may come from a user."""
    with only_writer(tmp_path / "cache", "../../evil"):
        assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def held_forever(folder, ready):
    with only_writer(folder, "run-1"):
        ready.set()
        multiprocessing.Event().wait()


def test_the_lock_dies_with_its_holder(tmp_path):
    """A killed profile can be gone on with at once."""
    spawning = multiprocessing.get_context("spawn")
    ready = spawning.Event()
    process = spawning.Process(target=held_forever, args=(tmp_path, ready))
    process.start()
    assert ready.wait(60)
    assert is_being_written(tmp_path, "run-1")
    process.kill()
    process.join()
    assert not is_being_written(tmp_path, "run-1")
    with only_writer(tmp_path, "run-1"):
        pass


def test_a_cache_keeps_its_name(tmp_path):
    """Two caches are told apart, also where neither is there yet."""
    first = place_of(tmp_path / "a")
    assert first
    assert place_of(tmp_path / "a") == first
    assert place_of(tmp_path / "b") != first
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["place"]
