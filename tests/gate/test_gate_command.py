"""`profile gate` on the simulated engine, as a user calls it: verdicts, exit codes, reports, what to compare with."""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from profiler.history.store import StoreFailed
from profiler.job.revision import FOLDER
from profiler.questions.gate import run
from profiler.questions.schemas import GATE
from profiler.services.run_folder import cache_directory
from tests.git_repositories import JOB, Repository

SIMULATED = ("--engine", "simulated", "--nodes", "2", "--cores", "2", "--seed", "1")
NOISY = (*SIMULATED, "--noise", "shared")


@pytest.fixture(autouse=True)
def _one_process_each(tmp_path, tmp_path_factory, monkeypatch):
    """Forget what a test's jobs imported, as the process of a real call would; keep its leftovers in its own cache."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    forget(*(name for name, module in sys.modules.items() if str(tmp_path) in str(getattr(module, "__file__", ""))))


def forget(*modules):
    """Let the next call import a neighbour anew."""
    for name in list(modules):
        sys.modules.pop(name, None)


@pytest.fixture
def repository(folder):
    """A repository in the current directory, whose second commit makes 'count' slower."""
    made = Repository(folder)
    made.commit(job=JOB, costs="COUNT_MS = 0.5\n")
    made.commit(costs="COUNT_MS = 0.65\n")
    return made


def document_of(answer):
    document = json.loads(answer.stdout)
    jsonschema.validate(document, GATE.read())
    assert document["exit_code"] == answer.exit_code
    return document


def test_unchanged_code_passes(profile):
    """Exit 0, with every criterion and what it could have seen."""
    answer = profile("gate", "linear", *SIMULATED, "--aa")
    assert answer.exit_code == 0, answer.stderr
    for part in ("Gate: linear on simulated", "against itself", "CPU per row", "throughput", "latency p95", "detects"):
        assert part in answer.stdout
    assert "pass: a slowdown of 10% is ruled out: CPU per row" in answer.stdout
    assert "baseline, block 1 of 16" in answer.stderr
    assert max(map(len, answer.stdout.splitlines()[:6])) <= 90


def test_a_drill_comes_out_red(profile):
    """Exit 1; the expected effect is told before anything is compared, and the operator is named."""
    answer = profile("gate", "word-count", *SIMULATED, "--drill", "20%")
    assert answer.exit_code == 1, answer.stdout
    expected, first_block = answer.stderr.index("are expected"), answer.stderr.index("block 1 of 16")
    assert expected < first_block
    assert "slower: 'count' +" in answer.stdout
    assert "mostly in 'count'; the limit is a slowdown of 5% (exit 1)" in answer.stdout


def test_a_drill_is_found_on_a_shared_machine_too(profile):
    """As a document: the drilled operator is the one that is named."""
    document = document_of(profile("gate", "word-count", *NOISY, "--drill", "20%", "--json", "-", "--quiet"))
    assert document["verdict"] == "slower"
    assert document["slower_operator"] == document["drill"]["operator"] == "count"
    assert document["drill"]["expected_effect"] == pytest.approx(0.2 * document["drill"]["share"])


def test_a_drill_below_the_limit_is_measured_and_inconclusive(profile):
    """Exit 4, with what was seen of it."""
    answer = profile("gate", "linear", *NOISY, "--drill", "2%")
    assert answer.exit_code == 4
    assert "it is measured all the same" in answer.stderr
    assert "block 1 of 16" in answer.stderr
    assert "the drill was not found: +0.7% CPU per row were expected of it" in answer.stdout
    assert "a longer drill or a lower --max-slowdown may do" in answer.stdout


@pytest.mark.parametrize(
    "gate",
    [
        pytest.param(("linear", *NOISY, "--drill", "18%", "--blocks", "2"), id="a drill that few blocks miss"),
        pytest.param(("linear", *NOISY, "--aa", "--max-slowdown", "2%", "--blocks", "4"), id="a gate that can't tell"),
    ],
)
def test_an_open_gate_tells_how_many_blocks_it_would_take(gate, profile):
    """In the sentence and in the document; how long that is, only where windows take time."""
    document = document_of(profile("gate", *gate, "--json", "-", "--quiet"))
    assert document["verdict"] == "inconclusive"
    assert document["needed"]["blocks"] > 2
    assert document["needed"]["minutes"] is None
    assert f"--blocks {document['needed']['blocks']} " in document["why"]


def test_noise_that_hides_the_limit_is_inconclusive(profile):
    """Exit 4, and what stays open."""
    answer = profile("gate", "linear", *NOISY, "--aa", "--max-slowdown", "1%", "--blocks", "4")
    assert answer.exit_code == 4
    assert "inconclusive: a slowdown of 2% can't be ruled out" in answer.stdout


def test_the_second_commit_is_slower_than_the_first(profile, repository):
    """A real pair of commits: exit 1, the operator named, and nothing left in the repository."""
    answer = profile("gate", "job.py", "--against-rev", "HEAD~1", *SIMULATED, "--json", "-", "--quiet")
    document = document_of(answer)
    assert answer.exit_code == 1, answer.stdout
    assert document["slower_operator"] == "count"
    assert document["baseline"] == {
        "kind": "revision",
        "name": repository.git("rev-parse", "HEAD~1")[:10],
        "interleaved": True,
    }
    assert repository.git("status", "--porcelain") == ""
    assert (cache_directory() / FOLDER).is_dir()
    assert list((cache_directory() / FOLDER).glob("runs/*/data")) == []


@pytest.mark.long
def test_the_first_commit_is_not_slower_than_the_second(profile, repository):
    """The same pair the other way round: a gain passes."""
    repository.git("checkout", "--quiet", "HEAD~1")
    answer = profile("gate", "job.py", "--against-rev", "main", *SIMULATED)
    assert answer.exit_code == 0, answer.stdout


def test_another_topology_is_compared(profile, folder):
    """By its file, with the tasks that both run with."""
    Repository(folder).write(job=JOB, costs="COUNT_MS = 0.5\n", slow__job=JOB, slow__costs="COUNT_MS = 0.7\n")
    tasks = ("--tasks", "count=2, split=2")
    answer = profile("gate", "slow/job.py", "--against", "job.py", *SIMULATED, *tasks, "--json", "-", "--quiet")
    document = document_of(answer)
    assert (answer.exit_code, document["slower_operator"]) == (1, "count")
    assert document["tasks"] == {"lines": 1, "split": 2, "count": 2}


def test_today_s_tasks_are_run_where_they_are_stated(profile, folder):
    """They are what the job runs with."""
    job = JOB.replace("Cost(cpu_ms=COUNT_MS)", "Cost(cpu_ms=COUNT_MS), tasks=3")
    Repository(folder).write(job=job, costs="COUNT_MS = 0.5\n")
    document = document_of(profile("gate", "job.py", "--aa", *SIMULATED, "--json", "-", "--quiet"))
    assert document["tasks"] == {"lines": 1, "split": 1, "count": 3}


def test_work_that_moved_to_another_operator_passes(profile, folder):
    """The job as a whole is not slower, and faster here."""
    moved = JOB.replace("cpu_ms=0.3", "cpu_ms=0.4")
    Repository(folder).write(job=JOB, costs="COUNT_MS = 0.5\n", moved__job=moved, moved__costs="COUNT_MS = 0.3\n")
    answer = profile("gate", "moved/job.py", "--against", "job.py", *SIMULATED)
    assert answer.exit_code == 0, answer.stdout


def test_a_version_that_allows_fewer_tasks_runs_with_those(profile, folder):
    """Each version keeps its own bounds, which is told; what --tasks asks for beyond them is refused."""
    bound, costs = "Cost(cpu_ms=COUNT_MS), ", "COUNT_MS = 0.5\n"
    serial = JOB.replace("Cost(cpu_ms=COUNT_MS)", f"{bound}parallel=False")
    wide = JOB.replace("Cost(cpu_ms=COUNT_MS)", f"{bound}tasks=3, max_tasks=3")
    Repository(folder).write(job=wide, costs=costs, serial__job=serial, serial__costs=costs)
    answer = profile("gate", "job.py", "--against", "serial/job.py", *SIMULATED, "--json", "-", "--quiet")
    document = document_of(answer)
    assert document["tasks"]["count"] == 3
    assert document["warnings"] == ["'count' runs with 1 task in the baseline and with 3 in the candidate"]
    for file, said in (("job.py", "max_tasks=3"), ("serial/job.py", "one only (parallel=False)")):
        refused = profile("gate", file, "--aa", *SIMULATED, "--quiet", "--tasks", "count=9")
        assert refused.exit_code == 2
        assert f"--tasks gives 'count' 9 tasks, but it allows {said}." in refused.stderr


def test_a_new_operator_has_its_tasks_beside_those_of_the_baseline(profile, store, folder):
    """The baseline does not know it; --tasks and the topology do."""
    Repository(folder).write(job=JOB, costs="COUNT_MS = 0.5\n")
    assert profile("gate", "job.py", *SIMULATED, "--save-baseline", "main", "--tasks", "count=2").exit_code == 0
    more = JOB.rstrip().removesuffix(")") + '    Operator("rank", cost=Cost(cpu_ms=0.01), tasks=3),\n)\n'
    (folder / "job.py").write_text(more)
    for tasks, expected in (((), 3), (("--tasks", "rank=4"), 4)):
        answer = profile("gate", "job.py", *SIMULATED, "--baseline", "main", *tasks, "--json", "-", "--quiet")
        assert document_of(answer)["tasks"] == {"lines": 1, "split": 1, "count": 2, "rank": expected}


def test_a_drill_holds_the_job_against_itself_whatever_is_named(profile, folder):
    """Another version's own gain would hide it, a loss would be taken for it."""
    Repository(folder).write(job=JOB, costs="COUNT_MS = 0.5\n", slow__job=JOB, slow__costs="COUNT_MS = 0.9\n")
    answer = profile(
        "gate", "job.py", "--against", "slow/job.py", "--drill", "20%", *SIMULATED, "--json", "-", "--quiet"
    )
    document = document_of(answer)
    assert (answer.exit_code, document["slower_operator"]) == (1, "count")
    assert document["baseline"]["kind"] == "itself"
    assert document["warnings"] == ["a drill holds the job against itself, not against slow/job.py"]


