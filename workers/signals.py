"""Redis pub/sub signals that there is something to read. The data stays in the databases.

Redis may be away, or its address may belong to another program. Signals are then lost, and receivers poll after a short
time. Channels are not trusted: an invalid message is ignored.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from redis import CredentialProvider, Redis
from redis.backoff import NoBackoff
from redis.client import PubSub
from redis.exceptions import AuthenticationError, RedisError
from redis.exceptions import ConnectionError as LostConnection
from redis.retry import Retry

from domain.fork_safety import reset_after_fork
from workers.batching_delay import SIGNAL_INTERVAL, BatchingDelay
from workers.redis_address import parse_sentinel_url
from workers.sentinel import connect_master

APPENDED_CHANNEL = "annals:bell"
"""Channel of new log positions."""

PROJECTED_CHANNEL = "annals:pumped"
"""Channel of projected positions with the changed games."""

WRITABLE_KEY = "rq:annals:writable"
"""Key written to test for write access."""

NO_REDIS = "something else answers in the place of Redis"

MAX_GAMES = 200
"""Most games in one message. A longer list is sent empty, and all receivers check."""

TIMEOUT = 0.25
"""Redis timeout in seconds; a request must not hang on a signal."""

RETRY_SECONDS = 1.0
"""Seconds without an attempt after a failure."""

DEAF_SECONDS = 0.05
"""Longest wait without a subscription, seconds."""

RESUBSCRIBE_SECONDS = 30.0
"""Seconds of silence before a new subscription, because a lost connection may give no error."""

MAX_MESSAGES = 1000
"""Messages answered by one check, so that a flood of them cannot block the receiver."""

MAX_BYTES = 16 * 1024
"""Longest message, bytes."""

MAX_NAME = 64
"""Longest game name in a message, characters."""


@dataclass(frozen=True)
class ProjectedMessage:
    """A projector's message: position of the views and changed games (empty: any may have changed)."""

    position: int
    games: frozenset[str] = frozenset()


class _PasswordFile(CredentialProvider):
    """A password file read for each connection, so that it can change while the service runs."""

    def __init__(self, user: str, path: Path) -> None:
        self._user, self._path = user, path

    def get_credentials(self) -> tuple[str] | tuple[str, str]:
        try:
            password = self._path.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            raise AuthenticationError("the file with the password cannot be read") from None
        return (self._user, password) if self._user else (password,)


def connect(url: str, timeout: float = TIMEOUT) -> Redis:
    """Return a client that fails at once and never retries by itself; of the current master if there are Sentinels.

    `passfile=FILE` in the URL names a file with the password, as for PostgreSQL.
    """
    if address := parse_sentinel_url(url):
        sentinels = [connect(each, timeout) for each in address.sentinel_urls]
        server_url, provider = _split_password_file(address.server_url)
        options = _options(timeout, provider)
        return connect_master(replace(address, server_url=server_url), sentinels, options)
    url, provider = _split_password_file(url)
    return Redis.from_url(url, **_options(timeout, provider))


