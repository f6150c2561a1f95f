"""Can one rely on the answer, on Spark? Small jobs profiled as a user does, against what they can really do.

Each job is profiled three times. Every announced rate is offered for five minutes, and so is one that is so much higher
that it must not hold. The yardstick is a sweep of configurations in turns of blocks, and the rate that the fastest of
them holds. Each of these pieces is kept when it is done: a call works for `BENCH_MINUTES` (8 where that is not set), a
piece that it has begun is finished, and tells of all there is. It is meant to be called again and again, until it says
that nothing is left; `BENCH_JOBS`, names with commas between them, leaves the other jobs for later. What the profiler's
own changes make stale are its profiles; the yardstick stays as long as the engine does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from profiler.errors import ProfileError
from scripts.benches import answer_pieces as measured
from scripts.benches.answer_jobs import JOBS, Job, Tasks
from scripts.benches.answer_pieces import Profiled
from scripts.benches.answer_rows import Seen, levels, listed, summary_rows, weighting_rows
from scripts.benches.rows import Row
from scripts.benches.saved import Saved
from scripts.benches.warm_engine import note

_RUNS = (
    "profiler/engines/spark",
    "profiler/traffic/generator",
    "profiler/experiment/measure.py",
    "profiler/questions/search/holding.py",
    "profiler/questions/search/rate_search.py",
    "profiler/questions/search/verification.py",
    "scripts/benches/answer_jobs.py",
    "scripts/benches/answer_pieces.py",
    "scripts/benches/waiting_job.py",
    "scripts/benches/checksums.py",
    "workloads",
)
YARDSTICK_OF = _RUNS
"""Code whose change makes sweeps stale."""
PROFILES_OF = (*_RUNS, "profiler/experiment", "profiler/questions/search", "profiler/statistics")
"""Code whose change makes profiles stale."""
PROFILES = 3
REPETITIONS = 2
"""Blocks of each configuration of a sweep."""
WEIGHTED = "SQL with state"
"""The job whose short batches are compared with long ones."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What is measured and kept as one."""

    kept: Saved
    key: str
    likely_s: float
    """Seconds that it takes, as a rule: none is begun that would end too late, but the first one of a call."""
    measure: Callable[[], dict[str, Any]]

    @property
    def is_known(self) -> bool:
        """Tell whether it is measured already."""
        return self.key in self.kept.known


