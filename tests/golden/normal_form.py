"""What of an output is different at every call, or on every machine, is replaced; every measured figure stays.

Names of runs are numbered in the order in which they appear, so that it stays visible which is which. Names and moments
that are not of the tests, which older documents and messages hold, stay as they are.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

STARTED = datetime.now(UTC).replace(second=0, microsecond=0)
ENDED = STARTED + timedelta(days=1)
RUN = re.compile(r"\b(\d{8}-\d{6})-[0-9a-f]{8}\b")
MOMENT = re.compile(r"\b(\d{4}-\d\d-\d\d)([T ])(\d\d:\d\d)(:\d\d(?:\.\d+)?)?(\+00:00)?")
HOST_FACTS = (
    (re.compile(r'("python": )"[^"]+"'), r'\1"…"'),
    (re.compile(r'("machine_cores": )\d+'), r"\1…"),
    (re.compile(r'("place": )"[0-9a-f]+[^"]*"'), r'\1"…"'),
    (re.compile(r'"HISTF[\w+/=]+"'), '"HISTF…"'),
    (re.compile(r"this machine gives \d+ \(local\[\d+\]\)"), "this machine gives … (local[…])"),
)
"""Python's version, cores, the random name of a cache, histograms, which zlib packs; slots depend on free memory."""
FIGURE = re.compile(r"(?<![\w.])-?\d+\.\d{9,}(?:e[-+]?\d+)?")
DIGITS = 9
"""Digits of a long figure that all processors agree on, whose sums end differently."""
NOTHING = 12
"""Decimals after which a figure is the rest of a sum that should be zero."""
REPOSITORY = Path(__file__).parents[2]


def alike_on_all_machines(text: str) -> str:
    """Return a text whose long figures have as many digits as do not depend on the processor."""
    return FIGURE.sub(lambda found: f"{round(float(found[0]), NOTHING):.{DIGITS}g}", text)


class NormalForm:
    """The normal form of all texts of one case."""

    def __init__(self, folder: Path) -> None:
        self._places = {
            str(folder): "<folder>",
            str(folder.parent): "<around>",
            sys.executable: "<python>",
            str(REPOSITORY): "<repository>",
        }
        self._runs: dict[str, str] = {}

    def of(self, text: str) -> str:
        """Return the normal form of a text; texts are to be given in the order in which they came to be."""
        for place, name in self._places.items():
            text = text.replace(place, name)
        for pattern, instead in HOST_FACTS:
            text = pattern.sub(instead, text)
        return MOMENT.sub(_moment, RUN.sub(self._run, text))

    def _run(self, found: re.Match[str]) -> str:
        if not STARTED <= datetime.strptime(f"{found[1]}+0000", "%Y%m%d-%H%M%S%z") < ENDED:
            return found[0]
        return self._runs.setdefault(found[0], f"00000000-000000-{len(self._runs) + 1:08d}")


def _moment(found: re.Match[str]) -> str:
    day, between, minute, rest, zone = found.groups()
    if not STARTED <= datetime.fromisoformat(f"{day}T{minute}+00:00") < ENDED:
        return found[0]
    seconds = "" if rest is None else ":00.000000"
    return f"0000-00-00{between}00:00{seconds}{zone or ''}"
