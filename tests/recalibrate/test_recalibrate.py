"""Recalibration: which steps follow from what changed, and a warm start that repeats no more than these."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.errors import UsageError
from profiler.experiment.events import TrialStarted
from profiler.experiment.observation import Latency
from profiler.experiment.rounds import Action, Decision, Step
from profiler.experiment.window_plan import WindowPlan
from profiler.history.fingerprint.fingerprint import fingerprint_document, fingerprint_of
from profiler.job.loading import load_topology
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.recalibrate.conclusion import RecalibrateCase, recalibrate_answer
from profiler.questions.recalibrate.decision import (
    RecalibrationVerdict,
    decide,
    movements,
    nearest,
    origin_of,
    stored_look,
    verdict,
)
from profiler.questions.recalibrate.moved_features import moved_features
from profiler.questions.recalibrate.stored_answer import Standing, look_at
from profiler.questions.recalibrate.warm_start import Scope, WarmStart
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies.policy import Parameters, replayed
from profiler.questions.search.policies.stepwise import Stepwise
from profiler.questions.search.stored_profile import stored_profile
from profiler.report.documents import document_of
from tests.scenarios import WAITS

SLOTS = 24
_NOTHING = Latency(0.0, 0.0, 0.0, 0.0)


def engine(seed=1, *, slots=SLOTS, cores=2, preset=Preset.QUIET):
    return SimulatedEngine(SimulatedPlatform(nodes=3, cores_per_node=cores, slots=slots), preset, seed=seed)


def loop(topology, policy, on=None, *, blocks=0, **more):
    return Loop(on or engine(), topology, policy, design=WindowPlan(blocks=blocks), **more)


def fingerprint(topology, on=None, **more):
    on = on or engine()
    return fingerprint_of(topology, topology.name, "simulated", on.platform, slots=on.slots_for(topology), **more)


def documented(profile, run="stored", taken=None, **more):
    document = profile_document(profile_of(profile, run=run, engine="simulated", environment={}))
    taken = taken or fingerprint(profile.topology)
    text = json.dumps({**document, "fingerprint": fingerprint_document(taken), **more}, allow_nan=False)
    return json.loads(text)


def words(*, split_ms=0.02, selectivity=10.0):
    """Word count, whose messages may have more words."""
    return Topology.chain(
        "words",
        Source("tweets"),
        Operator("parse", cost=Cost(cpu_ms=0.03)),
        Operator("split", cost=Cost(cpu_ms=split_ms), selectivity=selectivity, output="workload"),
        Operator("count", cost=Cost(cpu_ms=0.004), stateful=True, key="word"),
    )


@pytest.fixture(scope="module")
def stored():
    """A profile of word count, as it was kept."""
    return stored_profile(documented(loop(words(), Stepwise()).run()))


def steps(profile):
    return [outcome.trial.step for outcome in profile.rounds]


# What follows from what changed.


def test_unchanged_asks_for_no_step(stored):
    """The stored answer is only measured again."""
    decided = decide(stored, fingerprint(words()))
    assert (decided.scope, decided.differences) == (Scope.CONFIRM, ())


def test_fewer_slots_ask_for_steps_two_and_three(stored):
    """The features are kept."""
    decided = decide(stored, fingerprint(words(), engine(slots=12)))
    assert decided.scope is Scope.PLATFORM
    assert [each.what for each in decided.differences] == ["slots: was 24, is 12"]
    assert decided.only_fewer_slots
    assert not decide(stored, fingerprint(words(), engine(slots=48))).only_fewer_slots
    assert not decide(stored, fingerprint(words(), engine(slots=12, cores=1))).only_fewer_slots


def test_another_operator_asks_for_all_steps(stored):
    """A redeployed application is a new one."""
    decided = decide(stored, fingerprint(words(split_ms=0.05)))
    assert decided.scope is Scope.ALL
    assert decided.why == "the application changed: all steps"


def test_other_data_asks_for_step_one(stored):
    """And for what follows from it."""
    assert decide(stored, fingerprint(words(selectivity=14.0))).scope is Scope.FEATURES


def test_another_machine_is_like_other_data_and_both_a_size_and_a_cost_ask_for_all(stored):
    """A row may cost another amount; on other slots as well, step 1 alone can't tell."""
    on = engine(preset=Preset.SHARED)
    assert decide(stored, fingerprint(words(), on)).scope is Scope.FEATURES
    assert decide(stored, fingerprint(words(selectivity=14.0), engine(slots=12))).scope is Scope.ALL


