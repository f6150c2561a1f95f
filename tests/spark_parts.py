"""Fixtures for tests on real Spark: one broker and one session for all that leave them alive, as a process has one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from profiler.services.kafka import Kafka, open_kafka
from profiler.services.processes.marked import marked_processes
from profiler.services.run_folder import RunFolder, cache_directory, create_run_folder

LINES = [json.dumps({"text": f"w{number % 7} w{number % 3} again"}) for number in range(500)]
"""What the generator replays in these tests, without end."""


@pytest.fixture(scope="session")
def payloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workload file of LINES."""
    path = tmp_path_factory.mktemp("payloads") / "lines.jsonl"
    path.write_text("\n".join(LINES))
    return path


@pytest.fixture(scope="session")
def spark_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunFolder]:
    """A run folder; in the end nothing that was started for it may be left."""
    folder = tmp_path_factory.mktemp("spark")
    with create_run_folder(folder, needed_bytes=0) as run:
        yield run
    assert not marked_processes(folder)


@pytest.fixture(scope="session")
def spark_kafka(spark_run: RunFolder) -> Iterator[Kafka]:
    """A broker."""
    with open_kafka(None, spark_run, cache_directory()) as kafka:
        yield kafka


@pytest.fixture(scope="session")
def spark_engine(spark_run: RunFolder, spark_kafka: Kafka, payloads: Path) -> Iterator[object]:
    """A Spark engine with windows of a second and 40 slots."""
    from profiler.engines.spark.engine import SparkEngine
    from profiler.services.jars import JarSet, jar_paths

    jars = jar_paths(JarSet.CONNECTOR, cache_directory())
    engine = SparkEngine(spark_run, spark_kafka, jars, lambda _: payloads, window_s=1.0, master="local[40]")
    yield engine
    engine.close()
