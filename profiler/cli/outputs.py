"""Where results go besides the terminal; checked before anything is measured, written after it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from profiler.errors import UsageError
from profiler.report.exports import as_json, check_export, exported
from profiler.settings import Export, ExportKind, Settings


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files that the user asked for."""

    files: tuple[Export, ...]
    json_on_stdout: bool

    @classmethod
    def opened(cls, settings: Settings) -> Outputs:
        """Make sure that every file can be written: a result must not be lost at the end."""
        files: Sequence[Export] = settings.export
        for wanted in files:
            check_export(wanted.kind)
            _touch(wanted.path, f"--export {wanted}")
        if settings.json_to is not None and settings.json_to != "-":
            _touch(settings.json_to, f"--json {settings.json_to}")
            files = (*files, Export(ExportKind.JSON, settings.json_to))
        return cls(tuple(files), settings.json_to == "-")

    def write(self, document: Mapping[str, Any]) -> None:
        """Write the document to all of them."""
        for wanted in self.files:
            Path(wanted.path).write_text(exported(wanted.kind, document), encoding="utf-8")
        if self.json_on_stdout:
            sys.stdout.write(as_json(document))


def _touch(path: str, flag: str) -> None:
    try:
        Path(path).touch()
    except OSError as error:
        raise UsageError(f"{flag} can't be written: {error.strerror}.", hint="Name another file.") from None
