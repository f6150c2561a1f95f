"""The command `profile`, also `python -m profiler`."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        # Imported here, so that Ctrl-C is told as one while the other modules are imported, too.
        from profiler.cli.signals import end_like_ctrl_c  # noqa: PLC0415
        from profiler.cli.streams import make_lasting, settled  # noqa: PLC0415

        make_lasting()
        end_like_ctrl_c()
        sys.exit(settled(_called()))
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(_INTERRUPTED)


def _called() -> int:
    from profiler.cli.app import app  # noqa: PLC0415
    from profiler.report.own_name import own_name  # noqa: PLC0415

    try:
        app(prog_name=own_name())
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    return 0


if __name__ == "__main__":
    main()
