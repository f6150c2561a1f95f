"""What `profile run` writes for other programs: Markdown, the summary of a CI step, and no empty files."""

from __future__ import annotations

import json

import pytest

from profiler.engines.simulated.engine import SimulatedEngine

RUN = ("run", "linear", "--engine", "simulated", "--quiet")


@pytest.fixture
def summary(folder, monkeypatch):
    """The summary of a CI step that an earlier command has written to."""
    path = folder / "summary.md"
    path.write_text("what was there\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


def test_the_answer_is_in_the_summary_of_a_ci_step(profile, folder, summary):
    """The same Markdown that --export writes: answer, rounds, settings to paste."""
    answer = profile(*RUN, "--export", "md=run.md", "--json", "run.json")
    assert answer.exit_code == 0, answer.stderr
    markdown, document = (folder / "run.md").read_text(), json.loads((folder / "run.json").read_text())
    assert summary.read_text() == "what was there\n" + markdown
    assert f"**{document['rate']['holds_per_s']:,.0f} rows/s**" in markdown
    assert f"- confirmed: {document['confirmed']['verdict']}" in markdown
    assert sum(line.startswith("| ") for line in markdown.splitlines()) == 1 + len(document["rounds"])
    assert "kafka-topics.sh --bootstrap-server HOST:PORT --alter --topic TOPIC --partitions" in markdown


def test_what_is_not_confirmed_is_said_to_be(profile, folder):
    """A reader of the summary must not take it for more."""
    profile(*RUN, "--quick", "--export", "md=run.md")
    assert "- not confirmed" in (folder / "run.md").read_text()


def test_a_summary_that_cannot_be_written_loses_nothing(profile, folder, monkeypatch):
    """The answer stands."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "no" / "such" / "folder.md"))
    answer = profile(*RUN)
    assert answer.exit_code == 0
    assert "can't be written" in answer.stderr


def test_no_empty_file_is_left_where_there_is_no_result(profile, folder, monkeypatch, summary):
    """A program that reads reports would stumble over it; what was there before stays."""

    def broken(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(SimulatedEngine, "deploy", broken)
    (folder / "before.csv").write_text("number\n")
    answer = profile(*RUN, "--export", "md=run.md", "--export", "csv=before.csv", "--json", "run.json")
    assert answer.exit_code == 130
    assert not (folder / "run.md").exists()
    assert not (folder / "run.json").exists()
    assert (folder / "before.csv").read_text() == "number\n"
    assert summary.read_text() == "what was there\n"
