"""A verdict on a terminal, whatever it is about: a headline, its lines, what is said and the exit code, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from rich.console import Console, RenderableType
from rich.text import Text


class VerdictAnswer(Protocol):
    """What all answers with a verdict say."""

    @property
    def verdict(self) -> str:
        """The verdict in a word."""

    @property
    def why(self) -> str:
        """What it rests on."""

    @property
    def exit_code(self) -> int:
        """What scripts are told."""

    @property
    def warnings(self) -> Sequence[str]:
        """What is to be doubted."""


def print_verdict(
    console: Console, headline: str, lines: Iterable[RenderableType], answer: VerdictAnswer, style: str
) -> None:
    """Print the whole result."""
    console.print(Text(headline, "bold"))
    for line in lines:
        console.print(line)
    console.print(Text(f"{answer.verdict}: {answer.why} (exit {answer.exit_code})", style))
    for warning in answer.warnings:
        console.print(Text(f"warning: {warning}", "yellow"))
