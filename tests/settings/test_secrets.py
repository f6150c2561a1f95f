"""Settings whose values are secret are told by their names or by what they hold, and never shown or kept."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.errors import UsageError
from profiler.experiment.window_plan import WindowPlan
from profiler.history.fingerprint.digests import conf_digest
from profiler.job.topology import Cost, Operator, Source, Topology
from profiler.questions.fingerprints import as_asked, asked_of
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document, read_profile
from profiler.questions.search.loop import Loop
from profiler.questions.search.markdown import as_markdown
from profiler.questions.search.paste import as_lines, paste_settings
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.session import profile_run
from profiler.secrets import masked_setting, without_password
from profiler.settings.declarations import OPTIONS, Settings

KEY = "spark.hadoop.fs.s3a.secret.key"
URI_KEY = "spark.mongodb.read.connection.uri"
URI = "mongodb://me:hunter2@host/db"
OPEN = "spark.sql.execution.arrow.maxRecordsPerBatch=50"


@pytest.mark.parametrize("key", [KEY, "spark.ssl.keyPassword", "spark.my.TOKEN", "spark.hadoop.fs.s3a.access.key"])
def test_a_secret_is_told_by_its_name(key):
    assert masked_setting(f"{key}=hunter2=") == f"{key}=***"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (URI, "mongodb://***@host/db"),
        ("mongodb+srv://me:p@hunter2@host/db", "mongodb+srv://***@host/db"),
        ("https://me:hunter2@one,https://me:hunter2@two", "https://***@two"),
        ("-Dproxy=http://me:hunter 2@host -Xss4m", "-Dproxy=http://***@host -Xss4m"),
        ("https://hunter2@host/repository", "https://***@host/repository"),
        ("jdbc:postgresql://host/db?user=me&password=hunter2", "***"),
        ("-Djavax.net.ssl.trustStorePassword=hunter2", "***"),
    ],
)
def test_a_secret_is_told_by_what_a_value_holds(value, shown):
    """Credentials in a URI, well-formed or not, and passwords among options."""
    assert masked_setting(f"spark.some.setting={value}") == f"spark.some.setting={shown}"


@pytest.mark.parametrize("word", ["x", "token", "://", "a://", "access.", "token ", "["])
def test_a_long_value_is_read_in_one_go(word):
    """What reads it once from each of its places takes minutes for as much."""

    def looked_at(value):
        started = time.process_time()
        masked_setting(f"spark.some.setting={value}")
        without_password(value)
        return time.process_time() - started

    assert looked_at(word * 100_000) < 1


@pytest.mark.parametrize(
    "setting",
    [
        OPEN,
        "no setting",
        "spark.some.path=hdfs://name-node:8020/path",
        "spark.some.path=abfss://container@account.dfs.core.windows.net/path",
        "spark.some.provider=org.example.TokenProvider",
    ],
)
def test_other_settings_are_shown(setting):
    """A container of Azure's stands where a user would."""
    assert masked_setting(setting) == setting


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("me:hunter2", "me:…"),
        ("me:hunter2/db", "me:…"),
        ("me:12hunter", "me:…"),
        ("host:27017/db", "host:27017/db"),
        ("one:27017,two:27018/db", "one:27017,two:27018/db"),
        ("[::1]:27017", "[::1]:27017"),
        ("https://host:6443", "https://host:6443"),
    ],
)
def test_what_follows_a_colon_is_shown_where_it_is_a_port(place, shown):
    """Who forgets the host has written a password there."""
    assert without_password(place) == shown


def test_it_is_neither_shown_nor_kept_nor_told_in_an_error():
    settings = Settings(conf=(f"{KEY}=hunter2", OPEN))
    (option,) = [each for each in OPTIONS if each.key == "conf"]
    assert option.show(settings.conf) == f"{KEY}=***,{OPEN}"
    assert "hunter2" not in json.dumps(asked_of(settings))
    with pytest.raises(UsageError) as refused:
        option.kind.read("my.secret.key=hunter2", "--conf")
    assert "hunter2" not in str(refused.value)


def test_a_password_stays_out_of_every_report_and_of_the_history():
    """The settings to paste, the document, its Markdown, and the record of the run."""
    topology = Topology.chain("job", Source("in"), Operator("work", cost=Cost(cpu_ms=0.1)))
    engine = SimulatedEngine(SimulatedPlatform(nodes=1, cores_per_node=4, slots=12))
    profile = Loop(engine, topology, POLICIES["stepwise"](), design=WindowPlan(blocks=0)).run()
    profile = replace(profile, platform=replace(profile.platform, job_settings={URI_KEY: URI}))
    document = profile_document(profile_of(profile, run="a-run", engine="spark", environment={}))
    record = profile_run(topology, Settings(conf=(f"{URI_KEY}={URI}",)), engine)
    for written in (
        "\n".join(as_lines(paste_settings(profile, "simulated"))),
        json.dumps(document),
        as_markdown(read_profile(document)),
    ):
        assert "mongodb://***@host/db" in written
        assert "hunter2" not in written
    assert "hunter2" not in str(record)


@pytest.mark.parametrize("written", ["mongodb://me:hunter2", "me:hunter2", "http://me:hunter2", "mongo://me:hunter2/x"])
def test_a_uri_without_its_host_does_not_tell_the_password_in_its_error(written):
    """Refused by its form, or by the one who would use it."""
    (option,) = [each for each in OPTIONS if each.key == "mongo"]
    assert "hunter2" not in str(option.kind.malformed(written, "--mongo"))
    assert "hunter2" not in option.show(written)


@pytest.mark.parametrize(("key", "secrets"), [(KEY, ("hunter2", "hunter3")), (URI_KEY, (URI, URI.replace("2", "3")))])
def test_another_password_is_no_other_job(key, secrets):
    one, other = (Settings(conf=(f"{key}={value}", OPEN)) for value in secrets)
    assert conf_digest(one) == conf_digest(other) != conf_digest(Settings(conf=(OPEN,)))


@pytest.mark.parametrize(("key", "value"), [(KEY, "hunter2"), (URI_KEY, URI)])
def test_a_recalibration_asks_for_it_again(key, value):
    """It was not kept, or not whole, and without it the job would fail in a less clear way."""
    asked = asked_of(Settings(conf=(f"{key}={value}", OPEN)))
    with pytest.raises(UsageError, match=f"was made with --conf {key}, whose value is not kept"):
        as_asked(Settings(), asked)
