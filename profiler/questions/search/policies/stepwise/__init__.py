"""The stepwise method: features, platform capability, operator capacity, and what goes beyond the paper."""

from profiler.questions.search.policies.stepwise.additions import Addition
from profiler.questions.search.policies.stepwise.method import Stepwise

__all__ = ["Addition", "Stepwise"]
