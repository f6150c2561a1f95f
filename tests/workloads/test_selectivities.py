"""Rows out per row in, operator by operator: stated, simulated, and in Arrow batches."""

from __future__ import annotations

import zlib
from collections import Counter

import pyarrow as pa
import pytest
from profiler.shipped.kinds import waiting

from profiler.engines.simulated import SimulatedEngine, SimulatedPlatform
from profiler.errors import TopologyError
from profiler.experiment.observation import Detail
from profiler.job.configuration import Configuration
from profiler.job.loading import load_topology


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        ("linear?depth=4,selectivity_work_2=3", {"work-1": 1, "work-2": 3, "work-3": 1}),
        ("linear?depth=3,selectivity=2,selectivity_work_1=0.5", {"work-1": 0.5, "work-2": 2}),
        (
            "diamond?selectivity_compute=2,selectivity_look_up=0.25",
            {"compute": 2, "parse": 1, "ask": 1, "look-up": 0.25, "meet": 1},
        ),
        ("diamond?selectivity=2", dict.fromkeys(("compute", "parse", "ask", "look-up", "meet"), 2)),
        ("star?selectivity=3", {"hub": 3, "store": 1, "publish": 1}),
        ("star?selectivity_hub=2,selectivity_publish=4", {"hub": 2, "store": 1, "publish": 4}),
    ],
)
def test_every_operator_can_be_given_its_own(reference: str, wanted: dict[str, float]) -> None:
    """And the simulated engine's rows show it."""
    topology = load_topology(reference)
    assert {operator.name: operator.selectivity for operator in topology.operators} == wanted
    engine = SimulatedEngine(SimulatedPlatform(nodes=1, cores_per_node=8, slots=32), seed=1)
    configuration = Configuration.of(dict.fromkeys(topology.names, 1))
    (seen,) = engine.deploy(topology, configuration, Detail.FULL).observe(50, 1)
    for name, selectivity in wanted.items():
        window = seen.operators[name]
        assert window.rows_out == pytest.approx(selectivity * window.rows_in)


def test_an_operator_that_is_not_there_is_refused() -> None:
    with pytest.raises(TopologyError, match="Did you mean 'selectivity_look_up'"):
        load_topology("diamond?selectivity_lookup=2")
    with pytest.raises(TopologyError, match="no parameter 'selectivity_work_9'"):
        load_topology("linear?selectivity_work_9=2")


@pytest.mark.parametrize("selectivity", [0.4, 1.0, 2.0, 2.3])
def test_a_waiting_operator_copies_rows_by_the_checksum_of_their_value(selectivity: float) -> None:
    """As the others do in Spark: a part of a row falls to those with a small checksum."""
    values = [f"value {number}" for number in range(3000)]
    batch = pa.RecordBatch.from_pydict({"key": [None] * len(values), "value": values})
    (given,) = waiting(0.0, selectivity)(iter([batch]))
    whole, part = divmod(selectivity, 1)
    expected = {value: int(whole) + (zlib.crc32(value.encode()) % 1000 < 1000 * part) for value in values}
    assert Counter(given.column("value").to_pylist()) == Counter(expected)
    assert given.num_rows == pytest.approx(selectivity * len(values), rel=0.05)
    assert given.schema == batch.schema
