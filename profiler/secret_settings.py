"""Settings of Spark whose values are nobody's business: passwords, tokens, keys. They are never shown or kept.

They are told by their names, as Spark itself does it in its own logs and pages.
"""

from __future__ import annotations

import re

MASK = "***"
_SECRET = re.compile(r"secret|password|token|access[.]?key", re.IGNORECASE)


def masked(key: str, value: str) -> str:
    """Return what may be shown of a setting's value."""
    return MASK if _SECRET.search(key) else value


def masked_setting(written: str) -> str:
    """Return what may be shown of KEY=VALUE; of a text that is no setting, all."""
    key, separator, value = written.partition("=")
    return f"{key}{separator}{masked(key, value)}" if separator else written


def is_masked(written: str) -> bool:
    """Tell whether the value of KEY=VALUE was left out."""
    return written.endswith(f"={MASK}")
