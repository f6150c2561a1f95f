"""The limits of a gate as settings: from a file, the environment or flags, like all others."""

from __future__ import annotations

import json

import pytest

GATE = ("gate", "linear", "--aa", "--engine", "simulated", "--quiet", "--json", "-")


def limits(answer):
    document = json.loads(answer.stdout)
    return document["limits"]["max_slowdown"], document["limits"]["rule_out"]


def test_limits_come_from_the_configuration_file(profile, folder, monkeypatch):
    """File < environment < flag; what a pass rules out follows the slowdown unless it is set."""
    (folder / "profile.toml").write_text('max-slowdown = "3%"\nblocks = 4\n')
    answer = profile(*GATE)
    assert limits(answer) == (0.03, 0.06)
    assert len(json.loads(answer.stdout)["blocks"]) <= 8
    monkeypatch.setenv("PROFILE_RULE_OUT", "20%")
    assert limits(profile(*GATE)) == (0.03, 0.2)
    assert limits(profile(*GATE, "--max-slowdown", "4%")) == (0.04, 0.2)


def test_limits_that_contradict_each_other_are_refused(profile, folder, refused):
    """Wherever they were written."""
    (folder / "profile.toml").write_text('rule-out = "2%"\n')
    assert refused(profile(*GATE)).startswith("--rule-out 2% is below --max-slowdown 5%.")


@pytest.mark.parametrize("flag", ["--max-slowdown", "--rule-out", "--blocks"])
def test_a_profile_has_no_such_flags(profile, refused, flag):
    """But a file may hold them beside a profile's own."""
    assert f"No such option: {flag}" in refused(profile("run", "linear", "--engine", "simulated", flag, "5%"))


def test_where_the_limits_came_from_is_shown(profile, folder):
    """As of every setting."""
    (folder / "profile.toml").write_text('max-slowdown = "3%"\n')
    shown = json.loads(profile("config", "show", "--json").stdout)
    assert shown["max-slowdown"] == {"value": "3%", "from": "profile.toml"}
    assert shown["rule-out"]["from"] == shown["blocks"]["from"] == "default"