def _split_password_file(url: str) -> tuple[str, _PasswordFile | None]:
    """Return the URL without the name of a password file, and its reader."""
    parts = urlsplit(url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    files = [value for name, value in query if name == "passfile"]
    if not files:
        return url, None
    user, _, host = parts.netloc.rpartition("@")
    rest = urlencode([(name, value) for name, value in query if name != "passfile"])
    plain = f"{parts.scheme}://{host}{parts.path}" + (f"?{rest}" if rest else "")
    return plain, _PasswordFile(unquote(user.partition(":")[0]), Path(files[-1]))


def _options(timeout: float, provider: _PasswordFile | None) -> dict[str, object]:
    return {
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "retry": Retry(NoBackoff(), 0),
        "credential_provider": provider,
        "driver_info": None,  # otherwise each connection reads the metadata of the package: 15 ms and 1.3 MB of memory
    }


def ping(redis: Redis) -> None:
    """Raise an error unless a Redis answers."""
    if redis.ping() is not True:
        raise RedisError(NO_REDIS)


def parse_message(message: object) -> ProjectedMessage | None:
    """Return the message, or None for an invalid one."""
    if not isinstance(message, bytes) or len(message) > MAX_BYTES:
        return None
    try:
        doc = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(doc, dict):
        return None
    position, games = doc.get("position"), doc.get("games")
    if type(position) is not int or not isinstance(games, list) or len(games) > MAX_GAMES:
        return None
    if not all(isinstance(game, str) and len(game) <= MAX_NAME for game in games):
        return None
    return ProjectedMessage(position, frozenset(games))


class CircuitBreaker:
    """Limits attempts after a failure to one in `seconds`, so that threads do not wait in vain."""

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = RETRY_SECONDS if seconds is None else seconds
        self._failed, self._blocked_until = False, 0.0

    def may_try(self) -> bool:
        """Return True if the caller may try. After a failure only one caller may for a while."""
        now = time.monotonic()
        if self._failed and now < self._blocked_until:
            return False
        self._blocked_until = now + self._seconds
        return True

    def report(self, *, failed: bool) -> None:
        """Report the result of an attempt."""
        self._failed = failed
        self._blocked_until = time.monotonic() + self._seconds


class Signals:
    """Sends and receives signals. Thread-safe if only one thread receives."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._redis = connect(url)
        self._sending = CircuitBreaker()
        self._receiving = CircuitBreaker()
        self._last_heard = 0.0
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Forget the parent's connections."""
        self._connections: list[Any] = []  # redis-py connections have no types
        self._subscription: PubSub | None = None

    def notify_appended(self, position: int) -> None:
        """Signal new records up to a log position."""
        self._publish(APPENDED_CHANNEL, str(position))

    def notify_projected(self, position: int, games: Sequence[str]) -> None:
        """Signal that the views have reached a position, with the changed games."""
        names = sorted(set(games)) if len(games) <= MAX_GAMES else []
        self._publish(PROJECTED_CHANNEL, json.dumps({"position": position, "games": names}))

    def notify_changed(self, game: str) -> None:
        """Signal a change outside the log, such as a job request: the reconciler and the game's streams check."""
        self.notify_appended(0)
        self.notify_projected(0, [game])

    def is_up(self) -> bool:
        """Return True if Redis answers and accepts writes. A full one or a replica does not."""
        if not self._attempt(lambda: ping(self._redis)):
            return False
        try:
            return self._redis.hset(WRITABLE_KEY, "written", 1) in (0, 1)
        except RedisError:
            return False

    def _publish(self, channel: str, message: str) -> None:
        self._attempt(lambda: self._send_command("PUBLISH", channel, message))

    def _send_command(self, *command: str) -> None:
        """Send a command over a cached connection; a pool would take as long again.

        There is one connection for each concurrent thread, and no lock for a killed thread to leave locked.
        """
        with suppress(IndexError, LostConnection):  # no cached connection, or Redis has restarted
            self._exchange(self._connections.pop(), command)
            return
        pool = self._redis.connection_pool
        # Not taken from the pool, which would count it forever and stop at a hundred.
        connection = pool.connection_class(**pool.connection_kwargs)
        connection.connect()  # sending alone would not ask the Sentinels
        self._exchange(connection, command)

    def _exchange(self, connection: Any, command: Sequence[str]) -> None:
        try:
            connection.send_command(*command)
            connection.read_response()
        except BaseException:
            connection.disconnect()  # a late reply would be read as that of the next command
            raise
        self._connections.append(connection)

    def _attempt(self, call: Callable[[], object]) -> bool:
        if not self._sending.may_try():
            return False
        try:
            call()
        except Exception:  # noqa: BLE001 - another program's reply can raise any error
            self._sending.report(failed=True)
            return False
        self._sending.report(failed=False)
        return True

    # --- receiving

    @property
    def is_deaf(self) -> bool:
        """True without a subscription."""
        return self._subscription is None

    def wait_appended(self, seconds: float) -> bool:
        """Wait for a signal of new records, at most `seconds`; return True on a signal. Shorter without Redis."""
        if self._receive(APPENDED_CHANNEL, seconds) is None:
            return False
        for _ in range(MAX_MESSAGES):  # one check serves all signals
            if self._receive(APPENDED_CHANNEL, 0) is None:
                break
        return True

    def wait_projected(self, seconds: float) -> ProjectedMessage | None:
        """Return the next projector message; None on timeout or error."""
        return parse_message(self._receive(PROJECTED_CHANNEL, seconds))

    def _receive(self, channel: str, seconds: float) -> object:
        """Return the next payload of the channel, or None."""
        try:
            subscription = self._subscription = self._subscription or self._subscribe(channel)
            if subscription is not None:
                message = subscription.get_message(ignore_subscribe_messages=True, timeout=seconds)
                self._check_age(received=bool(message))
                return message["data"] if message else None
        except Exception:  # noqa: BLE001 - as in `_attempt`
            self._handle_lost()
        time.sleep(min(seconds, DEAF_SECONDS))
        return None

    def _check_age(self, *, received: bool) -> None:
        if received:
            self._last_heard = time.monotonic()
        elif time.monotonic() > self._last_heard + RESUBSCRIBE_SECONDS:
            self._unsubscribe()

    def _subscribe(self, channel: str) -> PubSub | None:
        if not self._receiving.may_try():
            return None
        subscription = PubSub(connect(self._url).connection_pool)
        subscription.subscribe(channel)
        self._last_heard = time.monotonic()
        self._receiving.report(failed=False)
        return subscription

    def _handle_lost(self) -> None:
        self._receiving.report(failed=True)
        self._unsubscribe()

    def _unsubscribe(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            with suppress(Exception):
                subscription.close()

    def close(self) -> None:
        """Close the connections; later use opens new ones."""
        self._unsubscribe()
        while self._connections:
            self._connections.pop().disconnect()
        self._redis.close()


class SignalThread:
    """Sends signals from its own thread: writers never wait for Redis, and one signal serves several writers.

    In a busy service, signals are spaced out.
    """

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Forget the parent's thread."""
        self._starting = threading.Lock()
        self._pending = threading.Event()
        self._thread: threading.Thread | None = None
        self._position = self._count = 0

    def notify_appended(self, position: int) -> None:
        """Signal new records up to a log position; returns at once."""
        self._position = max(self._position, position)
        self._count = self._count + 1
        self._pending.set()
        if not self._is_running():
            with self._starting:
                if not self._is_running():
                    self._start(position)

    def _start(self, position: int) -> None:
        """Start the thread. If the system has no more threads, signal from the writer's own.

        The writer must not fail after its append.
        """
        self._thread = threading.Thread(target=self._run, name="ringer", daemon=True)
        try:
            self._thread.start()
        except (RuntimeError, MemoryError):
            self._signals.notify_appended(position)

    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        delay, sent_count = BatchingDelay(SIGNAL_INTERVAL), self._count - 1
        while self._pending.wait():
            if pause := delay.pause(time.monotonic()):
                time.sleep(pause)
            self._pending.clear()
            count = self._count
            delay.record_batch(time.monotonic(), count - sent_count)
            sent_count = count
            self._signals.notify_appended(self._position)
