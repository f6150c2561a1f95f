"""Fill the state of a deployment before its first window: until it holds enough keys, gets no more, or time is up.

Every deployment has a checkpoint of its own, as the number of its state's partitions is frozen in one, so its state
starts empty, and so does that of a query that is started again. A job of production has millions of keys, and a look-up
among them takes longer. The keys are the data's own: the workload file is replayed as fast as the job takes it, so the
state can hold no more keys than the file has. Every deployment pays for it: keys / (new keys per second), in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping

LONGEST_S = 120.0
"""Seconds after which a deployment is filled no longer."""
GROWS = 0.005
"""Part of the wanted keys that a batch must bring to count as growth."""
PATIENCE = 3
"""Batches in a row without growth after which the data is taken to have no more keys."""


class Filling:
    """Decides, batch by batch, whether a state is full; the caller tells it the time and the rows of state."""

    def __init__(self, wanted: int, start_s: float) -> None:
        self._wanted = wanted
        self._start_s = start_s
        self._reached = 0
        self._idle = 0

    def goes_on(self, rows: Mapping[str, int], now_s: float) -> bool:
        """Tell whether more is to be sent, given the rows of state by operator."""
        if all(count >= self._wanted for count in rows.values()):
            return False
        reached = sum(min(count, self._wanted) for count in rows.values())
        self._idle = 0 if reached - self._reached >= GROWS * self._wanted else self._idle + 1
        self._reached = max(reached, self._reached)
        return self._idle < PATIENCE and now_s - self._start_s < LONGEST_S
