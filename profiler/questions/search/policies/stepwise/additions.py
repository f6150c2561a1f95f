"""What this implementation adds to the published steps; each can be left out, to measure what it contributes."""

from __future__ import annotations

from enum import StrEnum


class Addition(StrEnum):
    """One addition to the published method."""

    SLOT_PROGRAMME = "slot programme"
    BALANCE = "balance"
    SATURATION = "saturation stop"
    TIES = "ties"
    EXCHANGE = "exchange"
    GIVE_BACK = "give back"


ALL = frozenset(Addition)
