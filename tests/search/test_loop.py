"""The profile loop on the simulated engine: it finds, tells, replays, resumes and ends in time."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.errors import ProfileError, UsageError
from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.events import BlockStarted, RoundDecided, RoundMeasured, SearchEnded, TrialStarted, WindowSeen
from profiler.experiment.rounds import Action, Decision, Step
from profiler.experiment.window_plan import WindowPlan
from profiler.job.loading import load_topology
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.search.choice import answer_of
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document, rounds_of
from profiler.questions.search.loop import FEWEST_BLOCKS, Loop, TimeLimits
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.policies.policy import Parameters, next_trial, replayed
from profiler.questions.search.readings.evidence import screened
from profiler.questions.search.validity import where_it_holds
from profiler.statistics.doubt import Doubt
from profiler.statistics.result import Verdict
from tests.scenarios import FAST, SLOW, WAITS, outcome


def engine(slots=15, *, seed=1, preset=Preset.QUIET, nodes=1, cores=8):
    return SimulatedEngine(SimulatedPlatform(nodes=nodes, cores_per_node=cores, slots=slots), preset, seed=seed)


def loop(topology=WAITS, *, on=None, policy="stepwise", blocks=0, **more):
    return Loop(on or engine(), topology, POLICIES[policy](), design=WindowPlan(blocks=blocks), **more)


def test_it_solves_the_tie_that_stops_single_additions():
    """Waits of 2, 8, 4 ms and 14 slots for them end at (2,8,4), about 1000 rows/s."""
    profile = loop().run()
    assert profile.answer.configuration.tasks == {"in": 1, "a": 2, "b": 8, "c": 4}
    assert profile.answer.throughput_per_s == pytest.approx(1000, rel=0.05)
    assert profile.gain > 6


def test_every_round_carries_why():
    """Action, reference, test, decision and its reason are there for every round but the first's comparison."""
    profile = loop(load_topology("word-count"), on=engine(24, nodes=3, cores=2)).run()
    assert [seen.number for seen in profile.rounds] == list(range(1, len(profile.rounds) + 1))
    for seen in profile.rounds:
        assert seen.decision is not None
        assert seen.decision.why
    for seen in profile.rounds[1:]:
        assert seen.comparison is not None
        assert seen.trial.against is not None
        assert seen.comparison.detectable_effect > 0


@pytest.mark.parametrize("policy", ["stepwise", "threshold", "ds2"])
def test_a_round_tells_one_figure_against_one_other_round(policy):
    """What stands in its row is what the decision is about: the best round so far."""
    profile = loop(load_topology("word-count"), on=engine(24, nodes=3, cores=2), policy=policy).run()
    best, told = 1, []
    for seen in profile.rounds[1:]:
        assert seen.trial.against == best
        figures = re.findall(r"[0-9.]+%", re.sub(r"\(.*\)", "", seen.decision.why))
        assert figures in ([], [f"{abs(seen.comparison.effect):.1%}"])
        assert seen.measurement.latency_ms is not None or "latency" not in seen.decision.why
        told += figures
        best = seen.decision.incumbent
    assert bool(told) == (policy == "stepwise"), "the others decide by the means alone"
    assert policy == "ds2" or any(seen.trial.against < seen.number - 1 for seen in profile.rounds[1:])


def test_rounds_of_an_older_version_are_compared_with_the_round_that_the_decision_is_about():
    """It compared a walk's round with the one before, and the decision with the best so far."""
    job, on = load_topology("word-count"), engine(24, nodes=3, cores=2)
    profile = loop(job, on=on).run()
    (other,) = [seen for seen in profile.rounds if seen.trial.against not in (None, seen.number - 1)][:1]
    before = profile.rounds[other.number - 2]
    comparison = screened(before.measurement, other.measurement, profile.rounds[: other.number], Parameters())
    older = replace(other, trial=replace(other.trial, against=before.number), comparison=comparison)
    assert comparison.effect != other.comparison.effect
    history = [older if seen is other else seen for seen in profile.rounds]
    assert loop(job, on=on).run(history).rounds == profile.rounds


def test_the_answer_is_the_incumbent_of_the_last_decision():
    """What is reported is what the policy stands by."""
    profile = loop().run()
    assert profile.rounds[-1].decision.incumbent == profile.answer.number


