"""Passwords: which are good enough, and their slow hashes, of which few are made at once."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from domain.accounts.account_names import folded
from domain.accounts.common_passwords import common, own
from domain.errors import AccountError, Busy
from domain.fork_safety import heed
from domain.kernel.text.message_catalog import Message

SHORTEST, LONGEST = 10, 256
"""Characters of a password."""

AT_ONCE, WAITING, PATIENCE = 2, 6, 1.0
"""Hashes that a process makes at once, those that may wait, and for how many seconds: 19 MiB each, about 25 ms."""

TIMES, MEMORY = 2, 19 * 1024
"""What a hash costs: how often it goes over how many KiB, as OWASP advises."""

_FEWEST = 4
"""Different characters."""


class _Places:
    """So many at once, and so many who wait for that long."""

    def __init__(self, at_once: int, waiting: int, patience: float) -> None:
        self._guard, self._free = threading.Lock(), threading.BoundedSemaphore(at_once)
        self._most, self._patience, self.taken = at_once + waiting, patience, 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Around the work; raises Busy."""
        with self._guard:
            if self.taken >= self._most:
                raise Busy
            self.taken += 1
        try:
            if not self._free.acquire(timeout=self._patience):
                raise Busy
            try:
                yield
            finally:
                self._free.release()
        finally:
            with self._guard:
                self.taken -= 1


class Passwords:
    """argon2id; safe with threads. What it asks for may raise Busy, so that nothing else waits for passwords."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING, patience: float = PATIENCE) -> None:
        self._hasher = PasswordHasher(time_cost=TIMES, memory_cost=MEMORY, parallelism=1)
        self._bounds = at_once, waiting, patience
        self.after_fork()
        heed(self)

    def after_fork(self) -> None:
        """Places may be held by threads that are not there."""
        self._places = _Places(*self._bounds)

    def hashed(self, password: str) -> str:
        """What is kept of a password."""
        with self._places.one():
            return self._hasher.hash(_form(password))

    def fits(self, kept: str, password: str) -> bool:
        """Whether it is that password; takes as long where nothing is kept, since there is no such account."""
        with self._places.one():
            try:
                self._hasher.verify(kept or _nobody(), _form(password))
                return bool(kept)
            except (VerifyMismatchError, InvalidHashError):
                return False


def _form(password: str) -> str:
    """The same however a keyboard composes its letters."""
    return unicodedata.normalize("NFKC", password)


def _nobody() -> str:
    """The hash of a password that nobody has, with the same costs: 16 bytes of salt and 32 of hash."""
    return f"$argon2id$v=19$m={MEMORY},t={TIMES},p=1${'A' * 22}${'A' * 43}"


def check(password: str, name: str) -> None:
    """Raises AccountError for a password that is guessed first."""
    if not SHORTEST <= len(password) <= LONGEST:
        bounds = Message("A password has {least} to {most} characters.", least=SHORTEST, most=LONGEST)
        raise AccountError("weak_password", bounds)
    if common(password) or len(set(password)) < _FEWEST:
        raise AccountError("weak_password", "That password is one of the commonest.")
    if own(password):
        raise AccountError("weak_password", "A password is more than words of this service and its games.")
    if folded(password) in (folded(name), folded(name)[::-1]):
        raise AccountError("weak_password", "A password is not the name.")
