"""From what a search found to the profile that is told and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from profiler.experiment.rounds import Round
from profiler.history.fingerprint.fingerprint import Fingerprint
from profiler.questions.search.answer import (
    Profile,
    ProfileBest,
    ProfileEdge,
    ProfileElement,
    ProfileFeatures,
    ProfileInitial,
    ProfileRate,
    ProfileRound,
)
from profiler.questions.search.bound import bound_of
from profiler.questions.search.disturbances import disturbance_of
from profiler.questions.search.holding import HoldingRate
from profiler.questions.search.operators import parts_of, start_of, state_rows
from profiler.questions.search.paste import paste_settings
from profiler.questions.search.readings.evidence import windows_at_stress
from profiler.questions.search.readings.features import application_features
from profiler.questions.search.readings.operator_class import operator_class
from profiler.questions.search.result import SearchResult
from profiler.questions.search.uncertainty import throughput_interval
from profiler.questions.search.validity import all_notes, where_it_holds
from profiler.report.documents import plain
from profiler.settings.declarations import DEFAULTS
from profiler.statistics.search_noise import SearchNoise, search_noise


def profile_of(
    result: SearchResult,
    *,
    run: str,
    engine: str,
    environment: Mapping[str, Any],
    headroom: float = DEFAULTS.headroom,
    fingerprint: Fingerprint | None = None,
) -> Profile:
    """Put together what is told of a search; `fingerprint` is completed by what step 1 measured.

    `headroom` is the part of the rate that holds which is not planned with.
    """
    features = _features(result)
    noise = search_noise(windows_at_stress(result.rounds))
    return Profile(
        run=run,
        topology=result.topology.name,
        engine=engine,
        policy=result.policy,
        parameters=result.context.parameters,
        complete=result.complete,
        features=features,
        best=_best(result),
        initial=ProfileInitial(
            round=result.initial.number,
            tasks=result.initial.configuration.tasks,
            throughput_per_s=result.initial.throughput_per_s,
            keeps_latency=result.keeps_latency(result.initial),
        ),
        gain=result.gain,
        confirmed=result.against_initial,
        rate=None if result.holding is None else _rate(result.holding, headroom),
        verified=None if result.holding is None else result.holding.deciding,
        rounds=tuple(round_told(measured, noise) for measured in result.rounds),
        settings=paste_settings(result, engine),
        environment=plain(environment),
        warnings=all_notes(result),
        fingerprint=None if fingerprint is None else _completed(fingerprint, features),
    )


def round_told(measured: Round, noise: SearchNoise) -> ProfileRound:
    """Return what a profile tells of a round; `noise` is that of all of them."""
    decision, comparison = measured.decision, measured.comparison
    return ProfileRound(
        number=measured.number,
        step=str(measured.trial.step),
        action=str(measured.trial.action),
        against=measured.trial.against,
        tasks=measured.configuration.tasks,
        offered_per_s=measured.measurement.offered_per_s,
        throughput_per_s=measured.measurement.throughputs,
        latency_ms=measured.measurement.latency_ms,
        comparison=comparison,
        decision=None if decision is None else ("accepted" if decision.accepted else "revoked"),
        why="" if decision is None else decision.why,
        warnings=tuple(map(str, measured.measurement.doubts + (comparison.warnings if comparison else ()))),
        record=measured,
        disturbance=disturbance_of(measured.measurement, noise),
    )


def _best(result: SearchResult) -> ProfileBest:
    answer = result.answer
    return ProfileBest(
        round=answer.number,
        tasks=answer.configuration.tasks,
        slots=answer.configuration.slots,
        offered_per_s=answer.configuration.offered_per_s,
        throughput_per_s=answer.throughput_per_s,
        throughput_interval_per_s=throughput_interval(result),
        latency_ms=answer.measurement.latency_ms,
        end_to_end_ms=answer.measurement.end_to_end_ms,
        keeps_latency=result.keeps_latency(answer),
        holds=where_it_holds(result),
        bound=bound_of(result),
        state_rows=state_rows(answer),
    )


def _rate(holding: HoldingRate, headroom: float) -> ProfileRate:
    rate = holding.rate_per_s
    return ProfileRate(
        holds_per_s=rate,
        fails_at_per_s=holding.fails_at_per_s,
        planned_per_s=None if rate is None else (1 - headroom) * rate,
        headroom=headroom,
        basis=holding.basis,
        batch_s=holding.batch_s,
        probes=holding.probes,
    )


def _features(result: SearchResult) -> ProfileFeatures | None:
    start = start_of(result.rounds)
    if start is None or not start.measurement.calm:
        return None
    features = application_features(result.topology, start.measurement)
    parts = parts_of(start, [operator.name for operator in result.topology.operators])
    return ProfileFeatures(
        operators={
            name: ProfileElement(
                min_latency_ms=feature.min_latency_s * 1e3,
                cpu_us_per_row=feature.cpu_s * 1e6,
                selectivity=feature.selectivity,
                output=feature.output,
                dominated=name in features.dominated,
                class_=operator_class(parts[name]) if name in parts else None,
                time=parts.get(name),
            )
            for name, feature in features.elements.items()
        },
        edges=tuple(
            ProfileEdge(from_=before, to=after, relative_size=size)
            for (before, after), size in features.relative_sizes.items()
        ),
    )


def _completed(fingerprint: Fingerprint, features: ProfileFeatures | None) -> Fingerprint:
    """Add the rows out per row in, where step 1 measured them."""
    seen = {} if features is None else features.operators
    ratios = {name: each.selectivity for name, each in seen.items() if each.selectivity is not None}
    return replace(fingerprint, ratios=ratios or fingerprint.ratios)
