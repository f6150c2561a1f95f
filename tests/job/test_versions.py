"""Two versions of a job in one process: each has its own modules, whatever they are called."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import profiler
from profiler.errors import UsageError
from profiler.job.loading import load_topology
from profiler.job.revision import FOLDER, clean_commit, empty_submodules, unpacked
from profiler.job.versions import load_version
from tests.git_repositories import JOB, Repository

LAZY = """
from profiler import Operator, Source, Topology
import settings

def label(rows):
    import later
    return settings.NAME, later.NAME

topology = Topology.chain("job", Source("rows"), label)
"""

LATE = """
from profiler import Operator, Source, Topology

def score(batches):
    {imports}
    yield from batches

topology = Topology.chain("job", Source("rows"), Operator("score", score, batches="arrow", schema="value string"))
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository to work in; what its jobs import is forgotten afterwards."""
    made = Repository(tmp_path / "repository")
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(made.folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield made
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def unpacked_folders(tmp_path):
    """Find what is left of unpacked revisions."""
    return list((tmp_path / "cache" / FOLDER / "runs").glob("*/data"))


def at_revision(revision, reference="job.py"):
    with unpacked(revision, Path.cwd()) as (_, moved):
        return load_version(reference, beside=reference, moved=moved).topology


def test_a_path_is_one_from_here_and_not_from_the_copy(repository, monkeypatch):
    """A folder that the revision does not have is no reason to take another file of that name for the job's."""
    repository.commit(job=JOB, costs="COUNT_MS = 0.5\n")
    repository.commit(new__job=JOB, new__costs="COUNT_MS = 0.7\n")
    (repository.folder / "build").mkdir()
    monkeypatch.chdir(repository.folder / "new")
    with pytest.raises(UsageError, match=r"there is no 'job\.py'"):
        at_revision("HEAD~1")
    monkeypatch.chdir(repository.folder / "build")
    assert at_revision("HEAD~1", "../job.py")["count"].cost.cpu_ms == 0.5


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_that_git_does_not_trust_is_told(repository):
    """As in a container whose user is another one than the checkout's."""
    repository.commit(job=JOB, costs="COUNT_MS = 0.5\n")
    for path in (repository.folder, *repository.folder.rglob("*")):
        os.chown(path, 12345, 12345)
    with pytest.raises(UsageError, match="another user owns it") as told:
        at_revision("HEAD")
    assert "git config --global --add safe.directory" in told.value.hint


def test_a_revision_is_loaded_with_its_own_neighbours(repository):
    """The file is the same in both commits; what it imports is not."""
    repository.commit(job=JOB, costs="COUNT_MS = 0.5\n")
    repository.commit(costs="COUNT_MS = 0.7\n")
    today = load_topology("job.py")
    past = at_revision("HEAD~1")
    assert (past["count"].cost.cpu_ms, today["count"].cost.cpu_ms) == (0.5, 0.7)
    assert sys.modules["costs"].COUNT_MS == 0.7


def test_a_module_of_a_package_is_loaded_from_the_revision(repository):
    """Named as module:attribute, with a neighbour in its package."""
    job = JOB.replace("from costs", "from jobs.costs")
    repository.commit(jobs____init__="", jobs__words=job, jobs__costs="COUNT_MS = 0.5\n")
    repository.commit(jobs__costs="COUNT_MS = 0.7\n")
    today = load_topology("jobs.words:topology")
    past = at_revision("HEAD~1", "jobs.words:topology")
    assert (past["count"].cost.cpu_ms, today["count"].cost.cpu_ms) == (0.5, 0.7)


@pytest.mark.long
def test_a_job_in_a_folder_is_found_from_another_one(repository, monkeypatch):
    """By a relative path, by an absolute one, and from below the repository's root."""
    repository.commit(jobs__job=JOB, jobs__costs="COUNT_MS = 0.5\n")
    repository.commit(jobs__costs="COUNT_MS = 0.7\n")
    for reference in ("jobs/job.py", str(repository.folder / "jobs" / "job.py") + ":topology"):
        load_topology(reference)
        assert at_revision("HEAD~1", reference)["count"].cost.cpu_ms == 0.5
    monkeypatch.chdir(repository.folder / "jobs")
    assert at_revision("HEAD~1", "job.py")["count"].cost.cpu_ms == 0.5


