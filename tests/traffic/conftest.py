"""Fixtures for generators that send to a real broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from topics import created_topic

from profiler.services.kafka import Kafka, open_kafka
from profiler.services.run_folder import cache_directory, create_run_folder
from tests.services.starting import killed


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A broker for all tests that leave it alive."""
    folder = tmp_path_factory.mktemp("broker")
    with create_run_folder(folder, needed_bytes=0) as run, open_kafka(None, run, cache_directory()) as kafka:
        yield kafka


@pytest.fixture
def mortal_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A broker of the test's own, to be killed."""
    folder = tmp_path_factory.mktemp("mortal-broker")
    with create_run_folder(folder, needed_bytes=0) as run, open_kafka(None, run, cache_directory()) as kafka:
        yield kafka


@pytest.fixture
def create_topic(broker: Kafka) -> Callable[[int], str]:
    """Make topics of so many partitions that no other test uses."""
    return lambda partitions: created_topic(broker, partitions)


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path) -> Iterator[None]:
    """Fail a test that leaves a generator, and end it."""
    yield
    assert not killed(tmp_path)
