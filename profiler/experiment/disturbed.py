"""Which windows were disturbed, which of them count all the same, and what they would have shown undisturbed; pure.

A window's verdict rests on its counters alone and never on its throughput: whoever leaves slow windows out finds a fast
job. Others disturb a job where they take cores that it would have used: a job that waits, or one whose machine has
cores to spare, loses nothing to a neighbour. What is the job's own, its garbage and the quota that it lives under, is
told and stays in its figures, as production has it too.

A window in which others had a part t of the cores would have shown more throughput x undisturbed:

    x' = x / (1 − t)^e

With e = 1 that is what CPU per row says: a row costs what it costs, and the profile would have had the cores that
others took. But cores may be in full use and a source the limit all the same, so e is not taken for 1: it is what the
windows of the search themselves show (`statistics/control_variate.py`). What that leaves of the variance, and what
measuring again leaves of it, is in scripts/benches/results/covariates.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from profiler.experiment.observation import Observation

TAKEN = 0.1
"""Part of the cores from which on others disturb: it costs a job that is bound by CPU as much as a change that a search
can just see."""
IN_FULL_USE = 0.85
"""Part of the cores in use, by whomever, from which on there are none to spare."""
PAGING_MB_PER_S = 1.0
"""Megabytes a second to disk from which on memory is short: a machine that has enough moves none."""
PAUSED = 0.2
"""Part of a window spent collecting garbage from which on memory is short."""
HELD_BACK = 0.1
"""Part of the cores that a quota keeps from the job from which on it is told."""


class Cause(StrEnum):
    """What disturbs a window."""

    OTHERS = "others"
    """Other programs, or the host of a virtual machine."""
    PAGING = "paging"
    QUOTA = "quota"
    GARBAGE = "garbage"


_PASSES = frozenset({Cause.OTHERS, Cause.PAGING})
"""Causes that are not the job's own, so that a window without them tells more of it."""


def causes(window: Observation) -> frozenset[Cause]:
    """Name what disturbed a window."""
    seen = window.disturbance
    if seen is None or window.duration_s <= 0:
        return frozenset()
    found = {
        Cause.OTHERS: seen.taken_cores >= TAKEN * seen.cores and is_bound_by_cpu(window),
        Cause.PAGING: (seen.paged_out_mb or 0.0) >= PAGING_MB_PER_S * window.duration_s,
        Cause.QUOTA: (seen.throttled_s or 0.0) >= HELD_BACK * seen.cores * window.duration_s,
        Cause.GARBAGE: (seen.gc_s or 0.0) >= PAUSED * window.duration_s,
    }
    return frozenset(cause for cause, is_there in found.items() if is_there)


def is_bound_by_cpu(window: Observation) -> bool:
    """Tell whether all cores were in use, by the profile and by others together."""
    seen = window.disturbance
    return seen is not None and own_cores(window) + seen.taken_cores >= IN_FULL_USE * seen.cores


def own_cores(window: Observation) -> float:
    """Return the cores in use by the profile, or by the job where the rest of it is not counted."""
    return window.cpu_s / window.duration_s if window.cores_used is None else window.cores_used


def is_disturbed(window: Observation) -> bool:
    """Tell whether a window shows less of the job than another one would."""
    return bool(causes(window) & _PASSES)


def can_be_allowed_for(window: Observation) -> bool:
    """Tell whether a comparison can allow for what disturbed a window: for cores that others had, not for paging."""
    return Cause.PAGING not in causes(window)


def undisturbed_per_s(window: Observation, elasticity: float) -> float:
    """Return the throughput that a window would have had, had nobody taken cores that it would have used."""
    if window.disturbance is None or not is_bound_by_cpu(window):
        return window.throughput_per_s
    return float(window.throughput_per_s / window.disturbance.part_left**elasticity)


def is_worth_more_windows(windows: Sequence[Observation], wanted: int) -> bool:
    """Tell whether more windows would bring undisturbed ones: not on a machine that is disturbed most of the time."""
    disturbed = sum(map(is_disturbed, windows))
    return len(windows) - disturbed < wanted and 2 * disturbed <= len(windows)


def least_disturbed(
    windows: Sequence[Observation], wanted: int
) -> tuple[tuple[Observation, ...], tuple[Observation, ...]]:
    """Choose so many windows, undisturbed ones first and later ones before earlier ones; return the disturbed others.

    All keep their order.
    """
    order = sorted(range(len(windows)), key=lambda index: (is_disturbed(windows[index]), -index))
    kept = sorted(order[:wanted])
    left_out = [index for index in sorted(order[wanted:]) if is_disturbed(windows[index])]
    return tuple(windows[index] for index in kept), tuple(windows[index] for index in left_out)
