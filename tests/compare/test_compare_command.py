"""`profile compare` on the simulated engine, as a user calls it: rankings, stored profiles, interruptions, reports."""

from __future__ import annotations

import csv
import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import jsonschema
import pytest

from profiler.experiment.events import BlockMeasured, RoundDecided
from profiler.history import keeper
from profiler.history.memory import MemoryStore
from profiler.history.records import RunKind, RunState
from profiler.history.session.opening import HistorySession
from profiler.history.store import StoreFailed
from profiler.questions.compare import run as compare_run
from profiler.questions.compare.progress import CompareProgress
from profiler.questions.schemas import COMPARE
from profiler.questions.search import run as search_run
from profiler.questions.search import session, terms
from profiler.settings.choices import EngineName

SIMULATED = ("--engine", "simulated", "--nodes", "2", "--cores", "2", "--seed", "1")
NOISY = (*SIMULATED, "--noise", "shared")
QUICK = (*SIMULATED, "--quick", "--slots", "6")
JOB = """
from profiler import Cost, Operator, Source, Topology

topology = Topology.chain("{name}", Source("{source}"), Operator("work", cost=Cost(cpu_ms={cpu_ms})))
"""


@pytest.fixture(autouse=True)
def _one_process_each(tmp_path, monkeypatch):
    """Forget what a test's jobs imported, as the process of a real call would; keep locks in the test's own folder."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path / "cache"))
    yield
    for name, module in list(sys.modules.items()):
        if str(tmp_path) in str(getattr(module, "__file__", "")):
            sys.modules.pop(name)


@pytest.fixture
def store(monkeypatch):
    """Keep the history in memory."""
    kept = MemoryStore()

    @contextmanager
    def needed_history(settings, note):
        yield HistorySession(lambda: kept)

    monkeypatch.setattr(compare_run, "needed_history", needed_history)
    monkeypatch.setattr(search_run, "needed_history", needed_history)
    return kept


@pytest.fixture
def jobs(folder):
    """Two jobs, of which the second works less per row and reads from a source of another name."""

    def write(name, cpu_ms, source="rows"):
        (folder / f"{name}.py").write_text(JOB.format(name=name, source=source, cpu_ms=cpu_ms))

    write("slow", 1.0)
    write("fast", 0.7, source="lines")
    return write


def document_of(answer):
    document = json.loads(answer.stdout)
    jsonschema.validate(document, COMPARE.read())
    assert document["exit_code"] == answer.exit_code
    return document


def variant_of(document, name):
    (found,) = [each for each in document["variants"] if each["name"] == name]
    return found


def interrupted_at(monkeypatch, kind, number):
    """Press Ctrl-C at the end of a round or block."""
    genuine = CompareProgress.__call__
    seen = []

    def pressed(self, event):
        genuine(self, event)
        seen.append(event)
        if isinstance(event, kind) and sum(isinstance(each, kind) for each in seen) == number:
            raise KeyboardInterrupt

    monkeypatch.setattr(CompareProgress, "__call__", pressed)


def test_word_count_is_faster_than_the_synthetic_one(profile):
    """Exit 0; the winner with its margin, and throughput, latency, slots and rounds of both."""
    answer = profile("compare", "synthetic-word-count", "word-count", *SIMULATED, "--quick")
    assert answer.exit_code == 0, answer.stderr
    lines = answer.stdout.splitlines()
    assert lines[0] == "Compare: 2 variants on simulated, 4 blocks each"
    assert " ".join(lines[1].split()) == "# variant rows/s change interval p p50/p95/p99 ms slots rounds"
    assert lines[2].split()[:2] == ["1", "word-count"]
    assert lines[3].split()[:2] == ["2", "synthetic-word-count"]
    assert lines[-1].startswith("faster: word-count, ")
    assert "rows/s over synthetic-word-count (" in lines[-1]
    assert lines[-1].endswith("(exit 0)")
    assert max(map(len, lines[1:4])) <= 110
    for part in ("variant 1 of 2: profile synthetic-word-count", "variant 2 of 2", "word-count, block 1 of 16"):
        assert part in answer.stderr


def test_json_on_stdout_is_one_document(profile, jobs):
    """By the published schema; what it says of the margin is what the blocks say."""
    document = document_of(profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-", "--quiet"))
    assert (document["verdict"], document["fastest"]) == ("faster", ["fast.py"])
    first, second = document["variants"]
    assert (first["name"], first["rank"], second["rank"]) == ("fast.py", 1, 2)
    assert first["throughput_per_s"] / second["throughput_per_s"] == pytest.approx(
        1 / (1 + second["against_first"]["effect"])
    )
    (pair,) = document["pairs"]
    assert pair["low"] < 1 / 0.7 - 1 < pair["high"]
    assert (1 + pair["low"]) * (1 + second["against_first"]["high"]) == pytest.approx(1)
    assert {each["variant"] for each in document["blocks"]} == {"slow.py", "fast.py"}
    assert first["latency_ms"]["p95"] > 0
    assert first["cpu_us_per_row"] < second["cpu_us_per_row"]
    assert first["slots"] == sum(first["tasks"].values()) <= document["slots"] == 6


@pytest.mark.long
def test_several_variants_are_ranked(profile, jobs):
    """All pairs are told, and those without the first in words."""
    jobs("middle", 0.85)
    answer = profile("compare", "slow.py", "fast.py", "middle.py", *SIMULATED, "--no-confirm")
    assert answer.exit_code == 0, answer.stderr
    assert [line.split()[:2] for line in answer.stdout.splitlines()[2:5]] == [
        ["1", "fast.py"],
        ["2", "middle.py"],
        ["3", "slow.py"],
    ]
    assert "middle.py against slow.py: faster, +1" in answer.stdout


def test_a_job_and_itself_tie(profile, jobs, store):
    """Exit 0: that nothing differs is an answer; the second one is numbered."""
    document = document_of(profile("compare", "slow.py", "slow.py", *QUICK, "--json", "-", "--quiet"))
    assert document["verdict"] == "tie"
    assert sorted(document["fastest"]) == ["slow.py", "slow.py (2)"]
    assert "tie: they differ by less than 5%" in document["why"]


def test_noise_that_hides_the_difference_is_inconclusive(profile, jobs):
    """Exit 4, with what would have been found."""
    jobs("twin", 0.98)
    answer = profile("compare", "slow.py", "twin.py", *NOISY, "--quick", "--slots", "4", "--blocks", "3")
    assert answer.exit_code == 4, answer.stdout
    assert "can't be told apart" in answer.stdout
    assert "would have been found" in answer.stdout


@pytest.mark.long
def test_a_stored_profile_is_reused_as_long_as_it_fits(profile, jobs, store):
    """Only what changed is profiled again, and why is told; --anew profiles all."""
    first = document_of(profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-"))
    assert [each["profile"]["reused"] for each in first["variants"]] == [False, False]
    again = profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-")
    second = document_of(again)
    assert [each["profile"]["reused"] for each in second["variants"]] == [True, True]
    assert {each["profile"]["run"] for each in second["variants"]} == {
        each["profile"]["run"] for each in first["variants"]
    }
    assert [each["tasks"] for each in second["variants"]] == [each["tasks"] for each in first["variants"]]
    assert "loading slow.py" in again.stderr
    assert "profile slow.py" not in again.stderr
    jobs("slow", 1.1)
    changed = profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-")
    third = document_of(changed)
    assert not variant_of(third, "slow.py")["profile"]["reused"]
    assert variant_of(third, "fast.py")["profile"]["reused"]
    assert "does not fit: 'work': cost was 1 ms CPU" in changed.stderr
    fourth = document_of(profile("compare", "slow.py", "fast.py", *QUICK, "--anew", "--json", "-"))
    assert [each["profile"]["reused"] for each in fourth["variants"]] == [False, False]


def test_the_profile_of_a_run_is_reused(profile, jobs, store):
    """Whoever made it."""
    ran = json.loads(profile("run", "slow.py", *QUICK, "--json", "-").stdout)
    document = document_of(profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-"))
    slow = variant_of(document, "slow.py")
    assert (slow["profile"]["run"], slow["profile"]["reused"]) == (ran["run"], True)
    assert (slow["tasks"], slow["profile"]["rounds"]) == (ran["best"]["tasks"], len(ran["rounds"]))
    assert not variant_of(document, "fast.py")["profile"]["reused"]


@pytest.mark.long
def test_a_profile_whose_time_was_up_is_reused_and_left_as_it_is(profile, jobs, store):
    """It has an answer, as most of those on Spark; that not all was searched is told."""
    ran = json.loads(profile("run", "slow.py", *QUICK, "--budget", "1ms", "--json", "-").stdout)
    (cut,) = store.find_runs(state=RunState.CUT_SHORT)
    kept = store.result(cut.run.id)
    answer = profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-")
    document = document_of(answer)
    slow = variant_of(document, "slow.py")
    assert (slow["profile"]["run"], slow["profile"]["reused"], slow["profile"]["complete"]) == (ran["run"], True, False)
    assert "its time was up before all was searched, --anew searches again" in answer.stderr
    assert "slow.py: the time was up before its best configuration was found" in document["warnings"]
    assert store.result(cut.run.id) == kept
    anew = profile("run", "slow.py", *QUICK, "--json", "-")
    later = profile("run", "slow.py", *QUICK, "--budget", "1ms")
    assert (anew.exit_code, later.exit_code) == (0, 0)
    slow = variant_of(document_of(profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-")), "slow.py")
    assert (slow["profile"]["run"], slow["profile"]["complete"]) == (json.loads(anew.stdout)["run"], True)


@pytest.mark.long
@pytest.mark.parametrize(("flags", "limits", "budget_s"), [((), (220, 330), None), (("--quick",), (None, None), 210)])
def test_on_spark_a_search_ends_as_that_of_a_profile_does(profile, jobs, store, monkeypatch, flags, limits, budget_s):
    """Where no budget is set."""
    made = []

    class Seen(session.Loop):
        def run(self, history=()):
            made.append(self)
            return super().run(history)

    limits_of = terms.time_limits

    def on_spark(settings):
        return limits_of(replace(settings, engine=EngineName.SPARK))

    monkeypatch.setattr(session, "Loop", Seen)
    monkeypatch.setattr(terms, "time_limits", on_spark)
    assert profile("compare", "slow.py", "fast.py", *SIMULATED, "--slots", "6", *flags).exit_code == 0
    assert {(each.limits.search_s, each.limits.confirmed_s) for each in made} == {limits}
    assert {each.budget_s for each in made} == {budget_s}


OTHERWISE = {
    "other slots": (("--slots", "5"), "slots: was 6, is 5"),
    "another constraint": (("--latency", "200ms"), "latency: was 500ms, is 200ms"),
    "more windows": (("--no-quick", "--windows", "8", "--no-confirm"), "windows per round: were 5, are 8"),
    "another policy": (("--policy", "ds2"), "policy: was stepwise, is ds2"),
}


@pytest.mark.long
@pytest.mark.parametrize("otherwise", OTHERWISE)
def test_a_profile_of_another_question_does_not_fit(otherwise, profile, jobs, store):
    """The answer might be another one."""
    profile("compare", "slow.py", "fast.py", *QUICK)
    flags, why = OTHERWISE[otherwise]
    answer = profile("compare", "slow.py", "fast.py", *QUICK, *flags, "--json", "-")
    assert [each["profile"]["reused"] for each in document_of(answer)["variants"]] == [False, False]
    assert why in answer.stderr


@pytest.mark.long
def test_an_interrupted_profile_goes_on(profile, jobs, store, monkeypatch):
    """Ctrl-C after the second variant's first round: the first variant's profile and that round are kept."""
    whole = document_of(profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-"))
    rounds = variant_of(whole, "slow.py")["profile"]["rounds"]
    for found in store.find_runs(kind=None):
        store.delete_run(found.run.id)
    with monkeypatch.context() as patch:
        interrupted_at(patch, RoundDecided, rounds + 1)
        broken = profile("compare", "slow.py", "fast.py", *QUICK)
    assert broken.exit_code == 130
    assert "What was measured is kept: call the same again to go on after it." in broken.stderr
    (unfinished,) = store.find_runs(state=RunState.UNFINISHED)
    assert unfinished.run.topology == "fast"
    answer = profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-")
    document = document_of(answer)
    assert variant_of(document, "slow.py")["profile"]["reused"]
    assert variant_of(document, "fast.py")["profile"]["run"] == unfinished.run.id
    assert f"going on with run {unfinished.run.id}" in answer.stderr
    assert "round 1: start" not in answer.stderr.split(f"going on with run {unfinished.run.id}")[1].split("compare ")[0]


def test_interrupted_blocks_are_kept(profile, jobs, store, monkeypatch):
    """Ctrl-C after the fifth block: the next call measures what is missing, and says so."""
    with monkeypatch.context() as patch:
        interrupted_at(patch, BlockMeasured, 5)
        assert profile("compare", "slow.py", "fast.py", *QUICK).exit_code == 130
    (unfinished,) = store.find_runs(kind=RunKind.COMPARE)
    assert (unfinished.state, unfinished.blocks) == (RunState.UNFINISHED, 4)
    answer = profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-")
    document = document_of(answer)
    assert f"going on with comparison {unfinished.run.id}" in answer.stderr
    assert document["run"] == unfinished.run.id
    assert "block 4 of" not in answer.stderr
    assert "block 5 of 16" in answer.stderr
    assert len(document["blocks"]) == 8
    assert any("blocks 1 to 4 are of a session that was interrupted" in warning for warning in document["warnings"])
    (ended,) = store.find_runs(kind=RunKind.COMPARE)
    assert (ended.state, ended.gate.verdict) == (RunState.FINISHED, "faster")


def test_blocks_of_other_code_are_not_gone_on_with(profile, jobs, store, monkeypatch):
    """They would be compared with something else."""
    with monkeypatch.context() as patch:
        interrupted_at(patch, BlockMeasured, 5)
        profile("compare", "slow.py", "fast.py", *QUICK)
    jobs("slow", 1.1)
    answer = profile("compare", "slow.py", "fast.py", *QUICK)
    assert "going on with comparison" not in answer.stderr
    assert "block 1 of 16" in answer.stderr


@pytest.mark.long
@pytest.mark.parametrize("otherwise", ["other messages", "another Spark setting"])
def test_blocks_of_other_rows_or_settings_are_not_gone_on_with(otherwise, profile, jobs, store, folder, monkeypatch):
    """A row of one session may be more work than a row of the other."""
    (folder / "lines.jsonl").write_text("a\n")
    flags = ("--payloads", "lines.jsonl", "--conf", "spark.a=1")
    with monkeypatch.context() as patch:
        interrupted_at(patch, BlockMeasured, 5)
        assert profile("compare", "slow.py", "fast.py", *QUICK, *flags).exit_code == 130
    if otherwise == "other messages":
        (folder / "lines.jsonl").write_text("a longer one\n")
    else:
        flags = (*flags[:-1], "spark.a=2")
    answer = profile("compare", "slow.py", "fast.py", *QUICK, *flags)
    assert "going on with comparison" not in answer.stderr
    assert "block 1 of 16" in answer.stderr


def test_equal_slots_are_those_of_the_most_frugal(profile, jobs, folder):
    """The other is profiled again within them."""
    (folder / "waits.py").write_text(JOB.format(name="waits", source="rows", cpu_ms="0.01, wait_ms=20"))
    jobs("bound", 4.0)
    answer = profile(
        "compare", "waits.py", "bound.py", *SIMULATED, "--quick", "--equal-slots", "--json", "-", "--slots", "24"
    )
    document = document_of(answer)
    assert variant_of(document, "bound.py")["slots"] == document["slots"] < 24
    assert variant_of(document, "waits.py")["slots"] <= document["slots"]
    assert f"variant 1 of 2, with {document['slots']} slots: profile waits.py" in answer.stderr


def test_a_history_that_did_not_take_all_of_it_is_exit_3_in_the_document_too(profile, jobs, store, monkeypatch):
    """With the ranking as ever."""

    def fail(*_):
        raise StoreFailed("MongoDB at nowhere does not answer.", hint="Check that it runs.")

    monkeypatch.setattr(store, "save_result", fail)
    monkeypatch.setattr(keeper, "Patience", partial(keeper.Patience, at_close_s=0.1))
    document = document_of(profile("compare", "slow.py", "fast.py", *QUICK, "--json", "-"))
    assert (document["exit_code"], document["verdict"]) == (3, "faster")


def test_variants_that_read_different_data_are_doubted(profile, jobs, folder):
    """A row of one may be more work than a row of another."""
    job = JOB.format(name="other", source="rows", cpu_ms=1.0).replace(
        'Source("rows")', 'Source("rows", payloads="b.txt")'
    )
    (folder / "other.py").write_text(job)
    document = document_of(profile("compare", "slow.py", "other.py", *QUICK, "--json", "-", "--quiet"))
    assert any("the variants read different data" in warning for warning in document["warnings"])


def test_a_budget_ends_it_in_time(profile, jobs):
    """What it could not measure is told; nothing is claimed."""
    document = document_of(profile("compare", "slow.py", "fast.py", *QUICK, "--budget", "1ms", "--json", "-"))
    assert (document["verdict"], document["complete"]) == ("inconclusive", False)
    assert sum("the time was up" in warning for warning in document["warnings"]) == 3


def test_reports_are_written(profile, jobs, folder, monkeypatch):
    """CSV with a line per variant, Markdown, JSON, and the summary of a CI step."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    exports = [part for kind in ("csv", "md", "json") for part in ("--export", f"{kind}=compare.{kind}")]
    assert profile("compare", "slow.py", "fast.py", *QUICK, *exports).exit_code == 0
    rows = list(csv.DictReader((folder / "compare.csv").read_text().splitlines()))
    assert [(row["rank"], row["variant"], row["verdict"]) for row in rows] == [
        ("1", "fast.py", ""),
        ("2", "slow.py", "slower"),
    ]
    assert float(rows[1]["effect"]) == pytest.approx(-0.3, abs=0.04)
    assert rows[0]["tasks"] == "lines=2 work=4"
    markdown = (folder / "compare.md").read_text()
    assert "| 1 | fast.py |" in markdown
    assert "**faster**: fast.py, +" in markdown
    assert (folder / "summary.md").read_text() == markdown
    jsonschema.validate(json.loads((folder / "compare.json").read_text()), COMPARE.read())


