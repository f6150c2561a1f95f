"""What covariates remove of the variance of log throughput between equal windows and equal rounds; pure.

A slope is fitted to the deviations of windows from their round's mean, and judged on a round that it was not fitted to:
a covariate that explains nothing adds variance, as it does in use. What is *removed* of

- windows: of the mean square of these deviations,
- rounds: of the variance of the rounds' means, by the slopes of the windows of all other rounds.

`measured again` takes 7 windows of a round and up to 3 more in the place of disturbed ones, by the product's own rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from profiler.experiment.disturbed import is_disturbed, is_worth_more_windows, least_disturbed
from profiler.experiment.observation import Observation
from profiler.statistics.control_variate import normalised, speed_slope
from profiler.statistics.search_noise import RoundWindows
from scripts.benches.rows import Row, row

Rounds = Sequence[Sequence[Observation]]
Logs = NDArray[np.float64]
WANTED, AGAIN = 7, 3


def _index(window: Observation) -> float:
    return float(np.log(window.speed_index))


def _others(window: Observation) -> float:
    seen = window.disturbance
    return 0.0 if seen is None else float(np.log1p(-min(0.9, seen.other_cores / seen.cores)))


def _stolen(window: Observation) -> float:
    seen = window.disturbance
    return 0.0 if seen is None else float(np.log1p(-min(0.9, seen.stolen_cores / seen.cores)))


def _garbage(window: Observation) -> float:
    seen = window.disturbance
    return 0.0 if seen is None else (seen.gc_s or 0.0) / window.duration_s


def _compilers(window: Observation) -> float:
    return window.compiling_cores or 0.0


COVARIATES: Mapping[str, Callable[[Observation], float]] = {
    "speed index": _index,
    "other programs": _others,
    "stolen time": _stolen,
    "garbage": _garbage,
    "compilers": _compilers,
}


def covariate_rows(rounds: Rounds) -> Iterator[Row]:
    """Yield what each covariate removes, alone and together, and what is done about disturbed windows."""
    rounds = [windows for windows in rounds if min(each.throughput_per_s for each in windows) > 0]
    windows = [window for each in rounds for window in each]
    logs = [_logs(each) for each in rounds]
    yield row("variation of windows within rounds", _sd(_centred(logs)), better="lower", n=len(windows))
    yield row("variation of rounds' means", _sd_of_means(logs), better="lower", n=len(rounds))
    yield row("windows that are disturbed", float(np.mean([is_disturbed(each) for each in windows])), n=len(windows))
    for name, seen in {
        "cores of others": [each.disturbance.other_cores if each.disturbance else 0.0 for each in windows],
        "stolen cores": [each.disturbance.stolen_cores if each.disturbance else 0.0 for each in windows],
    }.items():
        low, high = np.quantile(seen, (0.05, 0.95))
        yield row(f"{name}: mean, 5 and 95 %", float(np.mean(seen)), unit="cores", n=len(seen), low=low, high=high)
    chosen = {
        **{name: [name] for name in COVARIATES},
        "index and others": ["speed index", "other programs"],
        "index, others, stolen": ["speed index", "other programs", "stolen time"],
        "all together": list(COVARIATES),
    }
    for name, names in chosen.items():
        yield from _removed(name, logs, _without(rounds, names))
    one_slope = [RoundWindows(tuple(np.exp(each)), _machine(seen)) for each, seen in zip(logs, rounds, strict=True)]
    yield from _removed("machine speed, as a search has it", logs, _without_one(one_slope))
    yield from _acting(rounds)


def _machine(windows: Sequence[Observation]) -> tuple[float, ...]:
    return tuple(window.machine_speed for window in windows)


def _logs(windows: Sequence[Observation]) -> Logs:
    return np.log([window.throughput_per_s for window in windows])


def _without(rounds: Rounds, names: Sequence[str]) -> list[Logs]:
    """Take covariates out of every round, with the slopes of all others."""
    logs = [_logs(each) for each in rounds]
    covariates = [np.array([[COVARIATES[name](window) for name in names] for window in each]) for each in rounds]
    deviations = [each - each.mean(axis=0) for each in covariates]
    centred = _centred(logs)
    cleaned = []
    for out, (log, values) in enumerate(zip(logs, covariates, strict=True)):
        others = [index for index in range(len(rounds)) if index != out]
        design = np.concatenate([deviations[index] for index in others])
        slopes = np.linalg.lstsq(design, np.concatenate([centred[index] for index in others]), rcond=None)[0]
        cleaned.append(log - values @ slopes)
    return cleaned


def _without_one(rounds: Sequence[RoundWindows]) -> list[Logs]:
    """Normalise every round as a search does, with the slope of all others."""
    return [np.log(normalised(each, speed_slope([other for other in rounds if other is not each]))) for each in rounds]


def _removed(name: str, before: Sequence[Logs], after: Sequence[Logs]) -> Iterator[Row]:
    squares = [np.array([float(each @ each) for each in _centred(logs)]) for logs in (before, after)]
    windows = sum(map(len, before))
    yield _part(f"windows: removed by {name}", squares, windows)
    means = [np.array([each.mean() for each in logs]) for logs in (before, after)]
    yield _part(f"rounds: removed by {name}", [(each - each.mean()) ** 2 for each in means], len(before))


def _part(quantity: str, squares: Sequence[Logs], n: int) -> Row:
    """Tell which part of the squares is gone, with its interval over rounds."""

    def gone(before: Logs, after: Logs, axis: int = -1) -> Logs:
        return 1 - np.asarray(after.sum(axis=axis) / before.sum(axis=axis))

    ends: tuple[float | None, float | None] = (None, None)
    if len(squares[0]) > 3:
        rng = np.random.default_rng(1)
        found = stats.bootstrap(tuple(squares), gone, n_resamples=999, method="percentile", paired=True, rng=rng)
        ends = float(found.confidence_interval.low), float(found.confidence_interval.high)
    return row(quantity, float(gone(*squares)), n=n, low=ends[0], high=ends[1])


def _acting(rounds: Rounds) -> Iterator[Row]:
    """Tell how rounds' means vary as they are, with disturbed windows measured again, corrected, and both."""
    first = [each[:WANTED] for each in rounds]
    again = [_measured_again(each) for each in rounds]
    for name, chosen in {"as they are": first, "measured again": [kept for kept, _ in again]}.items():
        logs = [_logs(each) for each in chosen]
        yield row(f"rounds of {WANTED}: {name}", _sd_of_means(logs), better="lower", n=len(rounds))
        slopes = [RoundWindows(tuple(np.exp(log)), _machine(seen)) for log, seen in zip(logs, chosen, strict=True)]
        corrected = _without_one(slopes)
        quantity = f"rounds of {WANTED}: {name}, then corrected"
        yield row(quantity, _sd_of_means(corrected), better="lower", n=len(rounds))
    more = float(np.mean([count for _, count in again]))
    yield row("windows more per round for that", more, better="lower", unit="windows", n=len(rounds))


def _measured_again(windows: Sequence[Observation]) -> tuple[Sequence[Observation], int]:
    seen = WANTED
    while seen < min(WANTED + AGAIN, len(windows)) and is_worth_more_windows(windows[:seen], WANTED):
        seen += 1
    return least_disturbed(windows[:seen], WANTED)[0], seen - WANTED


def _centred(logs: Sequence[Logs]) -> list[Logs]:
    return [each - each.mean() for each in logs]


def _sd(deviations: Sequence[Logs]) -> float:
    freedom = sum(len(each) - 1 for each in deviations)
    return float(np.sqrt(sum(float(each @ each) for each in deviations) / freedom))


def _sd_of_means(logs: Sequence[Logs]) -> float:
    return float(np.std([each.mean() for each in logs], ddof=1))
