"""Moments as users write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from profiler.errors import UsageError
from profiler.settings.moments import moment

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(("written", "ago"), [("7d", timedelta(days=7)), ("12h", timedelta(hours=12))])
def test_how_long_ago(written, ago):
    """Before now."""
    assert moment(NOW).parse(written) == NOW - ago


def test_a_date_is_local_and_a_zone_is_kept():
    """As people write them."""
    assert moment(NOW).parse("2026-01-31") == datetime(2026, 1, 31).astimezone()
    assert moment(NOW).parse("2026-01-31T08:00+02:00") == datetime(2026, 1, 31, 6, tzinfo=UTC)


@pytest.mark.parametrize("written", ["yesterday", "7", "2026-13-01", "", "99999999999d"])
def test_what_is_no_moment_is_refused(written):
    """With how to write one."""
    with pytest.raises(UsageError, match=r"--since is '.*', not a moment.* Write it like 7d"):
        moment(NOW).read(written, "--since")