def test_a_stored_baseline_is_compared_with(profile, store, folder):
    """Where its code is at hand no more, by its blocks; that is told."""
    Repository(folder).write(job=JOB, costs="COUNT_MS = 0.5\n")
    saved = profile("gate", "job.py", *SIMULATED, "--save-baseline", "main", "--tasks", "count=2")
    assert saved.exit_code == 0, saved.stderr
    same = profile("gate", "job.py", *SIMULATED, "--baseline", "main")
    assert same.exit_code == 0, same.stdout
    assert "against the stored blocks of main" in same.stdout
    assert "warning: main can't be run again: its code was not committed when it was saved" in same.stdout
    (folder / "costs.py").write_text("COUNT_MS = 0.65\n")
    forget("costs")
    document = document_of(profile("gate", "job.py", *SIMULATED, "--baseline", "main", "--json", "-", "--quiet"))
    assert (document["verdict"], document["slower_operator"]) == ("slower", "count")
    assert document["tasks"]["count"] == 2
    assert not document["baseline"]["interleaved"]


@pytest.mark.long
def test_a_stored_baseline_is_run_again_where_its_commit_is_at_hand(profile, store, repository):
    """Versions that take turns can be compared more sharply."""
    repository.git("checkout", "--quiet", "HEAD~1")
    assert profile("gate", "job.py", *SIMULATED, "--save-baseline", "main").exit_code == 0
    repository.git("checkout", "--quiet", "main")
    forget("costs")
    document = document_of(profile("gate", "job.py", *SIMULATED, "--baseline", "main", "--json", "-", "--quiet"))
    assert (document["verdict"], document["slower_operator"]) == ("slower", "count")
    assert document["baseline"]["kind"] == "revision"
    assert document["baseline"]["name"].endswith(" (main)")
    assert document["baseline"]["interleaved"]


