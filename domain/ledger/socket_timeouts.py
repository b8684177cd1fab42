"""Timeouts of connections to PostgreSQL: a silent connection is closed by the system or by its client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from psycopg.rows import Row, tuple_row

T = TypeVar("T")

CONNECT_OPTIONS: Mapping[str, Any] = {
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "target_session_attrs": "read-write",
    "connect_timeout": 3,
}
"""Settings of a new connection; the address may override them. TCP detects a lost machine or network, which otherwise
takes a quarter of an hour or longer. A server that takes no writes, such as a standby, is no server for the service.
The next host of an address is tried once one has been silent for `connect_timeout` (s): a frozen server takes
connections and never answers."""

READ_ONLY = "25006"
"""SQLSTATE of a write on a server demoted since the connection was opened."""

LOST_AFTER = 5
"""Seconds after which the server ends the connection of a lost machine, and frees its locks. A frozen process lives on:
its system answers. By its own settings a server waits for hours."""

_SET_SESSION = f"""SELECT set_config('search_path', 'public', false),
  set_config('tcp_user_timeout', '{LOST_AFTER}s', false), set_config('tcp_keepalives_idle', '2', false),
  set_config('tcp_keepalives_interval', '1', false), set_config('tcp_keepalives_count', '{LOST_AFTER - 2}', false),
  CASE WHEN current_setting('server_version_num')::int >= 140000
       THEN set_config('client_connection_check_interval', '{LOST_AFTER}s', false) END, pg_backend_pid()"""
"""Sent over each new connection. Tables are in one schema, before all schemas of a role or database. The server looks
for closed clients, and ends their queries."""

ANSWER_TIMEOUT = 15.0
"""Seconds to wait for an answer, longer than any lock timeout of the server. Only this detects a proxy that keeps
connections to a dead server open."""

POLL_INTERVAL = 0.1
"""Seconds between two checks for signals, as in the library."""


_LIMITS = 17_00_00
"""First version of the server with a limit for transactions."""


def set_session(connection: psycopg.Connection[Any]) -> None:
    """Send the settings of a new connection; prepare no statements through a pooler.

    In transaction mode each transaction may meet another server process, which knows other statements or none.
    """
    row = connection.cursor(row_factory=tuple_row).execute(_SET_SESSION).fetchone()
    if row is None or is_pooled(connection, row[-1]):
        connection.prepare_threshold = None


def is_pooled(connection: psycopg.Connection[Any], pid: int) -> bool:
    """Return whether a pooler has answered for the server: it gives its clients numbers of its own."""
    return connection.info.backend_pid != pid


def supports_transaction_timeout(connection: psycopg.Connection[Any]) -> bool:
    """Return whether the server can end long transactions."""
    return connection.info.server_version >= _LIMITS


def set_transaction_timeout(
    connection: psycopg.Connection[Any], seconds: int, scope: Literal["SESSION", "LOCAL"] = "SESSION"
) -> None:
    """Set the time (s) after which the server ends a transaction, if it can; 0 for none."""
    if supports_transaction_timeout(connection):
        connection.execute(f"SET {scope} transaction_timeout = '{seconds:d}s'")


class TimeoutConnection(psycopg.Connection[Row]):
    """A connection that closes itself if an answer takes too long; the result of the query is unknown then.

    It cancels nothing. A server waiting for its synchronous standby would take that as the end of the wait: everybody
    would read a move without an answer to its author, and a failover would lose it.
    """

    patience: float | None = ANSWER_TIMEOUT
    """Seconds; None to wait forever, for long operations."""
    timed_out = False
    """True once an answer took too long."""
    opened_at = 0.0
    """Time by the monotonic clock."""

    def wait(self, gen: PQGen[T], interval: float = POLL_INTERVAL, timeout: float | None = None) -> T:
        """Wait for an answer like the library, but close the connection after the timeout."""
        limit = self.patience if timeout is None else timeout
        try:
            return super().wait(gen, interval, limit)
        except psycopg.OperationalError as error:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            self.timed_out = True
            self.close()
            raise psycopg.OperationalError(f"the server has not answered for {limit} s") from error
