"""What a design could detect, before it is run."""

from __future__ import annotations

import numpy as np
import pytest
from noisy import interleaved, process, search_round

from profiler.engines.simulated.noise import Preset
from profiler.statistics.confirmation import Block, confirm
from profiler.statistics.noise_floor import confirmation_floor, foreseen_floor


def test_the_floor_of_a_confirmation_is_what_confirmations_say_of_themselves() -> None:
    """Twelve blocks."""
    source = process(Preset.QUIET, 2)
    runs = [interleaved(source) for _ in range(60)]
    sd = float(np.std([np.log(block.values).mean() for blocks in runs for block in blocks]))
    seen = [confirm(blocks).detectable_effect for blocks in runs]
    assert confirmation_floor(sd, 12) == pytest.approx(np.median(seen), rel=0.3)
    assert confirmation_floor(sd, 24) < confirmation_floor(sd, 12)
    assert confirmation_floor(sd, 12, paired=True) > confirmation_floor(sd, 12), "pairs leave half of the freedom"


def test_what_is_foreseen_is_seldom_above_what_confirmations_say_of_themselves() -> None:
    """From the six windows of one deployment, at the best: hardly one foresees more than comes true."""
    source = process(Preset.SHARED, 3)
    told = float(np.median([confirm(_blind(interleaved(source))).detectable_effect for _ in range(60)]))
    foreseen = [foreseen_floor(search_round(source, windows=6).values, windows=5, blocks=12) for _ in range(200)]
    assert sum(each > told for each in foreseen) <= 20
    assert float(np.median(foreseen)) > told / 4


def test_a_warm_up_that_lingers_is_not_taken_for_noise() -> None:
    """Successive windows hardly differ, although the first and the last do."""
    rising = [1000 * 1.01**index for index in range(6)]
    assert foreseen_floor(rising, windows=4, blocks=16) < 0.02


def test_a_window_that_stalled_does_not_make_a_gate_blind() -> None:
    """One of six is far off: the gate's own blocks will tell what is noise."""
    steady = [1.00, 1.02, 0.99, 1.01, 0.98, 1.00]
    stalled = [*steady[:3], 2.0, *steady[4:]]
    floor = foreseen_floor(steady, windows=4, blocks=8)
    assert floor <= foreseen_floor(stalled, windows=4, blocks=8) < 3 * floor


def test_what_does_not_matter_cannot_be_found() -> None:
    """Without noise, or without windows to tell it, the smallest relevant effect is the floor."""
    assert foreseen_floor([1.0] * 6, windows=4, blocks=16, relevant_effect=0.05) == pytest.approx(0.05)
    assert foreseen_floor([1.0], windows=4, blocks=16, relevant_effect=0.05) == 0.05


def _blind(blocks: list[Block]) -> list[Block]:
    return [Block(block.arm, block.values) for block in blocks]
