"""Every bad input of a user ends with exit code 2 and one sentence that names the operator or key; no traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

HEAD = "from profiler import Cost, Operator, Source, Topology\n"

TOPOLOGIES = {
    "cycle": (
        'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s", "b"]), Operator("b", inputs=["a"])])',
        "job.py:2: The operators form a cycle: a → b → a. Remove one of these inputs.",
    ),
    "unknown input": (
        'topology = Topology("t", [Source("s")], [Operator("a", inputs=["z"])])',
        "job.py:2: Operator 'a' reads from 'z', which does not exist. Known names: s, a.",
    ),
    "duplicate name": (
        'topology = Topology("t", [Source("s")], [Operator("s", inputs=["s"])])',
        "job.py:2: Two elements of 't' are called 's'. Names must differ: rename one.",
    ),
    "empty name": (
        'topology = Topology("t", [Source("s")], [Operator("", inputs=["s"])])',
        "job.py:2: Operator number 2 of 't' has an empty name. Give it one.",
    ),
    "operator that no source reaches": (
        'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"]), Operator("b")])',
        "job.py:2: Operator 'b' has no input, so no source reaches it. Say where its rows come from: inputs=['s'].",
    ),
    "negative cost": (
        'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], cost=Cost(wait_ms=-5))])',
        "job.py:2: Operator 'a' has the impossible cost wait_ms=-5. Costs are positive and finite.",
    ),
    "zero cost": (
        'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], cost=Cost(cpu_ms=0))])',
        "job.py:2: Operator 'a' has a Cost of neither CPU nor waiting time. State cpu_ms or wait_ms.",
    ),
    "zero selectivity": (
        'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], selectivity=0)])',
        "job.py:2: Operator 'a' has selectivity=0. Selectivity is positive.",
    ),
    "contradictory tasks": (
        'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], min_tasks=5, max_tasks=3)])',
        "job.py:2: Operator 'a' has min_tasks=5 above max_tasks=3. Swap or widen them.",
    ),
    "file that does not import": (
        "import nothing_of_that_name",
        "'job.py' cannot be loaded: job.py:2: ModuleNotFoundError: No module named 'nothing_of_that_name'.",
    ),
    "attribute that is no topology": (
        "topology = {'a': 1}",
        "'job.py' is a dict, not a Topology. Name an attribute that is a Topology or a function that returns one.",
    ),
}

CALLS = {
    "unknown workload": (["linaer"], "There is no workload 'linaer'. Did you mean 'linear'?"),
    "zero slots": (
        ["diamond", "--slots", "0"],
        "Topology 'diamond' needs at least 6 slots, one per task, but there are 0. Give it --slots 6 or more.",
    ),
    "too few slots": (
        ["linear?depth=12", "--slots", "11"],
        "Topology 'linear' needs at least 12 slots, one per task, but there are 11. Give it --slots 12 or more.",
    ),
    "malformed slots": (["linear", "--slots", "few"], "--slots is 'few', not a whole number from 0."),
    "empty slots": (["linear", "--slots", ""], "--slots is '', not a whole number from 0."),
    "unknown flag": (["linear", "--slotz", "3"], "No such option: --slotz (Possible options: --json, --slots)."),
    "no topology": ([], "Missing argument 'TOPOLOGY'."),
    "no file": (["nowhere.py"], "There is no file 'nowhere.py'."),
}


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("case", TOPOLOGIES)
def test_a_wrong_topology_is_refused_by_name(case, command, profile, refused, folder: Path) -> None:
    text, sentence = TOPOLOGIES[case]
    (folder / "job.py").write_text(HEAD + text + "\n", encoding="utf-8")
    assert refused(profile(command, "job.py")).startswith(sentence)


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("case", CALLS)
def test_a_wrong_call_is_refused_by_name(case, command, profile, refused) -> None:
    arguments, sentence = CALLS[case]
    assert refused(profile(command, *arguments)).startswith(sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--latency", "500"], "--latency is '500', not a duration above zero. Write it like 500ms, 3s or 10m."),
        (["--window", "0s"], "--window is '0s', not a duration above zero."),
        (["--budget", "-1m"], "--budget is '-1m', not a duration above zero."),
        (["--give-back", "200%"], "--give-back is '200%', not a part from 0% to 100%."),
        (["--policy", "best"], "--policy is 'best', not one of stepwise, threshold, stela, ds2, slots, exhaustive."),
        (["--noise", "loud"], "--noise is 'loud', not one of quiet, shared, hostile, disturbed, batched."),
        (["--nodes", "0"], "--nodes is '0', not a whole number from 1 to 1,000."),
    ],
)
def test_a_malformed_option_of_run_is_refused_by_name(arguments, sentence, profile, refused) -> None:
    assert refused(profile("run", "linear", *arguments)).startswith(sentence)


def test_an_unknown_key_in_the_configuration_is_refused(profile, refused, folder: Path) -> None:
    (folder / "profile.toml").write_text("slotz = 4\n", encoding="utf-8")
    expected = "profile.toml sets 'slotz', which is no setting. Did you mean 'slots'?"
    for call in (["run", "linear"], ["check", "linear"], ["config", "show"]):
        assert refused(profile(*call)) == expected


def test_a_broken_configuration_is_refused(profile, refused, folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.profile\n", encoding="utf-8")
    assert "pyproject.toml cannot be read" in refused(profile("config", "show"))


def test_a_real_process_refuses_in_the_same_way(shell, refused: Callable, folder: Path) -> None:
    (folder / "job.py").write_text("x = [\n", encoding="utf-8")
    assert refused(shell("check", "job.py")).startswith("'job.py' cannot be loaded: job.py:1: SyntaxError:")
    assert refused(shell("config", "show", PROFILE_SLOT="3")).startswith("The environment variable PROFILE_SLOT is no")
