"""A topology is loaded by a workload's name, a module or a file; what is wrong with it is said in one sentence."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from profiler.errors import TopologyError, UsageError
from profiler.job.loading import load_topology
from profiler.shipped import WORKLOADS
from profiler.traffic.payload_files import payload_file

Write = Callable[[str, str], Path]

JOB = """
from profiler import Cost, Operator, Source, Topology
topology = Topology.chain("job", Source("s"), Operator("o", cost=Cost(cpu_ms=1)))
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write files into a current directory of their own; what they import is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    yield written
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_loads_by_its_name(name: str) -> None:
    assert load_topology(name).name.startswith(name)


def test_a_workload_takes_parameters() -> None:
    assert len(load_topology("linear?depth=6").elements) == 6
    assert load_topology("diamond?wait_ms=2.5")["ask"].cost.wait_ms == 2.5


def test_a_file_loads_with_the_default_attribute(write: Write) -> None:
    write("job.py", JOB)
    assert load_topology("job.py").name == "job"
    assert load_topology("job.py:topology").name == "job"


def test_a_file_may_import_its_neighbours(write: Write) -> None:
    write("jobs/names_of_jobs.py", "NAME = 'neighbour'\n")
    write("jobs/job.py", "from names_of_jobs import NAME\n" + JOB.replace('"job"', "NAME"))
    assert load_topology("jobs/job.py").name == "neighbour"


def test_payloads_are_found_beside_the_file_that_names_them(write: Write) -> None:
    """Wherever it is called from; what is only in the current directory is found there."""
    job = JOB.replace('Source("s")', 'Source("s", payloads="rows.jsonl")')
    write("jobs/job.py", job)
    here = write("rows.jsonl", "{}\n")
    assert payload_file(load_topology("jobs/job.py").sources[0], here.parent).samefile(here)
    beside = write("jobs/rows.jsonl", "{}\n")
    assert payload_file(load_topology("jobs/job.py").sources[0], here.parent).samefile(beside)


def test_a_library_that_is_missing_is_to_be_installed_where_profile_runs(write: Write) -> None:
    """The line is right, and the environment is not the user's own."""
    write("job.py", "import nothing_of_that_name\n")
    with pytest.raises(TopologyError, match=f"install it where profile runs: {sys.executable} -m pip install"):
        load_topology("job.py")


def test_two_files_of_one_name_stay_apart(write: Write) -> None:
    write("old/job.py", JOB.replace('"job"', '"old"'))
    write("new/job.py", JOB.replace('"job"', '"new"'))
    assert [load_topology(f"{version}/job.py").name for version in ("old", "new")] == ["old", "new"]


def test_a_file_may_hold_dataclasses(write: Write) -> None:
    """They look up their module by name while it runs."""
    text = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass Row:\n    n: int\n"
    write("job.py", text + JOB)
    assert load_topology("job.py").name == "job"


def test_a_module_loads_from_the_current_directory(write: Write) -> None:
    write("package/__init__.py", "")
    write("package/streaming.py", JOB.replace("topology =", "mine ="))
    assert load_topology("package.streaming:mine").name == "job"


def test_a_function_that_returns_a_topology_is_called(write: Write) -> None:
    write(
        "job.py",
        JOB + "def variant(cpu_ms=1.0):\n    work = Operator('o', cost=Cost(cpu_ms=cpu_ms))\n"
        "    return Topology.chain('v', Source('s'), work)\n",
    )
    assert load_topology("job.py:variant").name == "v"
    assert load_topology("job.py:variant?cpu_ms=3")["o"].cost.cpu_ms == 3


