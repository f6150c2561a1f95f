"""The shapes that published JSON schemas share, and what one says of a type besides what its fields say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

MAY_BE_INFINITE = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}]}
"""A figure that JSON has no number for is written as text."""

NotTold = SkipJsonSchema[None]
"""None, where a document does not have the key."""
Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]
Tally = Annotated[int, Field(ge=0)]
"""A count of what there may be none of."""
Portion = Annotated[float, Field(ge=0, le=1)]
Tasks = Annotated[dict[str, Count], Field(min_length=2)]
"""Tasks by source and operator; a job has one of each at the least."""
Figure = Annotated[float, WithJsonSchema(MAY_BE_INFINITE)]


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """What the schema promises of a class that other rooms have too; nothing of it is asked when one is read."""

    optional: tuple[str, ...] = ()
    """Fields that a document may lack."""
    figures: tuple[str, ...] = ()
    """Fields that may be infinite."""
    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Schemas of further fields."""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema that pydantic makes, and change the definition that it names."""
        made = handler(core_schema)
        told = handler.resolve_ref_schema(made)
        told["required"] = [name for name in told["required"] if name not in self.optional]
        told["properties"] |= {**dict.fromkeys(self.figures, MAY_BE_INFINITE), **self.properties}
        return made
