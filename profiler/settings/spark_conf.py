"""`--conf KEY=VALUE`: a user's own settings of the Spark session, which go before the engine's."""

from __future__ import annotations

from collections.abc import Sequence

from profiler.errors import UsageError

_OURS = {
    "spark.master": "name it with --master",
    "spark.jars": "the connector's jars go there",
    "spark.ui.enabled": "its figures are where stages are read from",
    "spark.default.parallelism": "the slots are read from it",
    "spark.sql.shuffle.partitions": "it is the number of tasks that is searched for",
    "spark.sql.optimizer.excludedRules": "it keeps operators in stages of their own",
}
"""Settings that the profiler has to make itself, and why."""


def spark_settings(written: Sequence[str]) -> dict[str, str]:
    """Read the settings; refuse those that are the profiler's own."""
    settings = {}
    for each in written:
        key, _, value = each.partition("=")
        if key in _OURS:
            raise UsageError(f"--conf sets {key}, which is the profiler's own: {_OURS[key]}.", hint="Leave it out.")
        settings[key] = value
    return settings