def test_a_profile_without_a_fingerprint_asks_for_all_steps_and_says_so(stored):
    """It was stored by an older version."""
    document = documented(loop(words(), Stepwise()).run())
    del document["fingerprint"]
    decided = decide(stored_profile(document), fingerprint(words()))
    assert decided.scope is Scope.ALL
    assert "without a fingerprint" in decided.why


def test_without_stored_features_they_cannot_be_kept(stored):
    """Then all steps are needed."""
    bare = replace(stored, rounds=replace(stored.rounds, start=None))
    assert decide(bare, fingerprint(words(), engine(slots=12))).scope is Scope.ALL
    assert decide(bare, fingerprint(words())).scope is Scope.CONFIRM


def test_the_nearest_profile_is_the_one_that_asks_for_the_least(stored):
    """An application that was rolled back finds its own profile again; of equals the first counts."""
    other = replace(stored, run="other", fingerprint=fingerprint(words(split_ms=0.05)))
    twin = replace(stored, run="twin")
    assert nearest([other, stored, twin], fingerprint(words())).warm.run == "stored"
    assert nearest([other, stored], fingerprint(words(split_ms=0.05))).warm.run == "other"
    smaller = replace(stored, run="smaller", fingerprint=fingerprint(words(), engine(slots=12)))
    assert nearest([stored, smaller], fingerprint(words(), engine(slots=12))).warm.run == "smaller"


def test_the_verdict_is_about_the_profile_that_was_asked_for():
    """The rounds start from a nearer one and confirm that; its tasks are other ones, so the asked-for ones are not."""
    new = words(split_ms=0.3)
    asked = stored_profile(documented(loop(words(), Stepwise()).run(), "asked"))
    near = stored_profile(documented(loop(new, Stepwise()).run(), "near", taken=fingerprint(new)))
    assert asked.configuration != near.configuration
    case = RecalibrateCase(decide(asked, fingerprint(new)), nearest([asked, near], fingerprint(new)))
    profile = loop(new, WarmStart(near.rounds, case.decided.scope), engine(2)).run()
    assert verdict(near, profile) is RecalibrationVerdict.CONFIRMED
    assert verdict(asked, profile, near) is RecalibrationVerdict.CHANGED
    answer = recalibrate_answer(case, profile)
    assert (answer.verdict, answer.again.standing) == ("changed", "as good as stored")
    assert answer.conclusion.startswith(f"{near.configuration} instead of {asked.configuration}, ")
    assert answer.conclusion.endswith(f"; that of profile near, {near.configuration}, is as good as stored")


def test_the_same_tasks_in_a_nearer_profile_confirm_those_that_were_asked_for(stored):
    """What counts are the tasks, not whose they are; what was measured again is told apart."""
    new = words(split_ms=0.021)
    near = replace(stored, run="near", fingerprint=fingerprint(new))
    case = RecalibrateCase(decide(stored, fingerprint(new)), nearest([stored, near], fingerprint(new)))
    profile = loop(new, WarmStart(near.rounds, case.decided.scope), engine(2)).run()
    answer = recalibrate_answer(case, profile)
    assert answer.verdict == "confirmed"
    assert answer.conclusion == (
        f"{stored.configuration} is still the best that was found, in 1 round; "
        f"that of profile near, {near.configuration}, is as good as stored"
    )


