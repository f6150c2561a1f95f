"""A folder, an environment and a clock's zone of its own for the commands of a case, whatever is set outside."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "JAVA_HOME")
"""Of the environment; neither the user's settings nor the width of a terminal are among them."""


def environment_in(folder: Path) -> dict[str, str]:
    """Return all that the commands of a case see of an environment."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "COLUMNS": "100", "LINES": "50", "TZ": "UTC", "PROFILE_CACHE": str(folder.parent / "cache")}


@contextmanager
def sandbox(folder: Path) -> Iterator[None]:
    """Work in a folder until the end of the block."""
    outside = Path.cwd()
    try:
        with (
            mock.patch.dict(os.environ, environment_in(folder), clear=True),
            mock.patch.object(sys, "path", list(sys.path)),
            mock.patch.object(sys, "dont_write_bytecode", True),
        ):
            time.tzset()
            os.chdir(folder)
            yield
    finally:
        os.chdir(outside)
        time.tzset()


def forget_modules_in(folder: Path) -> None:
    """Forget what a command imported from a folder, as a process of its own would have."""
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
