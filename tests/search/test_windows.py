"""Windows that fit a job: long ones where it is several queries, unless the user said how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.engines.spark.kind import SEVERAL_QUERIES
from profiler.experiment.window_plan import WindowPlan
from profiler.job.loading import load_topology
from profiler.questions.search.loop import TimeLimits
from profiler.questions.search.terms import CONFIRMED_S, ENDS_S, SEARCH_S, search_design, time_limits
from profiler.questions.windows import fewer_of, with_fitting_windows
from profiler.settings.choices import EngineName
from profiler.settings.declarations import Settings

SEVERAL = load_topology("diamond")
ONE = load_topology("word-count")


def test_one_query_keeps_the_short_windows():
    assert with_fitting_windows(Settings(), (ONE,)) == Settings()


def test_several_queries_get_longer_windows_and_fewer():
    settings = with_fitting_windows(Settings(), (SEVERAL,))
    assert (settings.window_s, settings.windows) == (SEVERAL_QUERIES.window_s, SEVERAL_QUERIES.windows)
    assert search_design(settings).windows * settings.window_s <= 1.3 * search_design(Settings()).windows * 3.0


def test_a_comparison_has_one_length_for_all():
    assert with_fitting_windows(Settings(), (ONE, SEVERAL)).window_s == SEVERAL_QUERIES.window_s


@pytest.mark.parametrize("key", ["window", "windows"])
def test_what_the_user_said_stays(key):
    said = replace(Settings(window_s=4.0, windows=7), origins={key: "flag"})
    settings = with_fitting_windows(said, (SEVERAL,))
    assert (settings.window_s, settings.windows) == ((4.0, 7) if key == "window" else (SEVERAL_QUERIES.window_s, 7))


def test_simulated_windows_need_no_length():
    settings = Settings(engine=EngineName.SIMULATED)
    assert with_fitting_windows(settings, (SEVERAL,)) == settings


def test_longer_windows_take_the_same_time_in_all():
    design = WindowPlan(windows=6, warm_up=14, probe=3, calm=5, block=3)
    longer = fewer_of(design, 6.0)
    assert (longer.windows, longer.warm_up, longer.probe, longer.calm, longer.block) == (6, 7, 2, 3, 2)
    assert fewer_of(design, 3.0) == fewer_of(design, 1.0) == design
    assert fewer_of(replace(design, probe=0), 6.0).probe == 0


def test_a_search_on_spark_has_a_limit_that_grows_with_its_windows():
    """What the user said about time goes before it, and simulated windows take none."""
    assert time_limits(Settings()) == time_limits(Settings(window_s=1.0)) == TimeLimits(SEARCH_S, CONFIRMED_S, ENDS_S)
    assert time_limits(Settings(window_s=6.0)) == TimeLimits(2 * SEARCH_S, 2 * CONFIRMED_S, 2 * ENDS_S)
    for unlimited in (Settings(budget_s=1e3), Settings(quick=True), Settings(engine=EngineName.SIMULATED)):
        assert time_limits(unlimited) == TimeLimits()
