"""A generating process against a real broker: what arrives, and what happens when something is wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME
from confluent_kafka.admin import AdminClient
from topics import created_topic, received

from profiler.errors import ProfileError, UsageError
from profiler.services.kafka import Kafka
from profiler.services.ports import free_ports
from profiler.traffic.generator import producer as sending
from profiler.traffic.generator.payloads import MAX_MESSAGE_BYTES
from profiler.traffic.generator.process import GeneratorProcess
from profiler.traffic.generator.producer import PacedProducer
from profiler.traffic.generator.standalone import generate
from profiler.traffic.generator.wire import GeneratorReport, SetRate, Target

BOUND_S = 60.0
"""Far above what anything here may take; only a hang reaches it."""
CreateTopic = Callable[[int], str]


@pytest.fixture
def numbered(tmp_path: Path) -> Path:
    """A workload whose values say which message they are."""
    path = tmp_path / "numbered.jsonl"
    path.write_text("".join(f"{number}\n" for number in range(20_000)))
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "generator.log"


def until(generator: GeneratorProcess, reached: Callable[[GeneratorReport], bool]) -> GeneratorReport:
    """Wait for a report."""
    deadline = time.monotonic() + BOUND_S
    while not reached(report := generator.next_report()):
        assert time.monotonic() < deadline, report
    return report


@pytest.mark.exact
@pytest.mark.kafka
def test_every_message_arrives_once_in_order_with_the_time_it_was_due(
    broker: Kafka, create_topic: CreateTopic, numbered: Path, log: Path
) -> None:
    """Counts are exact, partitions even and in order, and timestamps are the intended times to the millisecond."""
    topic, reports = create_topic(3), list[GeneratorReport]()
    before_ms = time.time() * 1000
    last = generate(broker.address, topic, 5_000.0, 2.0, numbered, reports.append, log=log)
    after_ms = time.time() * 1000
    assert (last.offered, last.sent, last.acked, last.errors, last.abandoned) == (10_000, 10_000, 10_000, 0, 0)
    assert reports[-1] == last

    partitions = received(broker, topic)
    due_ms: dict[int, int] = {}
    for messages in partitions:
        numbers = [int(message.value() or b"") for message in messages]
        assert all(earlier < later for earlier, later in pairwise(numbers))
        for number, message in zip(numbers, messages, strict=True):
            kind, due_ms[number] = message.timestamp()
            assert kind == TIMESTAMP_CREATE_TIME
    assert sorted(due_ms) == list(range(10_000))
    assert max(map(len, partitions)) - min(map(len, partitions)) <= 6, "a run is 5 messages, or 6"
    start_ms = due_ms[0]
    assert all(abs(due_ms[number] - start_ms - number / 5) <= 1 for number in due_ms)
    assert before_ms <= start_ms
    assert max(due_ms.values()) <= after_ms


@pytest.mark.kafka
def test_messages_sent_late_carry_the_times_they_were_due(
    broker: Kafka, create_topic: CreateTopic, numbered: Path
) -> None:
    """On a clock that the test holds: looked at once after two seconds, sent with the times of these two seconds."""
    topic, epoch_s = create_topic(1), 1_700_000_000.0
    producer = PacedProducer(broker.address, [Target(topic, str(numbered))], start_s=50.0, to_epoch_s=epoch_s)
    producer.apply(SetRate(250.0), 50.0)
    while producer.next_s() <= 52.0:
        producer.send_due(52.0)
    producer.finish(52.0, timeout_s=BOUND_S)
    times = [message.timestamp()[1] for message in received(broker, topic)[0]]
    assert times == [1_700_000_050_000 + 4 * number for number in range(1, 501)]


@pytest.mark.kafka
def test_a_short_file_is_replayed_in_a_loop(
    broker: Kafka, create_topic: CreateTopic, tmp_path: Path, log: Path
) -> None:
    """Three messages make a thousand, none more often than another."""
    path = tmp_path / "three.jsonl"
    path.write_text("a\nb\nc\n")
    topic = create_topic(1)
    generate(broker.address, topic, 2_000.0, 0.5, path, lambda _: None, log=log)
    values = Counter(message.value() for message in received(broker, topic)[0])
    assert values == {b"a": 334, b"b": 333, b"c": 333}


@pytest.mark.kafka
def test_keys_choose_partitions_and_headers_travel(
    broker: Kafka, create_topic: CreateTopic, tmp_path: Path, log: Path
) -> None:
    """A key always meets the same partition; a null key is fine."""
    path = tmp_path / "envelopes.jsonl"
    lines = [f'{{"key": "k{number}", "value": "v{number}", "headers": {{"n": "{number}"}}}}' for number in range(20)]
    path.write_text("\n".join([*lines, '{"key": null, "value": "none"}']))
    topic = create_topic(4)
    last = generate(broker.address, topic, 1_050.0, 1.0, path, lambda _: None, log=log)
    assert last.acked == 1_050
    places: dict[bytes | str, set[int]] = {}
    for partition, messages in enumerate(received(broker, topic)):
        for message in messages:
            if (key := message.key()) is not None:
                places.setdefault(key, set()).add(partition)
                assert message.headers() == [("n", key.removeprefix(b"k"))]  # type: ignore[arg-type]
    assert len(places) == 20
    assert all(len(where) == 1 for where in places.values())
    assert len(set.union(*places.values())) > 1


@pytest.mark.kafka
def test_the_largest_message_that_a_file_may_hold_is_delivered(
    broker: Kafka, create_topic: CreateTopic, tmp_path: Path, log: Path
) -> None:
    """The limit of the file is one that client and broker keep."""
    path = tmp_path / "large.jsonl"
    path.write_bytes(b"x" * MAX_MESSAGE_BYTES)
    last = generate(broker.address, create_topic(1), 4.0, 1.0, path, lambda _: None, log=log)
    assert (last.acked, last.errors) == (4, 0)


@pytest.mark.kafka
def test_topics_get_their_shares(broker: Kafka, create_topic: CreateTopic, numbered: Path, log: Path) -> None:
    """Every topic has its own pace, so shares are exact."""
    large, small = create_topic(2), create_topic(1)
    targets = [Target(large, str(numbered), 0.75), Target(small, str(numbered), 0.25)]
    with GeneratorProcess(broker.address, targets, log=log) as generator:
        generator.set_rate(4_000.0, seconds=1.0)
        until(generator, lambda report: report.acked == 4_000)
    assert [sum(map(len, received(broker, topic))) for topic in (large, small)] == [3_000, 1_000]


@pytest.mark.kafka
@pytest.mark.alone
def test_the_rate_changes_while_it_runs(broker: Kafka, create_topic: CreateTopic, numbered: Path, log: Path) -> None:
    """A new rate holds from the command on; nothing is lost or doubled at the change."""
    topic = create_topic(1)
    with GeneratorProcess(broker.address, [Target(topic, str(numbered))], log=log) as generator:
        assert generator.report().offered == 0
        generator.set_rate(100.0)
        until(generator, lambda report: report.acked >= 50)
        generator.set_rate(20.0)
        slow = until(generator, lambda report: report.rate_per_s == 20.0)
        until(generator, lambda report: report.acked >= slow.acked + 10)
        generator.set_rate(0.0)
        still = until(generator, lambda report: report.rate_per_s == 0.0)
        assert until(generator, lambda report: report.acked == report.offered).offered == still.offered
        last = generator.stop()
    assert last is not None
    messages = received(broker, topic)[0]
    assert [int(message.value() or b"") for message in messages] == list(range(last.offered))
    times = [message.timestamp()[1] for message in messages]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert all(9 <= gap <= 51 for gap in gaps)
    assert gaps == sorted(gaps, key=lambda gap: gap > 30), "first only short gaps, then only long ones"
    assert gaps.count(10) + gaps.count(9) + gaps.count(11) >= 49
    assert gaps.count(50) + gaps.count(49) + gaps.count(51) >= 10


@pytest.mark.kafka
@pytest.mark.alone
def test_a_window_tells_what_was_offered_and_what_arrived(
    broker: Kafka, create_topic: CreateTopic, numbered: Path, log: Path
) -> None:
    """The reports that enclose a window give its rates; a rate that nobody can keep is marked.

    What is offered follows from the clock, what arrived does not: it may be a moment late, on a loaded machine.
    """
    topic = create_topic(1)
    with GeneratorProcess(broker.address, [Target(topic, str(numbered))], log=log) as generator:
        generator.set_rate(1_000.0)
        start_s = until(generator, lambda report: report.acked >= 100).time_s + 0.1
        end_s = start_s + 3.0
        window = generator.achieved(start_s, end_s)
        assert window.offered_per_s == pytest.approx(1_000.0, rel=0.01)
        assert window.acked_per_s == pytest.approx(1_000.0, rel=0.05)
        samples = generator.samples(start_s, end_s)
        assert samples[0].time_s <= start_s < samples[1].time_s
        assert samples[-2].time_s < end_s <= samples[-1].time_s

        generator.set_rate(50_000_000.0)
        start_s = until(generator, lambda report: report.rate_per_s > 1_000.0).time_s
        window = generator.achieved(start_s, start_s + 0.5)
        assert window.limited
        assert window.behind_s > 0
        generator.set_rate(10.0, abandon_owed=True)
        relieved = until(generator, lambda report: report.rate_per_s == 10.0 and report.behind_s == 0.0)
        assert relieved.abandoned > 1_000_000


@pytest.mark.exact
@pytest.mark.kafka
def test_a_slow_broker_fills_the_queue_and_nothing_is_lost(mortal_broker: Kafka, numbered: Path, log: Path) -> None:
    """While the broker stands still the generator says that it falls behind; then it catches up with the old times."""
    topic = created_topic(mortal_broker, 2)
    assert mortal_broker.pid is not None
    with GeneratorProcess(mortal_broker.address, [Target(topic, str(numbered))], log=log) as generator:
        os.kill(mortal_broker.pid, signal.SIGSTOP)
        try:
            generator.set_rate(290_000.0, seconds=1.0)
            held_up = until(generator, lambda report: report.queue_full > 0)
            assert held_up.acked == 0
            assert until(generator, lambda report: report.behind_s > 0.2).errors == 0
        finally:
            os.kill(mortal_broker.pid, signal.SIGCONT)
        until(generator, lambda report: report.acked == 290_000)
    values = Counter(int(message.value() or b"") for part in received(mortal_broker, topic) for message in part)
    assert values == {number: 15 if number < 10_000 else 14 for number in range(20_000)}, "14 and a half times the file"


@pytest.mark.kafka
def test_a_broker_that_dies_is_reported_and_ends_the_generator(mortal_broker: Kafka, numbered: Path, log: Path) -> None:
    """One sentence with the address, within a bounded time, and no process left."""
    topic = created_topic(mortal_broker, 1)
    with GeneratorProcess(mortal_broker.address, [Target(topic, str(numbered))], log=log) as generator:
        generator.set_rate(20_000.0)
        until(generator, lambda report: report.acked > 0)
        assert mortal_broker.pid is not None
        os.kill(mortal_broker.pid, signal.SIGKILL)
        with pytest.raises(
            ProfileError, match=f"{mortal_broker.address} has acknowledged nothing for 10 s: it does not"
        ):
            until(generator, lambda _: False)
        with pytest.raises(ProfileError, match="acknowledged nothing"):
            generator.set_rate(1.0)


@pytest.mark.kafka
def test_a_topic_that_disappears_ends_the_generator(
    broker: Kafka, create_topic: CreateTopic, numbered: Path, log: Path
) -> None:
    """The sentence names the topic."""
    topic = create_topic(1)
    with GeneratorProcess(broker.address, [Target(topic, str(numbered))], log=log) as generator:
        generator.set_rate(1_000.0)
        until(generator, lambda report: report.acked > 0)
        admin = AdminClient({"bootstrap.servers": broker.address})
        admin.delete_topics([topic])[topic].result()
        with pytest.raises(ProfileError, match=f"topic '{topic}' is gone"):
            until(generator, lambda _: False)


@pytest.mark.kafka
def test_stopping_does_not_wait_long_for_a_dead_broker(mortal_broker: Kafka, numbered: Path, log: Path) -> None:
    """What can't be delivered any more is counted as errors, and the counts add up."""
    topic = created_topic(mortal_broker, 1)
    generator = GeneratorProcess(mortal_broker.address, [Target(topic, str(numbered))], log=log)
    generator.start()
    generator.set_rate(20_000.0)
    until(generator, lambda report: report.acked > 0)
    assert mortal_broker.pid is not None
    os.kill(mortal_broker.pid, signal.SIGKILL)
    gone = generator.report()
    until(generator, lambda report: report.sent > gone.sent + 10_000)
    last = generator.stop()
    assert last is not None
    assert last.errors > 0
    assert last.acked + last.errors == last.sent
    assert last.sent + last.abandoned == last.offered
    assert generator.stop() == last, "stopping twice is fine"


