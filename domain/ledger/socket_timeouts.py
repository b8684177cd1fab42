"""Connections to PostgreSQL over which nothing comes any more: the system finds them out, or who waits gives up."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from psycopg.rows import Row

T = TypeVar("T")

HEARING = {"tcp_user_timeout": 10_000, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""How the system finds out that a machine or a network was lost: without these it takes a quarter of an hour, or for
ever. The address may say otherwise."""

IN_PUBLIC = "SET search_path TO public"
"""Said over each new connection: tables are in one schema, whichever others a role or a database names first."""

SILENT = 15.0
"""Seconds that an answer may take: the server waits for no lock as long. Whoever keeps connections open for a server
that is gone, as a proxy does, is found out by nothing else."""

CANCELLING = 2.0
"""Seconds to tell the server, over another connection, that nobody waits any more."""

LOOK = 0.1
"""Seconds between two looks at whether a signal has come, as in the library."""


_LIMITS = 17_00_00
"""The version of the server from which on it limits transactions."""


def limits(connection: psycopg.Connection[Any]) -> bool:
    """Whether its server can end transactions that take too long."""
    return connection.info.server_version >= _LIMITS


def limit(connection: psycopg.Connection[Any], seconds: int, scope: Literal["SESSION", "LOCAL"] = "SESSION") -> None:
    """How long a transaction may take until the server ends it, if it can; 0: any time."""
    if limits(connection):
        connection.execute(f"SET {scope} transaction_timeout = '{seconds:d}s'")


class Heard(psycopg.Connection[Row]):
    """Waits for each answer so long, and is closed then: of what was asked nobody knows whether it was done."""

    patience: float | None = SILENT
    """Seconds; None for ever, as for what may take long."""
    silent = False
    """Whether it was given up."""
    born = 0.0
    """By the monotonic clock."""

    def wait(self, gen: PQGen[T], interval: float = LOOK, timeout: float | None = None) -> T:
        """As in the library."""
        limit = self.patience if timeout is None else timeout
        try:
            return super().wait(gen, interval, limit)
        except psycopg.OperationalError as error:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            with suppress(psycopg.Error):  # or the server would go on with it, and wait for what nobody waits for
                self.cancel_safe(timeout=CANCELLING)
            self.silent = True
            self.close()
            raise psycopg.OperationalError(f"the server has not answered for {limit} s") from error
