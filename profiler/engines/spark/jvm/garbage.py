"""For how long Spark's JVM has stood still to collect garbage, as its own beans tell.

Collectors that work beside the program have beans as well, whose time is no pause.
"""

from __future__ import annotations

import re
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

_BESIDE = re.compile("Concurrent|Cycles")


class Garbage:
    """The collectors of one JVM."""

    def __init__(self, jvm: Any) -> None:
        beans = jvm.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
        self._beans = [bean for bean in beans if not _BESIDE.search(bean.getName())]

    def paused_s(self) -> float | None:
        """Tell for how long it has stood still so far; None where it does not answer any more."""
        try:
            return float(sum(max(0, bean.getCollectionTime()) for bean in self._beans)) / 1000
        except (Py4JError, OSError):
            return None
