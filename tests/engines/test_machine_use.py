"""How much of the machine the profile uses: this process and all it started, nobody else."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil

from profiler.engines.spark.jvm.machine_use import MachineUse

BUSY = """
import time
end = time.process_time() + 0.5
while time.process_time() < end: pass
print("done", flush=True)
time.sleep(60)
"""


def test_what_children_use_counts():
    """Half a second of a child's CPU time is there, however busy the machine is."""
    use = MachineUse(os.getpid())
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
    use = MachineUse(os.getpid())
    time.sleep(0.3)
    assert use.look().cores < 0.5 * psutil.cpu_count()
