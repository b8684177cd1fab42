"""Password rules, and slow hashes with limited concurrency."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from domain.accounts.account_names import fold_name
from domain.accounts.common_passwords import is_common, is_service_word
from domain.errors import AccountError, Busy
from domain.fork_safety import reset_after_fork
from domain.kernel.text.message_catalog import Message

SHORTEST, LONGEST = 10, 256
"""Characters of a password."""

AT_ONCE, WAITING, PATIENCE = 2, 6, 1.0
"""Concurrent hashes of a process, waiting ones, and their patience (s): 19 MiB and about 25 ms each."""

TIMES, MEMORY = 2, 19 * 1024
"""Cost of a hash: passes and KiB, as OWASP advises."""

_FEWEST = 4
"""Distinct characters of a password."""


class _HashSlots:
    """Limits concurrent work, and the number and patience of waiting threads."""

    def __init__(self, at_once: int, waiting: int, patience: float) -> None:
        self._guard = threading.Lock()
        self._free = threading.BoundedSemaphore(at_once)
        self._most, self._patience, self.in_use = at_once + waiting, patience, 0

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Hold a slot during the work; raise Busy if none is free in time."""
        with self._guard:
            if self.in_use >= self._most:
                raise Busy
            self.in_use += 1
        try:
            if not self._free.acquire(timeout=self._patience):
                raise Busy
            try:
                yield
            finally:
                self._free.release()
        finally:
            with self._guard:
                self.in_use -= 1


class Passwords:
    """argon2id hashes; safe with threads. May raise Busy, so that only logins wait for passwords."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING, patience: float = PATIENCE) -> None:
        self._hasher = PasswordHasher(time_cost=TIMES, memory_cost=MEMORY, parallelism=1)
        self._bounds = at_once, waiting, patience
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Start with new slots: absent threads may hold the old ones."""
        self._places = _HashSlots(*self._bounds)

    def make_hash(self, password: str) -> str:
        """Return the hash of a password."""
        with self._places.acquire():
            return self._hasher.hash(_normalize(password))

    def matches(self, hashed: str, password: str) -> bool:
        """Return whether a hash is of that password; an empty one, of no account, takes as long."""
        with self._places.acquire():
            try:
                self._hasher.verify(hashed or _dummy_hash(), _normalize(password))
                return bool(hashed)
            except (VerifyMismatchError, InvalidHashError):
                return False


def _normalize(password: str) -> str:
    """Return the same text for every keyboard's composition of its letters."""
    return unicodedata.normalize("NFKC", password)


def _dummy_hash() -> str:
    """Return a hash without a password, at the same cost: 16 bytes of salt and 32 of hash."""
    return f"$argon2id$v=19$m={MEMORY},t={TIMES},p=1${'A' * 22}${'A' * 43}"


def check_password(password: str, name: str) -> None:
    """Raise AccountError for a guessable password."""
    if not SHORTEST <= len(password) <= LONGEST:
        bounds = Message("A password has {least} to {most} characters.", least=SHORTEST, most=LONGEST)
        raise AccountError("weak_password", bounds)
    if is_common(password) or len(set(password)) < _FEWEST:
        raise AccountError("weak_password", "This password is too common.")
    if is_service_word(password):
        raise AccountError(
            "weak_password", "The password must not consist only of words of this service and its games."
        )
    if fold_name(password) in (fold_name(name), fold_name(name)[::-1]):
        raise AccountError("weak_password", "The password must not be the name.")
