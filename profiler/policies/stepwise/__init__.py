"""The stepwise method: features, platform capability, operator capacity, and what goes beyond the paper."""

from profiler.policies.stepwise.additions import Addition
from profiler.policies.stepwise.method import Stepwise

__all__ = ["Addition", "Stepwise"]
