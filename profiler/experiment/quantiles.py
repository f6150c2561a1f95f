"""Quantiles of latencies that every engine measures; apart from what measures, as a command's help names them."""

from __future__ import annotations

QUANTILES = (0.5, 0.95, 0.99, 0.999)
"""A constraint bounds one of them."""
