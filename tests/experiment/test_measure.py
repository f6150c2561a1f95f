"""Measuring one configuration: the stress rate is found, warm-up is cut, hopeless rounds end early, doubts are told."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from profiler.errors import ProfileError
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.disturbance import Disturbance
from profiler.experiment.events import Phase, WindowSeen
from profiler.experiment.measure import RATE_CHANGES, Load, measure
from profiler.experiment.observation import Detail, Latency
from profiler.experiment.rounds import Action, Round, Step, Trial
from profiler.experiment.window_plan import WindowPlan
from profiler.statistics.doubt import Doubt
from tests.experiment.scripted import ONE_EACH, TOPOLOGY, ScriptedEngine
from tests.scenarios import FAST, SLOW, outcome


def load(**more):
    return Load(ONE_EACH, **more)


def measured(engine, asked=None, *, design=WindowPlan(), **more):  # noqa: B008
    return measure(engine, TOPOLOGY, asked or load(), design, **more)


def passed_over(engine, asked, **more):
    """Return how many windows were seen under the load before those that count."""
    told = []
    measurement = measured(engine, asked, report=told.append, **more)
    under_load = [event for event in told if event.phase in (Phase.WARM_UP, Phase.STRESS, Phase.THROTTLED)]
    return len(under_load) - len(measurement.windows)


def test_the_rate_is_raised_until_the_job_falls_behind():
    """A job that keeps up is not under stress: the rate grows until it does not."""
    engine = ScriptedEngine(lambda index: 50_000.0)
    measurement = measured(engine)
    assert measurement.throughput_per_s == pytest.approx(50_000)
    assert engine.rates[:3] == [20_000, 40_000, 80_000]


def test_a_job_that_nothing_saturates_is_told():
    """The rate is not raised without end; what was seen is a lower bound, and says so."""
    engine = ScriptedEngine(lambda index: math.inf)
    measurement = measured(engine)
    assert Doubt.NOT_SATURATED in measurement.doubts
    *raised, probe = engine.rates
    assert len(raised) == RATE_CHANGES
    assert measurement.throughput_per_s == pytest.approx(raised[-1])
    assert probe < raised[-1]


def test_a_prediction_saves_the_search_for_the_rate():
    """With a predicted capacity the first rate is already stress."""
    engine = ScriptedEngine()
    measured(engine, load(predicted_per_s=1000.0))
    assert engine.rates == [pytest.approx(2000), pytest.approx(900)]
    assert len(engine.rates) == 2, "one rate for stress, one for the latency probe"


def test_warm_up_windows_do_not_count():
    """Windows from before the steady state are cut."""
    engine = ScriptedEngine(lambda index: 1000 * (1 - 0.9 * 0.5**index))
    measurement = measured(engine, load(predicted_per_s=1000.0))
    assert len(measurement.windows) == 10
    assert min(measurement.throughputs) > 950
    assert passed_over(ScriptedEngine(engine.capacity), load(predicted_per_s=1000.0)) > 2


def test_a_cold_engine_is_loaded_before_anything_counts():
    """A compiler that learns in steps looks steady in between: the first seconds under load are let pass."""
    engine = ScriptedEngine(lambda index: 200.0 if index < 12 else 1000.0)
    assert measured(engine, load(predicted_per_s=1000.0)).throughput_per_s < 500
    assert measured(engine, load(predicted_per_s=1000.0), cold_s=40.0).throughput_per_s == pytest.approx(1000)
    assert len(engine.rates) == 4, "the load goes on where the cold time ends"


@pytest.mark.parametrize(("compiles_for", "let_pass"), [(0, 10), (15, 15), (100, 25)])
def test_an_engine_that_still_compiles_is_loaded_longer(compiles_for, let_pass):
    """Until its compilers rest, and at the most for so many times the time that it is loaded anyway."""

    class Compiling(ScriptedEngine):
        def observe(self, rate_per_s, windows):
            for seen in super().observe(rate_per_s, windows):
                yield replace(seen, compiling_cores=0.5 if self.index <= compiles_for else 0.05)

    engine = Compiling()
    asked = load(predicted_per_s=1000.0)
    longer = WindowPlan(longest_cold=2.5)
    assert abs(passed_over(engine, asked, cold_s=30.0, design=longer) - let_pass) <= 1
    assert len(measured(engine, asked, cold_s=30.0, design=longer).windows) == WindowPlan().windows
    assert passed_over(engine, asked, cold_s=30.0) == 10


def test_a_series_that_never_settles_is_doubtful():
    """What still drifts after the longest warm-up is measured all the same, and said to drift."""
    engine = ScriptedEngine(lambda index: 1000 * 0.98**index)
    assert Doubt.NOT_STATIONARY in measured(engine, load(predicted_per_s=1000.0)).doubts


def test_a_latency_that_no_row_told_is_a_doubt_and_no_violation():
    """A job that lets hardly a row through must not lose every round for that."""
    unknown = measured(ScriptedEngine(latency=Latency(math.nan, math.nan, math.nan, math.nan)))
    assert unknown.latency_ms is None
    assert unknown.latency_unknown
    assert Doubt.LATENCY_UNKNOWN in unknown.doubts
    assert Round(1, Trial(ONE_EACH, Step.PLATFORM, Action.SINKS), unknown).meets(LatencyConstraint(1.0, 0.95))
    assert Doubt.LATENCY_UNKNOWN not in measured(ScriptedEngine()).doubts


def test_a_round_that_was_not_probed_does_not_meet_the_constraint():
    """It ended early, as it was far too slow."""
    assert not outcome({"in": 1, "work": 1}, [100.0], latency=None).meets(LatencyConstraint(500.0, 0.95))


def test_a_hopeless_round_ends_early():
    """Far below its reference nothing is gained by more windows, nor by a latency probe."""
    measurement = measured(ScriptedEngine(), load(predicted_per_s=1000.0), reference_per_s=2000.0)
    assert len(measurement.windows) < 10
    assert measurement.latency_ms is None


def test_a_generator_at_its_limit_is_told():
    """What the generator could not send is no property of the job."""
    engine = ScriptedEngine(lambda index: 1e6, generator_limit=20_000)
    assert Doubt.GENERATOR_LIMITED in measured(engine, load(predicted_per_s=30_000)).doubts


def test_a_generator_that_stalled_once_is_not_at_its_limit():
    """One window of ten says nothing of the others; and the rate is raised as if it had not been."""

    class Stalling(ScriptedEngine):
        def observe(self, rate_per_s, windows):
            for seen in super().observe(rate_per_s, windows):
                yield replace(seen, generator_limited=self.index % 8 == 2)

    engine = Stalling(lambda index: 3000.0)
    measurement = measured(engine, load(predicted_per_s=1000.0))
    assert Doubt.GENERATOR_LIMITED not in measurement.doubts
    assert measurement.throughput_per_s == pytest.approx(3000), "the first rate was no stress"


def test_the_latency_is_probed_at_ninety_percent():
    """At stress the latency says how full the buffers are, so it is taken below."""
    engine = ScriptedEngine(latency=SLOW)
    measurement = measured(engine, load(predicted_per_s=1000.0))
    assert engine.rates[-1] == pytest.approx(900)
    assert measurement.latency_ms == SLOW
    assert measurement.latency_at_per_s == pytest.approx(900)


def test_no_latency_is_probed_where_none_is_wanted():
    """A design without a probe has a single rate."""
    engine = ScriptedEngine()
    measured = measure(engine, TOPOLOGY, load(predicted_per_s=1000.0), WindowPlan(probe=0))
    assert engine.rates == [pytest.approx(2000)]
    assert measured.latency_ms is None


def test_a_machine_that_became_slower_is_probed_lower():
    """A probe that the job cannot follow would measure the backlog: it is repeated at 90 % of what it does now."""
    engine = ScriptedEngine(lambda index: 1000.0 if index < 10 else 600.0)
    measured(engine, load(predicted_per_s=1000.0))
    assert engine.rates[-2:] == pytest.approx([900, 540], rel=0.02)


def test_windows_without_a_sampled_row_tell_no_latency():
    """No sample, no latency: it is unknown, not zero and not endless."""
    nothing = Latency(math.nan, math.nan, math.nan, math.nan)
    assert measured(ScriptedEngine(latency=nothing), load(predicted_per_s=1000.0)).latency_ms is None


def test_a_small_stream_is_observed_where_features_are_wanted():
    """Step 1 sees the job under a fifth of its throughput as well."""
    engine = ScriptedEngine()
    measurement = measured(engine, load(predicted_per_s=1000.0, calm=True, detail=Detail.FULL))
    assert engine.rates[-1] == pytest.approx(200)
    assert len(measurement.calm) == WindowPlan().calm


def test_a_throttled_trial_is_observed_at_its_rate():
    """The limit on the offered rate is the load, and its windows tell the latency."""
    engine = ScriptedEngine()
    throttled = Load(ONE_EACH.throttled(400.0))
    measurement = measured(engine, throttled)
    assert engine.rates == [400]
    assert measurement.throughput_per_s == pytest.approx(400)
    assert measurement.latency_ms is not None


def test_a_throttled_trial_of_a_cold_engine_does_not_count_its_first_windows():
    """A warm start or a resumed run may begin with one; what it tells of latency is that of a warm engine."""

    class Cold(ScriptedEngine):
        def observe(self, rate_per_s, windows):
            for seen in super().observe(rate_per_s, windows):
                yield replace(seen, processing_ms=SLOW) if self.index <= 10 else seen

    engine, told = Cold(), []
    throttled = Load(ONE_EACH.throttled(400.0))
    measurement = measured(engine, throttled, cold_s=30.0, report=told.append)
    assert len(measurement.windows) == WindowPlan().windows
    assert measurement.latency_ms == FAST
    assert [event.phase for event in told] == [Phase.WARM_UP] * 10 + [Phase.THROTTLED] * WindowPlan().windows
    assert engine.rates == [400], "the load goes on where the cold time ends"


def test_a_job_that_lets_nothing_through_is_an_error():
    """No throughput, no profile: the deployment is closed all the same."""
    engine = ScriptedEngine(lambda index: 0.0)
    with pytest.raises(ProfileError, match="No row came through"):
        measured(engine, load(predicted_per_s=1000.0))
    assert engine.open == 0


def test_every_window_is_told():
    """The panel sees warm-up, stress and probe windows as they come."""
    seen = []
    measured(ScriptedEngine(), load(predicted_per_s=1000.0), report=seen.append)
    phases = [event.phase for event in seen if isinstance(event, WindowSeen)]
    assert list(dict.fromkeys(phases)) == ["warm-up", "stress", "latency probe"]


class Beside(ScriptedEngine):
    """An engine beside a neighbour that has half a core in the windows of a list, or in all after the last one."""

    def __init__(self, disturbed, **more):
        super().__init__(lambda index: 700.0 if disturbed(index) else 1000.0, **more)
        self.disturbed = disturbed

    def observe(self, rate_per_s, windows):
        for seen in super().observe(rate_per_s, windows):
            other_cores = 0.6 if self.disturbed(self.index - 1) else 0.0
            yield replace(seen, cores_used=2 - other_cores, disturbance=Disturbance(2, other_cores))


def test_disturbed_windows_are_measured_again():
    """Three of the first ten: as many more are observed, and what counts is what the job does by itself."""
    engine = Beside(lambda index: index in (2, 5, 8))
    measurement = measured(engine, load(predicted_per_s=1000.0), design=WindowPlan(probe=0))
    assert measurement.throughputs == pytest.approx([1000.0] * WindowPlan().windows)
    assert [window.throughput_per_s for window in measurement.left_out] == pytest.approx([700.0] * 3)
    assert engine.index <= WindowPlan().windows + 4
    assert Doubt.DISTURBED in measurement.doubts


def test_measuring_again_has_an_end():
    """A neighbour that is there in every third window: half as many windows more at the most."""
    engine = Beside(lambda index: index % 5 in (1, 3))
    measurement = measured(engine, load(predicted_per_s=1000.0), design=WindowPlan(probe=0, windows=10))
    assert len(measurement.windows) == WindowPlan().windows
    assert engine.index <= 15
    assert sum(window.throughput_per_s < 800 for window in measurement.windows) < 4


def test_a_machine_that_stays_disturbed_is_not_waited_for():
    """Its windows count as they are, and are told."""
    engine = Beside(lambda index: True)
    measurement = measured(engine, load(predicted_per_s=1000.0), design=WindowPlan(probe=0))
    assert engine.index == WindowPlan().windows
    assert measurement.left_out == ()
    assert Doubt.DISTURBED in measurement.doubts


def test_a_neighbour_makes_no_round_hopeless():
    """The disturber must not decide: a round that is slow beside it is observed to its end."""
    slow = measured(Beside(lambda index: True), load(predicted_per_s=1000.0), reference_per_s=1050.0)
    assert len(slow.windows) == WindowPlan().windows
    assert (
        len(measured(ScriptedEngine(lambda index: 700.0), load(predicted_per_s=1000.0), reference_per_s=1050.0).windows)
        < 10
    )


def test_throttled_windows_are_measured_again_too():
    """They tell the latency, which a neighbour lengthens."""
    engine = Beside(lambda index: index in (0, 1))
    measurement = measured(engine, Load(ONE_EACH.throttled(400.0)))
    assert len(measurement.left_out) == 2
    assert engine.index == WindowPlan().windows + 2


def test_an_undisturbed_round_is_as_long_as_before():
    """Whoever counts others and finds none observes no window more, be the series steady or not."""
    engine = Beside(lambda index: False)
    measured(engine, load(predicted_per_s=1000.0), design=WindowPlan(probe=0))
    assert engine.index == WindowPlan().windows
    drifting = ScriptedEngine(lambda index: 1000 * 0.98**index)
    measured(drifting, load(predicted_per_s=1000.0), design=WindowPlan(probe=0))
    assert drifting.index == WindowPlan().windows + WindowPlan().warm_up
