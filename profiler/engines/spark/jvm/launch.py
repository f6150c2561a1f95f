"""How Spark's JVM is launched: as the Spark that is installed beside this program, whatever else the machine has.

Its command line can be read by everyone on the machine, so secrets do not go there.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyspark

from profiler.secrets import is_secret

_READ_BY_THE_LAUNCHER = (
    "spark.master",
    "spark.driver.extraJavaOptions",
    "spark.driver.defaultJavaOptions",
    "spark.jars.repositories",
)
"""Settings that a context would read too late; they are on the command line of any job that has them."""

Variables = dict[str, str | None]
"""Variables of the environment; None leaves one out."""


def of_this_spark(*, local: bool) -> Variables:
    """Return the variables with which the installed Spark is launched, in a JVM of its own.

    Those of another installation would launch that one, add its options, or use a JVM that runs already. Where a
    cluster's settings are is for its users to say.
    """
    variables: Variables = dict.fromkeys(("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"))
    variables["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    if local:
        variables["SPARK_CONF_DIR"] = None
    return variables


def on_the_command_line(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings to launch with: all but the secret ones, which the context hands over by itself."""
    return {key: value for key, value in settings.items() if key in _READ_BY_THE_LAUNCHER or not is_secret(key, value)}


@contextlib.contextmanager
def environment(variables: Mapping[str, str | None]) -> Iterator[None]:
    """Set these variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    _set(variables)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
