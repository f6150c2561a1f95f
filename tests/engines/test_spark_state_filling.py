"""Filling a state: it ends when there are enough keys, when the data has no more, or when time is up."""

from __future__ import annotations

from profiler.engines.spark.load.state_filling import LONGEST_S, PATIENCE, Filling


def test_it_goes_on_until_every_operator_has_its_keys():
    filling = Filling(1000, start_s=0.0)
    assert filling.goes_on({"count": 500, "average": 2000}, 3.0)
    assert filling.goes_on({"count": 999, "average": 2000}, 6.0)
    assert not filling.goes_on({"count": 1000, "average": 2000}, 9.0)


def test_data_without_more_keys_ends_it():
    """Three batches that bring next to nothing; one that brings some is no reason to give up."""
    filling = Filling(1000, start_s=0.0)
    assert filling.goes_on({"count": 300}, 3.0)
    for batch in range(PATIENCE - 1):
        assert filling.goes_on({"count": 301}, 6.0 + batch)
    assert filling.goes_on({"count": 350}, 20.0)
    for batch in range(PATIENCE - 1):
        assert filling.goes_on({"count": 351}, 30.0 + batch)
    assert not filling.goes_on({"count": 352}, 40.0)


def test_time_ends_it():
    filling = Filling(10**9, start_s=100.0)
    assert filling.goes_on({"count": 10**8}, 100.0 + LONGEST_S - 1)
    assert not filling.goes_on({"count": 5 * 10**8}, 100.0 + LONGEST_S)


def test_a_topology_without_state_is_not_filled():
    assert not Filling(10, start_s=0.0).goes_on({}, 1.0)