def test_what_a_file_prints_stays_out_of_stdout(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """Stdout carries the result, perhaps as JSON."""
    write("job.py", "print('loading')\n" + JOB)
    load_topology("job.py")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "loading\n")


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("linaer", "There is no workload 'linaer'. Did you mean 'linear'?"),
        ("wordcount", "There is no workload 'wordcount'. Did you mean 'word-count'?"),
        ("xyz", "There is no workload 'xyz'. Known: linear, diamond, star, word-count"),
        ("", "There is no workload ''."),
        (":topology", "':topology' names no module."),
        ("nowhere.py", "There is no file 'nowhere.py'."),
        ("nowhere:topology", "There is no module 'nowhere' in the current directory"),
        ("linear?dept=3", "'linear' has no parameter 'dept'. It takes depth (default 4), selectivity (default 1.0)."),
        ("linear?depth=x", "Parameter 'depth' of 'linear?depth=x' is 'x', not a number."),
        ("linear?depth=2.5", "Parameter 'depth' of 'linear' is 2.5. It takes a whole number."),
        ("linear?depth=1", "linear has depth=1. It takes 2 to 100: a source and at least one operator"),
        ("linear?depth=100000", "linear has depth=100000. It takes 2 to 100: "),
        ("random-dag?operators=100000", "random-dag has operators=100000. It takes 1 to 100: "),
        ("random-dag?operators=0", "random-dag has operators=0. It takes 1 to 100: "),
        ("random-dag?sources=100000", "random-dag has sources=100000. It takes 1 to 100: "),
        ("word-count?depth=1", "'word-count' takes no parameters."),
        ("job.py:nothing", "'job.py' has no attribute 'nothing'. Did you mean 'job.py:topology'?"),
        ("job.py:number", "'job.py:number' is a int, not a Topology."),
        ("job.py:step", "'job.py:step' is a function that needs 'rows', not a Topology."),
        ("job.py:wrong", "'job.py:wrong' is a NoneType, not a Topology."),
        ("job.py:Topology", "'job.py:Topology' is a type, not a Topology."),
        ("job.py:failing", "'job.py:failing' cannot be loaded: job.py:9: KeyError: 'x'."),
    ],
)
def test_a_wrong_reference_is_answered_in_one_sentence(reference: str, sentence: str, write: Write) -> None:
    functions = "number = 3\ndef step(rows):\n    return rows\ndef wrong():\n    pass\ndef failing(): return {}['x']\n"
    write("job.py", JOB + functions)
    with pytest.raises(UsageError) as error:
        load_topology(reference)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1\ny = 1 / 0\n", "'job.py' cannot be loaded: job.py:2: ZeroDivisionError: division by zero."),
        ("x = 1\nif x\n", "'job.py' cannot be loaded: job.py:2: SyntaxError: expected ':'"),
        ("import nothing_of_that_name\n", "'job.py' cannot be loaded: job.py:1: ModuleNotFoundError: No module named"),
        ("import json\njson.loads('{')\n", "'job.py' cannot be loaded: job.py:2: JSONDecodeError: "),
        ("raise SystemExit('no')\n", "'job.py' cannot be loaded: job.py:1: SystemExit: no."),
        ("raise ValueError\n", "'job.py' cannot be loaded: job.py:1: ValueError."),
        ("raise ValueError('a\\nb')\n", "'job.py' cannot be loaded: job.py:1: ValueError: a b."),
    ],
)
def test_a_file_that_does_not_import_shows_its_own_error_line(text: str, sentence: str, write: Write) -> None:
    write("job.py", text)
    with pytest.raises(TopologyError) as error:
        load_topology("job.py")
    assert str(error.value).startswith(sentence)
    assert error.value.exit_code == 2


def test_a_contradictory_topology_shows_the_line_that_builds_it(write: Write) -> None:
    write("job.py", JOB.replace('Operator("o"', 'Operator("o", inputs=["nowhere"]'))
    with pytest.raises(TopologyError, match=r"^job\.py:3: Operator 'o' reads from 'nowhere'"):
        load_topology("job.py")


def test_an_error_in_a_neighbour_is_shown_there(write: Write) -> None:
    write("neighbour_with_error.py", "x = 1\nint('a')\n")
    write("job.py", "import neighbour_with_error\n")
    with pytest.raises(TopologyError, match=r"neighbour_with_error\.py:2: ValueError"):
        load_topology("job.py")
