"""The jars: Maven coordinates in one place, locked with their SHA-256, fetched once into the cache and verified there.

`jgo` finds and fetches them, from the repositories of its own configuration; no host is named here. At run time the
lock file says exactly which files are needed, so nothing is resolved. `python -m profiler.services.jars --lock`
resolves the coordinates anew and writes the lock file.
"""

from __future__ import annotations

import argparse
import enum
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from profiler.errors import ProfileError, UsageError
from profiler.services import Say, unreported
from profiler.services.locks import HeldLock, Mode, hold

LOCK_FILE = Path(__file__).with_name("jars.lock")


class JarSet(enum.Enum):
    """What jars are needed for."""

    CONNECTOR = "connector"
    BROKER = "broker"
    TOOLS = "tools"


COORDINATES = {
    # Named one by one: this set works with Spark 4.3.0; the connector's own dependencies do not resolve everywhere.
    JarSet.CONNECTOR: (
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
        "org.apache.kafka:kafka-clients:3.9.2",
        "org.apache.commons:commons-pool2:2.12.1",
    ),
    # Without a binding for slf4j the broker would die silently.
    JarSet.BROKER: ("org.apache.kafka:kafka_2.13:4.3.1", "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"),
    # Kafka's own producer benchmark, only for ours.
    JarSet.TOOLS: ("org.apache.kafka:kafka-tools:4.3.1", "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"),
}
_WITH_DEPENDENCIES = frozenset({JarSet.BROKER, JarSet.TOOLS})
_AT_ONCE = 4
_TIMEOUT_S = 20
_WAIT_FOR_OTHER_FETCH_S = 600.0


@dataclass(frozen=True, slots=True)
class Jar:
    """One file; a user's own has no hash to compare with."""

    coordinate: str
    sha256: str | None = None
    size_bytes: int | None = None

    @property
    def filename(self) -> str:
        """The file's name in the cache."""
        _, artifact, version = self.coordinate.split(":")
        return f"{artifact}-{version}.jar"

    def place(self, cache: Path) -> Path:
        """Name the place of the jar in the cache; what is not locked stays apart from what is."""
        return cache / "jars" / ("locked" if self.sha256 else "unlocked") / self.filename

    def is_cached(self, cache: Path) -> bool:
        """Tell whether the file is there and whole; its content was verified when it arrived."""
        place = self.place(cache)
        return place.is_file() and self.size_bytes in (None, place.stat().st_size)


def locked_jars(wanted: JarSet) -> tuple[Jar, ...]:
    """Read which jars a set consists of."""
    return tuple(Jar(**each) for each in json.loads(LOCK_FILE.read_text())[wanted.value])


def jar_paths(
    wanted: JarSet, cache: Path, *, override: Sequence[str] = (), offline: bool = False, report: Say = unreported
) -> tuple[Path, ...]:
    """Give the paths of a set's jars, fetching what is not in the cache yet.

    `override` replaces the set by a user's own: coordinates `group:artifact:version`, or paths of jar files.
    """
    own_files = tuple(Path(each).expanduser().absolute() for each in override if each.endswith(".jar"))
    for file in own_files:
        if not file.is_file():
            raise UsageError(f"The jar {file} does not exist.", hint="Correct its path.")
    jars = tuple(_own_jar(each) for each in override if not each.endswith(".jar")) if override else locked_jars(wanted)
    if any(not jar.is_cached(cache) for jar in jars):
        with _only_one(cache, report):
            # Another profile may have fetched them meanwhile.
            missing = [jar for jar in jars if not jar.is_cached(cache)]
            if missing:
                _fetch(missing, wanted, cache, offline=offline, report=report)
    return tuple(jar.place(cache) for jar in jars) + own_files


def altered_jars(wanted: JarSet, cache: Path) -> tuple[Path, ...]:
    """Find cached jars whose content is no longer what the lock file says."""
    cached = (jar for jar in locked_jars(wanted) if jar.place(cache).is_file())
    return tuple(jar.place(cache) for jar in cached if sha256(jar.place(cache)) != jar.sha256)


