"""Three ways to compare two configurations on the real machine, measured in the same minutes on equal ones.

In blocks: each arm deployed anew, one after the other. In turns: both stand, and the load goes from one to the other.
Side by side: both stand, and both are loaded. A round has some of each; in rounds the differences of all ways meet the
same machine. What a round tells is kept, and a call measures for some minutes and then tells of what there is: it is
meant to be called again and again.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from profiler.engines.opening import opened_engine
from profiler.engines.spark.engine import SparkEngine
from profiler.experiment.comparing.side_by_side import observed_together
from profiler.experiment.engine import Deployment, Engine
from profiler.experiment.measure import STRESS, Load
from profiler.experiment.observation import Detail, Observation
from profiler.experiment.warmth import Warmth
from profiler.experiment.window_plan import WindowPlan
from profiler.job.configuration import Configuration
from profiler.job.loading import load_topology
from profiler.job.topology import Topology
from profiler.settings.declarations import Settings
from scripts.benches import waiting_job
from scripts.benches.rows import Row, row
from scripts.benches.saved import Saved
from scripts.benches.warm_engine import note

MEASURED = ("profiler/engines/spark/load", "scripts/benches/turns.py")
"""Code whose change makes earlier windows stale."""
PIECE_S = 400.0
"""Seconds after which a call begins no round more."""
ROUNDS = 12
WARM_UP = WindowPlan(windows=4, probe=1)
BLOCK_WINDOWS = 3
"""Windows of a block; one before them does not count, as in a confirmation."""
TURN_WINDOWS = 2
TURNS = 6
TOGETHER = 4
POWER_AT = 0.10
ALPHA = 0.05
SECONDS = (120.0, 240.0)
"""Time for which the power of each way is told."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job of the bench, so small that its tasks fit the slots twice."""

    topology: Topology
    configuration: Configuration


JOBS = {
    "word count": Job(load_topology("word-count"), Configuration.of({"tweets": 1, "parse": 1, "split": 1, "count": 4})),
    "15 tasks that wait": Job(waiting_job.topology, Configuration.of({"in": 1, "look_up": 15})),
}

Piece = Mapping[str, Any]
"""Windows of one deployment in one go: its arm, the seconds that it took, and the windows' figures."""


def rows() -> Iterator[Row]:
    """Measure as long as a call may, and tell of what there is."""
    saved = Saved("turns", *MEASURED)
    ends_s = time.monotonic() + PIECE_S
    for name, job in sorted(JOBS.items(), key=lambda each: _done(saved, each[0])):
        if _done(saved, name) < ROUNDS and time.monotonic() < ends_s:
            with opened_engine(job.topology, Settings(), note) as engine:
                if not isinstance(engine, SparkEngine):
                    raise AssertionError(engine.name)
                note(f"warming up: {name}")
                expected_per_s = (
                    Warmth(engine).measured(job.topology, Load(job.configuration), WARM_UP).throughput_per_s
                )
                while (number := _done(saved, name)) < ROUNDS and time.monotonic() < ends_s:
                    note(f"{name}: round {number + 1} of {ROUNDS}")
                    saved.get(
                        f"{name} {number}", partial(_round, engine, job, expected_per_s, mirrored=number % 2 == 1)
                    )
    for name in JOBS:
        found = [saved.known[key] for number in range(ROUNDS) if (key := f"{name} {number}") in saved.known]
        if len(found) > 1:
            yield from way_rows(name, found)


def _done(saved: Saved, name: str) -> int:
    return sum(f"{name} {number}" in saved.known for number in range(ROUNDS))


