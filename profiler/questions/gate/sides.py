"""Whom a gate compares: the baseline as the request names it, and the tasks that both versions run with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from profiler.errors import ProfileError, UsageError, did_you_mean
from profiler.history.baselines import Baseline
from profiler.job.configuration import Configuration
from profiler.job.loading import code_place
from profiler.job.revision import clean_commit, empty_submodules, shown, unpacked
from profiler.job.topology import Element, Topology
from profiler.job.versions import Version, load_version
from profiler.questions.gate.answer import Against
from profiler.questions.gate.request import GateRequest
from profiler.report.words import counted


@dataclass(frozen=True, slots=True)
class Opponent:
    """The opponent that the candidate is compared with."""

    kind: Against
    name: str
    topology: Topology | None
    """The opponent's topology; None where only stored blocks are left of it."""
    warnings: tuple[str, ...] = ()
    same_code: bool = False
    """Whether it is the candidate's very commit, and nothing was changed since."""


@contextmanager
def opponent(request: GateRequest, stored: Baseline | None, *, runs_functions: bool) -> Iterator[Opponent]:
    """Find what to compare with; code of a git revision is there as long as this is open.

    A stored baseline is run again where its revision is at hand: versions that are measured in turn can be compared
    far more sharply than across sessions. `runs_functions` is False on an engine that knows costs only.
    """

    def other(version: Version) -> Topology:
        _require_same_sources(request, version.topology)
        if runs_functions:
            version.travel_by_value("the candidate's")
        return version.topology

    if request.drill is not None:
        # What another version does differently would be taken for the drill, or hide it.
        named = next((each for each in (request.against, request.against_rev, request.baseline) if each), None)
        ignored = (f"a drill holds the job against itself, not against {named}",) if named else ()
        yield Opponent(Against.ITSELF, "itself", request.topology, ignored)
    elif request.against is not None:
        version = load_version(request.against, beside=request.reference)
        yield Opponent(Against.TOPOLOGY, request.against, other(version))
    elif request.against_rev is not None:
        with _at_revision(request, request.against_rev) as (commit, version):
            yield Opponent(Against.REVISION, shown(commit), other(version), same_code=_is_at(request, commit))
    elif stored is None:
        yield Opponent(Against.ITSELF, "itself", request.topology)
    else:
        with ExitStack() as opened:
            try:
                commit, version = opened.enter_context(_at_stored_revision(request, stored))
            except ProfileError as error:  # git that is not there, or fails, too
                why = f"{stored.name} can't be run again: {error.message.rstrip('.')}"
                yield Opponent(Against.STORED, stored.name, None, (why,))
            else:
                name = f"{shown(commit)} ({stored.name})"
                yield Opponent(Against.REVISION, name, other(version), same_code=_is_at(request, commit))


@contextmanager
def _at_revision(request: GateRequest, revision: str) -> Iterator[tuple[str, Version]]:
    with unpacked(revision, code_place(request.reference)) as (commit, moved):
        try:
            version = load_version(request.reference, beside=request.reference, moved=moved)
        except UsageError as error:
            if empty := empty_submodules(moved):
                told = f"{error.message} Submodules are no part of an archived revision: {', '.join(empty)} is empty."
                raise UsageError(told, hint=error.hint) from error
            raise
        yield commit, version


def _is_at(request: GateRequest, commit: str) -> bool:
    """Tell whether the candidate is the code of a commit."""
    return clean_commit(code_place(request.reference)) == commit


def _at_stored_revision(request: GateRequest, stored: Baseline) -> AbstractContextManager[tuple[str, Version]]:
    if stored.revision is None:
        raise UsageError("its code was not committed when it was saved.")
    if stored.reference != request.reference:
        raise UsageError(f"it was saved as '{stored.reference}'.")
    return _at_revision(request, stored.revision)


def wanted_tasks(request: GateRequest, other: Topology | None, stored: Baseline | None) -> dict[str, int]:
    """Settle the tasks of both versions: those of the stored baseline, else the given ones, else today's."""
    given, today = request.tasks or {}, request.topology.today or {}
    known = dict.fromkeys((*request.topology.names, *(other.names if other else ())))
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known, otherwise=f"It has {', '.join(known)}.")
            raise UsageError(f"--tasks names '{name}', which '{request.topology.name}' does not have.", hint=hint)
    if stored is None:
        return {**today, **given}
    tasks = stored.configuration.tasks
    for name, number in given.items():
        if tasks.get(name, number) != number:
            raise UsageError(
                f"--tasks gives '{name}' {counted(number, 'task')}, but baseline '{stored.name}' had {tasks[name]}.",
                hint="Leave --tasks out, or save a baseline with them.",
            )
    return {**today, **given, **tasks}


def configured(topology: Topology, tasks: Mapping[str, int]) -> Configuration:
    """Give a version its tasks as far as it allows them; elements of which nothing is said get as few as possible."""
    return Configuration.of({each.name: _allowed(each, tasks.get(each.name, each.min_tasks)) for each in topology})


def require_allowed(topology: Topology, given: Mapping[str, int]) -> None:
    """Refuse tasks of --tasks that the candidate does not allow."""
    for element in topology:
        number = given.get(element.name)
        if number is not None and _allowed(element, number) != number:
            given_tasks = counted(number, "task")
            raise UsageError(
                f"--tasks gives '{element.name}' {given_tasks}, but it allows {_allowed_in_words(element)}.",
                hint="Give it as many, or change the topology.",
            )


def other_tasks(candidate: Configuration, baseline: Configuration) -> tuple[str, ...]:
    """Tell which elements of both versions do not run with the same tasks, as one of them does not allow it."""
    return tuple(
        f"'{name}' runs with {counted(baseline[name], 'task')} in the baseline and with {number} in the candidate"
        for name, number in candidate.tasks.items()
        if name in baseline.tasks and baseline[name] != number
    )


def _allowed(element: Element, number: int) -> int:
    most = element.max_tasks if element.parallel else 1
    return max(element.min_tasks, number if most is None else min(most, number))


def _allowed_in_words(element: Element) -> str:
    if not element.parallel:
        return "one only (parallel=False)"
    bounds = [f"min_tasks={element.min_tasks}"] if element.min_tasks > 1 else []
    return " and ".join([*bounds, *([f"max_tasks={element.max_tasks}"] if element.max_tasks is not None else [])])


def _require_same_sources(request: GateRequest, other: Topology) -> None:
    """Refuse versions that read different streams: the same rows are sent to both."""
    ours, theirs = ({source.name for source in topology.sources} for topology in (request.topology, other))
    if ours != theirs:
        raise UsageError(
            f"The versions read different sources: {', '.join(sorted(ours))} and {', '.join(sorted(theirs))}.",
            hint="Give the sources the same names: both versions are sent the same rows.",
        )
