"""A gate for other programs: CSV, Markdown for pull requests, JUnit XML with a case per criterion and one for all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree as ET

from profiler.questions.gate.answer import CriterionAnswer, GateAnswer, GateOutcome
from profiler.questions.gate.terminal import drill_in_words, figure, headline, interval_heading, percentage
from profiler.questions.gate.words import LABELS
from profiler.report.documents import document_of
from profiler.report.writers import Writer, as_json, csv_table
from profiler.settings.choices import ExportKind

COLUMNS = (
    "criterion",
    "verdict",
    "unit",
    "baseline",
    "candidate",
    "effect",
    "low",
    "high",
    "p",
    "adjusted_p",
    "detectable_effect",
)
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SIGNS = {"pass": "✅", "saved": "✅", "slower": "❌", "inconclusive": "❔"}


def as_csv(answer: GateAnswer) -> str:
    """Write a line per criterion."""
    return csv_table(COLUMNS, map(document_of, answer.criteria))


def as_markdown(answer: GateAnswer) -> str:
    """Write the verdict and a table of criteria, as a pull request or a CI step shows them."""
    lines = [
        f"### {_SIGNS[answer.verdict]} {headline(answer)}",
        "",
        f"**{answer.verdict}**: {answer.why}.",
        "",
    ]
    if answer.drill is not None:
        lines += [f"On purpose, as a drill: {drill_in_words(answer.drill)}; {_outcome(answer)}.", ""]
    if answer.criteria:
        lines += [
            f"| criterion | baseline | candidate | change | {interval_heading(answer)} | p | detectable | |",
            "|---|" + "--:|" * 6 + "---|",
        ]
        lines += [
            f"| {LABELS[each.criterion]} | {figure(each.baseline, each.unit)} | {figure(each.candidate, each.unit)} "
            f"| {percentage(each.effect)} | {percentage(each.low)} to {percentage(each.high)} "
            f"| {each.adjusted_p:.2g} | {percentage(each.detectable_effect)} | {each.verdict} |"
            for each in answer.criteria
        ]
        lines.append("")
    lines += [f"- {warning}" for warning in answer.warnings]
    return "\n".join(lines).rstrip() + "\n\n"


def as_junit(answer: GateAnswer) -> str:
    """Write a test case per criterion and one for the gate: slower fails, inconclusive is skipped, with the reason.

    The last one is what the exit code says: a drill may be missed although every criterion passes.
    """
    cases = [(LABELS[each.criterion], GateOutcome(each.verdict), _in_words(each)) for each in answer.criteria]
    if answer.verdict is GateOutcome.SAVED:  # which compared nothing
        cases = []
    cases.append(("gate" if answer.drill is None else "drill", answer.verdict, answer.why))
    suite = ET.Element(
        "testsuite",
        name=f"profile gate {answer.topology}",
        tests=str(len(cases)),
        failures=str(sum(verdict is GateOutcome.SLOWER for _, verdict, _ in cases)),
        errors="0",
        skipped=str(sum(verdict is GateOutcome.INCONCLUSIVE for _, verdict, _ in cases)),
    )
    for name, verdict, said in cases:
        case = ET.SubElement(suite, "testcase", classname=f"gate.{answer.topology}", name=name)
        if verdict is GateOutcome.SLOWER:
            ET.SubElement(case, "failure", type="slower", message=said).text = answer.why
        elif verdict is GateOutcome.INCONCLUSIVE:
            ET.SubElement(case, "skipped", message=said)
    output = ET.SubElement(suite, "system-out")
    output.text = f"{headline(answer)}\n{answer.verdict}: {answer.why}"
    suites = ET.Element("testsuites")
    suites.append(suite)
    for element in suites.iter():
        element.text = None if element.text is None else _storable(element.text)
        for name, value in element.items():
            element.set(name, _storable(value))
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _storable(text: str) -> str:
    """Put a mark in the place of each character that XML has no way to write; names of older runs may have them."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _outcome(answer: GateAnswer) -> str:
    if not answer.criteria:
        return "it was not measured"
    return "the gate found it" if answer.verdict is GateOutcome.SLOWER else "the gate missed it"


def _in_words(each: CriterionAnswer) -> str:
    return (
        f"{percentage(each.effect)} ({percentage(each.low)} to {percentage(each.high)}, "
        f"p {each.adjusted_p:.2g}, detectable {percentage(each.detectable_effect)})"
    )


GATE_WRITERS: Mapping[ExportKind, Writer[GateAnswer]] = {
    ExportKind.JSON: as_json,
    ExportKind.CSV: as_csv,
    ExportKind.MD: as_markdown,
    ExportKind.JUNIT: as_junit,
}
"""Formats of a gate."""