def way_rows(name: str, rounds: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """Tell of every way how pairs differ, what a pair costs, and what can be seen of a change in equal time."""
    for way in ("blocks", "turns", "together"):
        of_rounds = [_pairs(each[way]) for each in rounds]
        pairs = [pair for each in of_rounds for pair in each]
        pair_s = statistics.fmean(each["seconds"][way] / len(of) for each, of in zip(rounds, of_rounds, strict=True))
        yield row(f"{name}, {way}: seconds a pair", pair_s, unit="s", better="lower", n=len(pairs))
        for figure in ("per_s", "cpu_us"):
            differences = np.array([_difference(pair, figure) for pair in pairs])
            sd = float(differences.std(ddof=1))
            yield row(f"{name}, {way}: sd of a pair's difference, {figure}", sd, better="lower", n=len(pairs))
            if len(of_rounds[0]) > 1:
                means = [float(np.mean([_difference(pair, figure) for pair in of])) for of in of_rounds]
                expected = sd / len(of_rounds[0]) ** 0.5
                yield row(
                    f"{name}, {way}: sd of a round's mean, {figure}",
                    float(np.std(means, ddof=1)),
                    better="lower",
                    n=len(means),
                    against=f"{expected:.1%} if pairs were independent",
                )
            for seconds in SECONDS:
                count = int(seconds / pair_s)
                if count > 1:
                    quantity = f"{name}, {way}: power at {POWER_AT:+.0%} in {seconds:.0f} s, {figure}"
                    yield row(quantity, power(sd, count), n=count)


def power(sd: float, pairs: int) -> float:
    """Return how often Student's t on so many pairs would see the change."""
    critical = float(stats.t.ppf(1 - ALPHA / 2, pairs - 1))
    noncentrality = float(np.log1p(POWER_AT)) / (sd / pairs**0.5)
    return float(1 - stats.nct.cdf(critical, pairs - 1, noncentrality))


def _pairs(pieces: Sequence[Piece]) -> list[tuple[Piece, Piece]]:
    """Return pieces that were measured one after the other as pairs, the first arm's piece first."""
    return [(a, b) if a["arm"] == 0 else (b, a) for a, b in zip(pieces[::2], pieces[1::2], strict=True)]


def _difference(pair: tuple[Piece, Piece], figure: str) -> float:
    one, other = (float(np.mean(np.log([each[figure] for each in piece["windows"]]))) for piece in pair)
    return other - one


def _round(engine: Engine, job: Job, expected_per_s: float, *, mirrored: bool) -> dict[str, Any]:
    """Measure two blocks, then both arms standing, in turns and together."""
    rate_per_s = STRESS * expected_per_s
    began_s = time.monotonic()
    blocks = [_block(engine, job, arm, rate_per_s) for arm in ((1, 0) if mirrored else (0, 1))]
    blocks_s = time.monotonic() - began_s
    with closing(_deployed(engine, job)) as one, closing(_deployed(engine, job)) as other:
        standing = (one, other)
        for each in standing:  # the first window after a deployment does not count
            list(each.observe(rate_per_s, 1))
        opened_s = time.monotonic()
        order = [arm for turn in range(TURNS // 2) for arm in ((0, 1) if (turn % 2 == 1) == mirrored else (1, 0))]
        turns = [_piece(arm, standing[arm], rate_per_s, TURN_WINDOWS) for arm in order]
        turned_s = time.monotonic()
        seen = observed_together(standing, [rate_per_s] * 2, TOGETHER, lambda _: None)
        together_s = time.monotonic()
    pairs = [
        {"arm": arm, "windows": [_figures(window)]}
        for both in zip(*seen, strict=True)
        for arm, window in enumerate(both)
    ]
    seconds = {"blocks": blocks_s, "turns": turned_s - opened_s, "together": together_s - turned_s}
    note("  ".join(f"{way} {value:.0f} s" for way, value in seconds.items()))
    note("  ".join(f"{piece['arm']}: {piece['seconds']:.1f} s {piece['to_start_s']:+.1f}" for piece in turns))
    opening_s = opened_s - began_s - blocks_s
    return {"blocks": blocks, "turns": turns, "together": pairs, "seconds": seconds, "opening_s": opening_s}


def _deployed(engine: Engine, job: Job) -> Deployment:
    return engine.deploy(job.topology, job.configuration, Detail.LIGHT)


def _block(engine: Engine, job: Job, arm: int, rate_per_s: float) -> dict[str, Any]:
    with closing(_deployed(engine, job)) as deployment:
        whole = _piece(arm, deployment, rate_per_s, 1 + BLOCK_WINDOWS)
    return {**whole, "windows": whole["windows"][1:]}


def _piece(arm: int, deployment: Deployment, rate_per_s: float, windows: int) -> dict[str, Any]:
    began_s = time.time()
    seen = list(deployment.observe(rate_per_s, windows))
    return {
        "arm": arm,
        "seconds": time.time() - began_s,
        "to_start_s": seen[0].start_s - began_s,
        "windows": [_figures(window) for window in seen],
    }


def _figures(window: Observation) -> dict[str, float]:
    return {
        "start_s": window.start_s,
        "duration_s": window.duration_s,
        "per_s": window.throughput_per_s,
        "cpu_us": 1e6 * window.cpu_s * window.speed_index / window.source_rows,
        "speed_index": window.speed_index,
        "machine_speed": window.machine_speed,
    }