@pytest.mark.long
@pytest.mark.parametrize("policy", sorted(set(POLICIES) - {"exhaustive"}))
@pytest.mark.parametrize("workload", ["linear", "diamond", "star", "word-count"])
def test_a_replay_gives_the_same_moves(policy, workload):
    """A policy is a function of the history: fed with its rounds it asks for the same and decides the same."""
    on = engine(24, nodes=3, cores=2)
    run = loop(load_topology(workload), on=on, policy=policy)
    profile = run.run()
    moves = list(replayed(POLICIES[policy](), run.context(), profile.rounds))
    assert [move for move in moves if isinstance(move, Decision)] == [seen.decision for seen in profile.rounds]
    assert next_trial(POLICIES[policy](), run.context(), profile.rounds) is None
    assert profile.answer.configuration.slots <= 24


def test_a_json_file_replays_to_the_same_decisions():
    """What `--json` writes holds all that the policy saw."""
    run = loop(load_topology("star"), on=engine(24, nodes=3, cores=2))
    profile = run.run()
    text = json.dumps(
        profile_document(profile_of(profile, run="r", engine="simulated", environment={})), allow_nan=False
    )
    rounds = rounds_of(json.loads(text))
    assert rounds == list(profile.rounds)
    decisions = [move for move in replayed(POLICIES["stepwise"](), run.context(), rounds) if isinstance(move, Decision)]
    assert decisions == [seen.decision for seen in profile.rounds]


def test_a_history_of_another_topology_is_refused():
    """Rounds that the policy would not have asked for end the replay with a clear error."""
    profile = loop().run()
    other = loop(load_topology("linear"))
    with pytest.raises(ProfileError, match="Round 1 measured"):
        other.run(history=profile.rounds)
    with pytest.raises(ProfileError, match="Round 1 measured"):
        list(replayed(POLICIES["stepwise"](), other.context(), profile.rounds))


def test_a_resumed_run_measures_only_what_is_missing():
    """Rounds of an interrupted run are taken as they were; the rest is measured."""
    whole = loop(load_topology("star"), on=engine(24, nodes=3, cores=2)).run()
    assert len(whole.rounds) > 3
    started = []
    resumed = loop(
        load_topology("star"),
        on=engine(24, nodes=3, cores=2),
        report=lambda event: started.append(event.number) if isinstance(event, TrialStarted) else None,
    ).run(history=whole.rounds[:2])
    assert started[0] == 3
    assert [seen.measurement for seen in resumed.rounds[:2]] == [seen.measurement for seen in whole.rounds[:2]]


class ColdEngine(SimulatedEngine):
    """An engine that needs twelve seconds under load to come up to its speed."""

    @property
    def platform(self):
        return replace(super().platform, cold_s=12.0)


def test_a_run_that_was_interrupted_in_its_confirmation_does_not_confirm_with_a_cold_engine():
    """All rounds are of an earlier session, so nothing has loaded this one; in one piece, the first round does."""
    cluster = SimulatedPlatform(nodes=1, cores_per_node=8, slots=15)
    blocks: dict[str, list[str | None]] = {"whole": [], "resumed": []}

    def report(to):
        return lambda event: blocks[to].append(event.name) if isinstance(event, BlockStarted) else None

    whole = loop(on=ColdEngine(cluster), blocks=2, report=report("whole")).run()
    loop(on=ColdEngine(cluster), blocks=2, report=report("resumed")).run(history=whole.rounds)
    assert blocks["resumed"] == ["warm-up", *blocks["whole"]]
    assert "warm-up" not in blocks["whole"]


def test_events_tell_a_round_when_it_happens():
    """A round is started, measured, decided; the search ends before anything is confirmed."""
    events = []
    loop(report=events.append, blocks=2).run()
    kinds = [type(event) for event in events]
    assert kinds.index(TrialStarted) < kinds.index(RoundMeasured) < kinds.index(RoundDecided) < kinds.index(SearchEnded)


def test_confirmation_compares_with_the_start_in_blocks():
    """The claimed gain is tested on interleaved blocks, with its interval."""
    profile = loop(blocks=6).run()
    confirmed = profile.against_initial
    assert confirmed.test == "blocks"
    assert confirmed.verdict is Verdict.INCREASED
    assert confirmed.low < confirmed.effect < confirmed.high


