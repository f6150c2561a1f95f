"""Are the tests to be trusted? False alarms, power, and what each defence removes, on quiet and shared machines.

The noise is the simulated engine's: log-normal, correlated within a block, drifting between blocks, with a speed index.
A screening compares the last two of 2 to 8 search rounds of 10 windows, as a search does; a confirmation is 12 blocks
of 5 windows. Intervals of rates are exact binomial ones, at 95 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from profiler.engines.simulated.noise import NoiseProcess, Preset
from profiler.statistics.confirmation import Block, confirm, order
from profiler.statistics.control_variate import normalised
from profiler.statistics.correlation import effective_size, pooled_lag1
from profiler.statistics.interval import mean_interval
from profiler.statistics.result import Comparison, Verdict
from profiler.statistics.screening import screen
from profiler.statistics.search_noise import RoundWindows, screen_round, search_noise
from profiler.statistics.stationarity import steady_start
from scripts.benches.rows import Row, rate_row

Values = Sequence[float] | NDArray[np.float64]
Better = Literal["higher", "lower"]
REPETITIONS = 1000
ROUNDS = range(2, 9)
"""Rounds of the search so far, the compared two included."""
WINDOWS = 10
BLOCKS_PER_ARM, BLOCK_WINDOWS = 6, 5
EFFECTS = (0.05, 0.10, 0.20)
NOMINAL = 0.05
PRESETS = (Preset.QUIET, Preset.SHARED)
CHANGED = (Verdict.INCREASED, Verdict.DECREASED)
WARM_UPS_WINDOWS = (0.0, 0.7, 2.0, 4.0)
WARM_UP_REPETITIONS = 200


@dataclass(frozen=True, slots=True)
class Search:
    """Rounds of one configuration, the last two of which are compared."""

    rounds: tuple[RoundWindows, ...]

    @property
    def values(self) -> tuple[Values, Values]:
        """Windows of the reference and of the candidate."""
        return self.rounds[-2].values, self.rounds[-1].values

    def screened(self, effect: float = 0.0) -> Comparison:
        """Screen the last round, made faster by the effect, against the one before."""
        *_, reference, candidate = self.rounds
        faster = RoundWindows(tuple((1 + effect) * value for value in candidate.values), candidate.speed_index)
        return screen_round(reference, faster, self.rounds[:-1])


def rows() -> Iterator[Row]:
    """Yield every figure."""
    for preset in PRESETS:
        rng = np.random.default_rng(2026)
        searches = [_search(NoiseProcess(preset, rng), ROUNDS[i % len(ROUNDS)]) for i in range(REPETITIONS)]
        interleaved = [_interleaved(NoiseProcess(preset, rng)) for _ in range(REPETITIONS)]
        blocked = [_interleaved(NoiseProcess(preset, rng), (0, 1), 30) for _ in range(REPETITIONS)]
        yield from _designs(preset, searches, interleaved)
        yield from _screening_defences(preset, searches)
        yield from _confirmation_defences(preset, interleaved, blocked)
        yield from _warm_up(preset, rng)
    yield from _few_windows()


def _designs(preset: Preset, searches: Sequence[Search], interleaved: Sequence[list[Block]]) -> Iterator[Row]:
    """Yield false alarms and power of the two default designs."""
    screened = [search.screened() for search in searches]
    confirmed = [confirm(blocks) for blocks in interleaved]
    alarms = [comparison.verdict in CHANGED for comparison in screened]
    yield from _false_alarms(f"{preset}: false alarms of A/A screenings", alarms)
    first = [alarm for alarm, search in zip(alarms, searches, strict=True) if len(search.rounds) == ROUNDS[0]]
    yield _rate(f"{preset}: of these, in a search's first screening", first)
    yield _rate(f"{preset}: A/A screenings called not normal", [bool(comparison.warnings) for comparison in screened])
    changed = [comparison.verdict in CHANGED for comparison in confirmed]
    yield from _false_alarms(f"{preset}: false alarms of A/A confirmations", changed)
    for effect in EFFECTS:
        found = [search.screened(effect).verdict is Verdict.INCREASED for search in searches]
        yield _rate(f"{preset}: power of a screening for {effect:+.0%}", found, better="higher")
    for effect in EFFECTS:
        found = [confirm(_faster(blocks, effect)).verdict is Verdict.INCREASED for blocks in interleaved]
        yield _rate(f"{preset}: power of a confirmation for {effect:+.0%}", found, better="higher")
    for name, made in (("screening", screened), ("confirmation", confirmed)):
        yield _median(f"{preset}: detectable effect of a {name}", [found.detectable_effect for found in made])


def _screening_defences(preset: Preset, searches: Sequence[Search]) -> Iterator[Row]:
    """Yield the false alarms as one defence after the other is added, and the variance the index removes."""
    ladder: dict[str, Callable[[Search], bool]] = {
        "Welch on raw windows": lambda search: _welch(*search.values) < NOMINAL,
        "+ logs": lambda search: _welch(np.log(search.values[0]), np.log(search.values[1])) < NOMINAL,
        "+ effective size": lambda search: _step(search, index=False, drift=False) < NOMINAL,
        "+ speed index": lambda search: _step(search, index=True, drift=False) < NOMINAL,
        "+ drift between rounds": lambda search: _step(search, index=True, drift=True) < NOMINAL,
        "+ smallest relevant effect (the design)": lambda search: search.screened().verdict in CHANGED,
    }
    for name, alarm in ladder.items():
        yield _rate(f"{preset}: screening, false alarms, {name}", [alarm(search) for search in searches])
    plain = [_log_ratio(*search.values) for search in searches]
    indexed = []
    for search in searches:
        slope = search_noise(search.rounds).speed_slope
        indexed.append(_log_ratio(normalised(search.rounds[-2], slope), normalised(search.rounds[-1], slope)))
    yield _removed(f"{preset}: screening, variance of the effect that the speed index removes", plain, indexed)


def _confirmation_defences(
    preset: Preset, interleaved: Sequence[list[Block]], blocked: Sequence[list[Block]]
) -> Iterator[Row]:
    """Yield false alarms and variance of the same 60 windows without and with interleaving, blocks and index."""
    ladder: dict[str, list[bool]] = {
        "AB, windows as unit": [_windows_p(blocks) < NOMINAL for blocks in blocked],
        "+ interleaving (ABBA…)": [_windows_p(blocks) < NOMINAL for blocks in interleaved],
        "+ block as unit": [confirm(_blind(blocks)).verdict in CHANGED for blocks in interleaved],
        "+ speed index (the design)": [confirm(blocks).verdict in CHANGED for blocks in interleaved],
    }
    for name, alarms in ladder.items():
        yield _rate(f"{preset}: confirmation, false alarms, {name}", alarms)
    apart = [_log_ratio(*_arms(blocks)) for blocks in blocked]
    together = [_log_ratio(*_arms(blocks)) for blocks in interleaved]
    indexed = [float(np.log1p(confirm(blocks).effect)) for blocks in interleaved]
    yield _removed(f"{preset}: confirmation, variance of the effect that interleaving removes", apart, together)
    yield _removed(f"{preset}: confirmation, variance of the effect that the speed index removes", together, indexed)


def _warm_up(preset: Preset, rng: np.random.Generator) -> Iterator[Row]:
    """Yield what the end of warm-up costs and leaves, for throughput that converges from 3 % to 100 %."""
    for tau in WARM_UPS_WINDOWS:
        times = np.arange(60)
        shape = 1 - 0.97 * np.exp(-times / tau) if tau else np.ones(60)
        cut, bias = [], []
        for _ in range(WARM_UP_REPETITIONS):
            values = np.array(_round(NoiseProcess(preset, rng), 60).values) * shape
            start, end = _until_steady(values.tolist())
            cut.append(float(start))
            bias.append(float(1 - shape[start:end].mean()))
        name = f"warm-up with a time constant of {tau:g} windows" if tau else "no warm-up"
        yield _mean(f"{preset}: {name}, windows cut", cut, "windows")
        if tau:
            yield _mean(f"{preset}: {name}, bias left in {WINDOWS} windows", bias, "ratio")


def _few_windows() -> Iterator[Row]:
    """Yield why logs: a 26-fold gain in five windows of lag-1 0.4, tested with the effective size."""
    rng = np.random.default_rng(26)
    raw, logs = [], []
    for _ in range(REPETITIONS):
        process = NoiseProcess(Preset.SHARED, rng)
        before = _round(process, 5).values
        after = tuple(26 * value for value in _round(process, 5).values)
        correlation = pooled_lag1([before, after])
        size = effective_size(5, correlation)
        raw.append(_welch(before, after, size) < NOMINAL)
        logs.append(screen(before, after, correlation=correlation).verdict is Verdict.INCREASED)
    yield _rate("shared: 26-fold gain found in 5 windows, raw", raw, better="higher")
    yield _rate("shared: 26-fold gain found in 5 windows, logs", logs, better="higher", against="raw")


def _round(process: NoiseProcess, windows: int) -> RoundWindows:
    process.start_block()
    seen = [process.window() for _ in range(windows)]
    return RoundWindows(tuple(w.throughput_factor for w in seen), tuple(w.speed_index for w in seen))


def _search(process: NoiseProcess, rounds: int) -> Search:
    return Search(tuple(_round(process, WINDOWS) for _ in range(rounds)))


def _interleaved(
    process: NoiseProcess, arms: Sequence[int] = order(BLOCKS_PER_ARM), windows: int = BLOCK_WINDOWS
) -> list[Block]:
    runs = [_round(process, windows) for _ in arms]
    return [Block(arm, run.values, run.speed_index) for arm, run in zip(arms, runs, strict=True)]


def _faster(blocks: Iterable[Block], effect: float) -> list[Block]:
    return [Block(b.arm, tuple((1 + effect * b.arm) * v for v in b.values), b.speed_index) for b in blocks]


def _blind(blocks: Iterable[Block]) -> list[Block]:
    return [Block(block.arm, block.values) for block in blocks]


def _step(search: Search, *, index: bool, drift: bool) -> float:
    """Return the p of a screening with some of its defences."""
    noise = search_noise(search.rounds if index else [RoundWindows(run.values) for run in search.rounds])
    reference, candidate = (normalised(run, noise.speed_slope) for run in search.rounds[-2:])
    return screen(
        reference,
        candidate,
        correlation=noise.correlation,
        between_round_sd=noise.between_round_sd if drift else 0.0,
        between_round_df=noise.between_round_df,
    ).p


def _welch(before: Values, after: Values, size: float | None = None) -> float:
    """Return the p of Welch's test, as if each sample had `size` values if that is given."""
    moments = [
        (float(np.mean(values)), float(np.std(values, ddof=1)), size or len(values)) for values in (before, after)
    ]
    # The stubs know whole numbers of values only; scipy takes any.
    result = stats.ttest_ind_from_stats(*moments[0], *moments[1], equal_var=False)  # type: ignore[arg-type]
    return float(result.pvalue)


