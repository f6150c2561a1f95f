"""Whatever MongoDB's client raises, as one clear sentence with the URI redacted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bson.errors import BSONError
from pymongo.errors import OperationFailure, PyMongoError

from profiler.history.store import StoreFailed

_REFUSALS = frozenset({13, 18})
"""Codes of the server's errors Unauthorized and AuthenticationFailed."""


@contextmanager
def clear_errors(shown: str) -> Iterator[None]:
    """Raise StoreFailed instead of the client's own errors, whose messages may quote credentials."""
    try:
        yield
    except OperationFailure as error:
        if error.code in _REFUSALS:
            raise StoreFailed(
                f"MongoDB at {shown} refuses the credentials.",
                hint="Check user, password and authSource, and the user's right to read and write the database.",
            ) from None
        name = (error.details or {}).get("codeName", type(error).__name__)
        raise StoreFailed(
            f"MongoDB at {shown} answers with error {error.code} ({name}).", hint="Look at its log."
        ) from None
    except PyMongoError as error:
        raise StoreFailed(
            f"MongoDB at {shown} does not answer ({type(error).__name__}).",
            hint="Check that it runs and can be reached.",
        ) from None
    except (BSONError, OverflowError, UnicodeError) as error:
        raise StoreFailed(
            f"MongoDB can't hold what was measured ({type(error).__name__}).",
            hint="Look for odd characters in the names of operators.",
        ) from None
