"""The noise of a search, and the screening that knows it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from noisy import process, search_round

from profiler.engines.simulated.noise import Preset
from profiler.statistics.result import Verdict
from profiler.statistics.screening import screen
from profiler.statistics.search_noise import RoundWindows, screen_round, search_noise


def test_many_rounds_tell_the_noise_of_a_shared_machine() -> None:
    """Slope, correlation, spread within and drift between rounds come out as they were put in."""
    noise = process(Preset.SHARED, 1)
    found = search_noise([search_round(noise, level) for level in np.geomspace(100, 10_000, 300)])
    left = 0.12 * math.sqrt(0.4)
    assert found.speed_slope == pytest.approx(1.0, abs=0.05)
    assert found.correlation == pytest.approx(0.4, abs=0.05)
    assert found.window_sd == pytest.approx(left * math.sqrt(0.75), rel=0.08)
    assert found.between_round_sd == pytest.approx(left * math.sqrt(0.25), rel=0.2)
    assert found.between_round_df > 50


def test_one_round_that_was_still_on_its_way_up_does_not_hide_what_all_others_show() -> None:
    """Windows of a real search: five tasks that wait do five times the work of one."""
    one, moving, five = (
        RoundWindows(values, (1.0, 1.02, 0.98))
        for values in ((85.1, 86.8, 80.1), (35.6, 381.1, 1381.5), (416.6, 426.3, 420.7))
    )
    assert screen_round(one, five, [one, moving, five]).verdict is Verdict.INCREASED
    assert screen_round(one, moving, [one, moving, five]).verdict is Verdict.UNCHANGED


def test_a_single_round_is_given_the_usual_noise() -> None:
    """Nothing seen yet: a third of the variance within rounds is assumed between them, with little certainty."""
    found = search_noise([search_round(process(Preset.QUIET, 2))])
    assert found.between_round_sd == pytest.approx(found.window_sd / math.sqrt(3))
    assert found.between_round_df == 2


def test_a_steady_index_lowers_the_drift_round_by_round() -> None:
    """The longer the machine is seen to be steady, the less drift is assumed."""
    noise = process(Preset.QUIET, 3)
    rounds = [search_round(noise) for _ in range(12)]
    ratios = [search_noise(rounds[:k]) for k in (2, 6, 12)]
    drift = [found.between_round_sd / found.window_sd for found in ratios]
    assert drift[0] > drift[1] > drift[2]


@pytest.mark.parametrize("index", [(), (0.97,) * 10], ids=["no index", "constant index"])
def test_rounds_without_a_telling_index_are_screened_as_they_are(index: tuple[float, ...]) -> None:
    """Without an index, or with a constant one, values stay as they are."""
    noise = process(Preset.QUIET, 4)
    rounds = [RoundWindows(search_round(noise, level).values, index) for level in (1000.0, 1300.0)]
    found = screen_round(rounds[0], rounds[1], rounds)
    assert search_noise(rounds).speed_slope == 0.0
    assert found.effect == pytest.approx(screen(rounds[0].values, rounds[1].values).effect)
    assert found.verdict is Verdict.INCREASED


def test_rounds_without_noise_are_judged_by_their_difference() -> None:
    """A simulated machine without noise: nothing is doubtful."""
    rounds = [RoundWindows((level,) * 5, (1.0,) * 5) for level in (100.0, 200.0, 200.0)]
    assert screen_round(rounds[0], rounds[1], rounds).verdict is Verdict.INCREASED
    assert screen_round(rounds[1], rounds[2], rounds).verdict is Verdict.UNCHANGED


def test_a_round_without_throughput_is_inconclusive_and_spoils_no_other() -> None:
    """A dead round has no verdict, and the estimate of the noise leaves it out."""
    noise = process(Preset.SHARED, 5)
    alive = [search_round(noise) for _ in range(3)]
    dead = RoundWindows((0.0,) * 10, (1.0,) * 10)
    assert screen_round(alive[0], dead, alive).verdict is Verdict.INCONCLUSIVE
    assert search_noise([*alive, dead]) == search_noise(alive)
    assert search_noise([dead]).window_sd == 0.0


def test_it_does_not_matter_whether_history_holds_the_two_rounds() -> None:
    """A round is counted once."""
    noise = process(Preset.SHARED, 6)
    rounds = [search_round(noise) for _ in range(4)]
    among = screen_round(rounds[2], rounds[3], rounds)
    assert among == screen_round(rounds[2], rounds[3], rounds[:2])
    backwards = screen_round(rounds[2], rounds[3], rounds[::-1])
    assert backwards.verdict is among.verdict
    numbers = [(each.effect, each.low, each.high, each.p, each.detectable_effect) for each in (among, backwards)]
    assert numbers[0] == pytest.approx(numbers[1])  # sums in another order are rounded otherwise


@pytest.mark.long
@pytest.mark.parametrize(("preset", "most"), [(Preset.QUIET, 6), (Preset.SHARED, 22)])
def test_false_alarms_of_a_search_stay_near_five_percent(preset: Preset, most: int) -> None:
    """250 A/A screenings at any point of a search; 22 is two standard errors and a half above 5 %."""
    noise = process(preset, 7)
    alarms = 0
    for repetition in range(250):
        rounds = [search_round(noise) for _ in range(2 + repetition % 7)]
        alarms += screen_round(rounds[-2], rounds[-1], rounds).verdict is not Verdict.UNCHANGED
    assert alarms <= most


def test_a_drifting_machine_fools_the_screening_that_does_not_know() -> None:
    """The defence is needed: without it every third A/A screening on a shared machine is a false alarm."""
    noise = process(Preset.SHARED, 8)
    pairs = [(search_round(noise), search_round(noise)) for _ in range(150)]
    plain = sum(screen(a.values, b.values).verdict is not Verdict.UNCHANGED for a, b in pairs)
    assert plain > 37


def test_a_large_gain_is_found_on_a_shared_machine_in_the_first_round() -> None:
    """A doubling is found although nothing is known yet about the machine."""
    noise = process(Preset.SHARED, 9)
    found = sum(
        screen_round(search_round(noise), search_round(noise, 2.0), ()).verdict is Verdict.INCREASED for _ in range(100)
    )
    assert found >= 97
