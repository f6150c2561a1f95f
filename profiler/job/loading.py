"""Load a topology by a workload's name, `module:attribute` or `file.py:attribute`.

The attribute is `topology` unless said otherwise. It is a Topology or a function that returns one; the function's
parameters are numbers, set as in `linear?depth=6` or `jobs.py:variant?depth=3,wait_ms=2.5` (in zsh within quotes).
A file of payloads is looked for beside the code that names it, then in the current directory.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
import sysconfig
import traceback
import zlib
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import profiler
from profiler import shipped
from profiler.errors import TopologyError, UsageError, did_you_mean
from profiler.job.topology import Topology
from profiler.services.user_path import user_path

T = TypeVar("T")

_DEFAULT_ATTRIBUTE = "topology"
_LONGEST_TEXT = 300


def load_topology(reference: str) -> Topology:
    """Load what the user's TOPOLOGY argument names, or raise a UsageError that says what is wrong with it."""
    address, _, query = reference.partition("?")
    parameters = _parameters(query, reference)
    place, attribute = _place(address)
    if address not in shipped.WORKLOADS:
        _search_first(Path.cwd())
    module = _file_module(place) if place.endswith(".py") else _named_module(place)
    topology = _topology(_attribute(module, attribute, place), parameters, address)
    return topology if module.__file__ is None else _with_files_in(Path(module.__file__).parent, topology)


def file_of(reference: str) -> Path | None:
    """Return the file that a TOPOLOGY argument names; None where it names a workload or a module."""
    place, _ = _place(reference.partition("?")[0])
    return user_path(place).resolve() if place.endswith(".py") else None


def code_place(reference: str) -> Path:
    """Return where the code of a TOPOLOGY argument is kept: its file, or the folder from which modules are found."""
    is_workload = reference.partition("?")[0] in shipped.WORKLOADS
    return file_of(reference) or (shipped.FOLDER if is_workload else Path.cwd())


def found_code(reference: str) -> Path | None:
    """Return what loading a TOPOLOGY argument would run first, found without running any of it; None where nothing is.

    It is a file, or the folder of a package, and where links lead. What the interpreter itself holds is where that is.
    """
    place, _ = _place(reference.partition("?")[0])
    if place.endswith(".py"):
        file = user_path(place).resolve()
        return file if file.is_file() else None
    name = place.partition(".")[0]
    spec = PathFinder.find_spec(name, [str(Path.cwd())])
    if spec is None:
        with suppress(ValueError):  # one that is loaded, and does not say from where
            spec = find_spec(name)
    if spec is None:
        return None
    folders = list(spec.submodule_search_locations or ())
    found = spec.origin if spec.has_location and spec.origin else folders[0] if folders else sys.executable
    return Path(found).resolve()


def with_file(reference: str, file: Path) -> str:
    """Return the argument that names the same attribute, with the same parameters, of another file."""
    address, mark, query = reference.partition("?")
    return f"{file}:{_place(address)[1]}{mark}{query}"


def _place(address: str) -> tuple[str, str]:
    """Split an address into where the code is and which attribute it means."""
    if address in shipped.WORKLOADS:
        address = shipped.WORKLOADS[address]
    place, separator, attribute = address.rpartition(":")
    if not separator:
        place, attribute = attribute, ""
        if not place.endswith(".py") and "." not in place:
            others = f"Known: {', '.join(shipped.WORKLOADS)}; or name your own as file.py:attribute."
            raise UsageError(
                f"There is no workload '{place}'.", hint=did_you_mean(place, shipped.WORKLOADS, otherwise=others)
            )
    if not place:
        raise UsageError(f"'{address}' names no module.", hint="Write it as file.py:attribute or module:attribute.")
    return place, attribute or _DEFAULT_ATTRIBUTE


def _parameters(query: str, reference: str) -> dict[str, int | float]:
    """Read `depth=6,wait_ms=2.5`."""
    parameters: dict[str, int | float] = {}
    for pair in filter(None, query.split(",")):
        name, _, value = pair.partition("=")
        try:
            parameters[name] = int(value) if value.lstrip("-").isdigit() else float(value)
        except ValueError:
            raise UsageError(
                f"Parameter '{name}' of '{reference}' is '{value}', not a number.",
                hint="Write it like linear?depth=6.",
            ) from None
    return parameters


def _file_module(place: str) -> ModuleType:
    path = user_path(place).resolve()
    if not path.is_file():
        raise UsageError(f"There is no file '{place}'.", hint="'profile init FILE' writes one to start from.")
    if path.parent == shipped.FOLDER:
        return _named_module(f"{shipped.__name__}.{path.stem}")
    _search_first(path.parent)
    # A name of its own for every file: two versions of a job are often called alike, and json.py must not take the
    # place of the library's. It is registered before it runs, as dataclasses look their module up.
    name = f"{path.stem}_{zlib.crc32(bytes(path)):08x}"
    loader = SourceFileLoader(name, str(path))
    module = module_from_spec(ModuleSpec(name, loader, origin=str(path)))
    module.__file__ = str(path)
    sys.modules[name] = module
    _guarded(lambda: loader.exec_module(module), place)
    return module