class Roomy(SimulatedEngine):
    """An engine that may have several deployments at once, and tells how many it had."""

    now = most = 0

    @property
    def platform(self):
        return replace(super().platform, side_by_side=True)

    def deploy(self, *arguments, **more):
        made = super().deploy(*arguments, **more)
        close = made.close

        def closed():
            self.now -= 1
            close()

        made.close = closed
        self.now += 1
        self.most = max(self.most, self.now)
        return made


@pytest.mark.parametrize(("slots", "at_once"), [(19, 2), (18, 1)])
def test_the_arms_of_a_confirmation_stand_where_the_slots_hold_them(slots, at_once):
    """The answer has 15 tasks and the start has four; where there is one slot less each block is a deployment."""
    roomy = Roomy(SimulatedPlatform(nodes=1, cores_per_node=8, slots=slots), Preset.QUIET, seed=1)
    profile = loop(on=roomy, blocks=6, slots=15).run()
    assert profile.answer.configuration.slots == 15
    assert profile.against_initial.verdict is Verdict.INCREASED
    assert roomy.most == at_once


def test_todays_job_is_measured_first_and_fused():
    """Where today's tasks are stated, the gain is reported against the job as it runs today."""
    topology = Topology.chain(
        "today",
        Source("in", tasks=2),
        Operator("a", cost=Cost(cpu_ms=0.01, wait_ms=2), tasks=2),
        Operator("b", cost=Cost(cpu_ms=0.01, wait_ms=8), tasks=2),
    )
    profile = loop(topology).run()
    assert profile.rounds[0].trial.step is Step.TODAY
    assert profile.rounds[0].trial.fused
    assert profile.initial is profile.rounds[0]
    assert profile.gain > 2


def test_todays_job_stays_where_nothing_beats_it():
    """A job that is faster as written than with extra shuffles is told to stay as it is."""
    cheap = Cost(cpu_ms=0.0005)
    topology = Topology.chain(
        "fused",
        Source("in", tasks=2, cost=Cost(cpu_ms=0.02), pull_per_s=1e6),
        *(Operator(f"o{index}", cost=cheap, tasks=2) for index in range(4)),
    )
    platform = SimulatedPlatform(nodes=1, cores_per_node=2, slots=12, hop_cpu_ms=0.05)
    profile = loop(topology, on=SimulatedEngine(platform, seed=3)).run()
    assert profile.answer is profile.initial
    assert any("keep it" in note for note in profile.notes)


@pytest.mark.parametrize(
    ("today_ms", "answer_ms", "stays"),
    [(FAST, FAST, True), (SLOW, SLOW, True), (FAST, SLOW, True), (SLOW, FAST, False)],
)
def test_todays_job_does_not_stay_for_being_faster_and_too_late(today_ms, answer_ms, stays):
    """An answer that keeps the latency constraint is not given up for a job that does not."""
    run, tasks = loop(), dict.fromkeys(WAITS.names, 1)
    today = outcome(tasks, [1000.0, 1001.0] * 5, latency=today_ms)
    today = replace(today, trial=replace(today.trial, step=Step.TODAY, fused=True))
    found = outcome(tasks, [500.0, 501.0] * 5, number=2, latency=answer_ms)
    rounds = [today, found.decided(Decision(accepted=True, why="", incumbent=2))]
    answer, notes = answer_of(rounds, run.context())
    assert (answer is today) == stays
    assert any("keep it" in note for note in notes) == stays


def test_a_latency_that_no_configuration_keeps_is_throttled():
    """The offered rate is lowered until the constraint is met, and the answer says so."""
    run = loop(parameters=Parameters(latency_ms=40))
    profile = run.run()
    actions = [seen.trial.action for seen in profile.rounds]
    assert Action.THROTTLE in actions
    assert profile.answer.configuration.offered_per_s is not None
    assert profile.answer.meets(LatencyConstraint(40, 0.95))


