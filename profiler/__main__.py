"""The command `profile`, also `python -m profiler`."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from profiler.cli.app import app
from profiler.cli.signals import end_like_ctrl_c


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot show "→" shows "?" instead of an error.
            stream.reconfigure(errors="replace")
    end_like_ctrl_c()
    app(prog_name="profile")


if __name__ == "__main__":
    main()
