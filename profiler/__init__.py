"""A stepwise auto-profiler for Spark streaming that answers how many tasks every operator should have."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which takes longer to import than somebody needs to press Ctrl-C
if TYPE_CHECKING:
    from profiler.job.topology import Batches, Cost, Operator, Output, Source, Topology

__all__ = ["Batches", "Cost", "Operator", "Output", "Source", "Topology", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import what is public when it is asked for: the command must be able to say that it was interrupted by then."""
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from profiler.job import topology  # noqa: PLC0415

    return getattr(topology, name)
