"""Policies: pure strategies that choose the next trial from the history of rounds; this is their catalogue."""

from __future__ import annotations

from profiler.policies.ds2 import DS2
from profiler.policies.exhaustive import Exhaustive
from profiler.policies.policy import Policy
from profiler.policies.slots import Slots
from profiler.policies.stela import Stela
from profiler.policies.stepwise import Stepwise
from profiler.policies.threshold import Threshold

POLICIES: dict[str, type[Policy]] = {
    "stepwise": Stepwise,
    "threshold": Threshold,
    "stela": Stela,
    "ds2": DS2,
    "slots": Slots,
    "exhaustive": Exhaustive,
}
