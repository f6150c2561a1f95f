"""What a row costs in the paper's kinds of operators, in milliseconds on one core.

CPU-bound operators draw 10 000 random numbers per row, I/O-bound ones parse a JSON message and hand it on, so that
they wait for input and output about as long as they work, and sojourn-bound ones wait for an outside service.
"""

from __future__ import annotations

from profiler import Cost

CPU_BOUND = Cost(cpu_ms=0.3)
IO_BOUND = Cost(cpu_ms=0.03, wait_ms=0.02)
SOJOURN_BOUND = Cost(cpu_ms=0.005, wait_ms=5.0)
