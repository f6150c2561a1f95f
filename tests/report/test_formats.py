"""Formats of results: what a command's help and its refusals name is what it can write, and no more."""

from __future__ import annotations

import re

import pytest

from profiler.questions.compare.exports import COMPARE_WRITERS
from profiler.questions.gate.exports import GATE_WRITERS
from profiler.questions.recalibrate.exports import RECALIBRATE_WRITERS
from profiler.questions.search.exports import PROFILE_WRITERS
from profiler.settings.choices import ExportKind

WRITERS = {
    "run": PROFILE_WRITERS,
    "gate": GATE_WRITERS,
    "compare": COMPARE_WRITERS,
    "recalibrate": RECALIBRATE_WRITERS,
}
JOBS = {"run": ("linear",), "gate": ("linear", "--aa"), "compare": ("linear", "star"), "recalibrate": ()}


@pytest.mark.parametrize("command", WRITERS)
def test_the_help_names_the_formats_that_there_are(command: str, profile) -> None:
    text = " ".join(profile(command, "--help").stdout.split())
    named = re.search(r"Write a report as ([a-z, ]+);", text)
    assert named is not None
    assert set(re.split(r", | or ", named[1])) == set(WRITERS[command])


@pytest.mark.parametrize("command", ["run", "compare", "recalibrate"])
def test_a_format_that_a_result_does_not_have_is_refused(command: str, profile, refused) -> None:
    missing = set(ExportKind) - set(WRITERS[command])
    assert ExportKind.JUNIT in missing
    for kind in missing:
        said = refused(profile(command, *JOBS[command], "--engine", "simulated", "--export", f"{kind}=report"))
        assert f"can't be exported as {kind}. Choose from {', '.join(WRITERS[command])}." in said