def test_variants_may_have_neighbours_of_the_same_name(profile, folder):
    """Two folders with a job and its costs each: every job gets its own."""
    job = JOB.format(name="job", source="rows", cpu_ms="WORK_MS").replace(
        "from profiler", "from costs import WORK_MS\nfrom profiler", 1
    )
    for place, cost in (("one", 1.0), ("two", 0.5)):
        (folder / place).mkdir()
        (folder / place / "job.py").write_text(job)
        (folder / place / "costs.py").write_text(f"WORK_MS = {cost}\n")
    document = document_of(profile("compare", "one/job.py", "two/job.py", *QUICK, "--json", "-", "--quiet"))
    assert document["fastest"] == ["two/job.py"]
    assert document["pairs"][0]["effect"] == pytest.approx(1.0, abs=0.1)


WRONG = {
    "one alone": (["linear"], "There is nothing to compare 'linear' with. Name two or more: profile compare A B."),
    "an unknown workload": (["linear", "linaer"], "There is no workload 'linaer'. Did you mean 'linear'?"),
    "too few slots": (["linear", "star", "--slots", "2"], "Topology 'linear' needs at least"),
    "too few blocks": (["linear", "star", "--blocks", "1"], "--blocks is '1', not a whole number from 2 to 100."),
    "an unknown format": (["linear", "star", "--export", "junit=a.xml"], "The result can't be exported as junit."),
    "a file that can't be written": (
        ["linear", "star", "--json", "no/such/folder.json"],
        "--json no/such/folder.json can't",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_usage_is_one_sentence(wrong, profile, refused):
    """Exit 2, before anything is measured."""
    arguments, sentence = WRONG[wrong]
    assert refused(profile("compare", *arguments, *SIMULATED, "--quiet")).startswith(sentence)
