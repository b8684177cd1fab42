"""For processes that serve readers: whoever waits for news of a game is woken when the views have it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from cachetools import LRUCache

from domain.forks import heed
from workers.bell import Bell, Pumped

SILENCE = 2.0
"""Seconds without any announcement after which everybody looks: the pump's last words may have been lost."""

DEAF = 0.5
"""The same while Redis is away."""

KEEP = 10_000
"""Games whose last change is remembered."""


class Changes:
    """One thread listens for all waiting threads of a process; it starts when somebody waits for the first time."""

    def __init__(self, bell: Callable[[], Bell]) -> None:
        """`bell` makes a bell for the listening thread alone."""
        self._make = bell
        self._begin()
        heed(self)

    def after_fork(self) -> None:
        """The thread stays behind in the parent."""
        self._begin()

    def _begin(self) -> None:
        self._listener: threading.Thread | None = None
        self._heard = threading.Condition()
        self._tick = 1
        self._any = 1
        """The tick at which any game may have changed."""
        self._games: LRUCache[str, int] = LRUCache(KEEP)
        self._seen = threading.local()

    def wait(self, game: str, seconds: float) -> None:
        """Until something about the game may be new since this thread last waited for it, at most so many seconds.

        A thread that reads and waits by turns misses nothing: news between the two end the wait at once, and so does
        the first wait.
        """
        self._listen()
        since = vars(self._seen).get(game, 0)
        with self._heard:
            if self._heard.wait_for(lambda: self._changed(game) > since, seconds):
                since = self._tick
        vars(self._seen).clear()
        vars(self._seen)[game] = since

    def _changed(self, game: str) -> int:
        return max(self._games.get(game, 0), self._any)

    # --- listening

    def _listen(self) -> None:
        with self._heard:
            if self._listener is None or not self._listener.is_alive():
                self._listener = threading.Thread(target=self._run, name="changes", daemon=True)
                self._listener.start()

    def _run(self) -> None:
        bell = self._make()
        told = time.monotonic()
        while True:
            news = bell.pumped(DEAF)
            if news is not None or time.monotonic() > told + (DEAF if bell.deaf else SILENCE):
                told = time.monotonic()
                self._tell(news)

    def _tell(self, news: Pumped | None) -> None:
        with self._heard:
            self._tick += 1
            if news is None or not news.games:
                self._any = self._tick
            else:
                if len(self._games.keys() | set(news.games)) > KEEP:
                    self._any = self._tick  # nobody may take one that is forgotten for unchanged
                self._games.update(dict.fromkeys(news.games, self._tick))
            self._heard.notify_all()
