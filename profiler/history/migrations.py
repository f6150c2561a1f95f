"""Versions of the documents that last, and the steps that bring an older one up to date when it is read.

A document names its schema and version, as in `"schema": "profile-baseline/2"`; one without a name is of version 1, as
runs, rounds and windows were before they had any. Documents are migrated where they are read and not in the database:
an older profile that runs at the same time may go on writing its own. Every step is a pure function from a document of
one version to one of the next. A document of a version that does not exist yet is refused.

| schema | version | what it brought |
|---|---|---|
| profile-run | 2 | `kind`: gates are kept too |
| profile-run | 3 | `code` and `loop_s`: rounds of two sessions are of the same job, by the same measure |
| profile-run | 4 | `place`: who shares a database does not go on with what another one measures |
| profile-baseline | 2 | `run`: the gate that measured it |
| profile-history | 2 | lines of baselines, behind those of the gate that they came from |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from profiler.errors import ProfileError

Document = Mapping[str, Any]
MigrationStep = Callable[[Document], dict[str, Any]]


class NewerSchema(ProfileError):  # noqa: N818 - reads as what is there
    """A document was written by a newer profile than this."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The shape of one sort of documents, through all its versions."""

    name: str
    noun: str
    """What such a document holds, for errors."""
    steps: tuple[MigrationStep, ...] = ()
    """Step n, counted from 1, turns version n into version n + 1."""

    @property
    def version(self) -> int:
        """The version that this profile writes."""
        return 1 + len(self.steps)

    @property
    def mark(self) -> str:
        """What a document of this version names as its schema."""
        return f"{self.name}/{self.version}"

    def current(self, document: Document) -> Document:
        """Return a document as this version would have written it; ProfileError where its version is not known."""
        found = self._version_of(document)
        for step in self.steps[found - 1 :]:
            document = step(document)
        return document if found == self.version else {**document, "schema": self.mark}

    def _version_of(self, document: Document) -> int:
        if not isinstance(document, Mapping):
            raise ProfileError(f"A stored {self.noun} is no document.", hint="Was it written by another program?")
        named = document.get("schema", f"{self.name}/1")
        match = re.fullmatch(rf"{re.escape(self.name)}/([1-9][0-9]{{0,8}})", str(named))
        if match is None:
            raise ProfileError(
                f"A stored {self.noun} has schema {named!r}, not {self.mark!r}.",
                hint="Was it written by another program?",
            )
        version = int(match[1])
        if version > self.version:
            raise NewerSchema(
                f"A stored {self.noun} has schema {named!r}, and this profile knows up to {self.mark!r}.",
                hint="It was written by a newer profile: update this one.",
            )
        return version


def _run_1_to_2(document: Document) -> dict[str, Any]:
    """Make the run a profile, as there was nothing else."""
    return {**document, "kind": "profile"}


def _run_2_to_3(document: Document) -> dict[str, Any]:
    """Let the run know nothing of the code, nor of the speed index's work."""
    return {**document, "code": "", "loop_s": None}


def _run_3_to_4(document: Document) -> dict[str, Any]:
    """Let the run know nothing of where it was measured."""
    return {**document, "place": ""}


def _baseline_1_to_2(document: Document) -> dict[str, Any]:
    """Name no gate that measured it, as gates were not kept."""
    return {**document, "run": None}


def _history_1_to_2(document: Document) -> dict[str, Any]:
    """Have no baselines."""
    return {**document}


RUN = Schema("profile-run", "run", (_run_1_to_2, _run_2_to_3, _run_3_to_4))
ROUND = Schema("profile-round", "round")
WINDOW = Schema("profile-window", "window")
BLOCK = Schema("profile-block", "block")
BASELINE = Schema("profile-baseline", "baseline", (_baseline_1_to_2,))
RESULT = Schema("profile", "result")
GATE_RESULT = Schema("profile-gate", "gate's result")
COMPARE_RESULT = Schema("profile-compare", "comparison's result")
HISTORY = Schema("profile-history", "history", (_history_1_to_2,))
"""The lines of an exported file."""
