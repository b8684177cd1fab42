"""What an account shows to be let in: passwords, recovery codes, sessions, and personal access tokens.

Secrets that we make have 130 bits of chance or more and are kept as fast hashes; passwords as slow ones.
"""

from __future__ import annotations

import hmac
import json
import re
from base64 import b32encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from domain.accounts.account_tables import DAY, Rows, checksum, digest, encoded, recovery, write
from domain.accounts.accounts import holding
from domain.errors import AccountError, CommandReused, StoreUnavailable
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Row, Statement

SCOPES = ("read", "play", "direct", "admin")
"""What a personal token may be for; a session may all that its account may."""

IDLE, ABSOLUTE = 14 * DAY, 90 * DAY
"""How long a session lasts that nobody uses, and at most, ms."""

FRESH = 600_000
"""For how long after a password was shown a session may do what is dangerous, ms."""

LONGEST_TOKEN = 365 * DAY

MOST_SESSIONS, MOST_TOKENS, CODES = 50, 50, 10

_CODE, _SHORT = 26, 20
"""Characters of a recovery code, and of one that was made before: it begins as the one that its request gets now."""

_SEEN = 600_000
"""When something was used last is known to within so many ms: each request would write otherwise."""

_SESSION = re.compile(r"ans_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")
_PERSONAL = re.compile(r"(anp_([0-9a-f]{16})_[A-Za-z0-9_-]{43})([0-9a-f]{8})")
_DEVICE = re.compile(r"and_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")

_STATE = "a.id, a.role, a.state, a.until"
_BY_SESSION = f"""
SELECT s.hash, s.made, s.proved, s.used, {_STATE} FROM sessions s JOIN accounts a ON a.id = s.account
WHERE s.id = ?"""  # noqa: S608 - our own names
_BY_TOKEN = f"""
SELECT t.hash, t.scopes, t.until, t.ended, t.used, {_STATE} FROM personal_tokens t JOIN accounts a ON a.id = t.account
WHERE t.id = ?"""  # noqa: S608 - our own names
_PASSWORD = "SELECT secret FROM factors WHERE account = ? AND kind = 'password'"  # noqa: S105 - a statement
_SECOND = "SELECT 1 FROM factors WHERE account = ? AND kind IN ('totp', 'passkey')"
_ALONE = (("password",), ("recovery",))
"""What is not enough for an account with a second factor, which may have been added a moment ago."""

