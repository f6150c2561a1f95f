"""What confines an operator: its own work, the waiting for something outside, or the handing over of rows; pure.

The time that a row takes an operator is divided into three parts, and the part that takes at least half of it gives the
operator its class. The classes are those of Liu and Buyya (Performance-Oriented Deployment of Streaming Applications on
Cloud):

    CPU-bound       its own work: CPU seconds of its own code (c_p). Tasks help up to the cores.
    sojourn-bound   waiting: busy seconds in which it did not work (t_soj). Tasks help beyond the cores.
    I/O-bound       handing over: CPU seconds around its code, in which rows are read, turned into batches and written
                    (c_t). Tasks help up to the cores; larger batches and fewer columns help more.

Half is where a class begins to say what more of its resource can gain: an operator that waits for half of its time
becomes twice as fast, at the most, when it need not wait. An operator with less of each is *mixed*. What is waited
*for* cannot be told from outside a function: a service that is asked over the network and a timer look the same, a
thread that sleeps until it is woken. Both are sojourn, as in the paper; a disk or a network that moves many rows shows
in the third part, as bytes that are moved cost CPU too.

An operator whose parts were not seen has no class. On Spark that is a function of DataFrames: it runs inside the stage
that reads and writes its rows, and only the CPU time of both together is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from profiler.experiment.observation import OperatorWindow
from profiler.report.published import Portion

DOMINANT = 0.5
"""Part of the time a row takes from which on it names the class."""


class OperatorClass(StrEnum):
    """The class of an operator: what most of the time goes into that a row takes it."""

    CPU = "cpu"
    IO = "io"
    SOJOURN = "sojourn"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class TimeParts:
    """What the time of a row goes into, in parts that add up to 1."""

    work: Portion
    waiting: Portion
    hand_over: Portion


def time_parts(seen: OperatorWindow) -> TimeParts | None:
    """Divide an operator's time; None where its parts were not seen, or it did nothing."""
    if seen.work_s is None or seen.waiting_s is None:
        return None
    hand_over_s = max(0.0, seen.cpu_s - seen.work_s)
    total_s = seen.work_s + seen.waiting_s + hand_over_s
    if total_s <= 0:
        return None
    return TimeParts(seen.work_s / total_s, seen.waiting_s / total_s, hand_over_s / total_s)


def operator_class(parts: TimeParts) -> OperatorClass:
    """Name the class by the part that dominates."""
    if parts.work >= DOMINANT:
        return OperatorClass.CPU
    if parts.waiting >= DOMINANT:
        return OperatorClass.SOJOURN
    return OperatorClass.IO if parts.hand_over >= DOMINANT else OperatorClass.MIXED
