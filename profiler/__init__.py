"""A stepwise auto-profiler for Spark streaming that answers how many tasks every operator should have."""

from profiler.job.topology import Batches, Cost, Operator, Output, Source, Topology

__all__ = ["Batches", "Cost", "Operator", "Output", "Source", "Topology", "__version__"]
__version__ = "0.1.0"
