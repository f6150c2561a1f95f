"""Trace the way of a command through the files of the package, and count how often it changes from one to another.

    python scripts/benches/paths.py [FOLDER] -- gate word-count --engine simulated --aa

FOLDER is the checkout whose `profiler` is called, this one if none is named, so that two states of the code are counted
alike. A function counts when it is called for the first time in the main thread; what is counted is how often the next
one is in another file, in another room (the folders below `profiler/`), and the rooms and files that take part. The way
itself is printed below the counts.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from itertools import groupby, pairwise
from pathlib import Path
from types import CodeType, FrameType


def first_calls(folder: Path, arguments: list[str]) -> list[str]:
    """Call `profile` from a checkout; return the file of every function of it, in the order of their first calls."""
    package = f"{folder / 'profiler'}{os.sep}"
    seen: set[CodeType] = set()
    files: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code not in seen and code.co_filename.startswith(package):
            seen.add(code)
            is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)  # and not the body of a class
            if is_function and not code.co_name.startswith("<"):  # nor that of a module, nor a lambda
                files.append(code.co_filename.removeprefix(package))

    sys.path[0] = str(folder)  # instead of the folder of this script, whose `statistics` is another one
    sys.argv = ["profile", *arguments]
    sys.setprofile(note)
    try:
        from profiler.__main__ import main  # noqa: PLC0415 - of the checkout that was named

        with contextlib.suppress(SystemExit):
            main()
    finally:
        sys.setprofile(None)
    return files


def rooms(files: list[str], depth: int) -> list[str]:
    """Return the room of every file, down to that many folders."""
    return ["/".join(file.split("/")[:-1][:depth]) or "." for file in files]


def changes(places: list[str]) -> int:
    """Count how often the next place is another one."""
    return sum(1 for a, b in pairwise(places) if a != b)


def trace() -> None:
    """Print the counts of one command."""
    own, arguments = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
    folder = Path(own[0] if own else __file__).resolve()
    files = first_calls(folder if own else folder.parents[2], arguments)
    for what, places in (("files", files), ("rooms", rooms(files, 1)), ("rooms within rooms", rooms(files, 2))):
        print(f"{what:20} {len(set(places)):4} {changes(places):4} changes")
    print(f"{'functions':20} {len(files):4}")
    print(" → ".join(file.removesuffix(".py") for file, _ in groupby(files)))


if __name__ == "__main__":
    trace()
