"""How busy a JVM's compilers are: threads with their names, in one process, from look to look."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from profiler.engines.spark.jvm.compilers import Compilers

TWO_THREADS = """
import ctypes, sys, threading, time
def work(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
    end = time.thread_time() + 0.2
    while time.thread_time() < end: pass
    done.append(name)
    time.sleep(60)
done = []
sys.stdin.readline()
for name in sys.argv[1:]: threading.Thread(target=work, args=(name.encode(),), daemon=True).start()
while len(done) < len(sys.argv) - 1: time.sleep(0.01)
print("done", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux keeps an account of threads")
@pytest.mark.parametrize(
    ("names", "seconds"),
    [(["C2 CompilerThread0", "other (work)"], 0.2), (["C1 CompilerThread0", "C2 CompilerThread1"], 0.4), (["G1"], 0.0)],
)
def test_compilers_are_told_from_other_threads(names, seconds):
    """A fifth of a second of each compiler is there, and nothing of anybody else."""
    command = [sys.executable, "-c", TWO_THREADS, *names]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        clock = iter((0.0, 2.0, 4.0))
        compilers = Compilers(process.pid, clock=lambda: next(clock))
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        cores, later = compilers.cores(), compilers.cores()
        process.kill()
    assert 2.0 * cores == pytest.approx(seconds, abs=0.08)
    assert later < 0.1


def test_a_process_that_is_gone_compiles_nothing():
    """An engine that has died must not make its last window fail."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert Compilers(process.pid).cores() == 0
