"""Where something was measured: only what differs makes two places differ."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from profiler.experiment.engine import Platform
from profiler.history.fingerprint.environment import fingerprint


def place(**facts: Any) -> dict[str, str]:
    engine: Any = SimpleNamespace(name="spark", window_s=3.0, platform=Platform(slots=8, cores=2, **facts))
    return fingerprint(engine)


def test_a_state_that_was_filled_first_is_another_place() -> None:
    """Its job works among more keys; baselines from before there was a prefill stay comparable."""
    assert "prefill" not in place()
    assert place(prefill_keys=5000)["prefill"] == "5000 keys"
    assert place() != place(prefill_keys=5000)
