"""`profile run` of every workload on Spark, as a user calls it, and how well the simulated engine foretells it.

Every profile is a process of its own; its document is kept, so the bench goes on where it stopped. The simulated engine
is given the costs that step 1 measured, and predicts the throughput of the start and of the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from profiler.experiment.constraint import LatencyConstraint
from profiler.experiment.rounds import Action, Round
from profiler.job.configuration import Configuration
from profiler.job.loading import load_topology
from profiler.questions.search.bound import is_bound_by_waiting
from profiler.questions.search.document import rounds_of
from profiler.questions.windows import with_fitting_windows
from profiler.settings.declarations import Settings
from scripts.benches.commands import timed_document
from scripts.benches.prediction import predicted_per_s
from scripts.benches.rows import Row, row
from scripts.benches.saved import Saved

WORKLOADS = ("linear", "diamond", "star", "word-count", "synthetic-word-count", "twitter-sentiment")
MEASURED = (
    "profiler/engines/spark",
    "profiler/traffic/generator",
    "profiler/questions/search",
    "profiler/statistics",
    "profiler/experiment",
    "profiler/questions/search/loop.py",
    "profiler/questions/search/verification.py",
    "profiler/settings/declarations.py",
    "profiler/questions/search/run.py",
    "profiler/questions/fitting.py",
    "profiler/questions/windows.py",
    "workloads",
)
"""A change of these makes the documents stale."""
NEED_TASKS = {"diamond": ("ask", "look-up"), "synthetic-word-count": ("wait",)}
"""Operators that wait, of workloads in which they are what bounds one task each."""
WAITING_GOAL, CPU_GOAL = 0.15, 0.30
"""Errors of a prediction that are aimed for."""


@dataclass(frozen=True, slots=True)
class Profiled:
    """One workload's document, and how long it took."""

    name: str
    document: Mapping[str, Any]
    minutes: float

    @property
    def tasks(self) -> tuple[str, str]:
        """Tasks of the start and of the answer, as tuples are written."""
        start, best = self.document["initial"]["tasks"], self.document["best"]["tasks"]
        return _written(start), _written(best)

    @property
    def starts_late(self) -> bool:
        """Tell whether the start violates the latency constraint that the answer keeps: its rate is no rate to use."""
        parameters = self.document["parameters"]
        by_number = {each.number: each for each in rounds_of(self.document)}
        start, best = (by_number[self.document[which]["round"]] for which in ("initial", "best"))
        constraint = LatencyConstraint(parameters["latency_ms"], parameters["latency_quantile"])
        return best.meets(constraint) and not start.meets(constraint)

    @property
    def cores(self) -> int:
        """Of the machine."""
        return int(self.document["environment"]["cores"])

    def stressed(self, which: str) -> Round | None:
        """Return the start (`initial`) or the answer (`best`) under stress; a throttled one does what it is offered."""
        rounds = rounds_of(self.document)
        chosen = next(each for each in rounds if each.number == self.document[which]["round"])
        configuration = Configuration.of(chosen.configuration.tasks)
        return next((each for each in rounds if each.configuration == configuration), None)

    def prediction_error(self, which: str) -> float | None:
        """Return how far the simulated engine is off the start or the answer, as a part of it."""
        start = next(each for each in rounds_of(self.document) if each.trial.action is Action.START)
        measured = self.stressed(which)
        if measured is None:
            return None
        topology, tasks = load_topology(self.name), measured.configuration
        window_s = with_fitting_windows(Settings(), (topology,)).window_s
        predicted = predicted_per_s(topology, start.measurement, tasks, cores=self.cores, window_s=window_s)
        return predicted / measured.throughput_per_s - 1

    def prediction_goal(self, which: str) -> float:
        """Return the error that is aimed for: of each configuration by what bounds it, and not of both alike."""
        measured = self.stressed(which)
        return WAITING_GOAL if measured is not None and is_bound_by_waiting(measured, self.cores) else CPU_GOAL


