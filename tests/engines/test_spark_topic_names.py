"""The topics of a deployment: what they are called on a broker that may be somebody else's."""

from __future__ import annotations

from profiler.engines.spark.layout.chains import layout
from profiler.engines.spark.layout.topic_names import partitions_of, places_of
from profiler.job.configuration import Configuration
from profiler.job.topology import Operator, Source, Topology


def same(frame):
    return frame


SPLIT = Topology(
    "split",
    [Source("in")],
    [
        Operator("count", same, inputs="in", stateful=True, key="word"),
        Operator("rank", same, inputs="count", stateful=True, key="rank"),
        Operator("other", same, inputs="count"),
    ],
)


def test_every_topic_says_whose_it_is():
    """A run that is killed leaves them on a given broker, and its users must know what may be deleted."""
    configuration = Configuration.of(dict.fromkeys(SPLIT.names, 2))
    deployed = layout(SPLIT, configuration)
    places = places_of("host:9092", "20260101T120000-4711-t1", deployed)
    made = {**partitions_of(configuration, deployed, places), **places.written}
    assert places.inboxes
    assert places.hops
    assert len(made) == len(places.sources) + len(places.inboxes) + 3
    assert all(topic.startswith("profile-20260101T120000-4711-t1-") for topic in made)