@pytest.mark.long
def test_a_baseline_is_of_the_commit_that_was_measured(profile, store, repository, monkeypatch):
    """Not of what the work tree is changed to meanwhile."""
    measured = repository.git("rev-parse", "HEAD")

    def changed(*arguments, **named):
        repository.git("checkout", "--quiet", "HEAD~1")
        return prepared(*arguments, **named)

    prepared = run.gate_run
    monkeypatch.setattr(run, "gate_run", changed)
    assert profile("gate", "job.py", *SIMULATED, "--save-baseline", "main").exit_code == 0
    assert store.load_baseline("words", "simulated", "main").revision == measured


@pytest.mark.long
def test_without_git_a_baseline_is_saved_and_compared_with_by_its_blocks(profile, store, repository, monkeypatch):
    """It is needed for revisions only; that it is missing is told."""
    assert profile("gate", "job.py", *SIMULATED, "--save-baseline", "main").exit_code == 0
    monkeypatch.setenv("PATH", str(repository.folder))
    compared = profile("gate", "job.py", *SIMULATED, "--baseline", "main")
    assert compared.exit_code == 0, compared.stderr
    assert "warning: main can't be run again: There is no git to ask for a revision" in compared.stdout
    saved = profile("gate", "job.py", *SIMULATED, "--save-baseline", "other")
    assert saved.exit_code == 0, saved.stderr
    assert store.load_baseline("words", "simulated", "other").revision is None


