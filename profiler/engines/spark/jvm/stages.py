"""CPU time per stage of a finished batch, from Spark's REST interface."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from profiler.errors import ProfileError

ANSWER_WITHIN_S = 60.0
"""Seconds within which a session answers; its first answer takes some, as Spark then loads what answers."""
_COMPLETE_WITHIN_S = 3.0
"""Seconds within which a batch's last stage is reported: Spark's listeners work off a queue."""
_POLL_S = 0.03


@dataclass(frozen=True, slots=True)
class StageUse:
    """One stage of one batch."""

    stage: int
    attempt: int
    tasks: int
    cpu_s: float


class StageCosts:
    """The REST interface of one Spark application."""

    def __init__(self, rest_url: str) -> None:
        self._url = rest_url
        threading.Thread(target=self._load, name="profile-rest", daemon=True).start()

    def of_batch(self, run: str, batch: int, count: int) -> tuple[StageUse, ...]:
        """Give the stages of a query's batch in chain order, as soon as all `count` of them are reported."""
        deadline = time.monotonic() + _COMPLETE_WITHIN_S
        while True:
            found = _select(self._get("stages?status=complete"), run, batch)
            if len(found) == count:
                return found
            if time.monotonic() > deadline:
                raise ProfileError(
                    f"Spark reports {len(found)} stages of batch {batch} instead of {count}.",
                    hint="Look at Spark's log for failed stages.",
                )
            time.sleep(_POLL_S)

    def busiest_task_s(self, use: StageUse) -> float:
        """Give the CPU time of the task that needed most."""
        answer = self._get(f"stages/{use.stage}/{use.attempt}/taskSummary?quantiles=1.0")
        return float(answer["executorCpuTime"][0]) / 1e9

    def _load(self) -> None:
        """Make Spark load its REST interface before the first window waits for it."""
        with contextlib.suppress(ProfileError):
            self._get("stages?status=complete")

    def _get(self, path: str) -> Any:
        try:
            with urllib.request.urlopen(f"{self._url}/{path}", timeout=ANSWER_WITHIN_S) as answer:  # noqa: S310
                return json.load(answer)
        except (OSError, urllib.error.URLError) as error:
            raise ProfileError(
                f"Spark's REST interface does not answer: {error}.", hint="Spark may have died; look at its log."
            ) from error


def _select(stages: list[dict[str, Any]], run: str, batch: int) -> tuple[StageUse, ...]:
    """Choose the stages of a batch: Spark writes run id and batch into their description."""
    found = []
    for stage in stages:
        text = stage.get("description") or ""
        if run in text and text.rsplit("batch = ", 1)[-1].split()[:1] == [str(batch)]:
            cpu_s = stage["executorCpuTime"] / 1e9
            found.append(StageUse(stage["stageId"], stage["attemptId"], stage["numTasks"], cpu_s))
    return tuple(sorted(found, key=lambda use: use.stage))
