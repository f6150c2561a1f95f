"""Prepare a drill: choose the operator that is to work longer, foresee whether a gate can find that, load it.

It is the operator with the largest share of the CPU time per row. Making it work a part longer makes the job's CPU per
row grow by share × part: that is what the gate has to find.

A function of DataFrames is loaded with random numbers, and what a number costs only the engine can tell. So some are
drawn, for as long as a compiler needs to see them, and only the windows at the end count: while the code is new a
number costs more than it will in the gate, and the drill would be smaller than was asked for. On an engine that runs
two deployments at the same time the job itself runs beside them, so that the machine's moods are in both: from blocks
one after the other, drills became too small (scripts/benches/results/gate_spark.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from profiler.errors import ProfileError
from profiler.experiment.observation import Measurement, Observation
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Operator, Topology
from profiler.questions.gate.criteria import Criterion
from profiler.questions.gate.drill.burden import Burden, burdened, draws_numbers
from profiler.questions.gate.verdict import GateLimits
from profiler.statistics.noise_floor import foreseen_floor

NUMBERS_PER_S = 7e7
"""Random numbers per second that a core draws in Spark's expressions, as a first guess
(scripts/benches/results/gate_spark.md)."""
_FURTHEST = 20
"""Factor by which a calibration may correct that guess: a wild one must not make a drill that never ends."""


@dataclass(frozen=True, slots=True)
class Drilled:
    """A drill: what it does, and what is expected of it."""

    operator: str
    part: float
    """The part of its work that the operator works longer."""
    share: float
    """The part of the job's CPU time per row that is the operator's."""
    foreseen_effect: float
    """The smallest effect on CPU per row that the gate could find, by the noise seen before it, on a good day."""

    @property
    def expected_effect(self) -> float:
        """The effect on the job's CPU per row that is expected."""
        return self.part * self.share


def largest_operator(topology: Topology, reference: Measurement) -> str:
    """Choose the operator with the most CPU time of those that the reference saw."""
    candidates = {operator.name for operator in topology.operators}
    operators = {name: each for name, each in reference.operators.items() if name in candidates}
    if not operators:
        raise ProfileError("The engine told nothing of the operators, so none can be chosen for a drill.")
    return max(operators, key=lambda name: operators[name].cpu_s)


def foreseen(
    operator: str, part: float, reference: Measurement, design: WindowPlan, limits: GateLimits, *, paired: bool = False
) -> Drilled:
    """Foresee what a gate of this design could find of an operator that works a part longer."""
    share = reference.operators[operator].cpu_s / sum(window.cpu_s for window in reference.windows)
    costs = [_cpu_s(operator, (window,)) / window.source_rows for window in reference.windows if window.source_rows > 0]
    # As the gate tests it: one operator of several, one criterion of several, in parts of the job's CPU per row.
    floor = foreseen_floor(
        costs,
        windows=design.block + design.block_probe,
        blocks=2 * design.blocks,
        alpha=2 * limits.alpha / len(reference.operators) / len(Criterion),
        relevant_effect=limits.max_slowdown / share,
        paired=paired,
    )
    return Drilled(operator, part, share, share * floor)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Windows of a job as it is, and of one with an operator that draws numbers; both observed in the same detail."""

    own: Sequence[Observation]
    loaded: Sequence[Observation]


@dataclass(frozen=True, slots=True)
class Loader:
    """Loads an operator so that it works longer by the part that was asked for."""

    runs_functions: bool
    """Whether the engine runs functions; False on the simulated one, which knows costs only."""

    def calibrates(self, topology: Topology, operator: str) -> bool:
        """Tell whether the engine has to be asked what a burden of this operator costs."""
        chosen = topology[operator]
        return self.runs_functions and isinstance(chosen, Operator) and draws_numbers(chosen)

    def loaded(
        self,
        topology: Topology,
        drilled: Drilled,
        reference: Measurement,
        measured: Callable[[Topology], Calibration],
    ) -> Topology:
        """Return the topology with the drilled operator working longer; `reference` counted the operators' rows.

        `measured` runs a topology until compilers know it, and then for the windows that tell what it costs.
        """
        seen = reference.operators[drilled.operator]
        if not seen.rows_in or not seen.rows_out:
            raise ProfileError(
                f"No row goes through '{drilled.operator}', so it cannot be made to work longer.",
                hint="Give the job rows that it lets through.",
            )
        own_s = _cpu_s(drilled.operator, reference.windows)
        # A function over batches burns seconds of this machine, however fast it is; a cost is one at normal speed.
        burnt_s = seen.cpu_s if self._burns(topology, drilled.operator) else own_s
        burden = Burden(
            drilled.operator,
            drilled.part,
            drilled.part * burnt_s / seen.rows_in,
            drilled.part * (seen.waiting_s or 0.0) / seen.rows_in,
        )
        if self.calibrates(topology, drilled.operator):
            burden = _calibrated(topology, burden, own_s / seen.rows_out, measured)
        return burdened(topology, burden)

    def _burns(self, topology: Topology, operator: str) -> bool:
        chosen = topology[operator]
        return self.runs_functions and isinstance(chosen, Operator) and chosen.batches is not None


def _calibrated(
    topology: Topology, burden: Burden, guessed_s: float, measured: Callable[[Topology], Calibration]
) -> Burden:
    """Find out how many random numbers per emitted row take a part of what a row takes already, by drawing some."""
    guess = max(1, round(2 * burden.part * guessed_s * NUMBERS_PER_S))
    seen = measured(burdened(topology, replace(burden, numbers_per_row=guess)))
    own_s, loaded_s = (_cpu_s_per_source_row(burden.operator, windows) for windows in (seen.own, seen.loaded))
    numbers = burden.part * own_s * guess / (loaded_s - own_s) if loaded_s > own_s else guess
    return replace(burden, numbers_per_row=round(min(max(1, numbers, guess / _FURTHEST), guess * _FURTHEST)))


def _cpu_s_per_source_row(operator: str, windows: Sequence[Observation]) -> float:
    """Tell what an operator takes for a row that enters the topology; nothing where no row came through."""
    rows = sum(window.source_rows for window in windows)
    return _cpu_s(operator, windows) / rows if rows > 0 else 0.0


def _cpu_s(operator: str, windows: Sequence[Observation]) -> float:
    """Add up an operator's CPU time as it would be at normal speed."""
    return sum(window.operators[operator].cpu_s * window.speed_index for window in windows)


def in_words(drilled: Drilled) -> str:
    """Say what a drill does and what is expected of it."""
    all_the_same = ": it is measured all the same" if drilled.expected_effect < drilled.foreseen_effect else ""
    return (
        f"drill: '{drilled.operator}' has {drilled.share:.0%} of the CPU time per row and works {drilled.part:.0%} "
        f"longer, so {drilled.expected_effect:+.1%} CPU per row are expected; "
        f"the gate finds {drilled.foreseen_effect:+.1%} at the best{all_the_same}"
    )