def test_what_an_operator_imports_when_it_runs_is_its_own_version_s(repository):
    """In turn, as a gate deploys them; modules that are imported later included."""
    repository.commit(job=LAZY, settings="NAME = 'old'\n", later="NAME = 'old'\n")
    repository.commit(settings="NAME = 'new'\n", later="NAME = 'new'\n")
    today = load_topology("job.py")
    with unpacked("HEAD~1", repository.folder) as (_, moved):
        past = load_version("job.py", beside="job.py", moved=moved).topology
        for _ in range(2):
            assert past["label"].function(None) == ("old", "old")
            assert today["label"].function(None) == ("new", "new")


@pytest.mark.parametrize(
    ("imports", "model", "told"),
    [
        ("import model", "model", "model"),
        ("import models.linear", "models__linear", "models.linear"),
        ("from models import linear", "models__linear", "models.linear"),
        ("import between", "model", "model"),
    ],
)
def test_what_a_batch_function_imports_on_a_worker_must_be_the_same_in_both_versions(repository, imports, model, told):
    """Workers look for it where the candidate's modules are, so that the baseline's would never be measured."""
    files = {"models____init__": "", "between": "import model\n", "model": "", model: "WEIGHT = 1\n"}
    repository.commit(job=LATE.format(imports=imports), **files)
    repository.commit(**{model: "WEIGHT = 1  # of the first version\n"})
    repository.commit(**{model: "WEIGHT = 2\n"})
    load_topology("job.py")
    with unpacked("HEAD", repository.folder) as (_, moved):
        load_version("job.py", beside="job.py", moved=moved).travel_by_value("the candidate's")
    with unpacked("HEAD~2", repository.folder) as (_, moved):
        past = load_version("job.py", beside="job.py", moved=moved)
        with pytest.raises(UsageError, match=r"workers would use the candidate's for both.*top of its file") as refused:
            past.travel_by_value("the candidate's")
    assert refused.value.message.startswith(f"Operator 'score' imports '{told}' while it runs")


def test_what_a_batch_function_imports_at_the_top_of_its_file_may_differ(repository):
    """It travels to the workers with the function."""
    job = LATE.format(imports="model.WEIGHT").replace("\n\ndef", "\nimport model\n\ndef")
    repository.commit(job=job, model="WEIGHT = 1\n")
    repository.commit(model="WEIGHT = 2\n")
    today = load_topology("job.py")
    with unpacked("HEAD~1", repository.folder) as (_, moved):
        past = load_version("job.py", beside="job.py", moved=moved)
        past.travel_by_value("the candidate's")
        weights = [each["score"].function.__globals__["model"].WEIGHT for each in (past.topology, today)]
    assert weights == [1, 2]


def test_another_file_has_its_own_neighbours(repository):
    """Two folders with modules of the same name."""
    repository.write(new__job=JOB, new__costs="COUNT_MS = 0.7\n", old__job=JOB, old__costs="COUNT_MS = 0.5\n")
    today = load_topology("new/job.py")
    other = load_version("old/job.py", beside="new/job.py").topology
    assert (other["count"].cost.cpu_ms, today["count"].cost.cpu_ms) == (0.5, 0.7)


def test_another_file_may_lie_outside_of_the_working_directory(repository, monkeypatch):
    """Its modules are its own too, those that are imported later included, and travel with it."""
    for name in ("new", "old"):
        text = f"NAME = '{name}'\n"
        repository.write(**{f"{name}__job": LAZY, f"{name}__settings": text, f"{name}__later": text})
    monkeypatch.chdir(repository.folder / "new")
    today = load_topology("job.py")
    other = load_version("../old/job.py", beside="job.py")
    for _ in range(2):
        assert other.topology["label"].function(None) == ("old", "old")
        assert today["label"].function(None) == ("new", "new")
    assert {"settings", "later"} <= other.modules.own.keys()


def test_nothing_is_left_of_an_unpacked_revision(repository, tmp_path):
    """Neither the folder, nor anything in the repository; an error changes nothing about that."""
    commit = repository.commit(job=JOB, costs="COUNT_MS = 0.5\n")
    with unpacked("main", repository.folder) as (found, moved):
        assert found == commit
        assert (moved.copy / "job.py").is_file()
        assert unpacked_folders(tmp_path) == [moved.copy.parent]
    assert unpacked_folders(tmp_path) == []
    with pytest.raises(KeyboardInterrupt), unpacked("main", repository.folder):
        raise KeyboardInterrupt
    assert unpacked_folders(tmp_path) == []
    assert repository.git("status", "--porcelain") == ""


