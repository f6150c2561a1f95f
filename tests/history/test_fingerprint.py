"""Fingerprints: what counts as a change of the application, the platform, the data and the question, and what not."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest
from pydantic import TypeAdapter

from profiler.experiment.engine import Platform
from profiler.history.fingerprint.fingerprint import (
    Difference,
    Fingerprint,
    Part,
    differences,
    fingerprint_document,
    fingerprint_of,
)
from profiler.job.loading import load_topology
from profiler.job.operator_code import code_pieces
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.fingerprints import code_of
from profiler.traffic.generator.payloads import Message
from profiler.traffic.payload_sample import SAMPLED, sample_differences, sample_of
from profiler.traffic.workload_file import sample_file

JOB = '''
import helpers
from helpers import clean
from profiler import Operator, Source, Topology

WORDS = {"the", "a"}

def split(rows):
    """Split."""
    return [clean(word) for word in rows if word not in WORDS]

def count(rows):
    return helpers.total(rows)

topology = Topology.chain("job", Source("lines"), split, Operator("count", count, key="word"))
'''
HELPERS = """
FACTOR = 2

def clean(word):
    return word.lower()

def total(rows):
    return FACTOR * len(rows)

def unused(rows):
    return None
"""
PLATFORM = Platform(48, 12, 6, {"spark": "4.3.0"}, machine="A processor, 12 cores")


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Load the job as it is with these texts, as a process of its own would."""
    import sys

    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    versions = iter(range(100))

    def load(job=JOB, helpers=HELPERS):
        folder = tmp_path / f"v{next(versions)}"
        folder.mkdir()
        (folder / "job.py").write_text(job)
        (folder / "helpers.py").write_text(helpers)
        sys.modules.pop("helpers", None)
        topology = load_topology(str(folder / "job.py"))
        sys.path.remove(str(folder))
        return topology

    yield load
    sys.modules.pop("helpers", None)


def taken(topology, platform=PLATFORM, *, slots=48, **more):
    return fingerprint_of(topology, "job.py", "spark", platform, slots=slots, **more)


def found(before, now, most_slots=20):
    return differences(before, now, most_slots=most_slots)


def chain(*operators, name="chain", source=None):
    return Topology.chain(name, source or Source("in"), *operators)


def parts(before, now, **more):
    return {each.part for each in found(before, now, **more)}


# The application.


def test_comments_docstrings_and_layout_are_no_change(loaded):
    """Only what the code does counts, and not in which folder it lies."""
    other = JOB.replace('"""Split."""', '"""Split the rows into words."""').replace(
        "\ndef count", "\n# Count.\n\ndef count"
    )
    assert found(taken(loaded()), taken(loaded(other))) == ()


@pytest.mark.parametrize(
    ("job", "helpers", "operator", "piece"),
    [
        (JOB.replace("not in WORDS", "in WORDS"), HELPERS, "split", "split"),
        (JOB.replace('"the", "a"', '"the"'), HELPERS, "split", "WORDS"),
        (JOB, HELPERS.replace("lower", "upper"), "split", "clean"),
        (JOB, HELPERS.replace("* len", "+ len"), "count", "total"),
        (JOB, HELPERS.replace("FACTOR = 2", "FACTOR = 3"), "count", "FACTOR"),
    ],
)
def test_a_change_of_anything_an_operator_refers_to_is_named(loaded, job, helpers, operator, piece):
    """Its own code, a constant, a function of another module, a constant of that; other operators are not named."""
    (difference,) = found(taken(loaded()), taken(loaded(job, helpers)))
    assert difference.part is Part.APPLICATION
    assert difference.what.startswith(f"'{operator}': code of ")
    assert piece in difference.what


def test_code_that_no_operator_refers_to_does_not_count(loaded):
    """A function beside the job may change as it likes."""
    assert found(taken(loaded()), taken(loaded(JOB, HELPERS.replace("return None", "return 1")))) == ()