def test_a_document_without_rounds_is_refused():
    """A result whose records are gone can't be compared with."""
    document = documented(loop(words(), Stepwise()).run())
    document["rounds"] = [
        {key: value for key, value in entry.items() if key != "record"} for entry in document["rounds"]
    ]
    with pytest.raises(UsageError, match="no rounds"):
        stored_profile(document)


# The warm start.


@pytest.mark.parametrize(
    "workload", ["linear", "diamond", "star", "word-count", "synthetic-word-count", "twitter-sentiment"]
)
def test_an_unchanged_profile_is_confirmed_in_two_rounds_at_the_most(workload):
    """By other windows than those that were stored."""
    topology = load_topology(workload)

    def on(seed):
        return SimulatedEngine(SimulatedPlatform(nodes=6, cores_per_node=2), Preset.QUIET, seed=seed)

    before = stored_profile(documented(loop(topology, Stepwise(), on(1)).run()))
    profile = loop(topology, WarmStart(before.rounds, Scope.CONFIRM), on(2)).run()
    assert len(profile.rounds) <= 2
    assert set(steps(profile)) == {Step.STORED}
    assert verdict(before, profile) is RecalibrationVerdict.CONFIRMED


def test_a_confirmation_measures_no_blocks(stored):
    """There is nothing that the answer could be compared with but itself."""
    profile = loop(words(), WarmStart(stored.rounds, Scope.CONFIRM), engine(2), blocks=6).run()
    assert profile.confirmations == ()


def test_an_answer_that_became_slower_is_noticed_and_searched_for_anew(stored):
    """Nothing seems to have changed, and still a row costs twice as much: two looks, then step 1 and what follows."""
    slower = words(split_ms=0.3)
    profile = loop(slower, WarmStart(stored.rounds, Scope.CONFIRM), engine(2)).run()
    assert steps(profile)[:3] == [Step.STORED, Step.STORED, Step.FEATURES]
    assert "slower than stored" in profile.rounds[1].decision.why
    assert profile.answer.configuration != stored.configuration
    assert verdict(stored, profile) is RecalibrationVerdict.CHANGED
    cold = loop(slower, Stepwise(), engine(2)).run()
    assert profile.answer.throughput_per_s > 0.95 * cold.answer.throughput_per_s


def test_a_violated_constraint_is_as_bad_as_a_lower_throughput(stored):
    """The stored answer kept it."""
    parameters = Parameters(latency_ms=0.001)
    again = loop(words(), WarmStart(stored.rounds, Scope.CONFIRM), engine(2)).run().rounds[0]
    assert look_at(stored.rounds, again, [again], Parameters()).standing is Standing.AS_GOOD
    kept = replace(stored.rounds.answer, measurement=replace(stored.rounds.answer.measurement, latency_ms=_NOTHING))
    look = look_at(replace(stored.rounds, answer=kept), again, [again], parameters)
    assert look.standing is Standing.SLOWER
    assert "latency constraint of 0.001 ms is violated" in look.why


def test_slots_halved_repeat_steps_two_and_three_only(stored):
    """Step 1 is not measured again, and the answer fits and is as good as a cold profile's."""
    for slots in (12, 6):
        on = engine(2, slots=slots)
        profile = loop(words(), WarmStart(stored.rounds, Scope.PLATFORM, only_fewer_slots=True), on).run()
        assert Step.FEATURES not in steps(profile)
        assert profile.answer.configuration.slots <= slots
        cold = loop(words(), Stepwise(), engine(2, slots=slots)).run()
        assert len(profile.rounds) < len(cold.rounds)
        answers = [engine(slots=slots).truth(words(), each.answer.configuration) for each in (profile, cold)]
        assert answers[0].throughput_per_s >= 0.95 * answers[1].throughput_per_s


