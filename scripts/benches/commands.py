"""Call `profile` as a user does, in a process of its own, and keep what it says of itself."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def timed_document(*arguments: str, check: bool) -> dict[str, Any]:
    """Return the JSON document of a call and the minutes it took; `check` refuses any exit code but 0."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        started_s = time.monotonic()
        subprocess.run([sys.executable, "-m", "profiler", *arguments, "--json", str(file)], check=check)
        minutes = (time.monotonic() - started_s) / 60
        return {"document": json.loads(file.read_text(encoding="utf-8")), "minutes": minutes}
