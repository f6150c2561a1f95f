"""The doctor tells what there is, what is missing and what to do, and starts nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from profiler.services import doctor
from profiler.services.doctor import Check, examine, left_over_processes
from profiler.services.ports import LOOPBACK, free_ports
from profiler.services.processes.child import Child
from profiler.services.processes.marked import marked
from profiler.services.run_folder import RunFolder
from tests.services.starting import wait_until_it_shows

SECRET = "s3cret-Pa55"  # noqa: S105 - of a test


def checks(**options: object) -> dict[str, Check]:
    return {check.name: check for check in examine(**options)}  # type: ignore[arg-type]


def test_a_machine_without_anything_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every finding that is not as it should be has a fix."""
    monkeypatch.setattr("profiler.services.mongod.BUNDLE", "no-such-package")
    monkeypatch.setattr(doctor, "NEEDED_MEMORY_BYTES", 10**18)
    found = checks(env={"PATH": ""}, cache=tmp_path, free=lambda _: 0)
    wrong = {name for name, check in found.items() if not check.ok}
    assert wrong == {"Java", "jars for the connector", "jars for the broker", "MongoDB", "memory", "disk"}
    assert all(found[name].fix for name in wrong)
    assert "0 of 4" in found["jars for the connector"].found


def test_an_altered_jar_is_told_with_the_command_that_removes_it(tmp_path: Path) -> None:
    """Its next fetch is verified again."""
    from profiler.services.jars import JarSet, locked_jars

    jar = locked_jars(JarSet.CONNECTOR)[0]
    jar.place(tmp_path).parent.mkdir(parents=True)
    jar.place(tmp_path).write_text("altered")
    check = checks(env={"PATH": ""}, cache=tmp_path)["jars for the connector"]
    assert not check.ok
    assert check.fix == f"rm {jar.place(tmp_path)}"


def test_given_addresses_are_asked_and_secrets_are_kept(tmp_path: Path) -> None:
    """Instead of the parts that would be started."""
    kafka, mongo = free_ports(2)
    found = checks(
        env={"PATH": ""},
        cache=tmp_path,
        kafka=f"{LOOPBACK}:{kafka}",
        mongo=f"mongodb://me:{SECRET}@{LOOPBACK}:{mongo}",
        within_s=0.3,
    )
    assert not found["Kafka"].ok
    assert not found["MongoDB"].ok
    assert "jars for the broker" not in found
    assert SECRET not in str(found)


def test_servers_of_a_living_run_are_not_left_over(run: RunFolder) -> None:
    """Another profile may be running."""
    with Child.start("sleeper", ["sleep", "1000"], run):
        assert not [each for each in left_over_processes() if each.folder == run.path]


def test_a_server_without_its_profile_is_found_with_the_command_that_ends_it(tmp_path: Path) -> None:
    """Whatever program it is: its environment carries the mark."""
    gone = psutil.Popen(["true"])
    gone.wait()
    stray = psutil.Popen(["sleep", "1000"], env=marked(tmp_path, owner=gone.pid))
    shared = psutil.Popen(["sleep", "1000"], env=marked(tmp_path, owner=0))
    try:
        for each in (stray, shared):
            wait_until_it_shows(each)
        pids = {each.pid for each in left_over_processes() if each.folder == tmp_path}
        assert pids == {stray.pid, shared.pid}
        check = checks(env={"PATH": ""}, cache=tmp_path)["left-over processes"]
        assert not check.ok
        assert str(stray.pid) in check.fix.split()
    finally:
        for each in (stray, shared):
            os.kill(each.pid, signal.SIGKILL)
            each.wait()


@pytest.mark.kafka
def test_this_machine_has_what_is_needed() -> None:
    """Where the real parts run, the doctor finds Java and a mongod."""
    found = checks()
    assert found["Java"].ok
    assert found["MongoDB"].ok
    assert found["cores"].found.endswith("usable")
