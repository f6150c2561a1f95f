"""Results that a bench keeps: measured once, whatever ended the bench before."""

from __future__ import annotations

import pytest

from scripts.benches.saved import Saved


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)


def saved():
    return Saved("bench", __file__)


def never():
    raise AssertionError("it was measured again")


def test_what_is_kept_is_not_measured_again():
    """Also by the next call of the bench."""
    assert saved().get("first", lambda: [1, 2.5]) == [1, 2.5]
    assert saved().get("first", never) == [1, 2.5]


@pytest.mark.parametrize("half", [b'{"key": "second", "va', b'{"key": "sec\xc3', b"{"])
def test_half_a_line_that_a_kill_left_costs_that_result_only(half):
    """It is measured again, and what is kept afterwards can be read."""
    saved().get("first", lambda: 1)
    with saved().path.open("ab") as file:
        file.write(half)
    resumed = saved()
    assert resumed.get("first", never) == 1
    assert resumed.get("second", lambda: 2) == 2
    assert [saved().get(key, never) for key in ("first", "second")] == [1, 2]
