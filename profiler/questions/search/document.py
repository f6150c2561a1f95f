"""The `--json` document: one object, its schema published beside this file and versioned.

`rounds[].record` holds a round as it was measured, so that the document can be replayed through the policy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from profiler.errors import UsageError
from profiler.experiment.rounds import Action, Round
from profiler.history.documents import plain, round_document, round_from
from profiler.questions.search.bound import bound_of
from profiler.questions.search.loop import SearchResult
from profiler.questions.search.operators import class_document, state_rows
from profiler.questions.search.paste import PasteSettings, paste_settings
from profiler.questions.search.readings.features import application_features
from profiler.questions.search.uncertainty import throughput_interval
from profiler.questions.search.validity import all_notes, where_it_holds
from profiler.questions.search.verification import Verification
from profiler.statistics.result import Comparison

SCHEMA = "profile/1"


def profile_document(profile: SearchResult, *, run: str, engine: str, environment: Mapping[str, Any]) -> dict[str, Any]:
    """Write a profile as one document."""
    settings = paste_settings(profile, engine)
    confirmed = profile.against_initial
    document = {
        "schema": SCHEMA,
        "run": run,
        "topology": profile.topology.name,
        "engine": engine,
        "policy": profile.policy,
        "parameters": asdict(profile.context.parameters),
        "complete": profile.complete,
        "features": _features(profile),
        "best": {
            "round": profile.answer.number,
            "tasks": profile.answer.configuration.tasks,
            "slots": profile.answer.configuration.slots,
            "offered_per_s": profile.answer.configuration.offered_per_s,
            "throughput_per_s": profile.answer.throughput_per_s,
            "throughput_interval_per_s": throughput_interval(profile),
            "latency_ms": _latency(profile.answer),
            "keeps_latency": profile.keeps_latency(profile.answer),
            "holds": where_it_holds(profile),
            "bound": asdict(bound_of(profile)),
            "state_rows": state_rows(profile),
        },
        "initial": {
            "round": profile.initial.number,
            "tasks": profile.initial.configuration.tasks,
            "throughput_per_s": profile.initial.throughput_per_s,
            "keeps_latency": profile.keeps_latency(profile.initial),
        },
        "gain": profile.gain,
        "confirmed": None if confirmed is None else _comparison(confirmed),
        "verified": _verification(profile.verification),
        "rounds": [_round(outcome) for outcome in profile.rounds],
        "settings": _settings(settings),
        "environment": dict(environment),
        "warnings": all_notes(profile),
    }
    result: dict[str, Any] = plain(document)
    return result


def rounds_of(document: Mapping[str, Any]) -> list[Round]:
    """Read the rounds back from a document, for a replay."""
    if document.get("schema") != SCHEMA:
        raise UsageError(f"The document has schema {document.get('schema')!r}, not {SCHEMA!r}.")
    rounds: Sequence[Mapping[str, Any]] = document.get("rounds", ())
    return [round_from(entry["record"]) for entry in rounds]


def schema() -> dict[str, Any]:
    """Return the published JSON schema of the document."""
    text = files("profiler.questions.search").joinpath("profile-1.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _settings(settings: PasteSettings) -> dict[str, Any]:
    """Write the settings to paste; a master only where it is a cluster's."""
    document = {**asdict(settings), "shuffle_partitions": settings.shuffle_partitions}
    return {key: value for key, value in document.items() if key != "master" or value}


def _verification(verification: Verification | None) -> dict[str, Any] | None:
    if verification is None:
        return None
    return {**asdict(verification), "passed": verification.passed, "less": _verification(verification.less)}


def _features(profile: SearchResult) -> dict[str, Any] | None:
    start = next((outcome for outcome in profile.rounds if outcome.trial.action is Action.START), None)
    if start is None or not start.measurement.calm:
        return None
    features = application_features(profile.topology, start.measurement)
    return {
        "operators": {
            name: {
                "min_latency_ms": feature.min_latency_s * 1e3,
                "cpu_us_per_row": feature.cpu_s * 1e6,
                "selectivity": feature.selectivity,
                "output": feature.output,
                "dominated": name in features.dominated,
                **class_document(profile, name),
            }
            for name, feature in features.elements.items()
        },
        "edges": [
            {"from": before, "to": after, "relative_size": size}
            for (before, after), size in features.relative_sizes.items()
        ],
    }


def _round(outcome: Round) -> dict[str, Any]:
    decision = outcome.decision
    return {
        "number": outcome.number,
        "step": outcome.trial.step,
        "action": outcome.trial.action,
        "against": outcome.trial.against,
        "tasks": outcome.configuration.tasks,
        "offered_per_s": outcome.measurement.offered_per_s,
        "throughput_per_s": outcome.measurement.throughputs,
        "latency_ms": _latency(outcome),
        "comparison": None if outcome.comparison is None else _comparison(outcome.comparison),
        "decision": None if decision is None else ("accepted" if decision.accepted else "revoked"),
        "why": "" if decision is None else decision.why,
        "warnings": outcome.measurement.doubts + (outcome.comparison.warnings if outcome.comparison else ()),
        "record": round_document(outcome),
    }


def _latency(outcome: Round) -> dict[str, float] | None:
    return None if outcome.measurement.latency_ms is None else asdict(outcome.measurement.latency_ms)


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return asdict(comparison)
