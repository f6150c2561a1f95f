"""Keep what Spark's JVM on this machine opens for others to itself.

Every task that feeds a real-time shuffle opens a server on a port of its own, and Spark has no setting for the address
it listens at: it asks Java for the one that stands for all of them (spark.driver.bindAddress is for the other servers).
So Java is told that this one is the loopback address, before Spark asks. Java has no setting for that either; the field
below is where it keeps that address (tried with Java 17 and 25), and Spark opens the package to itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from profiler.errors import ProfileError

SETTINGS: Mapping[str, str] = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Settings for a local master only: the executors of a cluster must reach the driver."""


def listen_on_loopback_only(jvm: Any) -> None:
    """Make a server that is to listen at every address of the machine listen at its loopback address."""
    loopback = jvm.java.net.InetAddress.getByName("127.0.0.1")
    try:
        known = _field(jvm.java.lang.Class.forName("java.net.InetAddress"), "impl").get(None)
        _field(known.getClass(), "anyLocalAddress").set(known, loopback)
    except Py4JError as error:
        java = jvm.java.lang.System.getProperty("java.version")
        raise ProfileError(
            f"Java {java} does not let the servers of Spark's shuffle be kept to this machine.",
            hint="Use Java 17, 21 or 25, or a cluster (--master).",
        ) from error


def _field(owner: Any, name: str) -> Any:
    field = owner.getDeclaredField(name)
    field.setAccessible(True)
    return field
