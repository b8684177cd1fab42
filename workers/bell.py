"""The doorbell. Redis only tells when to look: what there is to see stands in the databases.

Every call may meet a Redis that is away; then nobody is told, and those who wait look by themselves soon enough.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from redis import Redis
from redis.backoff import NoBackoff
from redis.client import PubSub
from redis.exceptions import RedisError
from redis.retry import Retry

WRITTEN = "annals:bell"
"""Channel: the position of something new in the log."""

PUMPED = "annals:pumped"
"""Channel: the views have come to a position, and which games have changed."""

MOST_GAMES = 200
"""Games named in one message; beyond that it names none, and everybody looks."""

PATIENCE = 0.25
"""Seconds that ringing may take; a request must not hang on it."""

SILENCE = 1.0
"""Seconds without an attempt after a failed one."""

DEAF_NAP = 0.05
"""Seconds that waiting takes at most while nothing can be heard."""


@dataclass(frozen=True)
class Pumped:
    """What the pump has told: how far the views are, and which games changed (none: any may have)."""

    position: int
    games: frozenset[str] = frozenset()


def connect(url: str, timeout: float = PATIENCE) -> Redis:
    """A client that fails at once instead of trying again by itself."""
    return Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout, retry=Retry(NoBackoff(), 0))


class Bell:
    """Rings, and hears others ring. Safe with threads as long as only one of them listens."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._redis = connect(url)
        self._heard: PubSub | None = None
        self._quiet_until = 0.0

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

    def _publish(self, channel: str, message: str) -> None:
        if time.monotonic() < self._quiet_until:
            return
        try:
            self._redis.publish(channel, message)
        except (RedisError, OSError):
            self._quiet_until = time.monotonic() + SILENCE

    # --- listening

    @property
    def deaf(self) -> bool:
        """Whether nothing can be heard now."""
        return self._heard is None

    def wait(self, seconds: float) -> bool:
        """Until somebody has rung (then true), or so long; less while Redis is away, since then nobody can ring."""
        if self._next(WRITTEN, seconds) is None:
            return False
        while self._next(WRITTEN, 0) is not None:
            pass  # one look serves all who rang
        return True

    def pumped(self, seconds: float) -> Pumped | None:
        """The next announcement; None if there was none in that time, or it could not be heard."""
        message = self._next(PUMPED, seconds)
        if message is None:
            return None
        told = json.loads(message)
        return Pumped(told["position"], frozenset(told["games"]))

    def _next(self, channel: str, seconds: float) -> bytes | None:
        try:
            heard = self._heard = self._heard or self._subscribed(channel)
            if heard is not None:
                message = heard.get_message(ignore_subscribe_messages=True, timeout=seconds)
                return message["data"] if message else None
        except (RedisError, OSError):
            self._deaf()
        time.sleep(min(seconds, DEAF_NAP))
        return None

    def _subscribed(self, channel: str) -> PubSub | None:
        if time.monotonic() < self._quiet_until:
            return None
        heard = PubSub(connect(self._url).connection_pool)
        heard.subscribe(channel)
        return heard

    def _deaf(self) -> None:
        self._quiet_until = time.monotonic() + SILENCE
        heard, self._heard = self._heard, None
        if heard is not None:
            heard.close()

    def close(self) -> None:
        """Close the connections; a later use makes new ones."""
        if self._heard is not None:
            self._heard.close()
            self._heard = None
        self._redis.close()
