"""A child process ends with its parent in every case, and tells why it died."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from profiler.errors import ProfileError
from profiler.services.processes.child import Child, Grace, ServiceDied, died, how_it_ended, last_words
from profiler.services.run_folder import RunFolder
from tests.services.starting import (
    marked_when_they_show,
    supervisor_of,
    take_terminal,
    wait_for_end,
    wait_until_it_shows,
)

SERVER = ["sleep", "1000"]
PARENT = """
    import os, signal, sys
    from pathlib import Path
    from profiler.services.processes.child import Child
    from profiler.services.run_folder import create_run_folder

    run = create_run_folder(Path(sys.argv[1]), needed_bytes=0)
    child = Child.start("sleeper", ["sleep", "1000"], run)
"""


def printing(source: str) -> list[str]:
    return [sys.executable, "-c", source]


def test_a_child_runs_until_it_is_stopped(run: RunFolder) -> None:
    """Between start and stop the process is there; afterwards it is not, and stopping again is fine."""
    child = Child.start("sleeper", SERVER, run)
    process = psutil.Process(child.pid)
    wait_until_it_shows(process)
    assert process.cmdline() == SERVER
    child.require_alive()
    child.stop()
    assert not psutil.pid_exists(child.pid)
    child.stop()


def test_output_goes_to_the_log_of_the_run(run: RunFolder) -> None:
    """What a server prints, on either stream, is in logs/<name>.log."""
    with Child.start("talker", ["sh", "-c", "echo out; echo err >&2"], run) as child:
        wait_for_end(child)
    assert (run.logs / "talker.log").read_text() == "out\nerr\n"


def test_a_child_that_ends_by_itself_is_reported_with_its_last_words(run: RunFolder) -> None:
    """The error names the server, the exit code, the telling line of the log and the log."""
    source = "import sys; print('ERROR no room for the data', flush=True); print('bye'); sys.exit(7)"
    with Child.start("server", printing(source), run, title="The server") as child:
        wait_for_end(child)
        with pytest.raises(ServiceDied) as raised:
            child.require_alive()
    assert raised.value.message == "The server ended with exit code 7: ERROR no room for the data."
    assert str(run.logs / "server.log") in raised.value.hint


def test_a_killed_child_is_reported_as_killed(run: RunFolder) -> None:
    """A signal is named, not shown as a number; what the server said before has nothing to do with it."""
    with Child.start("server", ["sh", "-c", "echo ready; exec sleep 1000"], run) as child:
        wait_for_line(child.log, "ready")
        os.kill(child.pid, signal.SIGKILL)
        wait_for_end(child)
        with pytest.raises(ServiceDied) as raised:
            child.require_alive()
    assert raised.value.message == "server was killed by SIGKILL."
    assert "short of memory" in raised.value.hint


def test_a_program_that_does_not_exist_is_refused(run: RunFolder) -> None:
    """The reason of the system is in the message."""
    with pytest.raises(ProfileError, match=r"The server could not be started: .*No such file"):
        Child.start("server", ["/nonexistent/program"], run, title="The server")


def test_a_stubborn_child_is_killed_after_its_grace(run: RunFolder) -> None:
    """A server that ignores SIGTERM ends all the same."""
    source = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); signal.pause()"
    child = Child.start("stubborn", printing(source), run, grace=Grace(terminate_s=0.2))
    wait_for_line(run.logs / "stubborn.log", "ready")
    child.stop()
    assert not psutil.pid_exists(child.pid)
    assert child.exit_code() == 128 + signal.SIGKILL


def test_a_child_that_ends_by_itself_in_time_is_not_terminated(run: RunFolder) -> None:
    """The first stage of a shutdown is waiting."""
    child = Child.start("brief", ["sleep", "0.3"], run, grace=Grace(wait_s=30.0))
    child.stop()
    assert child.exit_code() == 0


def test_what_a_server_started_ends_with_it(run: RunFolder, left) -> None:
    """A server that dies leaves no grandchild behind."""
    with Child.start("family", ["sh", "-c", "sleep 1000 & exit 0"], run) as child:
        wait_for_end(child)
        assert left() == []


def test_a_server_whose_supervisor_is_killed_ends(run: RunFolder) -> None:
    """Killing the supervisor does not set the server free."""
    with Child.start("server", SERVER, run) as child:
        server = psutil.Process(child.pid)
        supervisor_of(server).kill()
        wait_for_end(child)
        psutil.wait_procs([server], timeout=30)
        assert not server.is_running()
        with pytest.raises(ServiceDied, match="SIGKILL"):
            child.require_alive()


def test_kill_9_of_the_parent_leaves_nothing(parent, left, tmp_path: Path) -> None:
    """The kernel closes the pipe, and the supervisor ends the server."""
    program = parent(PARENT + "    print('ready', flush=True); signal.pause()\n")
    assert len(marked_when_they_show(tmp_path, 2)) == 2
    program.kill()
    assert left() == []


def test_a_parent_that_ends_without_stopping_leaves_nothing(parent, left, tmp_path: Path) -> None:
    """An error that nobody catches ends the servers too."""
    program = parent(PARENT + "    print('ready', flush=True); raise SystemExit(3)\n")
    assert program.wait() == 3
    assert left() == []


def test_a_thread_that_started_a_child_may_end_before_it(parent, left, tmp_path: Path) -> None:
    """The end of the starting thread is not the end of the parent."""
    source = """
    import os, signal, sys, threading
    from pathlib import Path
    from profiler.services.processes.child import Child
    from profiler.services.run_folder import create_run_folder

    run, children = create_run_folder(Path(sys.argv[1]), needed_bytes=0), []
    thread = threading.Thread(target=lambda: children.append(Child.start("sleeper", ["sleep", "1000"], run)))
    thread.start()
    thread.join()
    print("ready", flush=True)
    sys.stdin.readline()
    children[0].require_alive()
    print("alive", flush=True)
    """
    program = parent(source, stdin=subprocess.PIPE)
    answer, _ = program.communicate("go\n")
    assert answer == "alive\n"
    assert left() == []


def test_a_forked_copy_of_the_parent_does_not_keep_the_child(parent, left, tmp_path: Path) -> None:
    """A fork inherits the pipe and would hold it open; the parent's id tells that the parent is gone."""
    fork = """
    copy = os.fork()
    if copy == 0:
        signal.pause()
    Path(sys.argv[1], "copy").write_text(str(copy))
    print("ready", flush=True)
    signal.pause()
    """
    program = parent(PARENT + fork)
    program.kill()
    copy = psutil.Process(int((tmp_path / "copy").read_text()))
    try:
        assert left() == []
        assert copy.is_running()
    finally:
        copy.kill()


