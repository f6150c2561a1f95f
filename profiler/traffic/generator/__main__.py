"""Run the generating process: `python -m profiler.traffic.generator`, as `process.py` does."""

from __future__ import annotations

import sys

from profiler.traffic.generator.child import main

sys.exit(main())
