"""The generator alone, as `profile generate` runs it: one topic, one rate, a bounded time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from profiler.traffic.generator.process import GeneratorProcess
from profiler.traffic.generator.wire import GeneratorReport, Target

DRAIN_S = 10.0
"""Seconds that a generator that fell behind may go on after its time to send what it owes."""


def generate(
    address: str,
    topic: str,
    rate_per_s: float,
    seconds: float,
    payloads: Path,
    on_report: Callable[[GeneratorReport], None],
    *,
    log: Path,
) -> GeneratorReport:
    """Send rate × seconds messages, each when it is due; call `on_report` four times a second and at the end.

    Ends after `seconds`, or up to DRAIN_S later where it fell behind; what is owed then is counted as abandoned.
    An interruption (Ctrl-C) ends it in order, with the last report, and is then passed on.
    """
    generator = GeneratorProcess(address, [Target(topic, str(payloads))], log=log)
    generator.start()
    try:
        generator.set_rate(rate_per_s, seconds=seconds)
        end_s = generator.report().time_s + seconds
        while True:
            report = generator.next_report()
            on_report(report)
            owed = report.offered - report.acked - report.errors - report.abandoned
            if report.time_s > end_s + (DRAIN_S if owed else 0.0) and report.rate_per_s == 0:
                break
    finally:
        last = generator.stop()
        if last is not None:
            on_report(last)
    return generator.report()
