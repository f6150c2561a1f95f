"""A simulated cluster: nodes × cores, tasks as threads, queues with back-pressure, noise from a seed.

How a window comes about: `network` turns the topology into arrays, `placement` deals the tasks over the nodes, `flow`
follows rows and loads and finds the largest rate that `sharing` (the cores of a node) lets every task sustain,
`saturation` tells what is full there, `deployment` adds `noise`, warm-up and the course of batches (`batching`),
`latency` sends rows through `queueing`. What all that comes to in the long run is known exactly: `steady_state`.
"""

from profiler.engines.simulated.engine import SimulatedEngine, Truth
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform

__all__ = ["Preset", "SimulatedEngine", "SimulatedPlatform", "Truth"]
