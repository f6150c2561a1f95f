"""What a profile on Spark needs and what there is of it, as a list of checks; nothing is started or fetched."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from profiler.errors import ProfileError
from profiler.services.jars import JarSet, altered_jars, locked_jars
from profiler.services.java import find_java
from profiler.services.kafka import ANSWER_WITHIN_S, given_kafka
from profiler.services.locks import is_held
from profiler.services.mongo import GivenMongo, redacted
from profiler.services.mongod import USERS_LOCK, find_mongod
from profiler.services.ports import LOOPBACK, free_ports
from profiler.services.processes.marked import MarkedProcess, marked_processes
from profiler.services.run_folder import NEEDED_BYTES, FreeBytes, cache_directory, free_bytes, require_space

NEEDED_MEMORY_BYTES = 4_500_000_000
"""Memory for Spark's 3 GB with its overhead, the broker's 0.5 GB heap, mongod's 0.25 GB cache, and this program."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str
    """The thing that is there, and its place."""
    fix: str = ""
    """The way to mend it, where it is not as it should be."""


def examine(
    *,
    env: Mapping[str, str] = os.environ,
    cache: Path | None = None,
    kafka: str | None = None,
    mongo: str | None = None,
    within_s: float = ANSWER_WITHIN_S,
    free: FreeBytes = free_bytes,
) -> tuple[Check, ...]:
    """Look at everything; `kafka` and `mongo` are addresses a user gave, which are asked to answer in time."""
    cache = cache or cache_directory(env)
    return (
        _java(env),
        _jars(JarSet.CONNECTOR, cache),
        *([_kafka(kafka, within_s)] if kafka is not None else [_jars(JarSet.BROKER, cache)]),
        _mongo(mongo, within_s) if mongo is not None else _mongod(env),
        _ports(),
        _memory(),
        _cores(),
        _disk(cache, free),
        _left_over(),
    )


def left_over_processes() -> tuple[MarkedProcess, ...]:
    """Find servers whose profile is gone: none, unless a supervisor and its starter were both killed."""
    return tuple(each for each in marked_processes() if each.is_left_over() or _is_shared_by_nobody(each))


def _is_shared_by_nobody(process: MarkedProcess) -> bool:
    return process.owner == 0 and not is_held(process.folder / USERS_LOCK)


def _attempt(name: str, look: Callable[[], str]) -> Check:
    """Turn what raises for a run into a finding."""
    try:
        return Check(name, ok=True, found=look())
    except ProfileError as error:
        return Check(name, ok=False, found=error.message, fix=error.hint)


def _java(env: Mapping[str, str]) -> Check:
    def look() -> str:
        java = find_java(env)
        return f"Java {java.major} at {java.executable}"

    return _attempt("Java", look)


def _jars(wanted: JarSet, cache: Path) -> Check:
    name = f"jars for the {wanted.value}"
    jars = locked_jars(wanted)
    cached = sum(jar.is_cached(cache) for jar in jars)
    if altered := altered_jars(wanted, cache):
        names = " ".join(str(path) for path in altered)
        return Check(name, ok=False, found=f"{len(altered)} of {len(jars)} altered in the cache", fix=f"rm {names}")
    if cached < len(jars):
        size = sum(jar.size_bytes or 0 for jar in jars if not jar.is_cached(cache)) / 1e6
        fix = f"The first run fetches the rest ({size:.0f} MB): it needs a network."
        return Check(name, ok=False, found=f"{cached} of {len(jars)} in {cache}", fix=fix)
    return Check(name, ok=True, found=f"all {len(jars)} in {cache}")


def _kafka(address: str, within_s: float) -> Check:
    def look() -> str:
        given_kafka(address, within_s=within_s)
        return f"answers at {address}"

    return _attempt("Kafka", look)


def _mongo(uri: str, within_s: float) -> Check:
    def look() -> str:
        GivenMongo(uri, within_s=within_s)
        return f"answers at {redacted(uri)}"

    return _attempt("MongoDB", look)


def _mongod(env: Mapping[str, str]) -> Check:
    def look() -> str:
        mongod = find_mongod(env)
        return f"mongod from {mongod.origin} at {mongod.executable}"

    return _attempt("MongoDB", look)


def _ports() -> Check:
    try:
        free_ports(1)
    except OSError as error:
        fix = f"Allow programs to listen on {LOOPBACK}."
        return Check("ports", ok=False, found=f"none free on {LOOPBACK}: {error.strerror or error}", fix=fix)
    return Check("ports", ok=True, found=f"free ones on {LOOPBACK}")


def _memory() -> Check:
    available = psutil.virtual_memory().available
    found = f"{available / 1e9:.1f} GB available"
    if available >= NEEDED_MEMORY_BYTES:
        return Check("memory", ok=True, found=found)
    return Check("memory", ok=False, found=found, fix=f"A profile needs {NEEDED_MEMORY_BYTES / 1e9:.1f} GB: free some.")


def _cores() -> Check:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Check("cores", ok=True, found=f"{usable} usable")


def _disk(cache: Path, free: FreeBytes) -> Check:
    def look() -> str:
        require_space(cache, NEEDED_BYTES, free=free)
        return f"{free(cache) / 1e9:.1f} GB free at {cache}"

    return _attempt("disk", look)


def _left_over() -> Check:
    left = left_over_processes()
    if not left:
        return Check("left-over processes", ok=True, found="none")
    found = "; ".join(f"{each.pid} {each.command[:60]}" for each in left)
    return Check("left-over processes", ok=False, found=found, fix=f"kill {' '.join(str(each.pid) for each in left)}")
