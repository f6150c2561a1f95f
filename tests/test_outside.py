"""Tests look at the house from outside: what is private may change without a test that fails."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ("profiler", "scripts", "workloads")
PRIVATE = re.compile(r"_[^_]\w*")


def parsed(*folders: str) -> dict[str, ast.Module]:
    files = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
    return {str(file.relative_to(ROOT)): ast.parse(file.read_text(encoding="utf-8")) for file in files}


def named_in(tree: ast.Module) -> Iterator[str]:
    """Yield what a module calls something: functions, classes, variables, and attributes of its own objects."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                yield name


def reached_in(tree: ast.Module, private: set[str]) -> Iterator[str]:
    """Yield what a test names of what is private: imported, as an attribute, or in a text that patches it."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] in HOUSE:
                parts = [*module.split("."), *(alias.name for alias in names)]
                yield from (part for part in parts if PRIVATE.fullmatch(part))
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass  # the test's own object
            case ast.Attribute(attr=name) if name in private:
                yield name
            case ast.Constant(value=str(text)) if text.split(".")[-1] in private and re.fullmatch(r"[\w.]+", text):
                yield text


def test_no_test_reaches_what_is_private() -> None:
    private = {name for tree in parsed(*HOUSE).values() for name in named_in(tree) if PRIVATE.fullmatch(name)}
    tests = parsed("tests")
    assert len(private) > 500
    assert len(tests) > 150
    found = {file: [*reached_in(tree, private)] for file, tree in tests.items()}
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "line",
    [
        "from profiler.services.kafka import _secret_of_ours",
        "from profiler._secret_of_ours import x",
        "kafka.check(kafka._secret_of_ours)",
        "monkeypatch.setattr(kafka, '_secret_of_ours', 1)",
        "monkeypatch.setattr('profiler.services.kafka._secret_of_ours', 1)",
    ],
)
def test_one_that_did_would_be_found(line: str) -> None:
    assert [*reached_in(ast.parse(line), {"_secret_of_ours"})] != []
