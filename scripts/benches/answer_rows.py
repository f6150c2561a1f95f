"""What `scripts/bench answer` makes of its measurements; pure.

An announced rate is compared with the best one at the same speed of the machine: profiles and sweeps are hours apart,
and two shared cores are a third faster at one time than at another.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from profiler.statistics.interval import mean_interval
from scripts.benches.answer_jobs import Job, Tasks
from scripts.benches.answer_pieces import ENOUGH, Profiled
from scripts.benches.rows import Row, rate_row, row

MEAN_PART, WORST_PART = 0.95, 0.90
MOST_SLOTS = 1.2
NEAR_BEST = 0.95
"""Part of the best throughput of a sweep from which on a configuration counts as reaching it."""
HOLD = 19 / 20
ANSWER_S, WHOLE_S, WAITING_S = 240.0, 480.0, 600.0
USUAL_SPEED = 0.95
"""Part of the usual speed, with what others left of it, from which on the machine was no slower than announced for."""
MOST_DISTURBED = 0.5
"""Part of the batches that others may have disturbed for a run to count as one on a machine as it is announced for."""


@dataclass(frozen=True, slots=True)
class Seen:
    """All that is known of a job."""

    job: Job
    profiled: Mapping[int, Profiled]
    keeps: Mapping[int, Mapping[str, Any]]
    """What came of offering the announced rates, by the profiles' numbers."""
    reference: Profiled | None
    """The profile by which the yardstick was measured."""
    turns: Sequence[Mapping[str, Any]]
    held: Mapping[Tasks, float]

    @property
    def parts(self) -> dict[int, float]:
        """Parts of the best rate that were announced, at the same speed; no more than all of it."""
        best_per_s = max(self.held.values(), default=0.0)
        if not best_per_s or self.reference is None:
            return {}
        return {
            number: min(1.0, found.per_s_at(self.reference) / best_per_s) for number, found in self.profiled.items()
        }

    @property
    def tasks_parts(self) -> dict[int, float]:
        """Throughputs of the answers' tasks under stress in parts of the best ones', where both were swept."""
        per_s = levels(self.turns)
        return {
            number: per_s[found.tasks] / max(per_s.values())
            for number, found in self.profiled.items()
            if found.tasks in per_s
        }

    @property
    def slots(self) -> dict[int, float]:
        """Slots of the answers in times the fewest that reach the best throughput of the sweep."""
        per_s = levels(self.turns)
        if not per_s:
            return {}
        fewest = min(sum(tasks) for tasks, value in per_s.items() if value >= NEAR_BEST * max(per_s.values()))
        return {number: found.slots / fewest for number, found in self.profiled.items()}


def levels(turns: Iterable[Mapping[str, Any]]) -> dict[Tasks, float]:
    """Return the throughput of every configuration at the usual speed, as the turns agree on it.

    A block is a configuration's level times its turn's, in the sense of least squares of logs: not every configuration
    is in every turn.
    """
    blocks = [
        (turn, tuple(block["tasks"]), block["at_usual_per_s"])
        for turn, each in enumerate(turns)
        for block in each["blocks"]
        if block["at_usual_per_s"] > 0
    ]
    if not blocks:
        return {}
    names = list(dict.fromkeys(tasks for _, tasks, _ in blocks))
    count = 1 + max(turn for turn, _, _ in blocks)
    # The last line says that turns have no level on average, so that configurations have all of it.
    known = np.zeros((len(blocks) + 1, len(names) + count))
    known[-1, len(names) :] = 1
    for line, (turn, tasks, _) in enumerate(blocks):
        known[line, [names.index(tasks), len(names) + turn]] = 1
    wanted = np.array([*(np.log(per_s) for _, _, per_s in blocks), 0.0])
    found = np.linalg.lstsq(known, wanted)[0]
    return dict(zip(names, np.exp(found[: len(names)]).tolist(), strict=True))


def summary_rows(jobs: Sequence[Seen]) -> Iterator[Row]:
    """Tell of all jobs together what was asked for, and of each one where it stands."""
    yield from _part_rows(jobs)
    yield from _kept_rows(jobs)
    yield from _time_rows(jobs)


def weighting_rows(found: Mapping[str, Any] | None) -> Iterator[Row]:
    """Tell by how much short batches that are weighed as long ones differ from long ones."""
    for quantile, value in {} if found is None else found["short"].items():
        true = found["long"][quantile]
        against = f"a batch of five minutes: {true:,.0f} ms at {found['per_s']:,.0f}/s"
        yield row(f"{quantile} of short batches, weighed", value, unit="ms", against=against, n=found["batches"])


