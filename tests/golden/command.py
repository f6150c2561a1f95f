"""How the goldens call `profile`: THE ONE PLACE that knows names within the package, to be adapted when they move.

All that is needed of it is a command line that is called in this process, and a history that is kept in memory where
`--mongo` or a `history` command would open a MongoDB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from unittest import mock

from typer.testing import CliRunner

from profiler.cli.app import app
from profiler.history.memory import MemoryStore


def call(arguments: Sequence[str]) -> tuple[int, str, str]:
    """Call `profile` in this process; return exit code, stdout and stderr."""
    answer = CliRunner().invoke(app, list(arguments))
    return answer.exit_code, answer.stdout, answer.stderr


@contextmanager
def history_in_memory() -> Iterator[None]:
    """Let one empty history in memory take the place of every MongoDB, until the end of the block."""
    kept = MemoryStore()
    with ExitStack() as stack:
        for name, stand_in in (
            ("profiler.history.mongo.opening.open_mongo", _opened),
            ("profiler.history.mongo.opening.MongoStore", lambda _uri: kept),
        ):
            stack.enter_context(mock.patch(name, stand_in))
        yield


@contextmanager
def _opened(uri: str | None, *_: object, **__: object) -> Iterator[SimpleNamespace]:
    yield SimpleNamespace(uri=uri, revive=lambda: None)