def _arms(blocks: Iterable[Block]) -> tuple[list[float], list[float]]:
    made: tuple[list[float], list[float]] = ([], [])
    for block in blocks:
        made[block.arm].extend(block.values)
    return made


def _windows_p(blocks: Iterable[Block]) -> float:
    before, after = _arms(blocks)
    return _welch(np.log(before), np.log(after))


def _log_ratio(before: Values, after: Values) -> float:
    return float(np.mean(np.log(after)) - np.mean(np.log(before)))


def _until_steady(values: Sequence[float]) -> tuple[int, int]:
    """Ask after every window until enough follow the start, as a round does."""
    for end in range(WINDOWS, len(values)):
        start = steady_start(values[:end])
        if start is not None and end - start >= WINDOWS:
            return start, end
    return len(values) - WINDOWS, len(values)


def _false_alarms(quantity: str, alarms: Sequence[bool]) -> Iterator[Row]:
    """Yield the rate, and what it is held against: its 95 % interval includes or lies below the nominal 5 %."""
    rate = _rate(quantity, alarms)
    yield rate
    yield Row(
        quantity=f"{quantity}, lower end of the interval",
        ours=rate["low"] or 0.0,
        goal=NOMINAL,
        better="lower",
        unit="ratio",
        against="nominal rate",
        n=len(alarms),
        low=None,
        high=None,
    )


