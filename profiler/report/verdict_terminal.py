"""A verdict on a terminal, whatever it is about: a headline, its lines, what is said and the exit code, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text


def print_verdict(
    console: Console, headline: str, lines: Iterable[RenderableType], document: Mapping[str, Any], style: str
) -> None:
    """Print the whole result."""
    console.print(Text(headline, "bold"))
    for line in lines:
        console.print(line)
    console.print(Text(f"{document['verdict']}: {document['why']} (exit {document['exit_code']})", style))
    for warning in document["warnings"]:
        console.print(Text(f"warning: {warning}", "yellow"))
