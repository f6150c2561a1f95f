"""How Spark's JVM is launched: as the Spark that is installed beside this program, whatever else the machine has."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyspark

Variables = dict[str, str | None]
"""Of the environment; None leaves one out."""


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
