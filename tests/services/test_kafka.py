"""A broker starts, answers and stops, and says clearly why it does not."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from profiler.errors import ProfileError, UsageError
from profiler.services.jars import JarSet, jar_paths
from profiler.services.java import find_java
from profiler.services.kafka import BROKER_SETTINGS, Kafka, given_kafka, open_kafka, start_kafka
from profiler.services.ports import LOOPBACK, free_ports
from profiler.services.processes.child import ServiceDied
from profiler.services.processes.marked import marked_processes
from profiler.services.run_folder import RunFolder, cache_directory
from tests.services.starting import supervisor_of, wait_until_it_is_to_be_fetched


@pytest.fixture(scope="module")
def broker_jars() -> tuple[Path, ...]:
    """The real jars, from the user's own cache: they are the same for everybody."""
    return jar_paths(JarSet.BROKER, cache_directory())


@pytest.fixture
def kafka(run: RunFolder, broker_jars: tuple[Path, ...]) -> Iterator[Kafka]:
    """A broker of the test's own."""
    with start_kafka(find_java().executable, broker_jars, run) as broker:
        yield broker


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port on which somebody else listens, without ever answering."""
    with socket.socket() as server:
        server.bind((LOOPBACK, 0))
        server.listen()
        yield server.getsockname()[1]


@pytest.mark.kafka
def test_a_broker_keeps_what_it_is_sent_and_leaves_nothing(run: RunFolder, broker_jars: tuple[Path, ...]) -> None:
    """Start, create a topic, send, read back, stop; no topic appears by itself; only loopback is open."""
    with start_kafka(find_java().executable, broker_jars, run) as kafka:
        kafka.check()
        admin = AdminClient({"bootstrap.servers": kafka.address, "log_level": 0})
        admin.create_topics([NewTopic("words", 1, 1)])["words"].result(30)
        producer = Producer(
            {"bootstrap.servers": kafka.address, "log_level": 0, "topic.metadata.propagation.max.ms": 500}
        )
        producer.produce("words", b"hello")
        assert producer.flush(30) == 0
        consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "test", "enable.auto.commit": False})
        consumer.assign([TopicPartition("words", 0, 0)])
        message = consumer.poll(30)
        assert message is not None
        assert message.value() == b"hello"
        consumer.close()
        producer.produce("absent", b"hello")
        producer.flush(30)
        assert "absent" not in admin.list_topics(timeout=30).topics, "sending to a topic must not make it"
        assert kafka.pid is not None
        open_at = {each.laddr.ip for each in psutil.Process(kafka.pid).net_connections() if each.status == "LISTEN"}
        assert {ip.removeprefix("::ffff:") for ip in open_at} == {LOOPBACK}
        assert given_kafka(kafka.address).address == kafka.address
    assert marked_processes(run.path) == ()


@pytest.mark.kafka
def test_a_killed_broker_is_reported_as_killed(kafka: Kafka) -> None:
    """The check says so, and where the log is."""
    assert kafka.pid is not None
    broker = psutil.Process(kafka.pid)
    supervisor = supervisor_of(broker)
    os.kill(kafka.pid, signal.SIGKILL)
    psutil.wait_procs([broker], timeout=30)
    wait_until_it_is_to_be_fetched(supervisor)
    with pytest.raises(ServiceDied, match=r"The Kafka broker was killed by SIGKILL") as raised:
        kafka.check()
    assert "kafka.log" in raised.value.hint


@pytest.mark.kafka
def test_a_port_that_is_taken_meanwhile_is_replaced(
    run: RunFolder, broker_jars: tuple[Path, ...], taken_port: int
) -> None:
    """The first choice loses the race; the second works."""
    choices = [(taken_port, free_ports(1)[0]), free_ports(2)]
    lines: list[str] = []
    with start_kafka(
        find_java().executable, broker_jars, run, choose_ports=lambda _: choices.pop(0), report=lines.append
    ) as kafka:
        assert kafka.address != f"{LOOPBACK}:{taken_port}"
    assert lines == ["Starting Kafka", "Starting Kafka again: its port was taken"]


@pytest.mark.kafka
def test_ports_that_are_always_taken_are_an_error(
    run: RunFolder, broker_jars: tuple[Path, ...], taken_port: int
) -> None:
    """The attempts are bounded, and the broker's own words are shown."""
    with pytest.raises(ServiceDied, match="Address already in use"):
        start_kafka(find_java().executable, broker_jars, run, choose_ports=lambda _: (taken_port, free_ports(1)[0]))
    assert marked_processes(run.path) == ()


