"""A gate that is killed in the middle, with a real database: nothing stored is lost, and the next call goes on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import profiler

pytestmark = pytest.mark.mongo

GATE = ("gate", "linear", "--engine", "simulated", "--noise", "shared", "--max-slowdown", "1%")
KILLED = """
import os, signal
from profiler.__main__ import main
from profiler.engines.simulated.engine import SimulatedEngine

deploy, count = SimulatedEngine.deploy, iter(range(100))

def until(self, *rest, **more):
    if next(count) == 6:  # one that loads the engine, and five blocks
        os.kill(os.getpid(), signal.SIGKILL)
    return deploy(self, *rest, **more)

SimulatedEngine.deploy = until
main()
"""


def test_a_killed_gate_is_gone_on_with(folder, cache, shell):
    """kill -9 in the sixth block: five are in the history, and only the others are measured."""
    (folder / "killed.py").write_text(KILLED)
    saving = (*GATE, "--save-baseline", "main")
    killed = subprocess.run(
        [sys.executable, "killed.py", *saving],
        env={**os.environ, "PYTHONPATH": str(Path(profiler.__file__).parents[1]), "PROFILE_CACHE": str(cache)},
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert killed.returncode == -9

    def profile(*arguments):
        answer = shell(*arguments, PROFILE_CACHE=str(cache))
        assert answer.returncode == 0, answer.stderr
        return answer

    (gate,) = json.loads(profile("history", "list", "--kind", "gate", "--json").stdout)["runs"]
    assert (gate["state"], gate["blocks"]) == ("unfinished", 5)
    went_on = profile(*saving)
    assert f"going on with gate {gate['run']}, which was interrupted after 5 blocks" in went_on.stderr
    assert re.findall(r"block (\d+) of 16", went_on.stderr)[0] == "6"
    assert "blocks 1 to 5 are of a session that was interrupted" in profile("history", "show", gate["run"]).stdout
    spared = profile("history", "prune", "--keep-last", "0", "--yes").stdout
    assert f"kept: {gate['run']}, as baseline 'main' of linear came from it" in spared
