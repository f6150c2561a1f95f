"""The stepwise method: features, platform capability, operator capacity, and what goes beyond the paper."""

from profiler.questions.search.policies.policy import Policy
from profiler.questions.search.policies.stepwise.additions import Addition
from profiler.questions.search.policies.stepwise.method import Stepwise

POLICY: type[Policy] = Stepwise

__all__ = ["POLICY", "Addition", "Stepwise"]
