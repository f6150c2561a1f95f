"""Can one rely on the announced rate? It against the highest that truly keeps the constraint, on the simulated engine.

A rate that is too high breaks the constraint, so it is as wrong as one that is too low: it counts as true / announced.
The true rate is that of the answer's configuration, or the best of all configurations in its slots (all of them where
they are few, else the best that hill climbs find); both are in batches of production's length, on the machine as it is
on average.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache

from profiler.engines.simulated.noise import Preset
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies.stepwise import Stepwise
from profiler.settings.declarations import DEFAULTS
from profiler.statistics.interval import mean_interval
from scripts.benches.announced_jobs import Job, jobs
from scripts.benches.answers import announced_per_s
from scripts.benches.optimum import highest_held_rate
from scripts.benches.rows import Row, rate_row, row
from scripts.benches.saved import Saved

SEEDS = 3
BATCH_S = DEFAULTS.production_batch_s
GOALS: Mapping[Preset, tuple[float | None, float | None]] = {
    Preset.QUIET: (0.98, 0.93),
    Preset.SHARED: (0.94, None),
    Preset.HOSTILE: (0.96, None),
    Preset.BATCHED: (None, None),
}
"""Goals of the mean and of the worst, per preset."""
TOO_MUCH = 1.02
"""Times the true rate from which on an announced one is too high."""
TOLD = 12
"""Worst answers that are told one by one, per preset."""
MEASURED = (
    "profiler/questions/search",
    "profiler/statistics",
    "profiler/engines/simulated",
    "profiler/experiment",
    "workloads",
    "scripts/benches/announced.py",
    "scripts/benches/announced_jobs.py",
    "scripts/benches/answers.py",
)
"""Code whose change makes earlier results stale."""


@dataclass(frozen=True, slots=True)
class Case:
    """One profile to run; its job is found by its name, as a topology's functions don't travel between processes."""

    job: str
    preset: Preset
    seed: int


@dataclass(frozen=True, slots=True)
class Announced:
    """What a profile announced, and what is true."""

    tasks: str
    rounds: int
    announced_per_s: float
    held_per_s: float
    """The highest rate that keeps the constraint with the answer's tasks."""
    best_per_s: float
    """The highest one of all configurations that were looked at."""

    @property
    def part(self) -> float:
        """Part of what is true that the announced rate is worth, with the answer's tasks."""
        if self.held_per_s == 0 or self.announced_per_s == 0:
            return 0.0
        return min(self.announced_per_s / self.held_per_s, self.held_per_s / self.announced_per_s)

    @property
    def part_of_best(self) -> float:
        """The same of the best tasks; a climb may have missed some."""
        return self.part * min(1.0, self.held_per_s / self.best_per_s)

    @property
    def is_too_much(self) -> bool:
        """Tell whether the rate does not hold."""
        return self.announced_per_s > TOO_MUCH * self.held_per_s


def rows() -> Iterator[Row]:
    """Run all profiles, on all cores, and yield the figures."""
    with ProcessPoolExecutor() as pool:
        yield from rows_in(pool)


def rows_in(pool: ProcessPoolExecutor) -> Iterator[Row]:
    """Run all profiles in these processes, and yield the figures."""
    for preset in GOALS:
        cases = _cases(preset)
        # Before the profiles, as the seeds of most presets share them.
        list(pool.map(best_per_s, dict.fromkeys(map(_cluster, cases))))
        yield from _told(preset, dict(zip(cases, pool.map(announced, cases), strict=True)))


def appendix() -> str:
    """List the worst answers, once their figures are there."""
    lines = ["Worst announced rates:"]
    for preset in GOALS:
        found = {case: announced(case) for case in _cases(preset)}
        for case in sorted(found, key=lambda each: found[each].part_of_best)[:TOLD]:
            seen = found[case]
            lines.append(
                f"  {preset} {case.job}, seed {case.seed}: {seen.tasks} announced {seen.announced_per_s:,.0f}, "
                f"holds {seen.held_per_s:,.0f} ({seen.part:.1%}), best {seen.best_per_s:,.0f} ({seen.part_of_best:.1%})"
            )
    return "\n".join(lines)


