"""The generator bench without a broker: its figures, and that it goes on where it was stopped."""

from __future__ import annotations

from contextlib import contextmanager, suppress

import pytest

from scripts.benches import generator
from scripts.benches.saved import Saved


class Producers:
    """In place of the bench with a broker; stops it after so many measurements."""

    def __init__(self, lasts):
        self.measured = []
        self._lasts = lasts

    def top_rate(self, name):
        return self._seen(name, 1.8e5 if name == generator.OURS else 1e5)

    def rate_errors(self, rate):
        return self._seen(rate, [0.001, 0.002])

    def _seen(self, what, value):
        if len(self.measured) == self._lasts:
            raise KeyboardInterrupt
        self.measured.append(what)
        return value


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """Call the bench with producers that last so long; give them and its rows."""
    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)

    def call(lasts):
        producers, opened = Producers(lasts), []

        @contextmanager
        def open_():
            opened.append(1)
            yield producers

        monkeypatch.setattr(generator, "opened_bench", open_)
        rows = []
        with suppress(KeyboardInterrupt):
            rows += generator.rows(Saved("generator", __file__).get)
        return producers.measured, rows, opened

    return call


def test_producers_take_turns_in_an_order_that_alternates(bench):
    measured, rows, _ = bench(lasts=100)
    first, second = measured[:3], measured[3:6]
    assert second == list(reversed(first))
    assert [len(measured), len(rows)] == [18 + 5, 2 + 3 + 5]
    assert rows[0]["ours"] == pytest.approx(1.8)
    assert rows[0]["goal"] == 0.9
    assert rows[-1]["ours"] == 0.002


@pytest.mark.parametrize("lasts", [7, 20])
def test_an_interrupted_bench_goes_on_with_the_next_turn_or_rate(bench, lasts):
    """No turn and no rate is measured twice, and a whole one opens no broker."""
    before, _, _ = bench(lasts)
    after, rows, _ = bench(lasts=100)
    assert len(before) + len(after) == 18 + 5
    again, same, opened = bench(lasts=0)
    assert (again, same, opened) == ([], rows, [])
