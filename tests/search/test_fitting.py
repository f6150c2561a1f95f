"""What follows from the job where the user said nothing: its own latency, and windows that fit it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiler.engines.spark.kind import SEVERAL_QUERIES
from profiler.errors import TopologyError
from profiler.job.loading import load_topology
from profiler.job.topology import Operator, Source, Topology
from profiler.questions.fitting import fitted_to, with_own_latency
from profiler.settings.choices import EngineName
from profiler.settings.declarations import Settings

OWN = Topology.chain("strict", Source("in"), Operator("work"), latency_ms=100)
STRICTER = Topology.chain("stricter", Source("in"), Operator("work"), latency_ms=50)
SILENT = Topology.chain("silent", Source("in"), Operator("work"))


def test_a_job_states_its_latency():
    assert with_own_latency(Settings(), [OWN]).latency_ms == 100
    assert with_own_latency(Settings(), [SILENT]) == Settings()


def test_jobs_that_are_compared_keep_the_strictest():
    assert with_own_latency(Settings(), [OWN, STRICTER, SILENT]).latency_ms == 50


def test_what_the_user_said_goes_first():
    said = replace(Settings(latency_ms=800), origins={"latency": "flag --latency"})
    assert with_own_latency(said, [OWN]) == said


def test_star_has_the_latency_of_the_paper_and_windows_for_its_queries():
    settings = fitted_to([load_topology("star")], Settings())
    assert (settings.latency_ms, settings.window_s) == (100, SEVERAL_QUERIES.window_s)
    simulated = fitted_to([load_topology("star")], Settings(engine=EngineName.SIMULATED))
    assert (simulated.latency_ms, simulated.window_s) == (100, Settings().window_s)


def test_other_data_and_other_operators_keep_it():
    assert OWN.changed(sources=[Source("in", payloads="tweets")]).latency_ms == 100
    assert OWN.changed(operators=[Operator("work", inputs=["in"], tasks=2)]).latency_ms == 100


@pytest.mark.parametrize("latency_ms", [0, -1, float("inf"), float("nan")])
def test_an_impossible_latency_is_refused(latency_ms):
    with pytest.raises(TopologyError, match="latency_ms"):
        Topology.chain("job", Source("in"), Operator("work"), latency_ms=latency_ms)