_START = "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SURPLUS = """
DELETE FROM sessions WHERE account = ? AND id NOT IN (
  SELECT id FROM sessions WHERE account = ? AND used > ? AND made > ? ORDER BY used DESC LIMIT ?)"""
_TOKENS = """
SELECT id, label, scopes, made, used, until FROM personal_tokens
WHERE account = ? AND ended = 0 AND until > ? ORDER BY made, id"""


@dataclass(frozen=True)
class Holder:
    """Who shows a session or a personal token, and what that lets them do."""

    account: str
    role: str
    state: str
    """As it is now: a suspension that is over is none."""
    credential: str
    """The id of the session or token, which opens nothing."""
    scopes: tuple[str, ...]
    session: bool
    proved: int = 0
    """When a password was last shown for this session, ms."""


@dataclass(frozen=True)
class Session:
    """A device that is logged in."""

    id: str
    label: str
    factors: tuple[str, ...]
    family: str
    """Of the address that it was begun from: `ipv4` or `ipv6`."""
    made: int
    used: int
    """To within ten minutes, ms."""


@dataclass(frozen=True)
class Token:
    """A personal access token."""

    id: str
    label: str
    scopes: tuple[str, ...]
    made: int
    used: int
    """To within ten minutes, ms; 0 for never."""
    until: int


@dataclass(frozen=True)
class Start:
    """A session that is to begin."""

    account: str
    label: str = ""
    factors: tuple[str, ...] = ("password",)
    family: str = ""
    request: tuple[str, ...] = field(default=(), repr=False)
    """What it can be repeated by; empty for what cannot."""


class Credentials(Rows):
    """May raise StoreUnavailable."""

    # --- who asks

    def holder(self, text: str) -> Holder | None:
        """Who shows this session or token; None for one that opens nothing, or nothing any more."""
        if found := _SESSION.fullmatch(text):
            return self._in_session(found[1], text)
        found = _PERSONAL.fullmatch(text)
        if found is None or checksum(found[1]) != found[3]:
            return None
        return self._with_token(found[2], text)

    def alive(self, credential: str) -> bool:
        """Whether that session or token still lets anybody in; long streams ask now and then."""
        found = self._in_session(credential) or self._with_token(credential)
        return found is not None and found.state != "banned"

    def _in_session(self, id_: str, text: str | None = None) -> Holder | None:
        now = self._now()
        for kept, made, proved, used, *who in self._database.execute(_BY_SESSION, (id_,)):
            if (text is None or _same(kept, text)) and made + ABSOLUTE > now and used + IDLE > now:
                self._seen("sessions", id_, used, now)
                return self._holder(who, id_, SCOPES, proved)
        return None

    def _with_token(self, id_: str, text: str | None = None) -> Holder | None:
        now = self._now()
        for kept, scopes, until, ended, used, *who in self._database.execute(_BY_TOKEN, (id_,)):
            if (text is None or _same(kept, text)) and not ended and until > now:
                self._seen("personal_tokens", id_, used, now)
                return self._holder(who, id_, tuple(scopes.split()), None)
        return None

    def _holder(self, who: Sequence[Row], id_: str, scopes: tuple[str, ...], proved: int | None) -> Holder | None:
        account, role, state, until = map(str, who)
        if state == "erased":
            return None
        state = settled(state, int(until), self._now())
        return Holder(account, role, state, id_, scopes, proved is not None, proved or 0)

    def _seen(self, table: str, id_: str, used: int, now: int) -> None:
        if now - used >= _SEEN:
            with suppress(StoreUnavailable):  # where nothing can be written, as on a full disk, reading goes on
                self._database.execute(f"UPDATE {table} SET used = ? WHERE id = ?", (now, id_))  # noqa: S608 - our names

    # --- passwords and codes

    def password(self, account: str) -> str:
        """The hash of an account's password; empty for none."""
        return next((str(secret) for (secret,) in self._database.execute(_PASSWORD, (account,))), "")

    def replace(self, account: str, before: str, after: str, beside: Sequence[Statement]) -> None:
        """Another password; all sessions end. Raises AccountError unless the password is still that of `before`."""

        def work(execute: Execute) -> None:
            _unchanged(execute, account, before)
            self._reset(execute, account, after)
            write(execute, beside)

        self._together(work)

    def recover(self, account: str, code: str, after: str, beside: Sequence[Statement]) -> bool:
        """Another password, for a code; all sessions and tokens end, and the code is used up."""

        def work(execute: Execute) -> bool:
            used = "DELETE FROM factors WHERE account = ? AND kind = 'recovery' AND id IN (?, ?) RETURNING id"
            if not execute(used, (account, *self._either(account, code))):
                return False
            self._reset(execute, account, after)
            self._end_tokens(execute, account)
            write(execute, beside)
            return True

        return self._together(work)

    def use_code(self, account: str, code: str) -> bool:
        """Whether that was one of the account's codes, in place of a second factor; it is used up."""
        used = "DELETE FROM factors WHERE account = ? AND kind = 'recovery' AND id IN (?, ?) RETURNING id"
        return bool(self._database.execute(used, (account, *self._either(account, code))))

    def recoverable(self, account: str, code: str) -> bool:
        """Whether that is one of the account's codes; asked before a slow hash is made."""
        known = "SELECT 1 FROM factors WHERE account = ? AND kind = 'recovery' AND id IN (?, ?)"
        return bool(self._database.execute(known, (account, *self._either(account, code))))

    def codes(self, account: str, *request: str) -> tuple[list[str], list[str]]:
        """Ten new recovery codes, and what is kept of them."""
        chance = (self._chance((*request, str(n)) if request else (), "recovery", 17) for n in range(CODES))
        texts = [b32encode(each)[:_CODE].decode().lower() for each in chance]
        told = ["-".join([*(text[at : at + 5] for at in range(0, 20, 5)), text[20:]]) for text in texts]
        return told, [self._code(account, text) for text in texts]

    def recode(self, account: str, kept: Sequence[str], beside: Sequence[Statement], session: str = "") -> None:
        """These codes and none before."""
        old: Statement = ("DELETE FROM factors WHERE account = ? AND kind = 'recovery'", (account,))
        made = [*recovery(account, kept, self._now()), *beside]
        self._on(account, lambda execute: write(execute, [old, *made]), session)

    def left(self, account: str) -> int:
        """How many recovery codes have not been used."""
        rows = self._database.execute("SELECT id FROM factors WHERE account = ? AND kind = 'recovery'", (account,))
        return len(rows)

    def _code(self, account: str, code: str) -> str:
        return digest(f"{account} {code}")

    def _either(self, account: str, code: str) -> tuple[str, str]:
        """What is kept of a code that somebody has typed, or was kept of it when codes were shorter."""
        text = code.replace("-", "").lower()
        return self._code(account, text), self._code(account, text[:_SHORT])

    def _reset(self, execute: Execute, account: str, after: str) -> None:
        execute("UPDATE factors SET secret = ? WHERE account = ? AND kind = 'password'", (after, account))
        execute("DELETE FROM sessions WHERE account = ?", (account,))

    # --- devices

    def device(self, account: str, *request: str) -> str:
        """What a device keeps to be known by: it lets nobody in, but is not slowed for what strangers have guessed."""
        nonce = self._chance(request, "device", 8).hex()
        return f"and_{nonce}_{self._seal(account, nonce)}"

    def knows(self, account: str, device: str) -> str:
        """The device's id if this account has given it out; else nothing."""
        found = _DEVICE.fullmatch(device)
        return found[1] if found and hmac.compare_digest(found[2], self._seal(account, found[1])) else ""

    def _seal(self, account: str, nonce: str) -> str:
        return encoded(bytes.fromhex(self._mark("device", account, nonce)))

    # --- sessions

    def start(self, asked: Start, proof: str, beside: Sequence[Statement]) -> str:
        """The token of a session for who has shown that password.

        Raises AccountError if it has changed meanwhile, or if a second factor is asked for that was not shown.
        """
        text, row = self.first(asked)
        now = self._now()

        def work(execute: Execute) -> None:
            _unchanged(execute, asked.account, proof)
            if asked.factors in _ALONE and execute(_SECOND, (asked.account,)):
                raise AccountError("second_factor_required")
            write(execute, row)
            execute(_SURPLUS, (asked.account, asked.account, now - IDLE, now - ABSOLUTE, MOST_SESSIONS))
            write(execute, beside)

        self._together(work)
        return text

    def first(self, asked: Start) -> tuple[str, list[Statement]]:
        """The token of a new account's first session, and what is to be written with the account."""
        id_, text = self._secret("ans", asked.request)
        now = self._now()
        row = (id_, digest(text), asked.account, asked.label, json.dumps(asked.factors), asked.family, now, now, now)
        return text, [(_START, row)]

    def prove(self, session: str) -> str:
        """A password was shown for it just now: its new token, after which the one before opens nothing.

        Nothing for a session that has ended meanwhile.
        """
        text = f"ans_{session}_{encoded(self._chance((), 'ans', 32))}"
        renewed = "UPDATE sessions SET hash = ?, proved = ? WHERE id = ? RETURNING id"
        return text if self._database.execute(renewed, (digest(text), self._now(), session)) else ""

    def sessions(self, account: str) -> list[Session]:
        """All that are open, the one used last first."""
        now = self._now()
        rows = self._database.execute(
            "SELECT id, label, factors, family, made, used FROM sessions"
            " WHERE account = ? AND used > ? AND made > ? ORDER BY used DESC, id",
            (account, now - IDLE, now - ABSOLUTE),
        )
        return [
            Session(i, label, tuple(json.loads(fs)), family, made, used) for i, label, fs, family, made, used in rows
        ]

    def end(self, account: str, session: str = "") -> bool:
        """Log out one device, or all; whether there was any."""
        where, params = (" AND id = ?", (account, session)) if session else ("", (account,))
        return bool(self._database.execute(f"DELETE FROM sessions WHERE account = ?{where} RETURNING id", params))  # noqa: S608 - our own words

    def end_all(self, account: str, beside: Sequence[Statement], by: str = "") -> None:
        """All sessions and personal tokens end; password and codes stay.

        Raises AccountError unless whoever does it (`by`; nobody for the operator) is an administrator.
        """

        def work(execute: Execute) -> None:
            holding(execute, by, "admin", self._now())
            execute("DELETE FROM sessions WHERE account = ?", (account,))
            self._end_tokens(execute, account)
            write(execute, beside)

        self._on(account, work)

    # --- personal tokens

    def _end_tokens(self, execute: Execute, account: str) -> None:
        execute("UPDATE personal_tokens SET ended = ? WHERE account = ? AND ended = 0", (self._now(), account))

    def issue(
        self,
        account: str,
        label: str,
        scopes: Sequence[str],
        until: int,
        beside: Sequence[Statement],
        *request: str,
        instead: str = "",
        session: str = "",
    ) -> tuple[str, str]:
        """Id and text of a personal token, the same for the same request; the one that it is `instead` of ends.

        Raises AccountError when there are too many or that one is gone, and CommandReused.
        """
        id_, text = self._secret("anp", request)
        text += checksum(text)
        now = self._now()

        def work(execute: Execute) -> None:
            for (before,) in execute("SELECT hash FROM personal_tokens WHERE id = ?", (id_,)):
                if not _same(before, text):
                    raise CommandReused(id_)
                return
            if instead and not self._stop(execute, account, instead, now):
                raise AccountError("not_found")
            if len(execute(_TOKENS, (account, now))) >= MOST_TOKENS:
                raise AccountError("too_many", Message("An account has {most} tokens at most.", most=MOST_TOKENS))
            execute("DELETE FROM personal_tokens WHERE account = ? AND until < ?", (account, now - ABSOLUTE))
            row = (id_, digest(text), account, label, " ".join(scopes), now, until)
            execute("INSERT INTO personal_tokens VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0)", row)
            write(execute, beside)

        self._on(account, work, session)
        return id_, text

    def tokens(self, account: str) -> list[Token]:
        """All that open anything, the oldest first."""
        rows = self._database.execute(_TOKENS, (account, self._now()))
        return [Token(i, label, tuple(scopes.split()), *times) for i, label, scopes, *times in rows]

    def token(self, account: str, id_: str) -> Token | None:
        """One of the account's, also one that has ended."""
        statement = "SELECT id, label, scopes, made, used, until FROM personal_tokens WHERE account = ? AND id = ?"
        rows = self._database.execute(statement, (account, id_))
        return next((Token(i, label, tuple(scopes.split()), *times) for i, label, scopes, *times in rows), None)

    def revoke(self, account: str, id_: str) -> bool:
        """It opens nothing any more; whether it did."""
        return self._together(lambda execute: self._stop(execute, account, id_, self._now()))

    def _stop(self, execute: Execute, account: str, id_: str, now: int) -> bool:
        statement = "UPDATE personal_tokens SET ended = ? WHERE account = ? AND id = ? AND ended = 0 RETURNING id"
        return bool(execute(statement, (now, account, id_)))

    def _secret(self, prefix: str, request: tuple[str, ...]) -> tuple[str, str]:
        """An id and a text: of the same key the same id, of the same request the same text."""
        chance = self._chance(request[:2], "credential id", 8)
        id_ = chance.hex()
        return id_, f"{prefix}_{id_}_{encoded(self._chance(request, 'credential', 32))}"


def settled(state: str, until: int, now: int) -> str:
    """The state of an account as it is now: a suspension that is over is none."""
    return "active" if state == "suspended" and until <= now else state


def _same(kept: str, text: str) -> bool:
    return hmac.compare_digest(kept, digest(text))


def _unchanged(execute: Execute, account: str, proof: str) -> None:
    """Raises if the password is not any more the one that was shown."""
    if [proof] != [secret for (secret,) in execute(_PASSWORD, (account,))]:
        raise AccountError("wrong_credentials")
