"""A Kafka broker: a given one that answers, or a single KRaft node as a child process on free loopback ports."""

from __future__ import annotations

import base64
import os
import re
import shutil
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from profiler.errors import ProfileError, UsageError
from profiler.services import Say, unreported
from profiler.services.broker_address import BROKERS
from profiler.services.jars import JarSet, jar_paths
from profiler.services.java import find_java
from profiler.services.ports import LOOPBACK, ChoosePorts, free_ports, listens
from profiler.services.processes.child import Child, Grace, ServiceDied, died, read_tail
from profiler.services.run_folder import RunFolder

TITLE = "The Kafka broker"
ANSWER_WITHIN_S = 10.0
READY_WITHIN_S = 60.0
ATTEMPTS = 3
_CONNECT_S = 2.0
"""Seconds that are enough for a connection to another continent."""
_POLL_S = 0.05
_PORT_TAKEN = "Address already in use"

# Serial collection and the first compiler only: less memory, and full speed within seconds. A broker that goes on
# compiling for minutes would take cores from the job that is being measured.
_JVM = (
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
    "-Djava.net.preferIPv4Stack=true",
    "-Dlog4j2.level=WARN",
)

# One node for one run: no replicas, one partition for each internal topic, no waiting for other members of a group or
# for a controlled shutdown, a session that survives a starved machine, deleted topics gone from the disk at once. What
# topics may not keep is looked for every five seconds: in Kafka's own five minutes a stressed one fills the disk.
BROKER_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller_port}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller_port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
num.network.threads=2
num.io.threads=4
log.cleaner.dedupe.buffer.size=2097152
log.segment.delete.delay.ms=1000
log.retention.check.interval.ms=5000
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=60000
controlled.shutdown.enable=false
"""


class Kafka:
    """A broker that can be used at `address`."""

    def __init__(self, address: str, child: Child | None = None) -> None:
        self.address = address
        self._child = child

    @property
    def pid(self) -> int | None:
        """The broker's process, None where the address was given."""
        return self._child.pid if self._child else None

    @property
    def ended(self) -> bool:
        """Tell whether a broker that was started here has died."""
        return self._child is not None and self._child.exit_code() is not None

    def check(self) -> None:
        """Raise where the broker died, or does not answer in bounded time."""
        if self._child is not None:
            self._child.require_alive()
        try:
            cluster_id(self.address, within_s=ANSWER_WITHIN_S)
        except ProfileError:
            if self._child is None:
                raise
            self._child.require_alive()  # it may have died while it was asked
            raise died(TITLE, f"does not answer within {ANSWER_WITHIN_S:g} s", self._child.log) from None

    def close(self) -> None:
        """Stop a broker that was started here; calling it twice is fine."""
        if self._child is not None:
            self._child.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def open_kafka(
    address: str | None,
    run: RunFolder,
    cache: Path,
    *,
    offline: bool = False,
    env: Mapping[str, str] = os.environ,
    report: Say = unreported,
) -> Kafka:
    """Use the broker at `address`, or start one where none is given."""
    if address is not None:
        return given_kafka(address)
    java = find_java(env)
    jars = jar_paths(JarSet.BROKER, cache, offline=offline, report=report)
    return start_kafka(java.executable, jars, run, report=report)


def given_kafka(address: str, *, within_s: float = ANSWER_WITHIN_S) -> Kafka:
    """Check that a broker answers at HOST:PORT (or several, with commas)."""
    if re.fullmatch(BROKERS, address) is None:
        raise UsageError(f"{address!r} is no Kafka address.", hint="Write HOST:PORT, for example localhost:9092.")
    cluster_id(address, within_s=within_s)
    return Kafka(address)


def start_kafka(
    java: Path,
    jars: Sequence[Path],
    run: RunFolder,
    *,
    choose_ports: ChoosePorts = free_ports,
    report: Say = unreported,
) -> Kafka:
    """Start a broker and wait until it answers; where a port was taken meanwhile, try again with others."""
    report("Starting Kafka")
    data = run.data / "kafka"
    log = run.logs / "kafka.log"
    for attempt in range(1, ATTEMPTS + 1):
        port, controller_port = choose_ports(2)
        shutil.rmtree(data, ignore_errors=True)
        identity = _format(data)
        settings = run.path / "kafka.properties"
        written = BROKER_SETTINGS.format(host=LOOPBACK, port=port, controller_port=controller_port, data=data)
        settings.write_text(written)
        log.unlink(missing_ok=True)
        class_path = os.pathsep.join(map(str, jars))
        command = [str(java), *_JVM, "-cp", class_path, "kafka.Kafka", str(settings)]
        child = Child.start("kafka", command, run, title=TITLE, grace=Grace(terminate_s=10.0))
        try:
            _wait_until_ready(child, port, identity)
        except BaseException as error:
            child.stop()
            if not isinstance(error, ServiceDied) or attempt == ATTEMPTS or _PORT_TAKEN not in read_tail(log):
                raise
            report("Starting Kafka again: its port was taken")
            continue
        return Kafka(f"{LOOPBACK}:{port}", child)
    raise AssertionError  # pragma: no cover - the last attempt returns or raises


def cluster_id(address: str, *, within_s: float) -> str:
    """Ask a broker which cluster it belongs to; raise where it does not answer in time."""
    # By default the client writes every refused connection to standard error.
    client = AdminClient({"bootstrap.servers": address, "log_level": 0})
    try:
        answer = client.list_topics(timeout=within_s)
    except KafkaException:
        raise _no_answer(address, within_s) from None
    return str(answer.cluster_id) if answer.brokers else ""


def _no_answer(address: str, within_s: float) -> ProfileError:
    """Build the error for a broker that does not answer; one that asks for TLS or SASL takes the connection."""
    places = (place.rpartition(":") for place in address.split(","))
    if not any(listens(int(port), host=host.strip("[]"), timeout_s=_CONNECT_S) for host, _, port in places):
        message = f"No Kafka broker answers at {address} within {within_s:g} s."
        return ProfileError(message, hint="Check the address and that the broker runs, or leave --kafka out.")
    return ProfileError(
        f"Something listens at {address}, but does not answer as a plain Kafka broker within {within_s:g} s.",
        hint="Neither TLS nor SASL is supported: let --kafka name a plaintext listener, or leave it out.",
    )


def _wait_until_ready(child: Child, port: int, identity: str) -> None:
    """Wait for an answer of this very broker: the port could belong to another one by now."""
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        child.require_alive()
        if listens(port) and _identity_at(port) == identity:
            return
        time.sleep(_POLL_S)
    raise died(TITLE, f"did not answer within {READY_WITHIN_S:g} s", child.log)


def _identity_at(port: int) -> str:
    try:
        return cluster_id(f"{LOOPBACK}:{port}", within_s=2.0)
    except ProfileError:
        return ""


def _format(data: Path) -> str:
    """Write what `kafka.tools.StorageTool format` writes, without a second JVM; give the cluster's new id."""
    identity, directory = _kafka_uuid(), _kafka_uuid()
    data.mkdir(parents=True)
    lines = ("version=1", f"cluster.id={identity}", "node.id=1", f"directory.id={directory}", "")
    (data / "meta.properties").write_text("\n".join(lines))
    return identity


def _kafka_uuid() -> str:
    """Make an id in Kafka's form: 16 bytes in URL-safe base 64, not starting with a dash, without padding."""
    return base64.urlsafe_b64encode(b"\x01" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
