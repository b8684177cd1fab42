"""What is owed to webhooks: rows that stand until they came through or are given up, and then for a month."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from domain.accounts.account_tables import DAY, Rows, write
from domain.notifications.deliveries import DAMAGED, NO_MAILBOX, Outcome, Parcel
from domain.notifications.webhooks import EVENTS, MAIL, TEST, Hook, Hooks, buried
from domain.service.database import Database, Execute, Row, Statement
from domain.service.keyring import Keyring
from domain.types import Doc

CARRIED = (*EVENTS, MAIL)
"""What a row can be about for which something is delivered, where the operator lets it."""

MOST_BOUNCES = 3
"""How often on end a mailbox may be refused for good until nothing more is sent there."""

STATES = ("waiting", "delivered", "dead", "expired")
"""`dead` was given up and can be replayed; `expired` came to be due when it was of no use any more."""

BACKOFF = (5_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000, 86_400_000)
"""ms from the n-th failure of a delivery to its next try; after the last it is dead."""

BREAK = (0, 5_000, 30_000, 120_000, 600_000)
"""ms for which a webhook gets nothing at all after so many failures on end."""

GIVEN_UP = 3 * DAY
"""How long nothing may come through until a webhook is switched off, ms."""

KEPT = 30 * DAY
"""For how long a delivery is shown, ms."""

HOLD = 60_000
"""For how long whoever delivers may take, ms; then another one may try."""

SLOW = 2_000
"""ms after which a receiver counts as slow: those have fewer places, and wait behind the others."""

EACH_HOST = 2
"""Deliveries to one host at once."""

MOST_WAITING = 1_000
"""Deliveries that wait for one webhook; those beyond are dead at once."""

MOST_TOLD = 10
"""Tries that the log of a delivery shows, the last ones."""

_POSITION = "SELECT position FROM notice_position WHERE name = 'log'"
_READ = """
INSERT INTO notice_position VALUES ('log', ?) ON CONFLICT (name) DO UPDATE SET position = excluded.position"""
_OWE = """
INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '[]') ON CONFLICT DO NOTHING"""
_HOOK = "h.id, h.account, h.about, h.game, h.events, h.box, h.state, h.made, h.failing, h.ms"
_CARRIED = f"({', '.join('?' * len(CARRIED))})"
_FREE = f"""
WHERE h.state = 'on' AND h.about IN {_CARRIED} AND h.next <= ? AND h.held <= ? AND h.ms <= ?
AND a.state <> 'banned' AND a.state <> 'erased'
AND EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook = h.id AND d.state = 'waiting' AND d.due <= ?)
AND h.host NOT IN (SELECT host FROM webhooks WHERE held > ? GROUP BY host HAVING count(*) >= ?)"""  # noqa: S608 - our own names
# Digests wait behind all else. Then those that were served longest ago come first, and slow ones last.
_NEXT = f"""
SELECT h.id FROM webhooks h JOIN accounts a ON a.id = h.account {_FREE}
ORDER BY CASE WHEN EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook = h.id AND d.state = 'waiting' AND d.due <= ?
  AND d.type <> 'mail.digest') THEN 0 ELSE 1 END, CASE WHEN h.ms > ? THEN 1 ELSE 0 END, h.used, h.id LIMIT 1"""  # noqa: S608
_THAT = f"SELECT {_HOOK} FROM webhooks h JOIN accounts a ON a.id = h.account {_FREE} AND h.id = ?"  # noqa: S608
_READY = f"""
SELECT d.id FROM deliveries d JOIN webhooks h ON h.id = d.webhook JOIN accounts a ON a.id = h.account
WHERE h.about IN {_CARRIED} AND d.state = 'waiting' AND d.due <= ? AND h.state = 'on' AND h.next <= ? AND h.held <= ?
AND a.state <> 'banned' AND a.state <> 'erased'"""  # noqa: S608 - our own names
_FIRST = """
SELECT id, type, box, made, until, tries FROM deliveries
WHERE webhook = ? AND state = 'waiting' AND due <= ? ORDER BY due, made, id LIMIT 1"""
_COLUMNS = "id, webhook, type, game, state, made, due, tries, log"
_PAGE = f"SELECT {_COLUMNS} FROM deliveries WHERE webhook = ? AND (made < ? OR (made = ? AND id < ?))"  # noqa: S608
_LISTENS = f"h.state = 'on' AND h.events <> '' AND h.about IN {_CARRIED}"
_SINCE = f"SELECT min(h.since) FROM webhooks h WHERE {_LISTENS}"  # noqa: S608 - our own names
_LOBBY = f"SELECT h.id, h.since, h.events FROM webhooks h WHERE {_LISTENS} AND h.about = 'lobby'"  # noqa: S608 - ours
# What an account may know of now: the tables at which it has a seat, or which it directs.
_COMPANY = f"""
SELECT t.game, t.role, t.player, h.id, h.since, h.events FROM tokens t JOIN account_players p ON p.player = t.player
JOIN webhooks h ON h.account = p.account
WHERE t.revoked <> 1 AND {_LISTENS} AND h.about <> 'lobby' AND (h.about <> 'table' OR h.game = t.game)
AND t.game IN ("""  # noqa: S608 - our own names
# Whom somebody blocks is not heard, by whichever of his ids he asks.
_CHALLENGED = f"""
SELECT h.id, h.since, h.events, c.game, c.seat, c.at, c.until
FROM challenges c JOIN account_players p ON p.player = c.player JOIN webhooks h ON h.account = p.account
WHERE {_LISTENS} AND h.about = 'mine' AND c.answer = '' AND c.until > ? AND c.at >= h.made
AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.account = p.account AND (b.player = c.by OR EXISTS (
  SELECT 1 FROM account_players x JOIN account_players y ON y.account = x.account
  WHERE x.player = c.by AND y.player = b.player)))"""  # noqa: S608 - our own names


@dataclass(frozen=True)
class Notice:
    """Something that a webhook is to be told."""

    webhook: str
    type: str
    about: tuple[str, ...]
    """What makes it one thing: the same is told once."""
    at: int
    """When it happened, ms."""
    data: Doc
    game: str = ""
    due: int = 0
    """When it is to be told, ms."""
    until: int = 0
    """When it is of no use any more, ms; 0: never."""

    @property
    def id(self) -> str:
        """The same whenever it is made of the same records."""
        marked = json.dumps([self.webhook, self.type, *self.about]).encode()
        return f"msg_{hashlib.sha256(marked).hexdigest()[:32]}"

    def body(self) -> bytes:
        """What is sent."""
        at = datetime.fromtimestamp(self.at / 1000, UTC).isoformat(timespec="milliseconds")
        doc = {"type": self.type, "timestamp": at.replace("+00:00", "Z"), "data": self.data}
        return json.dumps(doc, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Listener:
    """What a webhook that is on is told, and from where in the log."""

    webhook: str
    since: int
    events: tuple[str, ...]


@dataclass(frozen=True)
class Company:
    """One whose owner has a role at a table."""

    game: str
    role: str
    """A seat's number, or `director`."""
    player: str
    hook: Listener


