"""JUnit is XML whatever a job is called: documents of older runs may have names with control characters."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from profiler.questions.gate.answer import GateAnswer
from profiler.questions.gate.document import read_gate
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
def answer(profile, folder: Path) -> GateAnswer:
    done = profile("gate", "linear", "--engine", "simulated", "--aa", "--quiet", "--json", "gate.json")
    assert done.exit_code in (0, 4)
    return read_gate(json.loads((folder / "gate.json").read_text(encoding="utf-8")))


def test_names_that_xml_can_t_write_are_marked(answer) -> None:
    for name, shown in NAMES.items():
        written = as_junit(replace(answer, topology=name, why=name))
        suite = ET.fromstring(written.encode()).find("testsuite")  # noqa: S314 - our own text
        assert suite is not None
        assert suite.get("name") == f"profile gate {shown}"
        assert str(suite.findtext("system-out")).endswith(f": {shown}")
