"""A MongoDB: a given one that answers and lets us in, or the one that all profiles of this user share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pymongo
from pymongo.errors import ConfigurationError, OperationFailure, PyMongoError

from profiler.errors import ProfileError, UsageError
from profiler.secrets import MASK, without_password
from profiler.services import Say, unreported
from profiler.services.mongod import SharedMongod, find_mongod

ANSWER_WITHIN_S = 10.0
BACK_WITHIN_S = 2.0
"""Seconds for which a database that is gone is asked again and again whether it is back."""
_REFUSALS = frozenset({13, 18})
"""Codes of the server's errors Unauthorized and AuthenticationFailed."""
_FALLBACK_DATABASE = "profile"


class Mongo(Protocol):
    """A database that can be used at `uri`, which may hold credentials: show `redacted(uri)` only."""

    @property
    def uri(self) -> str:
        """The URI at which the database answers; it may change with `revive`."""

    def check(self) -> None:
        """Raise where it does not answer in bounded time."""

    def revive(self) -> None:
        """Bring it back where it died; raise where that can't be done from here."""

    def close(self) -> None:
        """Let go of it; calling it twice is fine."""

    def __enter__(self) -> Self:
        """Use it until the end of a block."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let go of it."""


class GivenMongo:
    """A database somebody else runs."""

    def __init__(self, uri: str, *, within_s: float = ANSWER_WITHIN_S) -> None:
        self.uri = uri
        self.within_s = within_s
        """Seconds within which the database must answer."""
        self.check()

    def check(self, *, within_s: float | None = None) -> None:
        """Raise where it does not answer, or refuses the credentials."""
        shown = redacted(self.uri)
        within_s = self.within_s if within_s is None else within_s
        timeout_ms = int(within_s * 1000)
        try:
            client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(
                self.uri, serverSelectionTimeoutMS=timeout_ms, connectTimeoutMS=timeout_ms, socketTimeoutMS=timeout_ms
            )
        except (ConfigurationError, ValueError):  # its own message may quote the URI; the former covers InvalidURI
            message = f"{shown} is no MongoDB URI."
            raise UsageError(message, hint="Write mongodb://HOST:PORT, special characters %-encoded.") from None
        try:
            with client:
                # A ping is answered to anybody, a question about the content only to those who may ask.
                database = client.get_default_database(_FALLBACK_DATABASE)
                database.command("listCollections", nameOnly=True, authorizedCollections=True)
        except OperationFailure as error:
            if error.code in _REFUSALS:
                message = f"MongoDB at {shown} refuses the credentials."
                hint = "Check user, password and authSource, and the user's right to read and write the database."
                raise ProfileError(message, hint=hint) from None
            raise ProfileError(
                f"MongoDB at {shown} answers with error {error.code}.", hint="Look at its log."
            ) from None
        except PyMongoError as error:
            message = f"No MongoDB answers at {shown} within {within_s:g} s ({type(error).__name__})."
            raise ProfileError(message, hint="Check the URI and that it runs, or leave --mongo out.") from None

    def revive(self) -> None:
        """Check whether it is back: it is not ours to start. Shortly, as what is measured waits to be saved."""
        self.check(within_s=min(self.within_s, BACK_WITHIN_S))

    def close(self) -> None:
        """Do nothing: it is not ours to stop."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def open_mongo(uri: str | None, cache: Path, *, env: Mapping[str, str] = os.environ, report: Say = unreported) -> Mongo:
    """Use the database at `uri`, or the shared one in the cache directory where none is given."""
    if uri is not None:
        return GivenMongo(uri)
    folder = cache / "history"
    try:
        return SharedMongod(folder, find_mongod(env), report=report)
    except OSError as error:
        message = f"The database's folder {folder} can't be used: {error.strerror or error}."
        hint = "Let PROFILE_CACHE name a directory that can be written, on a disk with space."
        raise ProfileError(message, hint=hint) from None


def redacted(uri: str) -> str:
    """Take user, password and options out of a URI, so that it can be shown.

    Everything up to the last @ counts as credentials, even where an unescaped / or ? in a password makes the URI
    malformed; so does what follows a colon and is no port. What is shown too little never tells a secret.
    """
    scheme, separator, rest = uri.partition("://")
    if not separator:
        scheme, rest = "mongodb", uri
    credentials, at, place = rest.rpartition("@")
    shown = without_password(place.partition("?")[0])
    return f"{scheme}://{f'{MASK}@' if at and credentials else ''}{shown}"
