"""`profile init [FILE]`: write a commented topology file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from profiler import job
from profiler.errors import UsageError
from profiler.report.console import result_console
from profiler.report.writers import as_bytes


def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")] = Path("topology.py"),
    *,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
) -> int:
    """Write a commented topology file to start from; it passes 'profile check' and runs on both engines."""
    if file.suffix != ".py":
        raise UsageError(f"'{file}' does not end in .py.", hint="A topology is a Python file.")
    template = Path(job.__file__).with_name("starter_topology.txt").read_text(encoding="utf-8")
    written = as_bytes(template.replace("FILE", file.as_posix()))
    try:
        with file.open("wb" if force else "xb") as target:
            target.write(written)
    except FileExistsError:
        raise UsageError(f"'{file}' exists.", hint="Choose another name, or overwrite it with --force.") from None
    except OSError as error:
        raise UsageError(f"'{file}' cannot be written: {error.strerror}.", hint="Choose another place.") from error
    result_console().print(f"Wrote {file}. Next: profile check {file}")
    return 0