def rows() -> Iterator[Row]:
    """Profile what is not profiled yet, and yield what came of each."""
    for each in profiled():
        start, best = each.tasks
        document = each.document
        found = document["best"]
        low, high = found["throughput_interval_per_s"] or (None, None)
        tasks = f"tasks {start} → {best}, {document['best']['holds']}"
        yield row(
            f"{each.name}: throughput", found["throughput_per_s"], unit="/s", against=tasks, n=1, low=low, high=high
        )
        yield row(f"{each.name}: gain over one task each", document["gain"], n=1)
        yield row(f"{each.name}: rounds", len(document["rounds"]), unit="", better="lower", n=1)
        yield row(f"{each.name}: minutes", each.minutes, 12.0, unit="min", better="lower", n=1)
        yield from task_rows(each)
        for which, title in (("initial", "start"), ("best", "answer")):
            error = each.prediction_error(which)
            if error is None:
                continue
            yield row(
                f"{each.name}: simulated {title}, error",
                abs(error),
                each.prediction_goal(which),
                better="lower",
                n=1,
                against=f"{error:+.1%} of what Spark did",
            )


def task_rows(profiled: Profiled) -> Iterator[Row]:
    """Tell whether tasks went where they are needed, and none to operators whose load does not grow."""
    tasks = profiled.document["best"]["tasks"]
    needy = NEED_TASKS.get(profiled.name, ())
    if needy:
        ahead = min(tasks[name] for name in needy) - max(tasks[name] for name in tasks if name not in needy)
        names = " and ".join(needy)
        yield row(f"{profiled.name}: tasks of {names} more than any other has", ahead, 1, unit="tasks", n=1)
    operators = profiled.document["features"]["operators"]
    dominated = [tasks[name] for name, feature in operators.items() if feature.get("dominated")]
    if dominated:
        quantity = f"{profiled.name}: most tasks of a dominated operator"
        yield row(quantity, max(dominated), 1, better="lower", unit="tasks", n=len(dominated))


def appendix() -> str:
    """Return the table of results/workloads.md."""
    lines = [
        "| workload | start → answer | rows/s | gain | confirmed | rounds | minutes | simulated start, answer |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for each in profiled():
        start, best = each.tasks
        document = each.document
        errors = ", ".join(_percent(each.prediction_error(which)) for which in ("initial", "best"))
        throttled = document["best"]["offered_per_s"]
        limit = f" ≤ {throttled:,.0f}/s" if throttled else ""
        lines.append(
            f"| `{each.name}` | {start} → {best}{limit} "
            f"| {document['initial']['throughput_per_s']:,.0f} → {document['best']['throughput_per_s']:,.0f} "
            f"| {'the start is late' if each.starts_late else _percent(document['gain'])} "
            f"| {_confirmed(document['confirmed'])} "
            f"| {len(document['rounds'])} | {each.minutes:.1f} | {errors} |"
        )
    return "\n".join(lines)


def profiled() -> Iterator[Profiled]:
    """Yield every workload's profile; those that are known are not made again."""
    return map(profiled_one, WORKLOADS)


def profiled_one(name: str) -> Profiled:
    """Return a workload's profile; where it is not known it is made."""
    found = Saved("workloads", *MEASURED).get(name, partial(run_profile, name))
    return Profiled(name, found["document"], found["minutes"])


def run_profile(name: str) -> dict[str, Any]:
    """Call the command, and return its document with how long it took."""
    return timed_document("run", name, check=True)


def _confirmed(comparison: Mapping[str, Any] | None) -> str:
    """Write the gain that interleaved blocks showed, with its interval; nothing where the answer is the start."""
    if comparison is None:
        return "—"
    return f"{comparison['effect']:+.0%} ({comparison['low']:+.0%} to {comparison['high']:+.0%})"


def _percent(error: float | None) -> str:
    return "—" if error is None else f"{error:+.0%}"


def _written(tasks: Mapping[str, int]) -> str:
    return f"({','.join(str(count) for count in tasks.values())})"
