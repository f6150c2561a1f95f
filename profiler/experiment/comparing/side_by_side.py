"""Observe deployments that run at the same time: what the machine does to one it does to the others.

Each is offered its rate until all have enough windows in which they had company from beginning to end: an engine
starts its deployments one after the other, and their windows end at different times. What one shows before the others
have begun does not count. One that has its windows stays under load while the others catch up, and asks for no more: a
window that is begun has to be waited for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from queue import SimpleQueue

from profiler.experiment.engine import Deployment
from profiler.experiment.observation import Observation

_MOST_WINDOWS = 10_000
"""The number of windows that an observation asks for which is to go on until it is ended."""
_ENDS_WITHIN_S = 60.0
"""Seconds that a window that has begun, and whatever an engine waits for, may take to end."""


class _Watched:
    """One of the deployments, observed in a thread of its own."""

    _GO_ON, _END = True, False

    def __init__(
        self, deployment: Deployment, rate_per_s: float, coming: SimpleQueue[tuple[_Watched, Observation | Exception]]
    ) -> None:
        self.seen: list[Observation] = []
        self._deployment = deployment
        self._rate_per_s = rate_per_s
        self._coming = coming
        self._goes_on: SimpleQueue[bool] = SimpleQueue()
        self._waits = False
        """Whether it waits for the word that it is to go on, or not."""
        self._thread = threading.Thread(target=self._observe, name="profile-side-by-side", daemon=True)

    def start(self) -> None:
        """Begin to offer the rate."""
        self._thread.start()

    def take(self, window: Observation) -> None:
        """Note a window that came."""
        self.seen.append(window)
        self._waits = True

    def go_on(self) -> None:
        """Have it observe one more window, unless it does."""
        if self._waits:
            self._waits = False
            self._goes_on.put(self._GO_ON)

    def end(self) -> None:
        """End its load, after the window that it observes."""
        self._goes_on.put(self._END)

    def join(self) -> None:
        """Wait until it has ended; one whose engine does not answer any more is left behind."""
        if self._thread.ident is not None:
            self._thread.join(_ENDS_WITHIN_S)

    def _observe(self) -> None:
        try:
            # To close it ends the load.
            with closing(self._deployment.observe(self._rate_per_s, _MOST_WINDOWS)) as windows:  # type: ignore[type-var]
                for window in windows:
                    self._coming.put((self, window))
                    if not self._goes_on.get():
                        return
        except Exception as error:  # noqa: BLE001 - raised in the thread that waits for windows
            self._coming.put((self, error))


def observed_together(
    deployments: Sequence[Deployment],
    rates_per_s: Sequence[float],
    windows: int,
    report: Callable[[Observation], None],
) -> tuple[tuple[Observation, ...], ...]:
    """Offer each its rate and return so many windows of each; `report` hears of those of the first one.

    Where one breaks, all are closed and its error is raised.
    """
    if windows <= 0:
        return tuple(() for _ in deployments)
    coming: SimpleQueue[tuple[_Watched, Observation | Exception]] = SimpleQueue()
    watched = [
        _Watched(deployment, rate_per_s, coming)
        for deployment, rate_per_s in zip(deployments, rates_per_s, strict=True)
    ]
    try:
        for each in watched:
            each.start()
        return _enough(watched, coming, windows, report)
    except BaseException:
        with ExitStack() as closed:
            for deployment in deployments:
                closed.callback(deployment.close)
        raise
    finally:
        for each in watched:
            each.end()
        for each in watched:
            each.join()


def _enough(
    watched: Sequence[_Watched],
    coming: SimpleQueue[tuple[_Watched, Observation | Exception]],
    windows: int,
    report: Callable[[Observation], None],
) -> tuple[tuple[Observation, ...], ...]:
    """Take windows as they come, until there are so many of each."""
    while True:
        one, came = coming.get()
        if isinstance(came, Exception):
            raise came
        one.take(came)
        if one is watched[0]:
            report(came)
        counted = in_company([each.seen for each in watched])
        wanting = [each for each, seen in zip(watched, counted, strict=True) if len(seen) < windows]
        if not wanting:
            return tuple(tuple(seen[:windows]) for seen in counted)
        for each in wanting:
            each.go_on()


def in_company(seen: Sequence[Sequence[Observation]]) -> list[list[Observation]]:
    """Leave out what began while another deployment had no window yet; half of one makes no difference."""
    if not all(seen):
        return [[] for _ in seen]
    begin_s = max(windows[0].start_s for windows in seen)
    return [[each for each in windows if each.start_s >= begin_s - each.duration_s / 2] for windows in seen]
