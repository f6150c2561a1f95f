"""What every store must do: one class, run on the store in memory and on MongoDB."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from profiler.errors import UsageError
from profiler.history.memory import MemoryStore
from profiler.history.records import Answer, Best, BlocksAnswer, Confirmed, Result, RunKind, RunState
from profiler.history.store import NoSuchBaseline, NoSuchRun, Store, UnreadableRun, write_records
from profiler.history.unreadable import Unreadable
from profiler.statistics.result import Verdict
from tests.history.histories import (
    NOON,
    TASKS,
    a_baseline,
    a_block,
    a_gate_result,
    a_gate_run,
    a_result,
    a_run,
    decided,
    measured,
    seen,
)


@pytest.fixture(params=["memory", pytest.param("mongo", marks=pytest.mark.mongo)])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    from profiler.history.mongo.store import MongoStore

    opened = MongoStore(request.getfixturevalue("mongo_uri"))
    yield opened
    opened.close()


class TestStore:
    def test_a_run_comes_back_as_it_was_begun(self, store: Store) -> None:
        """To the microsecond of its start, with nothing measured yet."""
        store.begin_run(a_run())
        found = store.load_run("run-1")
        assert (found.run, found.rounds, found.answer) == (a_run(), 0, None)

    def test_beginning_a_run_again_changes_nothing(self, store: Store) -> None:
        """A resumed run keeps its start."""
        store.begin_run(a_run())
        store.begin_run(a_run(minutes=5))
        assert store.load_run("run-1").run == a_run()

    def test_an_unknown_run_is_wrong_usage_and_the_nearest_name_is_suggested(self, store: Store) -> None:
        """A mistyped name is the usual reason."""
        store.begin_run(a_run("20250301-120000-abcd"))
        with pytest.raises(NoSuchRun, match=r"'20250301-120000-abce'.*Did you mean '20250301-120000-abcd'") as refused:
            store.load_run("20250301-120000-abce")
        assert isinstance(refused.value, UsageError)

    @pytest.mark.parametrize("name", ["\udcff", "run-\ud800", "\0", "r" * 5000])
    def test_what_can_be_no_name_is_an_unknown_run_too(self, store: Store, name: str) -> None:
        """It is the user's mistake, and no trouble of the database."""
        store.begin_run(a_run())
        with pytest.raises(NoSuchRun):
            store.load_run(name)

    def test_rounds_come_back_equal_and_in_order(self, store: Store) -> None:
        """Infinities, doubts, dots and dollars in names included: a replay must see what was measured."""
        for number in (2, 1, 3):
            store.save_round("run-1", decided(number))
        assert store.rounds("run-1") == (decided(1), decided(2), decided(3))

    def test_a_round_is_saved_under_its_number(self, store: Store) -> None:
        """First as it was measured, then with its decision."""
        store.save_round("run-1", measured(1))
        assert store.rounds("run-1") == (measured(1),)
        store.save_round("run-1", decided(1))
        assert store.rounds("run-1") == (decided(1),)

    def test_a_decided_round_is_not_replaced_by_an_undecided_one(self, store: Store) -> None:
        """A record that was held up on its way must not undo a later one."""
        store.save_round("run-1", decided(1))
        store.save_round("run-1", measured(1, throughput_per_s=7))
        assert store.rounds("run-1") == (decided(1),)
        store.save_round("run-1", decided(1, throughput_per_s=7))
        assert store.rounds("run-1") == (decided(1, throughput_per_s=7),)

    def test_windows_come_back_equal_and_in_the_order_they_were_seen(self, store: Store) -> None:
        """Also within one millisecond, which is what MongoDB tells apart by itself."""
        store.add_windows("run-1", [seen(30, block=2), seen(10)])
        store.add_windows("run-1", [seen(20, throughput_per_s=50)])
        expected = (seen(10), seen(20, throughput_per_s=50), seen(30, block=2))
        assert store.windows("run-1") == expected

    def test_windows_that_are_there_are_not_doubled(self, store: Store) -> None:
        """After an error nobody knows whether a write arrived, so it is sent again."""
        store.add_windows("run-1", [seen(10), seen(20)])
        store.add_windows("run-1", [seen(20), seen(5_000_000), seen(5_000_000)])
        store.add_windows("run-1", [])
        assert store.windows("run-1") == (seen(10), seen(20), seen(5_000_000))

    def test_a_result_comes_back_whole_and_gives_the_list_its_answer(self, store: Store) -> None:
        """With the record of every round, which is saved as a round too."""
        store.begin_run(a_run())
        store.save_result("run-1", a_result())
        assert store.result("run-1") == a_result()
        assert store.rounds("run-1") == (decided(1), decided(2))
        found = store.load_run("run-1")
        assert found.rounds == 2
        assert found.answer == Answer(
            Best(TASKS, 100.0), 0.25, Confirmed(0.24, Verdict.INCREASED), complete=True, warnings=("state was empty",)
        )

    def test_a_later_result_replaces_an_earlier_one(self, store: Store) -> None:
        """A run that its budget ended may be gone on with."""
        store.save_result("run-1", a_result(complete=False))
        store.save_result("run-1", a_result(throughput_per_s=200.0))
        assert store.result("run-1") == a_result(throughput_per_s=200.0)

    def test_a_run_without_a_result_has_none(self, store: Store) -> None:
        """It was interrupted, or goes on."""
        store.begin_run(a_run())
        assert store.result("run-1") is None

    def test_runs_are_found_the_newest_first(self, store: Store) -> None:
        """By topology, engine, start and number; the filters add up."""
        store.begin_run(a_run("old", minutes=-60))
        store.begin_run(a_run("new", minutes=60))
        store.begin_run(a_run("simulated", engine="simulated"))
        store.begin_run(a_run("linear", topology="linear", minutes=30))
        store.save_round("old", decided(1))

        def found(**wanted: object) -> list[str]:
            return [each.run.id for each in store.find_runs(**wanted)]  # type: ignore[arg-type]

        assert found() == ["new", "linear", "simulated", "old"]
        assert found(limit=2) == ["new", "linear"]
        assert found(topology="word-count") == ["new", "simulated", "old"]
        assert found(engine="spark", topology="word-count") == ["new", "old"]
        assert found(since=NOON + timedelta(minutes=30)) == ["new", "linear"]
        assert found(topology="no such") == []
        assert [each.rounds for each in store.find_runs()] == [0, 0, 0, 1]

    def test_blocks_of_a_gate_come_back_equal_and_in_order(self, store: Store) -> None:
        """One that is sent again, as nobody knew whether it arrived, is there once; one measured again is replaced."""
        for number in (2, 1, 1):
            store.save_block("gate-1", a_block(number))
        store.save_block("gate-1", a_block(2, throughput_per_s=7))
        store.save_block("gate-2", a_block(1, throughput_per_s=9))
        assert store.blocks("gate-1") == (a_block(1), a_block(2, throughput_per_s=7))

    def test_a_gate_has_a_verdict_for_the_list(self, store: Store) -> None:
        """And its whole document."""
        store.begin_run(a_gate_run())
        store.save_block("gate-1", a_block(1))
        store.save_result("gate-1", a_gate_result(verdict="slower"))
        found = store.load_run("gate-1")
        assert (found.run, found.answer, found.rounds, found.blocks) == (a_gate_run(), None, 0, 1)
        assert found.gate == BlocksAnswer("slower", "a slowdown of 10% is ruled out")
        assert store.result("gate-1") == a_gate_result(verdict="slower")

    def test_runs_are_found_by_kind_and_state(self, store: Store) -> None:
        """Whoever asks for runs gets profiles: a gate is no answer to what the best configuration is."""
        store.begin_run(a_run("open"))
        for name, complete in (("done", True), ("short", False)):
            store.begin_run(a_run(name, minutes=1))
            store.save_result(name, a_result(name, rounds=0, complete=complete))
        store.begin_run(a_gate_run("gate-open", minutes=2))
        store.save_block("gate-open", a_block(1))
        for name, complete in (("gate-done", True), ("gate-short", False)):
            store.begin_run(a_gate_run(name, minutes=3))
            store.save_result(name, a_gate_result(name, complete=complete))

        def found(**wanted: object) -> list[str]:
            return [each.run.id for each in store.find_runs(**wanted)]  # type: ignore[arg-type]

        assert found() == ["short", "done", "open"]
        assert found(kind=RunKind.GATE) == ["gate-short", "gate-done", "gate-open"]
        assert found(kind=None) == ["gate-short", "gate-done", "gate-open", "short", "done", "open"]
        assert found(kind=None, state=RunState.UNFINISHED) == ["gate-open", "open"]
        assert found(kind=None, state=RunState.FINISHED) == ["gate-done", "done"]
        assert found(kind=None, state=RunState.CUT_SHORT) == ["gate-short", "short"]
        assert found(state=RunState.FINISHED, limit=1) == ["done"]
        states = {each.run.id: each.state for each in store.find_runs(kind=None)}
        assert states["gate-open"] is RunState.UNFINISHED
        assert states["gate-short"] is RunState.CUT_SHORT

    def test_two_runs_at_once_do_not_see_each_other(self, store: Store) -> None:
        """Same numbers, same moments: the run tells them apart."""
        for name, throughput in (("one", 1.0), ("two", 2.0)):
            store.begin_run(a_run(name))
            store.add_windows(name, [seen(10, throughput_per_s=throughput)])
            store.save_round(name, decided(1, throughput_per_s=throughput))
            store.save_result(name, a_result(name, rounds=0, throughput_per_s=throughput))
        store.delete_run("one")
        assert [each.run.id for each in store.find_runs()] == ["two"]
        assert store.windows("two") == (seen(10, throughput_per_s=2.0),)
        assert store.rounds("two") == (decided(1, throughput_per_s=2.0),)
        assert store.result("two") == a_result("two", rounds=0, throughput_per_s=2.0)

    def test_nothing_is_left_of_a_deleted_run(self, store: Store) -> None:
        """Deleting it again is fine."""
        store.begin_run(a_run())
        store.add_windows("run-1", [seen(10)])
        store.save_result("run-1", a_result())
        store.delete_run("run-1")
        store.delete_run("run-1")
        assert (store.find_runs(), store.windows("run-1"), store.rounds("run-1")) == ([], (), ())
        assert store.result("run-1") is None

    def test_nothing_is_left_of_a_deleted_gate(self, store: Store) -> None:
        """Neither its blocks nor its verdict."""
        store.begin_run(a_gate_run())
        store.save_block("gate-1", a_block(1))
        store.save_result("gate-1", a_gate_result())
        store.delete_run("gate-1")
        assert (store.find_runs(kind=None), store.blocks("gate-1"), store.result("gate-1")) == ([], (), None)

    def test_records_of_all_kinds_are_written(self, store: Store) -> None:
        """In one call, as the keeper and an import do."""
        store.begin_run(a_run())
        write_records(store, "run-1", [seen(1), seen(2), measured(1), seen(3), decided(1), Result(a_result(rounds=1))])
        assert store.windows("run-1") == (seen(1), seen(2), seen(3))
        assert store.rounds("run-1") == (decided(1),)
        assert store.result("run-1") == a_result(rounds=1)
        write_records(store, "gate-1", [seen(1), a_block(1), a_block(2), Result(a_gate_result())])
        assert store.blocks("gate-1") == (a_block(1), a_block(2))

    def test_credentials_are_not_stored(self, store: Store) -> None:
        """Whoever puts a URI into a document by mistake does not give its password away."""
        uri = "mongodb://user:pa/ss@host:27017/db"
        store.begin_run(a_run(environment={"mongo": uri}))
        store.save_result("run-1", a_result() | {"environment": {"kafka": [uri]}})
        result = store.result("run-1")
        assert result is not None
        assert store.load_run("run-1").run.environment["mongo"] == "mongodb://***@host:27017/db"
        assert result["environment"] == {"kafka": ["mongodb://***@host:27017/db"]}

    def test_a_baseline_comes_back_as_it_was_saved(self, store: Store) -> None:
        """Windows, infinities, odd names and the moment included: a later gate is judged by it."""
        store.save_baseline(a_baseline())
        assert store.load_baseline("word-count", "spark", "main") == a_baseline()

    def test_a_baseline_that_is_saved_again_is_replaced(self, store: Store) -> None:
        """There is one of a name."""
        store.save_baseline(a_baseline())
        store.save_baseline(a_baseline(throughput_per_s=7.0, revision=None, loop_s=None))
        assert store.load_baseline("word-count", "spark", "main").throughput_per_s == 7.0
        assert store.baseline_names("word-count", "spark") == ["main"]

    def test_baselines_are_told_apart_by_topology_engine_and_name(self, store: Store) -> None:
        """Every job may have its own 'main', on every engine."""
        places = [("word-count", "spark", "main"), ("word-count", "spark", "old"), ("linear", "spark", "main")]
        places.append(("word-count", "simulated", "main"))
        for number, (topology, engine, name) in enumerate(places):
            store.save_baseline(a_baseline(name, topology=topology, engine=engine, throughput_per_s=float(number)))
        found = [store.load_baseline(*place).throughput_per_s for place in places]
        assert found == [0.0, 1.0, 2.0, 3.0]
        assert store.baseline_names("word-count", "spark") == ["main", "old"]
        assert store.baseline_names("star", "spark") == []

    def test_baselines_are_listed_and_deleted(self, store: Store) -> None:
        """Without their blocks; deleting one again is fine."""
        store.save_baseline(a_baseline(run="gate-1"))
        store.save_baseline(a_baseline("old", topology="linear"))
        listed = [(each.topology, each.engine, each.name, each.saved, each.run) for each in store.baselines()]
        assert listed == [("linear", "spark", "old", NOON, None), ("word-count", "spark", "main", NOON, "gate-1")]
        store.delete_baseline("word-count", "spark", "main")
        store.delete_baseline("word-count", "spark", "main")
        assert [each.name for each in store.baselines()] == ["old"]

    def test_an_unknown_baseline_is_wrong_usage_and_the_known_ones_are_named(self, store: Store) -> None:
        """With the way to one."""
        store.save_baseline(a_baseline("release"))
        with pytest.raises(
            NoSuchBaseline, match=r"no baseline 'main' of word-count on spark\. Known: release\. Save one"
        ):
            store.load_baseline("word-count", "spark", "main")
        with pytest.raises(UsageError, match=r"no baseline 'main' of linear on spark\. Save one: profile gate"):
            store.load_baseline("linear", "spark", "main")

    def test_a_baseline_holds_no_credentials(self, store: Store) -> None:
        """Wherever a URI came from."""
        store.save_baseline(a_baseline(environment={"machine": "spark://user:pw@host:7077"}))
        assert store.load_baseline("word-count", "spark", "main").environment == {"machine": "spark://***@host:7077"}

    def test_a_run_that_can_t_be_read_is_left_out_and_told(self, store: Store) -> None:
        """Asked for by its name it is refused; it can be deleted like others."""
        store.begin_run(a_run("good"))
        store.begin_run(replace(a_run("no topology"), topology=5))  # type: ignore[arg-type]
        store.begin_run(a_run("no result"))
        store.save_result("no result", {**a_result("no result"), "gain": "much"})
        spoiled: list[Unreadable] = []
        assert [found.run.id for found in store.find_runs(spoiled=spoiled.append)] == ["good"]
        assert {each.name for each in spoiled} == {"no topology", "no result"}
        for name in ("no topology", "no result"):
            with pytest.raises(UnreadableRun, match=f"Run '{name}' can't be read: A stored r"):
                store.load_run(name)
            store.delete_run(name)
        spoiled.clear()
        assert len(store.find_runs(spoiled=spoiled.append)) == 1
        assert spoiled == []

    def test_a_baseline_that_can_t_be_read_is_left_out_and_told(self, store: Store) -> None:
        """It is named by what it is found by."""
        store.save_baseline(a_baseline("fine"))
        store.save_baseline(replace(a_baseline("spoiled"), run=5))  # type: ignore[arg-type]
        spoiled: list[Unreadable] = []
        assert [each.name for each in store.baselines(spoiled.append)] == ["fine"]
        assert [each.name for each in spoiled] == [("word-count", "spark", "spoiled")]
        store.delete_baseline("word-count", "spark", "spoiled")
        assert len(store.baselines(spoiled.append)) == len(spoiled) == 1
