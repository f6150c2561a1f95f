"""A user's own code called `workloads` is found, and the workloads that ship with the profiler are, too."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from profiler import shipped
from profiler.job.loading import load_topology
from profiler.job.operator_code import code_pieces
from profiler.job.versions import Moved, load_version

ORDERS = """
from profiler import Cost, Operator, Source, Topology
from {package} import COST_MS
topology = Topology.chain("orders", Source("s"), Operator("o", cost=Cost(cpu_ms=COST_MS)))
"""
OWN = {
    "a folder": ({"workloads/orders.py": ORDERS, "workloads/costs.py": "COST_MS = 3\n"}, "workloads.orders"),
    "a package": (
        {"workloads/__init__.py": "", "workloads/orders.py": ORDERS, "workloads/costs.py": "COST_MS = 3\n"},
        "workloads.orders",
    ),
    "a package with a module of ours": (
        {"workloads/__init__.py": "", "workloads/linear.py": ORDERS, "workloads/costs.py": "COST_MS = 3\n"},
        "workloads.linear",
    ),
    "a module": ({"workloads.py": ORDERS, "costs.py": "COST_MS = 3\n"}, "workloads"),
}


@pytest.fixture
def own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in an empty folder; what is imported from it is forgotten afterwards."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = dict(sys.modules)
    for name in [each for each in before if each.partition(".")[0] == "workloads"]:
        del sys.modules[name]
    yield folder
    for name in set(sys.modules) - set(before):
        if str(folder) in str(getattr(sys.modules[name], "__path__", getattr(sys.modules[name], "__file__", ""))):
            del sys.modules[name]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        package = "workloads.costs" if "/" in name else "costs"
        path.write_text(text.replace("{package}", package), encoding="utf-8")


@pytest.mark.parametrize("kind", OWN)
def test_both_are_found(kind: str, own: Path) -> None:
    files, module = OWN[kind]
    write(own, files)
    assert load_topology(f"{module}:topology")["o"].cost.cpu_ms == 3
    assert load_topology("linear").name == "linear"
    assert load_topology(f"{module}:topology").name == "orders"


def test_a_whole_command_works_beside_them(shell, own: Path) -> None:
    """In a process of its own, which searches the current directory first."""
    write(own, OWN["a folder"][0])
    for reference in ("workloads.orders:topology", "diamond"):
        answer = shell("check", reference, "--no-spark")
        assert (answer.returncode, answer.stderr) == (0, "")


def test_a_shipped_workload_is_loaded_by_its_file() -> None:
    """It imports its neighbours, which it does as a part of its package only."""
    assert load_topology(f"{shipped.FOLDER / 'diamond.py'}:diamond").name == "diamond"


def test_the_code_of_a_shipped_workload_counts_as_a_job_s() -> None:
    function = load_topology("synthetic-word-count")["wait"].function
    assert function is not None
    assert {"waiting.<locals>.wait", "copied_batch"} <= set(code_pieces(function))


def test_a_shipped_workload_has_versions(tmp_path: Path) -> None:
    """As its own repository's at another revision: with its neighbours as they were then."""
    kinds = tmp_path / "workloads" / "kinds.py"
    shutil.copytree(shipped.FOLDER, kinds.parent)
    kinds.write_text(kinds.read_text(encoding="utf-8") + "\nCPU_BOUND = Cost(cpu_ms=7.0)\n", encoding="utf-8")
    past = load_version("linear", beside="linear", moved=Moved(shipped.FOLDER.parent, tmp_path, "revision 1"))
    assert past.topology["work-1"].cost.cpu_ms == 7.0
    assert load_topology("linear")["work-1"].cost.cpu_ms == 0.3
