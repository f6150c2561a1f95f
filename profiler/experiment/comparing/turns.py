"""Blocks in turns: one of each arm, every second turn mirrored, with looks at what they say so far.

Mirrored, so that all arms meet a steady drift alike. What is clear needs no more blocks, so there are early looks, each
at a fifth of the significance level, and a last one at what they left of it: together they raise no more false alarms
than one look would (Bonferroni). Whoever looks may end it, or go on with fewer arms. Blocks that an earlier session
measured are taken as they are, and no turn begins that there is no time for. A look that no turn can follow is not an
early one: it would use up a part of the level in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from profiler.experiment.observation import BlockWindows

EARLY_PART = 0.2
"""Part of the significance level that each early look may use."""
FEWEST_EARLY = 3
"""Blocks per arm that an early look needs."""


def looks(blocks: int, *, early: int = 2) -> list[tuple[int, float]]:
    """Return after how many blocks per arm to look, and with which part of the significance level.

    The first early look is after half of them, the second between that and the end.
    """
    half = (blocks + 1) // 2
    if half < FEWEST_EARLY:
        return [(blocks, 1.0)]
    early_at = [half, (half + blocks) // 2][:early]
    return [*((after, EARLY_PART) for after in early_at), (blocks, 1 - len(early_at) * EARLY_PART)]


@dataclass(frozen=True, slots=True)
class Turn:
    """Blocks that are to be measured, one of each of these arms, in this order."""

    order: tuple[int, ...]
    before: int
    """Blocks that were measured before them."""
    planned: int
    """Blocks that will have been measured in the end, at the most."""


@dataclass(slots=True)
class Turns:
    """An iteration over the looks: each gives the part of the significance level that it may use."""

    arms: Sequence[int]
    """Arms that take part; who looks may leave some out from then on."""
    looks: Sequence[tuple[int, float]]
    measured: Callable[[Turn], Iterable[BlockWindows]]
    """A function that measures a turn's blocks."""
    past: Sequence[BlockWindows] = ()
    """Blocks that an interrupted session measured, in their order."""
    whole: bool = False
    """Whether a turn of which only a part was measured is measured anew, as its blocks belong together."""
    is_time_for: Callable[[int], bool] = lambda _: True
    """A function that tells whether so many blocks, those missing of a turn, would end in time."""
    blocks: list[BlockWindows] = field(default_factory=list, init=False)
    """All blocks so far."""
    complete: bool = field(default=True, init=False)
    """Whether all turns were measured; False where the time ended it."""

    def __iter__(self) -> Iterator[float]:
        """Measure turn after turn, as long as the time lasts, and have the blocks looked at; at least once."""
        *early, (last, _) = self.looks
        parts = dict(early)
        spent, turns = 0.0, 0
        while turns < last and self._is_time(turns):
            known, turn = self._next(turns, last)
            self.blocks += known
            if turn.order:
                self.blocks += self.measured(turn)
            turns += 1
            # Of a turn that was known already there was a look when it was measured.
            if turns in parts and (not turn.order or self._is_time(turns)):
                spent += parts[turns]
                yield parts[turns]
        self.complete = turns == last
        yield 1 - spent

    def _next(self, turns: int, last: int) -> tuple[Sequence[BlockWindows], Turn]:
        """Return what is known of the turn after so many, and what is missing of it."""
        order = tuple(self.arms[::-1] if turns % 2 else self.arms)
        start = len(self.blocks)
        known = self.past[start : start + len(order)]
        if self.whole and len(known) < len(order):
            known = ()
        return known, Turn(order[len(known) :], start + len(known), start + (last - turns) * len(order))

    def _is_time(self, turns: int) -> bool:
        _, turn = self._next(turns, turns + 1)
        return not turn.order or self.is_time_for(len(turn.order))
