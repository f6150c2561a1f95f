"""Documents of answers: each can be made from its value and its value from it, and types say what is wrong in one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import TypeAdapter

from profiler.errors import ProfileError
from profiler.history.records import read_document
from profiler.questions.compare.document import compare_document, read_comparison
from profiler.questions.gate.document import gate_document, read_gate
from profiler.questions.recalibrate.answer import RecalibrateAnswer
from profiler.questions.schemas import COMPARE, GATE, RECALIBRATE, PublishedSchema
from profiler.report.documents import document_of

WRITTEN = Path(__file__).parents[1] / "golden" / "expected"
"""What commands wrote, without names and times of runs."""


def read_recalibration(document: Mapping[str, Any]) -> RecalibrateAnswer:
    """Read what no command reads, as a program would that uses the types."""
    return read_document(TypeAdapter(RecalibrateAnswer), document, "recalibration")


@dataclass(frozen=True)
class Sort:
    """A sort of documents, and one of each kind that there is of them."""

    schema: PublishedSchema
    read: Callable[[Mapping[str, Any]], Any]
    write: Callable[[Any], dict[str, Any]]
    files: tuple[str, ...]


SORTS = (
    Sort(COMPARE, read_comparison, compare_document, ("compare/workloads",)),
    Sort(GATE, read_gate, gate_document, ("gate/against_a_file", "gate/drilled", "gate/unchanged")),
    Sort(RECALIBRATE, read_recalibration, document_of, ("recalibrate/of_the_history",)),
)
CASES = [pytest.param(sort, file, id=f"{file}") for sort in SORTS for file in sort.files]


def document_in(file: str) -> dict[str, Any]:
    (path,) = (WRITTEN / file).glob("*.json")
    # A number that every machine has another one of stands there as "…".
    text = re.sub(r": …(,?)$", r": 1\1", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    document: dict[str, Any] = json.loads(text)
    return document


def places(document: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of every value, of lists the first entry only."""
    entries = document.items() if isinstance(document, dict) else list(enumerate(document))[:1]
    for key, value in entries:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from places(value, (*above, key))


def with_another(document: Any, place: tuple[str | int, ...], value: Any) -> Any:
    """Return a copy with another value in one place."""
    copied = json.loads(json.dumps(document))
    inner = copied
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    return copied


@pytest.mark.parametrize(("sort", "file"), CASES)
def test_an_answer_can_be_made_from_its_document(sort, file):
    """Nothing that is told is lost, so that whoever reads it later says the same."""
    document = document_in(file)
    jsonschema.validate(document, sort.schema.read())
    written = sort.write(sort.read(document))
    assert json.dumps(written) == json.dumps(document)


@pytest.mark.parametrize(("sort", "file"), CASES)
def test_a_wrong_type_is_refused_with_its_key_wherever_it_is(sort, file):
    """Whoever wrote the document by hand, or with another version, finds it."""
    document = document_in(file)
    # What is wrong within a profile is told where profiles are tested.
    found = [place for place in places(document) if place != ("schema",) and place[:-1][:1] != ("result",)]
    assert len(found) > 30
    for place in found:
        key = ".".join(map(str, place))
        inner = document
        for part in place:
            inner = inner[part]
        wrong = "text" if isinstance(inner, dict | list) else {"no": ["such"]}
        with pytest.raises(ProfileError, match=f"at '{re.escape(key)}"):
            sort.read(with_another(document, place, wrong))


@pytest.mark.parametrize(("sort", "file"), CASES)
def test_a_key_that_is_missing_is_named(sort, file):
    """What the schema requires is required of a document that is read."""
    document = document_in(file)
    required = set(sort.schema.read()["required"]) - {"schema"}
    assert required
    for key in required:
        with pytest.raises(ProfileError, match=f"at '{key}'"):
            sort.read({name: value for name, value in document.items() if name != key})
