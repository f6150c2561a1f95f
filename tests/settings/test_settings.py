"""Settings: default < file < environment < flag, each value with where it came from, unknown keys refused."""

from dataclasses import asdict, fields
from pathlib import Path

import pytest

from profiler.engines.catalogue import kind_of
from profiler.engines.simulated.noise import Preset
from profiler.errors import UsageError
from profiler.settings.choices import EngineName, Export, ExportKind, NoiseName, PolicyName
from profiler.settings.declarations import OPTIONS, Settings
from profiler.settings.option import Asked
from profiler.settings.quantities import without_credentials
from profiler.settings.sources import resolve


def write(folder: Path, text: str, name: str = "profile.toml") -> None:
    (folder / name).write_text(text, encoding="utf-8")


def test_defaults_hold_where_nothing_is_set(tmp_path: Path) -> None:
    settings = resolve({}, {}, tmp_path)
    assert settings == Settings()
    assert settings.latency_ms == 500
    assert settings.window_s == 3
    assert settings.origin("latency") == "default"


def test_each_place_overrides_the_one_before(tmp_path: Path) -> None:
    write(tmp_path, 'latency = "100ms"\nslots = 8\nseed = 5\n')
    settings = resolve({"seed": "7"}, {"PROFILE_SLOTS": "12", "PROFILE_SEED": "6"}, tmp_path)
    assert (settings.latency_ms, settings.slots, settings.seed) == (100, 12, 7)
    assert settings.origin("latency") == "profile.toml"
    assert settings.origin("slots") == "environment PROFILE_SLOTS"
    assert settings.origin("seed") == "flag --seed"


def test_every_setting_can_be_set_in_all_three_places(tmp_path: Path) -> None:
    """A setting that one place does not know would break the rule of precedence."""
    samples = {
        "engine": "simulated", "policy": "ds2", "latency": "80ms", "latency-quantile": "99%", "slice": "20%",
        "stop-factor": "3", "alpha": "80%", "slots": "9", "windows": "7", "window": "5s", "relevant-effect": "4%",
        "give-back": "1%", "confirm": "false", "quick": "true", "production-batch": "20s", "budget": "10m",
            "headroom": "20%",
        "max-slowdown": "3%", "rule-out": "7%", "blocks": "6", "warm-up": "5s",
        "cores": "8", "noise": "shared", "master": "local[4]", "kafka": "localhost:9092",
        "conf": "spark.a.b=c", "payloads": "lines=a.gz", "prefill": "5000", "mongo": "mongodb://localhost",
        "seed": "3", "nodes": "4", "json": "-", "export": "md=a.md", "resume": "r1", "quiet": "true", "debug": "true",
    }  # fmt: skip
    assert samples.keys() == {option.key for option in OPTIONS}
    for option in OPTIONS:
        written = samples[option.key]
        write(tmp_path, f'{option.key} = "{written}"\n')
        by_file = getattr(resolve({}, {}, tmp_path), option.field)
        (tmp_path / "profile.toml").unlink()
        by_environment = getattr(resolve({}, {option.variable: written}, tmp_path), option.field)
        by_flag = getattr(resolve({option.key: written}, {}, tmp_path), option.field)
        assert by_file == by_environment == by_flag != option.default
        assert option.show(by_flag) == written


def test_the_nearest_file_upwards_is_read(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    write(tmp_path, "seed = 1\n")
    write(tmp_path / "a", "[tool.profile]\nseed = 2\n", "pyproject.toml")
    settings = resolve({}, {}, inner)
    assert settings.seed == 2
    assert settings.origin("seed") == str(tmp_path / "a" / "pyproject.toml")


def test_a_pyproject_without_our_table_is_passed_by(tmp_path: Path) -> None:
    inner = tmp_path / "a"
    inner.mkdir()
    write(tmp_path, "seed = 4\n")
    write(inner, "[tool.other]\nseed = 2\n", "pyproject.toml")
    assert resolve({}, {}, inner).seed == 4


def test_profile_toml_goes_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path, "seed = 1\n")
    write(tmp_path, "[tool.profile]\nseed = 2\n", "pyproject.toml")
    assert resolve({}, {}, tmp_path).seed == 1


