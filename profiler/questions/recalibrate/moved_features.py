"""Did the application's features move? Step 1's round of a stored profile against the same round, measured again.

What the tasks follow from are the busy and the CPU seconds of every operator per source row. Both rounds have one task
each under stress, so window by window they can be compared like any two rounds: rows per second of work are a
throughput, with the machine's speed taken out. A feature moved where the change is significant (Holm, as there are many
of them) and larger than `MOVED`. Operators that hardly work are passed over: no number of tasks follows from them. So
are those that a logic-dependent operator dominates, as what they do does not grow with the rows of the source.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from profiler.experiment.observation import Measurement, Observation, OperatorWindow
from profiler.job.topology import Topology
from profiler.questions.search.policies.policy import Parameters
from profiler.questions.search.readings.features import application_features
from profiler.statistics.holm import holm
from profiler.statistics.result import Comparison, Verdict
from profiler.statistics.search_noise import RoundWindows, screen_round

MOVED = 0.1
"""Change from which on another number of tasks may be right: operators within 7 % of each other tie anyway."""
LITTLE_WORK = 0.05
"""Part of the busiest operator's seconds below which an operator's own do not matter."""
MovedQuantity = Literal["busy", "CPU"]
_QUANTITIES: tuple[MovedQuantity, ...] = ("busy", "CPU")


@dataclass(frozen=True, slots=True)
class Movement:
    """What a source row costs one operator, before and now."""

    name: str
    quantity: MovedQuantity
    before_s: float
    now_s: float
    p: float
    """The p, adjusted for all that was compared."""

    @property
    def effect(self) -> float:
        """Relative change."""
        return self.now_s / self.before_s - 1


@dataclass(frozen=True, slots=True)
class _Compared:
    name: str
    quantity: MovedQuantity
    before_s: float
    now_s: float
    comparison: Comparison


def moved_features(
    topology: Topology, before: Measurement, now: Measurement, parameters: Parameters
) -> tuple[Movement, ...]:
    """Return the features that moved, those of the largest change first."""
    dominated = application_features(topology, now).dominated
    compared = [each for each in _compared(topology, before, now, parameters) if each.name not in dominated]
    adjusted = holm([each.comparison.p for each in compared]) if compared else ()
    moved = [
        Movement(each.name, each.quantity, each.before_s, each.now_s, p)
        for each, p in zip(compared, adjusted, strict=True)
        if p < parameters.significance and each.comparison.verdict in (Verdict.INCREASED, Verdict.DECREASED)
    ]
    return tuple(sorted(moved, key=lambda each: -abs(math.log(each.now_s / each.before_s))))


def _compared(topology: Topology, before: Measurement, now: Measurement, parameters: Parameters) -> Iterator[_Compared]:
    for quantity in _QUANTITIES:
        past_s = {name: _per_row(before, name, quantity) for name in topology.names}
        now_s = {name: _per_row(now, name, quantity) for name in topology.names}
        least_s = LITTLE_WORK * min(max(past_s.values()), max(now_s.values()))
        for name in topology.names:
            past, present = _rates(before, name, quantity), _rates(now, name, quantity)
            if max(past_s[name], now_s[name]) < least_s or past is None or present is None:
                continue
            comparison = screen_round(past, present, (), alpha=parameters.significance, relevant_effect=MOVED)
            yield _Compared(name, quantity, past_s[name], now_s[name], comparison)


def _rates(measurement: Measurement, name: str, quantity: MovedQuantity) -> RoundWindows | None:
    """Return the source rows per second of work of every window; None where a window saw no work."""
    seconds = [_seconds(window.operators.get(name), quantity) for window in measurement.windows]
    if min(seconds, default=0.0) <= 0:
        return None
    rates = [_rows(window) / each for window, each in zip(measurement.windows, seconds, strict=True)]
    return RoundWindows(tuple(rates), tuple(window.speed_index for window in measurement.windows))


def _per_row(measurement: Measurement, name: str, quantity: MovedQuantity) -> float:
    rows = sum(map(_rows, measurement.windows))
    return sum(_seconds(window.operators.get(name), quantity) for window in measurement.windows) / rows


def _rows(window: Observation) -> float:
    return window.throughput_per_s * window.duration_s


def _seconds(seen: OperatorWindow | None, quantity: MovedQuantity) -> float:
    if seen is None:
        return 0.0
    return seen.busy_s if quantity == "busy" else seen.cpu_s
