"""Learn which columns every operator gives, by applying its function to a stream that is never started.

Spark analyses a plan without running it, so this needs a local session but no broker and no query.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING

from profiler.engines.spark.layout.chains import inner_readers
from profiler.errors import ProfileError, TopologyError
from profiler.job.loading import own_line
from profiler.job.topology import Batches, Operator, Topology

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def operator_columns(topology: Topology) -> dict[str, tuple[str, ...]]:
    """Return the columns of every source and operator; one that Spark could not run is left out with what follows."""
    with _session() as session:
        frames: dict[str, DataFrame] = {source.name: _source_frame(session) for source in topology.sources}
        between_queries = inner_readers(topology)
        for operator in topology.operators:
            transform = _transformation(operator)
            if transform is not None and all(name in frames for name in operator.inputs):
                if operator.name in between_queries:
                    _check_topic(operator, frames)
                frames[operator.name] = _applied(operator, transform, [frames[name] for name in operator.inputs])
        return {name: tuple(frame.columns) for name, frame in frames.items()}


def _check_topic(operator: Operator, frames: Mapping[str, DataFrame]) -> None:
    """Refuse what the topic before an operator could not hold, as a run would."""
    from profiler.engines.spark.layout.topic_columns import require_same_columns, require_text_keys

    producers = [(name, frames[name].schema) for name in operator.inputs]
    for producer in producers:
        require_text_keys(*producer)
        require_same_columns(operator.name, producers[0], producer)


def _source_frame(session: SparkSession) -> DataFrame:
    rate = session.readStream.format("rate").load()
    return rate.selectExpr("cast(value as string) as key", "cast(value as string) as value", "timestamp as event_time")


def _transformation(operator: Operator) -> Callable[[DataFrame], object] | None:
    """Turn the operator into a function over DataFrames; None where it says too little for Spark to run it."""
    function, schema = operator.function, operator.schema
    if function is None or operator.batches is None:
        return function
    if schema is None:
        return None
    if operator.batches is Batches.ARROW:
        return lambda rows: rows.mapInArrow(function, schema)
    return lambda rows: rows.mapInPandas(function, schema)


def _applied(operator: Operator, transform: Callable[[DataFrame], object], inputs: Sequence[DataFrame]) -> DataFrame:
    from pyspark.sql import DataFrame

    try:
        result = transform(reduce(DataFrame.unionByName, inputs))
    except Exception as error:
        raise _failed(operator, error) from error
    if not isinstance(result, DataFrame):
        raise TopologyError(
            f"Operator '{operator.name}' gives a {type(result).__name__}, not a DataFrame.",
            hint="Return the DataFrame that the function builds.",
        )
    return result


def _failed(operator: Operator, error: Exception) -> TopologyError:
    where = own_line(error)
    said = str(error).strip().partition("\n")[0].rstrip(".")
    return TopologyError(
        f"Operator '{operator.name}' fails{f' at {where}' if where else ''}: {type(error).__name__}: {said}.",
        hint="Correct its function; --no-spark leaves this check out.",
    )


@contextmanager
def _session() -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    from profiler.engines.spark.jvm.launch import environment, of_this_spark

    builder = SparkSession.builder.master("local[1]").appName("profile check")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "OFF",
    }.items():
        builder = builder.config(key, value)
    with tempfile.TemporaryFile() as noise, _stderr_into(noise.fileno()):
        try:
            with environment(of_this_spark(local=True)):
                session = builder.getOrCreate()
        except Exception as error:
            noise.seek(0)
            said = noise.read().decode(errors="replace").strip().splitlines() or [str(error)]
            raise ProfileError(
                f"Spark did not start: {said[-1].rstrip('.')}.",
                hint="It needs Java 17; --no-spark leaves this check out.",
            ) from error
        try:
            yield session
        finally:
            session.stop()


@contextmanager
def _stderr_into(descriptor: int) -> Iterator[None]:
    """Send what this process and its children write to stderr elsewhere: a starting JVM is talkative."""
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(descriptor, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
