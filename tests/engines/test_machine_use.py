"""How much of the machine the profile uses, this process and all it started, and how much others do."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil

from profiler.engines.spark.jvm.machine_use import MachineUse, listeners
from scripts.benches.disturber import Disturber

BUSY = """
import time
end = time.process_time() + 0.5
while time.process_time() < end: pass
print("done", flush=True)
time.sleep(60)
"""


def test_what_children_use_counts():
    """Half a second of a child's CPU time is there, however busy the machine is."""
    use = MachineUse(os.getpid(), lambda: None)
    began_s = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        cores = use.look().cores
        passed_s = time.monotonic() - began_s
        child.kill()
    assert cores * passed_s > 0.45


def test_waiting_uses_nothing():
    """Nothing that this process did not start or do itself is counted."""
    use = MachineUse(os.getpid(), lambda: None)
    time.sleep(0.3)
    assert use.look().cores < 0.5 * psutil.cpu_count()


def test_a_child_that_has_ended_still_counts_as_ours():
    """Else what it used would look like another program's."""
    use = MachineUse(os.getpid(), lambda: None)
    began_s = time.monotonic()
    subprocess.run([sys.executable, "-c", BUSY.replace("time.sleep(60)", "")], stdout=subprocess.PIPE, check=True)
    assert use.look().cores * (time.monotonic() - began_s) > 0.45


def test_a_program_that_nobody_here_started_is_another_one():
    """It burns half a core: that is there, whatever else the machine does, and is none of ours."""
    with Disturber(off_s=0.0, on_s=60.0) as neighbour:
        burnt = psutil.Process(neighbour.process)
        use = MachineUse(os.getpid(), lambda: None)
        before, began_s = burnt.cpu_times(), time.monotonic()
        while sum(burnt.cpu_times()[:2]) < sum(before[:2]) + 0.3:
            time.sleep(0.1)
        seen = use.look()
        passed_s = time.monotonic() - began_s
    assert seen.disturbance.other_cores * passed_s > 0.25
    assert seen.cores * passed_s < 0.2
    assert seen.disturbance.cores == len(psutil.Process().cpu_affinity())


def test_pauses_are_those_since_the_last_look():
    """The JVM counts from its start; one that does not answer tells nothing."""
    told = iter((1.5, 1.75, None, 2.0))
    use = MachineUse(os.getpid(), lambda: next(told))
    assert [use.look().disturbance.gc_s for _ in range(3)] == [0.25, None, None]


LISTENING = """
import socket, time
with socket.create_server(("127.0.0.1", 0)) as listening:
    print(listening.getsockname()[1], flush=True)
    time.sleep(60)
"""


def test_a_broker_that_somebody_else_started_here_is_none_of_the_others():
    """Who listens on its port is found; nobody is asked of a port elsewhere."""
    with subprocess.Popen([sys.executable, "-c", LISTENING], stdout=subprocess.PIPE, text=True) as broker:
        assert broker.stdout is not None
        port = broker.stdout.readline().strip()
        here, elsewhere = listeners(f"localhost:{port},other:1"), listeners(f"a.cluster:{port}")
        broker.kill()
    assert [each.pid for each in here] == [broker.pid]
    assert elsewhere == listeners("") == ()
