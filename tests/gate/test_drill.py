"""A topology with one operator that works longer: what it does to costs and to functions over batches."""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import pyarrow as pa
import pytest

from profiler.experiment.observation import Measurement
from profiler.job.configuration import Configuration
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.gate.drill import burden
from profiler.questions.gate.drill.burden import PAID_FROM_S, Burden, burdened, draws_numbers
from profiler.questions.gate.drill.preparation import Drilled, Loader
from tests.scenarios import operator_window, window


def double(batches):
    for batch in batches:
        yield batch
        yield batch


def total(batches):
    yield pa.record_batch({"n": [sum(batch.num_rows for batch in batches)]})


def chain(*operators):
    return Topology.chain("job", Source("rows"), *operators)


def batches(*sizes):
    return [pa.record_batch({"value": list(range(size))}) for size in sizes]


def test_a_cost_grows_by_what_is_asked_for():
    """CPU by so many seconds per row, waiting by the same part; other operators stay as they are."""
    topology = chain(Operator("ask", cost=Cost(cpu_ms=1, wait_ms=10)), Operator("count", cost=Cost(cpu_ms=2)))
    changed = burdened(topology, Burden("ask", 0.2, cpu_s_per_row=0.0005))
    assert changed["ask"].cost == Cost(cpu_ms=1.5, wait_ms=12.0)
    assert changed["count"] == topology["count"]
    assert changed.names == topology.names


@pytest.mark.parametrize("function", [double, total])
def test_a_function_over_batches_gives_what_it_gave(function):
    """Several batches for one, one for several: none is lost or doubled."""
    topology = chain(Operator("work", function, batches="arrow", schema="value bigint"))
    loaded = burdened(topology, Burden("work", 0.2, cpu_s_per_row=1e-6))["work"].function
    assert list(loaded(iter(batches(3, 0, 5)))) == list(function(iter(batches(3, 0, 5))))


def test_a_function_over_batches_burns_cpu_for_every_row():
    """At least the seconds that were asked for, on the thread's own clock."""
    topology = chain(Operator("work", double, batches="arrow", schema="value bigint"))
    loaded = burdened(topology, Burden("work", 0.2, cpu_s_per_row=0.001))["work"].function
    started_s = time.thread_time()
    assert len(list(loaded(iter(batches(10, 20))))) == 4
    assert time.thread_time() - started_s >= 0.03


class Costly:
    """A thread's clock, of which every look takes a microsecond, and sleeps that last 60 longer than they should."""

    def __init__(self):
        self.cpu_s = self.slept_s = 0.0

    def thread_time(self):
        self.cpu_s += 1e-6
        return self.cpu_s

    def perf_counter(self):
        return self.slept_s

    def sleep(self, seconds):
        self.slept_s += seconds + 60e-6


@pytest.fixture
def costly(monkeypatch):
    """What a loaded function spends, by the clocks that it looks at itself."""
    made = Costly()
    monkeypatch.setattr(burden, "time", made)
    return made


@pytest.mark.parametrize("rows", [1, 4, 1000])
@pytest.mark.parametrize(("cpu_us", "wait_us"), [(20, 0), (0, 200), (3, 5), (0, 0)])
def test_a_function_over_batches_works_as_much_longer_as_it_is_meant_to(costly, rows, cpu_us, wait_us):
    """However few rows a batch has: to look at a clock and to go to sleep count, and may take longer than a row."""
    topology = chain(Operator("work", double, batches="arrow", schema="value bigint"))
    meant = Burden("work", 0.2, cpu_s_per_row=1e-6 * cpu_us, wait_s_per_row=1e-6 * wait_us)
    made = list(burdened(topology, meant)["work"].function(iter(batches(*[rows] * (20_000 // rows)))))
    assert len(made) == 2 * (20_000 // rows)
    assert costly.cpu_s == pytest.approx(20_000e-6 * cpu_us, rel=0.05, abs=PAID_FROM_S)
    assert costly.slept_s == pytest.approx(20_000e-6 * wait_us, rel=0.05, abs=PAID_FROM_S)


def test_a_loaded_function_keeps_its_name_and_module():
    """By them Spark finds out how it has to travel, and errors name it."""
    topology = chain(Operator("work", double, batches="arrow", schema="value bigint"))
    loaded = burdened(topology, Burden("work", 0.2, cpu_s_per_row=0.0))["work"].function
    assert (loaded.__name__, loaded.__module__) == ("double", __name__)


@pytest.mark.parametrize(("runs_functions", "cpu_ms"), [(True, 2.0), (False, 1.6)])
def test_a_drill_is_a_part_of_the_seconds_that_this_machine_takes(runs_functions, cpu_ms):
    """A slow machine's seconds are burnt as they are; a cost is what they would be at normal speed."""
    work = Operator("work", double, batches="arrow", schema="value bigint", cost=Cost(cpu_ms=1))
    seen = operator_window(busy_s=3.0, cpu_s=3.0, rows_in=300.0)
    slow = replace(window(operators={"work": seen}), speed_index=0.8)
    reference = Measurement(Configuration.of({"rows": 1, "work": 1}), offered_per_s=130.0, windows=(slow, slow))
    drilled = Drilled("work", 0.2, share=1.0, foreseen_effect=0.05)
    loaded = Loader(runs_functions=runs_functions).loaded(chain(work), drilled, reference, pytest.fail)
    assert loaded["work"].cost.cpu_ms - 1 == pytest.approx(cpu_ms)


def test_what_an_operator_waits_grows_by_the_same_part(costly):
    """It waits for its rows as it was seen to, the waiting for a core left out."""
    asked = Operator("ask", double, batches="arrow", schema="value bigint")
    seen = replace(operator_window(busy_s=3.0, cpu_s=0.3, rows_in=300.0), waiting_s=2.4)
    reference = Measurement(
        Configuration.of({"rows": 1, "ask": 1}), offered_per_s=130.0, windows=(window(operators={"ask": seen}),)
    )
    drilled = Drilled("ask", 0.5, share=1.0, foreseen_effect=0.05)
    loaded = Loader(runs_functions=True).loaded(chain(asked), drilled, reference, pytest.fail)["ask"].function
    assert len(list(loaded(iter(batches(*[4] * 10))))) == 20
    assert costly.slept_s == pytest.approx(40 * 0.5 * 2.4 / 300, abs=PAID_FROM_S)


def test_only_functions_of_dataframes_draw_numbers():
    """The others can be loaded without knowing what a number costs."""
    assert draws_numbers(Operator("sql", lambda rows: rows))
    assert not draws_numbers(Operator("batches", double, batches="arrow", schema="value bigint"))
    assert not draws_numbers(Operator("cost", cost=Cost(cpu_ms=1)))


def test_a_loaded_function_travels_with_the_module_of_the_user_s_own():
    """Also where it is a partial one, which has no module itself: workers could not import a user's file."""
    from functools import partial

    from pyspark import cloudpickle

    from profiler.engines.spark.query.python_operator import travel_by_value

    def times(batches, n):
        for batch in batches:
            yield from [batch] * n

    topology = chain(Operator("work", partial(times, n=2), batches="arrow", schema="value bigint"))
    travel_by_value(burdened(topology, Burden("work", 0.2, cpu_s_per_row=0.0))["work"])
    try:
        assert __name__ in cloudpickle.list_registry_pickle_by_value()
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
