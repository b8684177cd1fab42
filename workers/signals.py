"""The doorbell. Redis only tells when to look: what there is to see stands in the databases.

Every call may meet a Redis that is away, or another program at its address; then nobody is told, and those who wait
look by themselves soon enough. What comes over a channel may be anybody's: what is no announcement is nothing.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
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

APPENDED_CHANNEL = "annals:bell"
"""Channel: the position of something new in the log."""

PROJECTED_CHANNEL = "annals:pumped"
"""Channel: the views have come to a position, and which games have changed."""

WRITABLE_KEY = "rq:annals:writable"
"""Key: what is written to see whether anything can be."""

NO_REDIS = "something else answers in the place of Redis"

MAX_GAMES = 200
"""Games named in one message; beyond that it names none, and everybody looks."""

TIMEOUT = 0.25
"""Seconds that ringing may take; a request must not hang on it."""

RETRY_SECONDS = 1.0
"""Seconds without an attempt after a failed one."""

DEAF_SECONDS = 0.05
"""Seconds that waiting takes at most while nothing can be heard."""

RESUBSCRIBE_SECONDS = 30.0
"""Seconds of silence after which a listener subscribes anew: the other end may be gone without a word."""

MAX_MESSAGES = 1000
"""Rings answered by one look; a crowd that never stops ringing must not keep who listens from looking."""

MAX_BYTES = 16 * 1024
"""Bytes of an announcement."""

MAX_NAME = 64
"""Characters of the name of a game in one."""


@dataclass(frozen=True)
class ProjectedMessage:
    """What the pump has told: how far the views are, and which games changed (none: any may have)."""

    position: int
    games: frozenset[str] = frozenset()


class _PasswordFile(CredentialProvider):
    """A password that is read anew for each connection, so that it can be changed while the service runs."""

    def __init__(self, user: str, path: Path) -> None:
        self._user, self._path = user, path

    def get_credentials(self) -> tuple[str] | tuple[str, str]:
        try:
            password = self._path.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            raise AuthenticationError("the file with the password cannot be read") from None
        return (self._user, password) if self._user else (password,)


def connect(url: str, timeout: float = TIMEOUT) -> Redis:
    """A client that fails at once instead of trying again by itself.

    `passfile=FILE` in the address names a file with the password, as it does for PostgreSQL.
    """
    parts = urlsplit(url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    files = [value for name, value in query if name == "passfile"]
    provider = None
    if files:
        user, _, host = parts.netloc.rpartition("@")
        provider = _PasswordFile(unquote(user.partition(":")[0]), Path(files[-1]))
        rest = urlencode([(name, value) for name, value in query if name != "passfile"])
        url = f"{parts.scheme}://{host}{parts.path}" + (f"?{rest}" if rest else "")
    return Redis.from_url(
        url,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        retry=Retry(NoBackoff(), 0),
        credential_provider=provider,
    )


def ping(redis: Redis) -> None:
    """Raises anything unless a Redis answers."""
    if redis.ping() is not True:
        raise RedisError(NO_REDIS)


def parse_message(message: object) -> ProjectedMessage | None:
    """What was announced; None if it is no announcement."""
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
    """Keeps threads from waiting for what does not answer: after a failure one attempt in so many seconds."""

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = RETRY_SECONDS if seconds is None else seconds
        self._failed, self._blocked_until = False, 0.0

    def may_try(self) -> bool:
        """Whether to try; who is told so after a failure is the only one for a while."""
        now = time.monotonic()
        if self._failed and now < self._blocked_until:
            return False
        self._blocked_until = now + self._seconds
        return True

    def report(self, *, failed: bool) -> None:
        """What came of it."""
        self._failed, self._blocked_until = failed, time.monotonic() + self._seconds


class Signals:
    """Rings, and hears others ring. Safe with threads as long as only one of them listens."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._redis = connect(url)
        self._sending, self._receiving = CircuitBreaker(), CircuitBreaker()
        self._last_heard = 0.0
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """The parent's connections are not ours to use."""
        self._connections: list[Any] = []  # connections of the library's, whose methods have no types
        self._subscription: PubSub | None = None

    def notify_appended(self, position: int) -> None:
        """There is something new in the log, up to that position."""
        self._publish(APPENDED_CHANNEL, str(position))

    def notify_projected(self, position: int, games: Sequence[str]) -> None:
        """The views have come to that position."""
        names = sorted(set(games)) if len(games) <= MAX_GAMES else []
        self._publish(PROJECTED_CHANNEL, json.dumps({"position": position, "games": names}))

    def notify_changed(self, game: str) -> None:
        """Something about a game is new that is not in the log: there may be work, and who follows it looks."""
        self.notify_appended(0)
        self.notify_projected(0, [game])

    def is_up(self) -> bool:
        """Whether Redis answers, and takes what is written: one that is full does not, nor one that follows another."""
        if not self._attempt(lambda: ping(self._redis)):
            return False
        try:
            return self._redis.hset(WRITABLE_KEY, "written", 1) in (0, 1)
        except RedisError:
            return False

    def _publish(self, channel: str, message: str) -> None:
        self._attempt(lambda: self._send_command("PUBLISH", channel, message))

    def _send_command(self, *command: str) -> None:
        """Over a connection that is kept for it: to be handed one of a pool takes as long again.

        One for each thread that rings at the same time; there is no lock that one ended from outside could leave shut.
        """
        with suppress(IndexError, LostConnection):  # none is kept, or its other end was started anew since
            self._exchange(self._connections.pop(), command)
            return
        pool = self._redis.connection_pool
        # Made beside the pool, which would count it for ever and make no more after a hundred.
        self._exchange(pool.connection_class(**pool.connection_kwargs), command)

    def _exchange(self, connection: Any, command: Sequence[str]) -> None:
        try:
            connection.send_command(*command)
            connection.read_response()
        except BaseException:
            connection.disconnect()  # an answer that comes late would be taken for the next one's
            raise
        self._connections.append(connection)

    def _attempt(self, call: Callable[[], object]) -> bool:
        if not self._sending.may_try():
            return False
        try:
            call()
        except Exception:  # noqa: BLE001 - what is no Redis can answer so that the library raises anything
            self._sending.report(failed=True)
            return False
        self._sending.report(failed=False)
        return True

    # --- listening

    @property
    def is_deaf(self) -> bool:
        """Whether nothing can be heard now."""
        return self._subscription is None

    def wait_appended(self, seconds: float) -> bool:
        """Until somebody has rung (then true), or so long; less while Redis is away, since then nobody can ring."""
        if self._receive(APPENDED_CHANNEL, seconds) is None:
            return False
        for _ in range(MAX_MESSAGES):  # one look serves all who rang
            if self._receive(APPENDED_CHANNEL, 0) is None:
                break
        return True

    def wait_projected(self, seconds: float) -> ProjectedMessage | None:
        """The next announcement; None if there was none in that time, or it could not be heard."""
        return parse_message(self._receive(PROJECTED_CHANNEL, seconds))

    def _receive(self, channel: str, seconds: float) -> object:
        """What came over the channel; None if nothing did."""
        try:
            subscription = self._subscription = self._subscription or self._subscribe(channel)
            if subscription is not None:
                message = subscription.get_message(ignore_subscribe_messages=True, timeout=seconds)
                self._check_age(heard=bool(message))
                return message["data"] if message else None
        except Exception:  # noqa: BLE001 - as in `_tried`
            self._handle_lost()
        time.sleep(min(seconds, DEAF_SECONDS))
        return None

    def _check_age(self, *, heard: bool) -> None:
        if heard:
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
        """Close the connections; a later use makes new ones."""
        self._unsubscribe()
        while self._connections:
            self._connections.pop().disconnect()
        self._redis.close()


class SignalThread:
    """Rings in a thread of its own: nobody who writes waits for Redis, and one ring tells of all who came meanwhile.

    Where many come, rings are kept apart.
    """

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """The parent's thread is not here."""
        self._starting, self._pending = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._position = self._count = 0

    def notify_appended(self, position: int) -> None:
        """There is something new in the log, up to that position."""
        self._position, self._count = max(self._position, position), self._count + 1
        self._pending.set()
        if not self._is_running():
            with self._starting:
                if not self._is_running():
                    self._start(position)

    def _start(self, position: int) -> None:
        """Where the system gives no more threads, whoever writes rings: it must not fail after its append."""
        self._thread = threading.Thread(target=self._run, name="ringer", daemon=True)
        try:
            self._thread.start()
        except (RuntimeError, MemoryError):
            self._signals.notify_appended(position)

    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        gathering, rung = BatchingDelay(SIGNAL_INTERVAL), self._count - 1
        while self._pending.wait():
            if pause := gathering.pause(time.monotonic()):
                time.sleep(pause)
            self._pending.clear()
            come = self._count
            gathering.record_batch(time.monotonic(), come - rung)
            rung = come
            self._signals.notify_appended(self._position)
