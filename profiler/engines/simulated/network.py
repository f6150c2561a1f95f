"""A topology as arrays over its elements: what rows cost, where they go and what the platform hides about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profiler.engines.simulated.placement import Ints
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.errors import UsageError
from profiler.experiment.latency_rows import Floats
from profiler.job.topology import Cost, Element, Operator, Output, Source, Topology

_HOTTEST = 1.0 - 1e-6
"""The largest share of one key: every task gets some rows, as a rate of zero has no service time."""
_SEGMENTS = 8
"""Parts of the workload, replayed in a loop, that differ in what workload-dependent operators make of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Arrays over the elements in the topology's order: sources first, then operators downstream."""

    names: tuple[str, ...]
    inputs: tuple[tuple[int, ...], ...]
    before: Ints
    """Upstream element of every edge."""
    after: Ints
    source_share: Floats
    pull_per_s: Floats
    """Rows per second that one task of a source can pull; infinite for operators."""
    cpu_s: Floats
    """CPU seconds per row, uncontended."""
    wait_s: Floats
    selectivity: Floats
    """Rows out per row in: cases × elements where it varies with the data, one case on average."""
    logic: npt.NDArray[np.bool_]
    emits_per_s: Floats
    hot_share: Floats
    key_share: Floats
    """Part of the rows that have the most frequent key, as the topology states it: what counting keys would show."""
    load_factor: Floats


def compile_network(topology: Topology, platform: SimulatedPlatform, seed: int) -> Network:
    """Turn a topology into arrays; an operator without a cost cannot be simulated."""
    costs = [_cost(element) for element in topology]
    hidden = [platform.hidden(element, seed) for element in topology]
    declared = np.array([_hot_share(element) for element in topology])
    skew = np.array([secret.skew for secret in hidden])
    index = {name: position for position, name in enumerate(topology.names)}
    pulls = [_pull_per_s(element, platform) for element in topology]
    return Network(
        names=topology.names,
        inputs=tuple(tuple(index[name] for name in element.inputs) for element in topology),
        before=np.array([index[before] for before, _ in topology.edges]),
        after=np.array([index[after] for _, after in topology.edges]),
        source_share=np.array([topology.source_shares.get(name, 0.0) for name in topology.names]),
        pull_per_s=np.array(pulls),
        cpu_s=np.array([cost.cpu_ms for cost in costs]) / 1000,
        wait_s=np.array([cost.wait_ms for cost in costs]) / 1000,
        selectivity=_segments(topology, platform, seed),
        logic=np.array([_is_logic(element) for element in topology]),
        emits_per_s=np.array([getattr(element, "emits_per_s", None) or 1.0 for element in topology]),
        hot_share=np.minimum(declared + skew * (1.0 - declared), _HOTTEST),
        key_share=declared,
        load_factor=np.array([secret.load_factor for secret in hidden]),
    )


def _cost(element: Element) -> Cost:
    if element.cost is None:
        raise UsageError(
            f"Operator '{element.name}' has no cost, so the simulated engine cannot run it.",
            hint="Give it one, cost=Cost(cpu_ms=…, wait_ms=…), or run it for real: --engine spark.",
        )
    return element.cost


def _hot_share(element: Element) -> float:
    """Return the share of the hottest key; only rows that are dealt by key can pile up on one task."""
    if isinstance(element, Operator) and (element.stateful or element.key is not None):
        return element.hot_key_share
    return 0.0


def _pull_per_s(element: Element, platform: SimulatedPlatform) -> float:
    if isinstance(element, Source):
        return platform.pull_per_s if element.pull_per_s is None else element.pull_per_s
    return np.inf


def _is_logic(element: Element) -> bool:
    """Tell whether output comes on a timer: declared so, or undeclared (to be measured) with a rate of its own."""
    if not isinstance(element, Operator):
        return False
    return element.output is Output.LOGIC or (element.output is None and element.emits_per_s is not None)


def _segments(topology: Topology, platform: SimulatedPlatform, seed: int) -> Floats:
    """Draw the selectivity per segment of the workload (segments × elements); one segment where nothing varies.

    The data are the same for every configuration, so they come from the seed alone. Every operator's mean over the
    segments is what its topology states.
    """
    mean = np.array([getattr(element, "selectivity", None) or 1.0 for element in topology])
    varies = np.array([getattr(element, "output", None) is Output.WORKLOAD for element in topology])
    if not varies.any() or platform.data_variation <= 0:
        return mean[None, :]
    rng = np.random.default_rng([seed, _SEGMENTS])
    factors = np.exp(platform.data_variation * rng.standard_normal((_SEGMENTS, len(mean))))
    return np.where(varies, mean * factors / factors.mean(axis=0), mean)