@dataclass(frozen=True)
class Delivery:
    """How one stands."""

    id: str
    webhook: str
    type: str
    game: str
    state: str
    made: int
    due: int
    tries: int
    log: list[Doc]
    """The last tries: `at`, `ms`, `status` (0 without an answer), `said`."""


class Outbox(Rows):
    """May raise StoreUnavailable. `carried`: of CARRIED, for what anything is owed and delivered."""

    def __init__(
        self, database: Database, keys: Keyring, clock: Callable[[], int], carried: Sequence[str] = CARRIED
    ) -> None:
        super().__init__(database, keys, clock)
        self._carried = tuple(about if about in carried else "" for about in CARRIED)

    # --- what is owed

    def position(self) -> int:
        """Up to where the log was read."""
        rows = self._database.execute(_POSITION)
        return int(rows[0][0]) if rows else 0

    def since(self) -> int | None:
        """From where in the log anybody is to be told anything; None: nobody is."""
        ((found,),) = self._database.execute(_SINCE, self._carried)
        return None if found is None else int(found)

    def lobby(self) -> list[Listener]:
        """Who is to be told of the lobby."""
        return [_listener(*row) for row in self._database.execute(_LOBBY, self._carried)]

    def company(self, games: Sequence[str]) -> list[Company]:
        """Who is to be told of these tables since they have a role there."""
        if not games:
            return []
        marks = ", ".join("?" * len(games))
        rows = self._database.execute(f"{_COMPANY}{marks})", (*self._carried, *games))
        return [Company(game, role, player, _listener(*hook)) for game, role, player, *hook in rows]

    def challenged(self) -> list[tuple[Listener, str, int, int, int]]:
        """Challenges that stand: who is to be told, game, seat (-1: any), when it was asked, until when."""
        rows = self._database.execute(_CHALLENGED, (*self._carried, self._now()))
        return [(_listener(*row[:3]), row[3], int(row[4]), int(row[5]), int(row[6])) for row in rows]

    def known(self, ids: Sequence[str]) -> set[str]:
        """Those of these deliveries that there are."""
        marks = ", ".join("?" * len(ids))
        rows = self._database.execute(f"SELECT id FROM deliveries WHERE id IN ({marks})", ids) if ids else []  # noqa: S608
        return {str(id_) for (id_,) in rows}

    def owe(self, notices: Iterable[Notice], read: tuple[int, int] | None = None, games: Iterable[str] = ()) -> None:
        """Write down what is owed; what was told or is owed already stays as it is.

        `read`: from where, as the row says, to where the log was read. Nothing is written if somebody else has read on
        meanwhile. What was to be told later of these games, and is not among the notices, is not to be told any more.
        """
        wanted = list(notices)
        stay = {notice.id for notice in wanted}

        def work(execute: Execute) -> None:
            if read and read[0] != next((int(at) for (at,) in execute(_POSITION, ())), 0):
                return
            for game in games:
                later = "SELECT id FROM deliveries WHERE game = ? AND state = 'waiting' AND until > 0 AND tries = 0"
                for (id_,) in execute(later, (game,)):
                    if id_ not in stay:
                        execute("DELETE FROM deliveries WHERE id = ?", (id_,))
            self.write(execute, wanted)
            if read:
                execute(_READ, (read[1],))

        self._together(work)

    def write(self, execute: Execute, notices: Iterable[Notice]) -> None:
        """Write down what is owed, in a transaction that is going on."""
        counted: dict[object, int] = {}
        for row in map(self._row, notices):
            if row[1] not in counted:
                counted[row[1]] = _waiting(execute, row[1])
            if counted[row[1]] < 0:
                continue
            counted[row[1]] += 1
            full = counted[row[1]] > MOST_WAITING
            execute(_OWE, (*row[:5], "dead" if full else "waiting", *row[5:]))

    def _row(self, n: Notice) -> tuple[object, ...]:
        box = self._keys.seal("notices", f"delivery|{n.id}", n.body()).hex()
        return (n.id, n.webhook, n.type, n.game, box, self._now(), n.due or self._now(), n.until)

    def prune(self) -> None:
        """Forget what is older than is shown, also what was due so long ago and could not be sent."""
        old = self._now() - KEPT
        self._database.execute("DELETE FROM deliveries WHERE made < ? AND (state <> 'waiting' OR due < ?)", (old, old))
        self._database.execute("DELETE FROM mail_asked WHERE at < ?", (self._now() - DAY,))

    # --- delivering

    def waiting(self) -> bool:
        """Whether anything could be delivered now."""
        now = self._now()
        return bool(self._database.execute(f"{_READY} LIMIT 1", (*self._carried, now, now, now)))

    def ready(self, type_: str, most: int) -> int:
        """How many of that type could be delivered now; counted up to `most`."""
        now = self._now()
        return len(
            self._database.execute(f"{_READY} AND d.type = ? LIMIT ?", (*self._carried, now, now, now, type_, most))
        )

    def take(self, *, quick: bool = False) -> Parcel | None:
        """The next to be delivered, for nobody else to take; `quick`: of receivers that are not slow."""
        while taken := self._taken(SLOW if quick else 2**62):
            row, first = taken
            try:
                return self._parcel(row, first)
            except ValueError:  # altered where it rests: nobody can send it
                self._bury(str(row[0]), str(first[0]))
        return None

    def _taken(self, most: int) -> tuple[Row, Row] | None:
        """Rows of a webhook and of its first delivery. Looked for outside of what appends wait for."""
        while True:
            now = self._now()
            free = (*self._carried, now, now, most, now, now, EACH_HOST)
            found = self._database.execute(_NEXT, (*free, now, SLOW))
            if not found:
                return None
            taken = self._together(partial(self._hold, (*free, found[0][0]), now))
            if taken:
                return taken

    def _hold(self, that: Sequence[object], now: int, execute: Execute) -> tuple[Row, Row] | None:
        """None if somebody else was faster."""
        for row in execute(_THAT, that):
            execute("UPDATE webhooks SET held = ?, used = ? WHERE id = ?", (now + HOLD, now, row[0]))
            return row, execute(_FIRST, (row[0], now))[0]
        return None

    def _parcel(self, row: Row, first: Row) -> Parcel:
        hook = Hooks(self._database, self._keys, self._now).hook(row)
        id_, type_, box, made, until, tries = first
        body = self._keys.open("notices", f"delivery|{id_}", bytes.fromhex(box))
        return Parcel(hook, id_, type_, body, int(made), int(until), int(tries))

    def _bury(self, hook: str, delivery: str) -> None:
        told = json.dumps([{"at": self._now(), **vars(Outcome(0, 0, DAMAGED))}])
        dead = "UPDATE deliveries SET state = 'dead', log = ? WHERE id = ? AND state = 'waiting'"
        free = ("UPDATE webhooks SET held = 0 WHERE id = ?", (hook,))
        self._together(lambda execute: write(execute, [(dead, (told, delivery)), free]))

    def settle(self, parcel: Parcel, outcome: Outcome, jitter: float, told: Sequence[Statement] = ()) -> bool:
        """Write down what came of it; whether the webhook is switched off, and `told` was written with that.

        `jitter`: by how much the next try is later, from 0 to 1.
        """
        now = self._now()

        def work(execute: Execute) -> bool:
            found = execute("SELECT failed, failing, state FROM webhooks WHERE id = ?", (parcel.hook.id,))
            kept = execute("SELECT log FROM deliveries WHERE id = ? AND state = 'waiting'", (parcel.id,))
            if not found or not kept:  # removed, or settled by somebody who took it later
                execute("UPDATE webhooks SET held = 0 WHERE id = ?", (parcel.hook.id,))
                return False
            tried = [*json.loads(str(kept[0][0])), {"at": now, **vars(outcome)}][-MOST_TOLD:]
            state, due = _next_try(parcel, outcome, now, jitter)
            execute(
                "UPDATE deliveries SET state = ?, due = ?, tries = tries + 1, log = ? WHERE id = ?",
                (state, due, json.dumps(tried), parcel.id),
            )
            failed, failing = (0, 0) if outcome.well else (int(found[0][0]) + 1, int(found[0][1]) or now)
            rest = BREAK[min(failed, len(BREAK)) - 1] if failed else 0
            if parcel.hook.about == MAIL:
                off = _bounced(execute, parcel.hook.id, outcome)
            else:
                off = outcome.gone or (failing > 0 and now - failing >= GIVEN_UP)
            execute(
                "UPDATE webhooks SET held = 0, failed = ?, failing = ?, ms = ?, next = ?, state = ? WHERE id = ?",
                (failed, failing, outcome.ms, now + rest, "off" if off else found[0][2], parcel.hook.id),
            )
            if off:
                write(execute, [*buried(parcel.hook.id), *told])
            return off

        return self._together(work)

    def expire(self, parcel: Parcel) -> None:
        """It is of no use any more."""
        self._together(
            lambda execute: write(
                execute,
                [
                    ("UPDATE deliveries SET state = 'expired' WHERE id = ? AND state = 'waiting'", (parcel.id,)),
                    ("UPDATE webhooks SET held = 0 WHERE id = ?", (parcel.hook.id,)),
                ],
            )
        )

    # --- what its owner sees and asks for

    def of(self, hook: str, state: str = "", before: str = "", limit: int = 50) -> list[Delivery]:
        """Its deliveries, the newest first; `before` continues a page: when it was made, and its id."""
        made, _, last = before.partition(".")
        at = int(made) if made else 2**62
        chosen, params = (" AND state = ?", (state,)) if state else ("", ())
        rows = self._database.execute(
            f"{_PAGE}{chosen} ORDER BY made DESC, id DESC LIMIT ?", (hook, at, at, last, *params, limit)
        )
        return [_delivery(row) for row in rows]

    def find(self, hook: str, delivery: str) -> Delivery | None:
        """One of them."""
        select = f"SELECT {_COLUMNS} FROM deliveries WHERE webhook = ? AND id = ?"  # noqa: S608 - our own names
        rows = self._database.execute(select, (hook, delivery))
        return _delivery(rows[0]) if rows else None

    def replay(self, hook: str, delivery: str) -> Delivery | None:
        """It is to be delivered again, from now on as if it were new; None if there is none such."""

        def work(execute: Execute) -> None:
            execute(
                "UPDATE deliveries SET state = 'waiting', due = ?, until = 0, tries = 0"
                " WHERE webhook = ? AND id = ? AND state <> 'waiting'",
                (self._now(), hook, delivery),
            )
            execute("UPDATE webhooks SET next = 0 WHERE id = ?", (hook,))

        self._together(work)
        return self.find(hook, delivery)

    def test(self, hook: Hook) -> Delivery | None:
        """A delivery that tells nothing."""
        notice = Notice(hook.id, TEST, (secrets.token_hex(16),), self._now(), {"webhook": hook.id})
        self.owe([notice])
        return self.find(hook.id, notice.id)


