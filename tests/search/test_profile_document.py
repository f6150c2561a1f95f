"""The `--json` document: it follows the published schema, with every key that scripts rely on."""

from __future__ import annotations

import json

import jsonschema
import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.errors import UsageError
from profiler.experiment.window_plan import WindowPlan
from profiler.job.loading import load_topology
from profiler.questions.search.document import profile_document, rounds_of, schema
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies import POLICIES


@pytest.fixture(scope="module")
def document():
    engine = SimulatedEngine(SimulatedPlatform(nodes=3, cores_per_node=2, slots=20), seed=4)
    profile = Loop(engine, load_topology("word-count"), POLICIES["stepwise"](), design=WindowPlan(blocks=4)).run()
    made = profile_document(profile, run="a-run", engine="simulated", environment={"cores": 6})
    return json.loads(json.dumps(made, allow_nan=False))


def test_it_follows_the_published_schema(document):
    """Every document validates, and the schema itself is a valid schema."""
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(document, schema())


@pytest.mark.parametrize("key", ["best", "rounds", "settings", "gain", "confirmed", "schema"])
def test_the_schema_refuses_a_document_without_a_promised_key(document, key):
    """A check that could not fail would promise nothing."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({name: value for name, value in document.items() if name != key}, schema())


def test_the_gain_is_best_over_initial(document):
    """As the contract defines it."""
    ratio = document["best"]["throughput_per_s"] / document["initial"]["throughput_per_s"]
    assert document["gain"] == pytest.approx(ratio - 1)


def test_settings_say_what_to_paste(document):
    """Kafka partitions for sources, repartition for operators, shuffle partitions for the one with state."""
    tasks = document["best"]["tasks"]
    assert document["settings"]["kafka_partitions"] == {"tweets": tasks["tweets"]}
    assert document["settings"]["repartition"] == {"parse": tasks["parse"], "split": tasks["split"]}
    assert document["settings"]["shuffle_partitions"] == tasks["count"]
    assert document["settings"]["slots"] == sum(tasks.values())


def test_features_are_those_of_the_topology(document):
    """Ten words a tweet: split's output is ten times its input, and most rows flow to the count."""
    features = document["features"]
    assert features["operators"]["split"]["selectivity"] == pytest.approx(10, rel=0.15)
    sizes = {(edge["from"], edge["to"]): edge["relative_size"] for edge in features["edges"]}
    assert sizes["split", "count"] == pytest.approx(10 / 12, rel=0.05)
    assert sum(sizes.values()) == pytest.approx(1)


def test_a_document_of_another_schema_is_refused():
    """Only what this version wrote is replayed."""
    with pytest.raises(UsageError, match="profile/9"):
        rounds_of({"schema": "profile/9", "rounds": []})
