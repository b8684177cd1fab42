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

from domain.fork_safety import heed
from workers.batching_delay import RINGS, Gathering

WRITTEN = "annals:bell"
"""Channel: the position of something new in the log."""

PUMPED = "annals:pumped"
"""Channel: the views have come to a position, and which games have changed."""

WRITABLE = "rq:annals:writable"
"""Key: what is written to see whether anything can be."""

NO_REDIS = "something else answers in the place of Redis"

MOST_GAMES = 200
"""Games named in one message; beyond that it names none, and everybody looks."""

PATIENCE = 0.25
"""Seconds that ringing may take; a request must not hang on it."""

SILENCE = 1.0
"""Seconds without an attempt after a failed one."""

DEAF_NAP = 0.05
"""Seconds that waiting takes at most while nothing can be heard."""

FRESH = 30.0
"""Seconds of silence after which a listener subscribes anew: the other end may be gone without a word."""

MOST_RINGS = 1000
"""Rings answered by one look; a crowd that never stops ringing must not keep who listens from looking."""

LONGEST = 16 * 1024
"""Bytes of an announcement."""

LONGEST_NAME = 64
"""Characters of the name of a game in one."""


@dataclass(frozen=True)
class Pumped:
    """What the pump has told: how far the views are, and which games changed (none: any may have)."""

    position: int
    games: frozenset[str] = frozenset()


class _PassFile(CredentialProvider):
    """A password that is read anew for each connection, so that it can be changed while the service runs."""

    def __init__(self, user: str, path: Path) -> None:
        self._user, self._path = user, path

    def get_credentials(self) -> tuple[str] | tuple[str, str]:
        try:
            password = self._path.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            raise AuthenticationError("the file with the password cannot be read") from None
        return (self._user, password) if self._user else (password,)


def connect(url: str, timeout: float = PATIENCE) -> Redis:
    """A client that fails at once instead of trying again by itself.

    `passfile=FILE` in the address names a file with the password, as it does for PostgreSQL.
    """
    parts = urlsplit(url)
    asked = parse_qsl(parts.query, keep_blank_values=True)
    files = [value for name, value in asked if name == "passfile"]
    provider = None
    if files:
        user, _, where = parts.netloc.rpartition("@")
        provider = _PassFile(unquote(user.partition(":")[0]), Path(files[-1]))
        rest = urlencode([(name, value) for name, value in asked if name != "passfile"])
        url = f"{parts.scheme}://{where}{parts.path}" + (f"?{rest}" if rest else "")
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


def understood(message: object) -> Pumped | None:
    """What was announced; None if it is no announcement."""
    if not isinstance(message, bytes) or len(message) > LONGEST:
        return None
    try:
        told = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    position, games = told.get("position"), told.get("games")
    if type(position) is not int or not isinstance(games, list) or len(games) > MOST_GAMES:
        return None
    if not all(isinstance(game, str) and len(game) <= LONGEST_NAME for game in games):
        return None
    return Pumped(position, frozenset(games))


class Breaker:
    """Keeps threads from waiting for what does not answer: after a failure one attempt in so many seconds."""

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = SILENCE if seconds is None else seconds
        self._failed, self._until = False, 0.0

    def closed(self) -> bool:
        """Whether to try; who is told so after a failure is the only one for a while."""
        now = time.monotonic()
        if self._failed and now < self._until:
            return False
        self._until = now + self._seconds
        return True

    def tell(self, *, failed: bool) -> None:
        """What came of it."""
        self._failed, self._until = failed, time.monotonic() + self._seconds