def test_the_best_of_more_slots_is_the_best_of_fewer_if_it_is_as_good(stored):
    """One round is enough then; where other things changed too, the search goes on."""
    slots = stored.configuration.slots
    alone = WarmStart(stored.rounds, Scope.PLATFORM, only_fewer_slots=True)
    assert len(loop(words(), alone, engine(2, slots=slots)).run().rounds) == 1
    with_others = WarmStart(stored.rounds, Scope.PLATFORM)
    assert loop(words(), with_others, engine(2, slots=slots)).run().rounds[0].decision.why.endswith("to go on from")


def test_longer_messages_repeat_step_one_and_what_follows():
    """The features moved: the answer is another one, found without the stored one in the way."""
    before = stored_profile(documented(loop(WAITS, Stepwise()).run()))
    longer = replace_operator(WAITS, "b", cost=Cost(cpu_ms=0.01, wait_ms=8), selectivity=3.0)
    profile = loop(longer, WarmStart(before.rounds, Scope.FEATURES), engine(2)).run()
    assert steps(profile)[0] is Step.FEATURES
    assert len(profile.rounds) > 1
    assert Step.STORED not in steps(profile)
    assert "c" in {each.name for each in movements(before, profile)}
    assert verdict(before, profile) is RecalibrationVerdict.CHANGED


def test_other_data_that_cost_the_same_repeat_step_one_only(stored):
    """No feature moved: the stored answer is confirmed by one round more."""
    profile = loop(words(), WarmStart(stored.rounds, Scope.FEATURES), engine(2)).run()
    assert steps(profile) == [Step.FEATURES, Step.STORED]
    assert profile.rounds[1].comparison is None, "it is held against what was stored, not against one task each"
    assert movements(stored, profile) == ()
    assert verdict(stored, profile) is RecalibrationVerdict.CONFIRMED


def test_one_task_each_that_was_the_best_is_confirmed_by_step_one_itself():
    """Its round is that of the stored answer."""
    topology = Topology.chain("one", Source("in", max_tasks=1), Operator("a", cost=Cost(cpu_ms=1), parallel=False))
    before = stored_profile(documented(loop(topology, Stepwise()).run(), taken=fingerprint(topology)))
    profile = loop(topology, WarmStart(before.rounds, Scope.FEATURES), engine(2)).run()
    assert steps(profile) == [Step.FEATURES]
    assert stored_look(before, profile).standing is Standing.AS_GOOD


def test_all_steps_are_the_whole_method(stored):
    """Round for round as a new profile."""
    changed = words(split_ms=0.05)
    whole = loop(changed, WarmStart(stored.rounds, Scope.ALL), engine(2)).run()
    assert whole.rounds == loop(changed, Stepwise(), engine(2)).run().rounds


@pytest.mark.parametrize("scope", list(Scope))
def test_a_replay_gives_the_same_moves(stored, scope):
    """The policy is a function of what is stored and the history; so an interrupted one can be gone on with."""
    slots = 10 if scope is Scope.PLATFORM else SLOTS
    made = loop(words(split_ms=0.03), WarmStart(stored.rounds, scope), engine(2, slots=slots))
    profile = made.run()
    moves = replayed(WarmStart(stored.rounds, scope), made.context(), profile.rounds)
    assert [move for move in moves if isinstance(move, Decision)] == [seen.decision for seen in profile.rounds]
    started = []
    again = loop(
        words(split_ms=0.03),
        WarmStart(stored.rounds, scope),
        engine(2, slots=slots),
        report=lambda event: started.append(event.number) if isinstance(event, TrialStarted) else None,
    ).run(history=profile.rounds[:1])
    assert 1 not in started
    assert again.rounds[0].measurement == profile.rounds[0].measurement