@pytest.mark.long
def test_a_baseline_that_was_measured_elsewhere_is_inconclusive(profile, store):
    """Exit 4 with what differs, before anything is measured; --force compares all the same."""
    assert profile("gate", "linear", *SIMULATED, "--save-baseline", "main").exit_code == 0
    elsewhere = ("--engine", "simulated", "--nodes", "3", "--cores", "2", "--noise", "quiet")
    answer = profile("gate", "linear", *elsewhere, "--baseline", "main")
    assert answer.exit_code == 4
    assert "the baseline was measured elsewhere (cores was 4, is 6, nodes was 2, is 3)" in answer.stdout
    assert "block" not in answer.stderr
    forced = profile("gate", "linear", *elsewhere, "--baseline", "main", "--force")
    assert "block 1 of" in forced.stderr
    assert "CPU per row" in forced.stdout


def test_a_slower_version_does_not_become_the_baseline(profile, store, folder):
    """It would hide itself from the next gate."""
    Repository(folder).write(job=JOB, costs="COUNT_MS = 0.5\n")
    profile("gate", "job.py", *SIMULATED, "--save-baseline", "main")
    before = store.load_baseline("words", "simulated", "main")
    (folder / "costs.py").write_text("COUNT_MS = 0.65\n")
    forget("costs")
    answer = profile("gate", "job.py", *SIMULATED, "--baseline", "main", "--save-baseline", "main")
    assert answer.exit_code == 1
    assert "warning: baseline 'main' was not saved: the candidate is slower, and would hide that" in answer.stdout
    assert store.load_baseline("words", "simulated", "main") == before


def test_stored_blocks_of_other_rows_are_inconclusive(profile, store, folder):
    """Longer messages are no slower code."""
    Repository(folder).write(job=JOB, costs="COUNT_MS = 0.5\n")
    (folder / "short.jsonl").write_text("a\n")
    (folder / "long.jsonl").write_text("a long one\n")
    gate = ("gate", "job.py", *SIMULATED)
    assert profile(*gate, "--payloads", "short.jsonl", "--save-baseline", "main").exit_code == 0
    assert profile(*gate, "--payloads", "short.jsonl", "--baseline", "main").exit_code == 0
    answer = profile(*gate, "--payloads", "long.jsonl", "--baseline", "main")
    assert answer.exit_code == 4
    assert "the baseline was measured elsewhere (data was " in answer.stdout