def _named_module(place: str) -> ModuleType:
    try:
        return _guarded(lambda: importlib.import_module(place), place)
    except TopologyError as error:
        cause = error.__cause__
        # A module that the user's module fails to import is that module's error, not a wrong address.
        if isinstance(cause, ModuleNotFoundError) and f"{place}.".startswith(f"{cause.name}."):
            raise UsageError(
                f"There is no module '{cause.name}' in the current directory or on the Python path.",
                hint="Check its name, or name the file: file.py:attribute.",
            ) from cause
        raise


def _search_first(folder: Path) -> None:
    """Let the user's code import its neighbours, as `python file.py` would."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _attribute(module: ModuleType, attribute: str, place: str) -> object:
    try:
        return getattr(module, attribute)
    except AttributeError:
        topologies = [name for name, value in vars(module).items() if isinstance(value, Topology)]
        public = [name for name in vars(module) if not name.startswith("_")]
        near = topologies or difflib.get_close_matches(attribute, public, n=1)
        raise UsageError(
            f"'{place}' has no attribute '{attribute}'.",
            hint=f"Did you mean '{place}:{near[0]}'?" if near else f"Define it: {attribute} = Topology(…).",
        ) from None


def _topology(found: object, parameters: Mapping[str, int | float], address: str) -> Topology:
    if callable(found) and not isinstance(found, type):
        factory: Callable[..., object] = found
        _check_parameters(factory, parameters, address)
        found = _guarded(lambda: factory(**parameters), address)
    elif parameters and isinstance(found, Topology):
        raise UsageError(f"'{address}' takes no parameters.", hint=f"Leave out ?{','.join(parameters)}.")
    if not isinstance(found, Topology):
        raise TopologyError(
            f"'{address}' is a {type(found).__name__}, not a Topology.",
            hint="Name an attribute that is a Topology or a function that returns one.",
        )
    return found


def _with_files_in(folder: Path, topology: Topology) -> Topology:
    """Let sources find the files of payloads that lie in a folder."""
    files = {
        source: folder / source.payloads
        for source in topology.sources
        if source.payloads is not None and source.payloads not in shipped.DATA
    }
    found = {
        source: replace(source, payloads=str(file)) for source, file in files.items() if user_path(str(file)).is_file()
    }
    if not found or folder == Path.cwd():
        return topology
    return topology.changed(sources=[found.get(source, source) for source in topology.sources])


def _check_parameters(factory: Callable[..., Any], parameters: Mapping[str, int | float], address: str) -> None:
    known = _guarded(lambda: inspect.signature(factory).parameters, address)
    # A function with **selectivity_ takes selectivity_count and the like, and knows itself which of them there are.
    families = tuple(name for name, parameter in known.items() if parameter.kind is parameter.VAR_KEYWORD)
    for name, value in parameters.items():
        if name not in known and name.startswith(families):
            continue
        if name not in known or name in families:
            raise UsageError(f"'{address}' has no parameter '{name}'.", hint=_known_parameters(known))
        if isinstance(known[name].default, int) and not isinstance(value, int):
            raise UsageError(f"Parameter '{name}' of '{address}' is {value}.", hint="It takes a whole number.")
    for name, parameter in known.items():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variadic and name not in parameters:
            raise TopologyError(
                f"'{address}' is a function that needs '{name}', not a Topology.",
                hint=f"Name a Topology, or set the parameter: {address}?{name}=….",
            )


def _known_parameters(known: Mapping[str, inspect.Parameter]) -> str:
    single = [each for each in known.values() if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    if not single:
        return "It takes none."
    return "It takes " + ", ".join(f"{each.name} (default {each.default})" for each in single) + "."


def _guarded(run: Callable[[], T], place: str) -> T:
    """Run the user's code; an error in it becomes one sentence with its own line, its output goes to stderr."""
    try:
        with redirect_stdout(sys.stderr):
            return run()
    except TopologyError as error:
        where = own_line(error)
        raise TopologyError(f"{where}: {error.message}" if where else error.message, hint=error.hint) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        said = _said(error)
        hint = "Correct that line; --debug shows the traceback."
        if isinstance(error, ModuleNotFoundError) and error.name:
            hint = f"Correct its name, or install it where profile runs: {sys.executable} -m pip install …"
        raise TopologyError(f"'{place}' cannot be loaded: {own_line(error) or place}: {said}.", hint=hint) from error


def _said(error: BaseException) -> str:
    """Name an error of the user's code and what it says, which may be nothing, or an error of its own."""
    kind = type(error).__name__
    try:
        text = " ".join(str(error).split()).rstrip(".")[:_LONGEST_TEXT]
    except Exception:  # noqa: BLE001
        text = "it can't say why"
    return f"{kind}: {text}" if text else kind


def own_line(error: BaseException) -> str:
    """Find the innermost line of the user's own code: neither a library's, nor Python's, nor this package's."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_shown(error.filename)}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_users(frame.filename)]
    return f"{_shown(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""


def is_library(path: Path) -> bool:
    """Tell whether a file is Python's own or an installed library's."""
    return any(path.is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def is_ours(module: str) -> bool:
    """Tell whether a module is the profiler's own, by its name; the workloads that ship with it are jobs."""
    return module.partition(".")[0] == profiler.__name__ and not module.startswith(f"{shipped.__name__}.")


def _is_users(filename: str) -> bool:
    path = Path(filename)
    ours = [Path(profiler.__file__).parent, shipped.FOLDER]
    return not filename.startswith("<") and not is_library(path) and not any(map(path.is_relative_to, ours))


def _shown(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename
