"""Columns that travel through a topic between two queries: what it cannot hold is refused before anything starts."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from profiler.engines.spark.layout.topic_columns import require_same_columns, require_text_keys
from profiler.errors import TopologyError

ROWS = StructType([StructField("word", StringType()), StructField("n", LongType())])
TURNED = StructType([StructField("n", LongType()), StructField("word", StringType())])
NARROW = StructType([StructField("word", StringType()), StructField("n", IntegerType())])
TEXTS = MapType(StringType(), TimestampType())
NUMBERS = MapType(LongType(), StringType())


def column(kind):
    return StructType([StructField("fine", StringType()), StructField("seen", kind)])


def test_producers_are_united_by_name():
    """The order of columns does not matter; nor does one that feeds two edges."""
    require_same_columns("join", ("a", ROWS), ("b", TURNED))
    require_same_columns("join", ("a", ROWS), ("a", ROWS))


def test_other_types_are_refused():
    """A reader has one type for a column: an int that is read as a bigint by luck is none for the other producer."""
    with pytest.raises(TopologyError) as refused:
        require_same_columns("join", ("a", ROWS), ("b", NARROW))
    assert refused.value.message == (
        "Operator 'join' reads 'a' with the columns (word string, n bigint) and 'b' with (word string, n int)."
    )


@pytest.mark.parametrize("kind", [TEXTS, ArrayType(TEXTS), MapType(StringType(), TEXTS), StringType()])
def test_maps_with_text_keys_travel(kind):
    """Wherever they are."""
    require_text_keys("a", column(kind))


@pytest.mark.parametrize("kind", [NUMBERS, ArrayType(NUMBERS), MapType(StringType(), NUMBERS), column(NUMBERS)])
def test_other_maps_are_refused(kind):
    """However deep they are; the column is named."""
    with pytest.raises(TopologyError, match="'a' emits the column 'seen', a map with keys of type bigint"):
        require_text_keys("a", column(kind))
