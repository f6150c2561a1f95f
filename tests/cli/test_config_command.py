"""`profile config show` tells every setting and where it came from."""

from __future__ import annotations

import json
from pathlib import Path

from profiler.settings.declarations import OPTIONS


def rows(text: str) -> dict[str, str]:
    return {line.split()[0]: " ".join(line.split()[1:]) for line in text.splitlines()}


def test_every_setting_is_shown_with_where_it_came_from(profile, folder: Path, monkeypatch) -> None:
    (folder / "profile.toml").write_text('latency = "1500ms"\n', encoding="utf-8")
    monkeypatch.setenv("PROFILE_SLOTS", "12")
    answer = profile("config", "show")
    assert answer.exit_code == 0
    shown = rows(answer.stdout)
    assert set(shown) == {"key"} | {option.key for option in OPTIONS}
    assert shown["latency"] == "1500ms profile.toml"
    assert shown["slots"] == "12 environment PROFILE_SLOTS"
    assert shown["windows"] == "10 default"
    limits = "on Spark a search 3m40s (several queries twice that, --quick 3m30s), a gate 6m"
    assert shown["budget"] == f"no limit; {limits} default"


def test_json_shows_the_same(profile, folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.profile]\nslots = 8\nquick = true\n", encoding="utf-8")
    document = json.loads(profile("config", "show", "--json").stdout)
    assert document["slots"] == {"value": 8, "from": "pyproject.toml"}
    assert document["quick"] == {"value": True, "from": "pyproject.toml"}
    assert document["latency"] == {"value": "500ms", "from": "default"}
    assert document["budget"] == {"value": None, "from": "default"}


def test_passwords_are_not_shown(profile, monkeypatch) -> None:
    monkeypatch.setenv("PROFILE_MONGO", "mongodb://me:secret@host/db")
    for call in (["config", "show"], ["config", "show", "--json"]):
        answer = profile(*call)
        assert "secret" not in answer.stdout
        assert "mongodb://…@host/db" in answer.stdout
