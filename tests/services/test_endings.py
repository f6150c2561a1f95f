"""A profile with a real broker and a real database may end in any way: nothing of it stays."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from profiler.services.processes.marked import marked_processes

PROFILE = """
    import signal, sys
    from pathlib import Path
    from profiler.services.kafka import start_kafka
    from profiler.services.jars import JarSet, jar_paths
    from profiler.services.java import find_java
    from profiler.services.mongo import open_mongo
    from profiler.services.run_folder import cache_directory, create_run_folder

    cache = Path(sys.argv[1])
    jars = jar_paths(JarSet.BROKER, cache_directory())
    with create_run_folder(cache, needed_bytes=0) as run, \\
            start_kafka(find_java().executable, jars, run) as kafka, open_mongo(None, cache) as mongo:
        try:
            print("ready", flush=True)
            signal.pause()
        except KeyboardInterrupt:
            kafka.check()
            mongo.check()
            print("stored", flush=True)
"""


@pytest.mark.exact
@pytest.mark.kafka
@pytest.mark.mongo
def test_kill_9_of_a_profile_leaves_no_server(parent, left, tmp_path: Path) -> None:
    """Broker, database and their supervisors: four processes before, none after."""
    program = parent(PROFILE)
    assert len(marked_processes(tmp_path)) == 4
    program.kill()
    assert left() == []


@pytest.mark.exact
@pytest.mark.kafka
@pytest.mark.mongo
def test_ctrl_c_leaves_the_servers_until_the_results_are_stored(parent, left, tmp_path: Path) -> None:
    """SIGINT to the whole group: both still answer in the handler, then both end."""
    program = parent(PROFILE)
    os.killpg(program.pid, signal.SIGINT)
    answer = program.communicate()[0]
    assert answer == "stored\n"
    assert program.returncode == 0
    assert marked_processes(tmp_path) == (), "the profile waited for their end"
    assert left() == []
