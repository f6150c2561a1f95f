"""What must hold of the columns that travel through a topic between two queries: said by `check`, and before a start.

Rows travel as JSON. The producers of one reader are united by name, and what reads them has one type for each column,
so they must agree on both. JSON has text keys only, so a map needs them too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType

from profiler.errors import TopologyError


def require_same_columns(consumer: str, first: tuple[str, StructType], second: tuple[str, StructType]) -> None:
    """Refuse two producers, each with its columns, that one reader cannot read alike."""
    (one, of_one), (other, of_other) = first, second
    columns, wanted = _types(of_other), _types(of_one)
    if columns != wanted:
        raise TopologyError(
            f"Operator '{consumer}' reads '{one}' with the columns {_written(wanted)} and '{other}' with "
            f"{_written(columns)}.",
            hint="Let both emit the same columns and types.",
        )


def require_text_keys(producer: str, schema: StructType) -> None:
    """Refuse maps that JSON cannot hold."""
    for field in schema.fields:
        for keys in _map_keys(field.dataType):
            if not isinstance(keys, StringType):
                raise TopologyError(
                    f"'{producer}' emits the column '{field.name}', a map with keys of type {keys.simpleString()}, "
                    "which the topic to the next query cannot hold.",
                    hint="Make its keys strings, or an array of pairs.",
                )


def _types(schema: StructType) -> dict[str, str]:
    return {column.name: column.dataType.simpleString() for column in schema.fields}


def _written(columns: Mapping[str, str]) -> str:
    return "(" + ", ".join(f"{name} {kind}" for name, kind in columns.items()) + ")"


def _map_keys(kind: DataType) -> Iterator[DataType]:
    """Give the types of keys of all maps in a type."""
    if isinstance(kind, MapType):
        yield kind.keyType
        yield from _map_keys(kind.valueType)
    elif isinstance(kind, ArrayType):
        yield from _map_keys(kind.elementType)
    elif isinstance(kind, StructType):
        for field in kind.fields:
            yield from _map_keys(field.dataType)
