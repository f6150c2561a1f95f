"""Settings whose values are secret are told by their names, and never shown or kept."""

from __future__ import annotations

import json

import pytest

from profiler.cli.digests import conf_digest
from profiler.cli.fingerprints import as_asked, asked_of
from profiler.errors import UsageError
from profiler.secret_settings import masked_setting
from profiler.settings import OPTIONS, Settings

KEY = "spark.hadoop.fs.s3a.secret.key"
OPEN = "spark.sql.execution.arrow.maxRecordsPerBatch=50"


@pytest.mark.parametrize("key", [KEY, "spark.ssl.keyPassword", "spark.my.TOKEN", "spark.hadoop.fs.s3a.access.key"])
def test_a_secret_is_told_by_its_name(key):
    assert masked_setting(f"{key}=hunter2=") == f"{key}=***"


def test_other_settings_are_shown():
    assert masked_setting(OPEN) == OPEN
    assert masked_setting("no setting") == "no setting"


def test_it_is_neither_shown_nor_kept_nor_told_in_an_error():
    settings = Settings(conf=(f"{KEY}=hunter2", OPEN))
    (option,) = [each for each in OPTIONS if each.key == "conf"]
    assert option.show(settings.conf) == f"{KEY}=***,{OPEN}"
    assert "hunter2" not in json.dumps(asked_of(settings))
    with pytest.raises(UsageError) as refused:
        option.kind.read("my.secret.key=hunter2", "--conf")
    assert "hunter2" not in str(refused.value)


def test_another_password_is_no_other_job():
    one, other = (Settings(conf=(f"{KEY}={value}", OPEN)) for value in ("hunter2", "hunter3"))
    assert conf_digest(one) == conf_digest(other) != conf_digest(Settings(conf=(OPEN,)))


def test_a_recalibration_asks_for_it_again():
    """It was not kept, and without it the job would fail in a less clear way."""
    asked = asked_of(Settings(conf=(f"{KEY}=hunter2", OPEN)))
    with pytest.raises(UsageError, match=f"was made with --conf {KEY}, whose value is not kept"):
        as_asked(Settings(), asked)
