"""What a job must set as the engine does for its answer to hold: the settings to paste, apart from the tasks."""

from __future__ import annotations

from collections.abc import Mapping

_RULES = "org.apache.spark.sql.catalyst.optimizer."
EXCLUDED_RULES = ",".join(
    _RULES + rule
    for rule in (
        "PushDownPredicates",  # would filter before the shuffle, in the stage of the operator before
        "PushPredicateThroughNonJoin",  # the same rule on its own
        "CollapseRepartition",  # would drop the stage of an operator that changes nothing
    )
)
"""Optimiser rules that move work across `repartition`, and so from one operator to another."""

SOURCE: Mapping[str, str] = {"kafka.fetch.max.wait.ms": "100"}
"""Options of the Kafka source. With a shorter wait readers without rows ask again and again, which slows many queries
down (scripts/benches/results/engine.md); with a longer one a new batch waits for the answer to what the one before it
asked."""

SINK: Mapping[str, str] = {"kafka.linger.ms": "5", "kafka.batch.size": "131072"}
"""Options of the Kafka sink. Spark's client would send every row by itself, which slows the job and the broker down
(scripts/benches/results/engine.md); five milliseconds are what newer clients wait."""

SHUFFLE: Mapping[str, str] = {
    # What is buffered between stages drains after a batch's end, so less of it keeps overloaded batches short.
    "spark.shuffle.streaming.writerMaxMemory": "262144",
    "spark.shuffle.streaming.readerMaxMemory": "262144",
    # A row waits for company between two stages. With Spark's own 50 ms most of the latency at a small rate is that; a
    # shorter wait showed no cost in throughput (scripts/benches/results/latency.md).
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "10",
}
"""Settings that Spark takes only when a session starts."""

PYTHON: Mapping[str, str] = {
    # Let Python operators into real-time mode, and do not let rows wait for a full buffer.
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    "spark.python.udf.pipelined.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4",
    "spark.sql.execution.pandas.udf.buffer.size": "64",
    "spark.sql.execution.python.udf.maxRecordsPerBatch": "4",
    "spark.sql.execution.python.udf.buffer.size": "64",
}
"""Settings of the session for jobs with Python operators."""
