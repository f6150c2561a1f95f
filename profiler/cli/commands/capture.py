"""`profile capture TOPIC --kafka …`: sample a real topic into a workload file."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from profiler.cli.flags import with_settings
from profiler.errors import UsageError
from profiler.report.console import error_console, result_console
from profiler.report.words import counted
from profiler.services.kafka import given_kafka
from profiler.services.user_path import user_path
from profiler.settings.declarations import Settings
from profiler.settings.option import Command
from profiler.settings.quantities import count
from profiler.traffic.capture import sample_topic, write_sample
from profiler.traffic.topic_reader import KafkaReader


@with_settings(Command.CAPTURE, told={"kafka": "The broker to read from; it must be named."})
def capture(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic to sample.")],
    *,
    messages: Annotated[str, typer.Option("--messages", metavar="N", help="Newest messages to take.")] = "10000",
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Where to; gzip by its name. [TOPIC.jsonl.gz]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    settings: Settings,
) -> int:
    """Take the newest messages of a topic, with keys and headers, into a file for --payloads; the topic stays as it is.

    The file holds real data: it can be read by its owner only.
    """
    wanted = count(least=1).read(messages, "--messages")
    path = user_path(out or f"{topic}.jsonl.gz")
    if settings.kafka is None:
        raise UsageError("`profile capture` needs a broker to read from.", hint="Name it: --kafka HOST:PORT.")
    if path.exists() and not force:
        raise UsageError(f"{path} exists.", hint="Name another file with --out, or add --force to replace it.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent}.", hint="Make it, or name another file with --out.")

    given_kafka(settings.kafka).close()
    with closing(KafkaReader(settings.kafka)) as reader:
        sample = sample_topic(reader, topic, wanted)
    if not sample.messages:
        raise UsageError(f"Topic '{topic}' holds no message that could be replayed.", hint="Wait until it has some.")
    write_sample(sample, path)
    left_out = {"without a value": sample.without_value, "too large": sample.too_large}
    for reason, number in left_out.items():
        if number:
            error_console().print(f"Left out: {counted(number, 'message')} {reason}.", style="yellow")
    if len(sample.messages) + sum(left_out.values()) < wanted:
        error_console().print(f"The topic holds fewer than the {counted(wanted, 'message')} asked for.")
    result_console().print(
        f"Wrote {counted(len(sample.messages), 'message')} to {path}. Next: profile run TOPOLOGY --payloads {path}",
        soft_wrap=True,
        highlight=False,
    )
    return 0
