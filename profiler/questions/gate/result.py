"""What a gate's blocks led to, before anybody is told."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.experiment.observation import BlockWindows
from profiler.questions.gate.drill.preparation import Drilled
from profiler.questions.gate.verdict import GateVerdict, Judgement


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a gate."""

    judgement: Judgement | None
    """The judgement; None where nothing was measured, as it would have been in vain."""
    blocks: tuple[BlockWindows, ...] = ()
    throughput_per_s: float = 0.0
    """The throughput of the baseline under stress, by which the rates of the blocks were set."""
    interleaved: bool = True
    together: bool = False
    """Whether the blocks of a turn were measured at the same time."""
    complete: bool = True
    """Whether the gate ended by itself; False where the budget ended it."""
    drilled: Drilled | None = None
    needed_blocks: int | None = None
    """The blocks of each version that would tell what these could not; None where they did, or nobody can say."""
    turn_s: float = 0.0
    """The seconds that a block of each version takes, as it seems."""

    @property
    def verdict(self) -> GateVerdict:
        """What the gate says; one that misses its drill has shown that it does not see enough."""
        verdict = GateVerdict.INCONCLUSIVE if self.judgement is None else self.judgement.verdict
        return GateVerdict.INCONCLUSIVE if self.drilled and verdict is GateVerdict.PASS else verdict
