"""`profile generate` as a user calls it, with a real broker."""

from __future__ import annotations

import pytest
from topics import received
from typer.testing import CliRunner

from profiler.cli.app import app

pytestmark = [pytest.mark.kafka, pytest.mark.exact]


def test_it_sends_what_it_says(broker, create_topic, tmp_path):
    """Rate and time decide how many; all of them are in the topic, and the exit code says so."""
    path = tmp_path / "lines.jsonl"
    path.write_text("a\nb\n")
    topic = create_topic(2)
    options = ("--rate", "500/s", "--for", "2s", "--payloads", str(path), "--kafka", broker.address)
    answer = CliRunner().invoke(app, ["generate", topic, *options])
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout == "1,000 of 1,000 messages acknowledged, 0 failed, 0 not sent in time.\n"
    assert sum(map(len, received(broker, topic))) == 1000


def test_a_topic_that_is_not_there_is_told(broker, tmp_path):
    """Exit 2 or 3 with one sentence, and nothing is made."""
    path = tmp_path / "lines.jsonl"
    path.write_text("a\n")
    answer = CliRunner().invoke(
        app, ["generate", "no-such-topic", "--rate", "5", "--payloads", str(path), "--kafka", broker.address]
    )
    assert answer.exit_code in (2, 3)
    assert "no-such-topic" in answer.stderr
    assert "Traceback" not in answer.stderr
