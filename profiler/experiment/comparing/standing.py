"""Arms that stand: all are deployed, and the load goes from one to the other, with no deployment between two blocks.

The machine is then the same for both arms of a turn: less time passes between them, and nothing but their load changes.
An arm that has no load costs next to nothing, but its tasks have slots, so all of them must fit at once; where they do
not, every block is a deployment of its own (blocks.py). What that gains is in scripts/benches/results/turns.md.

Deployments of one configuration differ a little from each other, for as long as they stand, and turns of the same two
would take that for a difference of the arms. So they are deployed anew after some turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from profiler.experiment.comparing.blocks import Blocks
from profiler.experiment.engine import Deployment, Engine
from profiler.experiment.observation import BlockWindows
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology

TURNS = 3
"""Turns after which the arms are deployed anew."""
SHORTER = 2 / 3
"""Part of a block's windows that one of an arm that stands has, and as many blocks more fit the same time: a change of
the load is quickly made, and what is close together differs less."""


def fit_at_once(engine: Engine, jobs: Iterable[tuple[Topology, Configuration]]) -> bool:
    """Tell whether deployments of all these can be open at the same time."""
    platform = engine.platform
    needed = (
        sum(configuration.tasks.values()) + platform.slots - engine.slots_for(topology)
        for topology, configuration in jobs
    )
    return platform.side_by_side and sum(needed) <= platform.slots


def shorter_blocks(design: WindowPlan) -> WindowPlan:
    """Return the design for arms that stand: more turns, and shorter ones."""
    return replace(design, block=max(1, round(SHORTER * design.block)), blocks=round(design.blocks / SHORTER))


@dataclass(slots=True)
class StandingArms:
    """Arms that stand while they are measured in turns; a context, at whose end they are taken down."""

    blocks: Blocks
    _deployments: dict[int, Deployment] = field(default_factory=dict, init=False)
    """Those that stand, by their arm."""
    _turns: int = field(default=0, init=False)
    """Turns since they were deployed."""

    def in_turn(self, order: Sequence[int], *, before: int = 0, planned: int | None = None) -> Iterator[BlockWindows]:
        """Measure a block of each of these arms; those that take no part any more are taken down."""
        if self._turns == TURNS or set(order) != self._deployments.keys():
            self._take_down()
        new = not self._deployments
        for index, number in enumerate(order, start=before):
            self.blocks.begun(number, index, planned or before + len(order))
            for arm in order:  # all stand before the first one is measured
                if arm not in self._deployments:
                    self._deployments[arm] = self.blocks.deployed(arm)
            yield self.blocks.of(number, self._deployments[number], self.blocks.design.block_warm_up if new else 0)
        self._turns += 1

    def _take_down(self) -> None:
        with ExitStack() as closed:  # all of them, also where one can't be closed
            for deployment in self._deployments.values():
                closed.callback(deployment.close)
        self._deployments.clear()
        self._turns = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._take_down()
