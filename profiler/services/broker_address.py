"""How the address of a broker is written."""

from __future__ import annotations

_PLACE = r"(?:[^\s:,/\[\]]+|\[[0-9a-fA-F:]+\]):[0-9]{1,5}"
BROKERS = rf"{_PLACE}(?:,{_PLACE})*"
"""Pattern of a Kafka address: HOST:PORT or several with commas, an IPv6 address in brackets."""
