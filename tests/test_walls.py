"""The walls of the house: who may import whom, whose names are whose, and who may speak to a terminal or to Spark."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import profiler
from profiler.experiment.disturbance import Disturbance
from profiler.experiment.observation import Measurement, Observation, OperatorWindow

HOUSE = Path(profiler.__file__).parent
FLOORS = ("cli", "questions", "engines", "history", "report", "settings", "experiment", "traffic", "job", "services")
"""Rooms from the top of the house to its ground: each may use those further down, and no room knows who uses it."""
GROUND = ("statistics", "shipped", "errors", "secrets")
"""What imports nothing of the house but errors and secrets."""

ROLES = """
__init__ __main__ answer capture catalogue child conclusion deployment doctor document documents engine errors exchange
experiment exports kind latency opening progress request result resume run session store terminal words
"""
"""Names of files that more than one room has: what a question, an engine, a command or a store is made of."""


@cache
def modules() -> dict[str, ast.Module]:
    """Return every module of the package, parsed, by its path in the house."""
    return {
        str(path.relative_to(HOUSE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(HOUSE.rglob("*.py"))
    }


def imported(tree: ast.Module) -> set[str]:
    """Return the names of all modules that a module imports, at its top or within its functions."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def rooms_used(tree: ast.Module) -> set[str]:
    known = {*FLOORS, *GROUND}
    parts = [name.split(".") for name in imported(tree) if name.startswith("profiler.")]
    return {part[1] for part in parts if part[1] in known}


def names_at_the_top(tree: ast.Module) -> Iterator[str]:
    """Yield the classes of a module, and what it assigns."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name


def is_type_name(name: str) -> bool:
    """Tell a class or an alias by its spelling; variables of types are single letters, constants are all large."""
    return name[0].isupper() and not name.isupper()


def users_of(*libraries: str) -> set[str]:
    return {path for path, tree in modules().items() if any(name.split(".")[0] in libraries for name in imported(tree))}


def test_every_room_uses_only_rooms_further_down():
    """A wall with a door in the wrong place is no wall."""
    floors = {room: number for number, room in enumerate((*FLOORS, *GROUND))}
    seen, wrong = 0, []
    for path, tree in modules().items():
        room = path.split("/")[0]
        if room not in floors:
            continue  # the entry of the package itself
        for used in rooms_used(tree) - {room, "errors", "secrets"}:
            seen += 1
            if floors[used] < floors[room] or room in GROUND:
                wrong.append(f"{path} imports {used}")
    assert seen > 100
    assert not wrong


def test_every_room_has_its_floor():
    """A new room is given a place, or this house is a heap."""
    entries = {path.stem for path in HOUSE.iterdir() if not path.name.startswith("__")}
    assert entries == {*FLOORS, *GROUND}


def test_a_class_name_means_one_thing():
    """Whoever looks a name up finds one class, or one alias of a type."""
    places = defaultdict(list)
    for path, tree in modules().items():
        for name in filter(is_type_name, names_at_the_top(tree)):
            places[name].append(path)
    assert len(places) > 200
    assert {"Floats", "Function", "Portion"} <= set(places), "aliases are looked at, too"
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_a_file_s_name_means_one_thing():
    """Files of one name have one role in each room that has it; a new name of this kind is a decision."""
    places = defaultdict(list)
    for path in modules():
        places[Path(path).name].append(path)
    assert len(places) > 150
    twice = {name for name, paths in places.items() if len(paths) > 1}
    assert twice - {f"{role}.py" for role in ROLES.split()} == set()


def test_no_file_is_two_rooms():
    """Who wants to know what a file does reads it in one go."""
    lines = {path: (HOUSE / path).read_text(encoding="utf-8").count("\n") for path in modules()}
    assert {path: number for path, number in lines.items() if number > 350} == {}


def test_no_package_is_a_heap():
    """A package of more than sixteen modules has rooms of its own."""
    heaps = {}
    for folder in {(HOUSE / path).parent for path in modules()}:
        files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        rooms = [each for each in folder.iterdir() if (each / "__init__.py").is_file()]
        if len(files) > 16 and not rooms:
            heaps[str(folder.relative_to(HOUSE))] = len(files)
    assert heaps == {}


def test_only_reports_and_commands_know_rich():
    """What decides does not print."""
    speakers = {"terminal.py", "progress.py", "console.py"}
    users = users_of("rich")
    assert {"report/console.py", "questions/gate/terminal.py"} <= users
    others = {path for path in users if not path.startswith("cli/") and Path(path).name not in speakers}
    assert {path for path in others if not path.endswith(("_table.py", "_terminal.py"))} == set()


def test_only_commands_know_typer():
    """A question can be asked without a command line."""
    users = users_of("typer")
    assert "cli/app.py" in users
    assert {path for path in users if not path.startswith("cli/")} == set()


def test_only_the_engine_and_what_runs_in_it_know_pyspark():
    """The rest of the house runs where there is no Spark."""
    allowed = {
        "job/random_numbers.py",  # work that jobs do
        "job/versions.py",  # how a second version travels to workers
        "questions/check/columns.py",  # what an operator gives is asked of Spark
        "questions/gate/drill/burden.py",  # what a drill adds to an operator
    }
    assert {path for path in users_of("pyspark", "py4j") if not path.startswith("engines/spark/")} <= allowed


def test_only_the_engine_and_checks_know_how_spark_runs_a_job():
    """Whoever else wants to know asks the kind of the engine."""
    users = {path for path, tree in modules().items() if any("engines.spark" in name for name in imported(tree))}
    others = {path for path in users if not path.startswith("engines/")}
    assert others
    assert {path for path in others if not path.startswith("questions/check/")} == set()


def test_nobody_asks_for_the_name_of_an_engine():
    """A third engine changes no command: what matters is what an engine can do."""
    members = {
        path
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "EngineName"
    }
    assert {path for path in members if path.startswith("engines/")} == {
        "engines/simulated/kind.py",
        "engines/spark/kind.py",
    }
    # The first is the default of --engine; a check looks at Spark, whatever measures.
    assert {path for path in members if not path.startswith("engines/")} == {
        "settings/declarations.py",
        "questions/check/run.py",
    }


def test_what_is_measured_and_kept_is_read_by_somebody():
    """A figure of every window that no report, policy or gate looks at costs time, and room in every history."""
    figures = {field.name for kind in (Observation, OperatorWindow, Measurement, Disturbance) for field in fields(kind)}
    read = {
        node.attr
        for path, tree in modules().items()
        if not path.startswith("engines/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    assert len(figures) > 20
    assert figures - read == set()
