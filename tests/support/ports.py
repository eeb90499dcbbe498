"""Ports for what must be known by its address before it listens."""

import random
import socket

NOT_GIVEN_AWAY = range(20_000, 32_000)
"""Below what systems take for outgoing connections, so that none gets it before it is listened on."""


def free_port() -> int:
    """A port that nothing listens on at this moment."""
    for port in random.sample(NOT_GIVEN_AWAY, len(NOT_GIVEN_AWAY)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")