@pytest.mark.long
def test_a_baseline_of_too_few_blocks_does_not_replace_a_good_one(profile, store):
    """Where the time is up at once: exit 4, and the older one stays."""
    saving = ("gate", "linear", *SIMULATED, "--save-baseline", "main")
    assert profile(*saving).exit_code == 0
    before = store.load_baseline("linear", "simulated", "main")
    answer = profile(*saving, "--budget", "0.001s")
    assert answer.exit_code == 4
    assert "warning: baseline 'main' was not saved: it has 0 blocks, and needs 4" in answer.stdout
    assert "inconclusive: there is no new baseline (exit 4)" in answer.stdout
    assert store.load_baseline("linear", "simulated", "main") == before


@pytest.mark.long
def test_saving_a_baseline_is_no_verdict(profile, store, folder):
    """However noisy the machine is: exit 0, and all blocks are kept."""
    saving = ("--save-baseline", "main", "--max-slowdown", "1%", "--export", "junit=gate.xml")
    answer = profile("gate", "linear", *NOISY, *saving)
    assert answer.exit_code == 0
    assert "saved: the baseline has 16 blocks; met by itself, it would have shown +" in answer.stdout
    assert "kept as baseline 'main'" in answer.stdout
    suite = ET.parse(folder / "gate.xml").getroot().find("testsuite")  # noqa: S314 - our own file
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["1", "0", "0"]
    kept = store.load_baseline("linear", "simulated", "main")
    assert len(kept.blocks) == 16
    assert {block.arm for block in kept.blocks} == {0}
    assert kept.environment["preset"] == "shared"


def test_a_baseline_that_is_not_there_is_wrong_usage(profile, store, refused):
    """With the way to one."""
    assert refused(profile("gate", "linear", *SIMULATED, "--baseline", "main", "--quiet")) == (
        "There is no baseline 'main' of linear on simulated. Save one: profile gate TOPOLOGY --save-baseline main."
    )


