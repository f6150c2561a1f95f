"""Services: Kafka, MongoDB, jars and child processes; started where none is given, always stopped.

| module | holds |
|---|---|
| `processes` | `child`, `supervise`: a process that ends with this one; `marked`: those that were started here |
| `locks`, `run_lock` | file locks that die with their holder; the one that tells who writes a run |
| `run_folder` | the folder of one run, under the cache directory |
| `java`, `jars`, `ports` | what a broker needs: Java 17, locked jars, free loopback ports |
| `kafka` | one broker, given or started |
| `mongo`, `mongod` | one database, given or started; the started one is shared by all profiles of a user |
| `doctor` | all of it as a list of checks |
"""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], None]
"""Receives one line of progress; the command line shows it."""


def unreported(_: str) -> None:
    """Take a line of progress and show nothing: the default where nobody watches."""
