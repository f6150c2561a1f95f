"""A chain as a streaming DataFrame: source or inbox, one stage per operator, a Kafka sink; and the query it runs as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark import Accumulator
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from profiler.engines.spark.jvm.failures import not_built
from profiler.engines.spark.jvm.job_settings import SINK, SOURCE
from profiler.engines.spark.layout.chains import Chain, QueryLayout
from profiler.engines.spark.layout.topic_columns import require_same_columns, require_text_keys
from profiler.engines.spark.layout.topic_names import Places
from profiler.engines.spark.load.topics import Offsets
from profiler.engines.spark.query import python_operator, rows
from profiler.engines.spark.query.key_counts import with_keys_counted
from profiler.errors import TopologyError
from profiler.experiment.observation import Detail
from profiler.job.topology import Operator, Topology

ROWS_OUT = "rows out of "
"""Name of an observed count, followed by the element's name."""


@dataclass(slots=True)
class Builder:
    """Builds the queries of one deployment, upstream first: an inbox has the columns of its producers."""

    spark: SparkSession
    topology: Topology
    places: Places
    partitions: Mapping[str, int]
    """The number of partitions of the topics that are read."""
    uses: Accumulator[python_operator.Uses]
    detail: Detail
    sample_every: int
    latency_up_to: str | None = None
    """The operator that drops `event_time`, up to which latency is measured; None where none does."""
    sampled: bool = False
    """Whether some rows that leave the topology still have their `event_time`."""
    _inboxes: dict[str, tuple[str, StructType]] = field(default_factory=dict)

    def build(self, layout: QueryLayout, starting: Offsets) -> DataFrame:
        """Build what a chain sends to Kafka, reading from the given offsets on."""
        stream = self._read(layout.chain, starting)
        first_of_stage = {stage.elements[0]: stage.tasks for stage in layout.stages[1:] if stage.elements}
        stage_tasks = layout.stages[0].tasks
        for name in layout.chain.operators:
            operator = self._operator(name)
            if self.detail is Detail.FULL:
                stream = with_keys_counted(stream, operator)
            if name in first_of_stage:
                if not operator.stateful:
                    stream = stream.repartition(first_of_stage[name])
                elif stage_tasks == first_of_stage[name] == 1:
                    stream = _unpartitioned(stream)
                stage_tasks = first_of_stage[name]
            stream = self._apply(operator, stream)
            if self.detail is Detail.FULL:
                stream = stream.observe(ROWS_OUT + name, F.count(F.lit(1)).alias("rows"))
        return self._send(layout.chain, stream)

    def _read(self, chain: Chain, starting: Offsets) -> DataFrame:
        if not chain.sources:
            _, schema = self._inboxes[chain.name]
            return rows.inner_rows(self._messages(self.places.inboxes[chain.name], starting), schema)
        streams = [
            rows.source_rows(self._messages(self.places.sources[name], starting), self.sample_every)
            for name in chain.sources
        ]
        return reduce(DataFrame.unionByName, streams)

    def _messages(self, topic: str, starting: Offsets) -> DataFrame:
        return (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.places.address)
            .option("subscribe", topic)
            .option("startingOffsets", json.dumps({topic: starting[topic]}))
            .options(**SOURCE)
            .load()
        )

    def _apply(self, operator: Operator, stream: DataFrame) -> DataFrame:
        python_operator.travel_by_value(operator)
        result = self._result(operator, stream)
        if rows.EVENT_TIME in stream.columns and rows.EVENT_TIME not in result.columns:
            self.latency_up_to = operator.name
            result = self._result(operator, rows.watched(stream))
        return result

    def _result(self, operator: Operator, stream: DataFrame) -> DataFrame:
        try:
            if operator.batches is not None:
                return python_operator.apply(stream, operator, self.uses, exactly=self.detail is Detail.FULL)
            result = operator.function(stream) if operator.function else stream
        except Exception as error:
            raise not_built(operator, error) from error
        if not isinstance(result, DataFrame):
            raise TopologyError(
                f"Operator '{operator.name}' returned {type(result).__name__} instead of a DataFrame.",
                hint="Return the transformed DataFrame, or say batches='arrow' for a function over batches.",
            )
        return result

    def _send(self, chain: Chain, stream: DataFrame) -> DataFrame:
        if not chain.consumers:
            self.sampled |= rows.EVENT_TIME in stream.columns
            mark = self.places.mark_of(chain) if self.places.hops else None
            return rows.output_messages(stream, self.places.output, self.places.samples, mark)
        for consumer in chain.consumers:
            self._join_inbox(consumer, chain.last, stream.schema)
        inboxes = {topic: self.partitions[topic] for topic in map(self.places.inboxes.__getitem__, chain.consumers)}
        return rows.inner_messages(stream, inboxes, self.places.mark_of(chain))

    def _join_inbox(self, consumer: str, producer: str, schema: StructType) -> None:
        """Note an inbox's columns; its producers are united by name, so they must agree on them."""
        require_text_keys(producer, schema)
        require_same_columns(consumer, self._inboxes.setdefault(consumer, (producer, schema)), (producer, schema))

    def _operator(self, name: str) -> Operator:
        element = self.topology[name]
        if not isinstance(element, Operator):
            raise AssertionError(name)
        return element


def start(
    messages: DataFrame, layout: QueryLayout, address: str, client: str, checkpoint: Path, window_s: float
) -> StreamingQuery:
    """Start a query in real-time mode; its batch is the window.

    Every `client` has a producer of its own. With one that Spark shares between deployments, rows that an ended query
    left in it would be sent to a deleted topic, again and again, and the next query's batch waits for that: two minutes
    were seen.
    """
    writer: Any = messages.writeStream  # its types do not know real-time mode yet
    query: StreamingQuery = (
        writer.format("kafka")
        .queryName(f"{layout.chain.name} of {client}")
        .option("kafka.bootstrap.servers", address)
        .options(**SINK)
        .option("kafka.client.id", client)
        .option("checkpointLocation", str(checkpoint))
        .outputMode("update")
        .trigger(realTime=f"{round(window_s * 1000)} milliseconds")
        .start()
    )
    return query


def _unpartitioned(stream: DataFrame) -> DataFrame:
    """Make Spark forget that the rows are in a single partition, so that a shuffle to one task is one.

    Unpivoting a single column gives every row once, with the same columns; no rule sees through it.
    """
    columns = stream.columns
    turned = stream.unpivot(list(columns[1:]), [columns[0]], "__name", columns[0])
    return turned.select(*columns)
