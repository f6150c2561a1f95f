"""JUnit is XML whatever a job is called: documents of older runs may have names with control characters."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from profiler.questions.gate.exports import as_junit

NAMES = {
    "a\x1b[31mb": "a\ufffd[31mb",
    "a\0b": "a\ufffdb",
    "a\ud800b": "a\ufffdb",
    "a\uffffb": "a\ufffdb",
    "ä<&>": "ä<&>",
}
"""Names, and what becomes of them."""


@pytest.fixture
def document(profile, folder: Path) -> dict[str, object]:
    answer = profile("gate", "linear", "--engine", "simulated", "--aa", "--quiet", "--json", "gate.json")
    assert answer.exit_code in (0, 4)
    found: dict[str, object] = json.loads((folder / "gate.json").read_text(encoding="utf-8"))
    return found


def test_names_that_xml_can_t_write_are_marked(document) -> None:
    for name, shown in NAMES.items():
        written = as_junit({**document, "topology": name, "why": name})
        suite = ET.fromstring(written.encode()).find("testsuite")  # noqa: S314 - our own text
        assert suite is not None
        assert suite.get("name") == f"profile gate {shown}"
        assert str(suite.findtext("system-out")).endswith(f": {shown}")