class Series:
    """What is kept of all jobs, and what is still to be measured."""

    def __init__(self) -> None:
        self.profiles = Saved("answer", *PROFILES_OF)
        self.yardstick = Saved("answer-yardstick", *YARDSTICK_OF)
        known = {job.name: job for job in JOBS}
        names = os.environ.get("BENCH_JOBS", ",".join(known)).split(",")
        if not known.keys() >= set(names):
            raise SystemExit(f"BENCH_JOBS names {', '.join(names)}; there are {', '.join(known)}.")
        self._chosen = [known[name] for name in names]

    def profiled(self, job: Job) -> dict[int, Profiled]:
        """Return the profiles of a job by their numbers."""
        known = self.profiles.known
        keys = {number: f"{job.name}, profile {number}" for number in range(1, PROFILES + 1)}
        return {number: Profiled.of(known[key]) for number, key in keys.items() if key in known}

    def reference(self, job: Job) -> Profiled | None:
        """Return the first profile of a job, which its yardstick is measured by; an older one where that has begun."""
        kept = self.yardstick.known.get(f"{job.name}, reference")
        return self.profiled(job).get(1) if kept is None else Profiled.of(kept)

    def turns(self, job: Job) -> list[dict[str, Any]]:
        """Return the turns of a job's sweep."""
        return [value for key, value in self.yardstick.known.items() if key.startswith(f"{job.name}, turn ")]

    def held(self, job: Job) -> dict[Tasks, float]:
        """Return the rates that configurations of a job were found to hold."""
        start = f"{job.name}, held "
        known = self.yardstick.known.items()
        return {tuple(value["tasks"]): value["per_s"] for key, value in known if key.startswith(start)}

    def seen(self, job: Job) -> Seen:
        """Return all that is known of a job."""
        profiled = self.profiled(job)
        keys = {number: f"{job.name}, keeps {number}" for number in profiled}
        keeps = {number: self.profiles.known[key] for number, key in keys.items() if key in self.profiles.known}
        return Seen(job, profiled, keeps, self.reference(job), self.turns(job), self.held(job))

    def missing(self) -> Iterator[Piece]:
        """Yield what is to be measured next, again and again: each piece depends on those before it.

        One that is not known when the next one is asked for has failed, and what depends on it is left out.
        """
        for number in range(1, PROFILES + 1):
            for pieces in (self._profile, self._keeps):
                for job in self._chosen:
                    yield from (piece for piece in pieces(job, number) if not piece.is_known)
            for job in self._chosen:
                yield from self._swept(job)
            yield from (piece for piece in self._weighting() if not piece.is_known)

    def _profile(self, job: Job, number: int) -> Iterator[Piece]:
        yield Piece(self.profiles, f"{job.name}, profile {number}", 480, partial(measured.profile, job))

    def _keeps(self, job: Job, number: int) -> Iterator[Piece]:
        found = self.profiled(job).get(number)
        if found is not None and found.announced_per_s > 0:
            yield Piece(self.profiles, f"{job.name}, keeps {number}", 540, partial(measured.keeps, job, found))

    def _weighting(self) -> Iterator[Piece]:
        job = next((each for each in self._chosen if each.name == WEIGHTED), None)
        reference = None if job is None else self.reference(job)
        if job is not None and reference is not None:
            yield Piece(self.yardstick, f"{job.name}, weighting", 720, partial(measured.weighting, job, reference))

    def _swept(self, job: Job) -> Iterator[Piece]:
        reference = self.reference(job)
        if reference is None:
            return
        self.yardstick.get(f"{job.name}, reference", lambda: self.profiles.known[f"{job.name}, profile 1"])
        while lacking := self._lacking(job):
            number = len(self.turns(job)) + 1
            # What is swept later, as a later profile named it, takes turns with the best of those before.
            rival = [each for each in self._fastest(job) if each not in lacking][:1]
            tasks = [*lacking, *rival][:: -1 if number % 2 == 0 else 1]
            piece = Piece(
                self.yardstick, f"{job.name}, turn {number}", 400, partial(measured.turn, job, reference, tasks)
            )
            yield piece
            if not piece.is_known:
                return
        for each in self._fastest(job)[: job.held]:
            if each not in self.held(job):
                yield Piece(
                    self.yardstick, f"{job.name}, held {each}", 420, partial(measured.held, job, reference, each)
                )

    def _lacking(self, job: Job) -> list[Tasks]:
        """Return configurations that have too few blocks; those that fitted no slots in a turn are not asked for."""
        turns = self.turns(job)
        blocks = [tuple(block["tasks"]) for turn in turns for block in turn["blocks"]]
        left_out = {tuple(each) for turn in turns for each in turn["left_out"]}
        answers = [found.tasks for found in self.profiled(job).values()]
        wanted = dict.fromkeys([*job.sweep, *answers])
        return [each for each in wanted if blocks.count(each) < REPETITIONS and each not in left_out]

    def _fastest(self, job: Job) -> list[Tasks]:
        per_s = levels(self.turns(job))
        return sorted(per_s, key=per_s.__getitem__, reverse=True)


def rows() -> Iterator[Row]:
    """Measure as long as a call may, and tell of what there is."""
    series = Series()
    measure_missing(series, 60 * float(os.environ.get("BENCH_MINUTES", "8")))
    yield from summary_rows([series.seen(job) for job in JOBS])
    yield from weighting_rows(series.yardstick.known.get(f"{WEIGHTED}, weighting"))


def appendix() -> str:
    """List all that was measured, one by one."""
    series = Series()
    return "\n".join(line for job in JOBS for line in listed(series.seen(job)))


def measure_missing(series: Series, seconds: float) -> None:
    """Measure piece after piece, for so long; Ctrl-C ends it."""
    ends_s, is_first = time.monotonic() + seconds, True
    try:
        for piece in series.missing():
            if not is_first and time.monotonic() + piece.likely_s > ends_s:
                note(f"Next: {piece.key}")
                return
            is_first = False
            note(piece.key)
            try:
                piece.kept.get(piece.key, piece.measure)
            except ProfileError as error:
                note(f"{piece.key} failed, the next call tries again: {error}")
        note("Nothing is left to measure.")
    except KeyboardInterrupt:
        note("Stopped: the rows hold what there is so far; the next call goes on.")
