"""One key that has most rows: what it lets tasks gain, and how many of them are worth having; pure.

All rows of a key go to one task. Where a part h of a keyed operator's rows have one key, the busiest of n tasks gets

    h + (1 - h) / n

of them, which never falls below h. The key is counted in the first round where that is possible; else the busiest task
against the mean of a round with n > 1 tasks gives it, as their ratio is n · h + 1 - h.

More tasks relieve the busiest one of everything but that key. Once the key alone is BOUND of what it does, all further
tasks together gain at most 1 / BOUND - 1, a quarter: the operator is bound by that key, and gets no more tasks. For a
key with half of the rows that is so from 4 tasks on, with a fifth from 16; for a twentieth it takes 76. (`min_tasks` on
the operator goes before it.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from profiler.experiment.observation import OperatorWindow
from profiler.experiment.rounds import Round
from profiler.job.topology import Topology

BOUND = 0.8
"""Part of the busiest task's rows that have one key, from which on that key bounds the operator."""
ROUNDING = 1e-9


def hot_shares(topology: Topology, rounds: Sequence[Round]) -> dict[str, float]:
    """Return the part of its rows that one key has, by keyed operator, as far as the rounds tell."""
    seen = [past.measurement.operators for past in rounds] if topology.keyed else []
    shares = {name: _hot_share(seen, name) for name in topology.names if name in topology.keyed}
    return {name: share for name, share in shares.items() if share is not None}


def counted_shares(topology: Topology, rounds: Sequence[Round]) -> dict[str, float]:
    """Return the same of operators whose keys were counted, of those alone."""
    seen = [past.measurement.operators for past in rounds]
    found = {name: _counted(seen, name) for name in topology.names if name in topology.keyed}
    return {name: share for name, share in found.items() if share is not None}


def _counted(rounds: Sequence[Mapping[str, OperatorWindow]], name: str) -> float | None:
    shares = (operators[name].hot_key_share for operators in rounds if name in operators)
    return next((share for share in shares if share is not None), None)


def _hot_share(rounds: Sequence[Mapping[str, OperatorWindow]], name: str) -> float | None:
    counted = _counted(rounds, name)
    if counted is not None:
        return counted
    seen = [operators[name] for operators in rounds if name in operators]
    # The more tasks, the less the chance by which keys meet in a task counts.
    spread = max(seen, key=lambda each: each.tasks, default=None)
    if spread is None or spread.tasks < 2 or spread.busy_s <= 0:
        return None
    ratio = spread.busiest_task_s * spread.tasks / spread.busy_s
    return min(1.0, max(0.0, (ratio - 1) / (spread.tasks - 1)))


def tasks_worth_having(share: float) -> float:
    """Return the tasks from which on an operator is bound by the key that has this share of its rows."""
    if share <= 0:
        return math.inf
    return max(1, math.ceil(BOUND / (1 - BOUND) * (1 - share) / share - ROUNDING))


def further_gain(share: float, tasks: int) -> float:
    """Return what all further tasks together would gain: the busiest task could lose all rows but the key's."""
    return (1 - share) / (tasks * share)
