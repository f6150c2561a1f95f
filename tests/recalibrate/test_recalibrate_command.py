"""`profile recalibrate` on the simulated engine, as a user calls it: what changed, what is repeated, what is kept."""

from __future__ import annotations

import json
import re
import sys
from copy import deepcopy
from functools import partial

import jsonschema
import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.history import keeper
from profiler.history.fingerprint.fingerprint import fingerprint_document
from profiler.history.records import RunState
from profiler.history.store import StoreFailed
from profiler.job.loading import load_topology
from profiler.questions.fingerprints import as_asked, asked_of, foreseen_fingerprint
from profiler.questions.schemas import PROFILE, RECALIBRATE
from profiler.questions.search import terms
from profiler.questions.search.document import read_profile
from profiler.questions.search.holding import rate_that_holds
from profiler.questions.search.loop import TimeLimits
from profiler.settings.sources import resolve

JOB = """
from profiler import Cost, Operator, Source, Topology

STOP = ("the", "a")

def split(rows):
    return [word for row in rows for word in row.split() if word not in STOP]

def count(rows):
    return len(rows)

topology = Topology.chain(
    "words",
    Source("lines", payloads="lines.jsonl"),
    Operator("split", split, cost=Cost(cpu_ms=0.05, wait_ms=1.0), selectivity=4.0, output="workload"),
    Operator("count", count, cost=Cost(cpu_ms=0.02, wait_ms=0.5), stateful=True, key="word"),
)
"""
STRICTER_JOB = JOB.replace('key="word"),', 'key="word"),\n    latency_ms=200,')
SIMULATED = ("--engine", "simulated", "--nodes", "2", "--cores", "4", "--no-confirm")
LINE = "four words in a line of text\n"


