"""`profile gate` on an engine that runs two versions at the same time: what is kept, and what may be compared with it.

It is the simulated one, which is told to do so: all that the command knows of it is what its platform says.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from profiler.engines.simulated.deployment import Clock
from profiler.engines.simulated.engine import SimulatedEngine
from profiler.history.records import RunKind
from tests.git_repositories import JOB

SIMULATED = ("--engine", "simulated", "--cores", "2", "--mongo", "mongodb://nobody-asks")
GATE = ("gate", "job.py", *SIMULATED, "--json", "-", "--quiet")


@pytest.fixture(autouse=True)
def job(folder, monkeypatch):
    """A job that is under no version control, so that only blocks are left of a baseline."""
    monkeypatch.setenv("PROFILE_CACHE", str(folder / "cache"))
    (folder / "job.py").write_text(JOB.replace("from costs import COUNT_MS\n", "COUNT_MS = 0.5\n"))


@pytest.fixture
def together(monkeypatch):
    """Let two deployments run at the same time from now on, or no longer."""
    alone, deploy = SimulatedEngine.platform.fget, SimulatedEngine.deploy

    def deployed(self, *rest, **more):
        deployment = deploy(self, *rest, **more)
        deployment.clock = Clock()  # of its own: what counts must not depend on which thread comes first
        return deployment

    monkeypatch.setattr(SimulatedEngine, "deploy", deployed)

    def change(*, allowed=True):
        found = property(lambda engine: replace(alone(engine), side_by_side=allowed))
        monkeypatch.setattr(SimulatedEngine, "platform", found)

    change()
    return change


def documented(answer):
    assert answer.stdout, answer.stderr
    return json.loads(answer.stdout)


def saved_blocks(store):
    return store.load_baseline("words", "simulated", "main").blocks


def test_a_gate_says_that_its_blocks_had_company(store, together, profile):
    """In the document, and in the headline for people."""
    document = documented(profile(*GATE, "--aa"))
    assert (document["verdict"], document["environment"]["turns"]) == ("pass", "two at a time")
    shown = profile("gate", "job.py", *SIMULATED, "--aa").stdout.splitlines()[0]
    assert shown.endswith("against itself, 4 and 4 blocks (two at a time)")


def test_stored_blocks_are_met_by_blocks_that_have_company_too(store, together, profile):
    """One value per turn is kept and compared, of the job as of its baseline."""
    document = documented(profile(*GATE, "--save-baseline", "main"))
    assert document["saved_baseline"] == "main"
    assert len(saved_blocks(store)) == len(document["blocks"]) / 2
    document = documented(profile(*GATE, "--baseline", "main"))
    assert (document["verdict"], document["baseline"]["kind"]) == ("pass", "stored")
    assert document["environment"] == document["baseline_environment"]
    assert [each["version"] for each in document["blocks"]].count("candidate") == 4


def test_blocks_that_were_stored_one_by_one_are_met_one_by_one(store, together, profile):
    """Company would cost the candidate what the baseline never paid."""
    together(allowed=False)
    assert "turns" not in documented(profile(*GATE, "--save-baseline", "main"))["environment"]
    together()
    document = documented(profile(*GATE, "--baseline", "main"))
    assert document["verdict"] == "pass"
    assert "turns" not in document["environment"]


def test_stored_blocks_that_had_company_are_not_compared_where_there_is_no_room_for_two(store, together, profile):
    """It is told what differs, exit 4; nothing is measured."""
    profile(*GATE, "--save-baseline", "main")
    together(allowed=False)
    answer = profile(*GATE, "--baseline", "main")
    document = documented(answer)
    assert (answer.exit_code, document["blocks"][4:]) == (4, [])
    assert document["environment"]["turns"] == "in turn"
    assert document["baseline_environment"]["turns"] == "two at a time"


@pytest.mark.long
def test_an_interrupted_gate_goes_on_only_with_the_same_question(store, together, profile, monkeypatch):
    """As many blocks, and in the same way: looks that are planned after the blocks were seen prove nothing."""
    undecided = (*GATE[:-1], "--aa", "--noise", "shared", "--max-slowdown", "1%")
    deploy, count = SimulatedEngine.deploy, iter(range(100))

    def until(self, *rest, **more):
        if next(count) == 1 + 2 * 2:
            raise KeyboardInterrupt
        return deploy(self, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(SimulatedEngine, "deploy", until)
        assert profile(*undecided).exit_code == 130
    (broken,) = store.find_runs(kind=RunKind.GATE)
    before = store.blocks(broken.run.id)
    assert [each.number for each in before] == [1, 2, 3, 4]
    assert "going on" not in profile(*undecided, "--blocks", "9").stderr
    together(allowed=False)
    assert "going on" not in profile(*undecided).stderr
    together()
    refused = profile(*undecided, "--resume", broken.run.id, "--blocks", "9")
    assert "blocks 8, not 9" in refused.stderr
    went_on = profile(*undecided, "--resume", broken.run.id)
    assert "block 5 of 16" in went_on.stderr
    assert "block 3 of 16" not in went_on.stderr
    assert store.blocks(broken.run.id)[:4] == before
    assert len(documented(went_on)["blocks"]) == len(store.blocks(broken.run.id)) > 4
