"""What makes figures doubtful, of a measurement as of a test."""

from __future__ import annotations

from enum import StrEnum


class Doubt(StrEnum):
    """What makes a measurement doubtful; doubt is data, shown with what to do about it."""

    GENERATOR_LIMITED = "generator-limited"
    NOT_STATIONARY = "not-stationary"
    NOT_SATURATED = "not-saturated"
    BATCH_OVERRUN = "batch-overrun"
    HOT_KEY = "hot-key"
    TOO_FEW_WINDOWS = "too-few-windows"
    NOT_NORMAL = "not-normal"
    LATENCY_UNKNOWN = "latency-unknown"
    DISTURBED = "disturbed"
