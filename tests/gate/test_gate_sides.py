"""Whom a gate compares, without running anything: what Spark's workers could not tell apart is refused."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from profiler.errors import UsageError
from profiler.history.baselines import Baseline
from profiler.job.configuration import Configuration
from profiler.job.loading import load_topology
from profiler.questions.gate.request import GateRequest
from profiler.questions.gate.sides import opponent
from tests.git_repositories import Repository

JOB = """
from profiler import Operator, Source, Topology

def score(batches):
    import model
    yield from batches

topology = Topology.chain("job", Source("rows"), Operator("score", score, batches="arrow", schema="value string"))
"""


@pytest.fixture
def repository(folder, tmp_path_factory, monkeypatch):
    """A repository in the current directory with two versions of a model, and a copy of the first one."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path_factory.mktemp("cache")))
    made = Repository(folder)
    made.commit(job=JOB, model="WEIGHT = 1\n", old__job=JOB, old__model="WEIGHT = 1\n")
    made.commit(model="WEIGHT = 2\n")
    yield made
    for name, module in list(sys.modules.items()):
        if str(folder) in str(getattr(module, "__file__", "")):
            del sys.modules[name]


def request_of(**named):
    nothing = dict.fromkeys(("tasks", "baseline", "against", "against_rev", "save_baseline", "drill"))
    plain = {"aa": False, "rule_out": 0.1, "force": False, "anew": False}
    return GateRequest("job.py", load_topology("job.py"), **{**nothing, **plain, **named})


def baseline_at(revision):
    tasks = Configuration.of({"rows": 1, "score": 1})
    return Baseline("main", "job", "spark", "job.py", revision, datetime.now(UTC), tasks, {}, None, 1000.0, ())


@pytest.mark.long
@pytest.mark.parametrize("how", ["another file", "a revision", "a stored baseline"])
def test_an_import_on_a_worker_that_differs_between_the_versions_is_refused(repository, how):
    """A stored baseline is not compared by its blocks instead: the user can mend it, and has to see it."""
    asked = {"another file": {"against": "old/job.py"}, "a revision": {"against_rev": "HEAD~1"}}.get(how, {})
    stored = baseline_at(repository.git("rev-parse", "HEAD~1")) if not asked else None
    with ExitStack() as opened, pytest.raises(UsageError, match="'score' imports 'model' while it runs"):
        opened.enter_context(opponent(request_of(**asked), stored, runs_functions=True))
    with opponent(request_of(**asked), stored, runs_functions=False) as other:
        assert other.topology is not None
