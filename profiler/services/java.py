"""Find a Java that Spark and Kafka can run on: 17 or newer, with the modules Spark asks for."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from profiler.errors import ProfileError

OLDEST = 17
SPARK_MODULE = "jdk.incubator.vector"
"""Spark adds this module to every JVM it starts; reduced runtimes lack it and fail with an obscure message."""
HINT = "Install a JDK or JRE 17 or newer (for example the package openjdk-17-jre-headless), or set JAVA_HOME to one."
_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime that is new enough."""

    executable: Path
    major: int

    @property
    def home(self) -> Path:
        """The directory for JAVA_HOME, so that Spark takes the same Java."""
        return self.executable.resolve().parent.parent


@functools.cache
def ask(executable: Path, option: str) -> str:
    """Run a Java with one option and give what it prints; nothing where it fails.

    Several parts of a command look for Java, and every answer takes the start of a JVM: it is asked for once.
    """
    command = [str(executable), option]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout + done.stderr


def find_java(env: Mapping[str, str] = os.environ, *, ask: Callable[[Path, str], str] = ask) -> Java:
    """Find Java 17 or newer at JAVA_HOME, else on PATH; raise with everything that was looked at."""
    refused = []
    for where, executable in _candidates(env):
        if not executable.is_file():
            refused.append(f"{where} has no {executable.name} at {executable}")
            continue
        major = java_version(ask(executable, "-version"))
        if major is None:
            refused.append(f"{executable} does not run")
        elif major < OLDEST:
            refused.append(f"{executable} is Java {major}")
        elif SPARK_MODULE not in ask(executable, "--list-modules"):
            refused.append(f"{executable} is Java {major} without the module {SPARK_MODULE}")
        else:
            return Java(executable, major)
    looked = "; ".join(refused) if refused else "JAVA_HOME is not set and there is no java on PATH"
    raise ProfileError(f"Java {OLDEST} or newer was not found: {looked}.", hint=HINT)


def java_version(answer: str) -> int | None:
    """Read the major version from what `java -version` prints: 8 of "1.8.0_292", 17 of "17.0.15", 21 of "21-ea"."""
    match = re.search(r'version "(?:1\.)?(\d+)', answer)
    return int(match.group(1)) if match else None


def _candidates(env: Mapping[str, str]) -> list[tuple[str, Path]]:
    found = []
    if home := env.get("JAVA_HOME"):
        found.append(("JAVA_HOME", Path(home) / "bin" / "java"))
    if path := shutil.which("java", path=env.get("PATH", "")):
        found.append(("PATH", Path(path)))
    return found
