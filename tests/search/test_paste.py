"""Settings to paste: everything that the answer depends on, in Kafka's and Spark's own words."""

from __future__ import annotations

from dataclasses import replace

import jsonschema

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.experiment.engine import Platform
from profiler.experiment.window_plan import WindowPlan
from profiler.job.topology import Batches, Cost, Operator, Source, Topology
from profiler.questions.schemas import PROFILE
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document, read_profile
from profiler.questions.search.loop import Loop
from profiler.questions.search.markdown import as_markdown
from profiler.questions.search.paste import as_lines, paste_settings
from profiler.questions.search.policies import POLICIES

CPU = Cost(cpu_ms=0.1)
PLATFORM = Platform(
    slots=12,
    cores=4,
    job_settings={"spark.rules": "none"},
    python_settings={"spark.python": "yes"},
    launch_settings={"spark.buffers": "7"},
    source_options={"kafka.fetch.max.wait.ms": "100"},
    sink_options={"kafka.linger.ms": "5"},
)


def profiled(*operators, tasks=None):
    return profiled_topology(Topology.chain("job", Source("in", tasks=tasks), *operators))


def profiled_topology(topology):
    engine = SimulatedEngine(SimulatedPlatform(nodes=1, cores_per_node=4, slots=12))
    profile = Loop(engine, topology, POLICIES["stepwise"](), design=WindowPlan(blocks=0)).run()
    return replace(profile, platform=PLATFORM, extra_slots=1)


def test_tasks_and_what_the_engine_set_are_named():
    """Partitions, repartition(n), shuffle partitions, the engine's own settings, and slots for all of it."""
    profile = profiled(Operator("a", cost=CPU), Operator("count", cost=CPU, stateful=True))
    tasks, slots = profile.answer.configuration.tasks, profile.answer.configuration.slots + 1
    assert as_lines(paste_settings(profile, "simulated")) == [
        "# one partition of in's topic is enough",
        f"df.repartition({tasks['a']})  # before a",
        f'spark.conf.set("spark.sql.shuffle.partitions", "{tasks["count"]}")  # for count; needs a new checkpoint',
        'spark.conf.set("spark.rules", "none")',
        '.option("kafka.fetch.max.wait.ms", "100")  # of the Kafka source',
        '.option("kafka.linger.ms", "5")  # of the Kafka sink',
        "--conf spark.buffers=7  # when the session starts",
        f"--master local[{slots}]  # or a cluster with {slots} slots for this query",
    ]


def test_of_a_cluster_its_own_master_is_named():
    """What was measured on a cluster is not sent to one machine, neither by a person nor by what the document says."""
    cluster = replace(PLATFORM, master="spark://there:7077")
    profile = replace(profiled(Operator("a", cost=CPU)), platform=cluster)
    slots = profile.answer.configuration.slots + 1
    line = f"--master spark://there:7077  # a cluster with {slots} slots for this query"
    told = profile_of(profile, run="r", engine="spark", environment={})
    document = profile_document(told)
    jsonschema.validate(document, PROFILE.read())
    assert as_lines(paste_settings(profile, "spark"))[-1] == line
    assert line in as_markdown(told)
    assert "local[" not in as_markdown(told)


def test_python_operators_bring_their_settings():
    """Only a job with Python operators needs what lets them in."""
    plain = profiled(Operator("a", cost=CPU))
    python = profiled(Operator("a", lambda batches: batches, batches=Batches.ARROW, cost=CPU))
    assert "spark.python" not in paste_settings(plain, "simulated").spark
    assert paste_settings(python, "simulated").spark["spark.python"] == "yes"


def test_they_are_in_the_document_too():
    """A program that deploys the answer reads them there."""
    document = profile_document(profile_of(profiled(Operator("a", cost=CPU)), run="r", engine="spark", environment={}))
    assert document["settings"]["launch"] == PLATFORM.launch_settings
    assert document["settings"]["source"] == PLATFORM.source_options
    jsonschema.validate(document, PROFILE.read())
    assert "--conf spark.buffers=7" in as_markdown(read_profile(document))
    older = {name: value for name, value in document["settings"].items() if name not in ("launch", "source")}
    assert "--conf" not in as_markdown(read_profile({**document, "settings": older})), (
        "of a profile that was stored without them"
    )


def test_a_job_that_is_best_as_it_is_needs_no_repartition():
    """Today's job runs fused, as it was written."""
    profile = profiled(Operator("a", cost=CPU, tasks=2), tasks=2)
    kept = replace(profile, answer=profile.initial)
    assert profile.initial.trial.fused
    assert paste_settings(kept, "simulated").repartition == {}
    assert paste_settings(kept, "simulated").spark == {}


def test_topics_between_queries_are_named_with_their_partitions():
    """What reads such a topic has its tasks from it, and needs no repartition; rows must be spread over it."""
    wide, meet = Operator("wide", cost=Cost(wait_ms=5), inputs=["in"], min_tasks=3), Operator("narrow", inputs=["in"])
    count = Operator("count", inputs=["wide", "narrow"], stateful=True, cost=CPU)
    profile = profiled_topology(Topology("dag", [Source("in")], [wide, replace(meet, cost=CPU), count]))
    tasks = profile.answer.configuration.tasks
    settings = paste_settings(profile, "simulated")
    assert settings.inner_partitions == {"wide": tasks["wide"], "narrow": tasks["narrow"], "count": 1}
    assert settings.repartition == {}
    lines = as_lines(settings)
    create = "kafka-topics.sh --bootstrap-server HOST:PORT --create --topic TOPIC --partitions"
    assert f"{create} {tasks['wide']}  # between two queries, read by wide" in lines
    assert f"{create} 1  # between two queries, read by count" in lines
    assert f'.withColumn("partition", F.expr("int(rand() * {tasks["wide"]})"))  # of rows for that topic' in lines
    assert lines[-1].endswith("slots for these queries")