def test_reports_are_written(profile, folder, monkeypatch):
    """JUnit with a test case per criterion and one for all, CSV, Markdown, JSON, and the summary of a CI step."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    (folder / "summary.md").write_text("what was there\n")
    exports = [part for kind in ("junit", "csv", "md", "json") for part in ("--export", f"{kind}=gate.{kind}")]
    answer = profile("gate", "word-count", *SIMULATED, "--drill", "20%", *exports)
    assert answer.exit_code == 1
    suite = ET.parse(folder / "gate.junit").getroot().find("testsuite")  # noqa: S314 - our own file
    names = [case.get("name") for case in suite.iter("testcase")]
    assert names == ["CPU per row", "one operator's CPU", "throughput", "latency p95", "drill"]
    failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    assert {"CPU per row", "drill"} <= set(failed)
    assert suite.get("failures") == str(len(failed))
    rows = list(csv.DictReader((folder / "gate.csv").read_text().splitlines()))
    assert [row["criterion"] for row in rows] == ["cpu-per-row", "operator-cpu", "throughput", "latency"]
    assert float(rows[0]["effect"]) > 0.05
    markdown = (folder / "gate.md").read_text()
    assert "| CPU per row |" in markdown
    assert "On purpose, as a drill: 'count' (" in markdown
    assert "% expected; the gate found it." in markdown
    assert (folder / "summary.md").read_text() == "what was there\n" + markdown
    jsonschema.validate(json.loads((folder / "gate.json").read_text()), GATE.read())


def test_a_criterion_that_could_not_tell_is_skipped_in_junit(profile, folder):
    """Neither a success nor a failure."""
    profile("gate", "linear", *NOISY, "--aa", "--max-slowdown", "1%", "--export", "junit=open.xml")
    suite = ET.parse(folder / "open.xml").getroot().find("testsuite")  # noqa: S314 - our own file
    assert int(suite.get("skipped")) > 0
    assert suite.get("failures") == "0"


def test_a_missed_drill_is_no_success_in_any_report(profile, folder):
    """Every criterion passes, and still nobody may take that for a pass."""
    drill = ("--drill", "2%", "--max-slowdown", "0.1%", "--rule-out", "10%")
    answer = profile("gate", "word-count", *SIMULATED, *drill, "--export", "junit=gate.xml", "--export", "md=gate.md")
    assert answer.exit_code == 4, answer.stdout
    cases = list(ET.parse(folder / "gate.xml").getroot().iter("testcase"))  # noqa: S314 - our own file
    assert [case.get("name") for case in cases if case.find("skipped") is not None][-1] == "drill"
    assert "the drill was not found" in cases[-1].find("skipped").get("message")
    assert "% expected; the gate missed it." in (folder / "gate.md").read_text()


def test_a_gate_is_a_test_case_of_its_own(profile, folder):
    """What the exit code says, whatever the criteria say."""
    profile("gate", "linear", *SIMULATED, "--aa", "--export", "junit=gate.xml")
    suite = ET.parse(folder / "gate.xml").getroot().find("testsuite")  # noqa: S314 - our own file
    last = list(suite.iter("testcase"))[-1]
    assert (last.get("name"), last.find("failure"), last.find("skipped")) == ("gate", None, None)
    assert suite.get("tests") == "5"


@pytest.mark.long
def test_a_database_that_fails_at_the_end_does_not_cost_the_verdict(profile, store, folder, monkeypatch):
    """It is told and written as ever, with what was not saved; exit 3 only where a baseline was all that was asked."""

    def fail(*_):
        raise StoreFailed("MongoDB at nowhere does not answer.", hint="Check that it runs.")

    monkeypatch.setattr(store, "save_baseline", fail)
    lost = "baseline 'main' was not saved: MongoDB at nowhere does not answer. Check that it runs"
    gate = ("gate", "linear", *SIMULATED, "--save-baseline", "main", "--json", "-", "--quiet", "--export")
    compared = document_of(profile(*gate, "junit=gate.xml", "--aa"))
    assert (compared["verdict"], compared["exit_code"], compared["saved_baseline"]) == ("pass", 0, None)
    assert lost in compared["warnings"]
    assert (folder / "gate.xml").read_text()
    saved = document_of(profile(*gate, "junit=saved.xml"))
    assert (saved["verdict"], saved["exit_code"]) == ("inconclusive", 3)
    assert lost in saved["warnings"]


def test_a_summary_that_cannot_be_written_loses_nothing(profile, folder, monkeypatch):
    """The verdict stands."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "no" / "such" / "folder.md"))
    answer = profile("gate", "linear", *SIMULATED, "--aa")
    assert answer.exit_code == 0
    assert "can't be written" in answer.stderr


@pytest.mark.parametrize(("flags", "whole_s"), [((), 360.0), (("--budget", "10m"), 600.0)])
def test_the_time_left_is_within_the_budget_of_all(profile, monkeypatch, flags, whole_s):
    """As blocks are planned that it ends before."""
    bounds = []
    monkeypatch.setattr(run, "time_left_of", lambda *_, **named: bounds.append(named["whole_s"]))
    assert profile("gate", "linear", *SIMULATED, "--aa", *flags).exit_code == 0
    assert bounds == [whole_s]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_file_that_cannot_be_written_does_not_hide_the_verdict(profile, folder):
    """Exit 3, with the file and why; the others are written."""
    files = ("--json", "/dev/full", "--export", "md=gate.md", "--export", "junit=/dev/full")
    answer = profile("gate", "linear", *SIMULATED, "--aa", *files)
    assert answer.exit_code == 3
    assert "pass: a slowdown of 10% is ruled out" in answer.stdout
    why = "/dev/full can't be written: No space left on device"
    assert answer.stderr.splitlines()[-1].startswith(f"Error: {why}; {why}. ")
    assert (folder / "gate.md").read_text()


