"""A gate for other programs: CSV, Markdown for pull requests, JUnit XML with a case per criterion and one for all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree as ET

from profiler.questions.gate.criteria import Criterion
from profiler.questions.gate.terminal import drill_in_words, figure, headline, interval_heading, percentage
from profiler.questions.gate.words import LABELS
from profiler.report.writers import Document, Writer, as_json, csv_table
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


def as_csv(document: Document) -> str:
    """Write a line per criterion."""
    return csv_table(COLUMNS, document["criteria"])


def as_markdown(document: Document) -> str:
    """Write the verdict and a table of criteria, as a pull request or a CI step shows them."""
    lines = [
        f"### {_SIGNS[document['verdict']]} {headline(document)}",
        "",
        f"**{document['verdict']}**: {document['why']}.",
        "",
    ]
    if document["drill"] is not None:
        lines += [f"On purpose, as a drill: {drill_in_words(document['drill'])}; {_outcome(document)}.", ""]
    if document["criteria"]:
        lines += [
            f"| criterion | baseline | candidate | change | {interval_heading(document)} | p | detectable | |",
            "|---|" + "--:|" * 6 + "---|",
        ]
        lines += [
            f"| {LABELS[Criterion(each['criterion'])]} | {figure(each['baseline'], each['unit'])} "
            f"| {figure(each['candidate'], each['unit'])} | {percentage(each['effect'])} "
            f"| {percentage(each['low'])} to {percentage(each['high'])} | {each['adjusted_p']:.2g} "
            f"| {percentage(each['detectable_effect'])} | {each['verdict']} |"
            for each in document["criteria"]
        ]
        lines.append("")
    lines += [f"- {warning}" for warning in document["warnings"]]
    return "\n".join(lines).rstrip() + "\n\n"


def as_junit(document: Document) -> str:
    """Write a test case per criterion and one for the gate: slower fails, inconclusive is skipped, with the reason.

    The last one is what the exit code says: a drill may be missed although every criterion passes.
    """
    cases = [(LABELS[Criterion(each["criterion"])], each["verdict"], _in_words(each)) for each in document["criteria"]]
    if document["verdict"] == "saved":  # which compared nothing
        cases = []
    cases.append(("gate" if document["drill"] is None else "drill", document["verdict"], document["why"]))
    suite = ET.Element(
        "testsuite",
        name=f"profile gate {document['topology']}",
        tests=str(len(cases)),
        failures=str(sum(verdict == "slower" for _, verdict, _ in cases)),
        errors="0",
        skipped=str(sum(verdict == "inconclusive" for _, verdict, _ in cases)),
    )
    for name, verdict, said in cases:
        case = ET.SubElement(suite, "testcase", classname=f"gate.{document['topology']}", name=name)
        if verdict == "slower":
            ET.SubElement(case, "failure", type="slower", message=said).text = document["why"]
        elif verdict == "inconclusive":
            ET.SubElement(case, "skipped", message=said)
    output = ET.SubElement(suite, "system-out")
    output.text = f"{headline(document)}\n{document['verdict']}: {document['why']}"
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


def _outcome(document: Document) -> str:
    if not document["criteria"]:
        return "it was not measured"
    return "the gate found it" if document["verdict"] == "slower" else "the gate missed it"


def _in_words(each: Document) -> str:
    return (
        f"{percentage(each['effect'])} ({percentage(each['low'])} to {percentage(each['high'])}, "
        f"p {each['adjusted_p']:.2g}, detectable {percentage(each['detectable_effect'])})"
    )


GATE_WRITERS: Mapping[ExportKind, Writer[Document]] = {
    ExportKind.JSON: as_json,
    ExportKind.CSV: as_csv,
    ExportKind.MD: as_markdown,
    ExportKind.JUNIT: as_junit,
}
"""Formats of a gate."""
