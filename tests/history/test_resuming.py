"""An interrupted run: its rounds come back as they were measured, and the profile goes on after them."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.errors import ProfileError, UsageError
from profiler.experiment.events import RoundDecided, TrialStarted
from profiler.experiment.window_plan import WindowPlan
from profiler.history.files.unsaved import UnsavedFile
from profiler.history.keeper import Keeper
from profiler.history.memory import MemoryStore
from profiler.history.session.resuming import resumed
from profiler.history.store import NoSuchRun
from profiler.job.loading import load_topology
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.policies.policy import Parameters
from profiler.settings.choices import PolicyName
from tests.history.histories import a_result, a_run, decided, measured


@pytest.fixture
def store():
    filled = MemoryStore()
    filled.begin_run(a_run())
    filled.save_round("run-1", decided(1))
    filled.save_round("run-1", measured(2))
    return filled


@pytest.fixture
def unsaved(tmp_path):
    return tmp_path / "unsaved" / "run-1.jsonl"


def test_what_the_run_could_not_save_is_brought_in_first(store, unsaved):
    """A killed profile leaves its file without a word; nobody has to import it by hand."""
    UnsavedFile(unsaved, a_run()).append([decided(2), measured(3)])
    assert resumed(store, a_run(), unsaved)[1] == (decided(1), decided(2), measured(3))
    assert not unsaved.exists()


def test_the_file_of_a_run_that_nobody_knows_is_left_alone(store, unsaved):
    """A mistyped name must not touch anything."""
    UnsavedFile(unsaved, a_run("run-9")).append([decided(1)])
    with pytest.raises(NoSuchRun, match="run-9"):
        resumed(store, a_run("run-9"), unsaved)
    assert unsaved.exists()


def test_a_run_goes_on_with_its_rounds(store, unsaved):
    """The run as it was begun, and the rounds, the last of which may lack its decision."""
    assert resumed(store, a_run(minutes=60), unsaved) == (a_run(), (decided(1), measured(2)))


def test_rounds_of_other_code_are_not_gone_on_with(store, unsaved):
    """Whoever mends an operator has another job; where the code was not kept, nobody knows."""
    store.begin_run(replace(a_run("run-2"), code="before"))
    with pytest.raises(UsageError, match="is not what it was when run 'run-2' was started"):
        resumed(store, replace(a_run("run-2"), code="after"), unsaved)
    assert resumed(store, replace(a_run("run-2"), code="before"), unsaved)[1] == ()
    assert len(resumed(store, replace(a_run(), code="after"), unsaved)[1]) == 2


def test_a_run_that_its_budget_ended_goes_on(store, unsaved):
    """It has an answer, but not the whole one."""
    store.save_result("run-1", a_result(rounds=1, complete=False))
    assert len(resumed(store, a_run(), unsaved)[1]) == 2


def test_a_run_that_has_ended_is_not_resumed(store, unsaved):
    """There is nothing left to do."""
    store.save_result("run-1", a_result())
    with pytest.raises(UsageError, match=r"Run 'run-1' has ended.*profile history show run-1"):
        resumed(store, a_run(), unsaved)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (a_run(topology="linear"), "topology word-count, not linear"),
        (a_run(engine="simulated"), "engine spark, not simulated"),
        (replace(a_run(), policy="ds2"), "policy stepwise, not ds2"),
        (a_run(parameters={"latency_ms": 100.0}), "latency_ms 500.0, not 100.0"),
        (a_run(parameters={"new": 1}), "new None, not 1"),
        (a_run(environment={"slots": 4}), "slots 8, not 4"),
    ],
)
def test_rounds_that_answer_another_question_are_refused(store, unsaved, wanted, said):
    """The difference is named."""
    with pytest.raises(UsageError, match=f"Run 'run-1' was started with {said}"):
        resumed(store, wanted, unsaved)


def test_slots_that_free_memory_decided_are_asked_for_as_a_master(store, unsaved):
    """Nobody set them: there is no option to set back."""
    with pytest.raises(UsageError, match=r"Resume it with --master local\[8\], or leave --resume out"):
        resumed(store, a_run(environment={"slots": 4}), unsaved)


def test_another_version_of_a_library_does_not_matter(store, unsaved):
    """What can't change the decisions is let through."""
    assert resumed(store, a_run(environment={"python": "3.99"}), unsaved)[0] == a_run()


def test_a_round_that_is_missing_is_told(store, unsaved):
    """It may wait in the file that was saved while the database was gone."""
    store.save_round("run-1", decided(4))
    with pytest.raises(ProfileError, match=r"Round 3 of run 'run-1' is not in the history\. Import the file"):
        resumed(store, a_run(), unsaved)


class Interrupted(Exception):  # noqa: N818 - what happens here
    """Somebody pressed Ctrl-C."""


def simulated(report):
    engine = SimulatedEngine(SimulatedPlatform(nodes=6, cores_per_node=2), Preset.QUIET, seed=3, window_s=3.0)
    topology = load_topology("linear")
    return Loop(
        engine, topology, POLICIES[PolicyName.STEPWISE](), design=WindowPlan(windows=5, blocks=2), report=report
    )


@pytest.fixture(params=["memory", pytest.param("mongo", marks=pytest.mark.mongo)])
def open_store(request):
    if request.param == "memory":
        kept = MemoryStore()
        return lambda: kept
    from profiler.history.mongo.store import MongoStore

    uri = request.getfixturevalue("mongo_uri")
    return lambda: MongoStore(uri)


def test_a_profile_that_was_interrupted_goes_on_without_repeating_a_round(open_store, unsaved):
    """A real profile of a simulated job, through the store and back: equal rounds, only the missing ones measured."""
    run = replace(
        a_run("run-7", topology="linear"),
        parameters=asdict(Parameters()),
        started=datetime.now(UTC),
        engine="simulated",
    )
    told = []

    def interrupted(keeper):
        def report(event):
            keeper(event)
            if isinstance(event, RoundDecided):
                told.append(event.round)
            if isinstance(event, TrialStarted) and event.number == 3:
                raise Interrupted

        return report

    with Keeper(open_store, run, unsaved) as keeper, pytest.raises(Interrupted):
        simulated(interrupted(keeper)).run()

    store = open_store()
    begun, rounds = resumed(store, run, unsaved)
    assert (begun.id, rounds) == ("run-7", tuple(told))
    assert len(rounds) == 2

    started = []

    def report(event):
        keeper(event)
        if isinstance(event, TrialStarted):
            started.append(event.number)

    with Keeper(open_store, begun, unsaved) as keeper:
        profile = simulated(report).run(history=rounds)
        document = profile_document(profile_of(profile, run="run-7", engine="simulated", environment={}))
        keeper.keep_result(document)
    assert started == [outcome.number for outcome in profile.rounds[2:]]
    assert store.rounds("run-7") == profile.rounds
    assert store.result("run-7") == document
    store.close()