@pytest.mark.kafka
def test_a_broker_that_cannot_write_its_data_says_so(parent, left, broker_jars: tuple[Path, ...]) -> None:
    """Files limited to 1 MB stand for a full disk: the broker can't lay out its log and dies."""
    program = parent(
        """
        import resource, sys
        from pathlib import Path
        from profiler.errors import ProfileError
        from profiler.services.java import find_java
        from profiler.services.jars import JarSet, jar_paths
        from profiler.services.kafka import start_kafka
        from profiler.services.run_folder import cache_directory, create_run_folder

        jars = jar_paths(JarSet.BROKER, cache_directory())
        print("ready", flush=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        with create_run_folder(Path(sys.argv[1]), needed_bytes=0) as run:
            try:
                start_kafka(find_java().executable, jars, run)
            except ProfileError as error:
                print(error.exit_code, error)
        """,
        stdin=subprocess.DEVNULL,
    )
    answer = program.communicate()[0]
    assert answer.startswith("3 The Kafka broker ended with exit code")
    assert "File too large" in answer
    assert left() == []


@pytest.mark.kafka
def test_without_java_nothing_is_started(run: RunFolder, tmp_path: Path) -> None:
    """An empty PATH and no JAVA_HOME."""
    with pytest.raises(ProfileError, match="Java 17 or newer was not found"):
        open_kafka(None, run, tmp_path, env={"PATH": ""})


@pytest.mark.kafka
def test_without_jars_and_network_nothing_is_started(run: RunFolder, tmp_path: Path) -> None:
    """An empty cache, offline."""
    with pytest.raises(ProfileError, match=r"for the broker is not in the cache .* and this run is offline"):
        open_kafka(None, run, tmp_path, offline=True)


def test_a_given_address_that_does_not_answer_is_refused() -> None:
    """Nobody listens there."""
    address = f"{LOOPBACK}:{free_ports(1)[0]}"
    with pytest.raises(ProfileError, match=f"No Kafka broker answers at {address} within 0.5 s") as raised:
        given_kafka(address, within_s=0.5)
    assert "--kafka" in raised.value.hint
    assert raised.value.exit_code == 3


def test_a_given_address_where_something_else_listens_is_refused(
    taken_port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """It takes the connection and says nothing, as a broker that waits for TLS: another fault than a wrong address.

    The client's complaints stay off the terminal.
    """
    address = f"{LOOPBACK}:{taken_port}"
    with pytest.raises(ProfileError, match=f"Something listens at {address}, but does not answer as a plain") as raised:
        given_kafka(address, within_s=0.5)
    assert "Neither TLS nor SASL is supported" in raised.value.hint
    assert raised.value.exit_code == 3
    assert capfd.readouterr() == ("", "")


@pytest.mark.kafka
def test_a_broker_that_wants_a_password_is_told(
    run: RunFolder, broker_jars: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A real one, which hangs up on whoever does not say who he is; beside it, where nobody is asked, it answers."""
    (port,) = free_ports(1)
    monkeypatch.setattr("profiler.services.kafka.BROKER_SETTINGS", with_guarded_listener(port))
    with start_kafka(find_java().executable, broker_jars, run) as broker:
        given_kafka(broker.address)
        with pytest.raises(ProfileError, match=f"Something listens at {LOOPBACK}:{port}, but does not") as raised:
            given_kafka(f"{LOOPBACK}:{port}", within_s=2.0)
    assert "Neither TLS nor SASL is supported" in raised.value.hint
    assert capfd.readouterr() == ("", "")


def with_guarded_listener(port: int) -> str:
    """Let a broker listen at one more port, where it wants a name and a password."""
    settings = dict(line.split("=", 1) for line in BROKER_SETTINGS.splitlines())
    settings["listeners"] += f",GUARDED://{LOOPBACK}:{port}"
    settings["listener.security.protocol.map"] += ",GUARDED:SASL_PLAINTEXT"
    settings["listener.name.guarded.sasl.enabled.mechanisms"] = "PLAIN"
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_me="secret";'
    settings["listener.name.guarded.plain.sasl.jaas.config"] = login
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def test_what_a_topic_may_keep_is_looked_at_often() -> None:
    """By Kafka's default it is every five minutes: a stressed topic fills the disk of a run before that."""
    settings = dict(line.split("=", 1) for line in BROKER_SETTINGS.splitlines())
    assert int(settings["log.retention.check.interval.ms"]) <= 10_000


@pytest.mark.parametrize("wrong", ["", "localhost", "localhost:", ":9092", "http://localhost:9092", "a:1,b"])
def test_a_malformed_address_is_wrong_usage(wrong: str) -> None:
    """Exit code 2, before anybody is asked."""
    with pytest.raises(UsageError, match="is no Kafka address"):
        given_kafka(wrong)