def test_toml_values_may_have_their_own_types(tmp_path: Path) -> None:
    write(tmp_path, 'slots = 8\ngive-back = 0.05\nquick = true\nexport = ["md=a.md", "csv=b.csv"]\n')
    settings = resolve({}, {}, tmp_path)
    assert (settings.slots, settings.give_back, settings.quick) == (8, 0.05, True)
    assert settings.export == (Export(ExportKind.MD, "a.md"), Export(ExportKind.CSV, "b.csv"))


def test_an_unknown_key_in_a_file_is_refused_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, 'latencyy = "5s"\n')
    with pytest.raises(
        UsageError, match=r"profile\.toml sets 'latencyy', which is no setting\. Did you mean 'latency'\?"
    ):
        resolve({}, {}, tmp_path)


def test_a_key_with_underscores_is_led_to_its_dashes(tmp_path: Path) -> None:
    write(tmp_path, 'give_back = "2%"\n')
    with pytest.raises(UsageError, match="Did you mean 'give-back'"):
        resolve({}, {}, tmp_path)


def test_an_unknown_variable_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"PROFILE_LATENCYY is no setting\. Did you mean 'PROFILE_LATENCY'"):
        resolve({}, {"PROFILE_LATENCYY": "3"}, tmp_path)


def test_other_variables_are_left_alone(tmp_path: Path) -> None:
    assert resolve({}, {"AWS_PROFILE": "x", "PROFILE": "y", "PROFILE_CACHE": "z"}, tmp_path) == Settings()


