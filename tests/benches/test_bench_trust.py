"""The trust bench on machines whose noise is known: what it says of the defences, and where it ends."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.statistics.confirmation import Block, confirm, order
from profiler.statistics.result import Verdict
from scripts.benches import trust
from scripts.benches.answers import Answer, profile_rows, spread_rows
from scripts.benches.defences import Confirmed, defence_rows, removed_part
from scripts.benches.warm_engine import WarmEngine
from tests.scenarios import window


def confirmations(count, *, drift=0.0, speed_sd=0.0, noise=0.01, cpu_noise=0.01):
    """Build confirmations on a machine that drifts from block to block and whose speed changes from window to window.

    CPU time per row follows the speed; throughput follows it too, with noise of its own.
    """
    random = np.random.default_rng(7)
    made = []
    for _ in range(count):
        blocks, costs = [], []
        for position, arm in enumerate(order(6)):
            speed = np.exp(random.normal(0, speed_sd, 5))
            values = 100 * np.exp(drift * position + random.normal(0, noise, 5)) * speed
            blocks.append(Block(arm, tuple(values), tuple(speed)))
            costs.append(tuple(1e-4 * np.exp(random.normal(0, cpu_noise, 5)) / speed))
        made.append(Confirmed(confirm(blocks), tuple(blocks), tuple(costs)))
    return made


def figures(made):
    return {each["quantity"]: each["ours"] for each in defence_rows(made)}


def test_interleaving_removes_a_drift():
    """A machine that gets slower by 2 % a block: ABBA… does not see it, AA…BB would."""
    found = figures(confirmations(20, drift=-0.02))
    assert found["variance of the difference that interleaving removes"] > 0.95


@pytest.mark.long
def test_interleaving_costs_nothing_on_a_steady_machine():
    """Both orders are as good as each other there."""
    assert abs(figures(confirmations(200))["variance of the difference that interleaving removes"]) < 0.35


def test_the_speed_index_removes_what_the_machine_s_speed_explains():
    """In the windows and in the difference of the arms."""
    found = figures(confirmations(30, speed_sd=0.1))
    assert found["variance of log throughput that the speed index removes"] > 0.95
    assert found["variance of the difference that the speed index removes"] > 0.9


def test_cpu_per_row_is_sharper_than_a_throughput_with_noise_of_its_own():
    """Its variation after the index is that of the CPU time alone."""
    found = figures(confirmations(30, speed_sd=0.1, noise=0.1))
    assert found["variance that CPU per row × speed index removes"] > 0.95
    assert found["variation of windows: CPU per row × speed index"] == pytest.approx(0.01, rel=0.1)
    assert found["variation of windows: throughput"] == pytest.approx(0.14, rel=0.1)


def test_a_defence_that_adds_noise_is_told():
    """The part removed is negative."""
    assert removed_part([1.0, -1.0], [2.0, 2.0]) == -3.0


def test_one_confirmation_has_figures_but_no_intervals():
    """The first rows of a bench that has just begun."""
    removed = [each for each in defence_rows(confirmations(1)) if "removes" in each["quantity"]]
    assert len(removed) == 4
    assert all(each["low"] is None for each in removed)


def test_a_stalled_confirmation_is_left_out_of_the_variances():
    """A window without a row has no logarithm and no CPU time per row."""
    usual = confirmations(3)
    seen = [window(0.0), window(1.0)]
    stalled = Confirmed.of(usual[0].comparison, [Block(0, (0.0, 1.0), (1.0, 1.0))], [seen])
    assert list(defence_rows([*usual, stalled])) == list(defence_rows(usual))
    assert not list(defence_rows([stalled]))


def test_the_windows_that_counted_are_a_block_s_last():
    """The warm-up of a block is left out of its CPU time too."""
    seen = [replace(window(100.0, duration_s=2.0), cpu_s=cpu_s) for cpu_s in (9.0, 1.0, 2.0)]
    block = Block(0, (100.0, 100.0), (1.0, 1.0))
    made = Confirmed.of(confirmations(1)[0].comparison, [block], [seen])
    assert made.cpu_s_per_row == ((0.005, 0.01),)


def test_false_alarms_are_counted_against_four():
    """Two of ten said changed."""
    quiet = confirmations(1)[0]
    alarm = replace(quiet, comparison=replace(quiet.comparison, verdict=Verdict.DECREASED))
    count, rate, few, _ = trust.alarm_rows([quiet] * 8 + [alarm] * 2)
    assert (count["ours"], count["goal"], count["unit"]) == (2, 4, "of 10")
    assert rate["low"] < rate["ours"] == 0.2 < rate["high"]
    assert few["ours"] == 0


def test_the_first_blocks_are_looked_at_by_themselves():
    """One arm did twice as much in them, whatever the later ones said."""
    first = [Block(arm, (100.0 * (1 + arm) + number, 101.0 * (1 + arm))) for number, arm in enumerate(order(3))]
    later = [Block(arm, (100.0, 101.0)) for arm in order(3)]
    made = replace(confirmations(1)[0], blocks=(*first, *later))
    _, rate, few, _ = trust.alarm_rows([made])
    assert (rate["ours"], few["ours"]) == (0, 1)


ANSWERS = [Answer({"tweets": 1, "count": tasks}, None, False, 100.0 * tasks, 200.0, 5) for tasks in (2, 1, 3)]


def test_the_spread_is_that_of_the_fastest_and_the_slowest_answer():
    """By what they do side by side."""
    random = np.random.default_rng(3)
    levels = [100.0, 80.0, 90.0]
    blocks = [Block(arm, tuple(levels[arm] * np.exp(random.normal(0, 0.01, 5)))) for arm in order(6, 3)]
    *answers, spread = spread_rows(ANSWERS, blocks)
    assert [each["ours"] for each in answers] == pytest.approx(levels, rel=0.02)
    assert answers[0]["quantity"] == "answer 1: (1,2)"
    assert spread["low"] < 1.25 < spread["high"]
    assert spread["ours"] == pytest.approx(1.25, rel=0.02)
    assert "answer 2" in spread["against"]


def test_profiles_are_held_against_four_minutes():
    """The time that a quick profile may take."""
    (found,) = profile_rows(ANSWERS)
    assert (found["ours"], found["goal"]) == (200.0, 240.0)


@pytest.fixture
def simulated(monkeypatch, tmp_path):
    """Play the real machine; give the list of what was opened."""
    opened = []

    @contextmanager
    def warm():
        opened.append(1)
        engine = SimulatedEngine(
            SimulatedPlatform(nodes=3, cores_per_node=2, slots=24), Preset.SHARED, seed=len(opened)
        )
        yield WarmEngine(engine, "", None, 1e6)

    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)
    monkeypatch.setattr(trust, "warm_engine", warm)
    tasks = {"tweets": 1, "parse": 1, "split": 1, "count": 2}
    monkeypatch.setattr(trust, "quick_profile", lambda: Answer(tasks, None, False, 1e6, 200.0, 5))
    return opened


SMALL = trust.Sizes(confirmations=3, profiles=2, design=WindowPlan(block=2, block_warm_up=1, blocks=6))


def test_a_second_call_measures_nothing(simulated):
    """All rows come from what was kept: of one session for the confirmations, and one for the answers."""
    first = list(trust.rows(SMALL))
    assert len(simulated) == 2
    assert list(trust.rows(SMALL)) == first
    assert len(simulated) == 2
    assert first[0]["n"] == 3
    assert first[-1]["quantity"] == "the fastest answer over the slowest"


def test_ctrl_c_gives_the_rows_of_what_there_is(simulated, monkeypatch):
    """One confirmation was whole; the next call goes on and ends with all three."""
    genuine = SimulatedEngine.deploy
    left = [15]

    def interrupted(self, *rest, **more):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return genuine(self, *rest, **more)

    monkeypatch.setattr(SimulatedEngine, "deploy", interrupted)
    so_far = list(trust.rows(SMALL))
    assert {each["n"] for each in so_far} == {1}
    left[0] = 1000
    assert next(iter(trust.rows(SMALL)))["n"] == 3


def test_answers_are_deployed_as_they_were_found():
    """Tasks, limit and form."""
    answer = Answer({"tweets": 1, "count": 2}, 500.0, True, 490.0, 200.0, 5)
    assert answer.arm.configuration == Configuration.of({"tweets": 1, "count": 2}, 500.0)
    assert answer.arm.fused
