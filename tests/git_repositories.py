"""A git repository of a test's own, with commits that make a job's operator slower."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

JOB = """
from profiler import Cost, Operator, Source, Topology
from costs import COUNT_MS

topology = Topology.chain(
    "words",
    Source("lines"),
    Operator("split", cost=Cost(cpu_ms=0.3)),
    Operator("count", cost=Cost(cpu_ms=COUNT_MS)),
)
"""


class Repository:
    """A folder under version control."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *arguments: str) -> str:
        """Run git in it, by nobody's configuration."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        identity = ("-c", "user.name=a test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def write(self, **files: str) -> None:
        """Write Python files, named without their suffix."""
        for name, text in files.items():
            path = self.folder / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self, **files: str) -> str:
        """Write files and commit all there is; return the commit."""
        self.write(**files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a change")
        return self.git("rev-parse", "HEAD")
