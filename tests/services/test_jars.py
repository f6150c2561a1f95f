"""Jars come from a repository once, are verified when they arrive, and are found in the cache afterwards."""

from __future__ import annotations

import functools
import gc
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from profiler.errors import ProfileError, UsageError
from profiler.services import jars
from profiler.services.jars import COORDINATES, Jar, JarSet, altered_jars, jar_paths, locked_jars
from profiler.services.ports import LOOPBACK, free_ports

# jgo leaves the connection of an answer it does not want to the garbage collector; it is collected here.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

CONTENT = {"org.example:first:1.0": b"one", "org.example:second:2.0": b"two"}


class Silent(http.server.SimpleHTTPRequestHandler):
    """A web server that does not talk to the terminal."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A Maven repository on loopback, named as the user's own in jgo's configuration."""
    files = tmp_path / "repository"
    for coordinate, content in CONTENT.items():
        group, artifact, version = coordinate.split(":")
        file = files / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.jar"
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
    handler = functools.partial(Silent, directory=str(files))
    with http.server.ThreadingHTTPServer((LOOPBACK, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        use_repository(tmp_path, monkeypatch, server.server_address[1])
        yield files
        server.shutdown()
        thread.join()
    gc.collect()


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that does not answer: no network."""
    use_repository(tmp_path, monkeypatch, free_ports(1)[0])


def use_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """Lock the example jars, and let jgo look for them at the port only."""
    configuration = tmp_path / "jgo.conf"
    configuration.write_text(f"[repositories]\ncentral = http://{LOOPBACK}:{port}\n")
    monkeypatch.setenv("JGO_CONFIG_FILE", str(configuration))
    monkeypatch.setenv("NO_PROXY", LOOPBACK)
    entries = [
        {"coordinate": coordinate, "sha256": hashlib.sha256(content).hexdigest(), "size_bytes": len(content)}
        for coordinate, content in CONTENT.items()
    ]
    lock = tmp_path / "jars.lock"
    lock.write_text(json.dumps({each.value: entries for each in JarSet}))
    monkeypatch.setattr(jars, "LOCK_FILE", lock)


def test_missing_jars_are_fetched_once(repository: Path, tmp_path: Path) -> None:
    """The second time nobody is asked: the repository is empty by then."""
    cache, lines = tmp_path / "cache", []
    paths = jar_paths(JarSet.BROKER, cache, report=lines.append)
    assert [path.read_bytes() for path in paths] == [b"one", b"two"]
    assert "2 of 2" in lines[-1]
    for file in repository.rglob("*.jar"):
        file.unlink()
    assert jar_paths(JarSet.BROKER, cache) == paths
    assert not (cache / "jars" / "arriving").exists()


def test_a_jar_with_the_wrong_content_never_gets_into_the_cache(repository: Path, tmp_path: Path) -> None:
    """The hash is compared before the file is moved into place."""
    (repository / "org/example/second/2.0/second-2.0.jar").write_bytes(b"bad")
    with pytest.raises(ProfileError, match=r"second:2\.0 arrived with the wrong content"):
        jar_paths(JarSet.BROKER, tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("second*.jar"))


def test_a_cut_off_jar_in_the_cache_is_fetched_again(repository: Path, tmp_path: Path) -> None:
    """A crash of the machine may leave an empty file."""
    cache = tmp_path / "cache"
    first, _ = jar_paths(JarSet.BROKER, cache)
    first.write_bytes(b"")
    assert jar_paths(JarSet.BROKER, cache)[0].read_bytes() == b"one"


def test_no_network_and_no_cache_is_said_with_the_way_out(nowhere: None, tmp_path: Path) -> None:
    """The jar, the cache directory and the way out are named."""
    with pytest.raises(ProfileError, match=r"org\.example:\w+:\d\.0 for the broker is not in the cache") as raised:
        jar_paths(JarSet.BROKER, tmp_path / "cache")
    assert str(tmp_path / "cache") in raised.value.message
    assert "PROFILE_CACHE" in raised.value.hint
    assert raised.value.exit_code == 3


def test_no_network_is_needed_with_a_filled_cache(repository: Path, tmp_path: Path) -> None:
    """An offline run takes what is there, and refuses what is not."""
    with pytest.raises(ProfileError, match="this run is offline"):
        jar_paths(JarSet.BROKER, tmp_path / "cache", offline=True)
    paths = jar_paths(JarSet.BROKER, tmp_path / "cache")
    assert jar_paths(JarSet.BROKER, tmp_path / "cache", offline=True) == paths


def test_a_jar_that_no_repository_has_is_named(repository: Path, tmp_path: Path) -> None:
    """A repository that answers, but not with this jar."""
    (repository / "org/example/first/1.0/first-1.0.jar").unlink()
    with pytest.raises(ProfileError, match=r"org\.example:first:1\.0"):
        jar_paths(JarSet.BROKER, tmp_path / "cache")


def test_an_altered_jar_in_the_cache_is_found(repository: Path, tmp_path: Path) -> None:
    """Even where its size is right."""
    first, _ = jar_paths(JarSet.BROKER, tmp_path / "cache")
    assert altered_jars(JarSet.BROKER, tmp_path / "cache") == ()
    first.write_bytes(b"eno")
    assert altered_jars(JarSet.BROKER, tmp_path / "cache") == (first,)


def test_a_user_may_name_other_jars(repository: Path, tmp_path: Path) -> None:
    """Coordinates and files; they replace the set and stay apart from what is locked."""
    own = tmp_path / "own.jar"
    own.touch()
    fetched, given = jar_paths(JarSet.CONNECTOR, tmp_path / "cache", override=["org.example:second:2.0", str(own)])
    assert (fetched.read_bytes(), given) == (b"two", own)
    assert "unlocked" in fetched.parts


@pytest.mark.parametrize("wrong", ["org.example:first", "first", "a:b:c:d", "gone.jar"])
def test_a_wrong_override_is_refused(wrong: str, tmp_path: Path) -> None:
    """Exit code 2: the input is wrong."""
    with pytest.raises(UsageError, match=wrong):
        jar_paths(JarSet.CONNECTOR, tmp_path, override=[wrong])


@pytest.mark.parametrize("each", list(JarSet))
def test_the_lock_file_fits_the_coordinates(each: JarSet) -> None:
    """Whoever changes a coordinate must write the lock file anew."""
    locked = {jar.coordinate for jar in locked_jars(each)}
    assert set(COORDINATES[each]) <= locked
    artifacts = [coordinate.rpartition(":")[0] for coordinate in locked]
    assert len(artifacts) == len(set(artifacts)), "one version of each"


def test_every_locked_jar_has_a_hash_and_a_name_of_its_own() -> None:
    """Two jars must not share a file in the cache."""
    everything: dict[str, Jar] = {}
    for each in JarSet:
        for jar in locked_jars(each):
            assert len(jar.sha256 or "") == 64
            assert everything.setdefault(jar.filename, jar) == jar
