"""Policies: pure strategies that choose the next trial from the history of rounds; this is their catalogue."""

from __future__ import annotations

from profiler.questions.search.policies.ds2 import DS2
from profiler.questions.search.policies.exhaustive import Exhaustive
from profiler.questions.search.policies.policy import Policy
from profiler.questions.search.policies.slot_jump import Slots
from profiler.questions.search.policies.stela import Stela
from profiler.questions.search.policies.stepwise import Stepwise
from profiler.questions.search.policies.threshold import Threshold

POLICIES: dict[str, type[Policy]] = {
    "stepwise": Stepwise,
    "threshold": Threshold,
    "stela": Stela,
    "ds2": DS2,
    "slots": Slots,
    "exhaustive": Exhaustive,
}
