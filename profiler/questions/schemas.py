"""The published JSON schemas of the documents: generated from their types, and kept as files beside them.

`python -m profiler.questions.schemas` writes the files anew. Keys may be added to a document; what a schema promises
stays, so a difference in a file is one in what other programs may rely on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import GenericAlias
from typing import Any, cast

from pydantic import ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from profiler.history.migrations import COMPARE_RESULT, GATE_RESULT, RESULT
from profiler.questions.compare.answer import CompareAnswer
from profiler.questions.gate.answer import GateAnswer
from profiler.questions.recalibrate.answer import SCHEMA, RecalibrateAnswer
from profiler.questions.search.answer import Profile


@dataclass(frozen=True, slots=True)
class PublishedSchema:
    """One document's schema."""

    mark: str
    """The document's own word for it."""
    document: type
    package: str
    """The package that holds the file."""
    file: str
    description: str

    def generated(self) -> dict[str, Any]:
        """Return what the types say."""
        # A list of them, as a dataclass by itself takes no configuration from outside.
        adapter: TypeAdapter[Any] = TypeAdapter(
            cast("Any", GenericAlias(list, (self.document,))), config=ConfigDict(use_attribute_docstrings=True)
        )
        shapes = adapter.json_schema(schema_generator=_WithoutDefaults)["$defs"]
        for shape in shapes.values():
            del shape["title"]
        own = shapes.pop(self.document.__name__)
        return {
            "$schema": GenerateJsonSchema.schema_dialect,
            "title": self.mark,
            "description": f"{self.description} Keys may be added; these stay.",
            **{key: value for key, value in own.items() if key != "description"},
            "required": ["schema", *own["required"]],
            "$defs": shapes,
        }

    def read(self) -> dict[str, Any]:
        """Return what is published."""
        text = files(self.package).joinpath(self.file).read_text(encoding="utf-8")
        schema: dict[str, Any] = json.loads(text)
        return schema

    def write(self) -> None:
        """Publish what the types say."""
        text = json.dumps(self.generated(), indent=1, ensure_ascii=False) + "\n"
        Path(str(files(self.package).joinpath(self.file))).write_text(text, encoding="utf-8")


class _WithoutDefaults(GenerateJsonSchema):
    """Tells what a document has, not what is taken where it has nothing."""

    def definitions_schema(self, schema: core_schema.DefinitionsSchema) -> JsonSchemaValue:
        """Begin with the inner ones, which `Published` changes where an outer one has them."""
        return super().definitions_schema({**schema, "definitions": schema["definitions"][::-1]})

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Leave the default out."""
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, _: Any) -> bool:
        """Have no titles that repeat the key."""
        return False


PROFILE = PublishedSchema(
    RESULT.mark, Profile, "profiler.questions.search", "profile-1.schema.json", "What `profile run --json` writes."
)
GATE = PublishedSchema(
    GATE_RESULT.mark,
    GateAnswer,
    "profiler.questions.gate",
    "gate-1.schema.json",
    "What `profile gate --json` writes. A number that is not known, or has no bound, is null.",
)
COMPARE = PublishedSchema(
    COMPARE_RESULT.mark,
    CompareAnswer,
    "profiler.questions.compare",
    "compare-1.schema.json",
    "What `profile compare --json` writes. A number that is not known, or has no bound, is null. Effects are relative: "
    "0.1 is 10 % more throughput.",
)
RECALIBRATE = PublishedSchema(
    SCHEMA,
    RecalibrateAnswer,
    "profiler.questions.recalibrate",
    "recalibrate-1.schema.json",
    "What `profile recalibrate --json` writes.",
)
PUBLISHED: Mapping[str, PublishedSchema] = {each.mark: each for each in (PROFILE, GATE, COMPARE, RECALIBRATE)}


if __name__ == "__main__":
    for each in PUBLISHED.values():
        each.write()