def test_arguments_and_closures_belong_to_the_code():
    """The same function with another constant bound to it is another operator."""

    def scaled(rows, factor=1):
        return [factor * row for row in rows]

    def waiting(seconds):
        def wait(rows):
            return rows, seconds

        return wait

    assert code_pieces(partial(scaled, factor=2)) != code_pieces(partial(scaled, factor=3))
    assert code_pieces(partial(scaled, factor=2)) == code_pieces(partial(scaled, factor=2))
    assert code_pieces(waiting(1)) != code_pieces(waiting(2))
    assert code_pieces(waiting(1)) == code_pieces(waiting(1))


def test_a_lambda_counts_by_its_compiled_code():
    """Its source may be a part of a line only."""
    pieces = [code_pieces(function) for function in (lambda rows: rows + 1, lambda rows: rows + 2)]
    assert pieces[0] != pieces[1]
    assert code_pieces(lambda rows: rows + 1) == pieces[0]


def test_recursion_and_mutual_references_end():
    """A function that calls itself, or another that calls it, is followed once."""
    pieces = code_pieces(even)
    assert set(pieces) >= {"even", "odd"}


def even(number):
    return number == 0 or odd(number - 1)


def odd(number):
    return number != 0 and even(number - 1)


def test_a_constant_without_an_order_is_the_same_in_every_process():
    """Sets are written sorted: their own order depends on the process."""
    one, two = (code_pieces(partial(even, words=set(words))) for words in (["b", "a", "c"], ["c", "b", "a"]))
    assert one == two


def test_the_plan_counts():
    """Who reads from whom, state, kinds of batches, and operators that come and go."""
    before = chain(Operator("a", cost=Cost(cpu_ms=1)), Operator("b", cost=Cost(cpu_ms=1)))
    stateful = chain(Operator("a", cost=Cost(cpu_ms=1)), Operator("b", cost=Cost(cpu_ms=1), stateful=True, key="k"))
    assert parts(taken(before), taken(stateful)) == {Part.APPLICATION}
    fewer = chain(Operator("a", cost=Cost(cpu_ms=1)))
    assert found(taken(before), taken(fewer)) == (Difference(Part.APPLICATION, "'b' is gone"),)
    dearer = chain(Operator("a", cost=Cost(cpu_ms=2)), Operator("b", cost=Cost(cpu_ms=1)))
    assert parts(taken(before), taken(dearer)) == {Part.APPLICATION}


def test_what_runs_today_is_no_part_of_it():
    """`tasks=` is a yardstick, and changes nothing of what is best."""
    before, after = (chain(Operator("a", cost=Cost(cpu_ms=1), tasks=tasks)) for tasks in (1, 3))
    assert found(taken(before), taken(after)) == ()


# The platform.


def test_size_and_speed_of_a_platform_are_told_apart():
    """More of the same machine is one thing, another machine or version another."""
    topology = chain(Operator("a", cost=Cost(cpu_ms=1)))
    before = taken(topology)
    assert parts(before, taken(topology, slots=24)) == {Part.PLATFORM}
    assert parts(before, taken(topology, replace(PLATFORM, cores=6, machine="A processor, 6 cores"))) == {Part.PLATFORM}
    assert parts(before, taken(topology, replace(PLATFORM, machine="Another, 12 cores"))) == {Part.MACHINE}
    assert parts(before, taken(topology, replace(PLATFORM, versions={"spark": "5.0.0"}))) == {Part.MACHINE}


def test_slots_that_follow_the_free_memory_count_only_where_they_bind():
    """Nobody stated them, and the profile never used more than half of the fewer."""
    topology = chain(Operator("a", cost=Cost(cpu_ms=1)))
    before, now = (taken(topology, slots=slots, stated_slots=False) for slots in (40, 36))
    assert found(before, now, most_slots=18) == ()
    assert parts(before, now, most_slots=19) == {Part.PLATFORM}
    stated = taken(topology, slots=36)
    assert parts(before, stated, most_slots=18) == {Part.PLATFORM}


def test_rounds_belong_to_one_run_whatever_memory_was_free():
    """Slots that nobody stated follow it, and a run that was interrupted is gone on with all the same."""
    topology = chain(Operator("a", cost=Cost(cpu_ms=1)))
    followed = [code_of(taken(topology, slots=slots, stated_slots=False)) for slots in (40, 36)]
    assert followed[0] == followed[1]
    stated = [code_of(taken(topology, slots=slots)) for slots in (40, 36)]
    assert stated[0] != stated[1]


