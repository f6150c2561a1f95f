"""The bench of answers without Spark: what its rows say of what is known, and that it goes on where it stopped."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, replace

import pytest

from profiler.engines.simulated import Preset, SimulatedEngine, SimulatedPlatform
from profiler.errors import ProfileError
from profiler.experiment.disturbance import Disturbance
from scripts.benches import answer, answer_pieces
from scripts.benches.answer_jobs import JOBS
from scripts.benches.answer_pieces import Profiled, lacks_too_much
from scripts.benches.answer_rows import Seen, levels, listed, summary_rows, weighting_rows
from tests.scenarios import window

WORDS = next(job for job in JOBS if job.name == "SQL with state")
ASKS = next(job for job in JOBS if job.name == "waits 2 ms")
ONE = Profiled(
    at="2026-01-01T00:00:00+00:00",
    load=1.0,
    tasks=(1, 1, 1, 2),
    capacity_per_s=1000.0,
    announced_per_s=900.0,
    fails_at_per_s=950.0,
    latency_ms=100.0,
    set_up_s=20.0,
    answer_s=200.0,
    whole_s=450.0,
    rounds=3,
    loop_s=0.01,
    speed=1.0,
    elasticity=1.0,
)


def swept(*blocks):
    return {"blocks": [{"tasks": tasks, "at_usual_per_s": per_s} for tasks, per_s in blocks], "left_out": []}


def kept(*, holds, higher_holds, speed=1.0, disturbed=0):
    told = {"latency_ms": 90.0, "came_through_per_s": 900.0, "batches": 10, "relative_speed": speed}
    told["disturbed"] = disturbed
    return {
        "load": 1.0,
        "announced": {**told, "per_s": 900.0, "passed": holds},
        "higher": {**told, "per_s": 900.0 / 0.85, "passed": higher_holds},
    }


def ours(rows):
    return {row["quantity"]: row["ours"] for row in rows}


def test_a_rate_is_compared_at_the_same_speed_of_the_machine():
    """A profile on a machine that was a fifth slower announced a fifth less, and as much for what there was."""
    slow = replace(ONE, announced_per_s=720.0, speed=0.8)
    assert slow.per_s_at(ONE) == pytest.approx(900)
    assert replace(slow, elasticity=0.0).per_s_at(replace(ONE, elasticity=0.0)) == 720
    other_measure = replace(slow, loop_s=0.005, speed=0.4)
    assert other_measure.per_s_at(ONE) == pytest.approx(900), "speed 1 was twice as fast there"


def test_what_a_neighbour_takes_is_felt_like_a_slower_machine():
    """By a job that works; one that waits feels neither."""
    seen = replace(window(100.0), speed_index=0.9, disturbance=Disturbance(cores=2, other_cores=1.0))
    assert ONE.felt([seen]) == pytest.approx(0.45)
    assert replace(ONE, elasticity=0.0).felt([seen]) == 1


def test_turns_that_met_another_machine_do_not_change_the_order():
    """The second turn was half as fast; the third one has two configurations only."""
    one, two, late = (1, 1, 1, 1), (1, 1, 1, 2), (2, 1, 1, 2)
    found = levels([swept((one, 100), (two, 200)), swept((two, 100), (one, 50)), swept((two, 400), (late, 500))])
    assert found[two] / found[one] == pytest.approx(2)
    assert found[late] / found[two] == pytest.approx(1.25)
    assert levels([]) == {}


def test_the_best_rate_is_the_one_that_a_swept_configuration_holds():
    """A rate above it counts as all of it; slots are compared with the fewest that nearly reach the best."""
    turns = [swept(((1, 1, 1, 1), 700), ((1, 1, 1, 2), 980), ((1, 1, 1, 5), 1000))]
    profiled = {1: ONE, 2: replace(ONE, announced_per_s=1100.0, tasks=(1, 1, 1, 5))}
    seen = Seen(WORDS, profiled, {}, ONE, turns, {(1, 1, 1, 5): 1000.0})
    assert seen.parts == pytest.approx({1: 0.9, 2: 1.0})
    assert seen.slots == pytest.approx({1: 1.0, 2: 8 / 5})
    rows = {row["quantity"]: row for row in summary_rows([seen])}
    assert rows["announced rate of the best one, mean"]["ours"] == pytest.approx(0.95)
    assert rows["announced rate of the best one, worst"]["ours"] == pytest.approx(0.9)
    assert rows["slots of the fewest that reach 95% of the best, most"]["ours"] == pytest.approx(1.6)
    assert rows["SQL with state: throughput of its tasks of the best in the sweep"]["ours"] == pytest.approx(0.99)


def test_a_rate_is_right_where_it_holds_and_one_that_is_much_higher_does_not():
    """Too low is as wrong as too high; whether the machine was slower than in the profile is told beside it."""
    keeps = {
        1: kept(holds=True, higher_holds=False),
        2: kept(holds=True, higher_holds=True),
        3: kept(holds=False, higher_holds=False, speed=0.8),
        4: kept(holds=False, higher_holds=False, disturbed=6),
    }
    seen = Seen(WORDS, dict.fromkeys(keeps, ONE), keeps, ONE, [], {})
    found = ours(summary_rows([seen]))
    assert found["announced rates that hold for five minutes"] == pytest.approx(2 / 4)
    assert found["of these, where the machine was as it is announced for"] == 1
    assert found["announced rates that are 85% of the highest that holds"] == pytest.approx(3 / 4)
    assert found["announced rates that are right in both ways"] == pytest.approx(1 / 4)
    assert "announced 900: FAILS" in "\n".join(listed(seen))


def test_times_of_jobs_that_wait_have_another_goal():
    """All slots have to be tried there, and dozens of workers are started for each."""
    jobs = [Seen(job, {1: ONE}, {}, ONE, [], {}) for job in (WORDS, ASKS)]
    goals = {row["quantity"]: row["goal"] for row in summary_rows(jobs) if row["unit"] == "s"}
    assert goals["seconds to the rate of a job that works, most"] == 480
    assert goals["seconds to the rate of a job that waits, most"] == 600
    assert goals["seconds to the answer of a job that waits, most"] == 240


def test_short_batches_stand_beside_a_long_one():
    found = {"per_s": 3000.0, "batches": 10, "long": {"p95": 80.0}, "short": {"p95": 85.0}}
    (row,) = weighting_rows(found)
    assert row["ours"] == 85
    assert "80 ms at 3,000/s" in row["against"]
    assert list(weighting_rows(None)) == []


def test_a_queue_that_can_only_fail_is_not_waited_for():
    """A fifth of two tenths of the rows lacks: more than two in a hundred of all; a little may still come."""
    followed = replace(window(100.0), offered_per_s=101.0)
    behind = replace(window(80.0), offered_per_s=100.0)
    assert not lacks_too_much([followed] * 5)
    assert not lacks_too_much([behind])
    assert lacks_too_much([behind, behind])


@pytest.fixture
def simulated(monkeypatch, tmp_path):
    """Play the engine, with one job that is profiled once; tell how often one was opened."""
    monkeypatch.setattr("scripts.benches.saved.FOLDER", tmp_path)
    opened = []

    @contextmanager
    def opening(topology, settings, note):
        opened.append(topology.name)
        platform = SimulatedPlatform(nodes=1, cores_per_node=2, slots=12)
        yield SimulatedEngine(platform, Preset.QUIET, seed=len(opened), window_s=settings.window_s)

    monkeypatch.setattr(answer_pieces, "opened_engine", opening)
    monkeypatch.setattr(answer, "JOBS", (WORDS,))
    monkeypatch.setattr(answer, "PROFILES", 1)
    return opened


@pytest.mark.long
def test_a_call_does_what_it_has_time_for_and_the_next_one_goes_on(simulated, monkeypatch):
    """One piece at the least; then all of the others, and none of them twice."""
    monkeypatch.setenv("BENCH_MINUTES", "0")
    first = ours(answer.rows())
    assert len(simulated) == 1
    assert "announced rate of the best one, mean" not in first
    assert first["profiles that announce a rate"] == 1
    monkeypatch.setenv("BENCH_MINUTES", "60")
    found = ours(answer.rows())
    # The profile, its rate, two turns, what the fastest holds, long batches beside short ones.
    assert len(simulated) == 6
    assert found["p95 of short batches, weighed"] > 0
    assert found["announced rates that are right in both ways"] == 1
    assert 0.9 < found["announced rate of the best one, mean"] <= 1
    assert 0.9 < found["SQL with state: throughput of its tasks of the best in the sweep"] <= 1
    assert "holds" in answer.appendix()
    assert ours(answer.rows()) == found
    assert len(simulated) == 6


def test_something_can_be_said_of_every_job_early(simulated, monkeypatch):
    """All jobs once before any is profiled again; an answer that was not swept is, beside the best one so far."""
    answers = iter([(1, 8), (1, 10), (1, 8)])
    monkeypatch.setattr(answer, "JOBS", (replace(ASKS, sweep=[(1, 8)]), replace(WORDS, sweep=[(1, 1, 1, 2)])))
    monkeypatch.setattr(answer, "PROFILES", 3)
    monkeypatch.setattr(
        answer_pieces,
        "profile",
        lambda job: asdict(replace(ONE, tasks=next(answers) if job.name == ASKS.name else ONE.tasks)),
    )
    monkeypatch.setattr(answer_pieces, "keeps", lambda *_: kept(holds=True, higher_holds=False))
    turns = []

    def turn(job, _, tasks):
        turns.append((job.name, tasks))
        return swept(*((each, 100.0 * sum(each)) for each in tasks))

    monkeypatch.setattr(answer_pieces, "turn", turn)
    monkeypatch.setattr(answer_pieces, "held", lambda _, __, tasks: {"tasks": tasks, "per_s": 900.0})
    monkeypatch.setattr(answer_pieces, "weighting", lambda *_: {})
    series, order = answer.Series(), []
    for piece in series.missing():
        order.append(piece.key)
        piece.kept.get(piece.key, piece.measure)
    assert order[:7] == [
        "waits 2 ms, profile 1",
        "SQL with state, profile 1",
        "waits 2 ms, keeps 1",
        "SQL with state, keeps 1",
        "waits 2 ms, turn 1",
        "waits 2 ms, turn 2",
        "waits 2 ms, held (1, 8)",
    ]
    assert "SQL with state, weighting" in order
    assert [tasks for name, tasks in turns if name == ASKS.name][2:] == [[(1, 10), (1, 8)], [(1, 8), (1, 10)]]
    assert order.index("SQL with state, turn 1") < order.index("waits 2 ms, profile 2")
    assert "waits 2 ms, held (1, 10)" in order
    assert simulated == []


def test_some_jobs_can_be_measured_before_the_others(simulated, monkeypatch):
    """A name that no job has is told of: else nothing would be measured."""
    monkeypatch.setattr(answer, "JOBS", (WORDS, ASKS))
    monkeypatch.setenv("BENCH_JOBS", "waits 2 ms")
    assert next(answer.Series().missing()).key == "waits 2 ms, profile 1"
    monkeypatch.setenv("BENCH_JOBS", "waits 3 ms")
    with pytest.raises(SystemExit, match="there are SQL with state, waits 2 ms"):
        answer.Series()
    assert simulated == []


def test_what_fails_is_left_out_and_tried_again(simulated, monkeypatch):
    """With all that depends on it; other jobs go on."""
    tried = []

    def broken(job):
        tried.append(job.name)
        if job is WORDS:
            raise ProfileError("The broker is gone.", hint="Start it.")
        return asdict(replace(ONE, tasks=(1, 4), announced_per_s=0.0))

    def no_slots(*_):
        raise ProfileError("There are no slots.", hint="Give it some.")

    monkeypatch.setattr(answer, "JOBS", (WORDS, ASKS))
    monkeypatch.setattr(answer_pieces, "profile", broken)
    monkeypatch.setattr(answer_pieces, "turn", no_slots)
    monkeypatch.setenv("BENCH_MINUTES", "60")
    found = ours(answer.rows())
    assert tried[:2] == ["SQL with state", "waits 2 ms"]
    assert found["profiles that announce a rate"] == 0
    list(answer.rows())
    assert tried.count("SQL with state") == 2
    assert simulated == []