@pytest.fixture(autouse=True)
def _one_process_each(tmp_path, monkeypatch):
    """Forget what a test's jobs imported, as the process of a real call would; keep its leftovers in its own cache."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PROFILE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def job(folder):
    """Write the job and its data; both may be written again."""

    def write(text=JOB, line=LINE):
        (folder / "job.py").write_text(text)
        (folder / "lines.jsonl").write_text(line * 2000)

    write()
    return write


@pytest.fixture(scope="module")
def made():
    """What the only profile of this file left in the history, and its document."""
    return {}


@pytest.fixture
def profiled(profile, job, store, folder, made):
    """Keep a profile of the job, which is searched once for all tests; give the name of its run."""
    if not made:
        # A simulated run is kept only where a database is named; here it is in memory.
        run = profile("run", "job.py", *SIMULATED, "--mongo", "mongodb://nowhere", "--json", "profile.json")
        assert run.exit_code == 0, run.stderr
        made.update(history=deepcopy(vars(store)), document=(folder / "profile.json").read_text())
    vars(store).update(deepcopy(made["history"]))
    (folder / "profile.json").write_text(made["document"])
    (found,) = store.find_runs()
    return found.run.id


@pytest.fixture
def recalibrated(profile, profiled):
    """Recalibrate and give the document, which keeps its schema."""

    def run(*arguments, code=0):
        answer = profile("recalibrate", *arguments, "--mongo", "mongodb://nowhere", "--no-confirm", "--json", "-")
        assert answer.exit_code == code, answer.stderr
        document = json.loads(answer.stdout)
        jsonschema.validate(document, RECALIBRATE.read())
        if document["result"] is not None:
            jsonschema.validate(document["result"], PROFILE.read())
        return document

    return run


def steps(document):
    return [outcome["step"] for outcome in document["result"]["rounds"]]


def test_an_unchanged_job_is_confirmed_in_two_rounds_at_the_most(recalibrated, profiled, store):
    """With the settings of the profile, which need not be given again; the confirmation is kept as a profile too."""
    document = recalibrated()
    assert (document["verdict"], document["scope"], document["differences"]) == ("confirmed", "confirm", [])
    assert document["profile"]["run"] == profiled
    assert document["rounds"] <= 2
    assert set(steps(document)) == {"stored"}
    assert document["again"]["standing"] == "as good as stored"
    assert store.load_run(document["result"]["run"]).state is RunState.FINISHED
    assert store.load_run(profiled).answer is not None


def test_the_whole_is_told_on_a_terminal(profile, profiled):
    """What changed, what is repeated, the rounds, the verdict with its exit code."""
    answer = profile("recalibrate", "--mongo", "mongodb://nowhere", "--no-confirm", "--slots", "16")
    assert answer.exit_code == 0, answer.stderr
    for part in ("Recalibrate: words on simulated", "slots: was 32, is 16", "steps 2 and 3", "(exit 0)"):
        assert part in answer.stdout
    assert "the platform changed" in answer.stderr


def test_a_history_that_did_not_take_all_of_it_is_exit_3_in_the_document_too(recalibrated, store, monkeypatch):
    """With the verdict as ever."""

    def fail(*_):
        raise StoreFailed("MongoDB at nowhere does not answer.", hint="Check that it runs.")

    monkeypatch.setattr(store, "save_result", fail)
    monkeypatch.setattr(keeper, "Patience", partial(keeper.Patience, at_close_s=0.1))
    document = recalibrated(code=3)
    assert (document["exit_code"], document["verdict"]) == (3, "confirmed")


def test_slots_halved_repeat_steps_two_and_three_only(recalibrated):
    """The features of the profile are kept, also for a recalibration after that."""
    document = recalibrated("--slots", "16")
    assert (document["scope"], document["steps"]) == ("platform", [2, 3])
    assert [each["what"] for each in document["differences"]] == ["slots: was 32, is 16"]
    assert "features" not in steps(document)
    assert document["result"]["best"]["slots"] <= 16
    again = recalibrated("--slots", "12")
    assert again["scope"] == "platform"
    assert "features" not in steps(again)


def test_changed_code_repeats_all_steps(recalibrated, job):
    """It names the operator, and what of it changed."""
    job(JOB.replace('"the", "a"', '"the"'))
    document = recalibrated()
    assert (document["scope"], document["steps"]) == ("all", [1, 2, 3])
    assert document["differences"] == [{"part": "application", "what": "'split': code of STOP changed"}]
    assert steps(document)[0] == "features"


def test_a_changed_constraint_of_the_code_repeats_steps_two_and_three(recalibrated, job):
    """It is another question; whoever asks by a flag is answered by that."""
    job(STRICTER_JOB)
    document = recalibrated()
    assert [each["what"] for each in document["differences"]] == ["latency: was 500ms, is 200ms"]
    assert (document["scope"], document["steps"]) == ("platform", [2, 3])
    assert recalibrated("--dry-run")["differences"] == []
    job()
    assert [each["what"] for each in recalibrated(document["result"]["run"], "--dry-run")["differences"]] == [
        "latency: was 200ms, is 500ms"
    ]
    assert recalibrated(document["profile"]["run"], "--dry-run", "--latency", "500ms")["differences"] == []


def test_a_constraint_that_was_asked_for_stays_whatever_the_code_states(recalibrated, job, profiled):
    """Settings of a profile hold; a change of what they set aside changes nothing."""
    asked = recalibrated("--latency", "300ms")["result"]["run"]
    job(STRICTER_JOB)
    assert recalibrated(asked, "--dry-run")["differences"] == []


def test_a_profile_of_before_the_code_s_constraint_was_kept_is_asked_about_as_it_was(
    recalibrated, job, store, profiled
):
    """Nobody knows whether it was the code's."""
    result = store.result(profiled)
    del result["fingerprint"]["own_latency"]
    store.save_result(profiled, result)
    job(STRICTER_JOB)
    assert recalibrated("--dry-run")["differences"] == []


def test_longer_messages_repeat_step_one(recalibrated, job):
    """Where the features stay as they were, that is all, and the stored answer is confirmed."""
    job(line="twelve words in a line of text that is three times as long as before, or even longer\n")
    document = recalibrated()
    assert (document["scope"], document["verdict"]) == ("features", "confirmed")
    assert "bytes on average" in document["differences"][0]["what"]
    assert document["moved"] == []
    assert steps(document) == ["features", "stored"]


