"""Free ports, for servers whose address has to be known before they listen."""

import secrets
import socket

NOT_GIVEN_AWAY = range(20_000, 32_000)
"""Below the range that operating systems use for outgoing connections, so that none takes the port first."""


def free_port() -> int:
    """Returns a port that nothing is listening on right now.

    `random` has the same seed in all workers, so they would pick the same ports.
    """
    for port in (secrets.choice(NOT_GIVEN_AWAY) for _ in NOT_GIVEN_AWAY):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")