def signals(hook: Listener, type_: str) -> bool:
    """Whether a webhook is told things of that type."""
    return type_ in hook.events


def _listener(webhook: str, since: int, events: str) -> Listener:
    return Listener(webhook, int(since), tuple(events.split()))


def _delivery(row: Row) -> Delivery:
    id_, hook, type_, game, state, made, due, tries, log = row
    return Delivery(id_, hook, type_, game, state, int(made), int(due), int(tries), json.loads(log))


def _waiting(execute: Execute, hook: object) -> int:
    """How many deliveries wait for it; -1 for a webhook that was removed meanwhile."""
    if not execute("SELECT 1 FROM webhooks WHERE id = ?", (hook,)):
        return -1
    ((count,),) = execute("SELECT count(*) FROM deliveries WHERE webhook = ? AND state = 'waiting'", (hook,))
    return int(count)


def _bounced(execute: Execute, hook: str, outcome: Outcome) -> bool:
    """Whether a mailbox is switched off by that: a server that is away for days says nothing of its addresses."""
    if outcome.well:
        execute("UPDATE mailboxes SET bounces = 0 WHERE webhook = ?", (hook,))
    if outcome.said != NO_MAILBOX:
        return False
    execute("UPDATE mailboxes SET bounces = bounces + 1 WHERE webhook = ?", (hook,))
    most = (hook, MOST_BOUNCES)
    off = bool(execute("SELECT 1 FROM mailboxes WHERE webhook = ? AND bounces >= ?", most))
    if off:
        execute("UPDATE mailboxes SET state = 'off', next = 0 WHERE webhook = ?", (hook,))
    return off


def _next_try(parcel: Parcel, outcome: Outcome, now: int, jitter: float) -> tuple[str, int]:
    """The state of a delivery after a try, and when it is due again."""
    if outcome.well:
        return "delivered", now
    if parcel.tries >= len(BACKOFF) or outcome.final:
        return "dead", now
    return "waiting", now + int(BACKOFF[parcel.tries] * (1 + jitter / 5))
