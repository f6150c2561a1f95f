"""What `profile check` shows: the DAG with its queries, topics and stages, the slots, and doubts; on any width."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from profiler import Cost, Operator, Source, Topology
from profiler.engines.catalogue import Room
from profiler.job.loading import load_topology
from profiler.questions.check.answer import check_answer
from profiler.questions.check.findings import Checked, check
from profiler.questions.check.terminal import depth, print_checked
from profiler.report.documents import document_of

HERE = Room("local[40]", 40, by_default=True)

TWITTER = """\
twitter-sentiment: 1 source, 11 operators, 8 deep

                  stage  CPU ms  wait ms
  ○    tweets     1.1      0.01           source
  │
  ●    store      1.2      0.05      0.5  arrow batches
  │
  ●    detect     1.3       0.1           arrow batches
  ├┄╮
  ● ┊  english    2.1      0.02           workload output, ×0.5 rows
  │ ┊
  ● ┊  sentiment  2.2       0.3           pandas batches
  │ ┊
  ● ┊  average    2.3      0.03           stateful by user
  │ ┊
  ● ┊  mood       2.4      0.01
    ●  tags       3.1      0.02           workload output, ×0.44 rows
    │
    ●  count      3.2      0.03           stateful by tag
    ┊
    ●  top        4.1      0.05           arrow batches, logic output, one task
    │
    ●  ranking    4.2      0.03           stateful by tag
    │
    ●  publish    4.3      0.01

  ┊ is a Kafka topic between two queries; 2.1 is stage 1 of query 2

  query   reads topic of   runs                                   stages   slots
  ──────────────────────────────────────────────────────────────────────────────
      1   tweets           tweets → store → detect                     3       3
      2   detect           english → sentiment → average → mood        4       4
      3   detect           tags → count                                2       2
      4   count            top → ranking → publish                     3       3

Slots: 12 needed at the least, one per task; this machine gives 40 (local[40]).
event_time: not looked at (--no-spark).
"""


def same(rows: object) -> object:
    return rows


def shown(checked: Checked, *, width: int = 80, terminal: bool = False, colour: bool = False) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=terminal,
        color_system="standard" if colour else None,
        no_color=not colour,
        soft_wrap=True,
        highlight=False,
        markup=False,
        emoji=False,
    )
    print_checked(console, checked)
    return stream.getvalue()


def checked(topology: Topology, room: Room = HERE, **more: object) -> Checked:
    return check(topology, bound=None, room=room, **more)  # type: ignore[arg-type]


def test_a_dag_is_drawn_with_its_queries_topics_and_stages() -> None:
    assert shown(checked(load_topology("twitter-sentiment"))) == TWITTER


@pytest.mark.parametrize("name", ["twitter-sentiment", "diamond", "star", "synthetic-word-count", "linear?depth=9"])
@pytest.mark.parametrize("colour", [False, True])
def test_nothing_is_wider_than_a_terminal(name: str, colour: bool) -> None:
    """At the usual 80 columns and at 60; colours change no letter."""
    for width in (80, 60):
        text = shown(checked(load_topology(name)), width=width, terminal=True, colour=colour)
        assert ("\x1b[" in text) == colour
        plain = without_colours(text)
        assert max(len(line) for line in plain.splitlines()) <= width
        assert plain == shown(checked(load_topology(name)), width=width, terminal=True)


def test_a_union_of_sources_is_read_in_one_stage() -> None:
    text = shown(checked(load_topology("star")))
    assert "  ○    left     1.1" in text
    assert "  │ ○  right    1.1" in text
    assert "left, right → hub        2       3" in text


def test_a_reader_and_today_s_tasks_are_counted() -> None:
    """A stateful operator behind a topic needs a task that reads it."""
    first = Operator("a", same, stateful=True, key="k", tasks=3)
    topology = Topology.chain("t", Source("s"), first, Operator("b", same, stateful=True, key="k"))
    text = shown(checked(topology))
    assert "(reader) → b        2       2       2" in text
    assert "Slots: 4 needed at the least, one per task and 1 for reading; 6 for today's tasks; this" in text


def test_a_master_is_named() -> None:
    topology = load_topology("word-count")
    assert "the master gives 8 (local[8])." in shown(checked(topology, Room("local[8]", 8)))
    assert "spark://there:7077 is not asked for its own." in shown(checked(topology, Room("spark://there:7077", None)))


def test_a_lost_event_time_is_shown_where_it_is_lost() -> None:
    topology = Topology.chain("t", Source("s"), Operator("a", same, cost=Cost(cpu_ms=1)))
    lost = shown(checked(topology, columns={"s": ["event_time"], "a": ["value"]}))
    assert "a  1.2         1  drops event_time\n" in lost
    assert "warning: 'a': the column event_time is dropped" in lost
    kept = shown(checked(topology, columns={"s": ["event_time"], "a": ["event_time"]}))
    assert "event_time: kept by every operator, so latency is measured to the end.\n" in kept


def test_a_topology_without_spark_code_is_drawn_without_queries() -> None:
    text = shown(checked(load_topology("random-dag?seed=3")))
    assert "┊" not in text
    assert "query" not in text
    assert "Slots: 6 needed at the least, one per task.\n" in text


def test_long_notes_go_on_beside_the_lanes() -> None:
    operators = [
        Operator("a", same, inputs=["s"], stateful=True, key="session_id", output="workload", selectivity=3, tasks=4),
        Operator("b", same, inputs=["s"]),
    ]
    text = shown(checked(Topology("t", [Source("s")], operators)), width=56, terminal=True)
    lines = (
        "  ● ┊  a  2.2         —  stateful by session_id,",
        "    ┊                    workload output, ×3 rows, 4",
        "    ┊                    today",
    )
    assert "\n".join(lines) in text


def test_depth_counts_the_longest_path_with_its_source() -> None:
    assert depth(load_topology("linear?depth=7")) == 7
    assert depth(load_topology("diamond")) == 3


def test_the_document_tells_the_same() -> None:
    document = document_of(check_answer(checked(load_topology("star"))))
    assert document["slots"] == {"needed": 5, "today": None, "available": 40, "master": "local[40]"}
    assert document["queries"][0] == {
        "sources": ["left", "right"],
        "operators": ["hub"],
        "feeds": ["store", "publish"],
        "stages": [{"elements": ["left", "right"], "tasks": 2}, {"elements": ["hub"], "tasks": 1}],
        "slots": 3,
    }
    assert {"from": "left", "to": "hub", "topic": False} in document["edges"]
    assert {"from": "hub", "to": "store", "topic": True} in document["edges"]
    assert check_answer(checked(load_topology("random-dag"))).queries is None


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
