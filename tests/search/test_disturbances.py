"""A disturbed round is told, with what it would have shown, on the terminal as in the document."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from profiler.experiment.disturbance import Disturbance
from profiler.experiment.observation import Measurement
from profiler.job.configuration import Configuration
from profiler.questions.search.disturbances import disturbance_in_words, disturbance_of
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.search.readings.evidence import screened
from profiler.statistics.search_noise import SearchNoise
from tests.scenarios import outcome, window

NOISE = SearchNoise(0.4, 1.0, 0.1, 0.05, 3.0)
RUN = (
    "run",
    "word-count",
    "--engine",
    "simulated",
    "--nodes",
    "1",
    "--cores",
    "2",
    "--seed",
    "4",
    "--quick",
    "--quiet",
)


def seen(throughput_per_s, other_cores):
    beside = Disturbance(cores=2, other_cores=other_cores)
    return replace(window(throughput_per_s), cores_used=1.95 - other_cores, disturbance=beside)


def measurement(*windows, left_out=()):
    return Measurement(Configuration.of({"in": 1}), 2000.0, windows, left_out=left_out)


def test_a_quiet_round_has_nothing_to_tell():
    assert disturbance_of(measurement(*[seen(1000.0, 0.05)] * 4), NOISE) is None
    assert disturbance_of(measurement(*[window()] * 4), NOISE) is None


def test_what_was_replaced_is_told():
    """All that counts is undisturbed, so that there is nothing to derive."""
    told = disturbance_of(measurement(*[seen(1000.0, 0.0)] * 10, left_out=(seen(700.0, 0.6),) * 3), NOISE)
    assert (told.windows, told.disturbed, told.measured_again) == (13, 3, 3)
    said = "other programs took 0.6 of 2 cores in 3 of 13 windows; 3 were measured again"
    assert disturbance_in_words(told) == said


def test_what_stays_disturbed_is_derived():
    """The job follows its cores one to one: 700 beside 0.6 of two cores is 1,000."""
    told = disturbance_of(measurement(*[seen(1000.0, 0.0)] * 6, *[seen(700.0, 0.6)] * 4), NOISE)
    assert told.undisturbed_per_s == pytest.approx(1000.0)
    low, high = told.undisturbed_interval_per_s
    assert low <= 1000.0 + 1e-6
    assert high >= 1000.0 - 1e-6
    assert disturbance_in_words(told).endswith("undisturbed it does about 1,000 rows/s (1,000 to 1,000)")


def test_nothing_is_derived_for_a_job_that_does_not_follow_its_cores():
    """Its windows show as much beside a neighbour as alone."""
    told = disturbance_of(
        measurement(*[seen(1000.0, 0.0)] * 6, *[seen(1000.0, 0.6)] * 4), replace(NOISE, speed_slope=0.0)
    )
    assert told.undisturbed_per_s == pytest.approx(1000.0)


def test_a_neighbour_does_not_decide_a_comparison():
    """The same tasks, beside a neighbour for four windows of ten: no change, where throughput alone says one."""
    calm = [seen(rate, 0.0) for rate in (1000.0, 1010.0, 990.0, 1005.0, 995.0) * 2]
    beside = [seen(rate * 0.7, 0.6) for rate in (1000.0, 1010.0, 990.0, 1005.0)]
    mixed = [*calm[:3], *beside, *calm[:3]]
    past = outcome({"in": 1}, [1000.0] * 4)
    rounds = [replace(past, measurement=measurement(*each)) for each in (calm, mixed, calm)]
    found = screened(rounds[0].measurement, rounds[1].measurement, rounds, Parameters())
    assert abs(found.effect) < 0.03
    blind = [
        replace(past, measurement=measurement(*(replace(each, disturbance=None) for each in one.measurement.windows)))
        for one in rounds
    ]
    unaware = screened(blind[0].measurement, blind[1].measurement, blind, Parameters())
    assert unaware.effect < -0.1


def test_windows_that_are_left_out_count_in_a_comparison():
    """Corrected they tell as much as others, and what a neighbour does; not so where memory was short."""
    calm = [seen(rate, 0.0) for rate in (1000.0, 1010.0, 990.0, 1005.0)]
    beside = tuple(seen(rate * 0.7, 0.6) for rate in (1000.0, 1010.0))
    paging = replace(beside[0], disturbance=Disturbance(cores=2, other_cores=0.0, paged_out_mb=300.0))
    one, other = measurement(*calm), measurement(*calm, left_out=(*beside, paging))
    found = screened(one, other, [], Parameters())
    assert (found.n_reference, found.n_candidate) == (4, 6)
    assert abs(found.effect) < 0.05


def test_the_answer_tells_of_a_neighbour(profile, folder):
    """On the terminal as a warning of the round, in the document with all figures."""
    answer = profile(*RUN, "--noise", "disturbed", "--json", "run.json")
    assert answer.exit_code == 0, answer.stderr
    document = json.loads((folder / "run.json").read_text())
    told = [each for each in document["rounds"] if "disturbance" in each]
    assert told
    for each in told:
        assert "disturbed" in each["warnings"]
        assert each["disturbance"]["causes"] == ["others"]
        assert 0.2 <= each["disturbance"]["taken_cores"] <= 0.5
    quiet = profile(*RUN, "--json", "quiet.json")
    assert quiet.exit_code == 0
    assert all("disturbance" not in each for each in json.loads((folder / "quiet.json").read_text())["rounds"])