def _rate(quantity: str, hits: Sequence[bool], *, better: Better = "lower", against: str = "") -> Row:
    return rate_row(quantity, hits, better=better, against=against)


def _median(quantity: str, values: Sequence[float]) -> Row:
    interval = stats.bootstrap((values,), np.median, n_resamples=999, rng=np.random.default_rng(1)).confidence_interval
    return _row(quantity, float(np.median(values)), "ratio", "lower", interval, len(values))


def _mean(quantity: str, values: Sequence[float], unit: str) -> Row:
    low, high = mean_interval(values)
    return _row(quantity, float(np.mean(values)), unit, "lower", (low, high), len(values))


def _removed(quantity: str, without: Sequence[float], with_it: Sequence[float]) -> Row:
    """Return the part of the variance that a defence removes."""

    def part(before: NDArray[np.float64], after: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return 1 - np.asarray(np.var(after, axis=axis) / np.var(before, axis=axis))

    rng = np.random.default_rng(1)
    interval = stats.bootstrap((without, with_it), part, n_resamples=999, method="percentile", rng=rng)
    value = float(part(np.array(without), np.array(with_it)))
    return _row(quantity, value, "ratio", "higher", interval.confidence_interval, len(without), against="without it")


def _row(
    quantity: str,
    ours: float,
    unit: str,
    better: Better,
    interval: Sequence[float],
    n: int,
    *,
    against: str = "",
) -> Row:
    low, high = (float(end) for end in interval)
    return Row(
        quantity=quantity, ours=ours, goal=None, better=better, unit=unit, against=against, n=n, low=low, high=high
    )