KILLED = """
import os, signal
from pathlib import Path
from profiler.job.revision import unpacked

with unpacked("main", Path.cwd()):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_a_revision_only_until_the_next_one(repository, tmp_path):
    """It could not clear it away itself; one that is in use stays."""
    repository.commit(job=JOB, costs="COUNT_MS = 0.5\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(profiler.__file__).parents[1])}
    killed = subprocess.run([sys.executable, "-c", KILLED], env=environment, check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    (left,) = unpacked_folders(tmp_path)
    assert (left / "code" / "job.py").is_file()
    with unpacked("main", repository.folder) as (_, first), unpacked("main", repository.folder) as (_, second):
        assert set(unpacked_folders(tmp_path)) == {first.copy.parent, second.copy.parent}
        assert not left.exists()


def test_submodules_that_a_revision_lacks_are_known(repository):
    """An archive holds their folders, empty."""
    repository.commit(job=JOB, costs="COUNT_MS = 0.5\n")
    entries = [f'[submodule "{name}"]\n\tpath = {name}\n\turl = ../{name}\n' for name in ("libs/words", "more words")]
    (repository.folder / ".gitmodules").write_text("".join(entries))
    repository.commit()
    with unpacked("main", repository.folder) as (_, moved):
        assert empty_submodules(moved) == ("libs/words", "more words")
    with unpacked("HEAD~1", repository.folder) as (_, moved):
        assert empty_submodules(moved) == ()


def test_what_the_revision_lacks_is_told(repository, tmp_path):
    """The revision, the file, or the repository itself."""
    repository.commit(costs="COUNT_MS = 0.5\n")
    repository.commit(job=JOB)
    load_topology("job.py")
    with pytest.raises(UsageError, match=r"revision [0-9a-f]{10}: there is no 'job.py'"):
        at_revision("HEAD~1")
    with pytest.raises(UsageError, match=r"no revision 'no-such'.*fetch-depth"):
        at_revision("no-such")
    with pytest.raises(UsageError, match="in no git repository"), unpacked("HEAD", tmp_path):
        pass
    with pytest.raises(UsageError, match="'linear' is not in revision"):
        at_revision("HEAD", "linear")


def test_a_broken_revision_says_that_it_is_the_revision(repository):
    """And not the file as it is now, which has the same name."""
    repository.commit(job="import nothing_of_that_name\n")
    repository.commit(job=JOB, costs="COUNT_MS = 0.5\n")
    load_topology("job.py")
    with pytest.raises(UsageError, match=r"revision [0-9a-f]{10}: .*job.py:1: ModuleNotFoundError"):
        at_revision("HEAD~1")
    assert load_topology("job.py")["count"].cost.cpu_ms == 0.5


@pytest.mark.long
def test_a_commit_holds_the_code_only_where_nothing_was_changed(repository, tmp_path):
    """Changes, files that git does not know, and places without a repository have none."""
    commit = repository.commit(job=JOB, costs="COUNT_MS = 0.5\n")
    job = repository.folder / "job.py"
    assert clean_commit(job) == clean_commit(repository.folder) == commit
    repository.write(new=JOB)
    assert clean_commit(repository.folder / "new.py") is None
    assert clean_commit(job) == commit
    repository.write(costs="COUNT_MS = 0.7\n")
    assert clean_commit(job) is None
    assert clean_commit(tmp_path) is None


@pytest.mark.long
def test_code_that_was_loaded_and_is_in_no_commit_is_not_held_by_one(repository):
    """A neighbour that git does not know, or is told to ignore: the revision could not be run again without it."""
    (repository.folder / ".gitignore").write_text("ignored.py\n")
    commit = repository.commit(job=JOB)
    repository.write(costs="COUNT_MS = 0.5\n", ignored="")
    job = repository.folder / "job.py"
    assert clean_commit(job) == commit
    load_topology("job.py")
    assert clean_commit(job) is None
    repository.git("add", "costs.py")
    repository.git("commit", "--quiet", "--message", "costs")
    assert clean_commit(job) is not None
    importlib.import_module("ignored")
    assert clean_commit(job) is None
