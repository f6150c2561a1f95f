"""Fingerprints: what a stored profile holds for, in parts that can be compared with how things are now.

- **application**: every operator's code by its pieces (`operator_code.py`), the plan (who reads from whom, state, keys,
  batches, declared costs);
- **platform**: its size (master, slots, cores, nodes), and the machine and versions that settle its speed;
- **data**: a sample of every source's messages (`payload_sample.py`), the rows out per row in of every operator;
- **question**: the latency constraint and the method's other knobs, the bounds of the tasks.

A comparison gives differences in words, each with the part it belongs to; what follows from them is `recalibrate.py`'s.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from profiler import __version__
from profiler.experiment.engine import Platform
from profiler.job.operator_code import code_pieces
from profiler.job.topology import Element, Operator, Source, Topology
from profiler.report.documents import plain
from profiler.settings.declarations import OPTIONS
from profiler.settings.option import Asked
from profiler.traffic.payload_sample import PayloadSample, sample_differences

VERSION = 1
CODE = "code of "
"""The text that the name of a fact begins with where it is a digest."""
BOUNDS = "tasks"
SIZE = ("master", "slots", "cores", "nodes")
"""Facts of the platform that say how much of it there is; all others say how fast it is."""
RATIO_MOVED = 0.1
"""Change of an operator's rows out per row in that is told."""

Facts = Mapping[str, str]


class Part(StrEnum):
    """What a difference belongs to."""

    APPLICATION = "application"
    PLATFORM = "platform"
    """How much of the platform there is."""
    MACHINE = "machine"
    """How fast the platform is: hardware and versions."""
    DATA = "data"
    QUESTION = "question"


_PARTS = {option.key: Part(option.asked) for option in OPTIONS if option.asked not in (None, Asked.CONDITION)}
"""Settings that make another answer right, or rows cost another amount, by key."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was."""

    part: Part
    what: str


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What decides on a job's best configuration."""

    reference: str
    """The TOPOLOGY argument as it was written, to load the job again."""
    application: Mapping[str, Facts]
    """Facts of the code of every element, by its name."""
    platform: Facts
    samples: Mapping[str, PayloadSample]
    """A sample of every source's messages; sources whose messages were not read are left out."""
    declared: Mapping[str, Facts]
    """What the topology states of the data, by element, for the simulated engine."""
    asked: Facts
    """Settings as they were in force, written as a flag would be."""
    stated_slots: bool
    """Whether somebody stated the slots; False where they followed from the memory that happened to be free."""
    loop_s: float | None = None
    """CPU seconds of the speed index's work at speed 1, which the index is relative to."""
    ratios: Mapping[str, float] = field(default_factory=dict)
    """Rows out per row in by operator, where step 1 measured them."""
    own_latency: str | None = None
    """The constraint that the topology itself states, empty where it states none; None where that was not kept."""

    def __post_init__(self) -> None:
        """Raise ValueError where a number, which is written as all facts are, is none."""
        for facts, name in ((self.platform, "slots"), (self.asked, "prefill")):
            if not re.fullmatch("[0-9]{1,18}", facts.get(name, "0")):
                raise ValueError(f"{name} is {facts[name]!r}, which is no number")

    @property
    def slots(self) -> int | None:
        """Slots that the platform gave the topology; None where that was not kept."""
        return int(self.platform["slots"]) if "slots" in self.platform else None

    @property
    def prefill_keys(self) -> int:
        """Keys that were loaded into the state of every deployment first."""
        return int(self.asked.get("prefill", 0))

    @property
    def digest(self) -> str:
        """Tell fingerprints apart by one word; figures that were measured do not count.

        Nor does the constraint that the topology states: the one in force is among what was asked.
        """
        document = fingerprint_document(replace(self, loop_s=None, ratios={}))
        del document["own_latency"]
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]


def fingerprint_of(
    topology: Topology,
    reference: str,
    engine: str,
    platform: Platform,
    *,
    slots: int,
    master: str = "",
    stated_slots: bool = True,
    samples: Mapping[str, PayloadSample] | None = None,
    asked: Facts | None = None,
    own_latency: str | None = None,
) -> Fingerprint:
    """Take the fingerprint of a topology on a platform that gives it so many slots."""
    return Fingerprint(
        reference=reference,
        application={element.name: _application(element) for element in topology},
        platform=_platform(engine, platform, slots, master),
        samples=samples or {},
        declared={element.name: declared for element in topology if (declared := _declared(element))},
        asked=asked or {},
        stated_slots=stated_slots,
        loop_s=platform.loop_s,
        own_latency=own_latency,
    )


def fingerprint_document(fingerprint: Fingerprint) -> dict[str, Any]:
    """Turn a fingerprint into a document of plain values."""
    document: dict[str, Any] = plain({"version": VERSION, **asdict(fingerprint)})
    return document


def differences(before: Fingerprint, now: Fingerprint, *, most_slots: int) -> tuple[Difference, ...]:
    """Tell what is not as it was; `most_slots` is the most that any round of the stored profile used.

    Slots that nobody stated follow the free memory and differ from call to call: where the profile never used more
    than half of the fewer, they did not bind it and are passed over.
    """
    found = [
        *(Difference(Part.APPLICATION, what) for what in _application_differences(before, now)),
        *(Difference(_part_of(name), what) for name, what in _platform_differences(before, now, most_slots)),
        *(Difference(Part.DATA, what) for what in _data_differences(before, now)),
        *_asked_differences(before, now),
    ]
    return tuple(found)


