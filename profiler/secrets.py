"""What is nobody's business in settings and addresses: passwords, tokens, keys. They are never shown or kept.

Settings are told by their names, as Spark itself does it in its own logs and pages, and by what their values hold: a
URI with credentials, or a password among options. In doubt less is shown.
"""

from __future__ import annotations

import re

MASK = "***"
_NAMES = r"secret|password|token|access[.]?key"
_SECRET = re.compile(_NAMES, re.IGNORECASE)
# Each word is read once, from its beginning on: a value may be a text of megabytes.
_SECRET_OPTION = re.compile(rf"(?<![\w.])(?>[\w.]*?(?:{_NAMES}))[\w.]*+\s*+=", re.IGNORECASE)
_NOT_OF_A_SCHEME = re.compile(r"[^\w+.-]")
_OF_CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")
"""Schemes in which a container's name, no user, stands before the @."""
# IPv6 addresses have colons in brackets; what follows any other one is a port, or the // of a scheme within a scheme.
_ADDRESS = re.compile(r"(?:\[[^][]*\]|[^:]|:(?=\d+(?:[/,]|$)|//))*")


def masked(key: str, value: str) -> str:
    """Return what may be shown of a setting's value."""
    if _SECRET.search(key) or _SECRET_OPTION.search(value):
        return MASK
    return _without_user(value)


def is_secret(key: str, value: str) -> bool:
    """Tell whether a setting's value, or a part of it, must not be shown."""
    return masked(key, value) != value


def masked_setting(written: str) -> str:
    """Return what may be shown of KEY=VALUE; of a text that is no setting, all."""
    key, separator, value = written.partition("=")
    return f"{key}{separator}{masked(key, value)}" if separator else written


def is_masked(written: str) -> bool:
    """Tell whether the value of KEY=VALUE, or a part of it, was left out."""
    return MASK in written.partition("=")[2]


def without_password(place: str) -> str:
    """Return what may be shown of HOST:PORT/NAME: who forgets the host has written a password where the port stands."""
    shown = _ADDRESS.match(place)
    return place if shown is None or shown[0] == place else f"{shown[0]}:…"


def _without_user(value: str) -> str:
    before, _, after = value.partition("://")
    # Up to the last @: a password may hold a slash, a blank or an @ that is not escaped.
    user, separator, host = after.rpartition("@")
    scheme = _NOT_OF_A_SCHEME.split(before)[-1]
    if not separator or (scheme.lower() in _OF_CONTAINERS and ":" not in user):
        return value
    return f"{before}://{MASK}@{host}"
