"""A transcript of calls of `profile` in one folder with one history: what was called, said and written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.golden.command import call
from tests.golden.normal_form import REPOSITORY, NormalForm
from tests.golden.sandbox import environment_in, forget_modules_in

NAME = "transcript.txt"
JOBS = Path(__file__).parent / "jobs"


class Transcript:
    """What a case does is called on it; `texts` are the golden files that come of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._normal = NormalForm(folder)
        self._parts: list[str] = []
        self._files: dict[str, str] = {}

    @property
    def texts(self) -> dict[str, str]:
        """The golden files by name."""
        return {NAME: "\n".join(self._parts), **self._files}

    def profile(self, *arguments: str, keep: tuple[str, ...] = ()) -> str:
        """Call `profile` in this process and write down what it says; `keep` names files it wrote to keep as well.

        Return what it said on stdout as it is, for later calls.
        """
        code, out, err = call(arguments)
        forget_modules_in(self.folder)
        self._write_down(arguments, code, out, err)
        for name in keep:
            # A golden file is no code: nobody may format it.
            self._files[f"{name}.txt" if name.endswith(".py") else name] = self._normal.of(
                Path(name).read_text(encoding="utf-8")
            )
        return out

    def process(self, *arguments: str) -> None:
        """Call `profile` as a process of its own, the same way."""
        answer = subprocess.run(
            [sys.executable, "-m", "profiler", *arguments],
            env={**environment_in(self.folder), "PYTHONPATH": str(REPOSITORY)},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )
        self._write_down(arguments, answer.returncode, answer.stdout, answer.stderr)

    def note(self, text: str) -> None:
        """Write down what the next call is about."""
        self._parts.append(f"# {text}")

    def newest_run(self) -> str:
        """Return the name of the newest run in the history, without writing down how it was asked for."""
        _, out, _ = call(["history", "list", "--json", "--limit", "1"])
        found = re.search(r'"run": "([^"]+)"', out)
        assert found is not None
        return found[1]

    def file(self, name: str, text: str) -> None:
        """Write a file for later calls."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def job(self, name: str, *changes: tuple[str, str], instead_of: str | None = None) -> None:
        """Take a job from `jobs/`, with changes of its text: what was there, and what is there now."""
        text = (JOBS / name).read_text(encoding="utf-8")
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        self.file(instead_of or name, text)

    def _write_down(self, arguments: tuple[str, ...], code: int, out: str, err: str) -> None:
        said = [f"$ profile {shlex.join(arguments)}".rstrip(), f"exit code {code}"]
        for stream, text in (("stdout", out), ("stderr", err)):
            if text:
                said += [f"--- {stream}", text.removesuffix("\n") if text.endswith("\n") else f"{text}<no line end>"]
        self._parts.append(self._normal.of("\n".join([*said, ""])))
