"""Where results go besides the terminal; checked before anything is measured, written after it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from profiler.errors import ProfileError, UsageError
from profiler.report.console import error_console
from profiler.report.writers import Writer, as_bytes, as_json, check_export
from profiler.services.whole_file import check_writable, is_stream, written_whole
from profiler.settings.choices import Export, ExportKind
from profiler.settings.declarations import Settings

T = TypeVar("T")
"""The type of what a command ends with."""


@dataclass(frozen=True, slots=True)
class Outputs(Generic[T]):
    """Files that the user asked for."""

    files: tuple[Export, ...]
    json_on_stdout: bool
    writers: Mapping[ExportKind, Writer[T]]

    @classmethod
    def opened(cls, settings: Settings, writers: Mapping[ExportKind, Writer[T]]) -> Outputs[T]:
        """Make sure that every file can be written: a result must not be lost at the end."""
        asked = {f"--export {wanted}": wanted for wanted in settings.export}
        for wanted in asked.values():
            check_export(wanted.kind, writers)
        if settings.json_to is not None and settings.json_to != "-":
            asked[f"--json {settings.json_to}"] = Export(ExportKind.JSON, settings.json_to)
        _check_files({flag: Path(wanted.path) for flag, wanted in asked.items()})
        return cls(tuple(asked.values()), settings.json_to == "-", writers)

    def deliver(self, result: T, show: Callable[[], None]) -> None:
        """Show the result on the terminal, unless its JSON stands there; write CI's summary and all files.

        It is shown first: a disk that is full by now must not hide what the minutes were spent on.
        """
        try:
            if not self.json_on_stdout:
                show()
            _append_step_summary(self.writers[ExportKind.MD](result))
        finally:
            self.write(result)

    def write(self, result: T) -> None:
        """Write the JSON that is wanted on stdout, and all files; ProfileError where one of them can't be."""
        if self.json_on_stdout:
            sys.stdout.write(as_json(result))
        failed = [why for wanted in self.files if (why := self._failed(wanted, result))]
        if failed:
            raise ProfileError(f"{'; '.join(failed)}.", hint="Make room for it, or name another file.")

    def _failed(self, wanted: Export, result: T) -> str:
        """Write one file; say why it can't be, or nothing."""
        try:
            with written_whole(Path(wanted.path)) as file:
                file.write(as_bytes(self.writers[wanted.kind](result)))
        except OSError as error:
            return f"{wanted.path} can't be written: {error.strerror}"
        return ""


def _append_step_summary(markdown: str) -> None:
    """Append to the summary that GitHub shows of a CI step, where there is one; a result is not lost for its sake."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("ab") as summary:
            summary.write(as_bytes(markdown))
    except OSError as error:
        error_console().print(f"The step summary {path} can't be written: {error.strerror}.", style="yellow")


def _check_files(files: Mapping[str, Path]) -> None:
    """Refuse files that can't be written, by the flags that name them; change nothing yet."""
    flags: dict[str, str] = {}
    for flag, file in files.items():
        try:
            check_writable(file)
        except (OSError, ValueError) as error:  # the second for what can't be a name at all
            why = error.strerror if isinstance(error, OSError) else "it is no name that a file can have"
            raise UsageError(f"{flag} can't be written: {why}.", hint="Name another file.") from None
        other = flags.setdefault(os.path.realpath(file), flag)
        if other != flag and not is_stream(file):
            raise UsageError(f"{flag} would replace what {other} wrote.", hint="Name different files.")
