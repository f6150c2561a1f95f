"""Code that a stored profile names is run only where the user would expect it to lie, and what is loaded is said."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest

from profiler.history.files.exchange import history_of, put
from profiler.job.loading import found_code

JOB = """
from pathlib import Path
from profiler import Cost, Operator, Source, Topology

Path(__file__).with_suffix(".ran").touch()
topology = Topology.chain("job", Source("rows"), Operator("work", cost=Cost(cpu_ms=0.5)))
"""
SIMULATED = ("--engine", "simulated", "--nodes", "1", "--cores", "4", "--quick", "--windows", "2", "--quiet")
KEPT = ("--mongo", "mongodb://nowhere")


@pytest.fixture
def named(profile, folder, monkeypatch):
    """Work beside a folder with a job; give what writes the document of a profile that names it."""
    monkeypatch.setenv("PROFILE_CACHE", str(folder / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (folder / "elsewhere" / "away").mkdir(parents=True)
    (folder / "here").mkdir()
    for file in ("elsewhere/job.py", "elsewhere/away/__init__.py", "elsewhere/away/job.py", "here/mine.py"):
        (folder / file).write_text(JOB)
    monkeypatch.chdir(folder / "here")
    monkeypatch.syspath_prepend(str(folder / "elsewhere"))
    assert profile("run", "mine.py", *SIMULATED, "--json", "mine.json").exit_code == 0
    (folder / "here" / "mine.ran").unlink()

    def document(reference, **asked):
        made = json.loads((folder / "here" / "mine.json").read_text())
        made["fingerprint"]["reference"] = reference
        made["fingerprint"]["asked"].update(asked)
        (folder / "here" / "theirs.json").write_text(json.dumps(made))
        return "theirs.json"

    yield document
    for name in [name for name, module in sys.modules.items() if str(folder) in str(getattr(module, "__file__", ""))]:
        del sys.modules[name]


def references(folder):
    (folder / "here" / "link.py").symlink_to(folder / "elsewhere" / "job.py")
    return {
        "a path that leads out": "../elsewhere/job.py",
        "a whole path": f"{folder}/elsewhere/job.py",
        "a link that leads out": "link.py",
        "a module from elsewhere": "away:topology",
        "a module of a package from elsewhere": "away.job:topology",
        "the interpreter's own": "os:getcwd",
        "a library's": "pytest:main",
    }


@pytest.mark.parametrize(
    "case",
    [
        "a path that leads out",
        "a whole path",
        "a link that leads out",
        "a module from elsewhere",
        "a module of a package from elsewhere",
        "the interpreter's own",
        "a library's",
    ],
)
def test_code_from_outside_of_the_directory_is_not_run(case, named, profile, refused, folder):
    reference = references(folder)[case]
    said = refused(profile("recalibrate", named(reference), "--dry-run"))
    assert f"names '{reference}', which is /" in said
    assert said.endswith("Add --trust where you know that code, or say where the job is: --topology TOPOLOGY.")
    assert not list(folder.rglob("*.ran"))


@pytest.mark.parametrize("reference", ["mine.py", "mine.py:topology", "mine:topology"])
def test_what_is_loaded_is_said(reference, named, profile, folder):
    """With the file that it is."""
    answer = profile("recalibrate", named(reference), "--dry-run")
    assert answer.exit_code == 0, answer.stderr
    assert f"loading '{reference}' from {folder}/here/mine.py, as profile '" in answer.stderr
    assert (folder / "here" / "mine.ran").exists()


@pytest.mark.parametrize("flags", [["--trust"], ["--topology", "../elsewhere/job.py"]], ids=lambda flags: flags[0])
def test_the_user_may_say_so(flags, named, profile, folder):
    answer = profile("recalibrate", named("../elsewhere/job.py"), "--dry-run", *flags)
    assert answer.exit_code == 0, answer.stderr
    assert (folder / "elsewhere" / "job.ran").exists()


def test_a_workload_is_ours(named, profile):
    """It is not in the current directory, and is known."""
    answer = profile("recalibrate", named("linear?depth=2"), "--dry-run")
    assert "is 'linear', and profile" in answer.stderr
    assert "loading" not in answer.stderr


def test_a_profile_that_was_made_here_may_name_what_it_was_made_of(named, profile, store, folder):
    """The user loaded it before; an imported one may say anything."""
    made = profile("run", "../elsewhere/job.py", *SIMULATED, *KEPT)
    assert made.exit_code == 0, made.stderr
    assert profile("recalibrate", "--dry-run", *KEPT).exit_code == 0
    (found,) = store.find_runs()
    theirs = history_of(store, found.run.id)
    store.delete_run(found.run.id)
    put(store, replace(theirs, run=replace(theirs.run, place="another")))
    assert "--trust" in profile("recalibrate", "--dry-run", *KEPT).stderr


@pytest.mark.parametrize("key", ["spark.jars.packages", "spark.plugins", "spark.driver.extraJavaOptions"])
def test_a_document_does_not_make_spark_load_what_it_names(key, named, profile, refused):
    """By settings of a session; others of the document are used."""
    document = named("mine.py", conf=f"spark.locality.wait=1s\n{key}=theirs")
    assert f"was made with --conf {key}=theirs, which may load code." in refused(
        profile("recalibrate", document, "--dry-run")
    )
    for flags in (["--trust"], ["--conf", "spark.locality.wait=1s"]):
        assert profile("recalibrate", document, "--dry-run", *flags).exit_code == 0
    assert (
        profile("recalibrate", named("mine.py", conf="spark.sql.files.minPartitionNum=2"), "--dry-run").exit_code == 0
    )


def test_a_watch_loads_nothing(named, profile, refused):
    assert "--trust and --watch exclude each other" in refused(
        profile("recalibrate", named("mine.py"), "--watch", "--trust")
    )


def test_code_is_found_without_running_it(named, folder):
    """Nor what is around it: a package's own module is what runs first."""
    assert found_code("away.job:topology") == folder / "elsewhere" / "away" / "__init__.py"
    assert found_code("nowhere.py") is None
    assert found_code("nowhere.to_be_found:x") is None
    assert not list(folder.rglob("*.ran"))