def test_ctrl_c_lets_the_parent_store_before_the_child_ends(parent, left, tmp_path: Path) -> None:
    """SIGINT goes to the whole group of the terminal, but the server is in another session."""
    handling = """
    try:
        print("ready", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        child.require_alive()
        print("stored", flush=True)
    """
    program = parent(PARENT + handling)
    os.killpg(program.pid, signal.SIGINT)
    assert program.communicate()[0] == "stored\n"
    assert left() == []


def test_a_closed_terminal_leaves_nothing(parent, left, tmp_path: Path) -> None:
    """Closing a terminal sends SIGHUP to the parent, which dies of it."""
    controller, terminal = pty.openpty()
    try:
        program = parent(
            PARENT + "    print('ready', flush=True); signal.pause()\n",
            stdin=terminal,
            preexec_fn=take_terminal,
        )
        assert len(marked_when_they_show(tmp_path, 2)) == 2
    finally:
        os.close(terminal)
        os.close(controller)
    assert program.wait() == -signal.SIGHUP
    assert left() == []


def test_a_full_disk_is_named_as_the_reason(tmp_path: Path) -> None:
    """Found by looking at the disk, where the log could not be written, or in the log."""
    log = tmp_path / "server.log"
    full = died("The server", "ended with exit code 1", log, free=lambda _: 0)
    assert full.message == f"The server ended with exit code 1: the disk of {tmp_path} is full."
    assert "PROFILE_CACHE" in full.hint
    log.write_text("java.io.IOException: No space left on device\nbye\n")
    assert "is full" in died("The server", "ended with exit code 1", log).message


def test_exit_codes_are_put_into_words() -> None:
    """128 + n is signal n, as shells say it."""
    assert how_it_ended(1) == "ended with exit code 1"
    assert how_it_ended(137) == "was killed by SIGKILL"
    assert how_it_ended(-15) == "was killed by SIGTERM"
    assert how_it_ended(255) == "ended with exit code 255"


def test_last_words_of_a_missing_or_empty_log_are_empty(tmp_path: Path) -> None:
    """A server that said nothing is quoted with nothing."""
    assert last_words(tmp_path / "no.log") == ""
    (tmp_path / "empty.log").touch()
    assert last_words(tmp_path / "empty.log") == ""


def wait_for_line(log: Path, line: str) -> None:
    """Follow a log until the line is there."""
    with subprocess.Popen(["tail", "-n", "+1", "-F", log], stdout=subprocess.PIPE, text=True) as tail:
        assert tail.stdout is not None
        assert line in iter(lambda: tail.stdout.readline().strip(), "")
        tail.kill()