def test_a_proposal_far_ahead_is_throttled_before_other_tasks_are_tried():
    """Twenty-five waiting tasks that miss the latency by a little beat all that a walk through fewer tasks finds."""
    topology = Topology.chain("asking", Source("in"), Operator("ask", cost=Cost(cpu_ms=0.1, wait_ms=10)))
    noisy = SimulatedEngine(SimulatedPlatform(nodes=1, cores_per_node=2, slots=26), Preset.SHARED, seed=1)
    profile = loop(topology, on=noisy, parameters=Parameters(latency_ms=200)).run()
    actions = [seen.trial.action for seen in profile.rounds]
    assert actions[:3] == [Action.START, Action.SLOTS, Action.THROTTLE]
    assert Action.SINKS not in actions
    assert profile.answer.configuration["ask"] == 25
    assert profile.answer.meets(LatencyConstraint(200, 0.95))


def test_the_budget_ends_the_search_with_the_best_so_far():
    """No round starts after the budget; what was found is the answer, marked incomplete."""
    ticks = iter(range(0, 10_000, 30))
    profile = loop(
        load_topology("word-count"), on=engine(24, nodes=3, cores=2), budget_s=60, clock=lambda: float(next(ticks))
    ).run()
    assert not profile.complete
    assert len(profile.rounds) < 5


def test_a_search_that_used_up_its_own_time_is_confirmed_all_the_same():
    """The limit of the search is none of what follows it."""
    ticks = iter(range(0, 10_000, 30))
    profile = loop(
        load_topology("word-count"),
        on=engine(24, nodes=3, cores=2),
        limits=TimeLimits(search_s=240),
        blocks=4,
        clock=lambda: float(next(ticks)),
    ).run()
    assert not profile.complete
    assert len(profile.rounds) < 5
    assert profile.confirmations


@pytest.mark.parametrize(("room_for", "each"), [(None, 6), (100.0, 6), (5.5, 5), (0.0, FEWEST_BLOCKS)])
def test_a_confirmation_has_the_blocks_that_fit(room_for, each):
    """How many is chosen before the first one is seen; three of each arm are measured in any case."""
    turn_s = 2 * 4 * 3.0

    def confirmed(limits):
        """Tell when the search ended and how many blocks were planned; only windows take time."""
        now_s, ended_s, planned = [0.0], [], []

        def report(event):
            match event:
                case WindowSeen():
                    now_s[0] += 3.0
                case SearchEnded():
                    ended_s.append(now_s[0])
                case BlockStarted():
                    planned.append(event.planned)

        profile = loop(blocks=6, limits=limits, report=report, clock=lambda: now_s[0]).run()
        assert len(profile.confirmations) == 1
        return ended_s[0], planned[0]

    ended_s, planned = confirmed(TimeLimits())
    assert planned == 2 * 6
    if room_for is not None:
        assert confirmed(TimeLimits(confirmed_s=ended_s + room_for * turn_s)) == (ended_s, 2 * each)


class Tiring(SimulatedEngine):
    """An engine on which more tasks gain while a search goes on, and nothing in blocks: the start was measured cold."""

    deployed = 0

    def deploy(self, topology, configuration, detail, **more):
        self.deployed += 1
        deployment = super().deploy(topology, configuration, detail, **more)
        if self.deployed == 1:
            observe = deployment.observe

            def slow(rate_per_s, windows):
                for seen in observe(rate_per_s, windows):
                    yield replace(seen, throughput_per_s=0.7 * seen.throughput_per_s)

            deployment.observe = slow
        return deployment


def test_more_slots_without_a_gain_are_not_the_answer():
    """The first round was slow by chance and misled the search; blocks show that more tasks are not faster."""
    held = Topology.chain(
        "held",
        Source("in"),
        Operator("wait", cost=Cost(wait_ms=10), max_tasks=1),
        Operator("work", cost=Cost(cpu_ms=1)),
    )
    profile = loop(held, on=Tiring(SimulatedPlatform(cores_per_node=2, slots=8), seed=1), blocks=6).run()
    assert any(seen.decision.accepted for seen in profile.rounds[1:]), "the search was misled"
    assert profile.answer is profile.initial
    assert profile.confirmations == ()
    assert any("was not faster than (1,1,1)" in note for note in profile.notes)


def test_too_few_slots_say_how_many_are_needed():
    """Every task needs a slot: fewer than one each cannot start."""
    with pytest.raises(UsageError, match="at least 4 slots"):
        loop(slots=3).run()


