"""Run the generating process: `python -m profiler.generator`, as `process.py` does."""

from __future__ import annotations

import sys

from profiler.generator.child import main

sys.exit(main())
