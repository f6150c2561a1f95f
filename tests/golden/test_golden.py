"""What `profile` says, writes and answers today is frozen here, call by call, with every seeded figure to nine digits.

The code is to be moved, renamed and typed without anybody outside noticing: these tests call the public command line
only, and compare help, results, documents, reports, messages and exit codes with the files in `expected/`. A difference
is a defect unless the change is wanted; `python -m tests.golden.rewrite` tells when and how to write them anew, and
`command.py` is the only file to adapt when the entry of the command line or the stores move.
"""

from __future__ import annotations

import difflib

import pytest

from tests.golden.normal_form import alike_on_all_machines
from tests.golden.registry import EXPECTED, all_cases, expected_of, texts_of

SHOWN = 60
"""Lines of a difference that are shown."""


@pytest.mark.parametrize("name", all_cases())
def test_it_is_as_it_was(name: str) -> None:
    """Line by line."""
    expected, found = expected_of(name), texts_of(all_cases()[name])
    assert sorted(found) == sorted(expected)
    for file, text in found.items():
        wanted, seen = alike_on_all_machines(expected[file]), alike_on_all_machines(text)
        if seen != wanted:
            pytest.fail(_difference(f"{name}/{file}", wanted, seen), pytrace=False)


def test_a_figure_that_is_another_one_is_seen() -> None:
    """Only what processors disagree on is left out."""
    assert alike_on_all_machines('"p": 8.628668768845369e-05') == alike_on_all_machines('"p": 8.628668768841204e-05')
    assert alike_on_all_machines('"effect": -0.3100223146') != alike_on_all_machines('"effect": -0.3100224146')
    assert alike_on_all_machines("12,345.6 rows/s") == "12,345.6 rows/s"


def test_no_case_was_forgotten() -> None:
    """Every folder of golden files belongs to a case."""
    assert sorted(str(path.parent.relative_to(EXPECTED)) for path in EXPECTED.glob("*/*/transcript.txt")) == sorted(
        all_cases()
    )


def _difference(file: str, expected: str, found: str) -> str:
    lines = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", "", "", 2, ""))
    left_out = [f"… and {len(lines) - SHOWN} lines more"] if len(lines) > SHOWN else []
    return "\n".join([f"{file} is not as it was:", *lines[:SHOWN], *left_out])