def test_longer_messages_with_more_words_repeat_what_follows_from_it(recalibrated, job):
    """The features moved, so steps 2 and 3 are repeated; the ratio that was measured is told."""
    job(JOB.replace("selectivity=4.0", "selectivity=12.0"), line=LINE * 3)
    document = recalibrated()
    assert (document["scope"], document["verdict"]) == ("features", "changed")
    assert "count" in {each["operator"] for each in document["moved"]}
    assert steps(document)[0] == "features"
    assert "platform" in steps(document)
    assert any("rows out per row in were measured" in each["what"] for each in document["differences"])


def test_the_nearest_stored_profile_gives_the_warm_start(recalibrated, job, profiled):
    """Code that was rolled back finds its old profile, although a newer one is asked about."""
    job(JOB.replace('"the", "a"', '"the"'))
    newer = recalibrated()["result"]["run"]
    job()
    document = recalibrated(newer)
    assert document["profile"]["run"] == newer
    assert document["warm_start"]["run"] == profiled
    assert document["differences"] != []
    assert (document["scope"], document["warm_start"]["differences"]) == ("confirm", [])


def test_a_dry_run_measures_nothing(recalibrated, store, monkeypatch):
    """It tells what changed and what would be repeated, and keeps nothing."""
    monkeypatch.setattr(SimulatedEngine, "deploy", lambda *_, **__: pytest.fail("it was deployed"))
    document = recalibrated("--slots", "16", "--dry-run")
    assert (document["dry_run"], document["verdict"], document["result"]) == (True, None, None)
    assert document["scope"] == "platform"
    assert len(store.find_runs()) == 1


def test_a_dry_run_on_spark_starts_nothing(profile, profiled, store, folder):
    """What a local master would be is known without one: unchanged, and with other slots."""
    document = json.loads((folder / "profile.json").read_text())
    settings = resolve({"master": "local[20]"}, {}, folder)
    before = read_profile(document).fingerprint
    taken = foreseen_fingerprint(load_topology("job.py"), "job.py", settings, before)
    spark = {**document, "engine": "spark", "fingerprint": fingerprint_document(taken)}
    (folder / "spark.json").write_text(json.dumps(spark))
    told = [
        json.loads(profile("recalibrate", "spark.json", "--dry-run", "--quiet", "--json", "-", *more).stdout)
        for more in ((), ("--master", "local[10]"))
    ]
    assert [each["scope"] for each in told] == ["confirm", "platform"]
    assert [each["what"] for each in told[1]["differences"]] == ["slots: was 20, is 10"]


def test_settings_of_a_profile_hold_unless_others_are_made(folder):
    """Whatever kind of value they have; what says how to report is not among them."""
    stored = asked_of(resolve({"latency": "100ms", "slots": "7", "conf": ["spark.a=1", "spark.b=2"]}, {}, folder))
    assert "json" not in stored
    settings = as_asked(resolve({"slots": "9"}, {"PROFILE_WINDOWS": "4"}, folder), stored)
    assert (settings.latency_ms, settings.slots, settings.windows) == (100, 9, 4)
    assert settings.conf == ("spark.a=1", "spark.b=2")
    assert settings.prefill is None


def test_a_new_answer_is_confirmed_in_blocks_and_verified(profile, profiled, job):
    """As that of a new profile is."""
    job(JOB.replace("selectivity=4.0", "selectivity=12.0"))
    answer = profile("recalibrate", "profile.json")
    assert answer.exit_code == 0, answer.stderr
    assert "changed: " in answer.stdout
    assert "in blocks" in answer.stdout
    assert re.search(r"holds +[\d,]+ rows/s in batches of 5 min", answer.stdout)
    assert "Settings to paste" in answer.stdout


def test_the_rate_of_a_new_answer_is_looked_for_within_the_budget(profile, profiled, job, monkeypatch):
    """A handful of batches of half a minute would outlast it otherwise."""
    deadlines = []

    def watched(*told, **more):
        deadlines.append(more["deadline"])
        return rate_that_holds(*told, **more)

    monkeypatch.setattr("profiler.questions.recalibrate.run.rate_that_holds", watched)
    job(JOB.replace("selectivity=4.0", "selectivity=12.0"))
    answer = profile("recalibrate", "profile.json", "--budget", "10m")
    assert answer.exit_code == 0, answer.stderr
    (deadline,) = deadlines
    assert 0 < deadline.left_s < 600


