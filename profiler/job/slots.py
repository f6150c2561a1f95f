"""How many slots a topology needs before anything is searched."""

from __future__ import annotations

from profiler.errors import UsageError
from profiler.job.configuration import Configuration
from profiler.job.topology import Topology


def smallest_configuration(topology: Topology, slots: int | None) -> Configuration:
    """Return the configuration with as few tasks as allowed; raise where even that does not fit the slots.

    All stages of a real-time query run at once, so every task needs a slot. `slots` is None where they are not
    known yet.
    """
    configuration = Configuration.of({element.name: element.min_tasks for element in topology})
    if slots is not None and configuration.slots > slots:
        raise UsageError(
            f"Topology '{topology.name}' needs at least {configuration.slots} slots, one per task, "
            f"but there are {slots}.",
            hint=f"Give it --slots {configuration.slots} or more.",
        )
    return configuration
