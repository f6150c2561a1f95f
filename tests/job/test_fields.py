"""A value that a field can't hold is refused with the element and the field; others become plain."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from profiler import Cost, Operator, Source, Topology
from profiler.errors import TopologyError


class Mute:
    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


class MuteText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


def build(*, latency_ms: Any = None, name: Any = "job", source: Any = None, **fields: Any) -> Topology:
    """Build a topology of one operator `o` with these fields; `source` holds those of its source."""
    operator = Operator(**{"name": "o", "inputs": ["s"], "cost": Cost(cpu_ms=1), **fields})
    return Topology(name, [Source(**{"name": "s", **(source or {})})], [operator], latency_ms=latency_ms)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "text for a number": (lambda: build(selectivity="2"), "Operator 'o' has selectivity='2'. It is a number."),
    "yes for a number": (lambda: build(emits_per_s=True), "Operator 'o' has emits_per_s=True. It is a number."),
    "infinite": (lambda: build(selectivity=float("inf")), "Operator 'o' has selectivity=inf. It is a number from"),
    "beyond floats": (lambda: build(selectivity=10**400), "Operator 'o' has selectivity=1000"),
    "next to nothing": (lambda: build(hot_key_share=1e-320), "Operator 'o' has hot_key_share=1e-320. It is a number"),
    "a rate beyond all": (lambda: build(source={"pull_per_s": 1e300}), "Source 's' has pull_per_s=1e+300. It is a nu"),
    "a share in words": (lambda: build(source={"share": "half"}), "Source 's' has share='half'. It is a number."),
    "cost in words": (lambda: build(cost=Cost(cpu_ms="1")), "Operator 'o' has the impossible cost cpu_ms='1'."),  # type: ignore[arg-type]
    "cost that is a number": (lambda: build(cost=3), "Operator 'o' has cost=3. Write it as cost=Cost(cpu_ms=…)."),
    "no cost of a source": (lambda: build(source={"cost": None}), "Source 's' has cost=None."),
    "tasks in words": (lambda: build(min_tasks="1"), "Operator 'o' has min_tasks='1'. Task counts are whole numbers"),
    "tasks beyond machines": (lambda: build(max_tasks=10**20), "Operator 'o' has max_tasks=100000000000000000000. 1,"),
    "payloads": (lambda: build(source={"payloads": 5}), "Source 's' has payloads=5. It is text."),
    "payloads with NUL": (
        lambda: build(source={"payloads": "a\0b"}),
        "Source 's' has payloads='a\\x00b'. 'a\\x00b' is no name that a file can have.",
    ),
    "payloads too long": (
        lambda: build(source={"payloads": "a" * 300}),
        f"Source 's' has payloads='{'a' * 59}…. '{'a' * 60}…' names no file: File name too long. Name another one.",
    ),
    "payloads of half a character": (
        lambda: build(source={"payloads": "a\ud800"}),
        "Source 's' has payloads='a\\ud800'. 'a\\ud800' is no name that a file can have.",
    ),
    "payloads of nobody": (
        lambda: build(source={"payloads": "~nosuchuser/a"}),
        "Source 's' has payloads='~nosuchuser/a'. '~nosuchuser/a' begins with the home of a user that does not exist",
    ),
    "operators without end": (
        lambda: Topology("job", [Source("s")], map(Operator, map(str, count()))),
        "Topology 'job' has more than 1,000 operators. Profile a part of it.",
    ),
    "a chain of too many": (
        lambda: Topology.chain("job", Source("s"), *(Operator(f"o{number}") for number in range(1001))),
        "Topology 'job' has more than 1,000 operators. Profile a part of it.",
    ),
    "too many sources": (
        lambda: Topology("job", [Source(f"s{number}") for number in range(1001)], []),
        "Topology 'job' has more than 1,000 sources. Profile a part of it.",
    ),
    "stateful in words": (lambda: build(stateful="yes"), "Operator 'o' has stateful='yes'. It is True or False."),
    "parallel as a number": (lambda: build(parallel=0), "Operator 'o' has parallel=0. It is True or False."),
    "key": (lambda: build(key=["a"]), "Operator 'o' has key=['a']. It is text."),
    "schema": (lambda: build(schema=5), "Operator 'o' has schema=5. It is text."),
    "output": (lambda: build(output=[]), "Operator 'o' has output=[]. output is one of"),
    "batches": (lambda: build(batches=5), "Operator 'o' has batches=5. batches is one of"),
    "inputs": (lambda: build(inputs=5), "Operator 'o' has inputs=5. Name the elements that it reads"),
    "inputs of elements": (lambda: build(inputs=[Source("s")]), "Operator 'o' has inputs=[Source(name='s'"),
    "latency in words": (lambda: build(latency_ms="500"), "Topology 'job' has latency_ms='500'. A latency is positive"),
    "latency beyond floats": (lambda: build(latency_ms=10**400), "Topology 'job' has latency_ms=1000"),
    "name of a topology": (lambda: build(name=5), "A topology has name=5. A name is text."),
    "name that can't be told": (lambda: build(name=Mute()), "A topology has name=a Mute. A name is text."),
    "name of an operator": (
        lambda: Topology("job", [Source("s")], [Operator(5, inputs=["s"])]),  # type: ignore[arg-type]
        "Operator number 2 of 'job' has name=5.",
    ),
    "name of a source": (lambda: build(source={"name": Mute()}), "Source number 1 of 'job' has name=a Mute."),
    "name with NUL": (lambda: build(name="a\0b"), "A topology has name='a\\x00b'. A name has printable characters"),
    "name with an escape": (
        lambda: build(source={"name": "\x1b[31m"}),
        "Source number 1 of 'job' has name='\\x1b[31m'",
    ),
    "name with half a character": (lambda: build(name="a\ud800"), "A topology has name='a\\ud800'. A name has printab"),
    "name without end": (lambda: build(name="n" * 256), "A topology has a name of 256 characters. 255 are the most"),
    "a source alone": (lambda: Topology("job", Source("s"), [Operator("o")]), "Topology 'job' has sources=Source("),  # type: ignore[arg-type]
    "a function alone": (lambda: Topology("job", [Source("s")], [build]), "Topology 'job' has <function build at"),  # type: ignore[list-item]
    "a chain from a name": (lambda: Topology.chain("job", "s", build), "Topology 'job' has 's' among its sources."),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_value_is_refused_by_element_and_field(case: str) -> None:
    construct, sentence = WRONG[case]
    with pytest.raises(TopologyError) as error:
        construct()
    assert str(error.value).startswith(sentence)
    assert error.value.hint


def test_values_of_other_libraries_become_plain() -> None:
    """A document and a database know nothing of them."""
    topology = build(
        latency_ms=np.float64(500),
        selectivity=Fraction(1, 2),
        min_tasks=np.int64(2),
        name=MuteText("job"),
        source={"payloads": Path("lines.jsonl"), "name": MuteText("s")},
        cost=Cost(cpu_ms=np.float32(0.5)),  # type: ignore[arg-type]
    )
    operator, source = topology.operators[0], topology.sources[0]
    assert operator.cost is not None
    plain = [topology.latency_ms, operator.selectivity, operator.min_tasks, source.payloads, operator.cost.cpu_ms]
    assert json.dumps(plain) == '[500.0, 0.5, 2, "lines.jsonl", 0.5]'
    assert {type(each) for each in (*plain, topology.name, source.name)} == {float, int, str}
