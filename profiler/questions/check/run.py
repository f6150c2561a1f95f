"""Check what `profile check` was asked, and print what it found."""

from __future__ import annotations

import sys

from profiler.engines.catalogue import kind_of
from profiler.job.topology import Topology
from profiler.questions.check import findings
from profiler.questions.check.answer import check_answer
from profiler.questions.check.columns import operator_columns
from profiler.questions.check.request import CheckRequest
from profiler.questions.check.terminal import print_checked
from profiler.report.console import error_console, result_console
from profiler.report.documents import document_of
from profiler.report.words import messages_in_words
from profiler.report.writers import as_printed_json
from profiler.settings.choices import EngineName
from profiler.settings.declarations import Settings
from profiler.settings.user_payloads import payload_samples


def run_check(request: CheckRequest, settings: Settings) -> int:
    """Look at a topology, print what was found; return the exit code."""
    loaded = request.topology
    samples = payload_samples(loaded, settings)
    columns = _columns(loaded) if request.spark else None
    checked = findings.check(
        loaded, bound=settings.slots, room=kind_of(EngineName.SPARK).room(settings), columns=columns
    )
    if request.as_json:
        sys.stdout.write(as_printed_json(document_of(check_answer(checked, samples))))
    else:
        print_checked(result_console(), checked)
        for source in loaded.sources:
            if source.name in samples:
                said = messages_in_words(source.name, source.payloads or "", samples[source.name])
                result_console().print(f"Payloads of {said}")
    return 0


def _columns(topology: Topology) -> dict[str, tuple[str, ...]] | None:
    """Look at the columns; a topology without Spark code needs no session for that."""
    if all(operator.function is None for operator in topology.operators):
        return None
    error_console().print("Looking at the operators' columns in a local Spark session (--no-spark skips it) …")
    return operator_columns(topology)
