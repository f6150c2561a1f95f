"""`profile recalibrate --watch`: the queue and the latency of a running job are followed, what lasts is told."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from profiler.experiment.events import Phase
from profiler.questions.recalibrate import watch_run
from profiler.services.run_folder import cache_directory
from profiler.services.run_lock import place_of


@pytest.fixture
def profiled(profile, store):
    """Keep a profile; give the name of its run."""
    # A simulated run is kept only where a database is named; here it is in memory.
    arguments = ("--engine", "simulated", "--quick", "--mongo", "mongodb://nowhere", "--json", "profile.json")
    made = profile("run", "word-count", *arguments)
    assert made.exit_code == 0, made.stderr
    (found,) = store.find_runs()
    return found.run.id


def windows(*values, latency_ms=100):
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    return "".join(
        json.dumps(
            {"at": (noon + timedelta(seconds=3 * number)).isoformat(), "queue_rows": value, "latency_ms": latency_ms}
        )
        + "\n"
        for number, value in enumerate(values)
    )


def watched(profile, *arguments):
    return profile("recalibrate", "profile.json", "--watch", "--window", "1ms", "--budget", "20ms", *arguments)


def test_a_watch_recommends_what_lasts_and_only_that(profile, profiled, folder):
    """A queue above its limit for the period; the command to call is named."""
    (folder / "job.jsonl").write_text(windows(*[50] * 5, *[5000] * 5, *[50] * 30))
    arguments = ("--job", "job.jsonl", "--queue", "1000", "--period", "30s")
    quiet = watched(profile, *arguments)
    assert (quiet.exit_code, "nothing too high" in quiet.stdout) == (0, True)
    (folder / "job.jsonl").write_text(windows(*[50] * 5, *[5000] * 15, *[50] * 15))
    loud = watched(profile, *arguments)
    assert loud.exit_code == 0
    assert "recalibrate: queue above 1,000 rows for 30 s (now 5,000 rows)" in loud.stdout
    assert f"profile recalibrate {profiled}" in loud.stdout
    assert "back to normal" in loud.stdout


def test_a_watch_knows_the_constraint_of_the_profile(profile, profiled, folder):
    """And half of a line that is still being written is not read."""
    text = windows(*[50] * 30, latency_ms=900)
    (folder / "job.jsonl").write_text(text + '{"at": "2026-03-')
    document = json.loads(watched(profile, "--job", "job.jsonl", "--period", "30s", "--json", "-").stdout)
    assert document["recommended"]
    assert [each["quantity"] for each in document["alarms"]] == ["latency"]
    assert (document["limits"]["latency_ms"], document["windows"]) == (500, 30)


def test_an_interrupted_watch_tells_what_it_saw(profile, profiled, folder, monkeypatch):
    """Ctrl-C is its usual end: exit 130, and the document is written."""
    (folder / "job.jsonl").write_text(windows(*[5000] * 30))

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(watch_run.time, "sleep", interrupt)
    arguments = ("--job", "job.jsonl", "--queue", "1000", "--period", "30s", "--json", "watch.json")
    answer = profile("recalibrate", "profile.json", "--watch", *arguments)
    assert answer.exit_code == 130
    assert json.loads((folder / "watch.json").read_text())["recommended"]


def test_a_line_that_is_no_window_is_refused(profile, profiled, folder, refused):
    """With its number."""
    (folder / "job.jsonl").write_text(windows(1) + "hello\n")
    assert "Line 2" in refused(watched(profile, "--job", "job.jsonl", "--quiet"))


@pytest.mark.parametrize("value", ["Infinity", "NaN", "-1"])
def test_a_window_that_cannot_be_is_refused(profile, profiled, folder, refused, value):
    """JSON has no such numbers, Python reads them all the same."""
    (folder / "job.jsonl").write_text(windows(1).replace('"queue_rows": 1', f'"queue_rows": {value}'))
    assert "Line 1 of job.jsonl is no window" in refused(watched(profile, "--job", "job.jsonl", "--quiet"))


def test_a_file_that_is_not_there_is_refused_before_a_database_starts(profile, refused, monkeypatch):
    """Whether a profile is named or not."""
    monkeypatch.setattr(watch_run, "history_of", None)
    assert "There is no file 'job.jsonl' to follow" in refused(
        profile("recalibrate", "--watch", "--job", "job.jsonl", "--quiet")
    )


def of_a_job(store, run, phases, **seen):
    """Return the windows of a run in these phases, and what else was seen in them, as long as a real job's are."""
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    chosen = [each for each in store.windows(run) if each.phase in phases]
    return [
        replace(each, at=noon + timedelta(seconds=30 * number), observation=replace(each.observation, **seen))
        for number, each in enumerate(chosen)
    ]


def test_a_run_in_the_history_is_followed_to_its_end(profile, profiled, store):
    """Its windows are those of the job, except where it is stressed."""
    answer = profile(
        *("recalibrate", "--watch", "--job", profiled, "--mongo", "mongodb://nowhere"),
        *("--queue", "1", "--json", "-", "--quiet"),
    )
    assert answer.exit_code == 0, answer.stderr
    calm = [each for each in store.windows(profiled) if each.phase not in watch_run.STRESSED]
    assert 0 < json.loads(answer.stdout)["windows"] == len(calm) < len(store.windows(profiled))


@pytest.mark.parametrize(("phases", "alarms"), [(watch_run.STRESSED, []), ((Phase.PROBE, Phase.CALM), ["queue"])])
def test_a_queue_that_stress_makes_on_purpose_is_no_alarm(profile, profiled, store, phases, alarms):
    """One that stays where the job should keep up is."""
    store.begin_run(replace(store.load_run(profiled).run, id="followed"))
    store.add_windows("followed", of_a_job(store, profiled, phases, queue_rows=5000.0))
    answer = profile(
        *("recalibrate", profiled, "--watch", "--job", "followed", "--mongo", "mongodb://nowhere"),
        *("--queue", "1000", "--period", "60s", "--json", "-", "--quiet"),
    )
    assert answer.exit_code == 0, answer.stderr
    assert [each["quantity"] for each in json.loads(answer.stdout)["alarms"]] == alarms


def test_a_watch_ends_with_a_run_that_was_killed(profile, profiled, store):
    """Nobody measures it any more, so nothing new will come; it is not waited for."""
    found = store.load_run(profiled).run
    store.begin_run(replace(found, id="killed", place=place_of(cache_directory())))
    store.add_windows("killed", of_a_job(store, profiled, (Phase.PROBE,))[:2])
    answer = profile("recalibrate", profiled, "--watch", "--job", "killed", "--mongo", "mongodb://nowhere")
    assert answer.exit_code == 0, answer.stderr
    assert "Run killed was interrupted" in answer.stderr
    assert "2 windows" in answer.stdout
