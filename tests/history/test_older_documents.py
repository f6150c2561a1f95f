"""Documents as an older profile really wrote them: `older/` holds an export and a baseline from before gates lasted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from profiler.history.baselines import baseline_from
from profiler.history.files.exchange import import_file
from profiler.history.memory import MemoryStore
from profiler.history.records import RunKind, RunState

OLDER = Path(__file__).parent / "older"
RUN = "20250301-120000-0a1b2c3d"


def older_lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (OLDER / "history-1.jsonl").read_text().splitlines()]


def older_baseline() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((OLDER / "baseline-1.json").read_text())
    return document


def require_whole(store):
    """All of the older run is there, as today's documents are."""
    found = store.load_run(RUN)
    assert (found.run.kind, found.state, found.blocks) == (RunKind.PROFILE, RunState.FINISHED, 0)
    kinds = [line["kind"] for line in older_lines()]
    assert len(store.windows(RUN)) == kinds.count("window") > 0
    assert len(store.rounds(RUN)) == found.rounds == kinds.count("round") > 0
    assert found.answer.best.throughput_per_s == older_lines()[-1]["document"]["best"]["throughput_per_s"]
    assert [each.run.id for each in store.find_runs()] == [RUN]
    assert store.find_runs(kind=RunKind.GATE) == []


def test_the_older_documents_are_older():
    """Else these tests would show nothing."""
    assert "kind" not in older_lines()[0]["document"]
    assert older_baseline()["schema"] == "profile-baseline/1"
    assert "run" not in older_baseline()


def test_an_older_export_is_imported():
    """A run from before there were gates is a profile."""
    store = MemoryStore()
    import_file(store, OLDER / "history-1.jsonl")
    require_whole(store)


def test_an_older_baseline_is_read():
    """Its blocks are what they were."""
    baseline = baseline_from(older_baseline())
    assert (baseline.name, baseline.run, len(baseline.blocks)) == ("main", None, 4)
    first = older_baseline()["blocks"][0]["windows"][0]
    assert baseline.blocks[0].windows[0].throughput_per_s == first["throughput_per_s"]


@pytest.mark.mongo
def test_an_older_database_is_read(mongo_uri):
    """Entries as version 1 wrote them, without the fields that are looked up today; a new one lies beside them."""
    import pymongo

    from profiler.history.mongo.store import MongoStore
    from profiler.history.records import window_from
    from tests.history.histories import a_gate_run

    header, *records = older_lines()
    with pymongo.MongoClient[dict[str, Any]](mongo_uri) as client:
        database = client.get_default_database()
        MongoStore(mongo_uri).close()
        run = header["document"]
        looked_up = {"topology": run["topology"], "engine": run["engine"]}
        started = window_from(records[0]["document"]).at
        database.runs.insert_one({"_id": RUN, **looked_up, "started": started, "document": run})
        for record in records:
            document = record["document"]
            if record["kind"] == "round":
                database.rounds.insert_one(
                    {"run": RUN, "number": document["number"], "decided": True, "document": document}
                )
            elif record["kind"] == "window":
                belongs = {"id": RUN, "round": document["round"], "block": None, "phase": document["phase"]}
                database.observations.insert_one({"at": window_from(document).at, "run": belongs, "document": document})
            else:
                database.profiles.insert_one({"_id": RUN, "document": document})
        database.baselines.insert_one({**looked_up, "name": "main", "document": older_baseline()})
    store = MongoStore(mongo_uri)
    require_whole(store)
    assert store.load_baseline("linear", "simulated", "main") == baseline_from(older_baseline())
    assert [(each.name, each.run) for each in store.baselines()] == [("main", None)]
    store.begin_run(a_gate_run("gate-1"))
    assert [each.run.id for each in store.find_runs(kind=None)] == [RUN, "gate-1"]
    assert [each.run.id for each in store.find_runs()] == [RUN]
    store.close()
