"""Work of a known amount for Spark: random numbers, each drawn from the one before, so that none can be left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

MULTIPLIER, INCREMENT, MODULUS = 1_103_515_245, 12_345, 2**31
"""The constants of C's generator of random numbers: x ← (x · multiplier + increment) mod modulus."""


def last_number(first: Column, numbers: int) -> Column:
    """Draw so many numbers, and give the last."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - only where Spark is there already

    return F.aggregate(
        F.sequence(F.lit(1), F.lit(numbers)),
        first.cast("bigint"),
        lambda x, _: (x * MULTIPLIER + INCREMENT) % F.lit(MODULUS),
    )
