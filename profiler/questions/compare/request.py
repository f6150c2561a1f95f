"""What a comparison is asked."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.questions.compare.variants import Job


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """What a comparison is asked to do."""

    jobs: tuple[Job, ...]
    equal_slots: bool
    anew: bool
