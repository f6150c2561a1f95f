"""Windows of a generator's reports."""

from __future__ import annotations

import math

import pytest

from profiler.errors import UsageError
from profiler.traffic.generator.achieved import achieved
from profiler.traffic.generator.wire import Failure, GeneratorReport, SetRate, Stop, read_command, read_report, to_line


def reported(
    time_s: float,
    offered: int,
    acked: int,
    errors: int = 0,
    behind_s: float = 0.0,
    abandoned: int = 0,
    sent: int | None = None,
    queue_full: int = 0,
    cores: float = 1.0,
) -> GeneratorReport:
    given = acked if sent is None else sent
    cpu_s = cores * time_s
    return GeneratorReport(time_s, 100.0, offered, given, acked, abandoned, errors, behind_s, queue_full, cpu_s)


def test_rates_are_interpolated_between_reports() -> None:
    """A window need not begin or end with a report."""
    reports = [reported(0.0, 0, 0), reported(1.0, 100, 98), reported(2.0, 300, 298), reported(3.0, 600, 598)]
    window = achieved(reports, 0.5, 2.5)
    assert window.offered_per_s == pytest.approx((450 - 50) / 2)
    assert window.acked_per_s == pytest.approx((448 - 49) / 2)
    assert not window.limited


def test_a_window_is_limited_when_less_than_97_percent_arrived() -> None:
    """The limit is sharp, and errors and delay are told."""
    assert not achieved([reported(0.0, 0, 0), reported(1.0, 1000, 970)], 0.0, 1.0).limited
    limited = achieved([reported(0.0, 0, 0), reported(1.0, 1000, 969, errors=7, behind_s=0.4)], 0.0, 1.0)
    assert limited.limited
    assert (limited.errors, limited.behind_s) == (7, 0.4)


def test_what_was_given_up_as_the_rate_was_lowered_is_not_missing() -> None:
    """Up to a fifth: a generator that gives up more may have kept the job waiting."""
    assert not achieved([reported(0.0, 0, 0), reported(1.0, 1000, 880, abandoned=120)], 0.0, 1.0).limited
    assert achieved([reported(0.0, 0, 0), reported(1.0, 1000, 840, abandoned=120)], 0.0, 1.0).limited
    assert achieved([reported(0.0, 0, 0), reported(1.0, 1000, 700, abandoned=300)], 0.0, 1.0).limited


def test_a_generator_that_waited_for_a_core_was_not_at_its_limit() -> None:
    """It sent too little and used half a core: others had it. One that used all of a core can't send faster."""
    half, whole = ([reported(0.0, 0, 0), reported(1.0, 1000, 800, cores=cores)] for cores in (0.5, 0.95))
    assert not achieved(half, 0.0, 1.0).limited
    assert achieved(whole, 0.0, 1.0).limited


def test_a_broker_that_takes_no_more_limits_whatever_the_generator_uses() -> None:
    """Its messages wait in the client: acknowledged late, or refused as there is no room."""
    late = [reported(0.0, 0, 0), reported(1.0, 1000, 800, sent=1000, cores=0.1)]
    assert achieved(late, 0.0, 1.0).limited
    full = [reported(0.0, 0, 0), reported(1.0, 1000, 800, queue_full=3, cores=0.1)]
    assert achieved(full, 0.0, 1.0).limited


def test_catching_up_is_not_limited() -> None:
    """A window that received more than it intended is fine."""
    assert not achieved([reported(0.0, 500, 0), reported(1.0, 600, 600)], 0.0, 1.0).limited


def test_silence_is_not_limited() -> None:
    """At rate 0 nothing is missing."""
    assert not achieved([reported(0.0, 5, 5), reported(1.0, 5, 5)], 0.0, 1.0).limited


@pytest.mark.parametrize("message", [SetRate(5000.0), SetRate(1.0, 2.0, abandon=True), Stop()])
def test_commands_survive_the_pipe(message: SetRate | Stop) -> None:
    """What the parent says is what the child reads."""
    assert read_command(to_line(message)) == message


@pytest.mark.parametrize("message", [reported(1.0, 2, 3), Failure("what", "way out", 2)])
def test_reports_survive_the_pipe(message: GeneratorReport | Failure) -> None:
    """What the child says is what the parent reads."""
    assert read_report(to_line(message)) == message


def test_a_bare_rate_is_a_command() -> None:
    """The wire format that a person would type."""
    assert read_command('{"rate": 5000}') == SetRate(5000)


@pytest.mark.parametrize("rate", [-1.0, math.nan, math.inf])
def test_a_rate_that_cannot_be_offered_is_refused(rate: float) -> None:
    """A negative or endless rate is refused where it is asked for, and does not end a running generator."""
    with pytest.raises(UsageError, match="cannot be offered"):
        SetRate(rate)


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf])
def test_a_time_without_messages_is_refused(seconds: float) -> None:
    """So is a time that is none."""
    with pytest.raises(UsageError, match="No message can be sent"):
        SetRate(1.0, seconds)
