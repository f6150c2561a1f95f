"""What an operator's code is made of, as digests by name: a change of any of them is a change of the operator.

A function counts with its source (comments, docstrings and layout left out), its defaults and closure, and whatever of
the user's own code it refers to, however deep: functions, classes, constants, modules. What belongs to an installed
library counts by its name only. Where there is no source to read (a lambda, code typed at a prompt), the compiled code
is taken, which depends on Python's version. What a function finds out only while it runs (a file it reads, a name it
looks up by text) is not seen.
"""

from __future__ import annotations

import ast
import dis
import enum
import functools
import hashlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from profiler import shipped
from profiler.job.loading import is_library, is_ours
from profiler.job.topology import Function

_LENGTH = 16
"""Characters of a digest that are kept."""
_SHIPPED = f"{shipped.__name__}."
"""Jobs, wherever they are installed."""
_KNOWN_AS = {"profiler.job.random_numbers": "profiler.random_numbers"}
"""Modules that jobs refer to, by the names under which stored profiles know them."""


def code_pieces(function: Function) -> dict[str, str]:
    """Return the digests of all pieces that a function is made of, by their names."""
    walk = _Walk()
    walk.value(getattr(function, "__name__", type(function).__name__), function)
    return {name: _digest("\n".join(sorted(texts))) for name, texts in sorted(walk.pieces.items())}


def late_imports(function: Function) -> dict[str, str]:
    """Return the user's modules that a function, or what it refers to, imports while it runs: their texts by name.

    What these import themselves is among them: on a worker it is looked for when they are.
    """
    walk = _Walk()
    walk.value(getattr(function, "__name__", type(function).__name__), function)
    found: dict[str, str] = {}
    wanted = sorted(walk.late)
    while wanted:
        name = wanted.pop()
        path = None if name in found else _users_module_file(name)
        if path is not None:
            found[name] = module_text(name) or ""
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            wanted += _imported_by(_code_of(path), package)
    return found


def module_text(name: str) -> str | None:
    """Return the normalised source of a module of the user's, as it would be imported now; None where there is none."""
    path = _users_module_file(name)
    return None if path is None else _normalised(path.read_text(encoding="utf-8")) or path.name


@dataclass(slots=True)
class _Walk:
    """Follow references from one function; every piece is a name with what was found under it."""

    pieces: dict[str, set[str]] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    """All that may be a module which is imported while the function runs."""
    _seen: dict[int, Any] = field(default_factory=dict)
    """Values that were met, by identity; they are held, as the identity of one that is gone may be given to another."""

    def value(self, name: str, value: Any) -> None:
        """Take down what a name stands for."""
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, functools.partial):
            inner = _name_of(value.func)
            self._add(f"{inner}(…)", f"partial {_constant(value.args)} {_constant(value.keywords)}")
            self.value(inner, value.func)
        elif isinstance(value, MethodType):
            self.value(_name_of(value.__func__), value.__func__)
            self.value(name, value.__self__)
        elif isinstance(value, FunctionType):
            self._function(inspect.unwrap(value))
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, ModuleType | BuiltinFunctionType):
            self._add(name, f"{type(value).__name__} {value.__name__}")
        else:
            self._add(name, _constant(value))
            if _is_users_class(type(value)) and not isinstance(value, enum.Enum):
                self._class(type(value))

    def _function(self, function: Any) -> None:
        if not isinstance(function, FunctionType) or not _is_users(function.__module__, function.__code__.co_filename):
            module = getattr(function, "__module__", "")
            self._add(_name_of(function), f"library {_KNOWN_AS.get(module, module)}")
            return
        self._seen[id(function)] = function
        name = function.__qualname__
        self._add(name, _source(function) or _compiled(function.__code__))
        self._add(name, f"defaults {_constant(function.__defaults__)} {_constant(function.__kwdefaults__)}")
        for inner, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                self.value(f"{name}.{inner}", cell.cell_contents)
            except ValueError:  # not bound yet: a function that is defined further down
                continue
        self._references(function.__code__, function.__globals__)

    def _class(self, kind: type) -> None:
        if not _is_users_class(kind):
            self._add(kind.__qualname__, f"library {kind.__module__}")
            return
        self._seen[id(kind)] = kind
        self._add(kind.__qualname__, _source(kind) or "class")
        for base in kind.__bases__:
            if base is not object:
                self.value(base.__qualname__, base)
        for member in vars(kind).values():
            plain = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(plain, FunctionType):
                self._references(plain.__code__, plain.__globals__)

    def _references(self, code: CodeType, names: Mapping[str, Any]) -> None:
        """Follow the global names, the attributes of the user's modules, and the imports of a code object."""
        self.late |= _imported_by(code, str(names.get("__package__") or ""))
        used = list(_instructions(code))
        attributes = [what for how, what in used if how in ("LOAD_ATTR", "LOAD_METHOD")]
        for how, what in used:
            if how in ("LOAD_GLOBAL", "LOAD_NAME") and what in names:
                value = names[what]
                if isinstance(value, ModuleType) and _is_users(value.__name__, getattr(value, "__file__", None)):
                    for attribute in attributes:
                        if attribute in vars(value):
                            self.value(f"{what}.{attribute}", vars(value)[attribute])
                else:
                    self.value(what, value)
            elif how == "IMPORT_NAME":
                self._imported(what)

    def _imported(self, name: str) -> None:
        """Take down a module of the user's that is imported while the function runs, as a whole."""
        text = module_text(name)
        if text is not None:
            self._add(f"import {name}", text)

    def _add(self, name: str, text: str) -> None:
        self.pieces.setdefault(name, set()).add(text)


