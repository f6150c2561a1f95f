"""Random DAGs for the simulated engine: fan-in, fan-out, CPU and waiting mixed, some without parallelism or growth.

`random-dag?seed=7&operators=5` is always the same topology; the benches and property tests draw from here.
"""

from __future__ import annotations

import numpy as np

from profiler.errors import TopologyError
from profiler.job.topology import Cost, Operator, Output, Source, Topology

from .kinds import MOST_ELEMENTS

CPU_MS = (0.02, 0.5)
WAIT_MS = (0.5, 8.0)
"""Ranges, drawn uniformly on a log scale."""


def random_dag(
    seed: int = 1, operators: int = 5, *, non_parallel: float = 0.0, logic: float = 0.0, sources: int = 1
) -> Topology:
    """Draw a topology; `non_parallel` and `logic` are the chances of an operator to be so."""
    for parameter, elements in (("operators", operators), ("sources", sources)):
        if not 1 <= elements <= MOST_ELEMENTS:
            raise TopologyError(
                f"random-dag has {parameter}={elements}.",
                hint=f"It takes 1 to {MOST_ELEMENTS}: what a search copes with.",
            )
    rng = np.random.default_rng(seed)
    names = [f"source{index + 1}" for index in range(sources)]
    drawn = []
    for index in range(operators):
        inputs = _inputs(rng, names, unread=[name for name in names[:sources] if index >= operators - sources])
        drawn.append(_operator(rng, f"op{index + 1}", inputs, non_parallel=non_parallel, logic=logic))
        names.append(drawn[-1].name)
    drawn = _with_all_sources_read(drawn, names[:sources])
    return Topology(f"random-dag-{seed}", [Source(name) for name in names[:sources]], drawn)


def _inputs(rng: np.random.Generator, names: list[str], unread: list[str]) -> list[str]:
    """Mostly the newest element, sometimes an older one (a fan-out), sometimes two (a fan-in)."""
    first = names[-1] if rng.random() < 0.6 else str(rng.choice(names))
    inputs = [first]
    if len(names) > 1 and rng.random() < 0.25:
        inputs.append(str(rng.choice([name for name in names if name != first])))
    return list(dict.fromkeys([*inputs, *(name for name in unread if rng.random() < 0.5)]))


def _operator(rng: np.random.Generator, name: str, inputs: list[str], *, non_parallel: float, logic: float) -> Operator:
    waits = rng.random() < 0.5
    cost = Cost(
        cpu_ms=_log_uniform(rng, 0.005, 0.03) if waits else _log_uniform(rng, *CPU_MS),
        wait_ms=_log_uniform(rng, *WAIT_MS) if waits else 0.0,
    )
    is_logic = rng.random() < logic
    return Operator(
        name,
        inputs=inputs,
        output=Output.LOGIC if is_logic else Output.PROPORTIONAL,
        parallel=not rng.random() < non_parallel,
        cost=cost,
        selectivity=1.0 if is_logic else float(np.round(rng.choice([0.3, 0.5, 1.0, 1.0, 1.0, 2.0, 3.0]), 2)),
        emits_per_s=float(rng.uniform(1, 20)) if is_logic else None,
    )


def _with_all_sources_read(operators: list[Operator], sources: list[str]) -> list[Operator]:
    read = {name for operator in operators for name in operator.inputs}
    missing = [name for name in sources if name not in read]
    first = operators[0]
    widened = Operator(
        first.name,
        inputs=[*first.inputs, *missing],
        output=first.output,
        parallel=first.parallel,
        cost=first.cost,
        selectivity=first.selectivity,
        emits_per_s=first.emits_per_s,
    )
    return [widened, *operators[1:]]


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
