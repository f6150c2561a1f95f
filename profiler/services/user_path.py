"""Paths as users write them: with `~`, and with names that no file can have."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from profiler.errors import UsageError

_SHOWN = 60


def user_path(written: str) -> Path:
    """Return the path that a user wrote, whether there is such a file or not; UsageError where there can be none."""
    shown = f"{written[:_SHOWN]}…" if len(written) > _SHOWN else written
    try:
        path = Path(written).expanduser()
    except RuntimeError:
        home = Path(written).parts[0]
        raise UsageError(f"'{shown}' begins with the home of a user that does not exist: {home}.") from None
    try:
        os.stat(path)  # noqa: PTH116 - Path.exists() hides some of the errors
    except ValueError:
        raise UsageError(f"{shown!a} is no name that a file can have.") from None
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            raise UsageError(f"'{shown}' names no file: {error.strerror}.", hint="Name another one.") from None
    return path