@pytest.mark.parametrize(
    ("key", "written", "sentence"),
    [
        ("latency", "soon", "--latency is 'soon', not a duration above zero. Write it like 500ms, 3s or 10m."),
        ("slots", "-1", "--slots is '-1', not a whole number from 0. Write it like 12."),
        ("give-back", "2", "--give-back is '2', not a part from 0% to 100%. Write it like 2% or 0.02."),
        ("stop-factor", "0.5", "--stop-factor is '0.5', not a number from 1. Write it like 2 or 2.5."),
        ("engine", "flink", "--engine is 'flink', not one of spark, simulated. Write it like spark."),
        ("kafka", "localhost", "--kafka is 'localhost', not an address. Write it like localhost:9092."),
        ("export", "pdf=x", "--export is 'pdf=x', not a report."),
        ("windows", "1", "--windows is '1', not a whole number from 2 to 200."),
        ("windows", "100000", "--windows is '100000', not a whole number from 2 to 200."),
        ("nodes", "100000", "--nodes is '100000', not a whole number from 1 to 1,000."),
        ("cores", f"1{20 * '0'}", f"--cores is '1{20 * '0'}', not a whole number from 1 to 1,000."),
        ("blocks", "100000", "--blocks is '100000', not a whole number from 2 to 100."),
        (
            "latency-quantile",
            "99.99%",
            "--latency-quantile is '99.99%', not one of 50%, 95%, 99%, 99.9%. Write it like 99.9%.",
        ),
        (
            "latency-quantile",
            "0.9",
            "--latency-quantile is '0.9', not one of 50%, 95%, 99%, 99.9%. Write it like 99.9%.",
        ),
    ],
)
def test_a_malformed_value_is_refused_by_name(key: str, written: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        resolve({key: written}, {}, tmp_path)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    "address", ["localhost:9092", "one:9092,two:9093", "[::1]:9092", "[2001:db8::7]:9092,two:9093"]
)
def test_an_address_of_a_broker_is_read_as_it_is_used(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An IPv6 address stands in brackets; both say the same, and it is shown as it was written."""
    from profiler.services import kafka

    monkeypatch.setattr(kafka, "cluster_id", lambda address, within_s: "a cluster")
    assert resolve({"kafka": address}, {}, tmp_path).kafka == address
    assert kafka.given_kafka(address).address == address
    assert without_credentials(address) == address


@pytest.mark.parametrize(
    "address", ["::1:9092", "[::1]", "[host]:9092", "host:9092/topic", "host:9092,", "host:900000"]
)
def test_what_is_no_address_of_a_broker_is_refused_by_both(address: str, tmp_path: Path) -> None:
    from profiler.services.kafka import given_kafka

    with pytest.raises(UsageError, match="not an address"):
        resolve({"kafka": address}, {}, tmp_path)
    with pytest.raises(UsageError, match="is no Kafka address"):
        given_kafka(address)


def test_a_malformed_value_names_the_file_or_the_variable(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="The environment variable PROFILE_WINDOW is 'x'"):
        resolve({}, {"PROFILE_WINDOW": "x"}, tmp_path)
    write(tmp_path, "window = 3\n")
    with pytest.raises(UsageError, match=r"'window' in profile\.toml is '3', not a duration"):
        resolve({}, {}, tmp_path)


@pytest.mark.parametrize("value", ["[1]", "{a = 1}", "1979-05-27"])
def test_a_value_of_a_foreign_type_is_refused(value: str, tmp_path: Path) -> None:
    write(tmp_path, f"slots = {value}\n")
    with pytest.raises(UsageError, match=r"'slots' in profile\.toml is"):
        resolve({}, {}, tmp_path)


def test_a_broken_file_is_refused_with_its_line(tmp_path: Path) -> None:
    write(tmp_path, "seed = 1\nslots = \n")
    with pytest.raises(UsageError, match=r"profile\.toml cannot be read: .*line 2"):
        resolve({}, {}, tmp_path)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("mongodb://me:secret@host:1/db", "mongodb://…@host:1/db"),
        ("mongodb://me:p@ss@host/db", "mongodb://…@host/db"),
        ("mongodb://me:p/ss@host/db", "mongodb://…@host/db"),
        ("mongodb://me:p ss@host/db", "mongodb://…@host/db"),
        ("mongodb://host/db?tlsCertificateKeyFilePassword=secret", "mongodb://host/db"),
        ("k8s://https://host:6443", "k8s://https://host:6443"),
        ("me:secret@host", "…@host"),
        ("mongodb://host/db", "mongodb://host/db"),
    ],
)
def test_credentials_are_never_shown(written: str, shown: str) -> None:
    assert without_credentials(written) == shown


def test_credentials_stay_out_of_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        resolve({"mongo": "http://me:secret@host"}, {}, tmp_path)
    assert "secret" not in str(error.value)


def test_the_settings_names_are_those_of_the_rooms_they_choose_from() -> None:
    """Settings cannot import engines and policies, as the help must answer at once; so the names are checked here."""
    from profiler.questions.search.policies import POLICIES

    assert {name.value for name in NoiseName} == {preset.value for preset in Preset}
    assert {name: policy.name for name, policy in POLICIES.items()} == {name: name for name in PolicyName}
    assert {kind_of(name).name for name in EngineName} == set(EngineName)


def test_a_methods_knob_is_the_setting_of_its_name() -> None:
    """A default stands once, and what a user sets reaches the method whatever the knob is called."""
    from profiler.questions.search.terms import policy_parameters

    knobs = {"latency_ms": 70.0, "slice": 0.4, "stop_factor": 3.0, "alpha": 0.8, "relevant_effect": 0.01}
    asked = asdict(policy_parameters(Settings(**knobs)))
    assert {name: asked[name] for name in knobs} == knobs


def test_every_question_is_a_knob_of_the_method() -> None:
    """What makes another answer right is what the policies look at."""
    from profiler.questions.search.policies.policy import Parameters

    questions = {option.field for option in OPTIONS if option.asked is Asked.QUESTION}
    assert len(questions) >= 7
    assert questions == {knob.name for knob in fields(Parameters)} & {option.field for option in OPTIONS}


def test_every_setting_belongs_to_a_command() -> None:
    assert [option.key for option in OPTIONS if not option.commands] == []
