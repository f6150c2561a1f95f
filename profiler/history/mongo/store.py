"""A store in MongoDB: windows as a time series, rounds, blocks, results and runs as plain collections.

    runs          {_id: run, topology, engine, kind, started, document}
    observations  {at, run: {id, round, block, phase}, document}   a time series
    rounds        {run, number, decided, document}                 unique by run and number
    blocks        {run, number, document}                          of gates; unique by run and number
    profiles      {_id: run, document}                             the result without its rounds' records
    gates         {_id: run, document}                             the result of a gate
    baselines     {topology, engine, name, document}               unique by the first three
    meta          {_id: "schema", version}                         of this layout; documents have their own

`document` is what an export holds; the fields beside it are what is looked up. A write is acknowledged when it is in
the journal, so a killed mongod loses nothing that was acknowledged. A time series has no unique index: windows that
are there already are found by a look before the insert, which suffices as one profile writes one run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import pymongo
from pymongo.collection import Collection
from pymongo.errors import ConfigurationError, DuplicateKeyError

from profiler.errors import ProfileError, UsageError
from profiler.experiment.rounds import Round
from profiler.history.baselines import Baseline, SavedBaseline, baseline_document, baseline_from, saved_baselines
from profiler.history.documents import round_document, round_from
from profiler.history.mongo.errors import clear_errors
from profiler.history.mongo.schema import MIGRATIONS, Entry, Migration, prepare
from profiler.history.records import (
    MeasuredBlock,
    Run,
    RunKind,
    RunState,
    SeenWindow,
    StoredRun,
    block_document,
    block_from,
    has_blocks,
    result_joined,
    result_parts,
    run_document,
    run_from,
    stored_run,
    window_document,
    window_from,
)
from profiler.history.store import SCHEMA_VERSION, NoSuchBaseline, NoSuchRun, UnreadableRun
from profiler.history.unreadable import Spoiled, Unreadable, ignored
from profiler.services.mongo import redacted

TIMEOUT_S = 5.0
DATABASE = "profile"
"""The database where the URI names none, or one of MongoDB's own, which people put there for authentication."""
_NOT_OURS = frozenset({"admin", "config", "local"})