def test_the_users_slots_bound_the_search():
    """`--slots` is a limit even where the platform has more."""
    profile = loop(on=engine(40), slots=9).run()
    assert profile.answer.configuration.slots <= 9
    assert all(seen.configuration.slots <= 9 for seen in profile.rounds)


def test_non_parallel_operators_keep_one_task():
    """`parallel=False` and `max_tasks` are never exceeded."""
    topology = Topology.chain(
        "bounded",
        Source("in"),
        Operator("single", cost=Cost(wait_ms=2), parallel=False),
        Operator("few", cost=Cost(wait_ms=8), max_tasks=3),
    )
    profile = loop(topology).run()
    for seen in profile.rounds:
        assert seen.configuration["single"] == 1
        assert seen.configuration["few"] <= 3
    assert profile.answer.configuration["few"] == 3


def test_dominated_operators_are_not_scaled():
    """Behind a Top N on a timer the input does not grow, so the tasks need not."""
    topology = Topology.chain(
        "ranked",
        Source("in"),
        Operator("parse", cost=Cost(wait_ms=4)),
        Operator("rank", cost=Cost(cpu_ms=0.02), output="logic", emits_per_s=5),
        Operator("store", cost=Cost(wait_ms=8)),
    )
    profile = loop(topology).run()
    assert profile.answer.configuration["store"] == 1
    assert profile.answer.configuration["parse"] > 5


@pytest.mark.parametrize("seed", range(6))
def test_it_meets_the_latency_whenever_a_feasible_round_was_seen(seed):
    """On a noisy machine too, the answer keeps the constraint, as some round did."""
    limit = Parameters(latency_ms=120)
    profile = loop(on=engine(15, seed=seed, preset=Preset.SHARED), parameters=limit).run()
    assert any(seen.meets(LatencyConstraint(120, 0.95)) for seen in profile.rounds), "else the seed says nothing"
    assert profile.answer.meets(LatencyConstraint(120, 0.95))


class DeadBranch(SimulatedEngine):
    """An engine on which no row reaches the operator 'broken'."""

    def deploy(self, topology, configuration, detail, **more):
        deployment = super().deploy(topology, configuration, detail, **more)
        observe = deployment.observe

        def without_rows(rate_per_s, windows):
            for seen in observe(rate_per_s, windows):
                broken = seen.operators["broken"]
                rows = None if broken.rows_in is None else 0.0
                idle = replace(broken, rows_in=rows, rows_out=rows, busy_s=0.0, cpu_s=0.0, busiest_task_s=0.0)
                yield replace(seen, operators={**seen.operators, "broken": idle})

        deployment.observe = without_rows
        return deployment


@pytest.mark.parametrize("policy", sorted(set(POLICIES) - {"exhaustive"}))
def test_a_branch_that_no_row_reaches_is_told_and_keeps_its_fewest_tasks(policy):
    """Rows that are broken may not be in the data; the rest of the job is profiled all the same."""
    topology = Topology(
        "branched",
        [Source("in")],
        [
            Operator("ask", inputs=["in"], cost=Cost(wait_ms=4)),
            Operator("broken", inputs=["in"], cost=Cost(cpu_ms=0.01)),
            Operator("store", inputs=["ask"], cost=Cost(wait_ms=8)),
        ],
    )
    on = DeadBranch(SimulatedPlatform(nodes=3, cores_per_node=4, slots=15), seed=1)
    profile = loop(topology, on=on, policy=policy).run()
    document = profile_document(profile_of(profile, run="r", engine="simulated", environment={}))
    assert profile.answer.configuration["broken"] == 1
    assert profile.gain > 1
    told = "no row reached 'broken': it keeps its fewest tasks; give the job data that reaches it"
    assert told in document["warnings"]
    json.dumps(document, allow_nan=False)


def test_a_hot_key_is_named():
    """Half of the rows on one key: the answer says that it, and not the number of tasks, is the limit."""
    topology = Topology.chain(
        "hot",
        Source("in"),
        Operator("count", cost=Cost(wait_ms=4), stateful=True, key="word", hot_key_share=0.5),
    )
    profile = loop(topology, on=engine(20)).run()
    assert "hot key of 'count'" in where_it_holds(profile)
    assert Doubt.HOT_KEY in profile.answer.measurement.doubts
