"""A stored baseline as a document: versioned, and comparable with another run of the same machine."""

from __future__ import annotations

import json

import pytest

from profiler.errors import ProfileError
from profiler.history.baselines import baseline_document, baseline_from
from tests.history.histories import a_baseline


def test_a_document_is_plain_json_and_comes_back():
    """Infinities included."""
    document = json.loads(json.dumps(baseline_document(a_baseline()), allow_nan=False))
    assert document["schema"] == "profile-baseline/2"
    assert baseline_from(document) == a_baseline()


def test_a_document_of_a_newer_version_is_refused():
    """What it means is not known."""
    with pytest.raises(ProfileError, match=r"baseline has schema 'profile-baseline/3'.*newer profile: update"):
        baseline_from(baseline_document(a_baseline()) | {"schema": "profile-baseline/3"})


def test_a_document_that_is_broken_is_refused():
    """With the place."""
    with pytest.raises(ProfileError, match=r"A stored baseline can't be read: .*throughput_per_s"):
        baseline_from(baseline_document(a_baseline()) | {"throughput_per_s": "fast"})


def test_the_speed_index_of_another_run_is_brought_to_this_one_s():
    """Its loop took 2.5 ms then and takes 5 ms now: what was normal then is twice as fast as normal now."""
    baseline = a_baseline(loop_s=0.0025)
    now = baseline.blocks_at(0.005)
    assert {window.speed_index for block in now for window in (*block.windows, *block.probe)} == {2.0}
    assert now[0].windows[0].cpu_s == baseline.blocks[0].windows[0].cpu_s


@pytest.mark.parametrize(("then", "now"), [(None, 0.005), (0.0025, None), (None, None)])
def test_an_index_that_is_absolute_stays(then, now):
    """As on the simulated engine."""
    assert a_baseline(loop_s=then).blocks_at(now) == a_baseline(loop_s=then).blocks
