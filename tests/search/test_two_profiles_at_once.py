"""Calls of `profile` at once on one MongoDB: each finds what it would have found alone, and the history has it all."""

from __future__ import annotations

import json

import pytest

from tests.commands import GuardedMongod

pytestmark = pytest.mark.mongo

CALLS = {
    "one": ("run", "linear", "--seed", "1"),
    "two": ("run", "linear", "--seed", "2"),
    "gate": ("gate", "linear", "--aa", "--seed", "3"),
}
SIMULATED = ("--engine", "simulated", "--noise", "shared", "--quiet", "--json")


@pytest.fixture
def uri(tmp_path_factory):
    """A database that somebody else runs, and that is empty."""
    server = GuardedMongod(tmp_path_factory.mktemp("guarded"), "me", "secret", "readWrite")
    yield f"mongodb://me:secret@{server.address}/history?authSource=admin"
    server.kill()


def result(path):
    """Return a result without the name of its run."""
    document = json.loads(path.read_text())
    return document.pop("run"), document


def test_they_find_what_they_find_alone(command, tmp_path, uri):
    """Whoever comes first makes the collections; rounds, windows and blocks go to the run they belong to."""
    together = {name: command(*call, *SIMULATED, f"{name}.json", "--mongo", uri) for name, call in CALLS.items()}
    codes = {name: each.ended() for name, each in together.items()}
    assert codes["one"] == codes["two"] == 0, together["one"].err + together["two"].err
    for name, call in CALLS.items():
        alone = command(*call, *SIMULATED, f"{name}-alone.json")
        assert alone.ended() == codes[name]
        run, found = result(tmp_path / f"{name}.json")
        assert found == result(tmp_path / f"{name}-alone.json")[1]
        shown = command("history", "show", run, "--json", "--mongo", uri)
        assert shown.ended() == 0, shown.err
        assert json.loads(shown.out) == json.loads((tmp_path / f"{name}.json").read_text())
    listed = command("history", "list", "--json", "--mongo", uri)
    assert listed.ended() == 0
    assert sorted(run["kind"] for run in json.loads(listed.out)["runs"]) == ["gate", "profile", "profile"]
    assert {run["state"] for run in json.loads(listed.out)["runs"]} == {"finished"}
