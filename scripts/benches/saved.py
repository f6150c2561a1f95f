"""Results that a bench keeps, so that it goes on where it stopped; a change of the measured code starts anew."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from profiler.services.run_folder import cache_directory

FOLDER = cache_directory() / "bench"
"""Not in the work tree: a new clone of the same code goes on as well."""


class Saved:
    """A growing file of results, one JSON line per key; `code` names the folders whose change makes it stale."""

    def __init__(self, name: str, *code: str) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.path = FOLDER / f"{name}-{_fingerprint(code)}.jsonl"
        self.known: dict[str, Any] = {}
        for line in _whole_lines(self.path):
            entry = json.loads(line)
            self.known[entry["key"]] = entry["value"]

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return the result of this key, computing and keeping it where it is new."""
        if key not in self.known:
            self.known[key] = compute()
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "value": self.known[key]}) + "\n")
        return self.known[key]


def _whole_lines(path: Path) -> list[bytes]:
    """Read the file; half a line that a kill left at its end is cut off, so that the next one begins on its own."""
    if not path.exists():
        return []
    written = path.read_bytes()
    whole = written[: written.rfind(b"\n") + 1]
    if whole != written:
        os.truncate(path, len(whole))
    return whole.splitlines()


@cache
def _fingerprint(code: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for place in code:
        root = Path(place)
        for path in [root] if root.is_file() else sorted(root.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
