"""File locks: shared by many or held by one, and gone with their holder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from profiler.services.locks import Mode, hold, is_held


def test_many_share_a_lock_and_one_excludes_all(tmp_path: Path) -> None:
    """Shared holders let each other in; an exclusive one lets nobody in."""
    path = tmp_path / "lock"
    first, second = hold(path, Mode.SHARED), hold(path, Mode.SHARED)
    assert first is not None
    assert second is not None
    assert hold(path, Mode.EXCLUSIVE) is None
    first.close()
    assert is_held(path)
    second.close()
    assert not is_held(path)
    with hold(path, Mode.EXCLUSIVE) or first:
        assert hold(path, Mode.SHARED) is None


def test_the_last_of_several_holders_can_become_exclusive(tmp_path: Path) -> None:
    """Only where nobody else holds it."""
    path = tmp_path / "lock"
    first, second = hold(path, Mode.SHARED), hold(path, Mode.SHARED)
    assert first is not None
    assert second is not None
    assert not second.make_exclusive()
    second.close()
    assert first.make_exclusive()
    assert hold(path, Mode.SHARED) is None
    first.close()


def test_a_lock_dies_with_its_holder(tmp_path: Path) -> None:
    """Killing the holder frees the lock at once."""
    path = tmp_path / "lock"
    source = (
        "import signal, sys; from pathlib import Path; from profiler.services.locks import Mode, hold; "
        "lock = hold(Path(sys.argv[1]), Mode.EXCLUSIVE); print('ready', flush=True); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", source, path], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        assert is_held(path)
        holder.kill()
        holder.wait()
    assert not is_held(path)


def test_a_lock_nobody_ever_took_is_not_held(tmp_path: Path) -> None:
    """Asking creates no file."""
    assert not is_held(tmp_path / "lock")
    assert not (tmp_path / "lock").exists()
