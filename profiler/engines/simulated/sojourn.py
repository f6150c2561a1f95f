"""The exact distribution of the processing latency in the long run: what the rows of `latency` are samples of.

Every task is a queue of its own, with Poisson arrivals and the service of its spread, so a row waits as in M/G/1
(Pollaczek and Khinchine: a geometric number of residual services), up to what a full queue takes; queues, services and
hops of a path are independent. Distributions live on a lattice and are convolved by their transforms, damped so that
what lies beyond the lattice doesn't come back into it (Abate and Whitt, 1992). Putting a time on the lattice splits it
between its two neighbours, which keeps every mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from profiler.engines.simulated.flow import Flow
from profiler.engines.simulated.network import Network
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.engines.simulated.queueing import Spread
from profiler.experiment.latency_rows import Floats

Transforms = npt.NDArray[np.complex128]

_POINTS = 2048
"""Points of the lattice up to the latency that is asked of: its step is 0.05 % of that."""
_RETURNING = 1e-8
"""Part of what lies beyond the lattice that comes back into it."""
_NEVER_QUITE = 1.0 - 1e-9
"""The largest part of the time that a queue's task is busy: at 1 the wait has no distribution but a full queue's."""


@dataclass(frozen=True, slots=True)
class _Lattice:
    """Times from 0 to `within_s`, and the transforms of distributions over them."""

    step_s: float

    def transformed(self, masses: Floats) -> Transforms:
        """Transform masses at the points, one distribution per row."""
        return np.asarray(np.fft.rfft(masses * _damping(), axis=-1))

    def masses(self, transforms: Transforms) -> Floats:
        """Return the masses at the points."""
        return np.asarray(np.fft.irfft(transforms, 2 * _POINTS, axis=-1) / _damping())

    def at(self, times_s: Floats) -> Floats:
        """Return all mass at one time per row; beyond the lattice there is none."""
        points = np.arange(2 * _POINTS)
        return np.maximum(0.0, 1.0 - np.abs(points - (times_s / self.step_s)[:, None]))

    def of_services(self, means_s: Floats, spread: Spread) -> tuple[Floats, Floats]:
        """Return the masses of services with these means, and of what is left of one that is under way."""
        edges = self.step_s * np.arange(-1, 2 * _POINTS + 1)
        below = np.maximum(edges, 0.0)[None, :]
        none, one, two = (_partial_moment(below, means_s[:, None], spread, order) for order in (0, 1, 2))
        missing = below * none - one
        """The mean of (edge - service)⁺, whose second differences are the masses of a split distribution."""
        missing_squares = below**2 * none - 2 * below * one + two
        residual = (below**2 - missing_squares) / (2 * means_s[:, None])
        return np.diff(missing, 2) / self.step_s, np.diff(residual, 2) / self.step_s


def _damping() -> Floats:
    return np.asarray(_RETURNING ** (np.arange(2 * _POINTS) / (2 * _POINTS)))


def _partial_moment(below: Floats, mean: Floats, spread: Spread, order: int) -> Floats:
    """Return the moment of a service time over its values up to `below`."""
    if spread is Spread.CONSTANT:
        return np.asarray(mean**order * (below >= mean))
    phases = 1.0 / spread.cv**2
    whole = (mean / phases) ** order * special.poch(phases, order)
    return np.asarray(whole * special.gammainc(phases + order, phases * below / mean))


def part_within(
    network: Network,
    flow: Flow,
    platform: SimulatedPlatform,
    rate_per_s: float,
    within_s: float,
    full: npt.NDArray[np.bool_] | None = None,
) -> float:
    """Return the part of the rows whose processing latency is at most this, at a rate that a flow of one case keeps.

    Queues that are `full` (kinds of threads × nodes) are so all the time.
    """
    lattice = _Lattice(within_s / _POINTS)
    stays = _stays(lattice, network, flow, platform, rate_per_s, full)
    rows_out = flow.rows_out.at(np.array([rate_per_s]))[0]
    hops = lattice.transformed(lattice.at(np.array([platform.hop_ms, platform.remote_hop_ms]) / 1000))
    after: dict[int, Transforms] = {}
    for element, inputs in enumerate(network.inputs):
        thread = int(flow.threads[element])
        if inputs and flow.threads[inputs[0]] == thread:
            after[element] = after[inputs[0]]
            continue
        stay = stays[thread]
        if not inputs:
            after[element] = stay
            continue
        came = np.zeros_like(stay)
        for upstream in inputs:
            (edge,) = np.flatnonzero((network.before == upstream) & (network.after == element))
            crossing = flow.crossing[0, edge]
            hop = (1.0 - crossing) * hops[0] + crossing * hops[1]
            came += rows_out[upstream] / rows_out[list(inputs)].sum() * after[upstream] * hop
        after[element] = came * stay
    ends = np.setdiff1d(np.arange(len(network.names)), network.before)
    whole = np.tensordot(rows_out[ends] / rows_out[ends].sum(), np.array([after[end] for end in ends]), axes=1)
    masses = lattice.masses(whole)
    # A split distribution has half of what lies at a point below it.
    return float(masses[:_POINTS].sum() + 0.5 * masses[_POINTS])


def _stays(
    lattice: _Lattice,
    network: Network,
    flow: Flow,
    platform: SimulatedPlatform,
    rate_per_s: float,
    full: npt.NDArray[np.bool_] | None,
) -> Transforms:
    """Return the transform of the time in queue and service per thread: a mixture over its tasks, by their rows."""
    placement, rate = flow.placement, np.array([rate_per_s])
    kinds, on_node = np.nonzero(placement.tasks[0] > 0)
    rates = flow.task_rates(rate)[0, kinds]
    busy = flow.state(rate).busy[0, kinds, on_node]
    weights = placement.share[0, kinds] * placement.tasks[0, kinds, on_node]
    thread_of = placement.thread_of[kinds]
    # Tasks of a kind on different nodes are often in the same state: each state is worked out once.
    is_full = np.zeros(len(kinds)) if full is None else full[kinds, on_node]
    columns = np.column_stack((thread_of, busy, rates, is_full))
    states, state_of = np.unique(np.round(columns, 12), axis=0, return_inverse=True)
    busy, rates = np.minimum(states[:, 1], _NEVER_QUITE), states[:, 2]
    service_s = busy / rates
    services, residuals = lattice.of_services(service_s, platform.service_spread)
    stay = lattice.transformed(services)
    waiting = (1.0 - busy)[:, None] / (1.0 - busy[:, None] * lattice.transformed(residuals))
    at_source = np.isin(states[:, 0], flow.threads[network.source_share > 0])
    longest_s = platform.queue_rows * service_s
    is_cut = ~at_source & (longest_s < 2 * _POINTS * lattice.step_s)
    waiting[is_cut] = lattice.transformed(_cut(lattice, lattice.masses(waiting[is_cut]), longest_s[is_cut]))
    held = ~at_source & (states[:, 3] > 0)
    waiting[held] = lattice.transformed(lattice.at(platform.queue_rows / rates[held]))
    stay[~at_source] *= waiting[~at_source]
    threads = np.zeros((flow.counts.shape[1], stay.shape[1]), dtype=np.complex128)
    by_state = np.bincount(state_of.ravel(), weights, len(states))
    np.add.at(threads, states[:, 0].astype(np.int64), by_state[:, None] * stay)
    return threads


def _cut(lattice: _Lattice, masses: Floats, longest_s: Floats) -> Floats:
    """Let nobody wait for longer than a full queue takes: what would is put there."""
    points = lattice.step_s * np.arange(2 * _POINTS)
    kept = np.where(points <= longest_s[:, None], masses, 0.0)
    return np.asarray(kept + (1.0 - kept.sum(axis=1))[:, None] * lattice.at(longest_s))
