"""Python inside an operator over DataFrames: nobody times it there, so the result says so."""

from __future__ import annotations

from dataclasses import replace

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.window_plan import WindowPlan
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document, rounds_of
from profiler.questions.search.loop import Loop
from profiler.questions.search.paste import paste_settings
from profiler.questions.search.policies import POLICIES
from tests.scenarios import WAITS


class Hiding(SimulatedEngine):
    """An engine that sees undeclared Python in 'b'."""

    def deploy(self, topology, configuration, detail, **more):
        deployment = super().deploy(topology, configuration, detail, **more)
        observe = deployment.observe

        def hiding(rate_per_s, windows):
            for seen in observe(rate_per_s, windows):
                yield replace(seen, operators={**seen.operators, "b": replace(seen.operators["b"], hides_python=True)})

        deployment.observe = hiding
        return deployment


def profiled(engine):
    found = Loop(engine(SimulatedPlatform(slots=8), seed=1), WAITS, POLICIES["stepwise"](), design=WindowPlan(blocks=0))
    profile = found.run()
    profile = replace(profile, platform=replace(profile.platform, python_settings={"spark.python": "yes"}))
    return profile, profile_document(profile_of(profile, run="r", engine="simulated", environment={}))


def test_it_is_told_with_the_operator_and_the_way_out():
    """The rounds carry it, so that a resumed run tells it too; such a job needs the settings of Python as well."""
    profile, document = profiled(Hiding)
    (told,) = (warning for warning in document["warnings"] if "Python" in warning)
    assert told.startswith("Python runs inside 'b', where it is not timed")
    assert told.endswith("declare it as an operator with batches='arrow'")
    assert rounds_of(document)[0].measurement.operators["b"].hides_python
    assert paste_settings(profile, "simulated").spark == {"spark.python": "yes"}


def test_a_job_without_it_is_told_nothing():
    profile, document = profiled(SimulatedEngine)
    assert not any("Python" in warning for warning in document["warnings"])
    assert paste_settings(profile, "simulated").spark == {}
