"""What a prune deletes and what it never does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from profiler.history.memory import MemoryStore
from profiler.history.pruning import Unwanted, carry_out, pruning
from tests.history.histories import NOON, a_baseline, a_block, a_gate_run, a_result, a_run


@pytest.fixture
def store():
    """Three profiles, two gates, and two baselines: of the older gate, and of one that was never kept."""
    filled = MemoryStore()
    for number in range(3):
        filled.begin_run(a_run(f"run-{number}", minutes=number))
        filled.save_result(f"run-{number}", a_result(f"run-{number}", rounds=0))
    for number in range(2):
        filled.begin_run(a_gate_run(f"gate-{number}", minutes=number))
        filled.save_block(f"gate-{number}", a_block(1))
    filled.save_baseline(a_baseline("main", run="gate-0"))
    filled.save_baseline(a_baseline("older", run=None, saved=NOON - timedelta(days=1)))
    return filled


def planned(store, written=(), **unwanted):
    return pruning(
        store.find_runs(kind=None), store.baselines(), Unwanted(**unwanted), lambda found: found.run.id in written
    )


def names(runs):
    return [each.run.id for each in runs]


def test_what_is_old_goes_but_not_the_gate_of_a_baseline(store):
    """Nor any baseline."""
    chosen = planned(store, before=NOON + timedelta(minutes=1))
    assert names(chosen.runs) == ["run-0"]
    assert [(gate.run.id, baseline.name) for gate, baseline in chosen.protected] == [("gate-0", "main")]
    assert chosen.baselines == ()


def test_the_last_ones_of_every_job_and_kind_stay(store):
    """A job that is profiled every day does not push out one that is profiled every month."""
    store.begin_run(a_run("linear", topology="linear", minutes=-100))
    store.begin_run(a_run("simulated", engine="simulated", minutes=-100))
    chosen = planned(store, keep_last=1)
    assert names(chosen.runs) == ["run-1", "run-0"]
    assert names(gate for gate, _ in chosen.protected) == ["gate-0"]
    assert names(planned(store, keep_last=0, with_baselines=True).runs) == names(store.find_runs(kind=None))


def test_conditions_add_up(store):
    """What is old, but among the last, stays."""
    assert names(planned(store, before=NOON + timedelta(minutes=2), keep_last=2).runs) == ["run-0"]


def test_baselines_go_with_their_gates_where_that_is_asked_for(store):
    """And those whose gate was never kept by their own age."""
    chosen = planned(store, before=NOON + timedelta(minutes=1), with_baselines=True)
    assert names(chosen.runs) == ["run-0", "gate-0"]
    assert [each.name for each in chosen.baselines] == ["main", "older"]
    assert [each.name for each in planned(store, keep_last=0, with_baselines=True).baselines] == ["main"]
    young = planned(store, before=NOON - timedelta(days=2), with_baselines=True)
    assert young.is_empty


def test_a_run_that_is_being_measured_stays(store):
    """Whatever is asked for."""
    chosen = planned(store, written={"run-0"}, keep_last=0, with_baselines=True)
    assert names(chosen.written) == ["run-0"]
    assert "run-0" not in names(chosen.runs)


def test_what_was_chosen_is_deleted_and_nothing_else(store):
    """Runs with all that belongs to them."""
    carry_out(store, planned(store, before=NOON + timedelta(minutes=1), with_baselines=True))
    assert names(store.find_runs(kind=None)) == ["run-2", "run-1", "gate-1"]
    assert (store.blocks("gate-0"), store.baselines()) == ((), [])
    assert store.blocks("gate-1") == (a_block(1),)