class Bell:
    """Rings, and hears others ring. Safe with threads as long as only one of them listens."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._redis = connect(url)
        self._ringing, self._listening = Breaker(), Breaker()
        self._last = 0.0
        self.after_fork()
        heed(self)

    def after_fork(self) -> None:
        """The parent's connections are not ours to use."""
        self._lines: list[Any] = []  # connections of the library's, whose methods have no types
        self._heard: PubSub | None = None

    def ring(self, position: int) -> None:
        """There is something new in the log, up to that position."""
        self._publish(WRITTEN, str(position))

    def announce(self, position: int, games: Sequence[str]) -> None:
        """The views have come to that position."""
        named = sorted(set(games)) if len(games) <= MOST_GAMES else []
        self._publish(PUMPED, json.dumps({"position": position, "games": named}))

    def stir(self, game: str) -> None:
        """Something about a game is new that is not in the log: there may be work, and who follows it looks."""
        self.ring(0)
        self.announce(0, [game])

    def up(self) -> bool:
        """Whether Redis answers, and takes what is written: one that is full does not, nor one that follows another."""
        if not self._tried(lambda: ping(self._redis)):
            return False
        try:
            return self._redis.hset(WRITABLE, "written", 1) in (0, 1)
        except RedisError:
            return False

    def _publish(self, channel: str, message: str) -> None:
        self._tried(lambda: self._say("PUBLISH", channel, message))

    def _say(self, *command: str) -> None:
        """Over a connection that is kept for it: to be handed one of a pool takes as long again.

        One for each thread that rings at the same time; there is no lock that one ended from outside could leave shut.
        """
        with suppress(IndexError, LostConnection):  # none is kept, or its other end was started anew since
            self._spoken(self._lines.pop(), command)
            return
        pool = self._redis.connection_pool
        # Made beside the pool, which would count it for ever and make no more after a hundred.
        self._spoken(pool.connection_class(**pool.connection_kwargs), command)

    def _spoken(self, line: Any, command: Sequence[str]) -> None:
        try:
            line.send_command(*command)
            line.read_response()
        except BaseException:
            line.disconnect()  # an answer that comes late would be taken for the next one's
            raise
        self._lines.append(line)

    def _tried(self, call: Callable[[], object]) -> bool:
        if not self._ringing.closed():
            return False
        try:
            call()
        except Exception:  # noqa: BLE001 - what is no Redis can answer so that the library raises anything
            self._ringing.tell(failed=True)
            return False
        self._ringing.tell(failed=False)
        return True

    # --- listening

    @property
    def deaf(self) -> bool:
        """Whether nothing can be heard now."""
        return self._heard is None

    def wait(self, seconds: float) -> bool:
        """Until somebody has rung (then true), or so long; less while Redis is away, since then nobody can ring."""
        if self._next(WRITTEN, seconds) is None:
            return False
        for _ in range(MOST_RINGS):  # one look serves all who rang
            if self._next(WRITTEN, 0) is None:
                break
        return True

    def pumped(self, seconds: float) -> Pumped | None:
        """The next announcement; None if there was none in that time, or it could not be heard."""
        return understood(self._next(PUMPED, seconds))

    def _next(self, channel: str, seconds: float) -> object:
        """What came over the channel; None if nothing did."""
        try:
            heard = self._heard = self._heard or self._subscribed(channel)
            if heard is not None:
                message = heard.get_message(ignore_subscribe_messages=True, timeout=seconds)
                self._age(heard=bool(message))
                return message["data"] if message else None
        except Exception:  # noqa: BLE001 - as in `_tried`
            self._deaf()
        time.sleep(min(seconds, DEAF_NAP))
        return None

    def _age(self, *, heard: bool) -> None:
        if heard:
            self._last = time.monotonic()
        elif time.monotonic() > self._last + FRESH:
            self._hang_up()

    def _subscribed(self, channel: str) -> PubSub | None:
        if not self._listening.closed():
            return None
        heard = PubSub(connect(self._url).connection_pool)
        heard.subscribe(channel)
        self._last = time.monotonic()
        self._listening.tell(failed=False)
        return heard

    def _deaf(self) -> None:
        self._listening.tell(failed=True)
        self._hang_up()

    def _hang_up(self) -> None:
        heard, self._heard = self._heard, None
        if heard is not None:
            with suppress(Exception):
                heard.close()

    def close(self) -> None:
        """Close the connections; a later use makes new ones."""
        self._hang_up()
        while self._lines:
            self._lines.pop().disconnect()
        self._redis.close()


class Ringer:
    """Rings in a thread of its own: nobody who writes waits for Redis, and one ring tells of all who came meanwhile.

    Where many come, rings are kept apart.
    """

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self.after_fork()
        heed(self)

    def after_fork(self) -> None:
        """The parent's thread is not here."""
        self._starting, self._some = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._position = self._come = 0

    def ring(self, position: int) -> None:
        """There is something new in the log, up to that position."""
        self._position, self._come = max(self._position, position), self._come + 1
        self._some.set()
        if not self._rings():
            with self._starting:
                if not self._rings():
                    self._begin(position)

    def _begin(self, position: int) -> None:
        """Where the system gives no more threads, whoever writes rings: it must not fail after its append."""
        self._thread = threading.Thread(target=self._run, name="ringer", daemon=True)
        try:
            self._thread.start()
        except (RuntimeError, MemoryError):
            self._bell.ring(position)

    def _rings(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        gathering, rung = Gathering(RINGS), self._come - 1
        while self._some.wait():
            if pause := gathering.pause(time.monotonic()):
                time.sleep(pause)
            self._some.clear()
            come = self._come
            gathering.took(time.monotonic(), come - rung)
            rung = come
            self._bell.ring(self._position)
