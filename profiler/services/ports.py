"""Free loopback ports.

A port is free when it is asked for, not necessarily when it is used: whoever starts a server on one tries again with
another where it was taken in between.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable

LOOPBACK = "127.0.0.1"
ChoosePorts = Callable[[int], tuple[int, ...]]


def free_ports(count: int) -> tuple[int, ...]:
    """Choose distinct free ports: all are held at once before any is let go."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) for _ in range(count)]
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return tuple(each.getsockname()[1] for each in sockets)


def listens(port: int, *, host: str = LOOPBACK, timeout_s: float = 0.5) -> bool:
    """Tell whether anything accepts connections on the port."""
    try:
        socket.create_connection((host, port), timeout_s).close()
    except (OSError, OverflowError):  # the latter where it is no port at all
        return False
    return True
