"""One story: what terminal, Markdown and JSON say of a rate or a latency is the same figure."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from profiler.questions.search.document import read_profile
from profiler.questions.search.rate_words import rate_in_words

FIGURE = r"([\d,]+)"


@pytest.fixture
def told(profile, folder):
    """Return the JSON, the terminal's text and the Markdown of one profile, each as its own lines."""

    def run(*arguments):
        answer = profile("run", *arguments, "--engine", "simulated", "--json", "run.json", "--export", "md=run.md")
        assert answer.exit_code == 0, answer.stderr
        document = json.loads((folder / "run.json").read_text())
        return document, " ".join(answer.stdout.split()), (folder / "run.md").read_text()

    return run


def number(pattern, text):
    found = re.search(pattern, text)
    assert found, pattern
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize("noise", ["quiet", "shared"])
def test_the_rate_that_holds_is_the_same_everywhere(told, noise):
    """The headline, the plan, the batch that decides and the settings to read by programs."""
    document, terminal, markdown = told("word-count", "--noise", noise, "--seed", "5")
    rate, verified = document["rate"], document["verified"]
    holds = round(rate["holds_per_s"])
    assert number(f"holds {FIGURE} rows/s in batches of 5 min", terminal) == holds
    assert number(rf"\*\*{FIGURE} rows/s\*\*", markdown) == holds
    assert number(f"- holds: {FIGURE} rows/s", markdown) == holds
    assert number(f"plan with {FIGURE} rows/s", terminal) == round((1 - rate["headroom"]) * rate["holds_per_s"])
    assert verified["passed"]
    assert verified["rate_per_s"] / verified["machine_speed"] == pytest.approx(rate["holds_per_s"])
    assert verified in rate["probes"]
    assert number(f"batches of 5 min: p95 {FIGURE} ms", terminal) == round(verified["latency_ms"]["p95"])
    if rate["fails_at_per_s"] is not None:
        assert rate["fails_at_per_s"] > rate["holds_per_s"]
        assert number(f"; {FIGURE} rows/s do not hold", terminal) == round(rate["fails_at_per_s"])


def test_no_batch_above_what_is_said_to_fail_decides(told):
    """A rate that holds and one that does not are in their order, whatever single batches said."""
    document, _, _ = told("star", "--noise", "shared", "--seed", "3", "--latency", "20ms")
    rate = document["rate"]
    assert rate["fails_at_per_s"] is None or rate["holds_per_s"] is None or rate["fails_at_per_s"] > rate["holds_per_s"]


def test_a_quick_answer_says_that_its_rate_is_no_more_than_a_probe_s(told):
    """It is the rate at which the round's own latency was seen."""
    document, terminal, _ = told("word-count", "--quick")
    rate, answer = document["rate"], document["rounds"][document["best"]["round"] - 1]
    assert rate["basis"] == "probe"
    assert document["verified"] is None
    assert rate["holds_per_s"] == pytest.approx(answer["record"]["measurement"]["kept_per_s"])
    assert number(f"holds {FIGURE} rows/s kept the latency in a few short windows", terminal) == round(
        rate["holds_per_s"]
    )
    assert number(rf"\(read to sink, at {FIGURE} rows/s\)", terminal) == round(rate["holds_per_s"])


def test_no_rate_at_all_is_told_with_its_reason_and_the_way_out(told):
    """An operator that waits 8 ms keeps no 2 ms, however little it is offered."""
    document, terminal, markdown = told("synthetic-word-count", "--latency", "2ms")
    assert document["rate"]["holds_per_s"] is None
    assert "holds none in batches of 5 min: the latency constraint is violated" in terminal
    assert "allow more latency (--latency), or give it more slots" in terminal
    assert "under stress**" in markdown, "the headline promises nothing"


def test_a_machine_that_was_slower_is_told_with_what_it_was_offered(told):
    """Else the rate and the latency beside it would not belong together."""
    document, _, _ = told("word-count")
    profile = read_profile(document)
    assert "as the machine was" not in rate_in_words(
        replace(profile, verified=replace(profile.verified, machine_speed=1))
    )
    slower = replace(profile.verified, machine_speed=0.9, rate_per_s=900.0)
    assert "(seen at 900, as the machine was 10% slower than before)" in rate_in_words(
        replace(profile, verified=slower)
    )
