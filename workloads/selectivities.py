"""Rows out per row in, one operator at a time: `selectivity` is that of all, `selectivity_NAME` that of one.

A dash in an operator's name is written as an underscore, as in `diamond?selectivity_look_up=2`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from profiler.errors import TopologyError, did_you_mean

_PREFIX = "selectivity_"


def selectivities(operators: Sequence[str], of_all: float, given: Mapping[str, float]) -> dict[str, float]:
    """Return the selectivity of every operator; refuse a parameter that names none of them."""
    parameters = {_PREFIX + name.replace("-", "_"): name for name in operators}
    for parameter in given:
        if parameter not in parameters:
            known = f"It takes {', '.join(parameters)}."
            raise TopologyError(
                f"There is no parameter '{parameter}'.", hint=did_you_mean(parameter, parameters, otherwise=known)
            )
    return {name: float(given.get(parameter, of_all)) for parameter, name in parameters.items()}
