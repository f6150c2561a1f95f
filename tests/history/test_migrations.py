"""Versions of documents: older ones are brought up to date step by step, newer ones are refused."""

from __future__ import annotations

import pytest

from profiler.errors import ProfileError
from profiler.history import migrations
from profiler.history.migrations import BASELINE, RUN, NewerSchema, Schema


def renamed(document):
    return {"rate": document["speed"], **{key: value for key, value in document.items() if key != "speed"}}


def in_thousands(document):
    return {**document, "rate": document["rate"] / 1000}


THINGS = Schema("thing", "thing", (renamed, in_thousands))


def test_every_step_is_taken_once_and_in_order():
    """From whatever version a document has to the last."""
    assert THINGS.mark == "thing/3"
    assert THINGS.current({"schema": "thing/1", "speed": 5000}) == {"schema": "thing/3", "rate": 5}
    assert THINGS.current({"schema": "thing/2", "rate": 5000}) == {"schema": "thing/3", "rate": 5}
    assert THINGS.current({"schema": "thing/3", "rate": 5}) == {"schema": "thing/3", "rate": 5}


def test_a_document_that_names_no_version_is_of_the_first():
    """Runs were stored before they named one."""
    assert THINGS.current({"speed": 5000}) == {"schema": "thing/3", "rate": 5}


def test_what_was_stored_is_not_changed():
    """Steps are pure: the document may be somebody else's."""
    stored = {"schema": "thing/1", "speed": 5000}
    THINGS.current(stored)
    assert stored == {"schema": "thing/1", "speed": 5000}


def test_a_newer_document_is_refused_with_the_way_out():
    """What it means can't be guessed."""
    with pytest.raises(NewerSchema, match=r"A stored thing has schema 'thing/4', and .* up to 'thing/3'\. .*update"):
        THINGS.current({"schema": "thing/4"})


@pytest.mark.parametrize("named", ["thong/1", "thing", "thing/0", "thing/x", 7, None])
def test_what_is_no_such_document_is_refused(named):
    """Somebody else's document, or a broken one."""
    with pytest.raises(ProfileError, match=r"A stored thing has schema .*, not 'thing/3'"):
        THINGS.current({"schema": named})


def test_runs_without_a_kind_were_profiles():
    """Gates came with version 2."""
    brought = {"kind": "profile", "code": "", "loop_s": None, "place": ""}
    assert RUN.current({"id": "run-1"}) == {"schema": "profile-run/4", "id": "run-1", **brought}


def test_baselines_without_a_run_came_from_none_that_was_kept():
    """Gates were not kept then."""
    assert BASELINE.current({"schema": "profile-baseline/1", "name": "main"}) == {
        "schema": "profile-baseline/2",
        "name": "main",
        "run": None,
    }


def test_every_schema_has_a_name_of_its_own():
    """A document must not be taken for another."""
    schemas = [each for each in vars(migrations).values() if isinstance(each, Schema)]
    assert len({schema.name for schema in schemas}) == len(schemas) > 5