WRONG = {
    "nothing to compare with": (["linear"], "There is nothing to compare 'linear' with."),
    "two things to compare with": (
        ["linear", "--aa", "--against", "star"],
        "--against and --aa exclude each other. Compare with one thing at a time.",
    ),
    "a drilled baseline": (
        ["linear", "--drill", "20%", "--save-baseline", "main"],
        "--drill and --save-baseline exclude each other.",
    ),
    "a malformed slowdown": (
        ["linear", "--aa", "--max-slowdown", "much"],
        "--max-slowdown is 'much', not a part above 0% to 100%.",
    ),
    "a pass that says nothing": (
        ["linear", "--aa", "--rule-out", "1%"],
        "--rule-out 1% is below --max-slowdown 5%.",
    ),
    "too few blocks": (["linear", "--aa", "--blocks", "1"], "--blocks is '1', not a whole number from 2 to 100."),
    "malformed tasks": (["linear", "--aa", "--tasks", "work-1"], "--tasks is 'work-1', not a number of tasks"),
    "tasks of nobody": (
        ["linear", "--aa", "--tasks", "wrok-1=2"],
        "--tasks names 'wrok-1', which 'linear' does not have. Did you mean 'work-1'?",
    ),
    "other sources": (["linear", "--against", "star"], "The versions read different sources: events and left, right."),
    "going on and starting over": (
        ["linear", "--aa", "--resume", "any", "--anew"],
        "--resume and --anew exclude each other. Go on, or start over.",
    ),
    "a baseline without a name": (["linear", "--aa", "--save-baseline", ""], "A baseline has no name."),
    "an unknown workload": (["linaer", "--aa"], "There is no workload 'linaer'. Did you mean 'linear'?"),
    "an unknown format": (["linear", "--aa", "--export", "html=a.html"], "--export is 'html=a.html', not a report."),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_usage_is_one_sentence(wrong, profile, refused):
    """Exit 2, before anything is measured."""
    arguments, sentence = WRONG[wrong]
    assert refused(profile("gate", *arguments, *SIMULATED, "--quiet")).startswith(sentence)


def test_a_revision_needs_a_repository_that_has_it(profile, refused, folder, repository):
    """And a job that is part of it."""
    arguments = ("gate", "job.py", *SIMULATED, "--quiet", "--against-rev")
    assert "has no revision 'no-such'. Fetch it first" in refused(profile(*arguments, "no-such"))
    repository.write(new=JOB)
    said = refused(profile("gate", "new.py", *SIMULATED, "--quiet", "--against-rev", "HEAD"))
    assert said.endswith("there is no 'new.py'. Name a revision that has it.")


def test_a_revision_that_lacks_its_submodules_says_so(profile, refused, repository):
    """They are empty in what git gives of a revision, so that what it imports of them is missing."""
    (repository.folder / ".gitmodules").write_text('[submodule "libs"]\n\tpath = libs\n\turl = ../libs\n')
    repository.commit(job=JOB.replace("from costs", "from libs.costs"))
    repository.commit(job=JOB)
    said = refused(profile("gate", "job.py", *SIMULATED, "--quiet", "--against-rev", "HEAD~1"))
    assert "ModuleNotFoundError: No module named 'libs" in said
    assert "Submodules are no part of an archived revision: libs is empty." in said


@pytest.mark.long
def test_a_cache_within_the_repository_is_no_part_of_it(profile, repository, monkeypatch):
    """As CI often has it: the revision is unpacked elsewhere, and nothing is left of it."""
    monkeypatch.setenv("PROFILE_CACHE", str(repository.folder / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(repository.folder.parent))
    answer = profile("gate", "job.py", "--against-rev", "HEAD~1", *SIMULATED)
    assert answer.exit_code == 1, answer.stderr
    assert list(repository.folder.parent.glob("profile-revision-*")) == []


@pytest.mark.mongo
def test_a_baseline_lasts_in_the_database(shell, cache):
    """From one call to the next, in the database that all of them share."""
    saved = shell("gate", "linear", *SIMULATED, "--save-baseline", "main", "--quiet", PROFILE_CACHE=str(cache))
    assert saved.returncode == 0, saved.stderr
    answer = shell("gate", "linear", *SIMULATED, "--baseline", "main", "--quiet", PROFILE_CACHE=str(cache))
    assert answer.returncode == 0, answer.stderr
    assert "the stored blocks of main" in answer.stdout or "(main)" in answer.stdout