def test_too_much_noise_is_inconclusive(stored):
    """What could only see a change by a factor of three says nothing of the answer."""
    windows = [1.0, 30.0, 0.1, 12.0, 0.3, 40.0, 0.05, 9.0, 0.2, 25.0]
    answer = stored.rounds.answer
    seen = [
        replace(each, throughput_per_s=100 * value)
        for each, value in zip(answer.measurement.windows, windows, strict=True)
    ]
    noisy = replace(answer, measurement=replace(answer.measurement, windows=tuple(seen)))
    assert look_at(stored.rounds, noisy, [noisy], Parameters()).standing is Standing.UNCLEAR


def test_a_budget_that_ends_it_is_inconclusive(stored):
    """The answer so far is not the answer."""
    clock = iter(range(1000))
    profile = loop(
        words(split_ms=0.3),
        WarmStart(stored.rounds, Scope.ALL),
        engine(2),
        budget_s=1.0,
        clock=lambda: float(next(clock)),
    ).run()
    assert not profile.complete
    assert verdict(stored, profile) is RecalibrationVerdict.INCONCLUSIVE


# What is kept.


def test_a_confirmed_profile_can_be_recalibrated_again(stored):
    """It carries the features of the one before it, and how many rounds that took."""
    decided = decide(stored, fingerprint(words()))
    profile = loop(words(), WarmStart(stored.rounds, decided.scope), engine(2)).run()
    document = documented(profile, "second", recalibration=document_of(origin_of(decided, profile)))
    second = stored_profile(document)
    assert second.rounds.start == stored.rounds.start
    assert second.full_rounds == stored.full_rounds == len(stored.rounds.rounds)
    assert decide(second, fingerprint(words(), engine(slots=12))).scope is Scope.PLATFORM


def test_speed_indices_are_brought_to_the_present_measure(stored):
    """They are relative to the loop of their own run."""
    slow = replace(stored, fingerprint=replace(stored.fingerprint, loop_s=0.002))
    index = slow.at_speed(0.001).rounds.answer.measurement.windows[0].speed_index
    assert index == pytest.approx(stored.rounds.answer.measurement.windows[0].speed_index / 2)
    assert slow.at_speed(None) is slow


# Features that move.


def replace_operator(topology, name, **changes):
    operators = [replace(each, **changes) if each.name == name else each for each in topology.operators]
    return Topology(topology.name, topology.sources, operators)


def start_of(topology, seed, preset=Preset.QUIET):
    profile = loop(topology, Stepwise(), engine(seed, preset=preset)).run()
    return next(outcome.measurement for outcome in profile.rounds if outcome.trial.action is Action.START)


def test_a_feature_that_moved_is_named_with_its_figures():
    """The operator that waits longer, and no other."""
    slower = replace_operator(WAITS, "c", cost=Cost(cpu_ms=0.01, wait_ms=6))
    moved = moved_features(WAITS, start_of(WAITS, 1), start_of(slower, 2), Parameters())
    assert {each.name for each in moved} == {"c"}
    assert moved[0].effect == pytest.approx(0.5, abs=0.05)
    assert moved[0].p < 0.001


@pytest.mark.parametrize("preset", [Preset.QUIET, Preset.SHARED])
def test_noise_does_not_move_features(preset):
    """Two measurements of the same job."""
    starts = [start_of(WAITS, seed, preset) for seed in (1, 2, 3)]
    assert [moved_features(WAITS, starts[0], other, Parameters()) for other in starts[1:]] == [(), ()]


def test_a_small_change_and_an_operator_that_hardly_works_do_not_matter():
    """No other number of tasks follows from them."""
    little = replace_operator(WAITS, "c", cost=Cost(cpu_ms=0.01, wait_ms=4.2))
    assert moved_features(WAITS, start_of(WAITS, 1), start_of(little, 2), Parameters()) == ()
    idle = Topology.chain(
        "idle", Source("in"), Operator("a", cost=Cost(wait_ms=8)), Operator("b", cost=Cost(wait_ms=0.05))
    )
    busier = replace_operator(idle, "b", cost=Cost(wait_ms=0.1))
    assert moved_features(idle, start_of(idle, 1), start_of(busier, 2), Parameters()) == ()