def _instructions(code: CodeType) -> Iterator[tuple[str, str]]:
    """Yield how names are used in a code object and in those within it."""
    for instruction in dis.get_instructions(code):
        if isinstance(instruction.argval, str):
            yield instruction.opname, instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _instructions(constant)


def _imported_by(code: CodeType, package: str) -> set[str]:
    """Return what a code object of a package imports, with the packages around it and what is taken from it by name.

    Python puts the dots of a relative import and the names that are taken before the module's own name.
    """
    found: set[str] = set()
    before: tuple[Any, Any] = (0, None)
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            dots, names = before
            found |= _modules_named("." * dots + instruction.argval, names or (), package)
        elif instruction.opname != "EXTENDED_ARG":
            before = (before[1], instruction.argval)
    return found.union(*(_imported_by(each, package) for each in code.co_consts if isinstance(each, CodeType)))


def _modules_named(written: str, names: tuple[str, ...], package: str) -> set[str]:
    try:
        name = resolve_name(written, package)
    except ImportError:  # more dots than there are packages: it fails wherever it runs
        return set()
    parts = name.split(".")
    around = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return around | {f"{name}.{each}" for each in names}


def _code_of(path: Path) -> CodeType:
    try:
        return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError):  # it fails wherever it is imported
        return compile("", str(path), "exec")


def _source(definition: FunctionType | type) -> str:
    """Return the normalised source of a function or class; nothing where there is none, or it is part of a line."""
    if definition.__name__ == "<lambda>":
        return ""
    try:
        return _normalised(textwrap.dedent(inspect.getsource(definition)))
    except (OSError, TypeError):
        return ""


def _normalised(source: str) -> str:
    """Write source without what does not change its meaning: comments, layout, docstrings; nothing if it is none."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module) and _has_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _has_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module) -> bool:
    first = node.body[0] if node.body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


def _compiled(code: CodeType) -> str:
    constants = [_compiled(each) if isinstance(each, CodeType) else _constant(each) for each in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"


def _constant(value: Any) -> str:
    """Write a value so that equal ones look alike in every process; objects of libraries by their type only."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    if isinstance(value, type | FunctionType | BuiltinFunctionType | ModuleType):
        return _name_of(value)
    return _container(value) or _object(value)


def _container(value: Any) -> str:
    """Write what holds other values; nothing where it is none. The order counts where it has a meaning."""
    match value:
        case Mapping():
            return "{" + ", ".join(sorted(f"{_constant(key)}: {_constant(each)}" for key, each in value.items())) + "}"
        case set() | frozenset():
            return "{" + ", ".join(sorted(map(_constant, value))) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_constant, value)) + "]"
        case re.Pattern():
            return f"pattern {value.pattern!r} {value.flags}"
    return ""


def _object(value: Any) -> str:
    kind = type(value)
    if not _is_users_class(kind):
        return f"a {kind.__qualname__}"
    attributes = {name: each for name, each in getattr(value, "__dict__", {}).items() if not callable(each)}
    return f"a {kind.__qualname__} {_constant(attributes)}"


def _name_of(value: Any) -> str:
    return str(getattr(value, "__qualname__", getattr(value, "__name__", type(value).__qualname__)))


def _is_users_class(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return module is not None and _is_users(kind.__module__, getattr(module, "__file__", None))


def _is_users(module: str | None, file: str | None) -> bool:
    """Tell whether code is the user's own: neither Python's, nor an installed library's, nor the profiler's."""
    name = module or ""
    if name.startswith(_SHIPPED):
        return True
    return file is not None and not is_ours(name) and not file.startswith("<frozen") and not is_library(Path(file))


def _users_module_file(name: str) -> Path | None:
    """Find the file of a module of the user's; libraries are told by their first package, which imports nothing."""
    try:
        top = find_spec(name.partition(".")[0])
        if top is None or not _is_users(name, _place_of(top)):
            return None
        spec = find_spec(name)
    except Exception:  # noqa: BLE001 - the packages around it are imported, which may fail with anything
        return None
    origin = None if spec is None else spec.origin
    return Path(origin) if origin is not None and origin.endswith(".py") else None


def _place_of(spec: Any) -> str | None:
    """Return the file of a module, or the folder of a package without one."""
    if spec.origin is not None:
        return str(spec.origin)
    folders = list(spec.submodule_search_locations or ())
    return str(folders[0]) if folders else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
