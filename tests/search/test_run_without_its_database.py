"""A profile that has its answer, but no database to keep it: the answer is shown, the exit code tells of the loss."""

from __future__ import annotations

import pytest

from profiler.questions.search.loop import Loop
from tests.commands import GuardedMongod

pytestmark = pytest.mark.mongo


@pytest.fixture
def database(tmp_path_factory):
    """A mongod that somebody else runs."""
    server = GuardedMongod(tmp_path_factory.mktemp("guarded"), "me", "secret", "readWrite")
    yield server
    server.kill()


def test_an_answer_whose_database_stays_away_exits_with_3(profile, database, monkeypatch, tmp_path):
    """kill -9 of the database after the last round; what it missed is in a file that can be imported later."""
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path / "cache"))
    measured = Loop.run

    def run_and_kill(self, *past):
        found = measured(self, *past)
        database.kill()
        return found

    monkeypatch.setattr(Loop, "run", run_and_kill)
    uri = f"mongodb://me:secret@{database.address}/history?authSource=admin"
    answer = profile("run", "linear", "--engine", "simulated", "--mongo", uri)
    assert answer.exit_code == 3
    assert "Answer: linear on simulated" in answer.stdout
    (file,) = (tmp_path / "cache").glob("unsaved/*")
    assert f"'profile history import {file}' adds it." in " ".join(answer.stderr.split())
    monkeypatch.undo()
    database.start()
    assert profile("history", "import", str(file), "--mongo", uri).exit_code == 0
    listed = profile("history", "list", "--mongo", uri)
    assert "linear" in listed.stdout
