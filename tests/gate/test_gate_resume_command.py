"""A gate that is interrupted: what it measured is kept, and the next call goes on after it."""

from __future__ import annotations

import json
import sys

import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.history.records import RunKind, RunState
from profiler.questions.gate import run
from tests.git_repositories import JOB, Repository

SIMULATED = ("--engine", "simulated", "--nodes", "2", "--cores", "2", "--noise", "shared", "--max-slowdown", "1%")
GATE = ("gate", "linear", "--aa", *SIMULATED, "--mongo", "mongodb://nobody-asks")
LOADED, DONE = 1, 5
"""Deployments that load the engine, and blocks before the interruption."""


@pytest.fixture(autouse=True)
def _one_process_each(tmp_path, monkeypatch):
    """Give every test a cache, and forget what its jobs imported, as the process of a real call would."""
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield
    forget_jobs(tmp_path)


def forget_jobs(folder):
    """Let the next call import a job and its neighbours anew."""
    for name, module in list(sys.modules.items()):
        if str(folder) in str(getattr(module, "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def interrupted(monkeypatch, profile):
    """Press Ctrl-C while the sixth block is deployed."""

    def call(*arguments):
        deploy, count = SimulatedEngine.deploy, iter(range(100))

        def until(self, *rest, **more):
            if next(count) == LOADED + DONE:
                raise KeyboardInterrupt
            return deploy(self, *rest, **more)

        with monkeypatch.context() as patch:
            patch.setattr(SimulatedEngine, "deploy", until)
            return profile(*arguments)

    return call


def only_gate(store):
    (found,) = store.find_runs(kind=RunKind.GATE)
    return found


def test_blocks_are_kept_as_they_are_measured(store, interrupted, profile):
    """Exit 130, with the way to go on; the gate is in the history, without a verdict."""
    answer = interrupted(*GATE)
    assert answer.exit_code == 130
    found = only_gate(store)
    assert (found.state, found.blocks) == (RunState.UNFINISHED, DONE)
    assert f"Blocks 1 to 5 are kept: add --resume {found.run.id} to go on after them." in answer.stderr
    assert len(store.windows(found.run.id)) > DONE


@pytest.mark.parametrize("named", [False, True])
def test_the_next_call_goes_on_without_repeating_a_block(store, interrupted, profile, named):
    """By itself, or by its name; the verdict rests on the blocks of both sessions, and says so."""
    interrupted(*GATE)
    run = only_gate(store).run.id
    before = store.blocks(run)
    answer = profile(*GATE, *(("--resume", run) if named else ()), "--json", "-")
    told = f"going on with gate {run}, which was interrupted after 5 blocks; --anew starts over"
    assert (told in answer.stderr) is not named
    assert "block 6 of 16" in answer.stderr
    assert "block 5 of 16" not in answer.stderr
    assert store.blocks(run)[:DONE] == before
    assert [block.number for block in store.blocks(run)] == list(range(1, 17))
    document = json.loads(answer.stdout)
    assert (document["run"], document["exit_code"]) == (run, answer.exit_code)
    assert len(document["blocks"]) == 16
    assert document["warnings"][0].startswith("blocks 1 to 5 are of a session that was interrupted after ")
    assert store.result(run) == document
    assert only_gate(store).state is RunState.FINISHED


def test_another_machine_s_gate_is_left_to_it(store, interrupted, profile, tmp_path, monkeypatch):
    """Two runners of one commit share a database: no lock here tells whether the other one still measures."""
    interrupted(*GATE)
    run = only_gate(store).run.id
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path / "of another machine"))
    answer = profile(*GATE)
    assert "going on" not in answer.stderr
    assert store.load_run(run).blocks == DONE
    assert len(store.find_runs(kind=RunKind.GATE)) == 2


def test_a_gate_may_be_started_over(store, interrupted, profile):
    """With --anew; what it broke off before has an answer then, and is not gone on with by a third call."""
    interrupted(*GATE)
    run = only_gate(store).run.id
    for arguments in ((*GATE, "--anew"), GATE):
        answer = profile(*arguments)
        assert "going on" not in answer.stderr
        assert "block 1 of 16" in answer.stderr
    assert (store.load_run(run).state, store.load_run(run).blocks) == (RunState.UNFINISHED, DONE)


