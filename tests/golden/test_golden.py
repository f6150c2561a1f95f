"""What `profile` says, writes and answers today is frozen here, call by call, with every seeded figure exactly.

The code is to be moved, renamed and typed without anybody outside noticing: these tests call the public command line
only, and compare help, results, documents, reports, messages and exit codes with the files in `expected/`. A difference
is a defect unless the change is wanted; `python -m tests.golden.rewrite` tells when and how to write them anew, and
`command.py` is the only file to adapt when the entry of the command line or the stores move.
"""

from __future__ import annotations

import difflib

import pytest

from tests.golden.registry import EXPECTED, all_cases, expected_of, texts_of

SHOWN = 60
"""Lines of a difference that are shown."""


@pytest.mark.parametrize("name", all_cases())
def test_it_is_as_it_was(name: str) -> None:
    """Line by line."""
    expected, found = expected_of(name), texts_of(all_cases()[name])
    assert sorted(found) == sorted(expected)
    for file, text in found.items():
        if text != expected[file]:
            pytest.fail(_difference(f"{name}/{file}", expected[file], text), pytrace=False)


def test_no_case_was_forgotten() -> None:
    """Every folder of golden files belongs to a case."""
    assert sorted(str(path.parent.relative_to(EXPECTED)) for path in EXPECTED.glob("*/*/transcript.txt")) == sorted(
        all_cases()
    )


def _difference(file: str, expected: str, found: str) -> str:
    lines = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", "", "", 2, ""))
    left_out = [f"… and {len(lines) - SHOWN} lines more"] if len(lines) > SHOWN else []
    return "\n".join([f"{file} is not as it was:", *lines[:SHOWN], *left_out])
