"""The covariates bench without Spark: what rows say of rounds whose truth is known, and that it goes on."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from profiler.engines.simulated import Preset, SimulatedEngine, SimulatedPlatform
from profiler.experiment.observation import Detail
from scripts.benches import covariates
from scripts.benches.covariate_rows import covariate_rows
from scripts.benches.warm_engine import CONFIGURATION, TOPOLOGY

STRESS_PER_S = 60_000.0


def simulated(preset=Preset.DISTURBED):
    platform = SimulatedPlatform(slots=24, first_warm_up_loss=0, warm_up_loss=0)
    return SimulatedEngine(platform, preset, seed=3)


def rounds_of(engine, count):
    return [list(engine.deploy(TOPOLOGY, CONFIGURATION, Detail.LIGHT).observe(STRESS_PER_S, 10)) for _ in range(count)]


def by_quantity(rows):
    return {row["quantity"]: row for row in rows}


@pytest.mark.long
def test_a_neighbour_explains_what_it_does():
    """Quiet but for it: nearly all of the variance, of windows and of rounds; garbage and compilers nothing."""
    found = by_quantity(covariate_rows(rounds_of(simulated(), 20)))
    for what in ("windows", "rounds"):
        assert found[f"{what}: removed by other programs"]["ours"] > 0.8
        assert found[f"{what}: removed by machine speed, as a search has it"]["ours"] > 0.8
        assert found[f"{what}: removed by garbage"]["ours"] == pytest.approx(0.0)
    assert found["rounds of 7: as they are, then corrected"]["ours"] < 0.5 * found["rounds of 7: as they are"]["ours"]
    assert 0.1 < found["windows that are disturbed"]["ours"] < 0.6


def test_what_is_not_there_explains_nothing():
    """Nobody else is on the quiet machine: what its covariates remove is nothing, and nothing is measured again."""
    found = by_quantity(covariate_rows(rounds_of(simulated(Preset.QUIET), 5)))
    assert found["windows: removed by other programs"]["ours"] == pytest.approx(0.0)
    assert found["windows more per round for that"]["ours"] == 0


class FakeDisturber:
    """Stands for the neighbour, which would only warm the room here."""

    seeds: list[int] = []  # noqa: RUF012 - of the class, to be looked at

    def __init__(self, *, seed):
        self.seeds.append(seed)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def test_an_interrupted_series_goes_on(monkeypatch, tmp_path):
    """Ctrl-C in the third round: two are told; the next call measures only what is missing."""
    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)
    monkeypatch.setattr(covariates, "Disturber", FakeDisturber)
    monkeypatch.setattr(FakeDisturber, "seeds", [])
    engine = simulated()
    deploy = engine.deploy
    left = iter((False, False, True))

    def deploying(*arguments):
        if next(left, False):
            raise KeyboardInterrupt
        return deploy(*arguments)

    monkeypatch.setattr(engine, "deploy", deploying)

    @contextmanager
    def warm():
        yield SimpleNamespace(engine=engine, overload_per_s=STRESS_PER_S)

    monkeypatch.setattr(covariates, "warm_engine", warm)
    sizes = covariates.Sizes(rounds=4, warm_up=1, windows=4)
    found = by_quantity(covariates.rows(sizes))
    assert found["variation of rounds' means"]["n"] == 2
    found = by_quantity(covariates.rows(sizes))
    assert found["variation of rounds' means"]["n"] == 4
    assert found["windows that are disturbed"]["n"] == 16
    assert FakeDisturber.seeds == [1, 2, 3, 3, 4]
