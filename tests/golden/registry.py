"""All cases by name; a case is a function that calls `profile` on a transcript."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from tests.golden.command import history_in_memory
from tests.golden.sandbox import sandbox
from tests.golden.transcript import Transcript

Case = Callable[[Transcript], None]
EXPECTED = Path(__file__).parent / "expected"
MODULES = sorted(path.stem for path in (Path(__file__).parent / "cases").glob("*.py"))


def all_cases() -> dict[str, Case]:
    """Return all cases: every public function that a module of `cases/` defines, named by both."""
    found: dict[str, Case] = {}
    for stem in MODULES:
        module = import_module(f"tests.golden.cases.{stem}")
        for name, member in vars(module).items():
            if callable(member) and getattr(member, "__module__", "") == module.__name__ and not name.startswith("_"):
                found[f"{stem}/{name}"] = member
    return found


def texts_of(case: Case) -> dict[str, str]:
    """Carry a case out in an empty folder; return its golden files by name."""
    with tempfile.TemporaryDirectory(prefix="golden-") as around:
        folder = Path(around).resolve() / "work"
        folder.mkdir()
        with sandbox(folder), history_in_memory():
            transcript = Transcript(folder)
            case(transcript)
            return transcript.texts


def expected_of(name: str) -> dict[str, str]:
    """Return the golden files of a case as they lie in the repository."""
    return {path.name: path.read_bytes().decode() for path in sorted((EXPECTED / name).glob("*"))}
