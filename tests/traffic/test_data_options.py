"""`--payloads`, `--prefill`, `--conf` and `capture`: what is refused, and what a check tells of a file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from profiler.errors import UsageError
from profiler.job.loading import load_topology
from profiler.settings.declarations import Settings
from profiler.settings.spark_conf import spark_settings
from profiler.settings.user_payloads import with_payloads

SIMULATED = ("--engine", "simulated", "--nodes", "3", "--cores", "2", "--quick")


@pytest.fixture
def lines(folder: Path) -> Path:
    """Forty messages, half of them with the key `ann`."""
    path = folder / "lines.jsonl.gz"
    messages = [json.dumps({"key": "ann" if number % 2 else f"u{number}", "value": "x" * 50}) for number in range(40)]
    path.write_bytes(gzip.compress("\n".join(messages).encode()))
    return path


def test_a_file_takes_the_place_of_every_source_s_data(folder, lines):
    star = with_payloads(load_topology("star"), Settings(payloads=(lines.name,)))
    assert [source.payloads for source in star.sources] == [lines.name, lines.name]
    assert star.names == load_topology("star").names


def test_a_named_source_gets_its_own(folder, lines):
    """Whatever the order; the others keep theirs, or what is given for all."""
    (folder / "more.jsonl").write_text("a\n")
    settings = Settings(payloads=("right=more.jsonl", lines.name))
    assert [each.payloads for each in with_payloads(load_topology("star"), settings).sources] == [
        lines.name,
        "more.jsonl",
    ]
    alone = with_payloads(load_topology("star"), Settings(payloads=("right=more.jsonl",)))
    assert [each.payloads for each in alone.sources] == ["tweets", "more.jsonl"]


def test_a_file_name_with_an_equals_sign_is_a_file(folder):
    (folder / "left=1.jsonl").write_text("a\n")
    star = with_payloads(load_topology("star"), Settings(payloads=("left=1.jsonl",)))
    assert {each.payloads for each in star.sources} == {"left=1.jsonl"}


@pytest.mark.parametrize(
    ("payloads", "said"),
    [
        ("missing.jsonl", "'missing.jsonl', which is neither a file nor known data"),
        ("left=missing.jsonl", "'missing.jsonl', which is neither a file nor known data"),
        ("lft=lines.jsonl.gz", "Did you mean 'left'?"),
    ],
)
def test_payloads_that_are_not_there_are_refused(profile, refused, lines, payloads, said):
    for command in ("run", "check"):
        assert said in refused(profile(command, "star", "--payloads", payloads))


def test_check_tells_what_a_file_holds(profile, lines):
    """How many, how large, and the key that most of them have."""
    answer = profile("check", "word-count", "--no-spark", "--payloads", lines.name)
    assert answer.exit_code == 0, answer.stderr
    assert "Payloads of tweets: 40 messages of lines.jsonl.gz, 50 bytes on average, 100% with a key" in answer.stdout
    assert "most frequent one in 50%" in answer.stdout
    document = json.loads(profile("check", "word-count", "--no-spark", "--payloads", lines.name, "--json").stdout)
    assert document["payloads"]["tweets"]["messages"] == 40
    assert json.loads(profile("check", "word-count", "--no-spark", "--json").stdout)["payloads"] is None


def test_check_tells_of_a_file_of_one_message(profile, folder):
    (folder / "one.jsonl").write_text("x\n")
    told = profile("check", "word-count", "--no-spark", "--payloads", "one.jsonl").stdout
    assert "Payloads of tweets: 1 message of one.jsonl, 1 byte on average, no keys." in told


def test_check_refuses_a_file_that_cannot_be_replayed(profile, refused, folder):
    (folder / "bad.jsonl").write_text('{"key": 1, "value": "v"}\n')
    assert "Line 1 of bad.jsonl" in refused(profile("check", "linear", "--no-spark", "--payloads", "bad.jsonl"))


def test_the_simulated_engine_says_that_it_sends_nothing(profile, lines):
    answer = profile("run", "linear", *SIMULATED, "--payloads", lines.name)
    assert answer.exit_code == 0, answer.stderr
    assert "sends no messages: --payloads changes nothing" in answer.stderr


def test_the_simulated_engine_says_that_nothing_warms_up(profile):
    """A setting that is ignored in silence would make a measurement say something else than it claims."""
    answer = profile("run", "linear", *SIMULATED, "--warm-up", "5s")
    assert answer.exit_code == 0, answer.stderr
    assert "--warm-up changes nothing" in answer.stderr


def test_keys_cannot_be_loaded_where_no_state_is(profile, refused):
    assert "keeps no state" in refused(profile("run", "word-count", *SIMULATED, "--prefill", "100", "--quiet"))
    assert "No operator of 'linear' is stateful" in refused(profile("run", "linear", "--prefill", "100", "--quiet"))


@pytest.mark.parametrize("key", ["spark.master=local[2]", "spark.sql.shuffle.partitions=4"])
def test_settings_that_are_the_profiler_s_own_are_refused(profile, refused, key):
    assert "the profiler's own" in refused(profile("run", "linear", "--conf", key, "--quiet"))


def test_spark_settings_are_read_with_their_values():
    """A value may hold an equals sign."""
    assert spark_settings(["spark.a=1", "spark.b.c=x=y"]) == {"spark.a": "1", "spark.b.c": "x=y"}
    with pytest.raises(UsageError, match="searched for"):
        spark_settings(["spark.sql.shuffle.partitions=4"])


def test_a_setting_that_is_none_is_refused(profile, refused):
    assert "not a Spark setting" in refused(profile("run", "linear", "--conf", "maxRecords=1"))


def test_capture_refuses_before_it_reads(profile, refused, folder):
    """No broker, a file that exists, a folder that does not."""
    assert "needs a broker" in refused(profile("capture", "clicks"))
    (folder / "clicks.jsonl.gz").write_text("")
    at = ("--kafka", "localhost:9")
    assert "clicks.jsonl.gz exists" in refused(profile("capture", "clicks", *at))
    assert "no folder" in refused(profile("capture", "clicks", *at, "--out", "missing/a.jsonl"))
    assert "--messages is '0'" in refused(profile("capture", "clicks", *at, "--messages", "0"))


@pytest.mark.parametrize("flag", ["--window", "--production-batch"])
def test_batches_that_spark_would_refuse_are_refused_at_once(profile, refused, flag):
    """A production batch that is too short would be noticed only when all else is measured."""
    said = refused(profile("run", "linear", flag, "500ms", "--quiet"))
    assert said.startswith(f"{flag} is 0.5 s, and Spark's real-time mode has no batches below 1 s.")