class MongoStore:
    """Keep histories in the database that the URI names."""

    def __init__(
        self,
        uri: str,
        *,
        timeout_s: float = TIMEOUT_S,
        version: int = SCHEMA_VERSION,
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> None:
        self._shown = redacted(uri)
        timeout_ms = int(timeout_s * 1000)
        try:
            self._client: pymongo.MongoClient[Entry] = pymongo.MongoClient(
                uri,
                tz_aware=True,
                serverSelectionTimeoutMS=timeout_ms,
                connectTimeoutMS=timeout_ms,
                socketTimeoutMS=timeout_ms,
                w="majority",
                journal=True,
                wTimeoutMS=timeout_ms,
            )
        except (ConfigurationError, ValueError, TypeError):  # its own message may quote the URI
            raise UsageError(
                f"{self._shown} is no MongoDB URI.", hint="Write mongodb://HOST:PORT, special characters %-encoded."
            ) from None
        try:
            with clear_errors(self._shown):
                named = self._client.get_default_database(DATABASE)
                self._database = self._client[DATABASE] if named.name in _NOT_OURS else named
                prepare(self._database, self._shown, version=version, migrations=migrations)
        except BaseException:
            self._client.close()
            raise

    def begin_run(self, run: Run) -> None:
        """Make a run known."""
        document = run_document(run)
        looked_up = {"topology": run.topology, "engine": run.engine, "kind": str(run.kind), "started": run.started}
        with clear_errors(self._shown):
            self._database.runs.update_one(
                {"_id": run.id}, {"$setOnInsert": {**looked_up, "document": document}}, upsert=True
            )

    def add_windows(self, run: str, windows: Sequence[SeenWindow]) -> None:
        """Add windows that are not there yet."""
        if not windows:
            return
        entries = {document["at"]: _window_entry(run, window, document) for window, document in _documents(windows)}
        moments = [window.at for window in windows]
        between = {"run.id": run, "at": {"$gte": min(moments), "$lte": max(moments)}}
        with clear_errors(self._shown):
            for known in self._database.observations.find(between, {"document.at": 1}):
                entries.pop(known["document"]["at"], None)
            if entries:
                self._database.observations.insert_many(list(entries.values()))

    def save_round(self, run: str, measured: Round) -> None:
        """Save a round under its number."""
        place: Entry = {"run": run, "number": measured.number}
        decided = measured.decision is not None
        written = {"decided": decided, "document": round_document(measured)}
        with clear_errors(self._shown):
            try:
                self._database.rounds.update_one(
                    place if decided else {**place, "decided": False}, {"$set": written}, upsert=True
                )
            except DuplicateKeyError:
                # The upsert found no undecided round and met the decided one, which stays.
                return

    def save_block(self, run: str, block: MeasuredBlock) -> None:
        """Save a block under its number."""
        place: Entry = {"run": run, "number": block.number}
        with clear_errors(self._shown):
            self._database.blocks.update_one(place, {"$set": {"document": block_document(block)}}, upsert=True)

    def save_result(self, run: str, document: Mapping[str, Any]) -> None:
        """Save the result and its rounds."""
        result, records = result_parts(document)
        for record in records:
            self.save_round(run, round_from(record))
        results = self._database.gates if has_blocks(document) else self._database.profiles
        with clear_errors(self._shown):
            results.replace_one({"_id": run}, {"document": result}, upsert=True)

    def find_runs(
        self,
        *,
        topology: str | None = None,
        engine: str | None = None,
        kind: RunKind | None = RunKind.PROFILE,
        state: RunState | None = None,
        since: datetime | None = None,
        limit: int | None = None,
        spoiled: Spoiled = ignored,
    ) -> list[StoredRun]:
        """Find runs, the newest first."""
        wanted: Entry = {}
        if kind is not None:
            # Before there were gates, runs had no kind.
            wanted["kind"] = {"$in": [str(kind), None]} if kind is RunKind.PROFILE else str(kind)
        if state is not None:
            wanted["_id"] = self._in_state(state)
        if topology is not None:
            wanted["topology"] = topology
        if engine is not None:
            wanted["engine"] = engine
        if since is not None:
            wanted["started"] = {"$gte": since}
        return self._found(wanted, limit, spoiled)

    def load_run(self, run: str) -> StoredRun:
        """Return one run."""
        unread: list[Unreadable] = []
        found = self._found({"_id": run}, 1, unread.append) if _is_text(run) else []
        if unread:
            raise UnreadableRun(unread[0])
        if not found:
            with clear_errors(self._shown):
                newest = self._database.runs.find({}, {"_id": 1}).sort("started", pymongo.DESCENDING).limit(200)
                raise NoSuchRun(run, [entry["_id"] for entry in newest])
        return found[0]

    def rounds(self, run: str) -> tuple[Round, ...]:
        """Return the rounds by number."""
        return tuple(round_from(document) for document in self._round_documents(run).values())

    def blocks(self, run: str) -> tuple[MeasuredBlock, ...]:
        """Return the blocks by number."""
        with clear_errors(self._shown):
            entries = list(self._database.blocks.find({"run": run}).sort("number", pymongo.ASCENDING))
        return tuple(block_from(entry["document"]) for entry in entries)

    def windows(self, run: str) -> tuple[SeenWindow, ...]:
        """Return the windows in their order."""
        with clear_errors(self._shown):
            documents = [entry["document"] for entry in self._database.observations.find({"run.id": run})]
        return tuple(sorted(map(window_from, documents), key=lambda window: window.at))

    def result(self, run: str) -> dict[str, Any] | None:
        """Return the whole result document."""
        with clear_errors(self._shown):
            entry = self._database.profiles.find_one({"_id": run}) or self._database.gates.find_one({"_id": run})
        return None if entry is None else result_joined(entry["document"], self._round_documents(run))

    def delete_run(self, run: str) -> None:
        """Delete all of a run, its entry in the list first: what is half deleted must not look whole."""
        with clear_errors(self._shown):
            self._database.runs.delete_one({"_id": run})
            self._database.profiles.delete_one({"_id": run})
            self._database.gates.delete_one({"_id": run})
            self._database.rounds.delete_many({"run": run})
            self._database.blocks.delete_many({"run": run})
            self._database.observations.delete_many({"run.id": run})

    def save_baseline(self, baseline: Baseline) -> None:
        """Save a baseline under topology, engine and name."""
        place: Entry = {"topology": baseline.topology, "engine": baseline.engine, "name": baseline.name}
        with clear_errors(self._shown):
            self._database.baselines.update_one(place, {"$set": {"document": baseline_document(baseline)}}, upsert=True)

    def load_baseline(self, topology: str, engine: str, name: str) -> Baseline:
        """Return a baseline."""
        with clear_errors(self._shown):
            entry = self._database.baselines.find_one({"topology": topology, "engine": engine, "name": name})
        if entry is None:
            raise NoSuchBaseline(topology, engine, name, self.baseline_names(topology, engine))
        return baseline_from(entry["document"])

    def baseline_names(self, topology: str, engine: str) -> list[str]:
        """List the names of a topology's baselines."""
        with clear_errors(self._shown):
            found = self._database.baselines.find({"topology": topology, "engine": engine}, {"name": 1})
            return sorted(entry["name"] for entry in found)

    def baselines(self, spoiled: Spoiled = ignored) -> list[SavedBaseline]:
        """List all baselines."""
        with clear_errors(self._shown):
            entries = list(self._database.baselines.find({}, {"document.blocks": 0}))
        keys = ("topology", "engine", "name")
        return saved_baselines(
            (((entry[keys[0]], entry[keys[1]], entry[keys[2]]), entry.get("document")) for entry in entries), spoiled
        )

    def delete_baseline(self, topology: str, engine: str, name: str) -> None:
        """Delete a baseline."""
        with clear_errors(self._shown):
            self._database.baselines.delete_one({"topology": topology, "engine": engine, "name": name})

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _found(self, wanted: Entry, limit: int | None, spoiled: Spoiled) -> list[StoredRun]:
        with clear_errors(self._shown):
            # To MongoDB a limit of zero is none; whoever asks for no runs gets none.
            if limit is not None and limit <= 0:
                return []
            newest_first = [("started", pymongo.DESCENDING), ("_id", pymongo.DESCENDING)]
            entries = list(self._database.runs.find(wanted).sort(newest_first).limit(limit or 0))
            ids = [entry["_id"] for entry in entries]
            of_them = {"_id": {"$in": ids}}
            results = {
                entry["_id"]: entry["document"]
                for collection in (self._database.profiles, self._database.gates)
                for entry in collection.find(of_them, {"document.rounds": 0})
            }
            rounds, blocks = (
                _counted(collection, ids) for collection in (self._database.rounds, self._database.blocks)
            )
        found = []
        for name, entry in zip(ids, entries, strict=True):
            try:
                run = run_from(entry.get("document", {}))
                found.append(stored_run(run, rounds=rounds[name], blocks=blocks[name], result=results.get(name)))
            except ProfileError as error:
                spoiled(Unreadable.because(error, name))
        return found

    def _in_state(self, state: RunState) -> Entry:
        """Return which runs came that far, as a condition on their ids."""
        wanted: Entry = {}
        if state is not RunState.UNFINISHED:
            wanted["document.complete"] = False if state is RunState.CUT_SHORT else {"$ne": False}
        with clear_errors(self._shown):
            found = [
                entry["_id"]
                for collection in (self._database.profiles, self._database.gates)
                for entry in collection.find(wanted, {"_id": 1})
            ]
        return {"$nin" if state is RunState.UNFINISHED else "$in": found}

    def _round_documents(self, run: str) -> dict[int, Entry]:
        with clear_errors(self._shown):
            entries = self._database.rounds.find({"run": run}).sort("number", pymongo.ASCENDING)
            return {entry["number"]: entry["document"] for entry in entries}


def _is_text(name: str) -> bool:
    """Tell whether the database can be asked for a name; a path that a user gave may hold what is no character."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _counted(collection: Collection[Entry], runs: Sequence[str]) -> Counter[str]:
    """Count the documents of every run."""
    per_run: list[Entry] = [{"$match": {"run": {"$in": list(runs)}}}, {"$group": {"_id": "$run", "n": {"$sum": 1}}}]
    return Counter({entry["_id"]: entry["n"] for entry in collection.aggregate(per_run)})


def _documents(windows: Sequence[SeenWindow]) -> Iterator[tuple[SeenWindow, Entry]]:
    for window in windows:
        yield window, window_document(window)


def _window_entry(run: str, window: SeenWindow, document: Entry) -> Entry:
    belongs = {"id": run, "round": window.round, "block": window.block, "phase": str(window.phase)}
    return {"at": window.at, "run": belongs, "document": document}