# The data.


def messages(size, count=SAMPLED, keys=0):
    return [
        Message(b"x" * (size + number % 50), f"k{number % keys}".encode() if keys else None) for number in range(count)
    ]


def sampled(size, **more):
    made = messages(size, **more)
    return sample_of(made, len(made))


def test_longer_messages_are_a_change_and_other_messages_of_that_length_are_not():
    """A difference must be certain and large enough to matter."""
    assert list(sample_differences(sampled(200), sampled(201))) == []
    (longer,) = sample_differences(sampled(200), sampled(300))
    assert "messages have 324 bytes on average, had 224" in longer


def test_a_few_messages_prove_nothing():
    """Ten messages that are a little longer may be chance."""
    few = [sample_of([Message(b"x" * size) for size in sizes], 10) for sizes in ((10, 400) * 5, (60, 400) * 5)]
    assert list(sample_differences(*few)) == []


def test_keys_count():
    """Whether there are any, how many, and how often the most frequent one occurs."""
    (keyed, more) = sample_differences(sampled(100), sampled(100, keys=2))
    assert "100% of the messages have a key, it was 0%" in keyed
    assert "most frequent key has 50%" in more
    assert "different keys" in "".join(sample_differences(sampled(100, keys=100), sampled(100, keys=500)))


def test_a_sample_is_spread_over_the_whole_file(tmp_path):
    """A file whose messages grow is not judged by its beginning."""
    path = tmp_path / "lines.jsonl"
    path.write_text("".join("x" * (1 + number // 1000) + "\n" for number in range(2 * SAMPLED)))
    sample = sample_file(path)
    assert (sample.messages, sample.sampled) == (2 * SAMPLED, SAMPLED)
    assert sample.mean_bytes == pytest.approx(5.5, abs=0.1)


def test_samples_ratios_and_statements_of_the_data_are_told():
    """By source and operator."""
    one = chain(Operator("a", cost=Cost(cpu_ms=1), selectivity=10.0))
    two = chain(Operator("a", cost=Cost(cpu_ms=1), selectivity=14.0))
    before, now = taken(one, samples={"in": sampled(200)}), taken(two, samples={"in": sampled(300)})
    told = [each.what for each in found(before, now)]
    assert told[0].startswith("'in': messages have")
    assert told[1] == "'a': rows out per row in was 10, is 14"
    measured = [replace(taken(one), ratios={"a": ratio}) for ratio in (10.0, 10.5, 12.0)]
    assert found(measured[0], measured[1]) == ()
    assert parts(measured[0], measured[2]) == {Part.DATA}


# The question.


def test_another_constraint_or_other_bounds_ask_another_question():
    """The features stay as they are."""
    one, bounded = (chain(Operator("a", cost=Cost(cpu_ms=1), max_tasks=most)) for most in (None, 4))
    assert parts(taken(one), taken(bounded)) == {Part.QUESTION}
    asked = [taken(one, asked={"latency": latency, "windows": "10"}) for latency in ("500ms", "100ms")]
    assert found(*asked) == (Difference(Part.QUESTION, "latency: was 500ms, is 100ms"),)


def test_how_long_was_looked_is_no_difference():
    """Neither are seeds and outputs."""
    one = chain(Operator("a", cost=Cost(cpu_ms=1)))
    assert found(taken(one, asked={"windows": "10"}), taken(one, asked={"windows": "5"})) == ()


# Its document.


@pytest.mark.parametrize("name", ["linear", "twitter-sentiment", "diamond"])
def test_it_survives_its_document(name):
    """What was stored is what is read, and looks the same in the next process."""
    topology = load_topology(name)
    facts = {"samples": {"x": sampled(10)}, "asked": {"latency": "500ms"}}
    fingerprint = taken(topology, **facts)
    text = json.dumps(fingerprint_document(fingerprint), allow_nan=False)
    read = TypeAdapter(Fingerprint).validate_python(json.loads(text))
    assert read == fingerprint
    assert read.digest == taken(load_topology(name), **facts).digest
