"""Run folders: one per run, data gone at the end, logs kept, the dead cleared away, the disk checked."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from profiler.errors import ProfileError
from profiler.services.processes.child import Child
from profiler.services.run_folder import KEPT_RUNS, cache_directory, create_run_folder, require_space


def test_the_cache_directory_follows_the_platform_and_the_override() -> None:
    """PROFILE_CACHE, then XDG_CACHE_HOME, then the home directory."""
    assert cache_directory({"PROFILE_CACHE": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")
    assert cache_directory({"XDG_CACHE_HOME": "/b"}) == Path("/b/stepwise-profile")
    assert cache_directory({}).is_relative_to(Path.home())


def test_closing_removes_data_and_keeps_logs(tmp_path: Path) -> None:
    """Errors point to logs, so they outlive the run."""
    with create_run_folder(tmp_path, needed_bytes=0) as run:
        (run.data / "big").write_text("x")
        (run.logs / "kafka.log").write_text("why")
    assert not run.data.exists()
    assert (run.logs / "kafka.log").read_text() == "why"


def test_two_runs_of_one_second_have_two_folders(tmp_path: Path) -> None:
    """Even in the same process."""
    now = datetime.now(UTC)
    first = create_run_folder(tmp_path, now=now, needed_bytes=0)
    with first, create_run_folder(tmp_path, now=now, needed_bytes=0) as second:
        assert first.path != second.path
        assert first.data.exists()


def test_the_data_of_a_dead_run_is_removed_and_the_history_is_not(parent, tmp_path: Path) -> None:
    """A run that was killed can't clean up; the next one does it for it."""
    (tmp_path / "history").mkdir()
    (tmp_path / "history" / "precious").write_text("x")
    program = parent("""
    import signal, sys
    from pathlib import Path
    from profiler.services.run_folder import create_run_folder

    run = create_run_folder(Path(sys.argv[1]), needed_bytes=0)
    (run.data / "big").write_text("x")
    print("ready", flush=True)
    signal.pause()
    """)
    (killed,) = (each for each in (tmp_path / "runs").iterdir() if each.is_dir())
    with create_run_folder(tmp_path, needed_bytes=0):
        assert (killed / "data" / "big").exists(), "it is still alive"
    program.kill()
    program.wait()
    with create_run_folder(tmp_path, needed_bytes=0):
        assert not (killed / "data").exists()
        assert (killed / "logs").exists()
    assert (tmp_path / "history" / "precious").exists()


def test_only_the_last_runs_keep_their_logs(tmp_path: Path) -> None:
    """Older ones are removed altogether."""
    began = datetime(2026, 1, 1, tzinfo=UTC)
    paths = []
    for number in range(KEPT_RUNS + 3):
        with create_run_folder(tmp_path, now=began + timedelta(minutes=number), needed_bytes=0) as run:
            paths.append(run.path)
    assert [path.exists() for path in paths] == [False] * 2 + [True] * (KEPT_RUNS + 1)


def test_a_folder_lives_as_long_as_its_servers(tmp_path: Path) -> None:
    """A server that is still shutting down keeps its data, though the run is over."""
    run = create_run_folder(tmp_path, needed_bytes=0)
    with Child.start("sleeper", ["sleep", "1000"], run):
        run.lock.close()
        with create_run_folder(tmp_path, needed_bytes=0):
            assert run.data.exists()
    with create_run_folder(tmp_path, needed_bytes=0):
        assert not run.data.exists()


def test_a_full_disk_is_refused_before_anything_starts(tmp_path: Path) -> None:
    """The message says where and how much; the hint says where else to go."""
    with pytest.raises(ProfileError, match=r"has 0\.50 GB free, and a profile needs 2\.00 GB") as raised:
        create_run_folder(tmp_path, free=lambda _: 500_000_000)
    assert "PROFILE_CACHE" in raised.value.hint
    assert not [each for each in (tmp_path / "runs").iterdir() if each.is_dir()]


def test_a_disk_that_has_become_full_is_told(tmp_path: Path) -> None:
    """Long before its last byte, as servers stop earlier."""
    with create_run_folder(tmp_path, needed_bytes=0) as run:
        run.require_room(free=lambda _: 100_000_000)
        with pytest.raises(ProfileError, match=f"The disk of {run.path} is full") as raised:
            run.require_room(free=lambda _: 1_000_000)
    assert "PROFILE_CACHE" in raised.value.hint


def test_space_is_asked_of_the_nearest_parent_that_exists(tmp_path: Path) -> None:
    """A cache directory that is yet to be made has a disk already."""
    require_space(tmp_path / "a" / "b", 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_directory_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """With the way out."""
    tmp_path.chmod(0o500)
    with pytest.raises(ProfileError, match="could not be made"):
        create_run_folder(tmp_path / "cache")
    tmp_path.chmod(0o700)


def test_a_cache_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    """With the way out."""
    (tmp_path / "cache").touch()
    with pytest.raises(ProfileError, match="could not be made") as raised:
        create_run_folder(tmp_path / "cache")
    assert "PROFILE_CACHE" in raised.value.hint