def _cases(preset: Preset) -> list[Case]:
    return [Case(name, preset, seed) for name in known_jobs() for seed in range(SEEDS)]


@cache
def known_jobs() -> dict[str, Job]:
    """Return all jobs by their names."""
    return {job.name: job for job in jobs()}


def announced(case: Case) -> Announced:
    """Run one profile; a case that was run before is looked up."""
    return Announced(**saved_answers().get(str(case), lambda: asdict(run_case(case))))


@cache
def saved_answers() -> Saved:
    """Open the file of the profiles that were run."""
    return Saved("announced", *MEASURED)


@cache
def saved_rates() -> Saved:
    """Open the file of the best rates that were found."""
    places = ("scripts/benches/announced_jobs.py", "scripts/benches/optimum.py", "workloads/random_dag.py")
    return Saved("announced-best", "profiler/engines/simulated", *places)


def _cluster(case: Case) -> Case:
    """Return the case whose cluster is the same: only the hostile preset hides something that depends on the seed."""
    if case.preset is Preset.HOSTILE:
        return case
    return Case(case.job, Preset.BATCHED if case.preset is Preset.BATCHED else Preset.QUIET, 0)


def best_per_s(cluster: Case) -> float:
    """Return the highest rate that any configuration holds, searched once."""
    job = known_jobs()[cluster.job]

    def search() -> float:
        engine = job.engine(cluster.preset, cluster.seed)
        return highest_held_rate(engine, job.topology, job.slots, job.constraint(), BATCH_S)

    found: float = saved_rates().get(str(cluster), search)
    return found


def run_case(case: Case) -> Announced:
    """Run one case."""
    job = known_jobs()[case.job]
    engine, parameters = job.engine(case.preset, case.seed), job.parameters()
    found = Loop(engine, job.topology, Stepwise(), parameters, production_batch_s=BATCH_S).run()
    answer, fused = found.answer, found.answer.trial.fused
    held = engine.highest_rate(job.topology, answer.configuration, parameters.constraint, fused=fused, batch_s=BATCH_S)
    return Announced(
        tasks=str(answer.configuration),
        rounds=len(found.rounds),
        announced_per_s=announced_per_s(found),
        held_per_s=held,
        best_per_s=best_per_s(_cluster(case)),
    )


def _told(preset: Preset, found: Mapping[Case, Announced]) -> Iterator[Row]:
    label, (mean_goal, worst_goal) = f"{preset}: announced rate", GOALS[preset]
    parts = [seen.part for seen in found.values()]
    yield _mean_row(f"{label}, mean", parts, mean_goal, "what its tasks hold")
    yield row(f"{label}, worst", min(parts), worst_goal, against="what its tasks hold", n=len(parts))
    too_much = [seen.is_too_much for seen in found.values()]
    yield rate_row(f"{label}, more than {TOO_MUCH - 1:.0%} too much", too_much, better="lower", against="the same")
    of_best = [seen.part_of_best for seen in found.values()]
    yield _mean_row(f"{label}, mean", of_best, mean_goal, "what the best tasks hold")
    yield row(f"{label}, worst", min(of_best), worst_goal, against="what the best tasks hold", n=len(of_best))
    for kind in dict.fromkeys(job.kind for job in known_jobs().values()):
        own = [seen for case, seen in found.items() if known_jobs()[case.job].kind == kind]
        worst = min(seen.part for seen in own)
        yield row(
            f"{label}, {kind}: mean (worst {worst:.1%})",
            statistics.fmean(seen.part for seen in own),
            against=f"of the best tasks {statistics.fmean(seen.part_of_best for seen in own):.1%}",
            n=len(own),
        )


def _mean_row(quantity: str, parts: Sequence[float], goal: float | None, against: str) -> Row:
    low, high = mean_interval(parts)
    return row(quantity, statistics.fmean(parts), goal, against=against, n=len(parts), low=low, high=high)
