"""Free ports are distinct, free, and on loopback."""

from __future__ import annotations

import socket

from profiler.services.ports import LOOPBACK, free_ports, listens


def test_ports_are_distinct_and_can_be_bound() -> None:
    """All of them at once."""
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        with socket.socket() as server:
            server.bind((LOOPBACK, port))


def test_listening_is_told_from_not_listening() -> None:
    """A bound port listens only after listen."""
    with socket.socket() as server:
        server.bind((LOOPBACK, 0))
        port = server.getsockname()[1]
        assert not listens(port)
        server.listen()
        assert listens(port)
