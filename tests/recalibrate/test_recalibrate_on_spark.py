"""`profile recalibrate` with the real parts: word count, unchanged, is confirmed in two rounds at the most."""

from __future__ import annotations

import json

import jsonschema
import pytest

from profiler.questions.recalibrate.document import recalibrate_schema

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mongo, pytest.mark.alone]

SHORT = ("--quick", "--window", "1s", "--warm-up", "15s", "--slots", "4")
"""As many slots as operators: the profile has one round."""


def test_an_unchanged_word_count_is_confirmed_in_two_rounds(command, tmp_path):
    """The settings of the profile hold for its recalibration; both are in the history afterwards."""
    run = command("run", "word-count", *SHORT, "--json", "profile.json")
    assert run.ended() == 0, run.err
    stored = json.loads((tmp_path / "profile.json").read_text())
    again = command("recalibrate", "--quick", "--json", "recalibrated.json")
    assert again.ended() in (0, 4), again.err
    document = json.loads((tmp_path / "recalibrated.json").read_text())
    jsonschema.validate(document, recalibrate_schema())
    assert document["profile"]["run"] == stored["run"]
    assert document["differences"] == []
    # A machine may be too noisy to tell; what must not happen is that an unchanged job is searched anew.
    assert document["verdict"] in ("confirmed", "inconclusive")
    assert document["rounds"] <= 2
    listed = command("history", "list", "--json")
    assert listed.ended() == 0, listed.err
    assert {stored["run"], document["result"]["run"]} <= {each["run"] for each in json.loads(listed.out)["runs"]}
