"""What the engine chooses for the machine it finds, and for the rate it is asked for."""

from __future__ import annotations

import pytest

from profiler.engines.spark.deployment import _sample_every
from profiler.engines.spark.session import default_master, default_slots, driver_memory_mb, local_slots, machine_cores


@pytest.mark.parametrize(
    ("cores", "memory_mb", "slots"), [(2, 16_000, 40), (2, 4_000, 19), (8, 64_000, 64), (1, 1_500, 4)]
)
def test_slots_follow_cores_and_memory(cores, memory_mb, slots):
    """Many more than cores, as operators may wait; never more than there is memory for."""
    assert default_slots(cores, memory_mb) == slots


def test_the_driver_takes_a_quarter_of_the_memory_within_bounds():
    """Enough for the buffers, little enough for Python workers beside it."""
    assert [driver_memory_mb(size) for size in (1_000, 8_000, 100_000)] == [1024, 2000, 4096]


@pytest.mark.parametrize(("rate_per_s", "every"), [(0, 1), (100, 1), (1_000, 4), (3_000, 16), (100_000, 64)])
def test_sampling_thins_out_as_the_rate_grows(rate_per_s, every):
    """A window of three seconds keeps a few hundred samples; at high rates it is one row in 64."""
    assert _sample_every(rate_per_s, 3.0) == every


@pytest.mark.parametrize(
    ("master", "slots"),
    [("local[7]", 7), ("local[7, 2]", 7), ("local", 1), ("spark://host:7077", None), ("k8s://https://host", None)],
)
def test_only_a_local_master_s_slots_are_known_beforehand(master, slots):
    """A cluster is not asked before a session is started on it."""
    assert local_slots(master) == slots


def test_the_default_master_is_this_machine():
    """With the slots that it has room for."""
    assert local_slots(default_master()) >= 4
    assert local_slots("local[*]") == machine_cores()