def _application(element: Element) -> Facts:
    cost = element.cost
    facts = {
        "kind": "source" if isinstance(element, Source) else "operator",
        "cost": "" if cost is None else f"{cost.cpu_ms:g} ms CPU, {cost.wait_ms:g} ms waiting, {cost.memory_mb:g} MB",
        BOUNDS: _bounds(element),
    }
    if isinstance(element, Operator):
        facts |= {
            "inputs": ", ".join(element.inputs),
            "state": f"by {element.key or 'all'}" if element.stateful else "none",
            "key": element.key or "",
            "output": str(element.output or ""),
            "batches": str(element.batches or ""),
            "schema": element.schema or "",
            "emits": "" if element.emits_per_s is None else f"{element.emits_per_s:g} rows/s",
        }
        if element.function is not None:
            facts |= {CODE + name: digest for name, digest in code_pieces(element.function).items()}
    return {name: value for name, value in facts.items() if value}


def _bounds(element: Element) -> str:
    if not element.parallel:
        return "one"
    return f"{element.min_tasks} to {element.max_tasks or 'any'}"


def _declared(element: Element) -> Facts:
    """Return what a topology says of its data."""
    if isinstance(element, Source):
        facts = {"part of the rows": "" if element.share is None else f"{element.share:g}"}
    else:
        facts = {
            "rows out per row in": "" if element.selectivity is None else f"{element.selectivity:g}",
            "part of the most frequent key": f"{element.hot_key_share:g}" if element.hot_key_share else "",
        }
    return {name: value for name, value in facts.items() if value}


def _platform(engine: str, platform: Platform, slots: int, master: str) -> Facts:
    facts = {
        "engine": engine,
        "master": master,
        "slots": str(slots),
        "cores": str(platform.cores),
        "nodes": str(platform.nodes),
        # The cores are told by themselves: more of the same machine is a matter of size.
        "machine": re.sub(r", \d+ cores$", "", platform.machine),
        "profile": __version__,
        **platform.versions,
    }
    return {name: value for name, value in facts.items() if value}


def _part_of(fact: str) -> Part:
    return Part.PLATFORM if fact in SIZE else Part.MACHINE


def _application_differences(before: Fingerprint, now: Fingerprint) -> Iterator[str]:
    for name in dict.fromkeys((*before.application, *now.application)):
        was, is_ = before.application.get(name), now.application.get(name)
        if was is None or is_ is None:
            yield f"'{name}' is {'new' if was is None else 'gone'}"
            continue
        changed = [(fact, *both) for fact, *both in _changed(was, is_) if fact != BOUNDS]
        code = [fact for fact, *_ in changed if fact.startswith(CODE)]
        if code:
            yield f"'{name}': {', '.join(code)} changed"
        for fact, past, present in changed:
            if fact not in code:
                yield f"'{name}': {fact} was {past}, is {present}"


def _platform_differences(before: Fingerprint, now: Fingerprint, most_slots: int) -> Iterator[tuple[str, str]]:
    for fact, past, present in _changed(before.platform, now.platform):
        by_memory = not before.stated_slots and not now.stated_slots
        if fact == "slots" and by_memory and 2 * most_slots <= min(int(past), int(present)):
            continue
        yield fact, f"{fact}: was {past}, is {present}"


def _data_differences(before: Fingerprint, now: Fingerprint) -> Iterator[str]:
    for source in sorted(before.samples.keys() & now.samples.keys()):
        for what in sample_differences(before.samples[source], now.samples[source]):
            yield f"'{source}': {what}"
    for name in dict.fromkeys((*before.declared, *now.declared)):
        if name in before.application and name in now.application:
            for fact, past, present in _changed(before.declared.get(name, {}), now.declared.get(name, {})):
                yield f"'{name}': {fact} was {past}, is {present}"
    for name in sorted(before.ratios.keys() & now.ratios.keys()):
        past_ratio, ratio = before.ratios[name], now.ratios[name]
        if abs(ratio - past_ratio) > RATIO_MOVED * past_ratio:
            yield f"'{name}': {ratio:.3g} rows out per row in were measured, it was {past_ratio:.3g}"


def _asked_differences(before: Fingerprint, now: Fingerprint) -> Iterator[Difference]:
    for fact, past, present in _changed(before.asked, now.asked):
        if fact in _PARTS:
            yield Difference(_PARTS[fact], f"{fact}: was {past}, is {present}")
    for name in before.application.keys() & now.application.keys():
        for fact, past, present in _changed(before.application[name], now.application[name]):
            if fact == BOUNDS:
                yield Difference(Part.QUESTION, f"'{name}': may have {present} tasks, it was {past}")


def _changed(before: Facts, now: Facts) -> Iterator[tuple[str, str, str]]:
    for fact in dict.fromkeys((*before, *now)):
        past, present = before.get(fact, "not stated"), now.get(fact, "not stated")
        if past != present:
            yield fact, past, present
