"""Profiles and gates that run at once and share what there is to share: they do not disturb each other."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier

import pytest

from profiler.experiment.events import BlockMeasured, BlockStarted, Phase, RoundDecided, TrialStarted, WindowSeen
from profiler.history.keeper import Keeper
from profiler.history.memory import MemoryStore
from profiler.history.session.keeping import new_run_id
from profiler.job.configuration import Configuration
from profiler.services.run_folder import create_run_folder
from tests.history.histories import TASKS, a_block, a_gate_result, a_gate_run, a_result, a_run, decided
from tests.scenarios import window

ROUNDS, WINDOWS, BLOCKS = 4, 25, 8
"""That each of them measures."""
SPAWNING = multiprocessing.get_context("spawn")
WITHIN_S = 120


def measure_profile(open_store, folder: Path, name: str, throughput_per_s: float) -> None:
    """Keep a profile as `profile run` does: windows, rounds, result."""
    with Keeper(open_store, a_run(name), folder / f"{name}.jsonl") as keeper:
        for number in range(1, ROUNDS + 1):
            outcome = decided(number, throughput_per_s=throughput_per_s)
            keeper(TrialStarted(number, outcome.trial))
            for index in range(WINDOWS):
                keeper(seen_window(Phase.STRESS, index, throughput_per_s))
            keeper(RoundDecided(outcome))
        keeper.keep_result(a_result(name, rounds=0, throughput_per_s=throughput_per_s))


def measure_gate(open_store, folder: Path, name: str, throughput_per_s: float) -> None:
    """Keep a gate as `profile gate` does: windows, blocks, verdict."""
    with Keeper(open_store, a_gate_run(name), folder / f"{name}.jsonl") as keeper:
        for number in range(1, BLOCKS + 1):
            made = a_block(number, throughput_per_s=throughput_per_s)
            keeper(BlockStarted(number - 1, BLOCKS, Configuration.of(TASKS)))
            for index in range(WINDOWS):
                keeper(seen_window(Phase.BLOCK, index, throughput_per_s))
            keeper(BlockMeasured(number, made.block, made.expected_per_s, made.loop_s))
        keeper.keep_result(a_gate_result(name))


def seen_window(phase: Phase, index: int, throughput_per_s: float) -> WindowSeen:
    return WindowSeen(phase, index + 1, WINDOWS, Configuration.of(TASKS), window(throughput_per_s))


def require_undisturbed(store, profiles: dict[str, float], gates: dict[str, float]) -> None:
    """Every run is whole, and all that it holds is its own."""
    assert {each.run.id for each in store.find_runs(kind=None)} == {*profiles, *gates}
    for name, throughput in profiles.items():
        assert store.rounds(name) == tuple(
            decided(number, throughput_per_s=throughput) for number in range(1, ROUNDS + 1)
        )
        windows = store.windows(name)
        assert [each.round for each in windows] == [n for n in range(1, ROUNDS + 1) for _ in range(WINDOWS)]
        assert {each.observation.throughput_per_s for each in windows} == {throughput}
        assert store.load_run(name).answer.best.throughput_per_s == throughput
    for name, throughput in gates.items():
        blocks = store.blocks(name)
        assert [each.number for each in blocks] == list(range(1, BLOCKS + 1))
        assert {each.block.windows[0].throughput_per_s for each in blocks} == {throughput}
        assert len(store.windows(name)) == BLOCKS * WINDOWS
        assert store.load_run(name).gate.verdict == "pass"


def test_two_profiles_and_two_gates_share_a_store_in_memory(tmp_path):
    """Each in a thread of its own, with the same moments and numbers; somebody lists all along."""
    store, start = MemoryStore(), Barrier(5)
    profiles, gates = {"one": 1.0, "two": 2.0}, {"gate-one": 3.0, "gate-two": 4.0}

    def measured(measure, name, throughput):
        start.wait(WITHIN_S)
        measure(lambda: store, tmp_path, name, throughput)

    def listed():
        start.wait(WITHIN_S)
        for _ in range(200):
            store.find_runs(kind=None)

    with ThreadPoolExecutor(5) as pool:
        going = [pool.submit(measured, measure_profile, *each) for each in profiles.items()]
        going += [pool.submit(measured, measure_gate, *each) for each in gates.items()]
        going.append(pool.submit(listed))
        for each in going:
            each.result(WITHIN_S)
    require_undisturbed(store, profiles, gates)


def store_of_mongo(uri: str):
    from profiler.history.mongo.store import MongoStore

    return MongoStore(uri)


def in_a_process(measure, uri, folder, name, throughput, start) -> None:
    """Open a history that nobody has opened before, in the same moment as the others."""
    start.wait(WITHIN_S)
    measure(lambda: store_of_mongo(uri), folder, name, throughput)


@pytest.mark.mongo
def test_processes_share_one_mongodb(mongo_uri, tmp_path):
    """Collections and indexes are made by whoever comes first, and nobody sees the others' windows."""
    profiles, gates = {"one": 1.0, "two": 2.0}, {"gate-one": 3.0}
    jobs = [(measure_profile, *each) for each in profiles.items()] + [(measure_gate, *each) for each in gates.items()]
    start = SPAWNING.Barrier(len(jobs))
    processes = [
        SPAWNING.Process(target=in_a_process, args=(measure, mongo_uri, tmp_path, name, throughput, start))
        for measure, name, throughput in jobs
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(WITHIN_S)
    assert [process.exitcode for process in processes] == [0] * len(jobs)
    assert list(tmp_path.glob("*.jsonl")) == []
    store = store_of_mongo(mongo_uri)
    require_undisturbed(store, profiles, gates)
    store.close()


def with_a_folder(cache, start, done, names) -> None:
    start.wait(WITHIN_S)
    with create_run_folder(cache, needed_bytes=0) as folder:
        (folder.data / "mine").write_text(folder.name)
        done.wait(WITHIN_S)  # all of them have theirs
        names.put((folder.name, (folder.data / "mine").read_text()))
        done.wait(WITHIN_S)


def test_processes_that_start_at_once_have_folders_of_their_own(tmp_path):
    """And nobody clears away what another one uses."""
    start, done, names = SPAWNING.Barrier(3), SPAWNING.Barrier(3), SPAWNING.Queue()
    processes = [SPAWNING.Process(target=with_a_folder, args=(tmp_path, start, done, names)) for _ in range(3)]
    for process in processes:
        process.start()
    found = [names.get(timeout=WITHIN_S) for _ in processes]
    for process in processes:
        process.join(WITHIN_S)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert len({name for name, _ in found}) == 3
    assert all(name == written for name, written in found)


def test_runs_that_start_at_once_have_names_of_their_own():
    """Within one second, too."""
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    names = {new_run_id(now) for _ in range(1000)}
    assert len(names) == 1000
    assert all(name.startswith("20260301-120000-") for name in names)
