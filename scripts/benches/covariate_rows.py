"""placeholder"""

from collections.abc import Sequence
from profiler.experiment.observation import Observation

Rounds = Sequence[Sequence[Observation]]


def covariate_rows(rounds):
    return iter(())
