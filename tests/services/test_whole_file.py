"""A file is written whole or not at all, wherever its name leads."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from profiler.services.whole_file import check_writable, written_whole

LONG = "n" * 250


def broken_write(path: Path) -> None:
    with written_whole(path) as file:
        file.write(b"half")
        raise InterruptedError


@pytest.mark.parametrize("name", ["new", LONG, "folder/new"])
def test_a_new_file_appears_when_it_is_complete(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    with pytest.raises(InterruptedError):
        broken_write(path)
    assert list(path.parent.iterdir()) == []
    with written_whole(path) as file:
        file.write(b"all")
        assert not path.exists()
    assert path.read_bytes() == b"all"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("private", [False, True])
def test_a_file_is_replaced_as_a_whole(private: bool, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    path.chmod(0o640)
    with pytest.raises(InterruptedError):
        broken_write(path)
    assert path.read_text() == "before"
    with written_whole(path, private=private) as file:
        file.write(b"after")
    assert path.read_text() == "after"
    assert stat.S_IMODE(path.stat().st_mode) == (0o600 if private else 0o640)


@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing yet"])
def test_a_link_stays_one(there: bool, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    if there:
        target.write_text("before")
    link.symlink_to(target)
    with written_whole(link) as file:
        file.write(b"after")
    assert link.is_symlink()
    assert target.read_text() == "after"


def test_a_pipe_gets_what_is_written(tmp_path: Path) -> None:
    """As in `--json >(jq .)`, and through /dev/stdout."""
    reader, writer = os.pipe()
    for path in (Path(f"/dev/fd/{writer}"), Path(f"/proc/self/fd/{writer}")):
        check_writable(path)
        with written_whole(path) as file:
            file.write(b"all")
        assert os.read(reader, 10) == b"all"
    os.close(reader)
    os.close(writer)


def test_an_open_file_is_not_taken_from_who_writes_it(tmp_path: Path) -> None:
    """/dev/stdout, where the shell sent it to a file: what is said later must be in the same one."""
    path = tmp_path / "out"
    with path.open("w") as shell, written_whole(Path(f"/dev/fd/{shell.fileno()}")) as file:
        file.write(b"document")
        file.flush()
        assert path.samefile(f"/dev/fd/{shell.fileno()}")
    assert path.read_text() == "document"


@pytest.mark.parametrize("name", ["folder", "nowhere/file", "n" * 256, "file/below"])
def test_what_can_t_be_written_is_known_before(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match=r"\[Errno"):
        check_writable(tmp_path / name)
    assert sorted(tmp_path.iterdir()) == before


def test_looking_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    check_writable(path)
    assert list(tmp_path.iterdir()) == []
    path.write_text("before")
    check_writable(path)
    assert path.read_text() == "before"
