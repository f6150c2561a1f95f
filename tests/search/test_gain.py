"""What the gain is over: today's job only where it was measured, and a word where there was no room for it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.loop import Loop
from profiler.questions.search.markdown import as_markdown
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.terminal import print_profile

STATED = Topology.chain(
    "stated",
    Source("in", tasks=2),
    Operator("a", cost=Cost(cpu_ms=0.01, wait_ms=2), tasks=2),
    Operator("b", cost=Cost(cpu_ms=0.01, wait_ms=8), tasks=4),
)
LEFT_OUT = "today's job has 8 tasks and there are 6 slots for them: it was not measured"


@pytest.mark.parametrize(
    ("policy", "slots", "over", "is_left_out"),
    [
        ("stepwise", 15, "today's job", False),
        ("stepwise", 6, "one task each", True),
        ("ds2", 15, "one task each", False),
    ],
)
def test_the_gain_names_what_was_measured(policy, slots, over, is_left_out):
    """Stated tasks that another policy does not look at, or that do not fit the slots, are no yardstick."""
    engine = SimulatedEngine(SimulatedPlatform(cores_per_node=8, slots=slots), seed=1)
    found = Loop(engine, STATED, POLICIES[policy](), design=WindowPlan(blocks=0)).run()
    profile = profile_of(found, run="a-run", engine="simulated", environment={})
    console = Console(file=io.StringIO(), width=200)
    print_profile(console, profile)
    printed = console.file.getvalue()
    assert f"% over {over} (" in printed
    for written in (printed, as_markdown(profile), " ".join(profile.warnings)):
        assert (LEFT_OUT in written) == is_left_out
