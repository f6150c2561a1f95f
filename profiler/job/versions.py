"""Load a second version of a job beside the one that is loaded already: other code under the same module names.

Python keeps one module per name, so the second version would be given the first one's neighbours. While a version is
loaded, and whenever one of its operators builds a query, its own modules take the places of the other's. What a batch
function imports while it runs on a worker is found where the first version's is, so that is refused where it differs.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from profiler import shipped
from profiler.errors import UsageError
from profiler.job.loading import file_of, is_library, is_ours, load_topology, with_file
from profiler.job.operator_code import late_imports, module_text
from profiler.job.topology import Function, Operator, Topology


@dataclass(frozen=True, slots=True)
class Moved:
    """A folder whose content, as it was at another time, is in another one."""

    root: Path
    copy: Path
    name: str
    """The name of what it is a copy of, for errors."""

    def path(self, path: Path) -> Path:
        """Return where a path is in the copy; itself where it lies elsewhere."""
        path = path.resolve()
        if not path.is_relative_to(self.root) or is_library(path):
            return path
        return self.copy / path.relative_to(self.root)


@dataclass(slots=True)
class Version:
    """A loaded version; its operators find their own modules."""

    topology: Topology
    modules: _Modules

    def travel_by_value(self, other: str) -> None:
        """Let Spark send its modules to the workers by value: by name they would find the other version's.

        Refuse what is imported only there, by name, where the `other` one's is not the same.
        """
        self._require_same_late_imports(other)
        from pyspark import cloudpickle  # noqa: PLC0415 - a simulated run does not wait for it

        with self.modules.in_place():
            for module in self.modules.own.values():
                cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]

    def _require_same_late_imports(self, other: str) -> None:
        for operator in self.topology.operators:
            if operator.function is None or operator.batches is None:
                continue
            with self.modules.in_place():
                own = late_imports(operator.function)
            for name, text in sorted(own.items()):
                if module_text(name) != text:
                    raise UsageError(
                        f"Operator '{operator.name}' imports '{name}' while it runs, and the versions have different "
                        f"ones: Spark's workers would use {other} for both.",
                        hint="Import it at the top of its file.",
                    )


def load_version(reference: str, *, beside: str, moved: Moved | None = None) -> Version:
    """Load what a TOPOLOGY argument names, `beside` another that is loaded; from a copy where its folder moved."""
    first, second = file_of(beside), file_of(reference)
    folders = [file.parent for file in (first, second) if file is not None]
    roots = [Path.cwd(), *folders, *([moved.root, moved.copy] if moved else [])]
    shipped_folder = moved.path(shipped.FOLDER) if moved else shipped.FOLDER
    modules = _Modules(roots, _search_path(first, moved), [str(shipped_folder)])
    try:
        there = _moved_reference(reference, moved)  # a path is one from here, not from the copy's own folder
        with modules.in_place(), contextlib.chdir(_working_directory(moved)):
            topology = load_topology(there)
    except UsageError as error:
        said = f"{moved.name}: {error.message}" if moved else error.message
        raise UsageError(said, hint=error.hint) from error
    if moved is not None and not any(_lies_in(module, moved.copy) for module in modules.own.values()):
        raise UsageError(
            f"'{reference}' is not in {moved.name}, but comes from elsewhere.",
            hint="Name a file or module of the repository.",
        )
    return Version(_bound(topology, modules), modules)


@dataclass(slots=True)
class _Modules:
    """The modules of one version that lie in the roots, and where it searches for more."""

    roots: list[Path]
    search_path: list[str]
    shipped_path: list[str]
    own: dict[str, ModuleType] = field(default_factory=dict)

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        """Let this version's modules be the ones that are imported."""
        others, path, shipped_path = self._loaded(), list(sys.path), list(shipped.__path__)
        self._replace(others, self.own)
        sys.path[:], shipped.__path__[:] = self.search_path, self.shipped_path
        try:
            yield
        finally:
            self.own = self._loaded()
            self.search_path = list(sys.path)
            self._replace(self.own, others)
            sys.path[:], shipped.__path__[:] = path, shipped_path

    def _loaded(self) -> dict[str, ModuleType]:
        return {name: module for name, module in list(sys.modules.items()) if self._is_versioned(name, module)}

    def _is_versioned(self, name: str, module: ModuleType) -> bool:
        if name == "__main__" or is_ours(name):
            return False
        return any(_lies_in(module, root) for root in self.roots)

    @staticmethod
    def _replace(before: dict[str, ModuleType], after: dict[str, ModuleType]) -> None:
        for name in before:
            del sys.modules[name]
        sys.modules.update(after)


def _lies_in(module: ModuleType, root: Path) -> bool:
    """Tell whether a module's file, or the folder of a package without one, is in a folder and no library."""
    places: list[Any] = [getattr(module, "__file__", None), *list(getattr(module, "__path__", None) or ())[:1]]
    place = next((str(each) for each in places if each), None)
    return place is not None and _is_own(place, root)


@functools.cache
def _is_own(place: str, root: Path) -> bool:
    """Tell whether a path is in a folder and no library; every switch asks it of every module that is loaded."""
    path = Path(place)
    return path.is_relative_to(root) and not is_library(path)


def _search_path(first: Path | None, moved: Moved | None) -> list[str]:
    """Search where the other version does, but not in its own folder; in the copy instead of what was moved."""
    kept = [path for path in sys.path if first is None or Path(path).resolve() != first.parent]
    return [str(moved.path(Path(path))) if moved and path else path for path in kept]


def _working_directory(moved: Moved | None) -> Path:
    """Return where a job's code finds its files: in the copy, where that has such a folder."""
    if moved is None:
        return Path.cwd()
    there = moved.path(Path.cwd())
    return there if there.is_dir() else moved.copy


def _moved_reference(reference: str, moved: Moved | None) -> str:
    """Name a file by its place in the copy; a module is found there by itself."""
    file = file_of(reference)
    if moved is None or file is None:
        return reference
    if not moved.path(file).is_file():
        raise UsageError(f"there is no '{reference}'.", hint="Name a revision that has it.")
    return with_file(reference, moved.path(file))


def _bound(topology: Topology, modules: _Modules) -> Topology:
    """Let every operator that builds a query do so among its own modules."""
    return topology.changed(operators=[_bound_operator(each, modules) for each in topology.operators])


def _bound_operator(operator: Operator, modules: _Modules) -> Operator:
    if operator.function is None or operator.batches is not None:
        return operator
    return replace(operator, function=_among(operator.function, modules))


def _among(function: Function, modules: _Modules) -> Function:
    @functools.wraps(function)
    def among_its_modules(*arguments: Any) -> Any:
        with modules.in_place():
            return function(*arguments)

    return among_its_modules
