"""A recalibration in words, for every form that it is shown in: what changed, what is repeated, what came of it."""

from __future__ import annotations

from collections.abc import Iterator

from profiler.job.configuration import Configuration
from profiler.questions.recalibrate.answer import MovementAnswer, RecalibrateAnswer
from profiler.questions.recalibrate.warm_start import Scope
from profiler.questions.search.answer import Profile
from profiler.questions.search.rate_words import rate_in_words
from profiler.report.words import change


def headline(answer: RecalibrateAnswer) -> str:
    """Say what was recalibrated."""
    stored = answer.profile
    about = f"profile {stored.run}: {stored.configuration}, {stored.throughput_per_s:,.0f} rows/s"
    return f"Recalibrate: {answer.topology} on {answer.engine}, {about}"


def facts(answer: RecalibrateAnswer) -> Iterator[tuple[str, str]]:
    """Yield what changed, what follows from it, and what was found."""
    for each in answer.differences:
        yield each.part, each.what
    warm = answer.warm_start
    if warm.run != answer.profile.run:
        yield "warm start", f"profile {warm.run} is nearer: {warm.configuration}"
        for each in warm.differences:
            yield "", f"{each.part}: {each.what}"
    yield "repeats", answer.why
    if answer.moved is not None:
        yield "features", "; ".join(map(_moved, answer.moved)) or "none moved"
    if answer.result is not None:
        yield from _checked(answer.result)


def _checked(result: Profile) -> Iterator[tuple[str, str]]:
    """Yield what blocks and production's batches said of the profile that came of it."""
    confirmed, verified = result.confirmed, result.verified
    if confirmed is not None:
        against = Configuration.of(result.initial.tasks)
        bounds = f"{change(confirmed.low)} to {change(confirmed.high)}"
        yield "in blocks", f"{confirmed.verdict} {change(confirmed.effect)} ({bounds}) against {against}"
    if verified is not None:
        yield "holds", rate_in_words(result)


def said(answer: RecalibrateAnswer) -> str:
    """Say the verdict, and what it took."""
    if answer.dry_run:
        return "dry run: nothing was measured"
    rounds = f"; a whole profile took {answer.full_rounds}" if answer.scope is not Scope.ALL else ""
    return f"{answer.verdict}: {answer.conclusion}{rounds}"


def _moved(each: MovementAnswer) -> str:
    cost = f"{_figure(each.before_us)} → {_figure(each.now_us)} µs {each.quantity} per source row"
    return f"'{each.operator}' {cost} ({change(each.effect)})"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
