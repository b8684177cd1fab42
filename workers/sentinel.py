"""Connections to the current master of a Redis with Sentinels."""

from __future__ import annotations

from collections.abc import Sequence

from redis import Redis
from redis.connection import SSLConnection, parse_url
from redis.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool, SentinelManagedConnection
from redis.utils import SENTINEL

from workers.redis_address import SentinelAddress


class MasterConnection(SentinelManagedConnection):
    """A connection to the current master, closed when an answer stays unread, like one without Sentinels.

    Otherwise the next command would read that answer. A worker that ends while it waits would leave its wait behind at
    the server, and get the next job.
    """

    def read_response(
        self,
        disable_decoding: bool = False,
        *,
        timeout: object = SENTINEL,
        disconnect_on_error: bool | None = True,
        push_request: bool | None = False,
    ) -> object:
        """Read the answer to a command."""
        return super().read_response(
            disable_decoding, timeout=timeout, disconnect_on_error=disconnect_on_error, push_request=push_request
        )


class MasterTLSConnection(MasterConnection, SSLConnection):
    """Such a connection by TLS."""


class _Sentinels(Sentinel):
    """Those of an address. Their error is one line; the library's tells everything that it knows of each."""

    def __init__(self, sentinels: Sequence[Redis]) -> None:
        super().__init__([])  # type: ignore[no-untyped-call]
        self.sentinels = [*sentinels]

    def discover_master(self, service_name: str) -> object:
        """Return host and port of the master."""
        try:
            return super().discover_master(service_name)  # type: ignore[no-untyped-call]
        except MasterNotFoundError:
            raise MasterNotFoundError(f"no Sentinel names a master of {service_name}") from None


class MasterPool(SentinelConnectionPool):
    """Connections to the current master, and to the Sentinels: each new connection asks them for it."""

    def disconnect(self, inuse_connections: bool = True) -> None:
        """Close the connections; those to Sentinels too, unless only the master is another one."""
        super().disconnect(inuse_connections)
        if inuse_connections:
            for sentinel in self.sentinel_manager.sentinels:
                sentinel.connection_pool.disconnect()


def connect_master(address: SentinelAddress, sentinels: Sequence[Redis], options: dict[str, object]) -> Redis:
    """Return a client of the current master. `options` are those of its connections."""
    server: dict[str, object] = parse_url(address.server_url)  # type: ignore[no-untyped-call]
    server["connection_class"] = MasterTLSConnection if server.pop("connection_class", None) else MasterConnection
    del server["host"]
    return Redis.from_pool(MasterPool(address.service, _Sentinels(sentinels), **server, **options))  # type: ignore[no-untyped-call]