def sha256(file: Path) -> str:
    """Hash a file's content."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def write_lock(lock_file: Path = LOCK_FILE) -> None:
    """Resolve the coordinates, hash the files and write the lock file: maintenance, needs the network."""
    with tempfile.TemporaryDirectory() as folder:
        maven = _maven(Path(folder), offline=False)
        sets = {each: [json.dumps(asdict(jar)) for jar in _resolve(maven, each)] for each in JarSet}
    # One line for each jar, so that a change of the file reads as what changed.
    lists = (f'"{each.value}": [\n  ' + ",\n  ".join(jars) + "\n]" for each, jars in sets.items())
    lock_file.write_text("{\n" + ",\n".join(lists) + "\n}\n")


def _resolve(maven: Any, wanted: JarSet) -> list[Jar]:
    artifacts = []
    for coordinate in COORDINATES[wanted]:
        root = maven.create_dependency(coordinate)
        artifacts.append(root.artifact)
        if wanted in _WITH_DEPENDENCIES:
            _, dependencies = maven.resolver.resolve([root])
            artifacts += [each.artifact for each in dependencies if each.scope in ("compile", "runtime")]
    jars = {}
    for each in artifacts:
        if each.packaging == "jar":
            file = each.resolve()
            coordinate = f"{each.groupId}:{each.artifactId}:{each.version}"
            jars[coordinate] = Jar(coordinate, sha256(file), file.stat().st_size)
    return list(jars.values())


def _fetch(missing: Sequence[Jar], wanted: JarSet, cache: Path, *, offline: bool, report: Say) -> None:
    """Fetch into a waiting room, verify, then move into the cache: what is in the cache is whole and right."""
    waiting_room = cache / "jars" / "arriving"
    shutil.rmtree(waiting_room, ignore_errors=True)
    maven = _maven(waiting_room, offline=offline)
    size = sum(jar.size_bytes or 0 for jar in missing) / 1e6
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        arriving = {pool.submit(_fetch_one, maven, jar, cache): jar for jar in missing}
        for count, done in enumerate(as_completed(arriving), start=1):
            try:
                done.result()
            except (RuntimeError, OSError) as error:  # jgo raises the first, its HTTP library the second
                _refuse(arriving[done], wanted, cache, error, offline=offline)
            report(f"Fetching jars for the {wanted.value}: {count} of {len(missing)} ({size:.0f} MB in all)")
    finally:
        pool.shutdown(cancel_futures=True)
        shutil.rmtree(waiting_room, ignore_errors=True)


def _fetch_one(maven: Any, jar: Jar, cache: Path) -> None:
    group, artifact, version = jar.coordinate.split(":")
    arrived: Path = maven.project(group, artifact).at_version(version).artifact().resolve()
    if jar.sha256 and (found := sha256(arrived)) != jar.sha256:
        message = f"The jar {jar.coordinate} arrived with the wrong content: SHA-256 {found}, locked is {jar.sha256}."
        raise ProfileError(message, hint="Check the Maven repository or proxy it came from.")
    place = jar.place(cache)
    place.parent.mkdir(parents=True, exist_ok=True)
    arrived.replace(place)


def _refuse(jar: Jar, wanted: JarSet, cache: Path, error: Exception, *, offline: bool) -> None:
    why = "this run is offline" if offline else f"it could not be fetched ({type(error).__name__})"
    message = f"The jar {jar.coordinate} for the {wanted.value} is not in the cache {cache}, and {why}."
    hint = "Run once with a network (proxies are taken from HTTPS_PROXY), or let PROFILE_CACHE name a filled cache."
    raise ProfileError(message, hint=hint) from error


def _own_jar(coordinate: str) -> Jar:
    if len([part for part in coordinate.split(":") if part.strip()]) != 3:
        message = f"{coordinate!r} is neither a Maven coordinate group:artifact:version nor the path of a .jar file."
        raise UsageError(message, hint="Write for example org.apache.kafka:kafka-clients:3.9.2.")
    return Jar(coordinate)


def _only_one(cache: Path, report: Say) -> HeldLock:
    path = cache / "jars" / "fetch.lock"
    lock = hold(path, Mode.EXCLUSIVE)
    if lock is None:
        report("Waiting for another profile that fetches jars")
        lock = hold(path, Mode.EXCLUSIVE, wait_s=_WAIT_FOR_OTHER_FETCH_S)
    if lock is None:
        raise ProfileError(f"Another profile has been fetching jars to {cache} for too long.", hint="Start again.")
    return lock


def _maven(repository: Path, *, offline: bool) -> Any:
    from jgo.config import GlobalSettings  # noqa: PLC0415 - half a second, needed only where jars are missing
    from jgo.maven import MavenContext  # noqa: PLC0415

    maven = MavenContext(repo_cache=repository, timeout=_TIMEOUT_S, offline=offline)
    maven.remote_repos.update(GlobalSettings.load().repositories)  # a mirror named "central" replaces the default
    return maven


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="Maintain the lock file of the jars.")
    options.add_argument("--lock", action="store_true", required=True, help="resolve anew and write the lock file")
    options.parse_args()
    write_lock()
    sys.exit(0)
