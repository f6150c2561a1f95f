"""A start that is later than the latency constraint allows: what the gain over it means is said."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.events import BlockStarted, SearchEnded
from profiler.experiment.window_plan import WindowPlan
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document
from profiler.questions.search.loop import Loop
from profiler.questions.search.markdown import as_markdown
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.search.terminal import print_profile
from profiler.report.progress import unconfirmed_in_words
from tests.scenarios import WAITS


def profiled(slots, latency_ms, events=None):
    engine = SimulatedEngine(SimulatedPlatform(cores_per_node=8, slots=slots), seed=1)
    found = Loop(
        engine,
        WAITS,
        POLICIES["stepwise"](),
        Parameters(latency_ms=latency_ms),
        WindowPlan(blocks=4),
        report=(events if events is not None else []).append,
    ).run()
    profile = profile_of(found, run="a-run", engine="simulated", environment={})
    return profile, profile_document(profile)


def printed(profile):
    console = Console(file=io.StringIO(), width=200)
    print_profile(console, profile)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def throttled():
    """One task each is all that fits, and keeps 60 ms only where it is offered less."""
    events = []
    return *profiled(4, 60, events), events


def test_what_only_offers_less_is_not_confirmed(throttled):
    """There is no gain to confirm: the same tasks do what they are offered."""
    profile, document, events = throttled
    assert profile.best.tasks == profile.initial.tasks
    assert profile.best.offered_per_s is not None
    assert profile.only_offers_less
    assert not any(isinstance(event, BlockStarted) for event in events)
    assert document["confirmed"] is None


def test_what_only_offers_less_is_no_loss(throttled):
    """A start that is faster and too late is no better one."""
    profile, document, events = throttled
    assert "keeps the latency constraint at this rate" in printed(profile)
    assert "over one task each" not in printed(profile)
    assert (document["initial"]["keeps_latency"], document["best"]["keeps_latency"]) == (False, True)
    assert "over a start that is later than the latency constraint allows" in as_markdown(profile)
    told = next(unconfirmed_in_words(event) for event in events if isinstance(event, SearchEnded))
    assert told.endswith("rows/s at the most, to keep the latency")


def test_a_start_in_time_is_a_start_like_any_other():
    """More tasks and the usual latency: a gain, confirmed, and nothing about lateness."""
    profile, document = profiled(15, 500)
    assert not profile.is_late
    assert profile.confirmed is not None
    assert "over one task each" in printed(profile)
    assert (document["initial"]["keeps_latency"], document["best"]["keeps_latency"]) == (True, True)
    assert "later than" not in printed(profile) + as_markdown(profile)