def test_a_gate_that_was_started_over_and_cut_short_is_not_gone_on_with(store, interrupted, profile, monkeypatch):
    """Its time was up, but it has a verdict."""
    interrupted(*GATE)
    with monkeypatch.context() as patch:
        patch.setattr(run, "ends_by_s", lambda settings, started_s: started_s)
        profile(*GATE, "--anew")
    assert {each.state for each in store.find_runs(kind=RunKind.GATE)} == {RunState.CUT_SHORT, RunState.UNFINISHED}
    assert "going on" not in profile(*GATE).stderr


def test_a_gate_that_asks_something_else_starts_over_by_itself(store, interrupted, profile):
    """Blocks of two questions are no answer to either."""
    interrupted(*GATE)
    answer = profile(*GATE, "--blocks", "9")
    assert "going on" not in answer.stderr
    assert "block 1 of 18" in answer.stderr


CHANGED = {
    "the limit": (["--max-slowdown", "2%"], "max_slowdown 0.01, not 0.02"),
    "the place": (["--noise", "quiet"], "preset shared, not quiet"),
    "the tasks": (["--tasks", "work-1=2"], "tasks "),
    "the number of blocks": (["--blocks", "9"], "blocks 8, not 9"),
}


@pytest.mark.parametrize("changed", CHANGED)
def test_what_is_asked_differently_is_not_gone_on_with(store, interrupted, profile, refused, changed):
    """Blocks of two questions are no answer to either."""
    interrupted(*GATE)
    run = only_gate(store).run.id
    flags, said = CHANGED[changed]
    answer = profile(*GATE, *flags, "--resume", run, "--quiet")
    assert refused(answer).startswith(f"Run '{run}' was started with {said}")


WITH_FUNCTIONS = """
import sizes
from profiler import Cost, Operator, Source, Topology

def split(rows):
    return rows.limit(sizes.ROWS)

topology = Topology.chain("words", Source("lines"), Operator("split", split, cost=Cost(cpu_ms=0.3)))
"""


@pytest.mark.long
def test_a_revision_is_known_again(store, interrupted, profile, folder):
    """Its code is unpacked into another folder each time, which makes no other version of it."""
    repository = Repository(folder)
    repository.commit(job=WITH_FUNCTIONS, sizes="ROWS = 1\n")
    repository.commit(sizes="ROWS = 2\n")
    gate = ("gate", "job.py", "--against-rev", "HEAD~1", *SIMULATED, "--mongo", "mongodb://nobody-asks")
    assert interrupted(*gate).exit_code == 130
    run = only_gate(store).run
    assert run.parameters["candidate's code"] != run.parameters["baseline's code"]
    forget_jobs(folder)
    answer = profile(*gate, "--resume", run.id)
    assert "block 6 of 16" in answer.stderr, answer.stderr
    assert only_gate(store).state is RunState.FINISHED


def test_changed_code_is_not_gone_on_with(store, interrupted, profile, refused, folder):
    """Not even a file beside the job's own."""
    job = Repository(folder)
    job.write(job=JOB, costs="COUNT_MS = 0.5\n")
    gate = ("gate", "job.py", "--aa", *SIMULATED, "--mongo", "mongodb://nobody-asks", "--quiet")
    interrupted(*gate)
    run = only_gate(store).run.id
    job.write(costs="COUNT_MS = 0.51\n")
    forget_jobs(folder)
    assert refused(profile(*gate, "--resume", run)).startswith(f"Run '{run}' was started with candidate's code ")


def test_a_gate_with_a_verdict_is_not_gone_on_with(store, profile, refused):
    """One more look would raise false alarms."""
    profile(*GATE)
    run = only_gate(store).run.id
    assert refused(profile(*GATE, "--resume", run, "--quiet")).startswith(f"Run '{run}' has ended")


def test_a_drill_is_not_gone_on_with(store, interrupted, profile, refused):
    """It is calibrated anew each time, so nobody is told to, and the next call starts over."""
    drill = ("gate", "word-count", "--drill", "20%", *SIMULATED, "--mongo", "mongodb://nobody-asks")
    answer = interrupted(*drill)
    assert answer.exit_code == 130
    assert "--resume" not in answer.stderr
    again = profile(*drill)
    assert "going on" not in again.stderr
    assert "block 1 of 16" in again.stderr
    said = refused(profile(*drill, "--resume", "any", "--quiet"))
    assert said == "--drill and --resume exclude each other. A drill is calibrated anew: leave --resume out."


@pytest.mark.long
def test_a_baseline_knows_the_gate_it_came_from(store, profile):
    """So that a prune spares it."""
    profile("gate", "linear", *SIMULATED, "--save-baseline", "main")
    assert [(each.name, each.run) for each in store.baselines()] == [("main", only_gate(store).run.id)]