def test_a_profile_without_a_fingerprint_repeats_all_steps_and_says_so(recalibrated, store, profiled):
    """As older versions stored them; where the job is has to be said then."""
    document = store.result(profiled)
    del document["fingerprint"]
    store.save_result(profiled, document)
    told = recalibrated(profiled, "--topology", "job.py", "--nodes", "2", "--cores", "4")
    assert told["scope"] == "all"
    assert "without a fingerprint" in told["why"]
    assert "no fingerprint" in told["warnings"][0]


def test_where_an_old_profiles_job_is_must_be_said(profile, store, profiled, refused):
    """A workload's name would say it by itself."""
    document = store.result(profiled)
    del document["fingerprint"]
    store.save_result(profiled, document)
    assert "--topology" in refused(profile("recalibrate", profiled, "--mongo", "mongodb://nowhere", "--quiet"))


@pytest.mark.parametrize("end", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_recalibration_is_gone_on_with_by_the_next_call(
    recalibrated, profile, store, profiled, monkeypatch, end
):
    """Rounds that were measured are not measured again, and nothing that was stored before is lost."""
    before = store.result(profiled)
    genuine, deployed = SimulatedEngine.deploy, []

    def deploy(self, topology, configuration, *rest, **more):
        deployed.append(configuration)
        if len(deployed) == 3:
            raise end("the machine is gone")
        return genuine(self, topology, configuration, *rest, **more)

    monkeypatch.setattr(SimulatedEngine, "deploy", deploy)
    broken = profile("recalibrate", "--mongo", "mongodb://nowhere", "--no-confirm", "--slots", "40")
    assert broken.exit_code == (130 if end is KeyboardInterrupt else 3)
    assert "goes on after them" in broken.stderr
    (open_run,) = store.find_runs(state=RunState.UNFINISHED)
    assert open_run.rounds == 2
    assert store.result(profiled) == before
    interrupted = deployed.copy()
    document = recalibrated("--slots", "40")
    assert document["result"]["run"] == open_run.run.id
    assert deployed[3] == interrupted[2]
    assert store.find_runs(state=RunState.UNFINISHED) == []


@pytest.mark.parametrize("otherwise", [("--slots", "36"), ("--slots", "40", "--conf", "spark.locality.wait=1s")])
def test_an_interrupted_one_of_another_question_is_left_alone(otherwise, recalibrated, profile, store, monkeypatch):
    """Its rounds would be an answer to something else, or rows of it cost another amount."""
    genuine, deployed = SimulatedEngine.deploy, []

    def deploy(self, *rest, **more):
        deployed.append(rest)
        if len(deployed) == 2:
            raise KeyboardInterrupt
        return genuine(self, *rest, **more)

    monkeypatch.setattr(SimulatedEngine, "deploy", deploy)
    profile("recalibrate", "--mongo", "mongodb://nowhere", "--no-confirm", "--slots", "40")
    (open_run,) = store.find_runs(state=RunState.UNFINISHED)
    assert recalibrated(*otherwise)["result"]["run"] != open_run.run.id


def test_a_budget_that_is_over_is_inconclusive(recalibrated, job):
    """Exit 4: the next call goes on, and does not take what was cut short for a profile of today's job."""
    job(JOB.replace('"the", "a"', '"the"'))
    document = recalibrated("--budget", "1ms", code=4)
    assert document["verdict"] == "inconclusive"
    assert document["rounds"] == 1
    again = recalibrated()
    assert again["profile"]["run"] == document["profile"]["run"]
    assert again["result"]["run"] == document["result"]["run"]
    assert again["differences"]
    assert again["rounds"] > 1


def test_a_search_ends_by_the_limits_of_a_profile(recalibrated, job, monkeypatch):
    """Those of Spark, where no budget is set."""
    job(JOB.replace('"the", "a"', '"the"'))
    monkeypatch.setattr(terms, "time_limits", lambda settings: TimeLimits(search_s=1e-3))
    assert recalibrated(code=4)["rounds"] == 1


def test_a_profile_that_was_cut_short_is_one_where_there_is_no_other(profile, job, store):
    """It has an answer, so the history is not said to be empty; a recalibration of it does not take its place."""
    profile("run", "job.py", *SIMULATED, "--mongo", "mongodb://nowhere", "--budget", "1ms")
    (cut,) = store.find_runs(state=RunState.CUT_SHORT)
    job(JOB.replace('"the", "a"', '"the"'))
    for codes in ({4}, {0, 4}):  # the second one goes on with the first, and a search of two rounds ends with it
        answer = profile(
            "recalibrate", "--mongo", "mongodb://nowhere", "--no-confirm", "--budget", "1ms", "--json", "-"
        )
        assert answer.exit_code in codes, answer.stderr
        assert json.loads(answer.stdout)["profile"]["run"] == cut.run.id


def test_the_newest_profile_is_meant_although_its_time_was_up(profile, recalibrated, job, profiled, store):
    """On Spark that is the usual one; it gives the warm start of today's code, too."""
    job(JOB.replace('"the", "a"', '"the"'))
    profile("run", "job.py", *SIMULATED, "--mongo", "mongodb://nowhere", "--budget", "1ms")
    (cut,) = store.find_runs(state=RunState.CUT_SHORT)
    document = recalibrated("--dry-run")
    assert (document["profile"]["run"], document["differences"]) == (cut.run.id, [])
    older = recalibrated(profiled, "--dry-run")
    assert older["profile"]["run"] == profiled
    assert older["scope"] == "confirm"


def test_a_profile_in_a_file_needs_no_database(profile, profiled, folder):
    """What `profile run --json` wrote is enough on the simulated engine."""
    exports = ("--export", "md=out.md", "--export", "csv=out.csv")
    answer = profile("recalibrate", "profile.json", "--no-confirm", *exports)
    rounds = (folder / "out.csv").read_text().splitlines()
    assert rounds[0].startswith("number,step,action,tasks,rows_per_s")
    assert rounds[1].startswith("1,")
    assert answer.exit_code == 0, answer.stderr
    assert "confirmed: " in answer.stdout
    assert "**confirmed: " in (folder / "out.md").read_text()


def test_a_topologys_name_means_its_newest_profile(recalibrated, profiled):
    """And so does no name at all."""
    first = recalibrated("words")
    assert first["profile"]["run"] == profiled
    assert recalibrated()["profile"]["run"] == first["result"]["run"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing",), "no run 'nothing'"),
        (("missing.json",), "can't be read"),
        (("job.json",), "is no profile"),
        (("--engine", "spark"), "no profile"),
        (("profile.json", "--engine", "spark"), "was made on simulated"),
        (("--topology", "linear"), "is 'linear'"),
        (("--topology", "gone.py"), "no file 'gone.py'"),
        (("--dry-run", "--watch"), "exclude each other"),
        (("--job", "x"), "belong to --watch"),
        (("--watch", "--queue", "many"), "--queue is 'many'"),
        (("--watch",), "is under way"),
        (("--watch", "--job", "job.jsonl"), "There is no file 'job.jsonl' to follow."),
        (("--export", "junit=x.xml"), "can't be exported"),
    ],
)
def test_wrong_usage_is_refused_in_one_sentence(profile, profiled, folder, refused, arguments, said):
    """Exit code 2, before anything is measured."""
    (folder / "job.json").write_text("[]")
    assert said in refused(profile("recalibrate", *arguments, "--mongo", "mongodb://nowhere", "--quiet"))


def test_a_job_that_moved_is_asked_for(profile, profiled, folder, refused):
    """The profile remembers where it was."""
    (folder / "job.py").rename(folder / "moved.py")
    assert "--topology" in refused(profile("recalibrate", "--mongo", "mongodb://nowhere", "--quiet"))
    answer = profile("recalibrate", "--topology", "moved.py", "--mongo", "mongodb://nowhere", "--no-confirm")
    assert "nothing changed" in answer.stdout
