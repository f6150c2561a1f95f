"""Write a file whole or not at all: it is written beside its place and moved there when it is complete."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_OF_THE_KERNEL = ("/dev", "/proc")


@contextlib.contextmanager
def written_whole(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a file that is at its path when the block ends; where the block fails, the path is as it was before.

    A link stays one: what it points to is replaced. A pipe or device gets what is written as it comes. `private` keeps
    the file from other users, also where there was one that did not.
    """
    if is_stream(path):
        with path.open("wb") as stream:
            yield stream
        return
    place = Path(os.path.realpath(path))
    draft = _draft_beside(place)
    try:
        with os.fdopen(_created(draft, private=private), "wb") as file:
            yield file
        if not private:
            _keep_mode(place, draft)
        _move(draft, place)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise the OSError that writing a file would end with, as far as it can be told beforehand; change nothing."""
    with contextlib.suppress(FileNotFoundError):
        path.stat()  # which a circle of links does not let through
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if not is_stream(path):
        place = Path(os.path.realpath(path))
        if len(os.fsencode(place.name)) > os.pathconf(place.parent, "PC_NAME_MAX"):
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
        draft = _draft_beside(place)
        os.close(_created(draft, private=True))
        draft.unlink()


def is_stream(path: Path) -> bool:
    """Tell whether there is a pipe or device, or a name for an open file, which must not be replaced."""
    folder = os.path.realpath(path.parent)
    if any(folder == place or folder.startswith(f"{place}/") for place in _OF_THE_KERNEL):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def _draft_beside(place: Path) -> Path:
    # Not made of the file's own name, which may be as long as names can be.
    return place.with_name(f".{secrets.token_hex(8)}.part")


def _created(draft: Path, *, private: bool) -> int:
    return os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)


def _keep_mode(place: Path, draft: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        draft.chmod(stat.S_IMODE(place.stat().st_mode))


def _move(draft: Path, place: Path) -> None:
    try:
        draft.replace(place)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        # A single file that is mounted, as containers have them, can't be replaced.
        shutil.copyfile(draft, place)