@pytest.mark.exact
@pytest.mark.kafka
@pytest.mark.parametrize("rate_per_s", [0.0, 1_000_000.0])
def test_a_killed_parent_takes_the_generator_with_it(
    broker: Kafka, create_topic: CreateTopic, numbered: Path, log: Path, rate_per_s: float
) -> None:
    """The kernel closes the pipe, and that is the end, idle or at full speed."""
    program = textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from profiler.traffic.generator.process import GeneratorProcess
        from profiler.traffic.generator.wire import Target
        address, topic, payloads, log, rate = sys.argv[1:]
        generator = GeneratorProcess(address, [Target(topic, payloads)], log=Path(log))
        generator.start()
        generator.set_rate(float(rate))
        print(generator.pid, flush=True)
        time.sleep(600)
    """)
    arguments = [broker.address, create_topic(1), str(numbered), str(log), str(rate_per_s)]
    with subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        generator = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    assert psutil.wait_procs([generator], timeout=BOUND_S)[1] == []


@pytest.mark.kafka
def test_a_killed_generator_is_an_error_in_the_parent(
    broker: Kafka, create_topic: CreateTopic, numbered: Path, log: Path
) -> None:
    """Whoever waits for a report is told why none will come."""
    with GeneratorProcess(broker.address, [Target(create_topic(1), str(numbered))], log=log) as generator:
        assert generator.pid is not None
        os.kill(generator.pid, signal.SIGKILL)
        with pytest.raises(ProfileError, match="was killed by SIGKILL"):
            until(generator, lambda _: False)


@pytest.mark.kafka
def test_an_interruption_ends_a_run_in_order(
    broker: Kafka, create_topic: CreateTopic, numbered: Path, log: Path
) -> None:
    """Ctrl-C gives the final counts, which are what the topic holds, and is passed on."""
    topic, reports = create_topic(1), list[GeneratorReport]()

    def interrupt_once(report: GeneratorReport) -> None:
        reports.append(report)
        if report.sent and report.rate_per_s:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(broker.address, topic, 1_000.0, 600.0, numbered, interrupt_once, log=log)
    assert reports[-1].rate_per_s == 0.0
    assert reports[-1].acked == reports[-1].sent == len(received(broker, topic)[0]) > 0


@pytest.mark.kafka
def test_an_unknown_topic_is_named(broker: Kafka, numbered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A topic is never made by accident."""
    monkeypatch.setattr(sending, "CONNECT_S", 0.5)
    with pytest.raises(ProfileError, match="has no topic 'nowhere'"):
        PacedProducer(broker.address, [Target("nowhere", str(numbered))], 0.0, 0.0)


def test_a_broker_that_does_not_answer_is_named(numbered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says the address and the way out."""
    monkeypatch.setattr(sending, "CONNECT_S", 0.3)
    address = f"127.0.0.1:{free_ports(1)[0]}"
    with pytest.raises(ProfileError, match=f"{address} does not answer"):
        PacedProducer(address, [Target("any", str(numbered))], 0.0, 0.0)


def test_a_bad_workload_file_is_the_users_mistake(tmp_path: Path, log: Path) -> None:
    """The child's error arrives in the parent as what it is, before any broker is asked."""
    generator = GeneratorProcess("127.0.0.1:1", [Target("any", str(tmp_path / "missing"))], log=log)
    with pytest.raises(UsageError, match="missing does not exist"):
        generator.start()


@pytest.mark.parametrize("targets", [[], [Target("any", "file", 0.0)]])
def test_a_generator_without_anything_to_send_is_refused(targets: list[Target], log: Path) -> None:
    """No target, or a share of nothing, is a mistake of the caller."""
    with pytest.raises(UsageError, match="shares above 0"):
        GeneratorProcess("127.0.0.1:1", targets, log=log)