def listed(seen: Seen) -> Iterator[str]:
    """List the measurements of a job, one by one."""
    for number, found in seen.profiled.items():
        fails_at = "—" if found.fails_at_per_s is None else f"{found.fails_at_per_s:,.0f}"
        yield (
            f"{seen.job.name} {number}, {found.at}, load {found.load:.1f}: {_tasks(found.tasks)}, "
            f"{found.rounds} rounds, {found.capacity_per_s:,.0f}/s under stress, "
            f"announced {found.announced_per_s:,.0f}, fails at {fails_at}; "
            f"set-up {found.set_up_s:.0f} s, answer {found.answer_s:.0f} s, all {found.whole_s:.0f} s"
        )
        for which in ("announced", "higher") if number in seen.keeps else ():
            kept = seen.keeps[number][which]
            late = "—" if kept["latency_ms"] is None else f"{kept['latency_ms']:,.0f} ms"
            yield (
                f"  {which} {kept['per_s']:,.0f}: {'holds' if kept['passed'] else 'FAILS'}, {late}, "
                f"{kept['came_through_per_s']:,.0f}/s through in {kept['batches']} batches "
                f"({kept['disturbed']} disturbed), "
                f"at {kept['relative_speed']:.2f} of the usual speed, load {seen.keeps[number]['load']:.1f}"
            )
    for tasks, per_s in sorted(levels(seen.turns).items(), key=lambda each: -each[1]):
        holds = f", holds {seen.held[tasks]:,.0f}" if tasks in seen.held else ""
        yield f"  swept {_tasks(tasks)}: {per_s:,.0f}/s{holds}"


def _part_rows(jobs: Sequence[Seen]) -> Iterator[Row]:
    parts = [part for seen in jobs for part in seen.parts.values()]
    if parts:
        yield _mean_row("announced rate of the best one, mean", parts, MEAN_PART)
        yield row("announced rate of the best one, worst", min(parts), WORST_PART, n=len(parts))
    slots = [each for seen in jobs for each in seen.slots.values()]
    if slots:
        quantity = f"slots of the fewest that reach {NEAR_BEST:.0%} of the best, most"
        yield row(quantity, max(slots), MOST_SLOTS, better="lower", n=len(slots))
    for seen in jobs:
        own, tasks, used = (list(each.values()) for each in (seen.parts, seen.tasks_parts, seen.slots))
        if own:
            quantity = f"{seen.job.name}: announced rate of the best one (worst {min(own):.1%})"
            yield row(quantity, statistics.fmean(own), against=f"{max(seen.held.values()):,.0f}/s", n=len(own))
        if tasks:
            quantity = f"{seen.job.name}: throughput of its tasks of the best in the sweep"
            most = f"slots {max(used):.2f} × the fewest"
            yield row(quantity, statistics.fmean(tasks), against=most, n=len(tasks))


def _kept_rows(jobs: Sequence[Seen]) -> Iterator[Row]:
    keeps = [kept for seen in jobs for kept in seen.keeps.values()]
    announced = [found.announced_per_s > 0 for seen in jobs for found in seen.profiled.values()]
    if announced:
        yield rate_row("profiles that announce a rate", announced)
    if not keeps:
        return
    yield rate_row("announced rates that hold for five minutes", [kept["announced"]["passed"] for kept in keeps], HOLD)
    as_usual = [kept["announced"]["passed"] for kept in keeps if _is_as_usual(kept["announced"])]
    yield rate_row("of these, where the machine was as it is announced for", as_usual)
    too_low = [not kept["higher"]["passed"] for kept in keeps]
    yield rate_row(f"announced rates that are {ENOUGH:.0%} of the highest that holds", too_low)
    both = [kept["announced"]["passed"] and not kept["higher"]["passed"] for kept in keeps]
    yield rate_row("announced rates that are right in both ways", both, HOLD)


def _time_rows(jobs: Sequence[Seen]) -> Iterator[Row]:
    for what, of in (("answer", "answer_s"), ("rate", "whole_s")):
        for waits in (False, True):
            kind, goal_s = "that waits" if waits else "that works", WAITING_S if waits else WHOLE_S
            seconds = [getattr(found, of) for seen in jobs if _waits(seen) == waits for found in seen.profiled.values()]
            if seconds:
                yield row(
                    f"seconds to the {what} of a job {kind}, most",
                    max(seconds),
                    ANSWER_S if of == "answer_s" else goal_s,
                    better="lower",
                    unit="s",
                    against=f"{statistics.fmean(seconds):.0f} s on average",
                    n=len(seconds),
                )


def _is_as_usual(run: Mapping[str, Any]) -> bool:
    return run["relative_speed"] >= USUAL_SPEED and run["disturbed"] <= MOST_DISTURBED * run["batches"]


def _waits(seen: Seen) -> bool:
    """Tell whether a job waits for a service: its operators say so."""
    return any(each.cost is not None and each.cost.wait_ms >= 1 for each in seen.job.topology.operators)


def _mean_row(quantity: str, parts: Sequence[float], goal: float) -> Row:
    low, high = mean_interval(parts) if len(parts) > 1 else (None, None)
    return row(quantity, statistics.fmean(parts), goal, n=len(parts), low=low, high=high)


def _tasks(tasks: Tasks) -> str:
    return f"({','.join(map(str, tasks))})"
