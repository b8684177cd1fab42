"""The tables of talk: messages, mailboxes, marks and notes.

A text and its nonce rest encrypted with a key of their own. To erase a message is to delete its key: the commitment
stays, and so do the chains. Every method may raise StoreUnavailable.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from domain.errors import CommandReused, RuleError
from domain.kernel.schema.canonical_json import canonical
from domain.service.database import Database, Execute, Row, Statement, create_tables, placeholders
from domain.service.idempotency_keys import IdempotencyKey
from domain.service.keyring import Keyring
from domain.talk import disclosures, message_reports, silences
from domain.talk.anchors import MailboxAnchors
from domain.talk.mailboxes import EMPTY, commitment_of, next_head, path_of, root_of
from domain.types import Doc, Seat

_TABLES = (
    # `state`: number of messages, heads and sizes of the mailboxes, allowance of each seat.
    "CREATE TABLE IF NOT EXISTS talk_tables (game TEXT PRIMARY KEY, state TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS talk_messages (
  game TEXT NOT NULL, number BIGINT NOT NULL, request TEXT NOT NULL, seat INTEGER NOT NULL, player TEXT NOT NULL,
  version BIGINT NOT NULL, at BIGINT NOT NULL, commitment TEXT NOT NULL, sealed TEXT NOT NULL, erased TEXT NOT NULL,
  PRIMARY KEY (game, number))""",
    "CREATE INDEX IF NOT EXISTS talk_messages_request ON talk_messages (game, request)",
    "CREATE INDEX IF NOT EXISTS talk_messages_player ON talk_messages (player)",
    "CREATE INDEX IF NOT EXISTS talk_messages_at ON talk_messages (at)",
    """CREATE TABLE IF NOT EXISTS talk_keys (
  game TEXT NOT NULL, number BIGINT NOT NULL, sealed TEXT NOT NULL, PRIMARY KEY (game, number))""",
    # One row for each mailbox that a message is in; that of the spectators has the number -1. `player` held the seat.
    """CREATE TABLE IF NOT EXISTS talk_entries (
  game TEXT NOT NULL, mailbox INTEGER NOT NULL, entry BIGINT NOT NULL, number BIGINT NOT NULL,
  conversation TEXT NOT NULL, player TEXT NOT NULL, author TEXT NOT NULL, PRIMARY KEY (game, mailbox, entry))""",
    # It covers the list of conversations with their unread numbers.
    """CREATE INDEX IF NOT EXISTS talk_entries_conversation
  ON talk_entries (game, mailbox, conversation, entry, player, author)""",
    "CREATE INDEX IF NOT EXISTS talk_entries_player ON talk_entries (player, game, mailbox, entry)",
    """CREATE TABLE IF NOT EXISTS talk_marks (
  game TEXT NOT NULL, mailbox INTEGER NOT NULL, player TEXT NOT NULL, conversation TEXT NOT NULL,
  seen BIGINT NOT NULL, muted INTEGER NOT NULL, PRIMARY KEY (game, mailbox, player, conversation))""",
    """CREATE TABLE IF NOT EXISTS talk_notes (
  game TEXT NOT NULL, player TEXT NOT NULL, place TEXT NOT NULL, sealed TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (game, player, place))""",
    # Messages with a treaty; what it says rests encrypted in the message.
    """CREATE TABLE IF NOT EXISTS talk_treaties (
  game TEXT NOT NULL, number BIGINT NOT NULL, seat INTEGER NOT NULL, ends BIGINT NOT NULL,
  PRIMARY KEY (game, number))""",
    "CREATE INDEX IF NOT EXISTS talk_treaties_ends ON talk_treaties (ends)",
    # `reply` is the number of the message that answers, `version` the newest one then.
    """CREATE TABLE IF NOT EXISTS talk_answers (
  game TEXT NOT NULL, number BIGINT NOT NULL, seat INTEGER NOT NULL, answer TEXT NOT NULL, reply BIGINT NOT NULL,
  version BIGINT NOT NULL, PRIMARY KEY (game, number, seat))""",
    "CREATE INDEX IF NOT EXISTS talk_answers_reply ON talk_answers (game, reply)",
)

TABLE = "table"
"""The conversation of all seats."""

SPECTATORS = -1
"""Mailbox of those without a seat: the conversation of the table alone. It has no chain."""

PUBLISHED = -2
"""Mailbox of all conversations of a closed table with the term `after: published`: places are numbers of messages."""

RATE_PER_MINUTE, BURST = 30, 10
"""Messages of a seat a minute, and at once."""

PAD = 256
"""Sealed texts are padded to a multiple of this many bytes."""

_NONCE = 12

_INSERT = "INSERT INTO talk_messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '')"
_STATE = """
INSERT INTO talk_tables VALUES (?, ?) ON CONFLICT (game) DO UPDATE SET state = excluded.state"""
_FOUND = "SELECT number FROM talk_messages WHERE game = ? AND request = ?"
_MARK = """
INSERT INTO talk_marks VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT (game, mailbox, player, conversation) DO UPDATE
SET seen = CASE WHEN excluded.seen > talk_marks.seen THEN excluded.seen ELSE talk_marks.seen END"""
_MUTE = """
INSERT INTO talk_marks VALUES (?, ?, ?, ?, 0, ?) ON CONFLICT (game, mailbox, player, conversation) DO UPDATE
SET muted = excluded.muted"""
_NOTE = """
INSERT INTO talk_notes VALUES (?, ?, ?, ?, ?) ON CONFLICT (game, player, place) DO UPDATE
SET sealed = excluded.sealed, at = excluded.at"""
_ALL = (1 << 53, 1 << 53)
"""A version and a time after every message."""

_READ = """
SELECT e.entry, e.conversation, e.player, m.number, m.seat, m.player, m.version, m.at, m.commitment, m.sealed, m.erased,
  k.sealed FROM talk_entries e JOIN talk_messages m ON m.game = e.game AND m.number = e.number
LEFT JOIN talk_keys k ON k.game = e.game AND k.number = e.number
WHERE e.game = ? AND e.mailbox = ?"""
_READ_PUBLISHED = _READ.replace("e.entry", "e.number").replace("e.mailbox = ?", "e.mailbox = m.seat")
_ERASED = "UPDATE talk_messages SET erased = ?, sealed = '' WHERE game = ? AND number = ? AND erased = ''"
_TREATY = """
SELECT t.seat, t.ends, m.commitment FROM talk_treaties t JOIN talk_messages m ON m.game = t.game AND m.number = t.number
WHERE t.game = ? AND t.number = ?"""
_ANSWERED = "SELECT 1 FROM talk_answers WHERE game = ? AND number = ? AND seat = ?"
_BOUND = "SELECT body_hash FROM commands WHERE game = ? AND id = ?"
_BIND = "INSERT INTO commands (game, id, body_hash, first_version, last_version) VALUES (?, ?, ?, 0, 0)"


@dataclass(frozen=True)
class Post:
    """A message on its way."""

    game: str
    seat: Seat
    player: str
    """The writer."""
    conversation: str
    """`table`, or the seats of a letter, rising: `0-2`."""
    holders: Mapping[Seat, str]
    """The seats that get it, with their players now; the writer's among them."""
    seats: int
    """Seats of the table."""
    version: int
    """The newest version when it was written."""
    seen: tuple[int, str]
    """Version and hash of the record that the writer saw."""
    text: str = field(repr=False)
    references: Sequence[Doc] = ()
    regions: Sequence[str] = ()
    quotes: Sequence[tuple[int, str]] = ()
    """Numbers and commitments of messages known to all its receivers."""
    treaty: Doc | None = field(default=None, repr=False)
    """What it proposes: `kind`, `values`, and `ends`, ms."""
    answer: tuple[int, str] | None = None
    """Number of the message with the answered treaty, and the answer."""


class TreatyAnswer(NamedTuple):
    """An answer to a treaty."""

    seat: Seat
    answer: str
    version: int
    """The newest version when it was given."""


class Entry(NamedTuple):
    """A message in a mailbox, as its reader may know it."""

    entry: int
    """Place in the mailbox, from 1."""
    conversation: str
    holder: str
    """The player who had the seat of the mailbox."""
    seat: Seat
    author: str
    """Player id of the writer; empty once erased."""
    version: int
    at: int
    commitment: str
    erased: str
    """Kind of the reason why the text is gone: `account`, `report` or `retention`; else empty."""
    message: Doc | None
    """The message with its nonce; None once erased, or if it was not asked for."""
    number: int
    """Number of the message at the table; it is told to nobody."""
    quotes: Sequence[int] = ()
    """Numbers of the quoted messages."""


class ConversationSummary(NamedTuple):
    """A conversation as its reader knows it."""

    conversation: str
    last: int
    """Place of the last message in the mailbox."""
    unread: int
    muted: bool


@dataclass(frozen=True)
class MailboxReader:
    """The reader of a mailbox."""

    game: str
    mailbox: int
    players: Sequence[str] = ()
    """Possible ids of the reader in the seat; marks are kept for the first."""
    passed_on: bool = False
    """The terms let whoever holds the seat read all of it."""
    blocked: Collection[str] = ()
    """Players blocked by the reader."""
    for_report: bool = False
    """Reads messages held by an open report, also texts erased since."""
    upto: tuple[int, int] | None = None
    """Newest version and time that a spectator of a table with a delay may know; None: no limit."""

    def may_read(self, entry: Entry) -> bool:
        """Return whether the text is for this reader."""
        if entry.author in self.blocked:
            return False
        return entry.conversation == TABLE or self.passed_on or entry.holder in self.players


def _own_letters(reader: MailboxReader) -> str:
    """Return the condition for talk of the table, and letters of the reader's own time in the seat."""
    return f"(e.conversation = 'table' OR e.player IN ({placeholders(reader.players)}))"


def conversation_of(seats: Iterable[Seat]) -> str:
    """Return the conversation of a letter between these seats."""
    return "-".join(map(str, sorted({*seats})))


class NoteDoc(TypedDict):
    game: str
    place: str
    text: str
    at: int


class TalkStore:
    """The tables of talk."""

    def __init__(
        self, database: Database, keys: Callable[[], Keyring], anchors: MailboxAnchors, clock: Callable[[], int]
    ) -> None:
        self._database, self._ring, self.anchors, self._clock = database, keys, anchors, clock

    @property
    def _keys(self) -> Keyring:
        return self._ring()

    def migrate(self) -> None:
        """Create missing tables. Safe to repeat."""
        create_tables(self._database, (*_TABLES, *disclosures.TABLES, *message_reports.TABLES, *silences.TABLES))

    # --- writing

    def post(self, post: Post, key: IdempotencyKey | None = None) -> tuple[int, bool]:
        """Store a message; return its place in the writer's mailbox, and whether the same request stored it before.

        Raise RuleError `too_many` above the allowance of the seat, and CommandReused.
        """
        self._keys.request_key()  # read from the same database: before the transaction
        found: list[tuple[int, bool]] = []
        told: list[tuple[int, list[str]]] = []

        def work(execute: Execute) -> None:
            found.clear()
            told.clear()
            if key is not None and (before := self._find_repeated(execute, post.game, post.seat, key)):
                found.append((before, True))
                return
            rows = execute("SELECT state FROM talk_tables WHERE game = ?", (post.game,))
            state = json.loads(rows[0][0]) if rows else _new_state(post.seats)
            at = max(self._clock(), state["at"])
            _charge(state, post.seat, at)
            entry = self._insert(execute, post, key, state, at)
            found.append((entry, False))
            told.append((state["count"], state["heads"]))

        self._database.run_in_append_order(work)
        for count, heads in told:
            self.anchors.note(post.game, count, heads)
        return found[0]

    def find_repeated(self, game: str, seat: Seat, key: IdempotencyKey) -> int | None:
        """Return the place of the message of an earlier request with this key, which may be refused by now.

        Raise CommandReused for another request.
        """
        return self._find_repeated(self._database.execute, game, seat, key)

    def _find_repeated(self, execute: Execute, game: str, seat: Seat, key: IdempotencyKey) -> int | None:
        """Return the place of the message of an earlier request with this key; raise CommandReused for another one."""
        rows = execute(_FOUND, (game, key.id))
        if not rows:
            if execute(_BOUND, (game.replace("-", ""), key.id)):
                raise CommandReused(key.id)
            return None
        query = "SELECT entry FROM talk_entries WHERE game = ? AND mailbox = ? AND number = ?"
        ((entry,),) = execute(query, (game, seat, rows[0][0]))
        payload = self._read_payload(game, execute(f"{_READ} AND e.entry = ?", (game, seat, entry))[0])
        if payload is not None and payload["request"] != key.fingerprint:
            raise CommandReused(key.id)
        return int(entry)

    def _insert(self, execute: Execute, post: Post, key: IdempotencyKey | None, state: Doc, at: int) -> int:
        """Write a message and its entries, and change the state of the mailboxes; return the writer's place."""
        state["count"] += 1
        state["at"] = at
        message = {
            "game": post.game,
            "kind": TABLE if post.conversation == TABLE else "private",
            "from": post.seat,
            "to": sorted(post.holders),
            "at": at,
            "version": post.seen[0],
            "seen": post.seen[1],
            "text": post.text,
            "references": list(post.references),
            "nonce": secrets.token_hex(32),
        }
        message |= {"regions": list(post.regions)} if post.regions else {}
        message |= {"quotes": [commitment for _, commitment in post.quotes]} if post.quotes else {}
        number = state["count"]
        if post.treaty is not None:
            message["treaty"] = post.treaty
            execute(
                "INSERT INTO talk_treaties VALUES (?, ?, ?, ?)", (post.game, number, post.seat, post.treaty["ends"])
            )
        if post.answer is not None:
            message["answer"] = self._insert_answer(execute, post, number, at)
        commitment = commitment_of(message)
        own = secrets.token_bytes(32)
        quoted = {"quoted": [quote for quote, _ in post.quotes]} if post.quotes else {}
        payload = canonical({"message": message, "request": key.fingerprint if key else "", **quoted})
        nonce = secrets.token_bytes(_NONCE)
        sealed = nonce + AESGCM(own).encrypt(nonce, payload + b" " * (-len(payload) % PAD), str(number).encode())
        boxed = self._keys.seal(post.game, f"talk|{number}", own)
        values = (post.game, number, key.id if key else "", post.seat, post.player, post.version, at, commitment)
        execute(_INSERT, (*values, sealed.hex()))
        execute("INSERT INTO talk_keys VALUES (?, ?, ?)", (post.game, number, boxed.hex()))
        rows: list[object] = []
        public = {SPECTATORS: ""} if post.conversation == TABLE else {}
        for mailbox, holder in {**post.holders, **public}.items():
            state["sizes"][mailbox] += 1
            rows += [post.game, mailbox, state["sizes"][mailbox], number, post.conversation, holder, post.player]
            if mailbox != SPECTATORS:
                state["heads"][mailbox] = next_head(state["heads"][mailbox], commitment)
        marks = ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * (len(rows) // 7))
        execute(f"INSERT INTO talk_entries VALUES {marks}", rows)  # noqa: S608 - question marks only
        execute(_STATE, (post.game, json.dumps(state, separators=(",", ":"))))
        if key is not None:  # a random value: a keyed hash of the text would confirm a guess after its erasure
            execute(_BIND, (post.game.replace("-", ""), key.id, secrets.token_hex(32)))
        return int(state["sizes"][post.seat])

    def _insert_answer(self, execute: Execute, post: Post, reply: int, at: int) -> Doc:
        """Store an answer to a treaty; return it as its message has it. Raise RuleError."""
        number, answer = post.answer or (0, "")
        found = execute(_TREATY, (post.game, number))
        if not found or found[0][0] == post.seat:
            raise RuleError("no_treaty")
        _, ends, commitment = found[0]
        if execute(
            "SELECT 1 FROM talk_answers WHERE game = ? AND number = ? AND seat = ?", (post.game, number, post.seat)
        ):
            raise RuleError("treaty_answered")
        if at > ends:
            raise RuleError("treaty_expired", "", {"ended": ends})
        row = (post.game, number, post.seat, answer, reply, post.version)
        execute("INSERT INTO talk_answers VALUES (?, ?, ?, ?, ?, ?)", row)
        return {"to": commitment, "answer": answer}

    # --- treaties

    def list_answers(self, reader: MailboxReader, numbers: Sequence[int]) -> dict[int, list[TreatyAnswer]]:
        """Return the answers to the treaties of these messages, in order, as far as the reader may know them."""
        if not numbers:
            return {}
        query = f"""
SELECT a.number, a.seat, a.answer, a.version FROM talk_answers a
JOIN talk_messages m ON m.game = a.game AND m.number = a.reply
WHERE a.game = ? AND m.version <= ? AND m.at <= ? AND a.number IN ({placeholders(numbers)}) ORDER BY a.reply"""  # noqa: S608 - question marks only
        found: dict[int, list[TreatyAnswer]] = {}
        for number, *row in self._database.execute(query, (reader.game, *(reader.upto or _ALL), *numbers)):
            found.setdefault(int(number), []).append(TreatyAnswer(*row))
        return found

    def list_answered(self, reader: MailboxReader, numbers: Sequence[int]) -> dict[int, int]:
        """Return for messages that answer a treaty the place of the treaty in the reader's mailbox."""
        if not numbers:
            return {}
        place, mailbox = ("a.number", "") if reader.mailbox == PUBLISHED else ("e.entry", " AND e.mailbox = ?")
        query = f"""
SELECT a.reply, min({place}) FROM talk_answers a JOIN talk_entries e ON e.game = a.game AND e.number = a.number{mailbox}
WHERE a.game = ? AND a.reply IN ({placeholders(numbers)}) GROUP BY a.reply"""  # noqa: S608 - question marks only
        params = [*([reader.mailbox] if mailbox else []), reader.game, *numbers]
        return {int(reply): int(entry) for reply, entry in self._database.execute(query, params)}

    def find_places(self, reader: MailboxReader, numbers: Sequence[int]) -> dict[int, int]:
        """Return the places of messages with these numbers in the reader's mailbox."""
        if not numbers or reader.mailbox == PUBLISHED:
            return {number: number for number in numbers}
        query = f"SELECT number, entry FROM talk_entries WHERE game = ? AND mailbox = ? AND number IN ({placeholders(numbers)})"  # noqa: S608, E501 - question marks only
        rows = self._database.execute(query, (reader.game, reader.mailbox, *numbers))
        return {int(number): int(entry) for number, entry in rows}

    def list_unanswered(self, prefix: str, limit: int) -> list[tuple[str, Seat, int]]:
        """Return game, seat and place of open treaties to players whose ids begin so and who have not answered."""
        query = """
SELECT t.game, e.mailbox, e.entry FROM talk_treaties t
JOIN talk_entries e ON e.game = t.game AND e.number = t.number AND e.mailbox >= 0 AND e.mailbox <> t.seat
WHERE t.ends > ? AND e.player LIKE ? AND NOT EXISTS (
  SELECT 1 FROM talk_answers a WHERE a.game = t.game AND a.number = t.number AND a.seat = e.mailbox)
ORDER BY t.ends LIMIT ?"""
        rows = self._database.execute(query, (self._clock(), f"{prefix}%", limit))
        return [(str(game), int(mailbox), int(entry)) for game, mailbox, entry in rows]

    # --- reading

    def list_entries(
        self,
        reader: MailboxReader,
        conversation: str = "",
        *,
        after: int = 0,
        before: int = 0,
        limit: int = 50,
        whole: bool = False,
    ) -> list[Entry]:
        """Return entries of a mailbox in order: the first ones after a place, or with `before` the last ones before.

        A letter of a time at which somebody else held the seat is none of the reader's. Only the proof of a `whole`
        mailbox counts it.
        """
        place = "number" if reader.mailbox == PUBLISHED else "entry"
        query, params = (
            (_READ_PUBLISHED, [reader.game]) if place == "number" else (_READ, [reader.game, reader.mailbox])
        )
        for condition, value in (("conversation = ?", conversation), (f"{place} > ?", after), (f"{place} < ?", before)):
            if value:
                query, params = f"{query} AND e.{condition}", [*params, value]
        if reader.upto is not None:
            query, params = f"{query} AND m.version <= ? AND m.at <= ?", [*params, *reader.upto]
        if reader.mailbox >= 0 and not (reader.passed_on or whole):
            own, params = _own_letters(reader), [*params, *reader.players]
            query = f"{query} AND {own}"
        order = "DESC" if before else "ASC"
        rows = self._database.execute(f"{query} ORDER BY e.{place} {order} LIMIT ?", (*params, limit))
        return [self._open(reader, row) for row in (reversed(rows) if before else rows)]

    def find_entry(self, reader: MailboxReader, entry: int) -> Entry | None:
        """Return one entry of a mailbox, or None."""
        return next(iter(self.list_entries(reader, after=entry - 1, before=entry + 1, limit=1)), None)

    def _open(self, reader: MailboxReader, row: Row) -> Entry:
        entry, conversation, holder, number, seat, author, version, at, commitment, _, erased, _ = row
        closed = Entry(entry, conversation, holder, seat, author, version, at, commitment, erased, None, number)
        if not reader.may_read(closed) or (erased and not reader.for_report):
            return closed
        payload = self._read_payload(reader.game, row)
        return (
            closed if payload is None else closed._replace(message=payload["message"], quotes=payload.get("quoted", ()))
        )

    def _read_payload(self, game: str, row: Row) -> Doc | None:
        number, sealed, boxed = row[3], row[9], row[11]
        if boxed is None:
            return None
        box = bytes.fromhex(sealed)
        try:
            own = self._keys.open(game, f"talk|{number}", bytes.fromhex(boxed))
            doc: Doc = json.loads(AESGCM(own).decrypt(box[:_NONCE], box[_NONCE:], str(number).encode()))
        except (ValueError, InvalidTag):  # altered at rest
            return None
        return doc

    def list_conversations(self, reader: MailboxReader) -> list[ConversationSummary]:
        """Return the conversations with a message in this mailbox, the last one first."""
        if reader.mailbox == SPECTATORS:
            entries = self.list_entries(reader, TABLE, before=1 << 62, limit=1)
            return [ConversationSummary(TABLE, each.entry, 0, muted=False) for each in entries]
        if reader.mailbox == PUBLISHED:
            query = "SELECT conversation, max(number) FROM talk_entries WHERE game = ? GROUP BY conversation"
            rows = self._database.execute(f"{query} ORDER BY 2 DESC", (reader.game,))
            return [ConversationSummary(conversation, last, 0, muted=False) for conversation, last in rows]
        own, blocked = list(reader.players), sorted(reader.blocked)
        player = own[0] if own else ""
        foreign = f"e.author NOT IN ({placeholders([*own, *blocked, ''])})"
        query = f"""
SELECT e.conversation, max(e.entry), sum(CASE WHEN e.entry > coalesce(m.seen, 0) AND {foreign} THEN 1 ELSE 0 END),
  max(coalesce(m.muted, 0)) FROM talk_entries e LEFT JOIN talk_marks m ON m.game = e.game AND m.mailbox = e.mailbox
  AND m.conversation = e.conversation AND m.player = ? WHERE e.game = ? AND e.mailbox = ?"""  # noqa: S608 - question marks only
        params: list[object] = [*own, *blocked, "", player, reader.game, reader.mailbox]
        if not reader.passed_on:
            query, params = f"{query} AND {_own_letters(reader)}", [*params, *own]
        rows = self._database.execute(f"{query} GROUP BY e.conversation ORDER BY 2 DESC", params)
        return [ConversationSummary(name, last, unread, muted=bool(muted)) for name, last, unread, muted in rows]

    def conversation_id(self, reader: MailboxReader, conversation: str) -> str:
        """Return the id of a conversation for this mailbox alone, so URLs and logs name no seats."""
        if conversation == TABLE:
            return TABLE
        return self.anchors.keyed_hash(reader.game, f"conversation|{reader.mailbox}|{conversation}")[:16]

    def find_conversation(self, reader: MailboxReader, id_: str) -> str | None:
        """Return the conversation with this id, or None if this mailbox has none."""
        if id_ == TABLE:
            return TABLE
        known = [each.conversation for each in self.list_conversations(reader)]
        return next((each for each in known if self.conversation_id(reader, each) == id_), None)

    def last_entry(self, reader: MailboxReader) -> int:
        """Return the place of the last message known to this reader, or 0."""
        return max((each.last for each in self.list_conversations(reader)), default=0)

    def list_last_entries(self, players: Sequence[str], blocked: Sequence[str] = ()) -> dict[tuple[str, Seat], int]:
        """Return the place of the last message of others in each mailbox of a person with these ids."""
        query = f"""
SELECT game, mailbox, max(entry) FROM talk_entries WHERE player IN ({placeholders(players)})
  AND author NOT IN ({placeholders([*players, *blocked])}) AND mailbox >= 0 GROUP BY game, mailbox"""  # noqa: S608 - question marks only
        rows = self._database.execute(query, (*players, *players, *blocked))
        return {(str(game), int(mailbox)): int(last) for game, mailbox, last in rows}

    def list_mailboxes(self, game: str, players: Sequence[str]) -> list[Seat]:
        """Return the seats with messages to a person with these ids in their mailboxes."""
        query = f"SELECT DISTINCT mailbox FROM talk_entries WHERE game = ? AND player IN ({placeholders(players)})"  # noqa: S608 - question marks only
        return sorted(int(mailbox) for (mailbox,) in self._database.execute(query, (game, *players)) if mailbox >= 0)

    def mark_read(self, reader: MailboxReader, conversation: str, entry: int) -> None:
        """Store how far a person has read a conversation; it never goes back."""
        self._database.execute(_MARK, (reader.game, reader.mailbox, reader.players[0], conversation, entry))

    def mute(self, reader: MailboxReader, conversation: str, *, muted: bool) -> None:
        """Mute a conversation for a person, or unmute it."""
        self._database.execute(_MUTE, (reader.game, reader.mailbox, reader.players[0], conversation, int(muted)))

    # --- proofs

    def list_commitments(self, game: str, seat: Seat) -> list[str]:
        """Return the commitments of a mailbox in order."""
        query = """
SELECT m.commitment FROM talk_entries e JOIN talk_messages m ON m.game = e.game AND m.number = e.number
WHERE e.game = ? AND e.mailbox = ? ORDER BY e.entry"""
        return [str(commitment) for (commitment,) in self._database.execute(query, (game, seat))]

    def find_anchors(self, game: str, seat: Seat, seats: int, roots: Sequence[str]) -> list[Doc]:
        """Return for each record, by its root, the blind and path of a seat, and how many of its entries it anchors.

        One number of messages fixes the heads of all mailboxes: it is found by comparing roots.
        """
        query = """
SELECT e.number, e.mailbox, m.commitment FROM talk_entries e
JOIN talk_messages m ON m.game = e.game AND m.number = e.number
WHERE e.game = ? AND e.mailbox >= 0 ORDER BY e.number, e.mailbox"""
        heads, sizes = [(EMPTY,) * seats], [0]
        for number, mailbox, commitment in self._database.execute(query, (game,)):
            if number == len(heads):
                heads.append(heads[-1])
                sizes.append(sizes[-1])
            row = list(heads[number])
            row[mailbox] = next_head(row[mailbox], commitment)
            heads[number] = tuple(row)
            sizes[number] += mailbox == seat
        anchors, last = [], 0
        for version, root in enumerate(roots, 1):
            tried = [last, 0, *range(last + 1, len(heads)), *range(last - 1, 0, -1)]
            number = next((n for n in tried if root_of(self.anchors.leaves(game, version, heads[n])) == root), None)
            if number is None:
                continue  # another ring, or a record of another service
            last = number or last
            leaves = self.anchors.leaves(game, version, heads[number])
            blind = self.anchors.blind(game, version, seat)
            anchors.append({"v": version, "entry": sizes[number], "blind": blind, "path": path_of(leaves, seat)})
        return anchors

    # --- notes of a seat's player

    def set_note(self, game: str, player: str, place: str, text: str) -> None:
        """Store a person's note about a table or a region of it; an empty text deletes it."""
        if not text:
            self._database.execute(
                "DELETE FROM talk_notes WHERE game = ? AND player = ? AND place = ?", (game, player, place)
            )
            return
        payload = canonical(text)
        sealed = self._keys.seal(game, f"note|{player}|{place}", payload + b" " * (-len(payload) % PAD))
        self._database.execute(_NOTE, (game, player, place, sealed.hex(), self._clock()))

    def list_notes(self, players: Sequence[str], game: str = "") -> list[NoteDoc]:
        """Return the notes of a person with these ids, of one table or of all."""
        query = f"SELECT game, player, place, sealed, at FROM talk_notes WHERE player IN ({placeholders(players)})"  # noqa: S608 - question marks only
        query += " AND game = ?" if game else ""
        rows = self._database.execute(f"{query} ORDER BY game, place", (*players, *([game] if game else [])))
        return [
            {
                "game": of,
                "place": place,
                "at": at,
                "text": json.loads(self._keys.open(of, f"note|{player}|{place}", bytes.fromhex(sealed))),
            }
            for of, player, place, sealed, at in rows
        ]

    # --- erasure

    def erase(self, players: Sequence[str]) -> list[Statement]:
        """Return statements to delete the keys of all messages of a person with these ids, and their notes.

        A message held by an open report is unreadable at once, and its key goes when the report is settled.
        """
        marks = placeholders(players)
        own = f"SELECT 1 FROM talk_messages m WHERE m.game = talk_keys.game AND m.number = talk_keys.number AND m.player IN ({marks})"  # noqa: S608, E501 - question marks only
        kept, sealed = message_reports.HELD.format("talk_keys"), message_reports.HELD.format("talk_messages")
        changed = f"erased = 'account', sealed = CASE WHEN EXISTS ({sealed}) THEN sealed ELSE '' END, player = ''"
        return [
            *message_reports.erase_reports(players),
            (f"DELETE FROM talk_keys WHERE EXISTS ({own}) AND NOT EXISTS ({kept})", players),  # noqa: S608 - question marks only
            (f"UPDATE talk_messages SET {changed} WHERE player IN ({marks})", players),  # noqa: S608 - question marks only
            (f"UPDATE talk_entries SET author = '' WHERE author IN ({marks})", players),  # noqa: S608 - question marks only
            (f"DELETE FROM talk_marks WHERE player IN ({marks})", players),  # noqa: S608 - question marks only
            (f"DELETE FROM talk_notes WHERE player IN ({marks})", players),  # noqa: S608 - question marks only
            disclosures.erase_disclosures(players),
            silences.erase_silences(players),
        ]

    def erase_message(self, game: str, seat: Seat, entry: int, reason: str) -> bool:
        """Delete the key of one message, in whichever mailbox it is; return whether it was there."""
        query = "SELECT number FROM talk_entries WHERE game = ? AND mailbox = ? AND entry = ?"
        numbers = self._database.execute(query, (game, seat, entry))
        for (number,) in numbers:
            self._erase_numbers(game, [number], reason)
        return bool(numbers)

    def list_tables(self, after: str, limit: int) -> list[str]:
        """Return tables with messages, by their id, after one of them."""
        query = "SELECT game FROM talk_tables WHERE game > ? ORDER BY game LIMIT ?"
        return [str(game) for (game,) in self._database.execute(query, (after, limit))]

    def erase_expired(self, games: Sequence[str]) -> int:
        """Delete the keys of all messages of tables past their retention; return their number."""
        erased = 0
        for game in games:
            held = message_reports.HELD.format("talk_keys")
            query = f"SELECT number FROM talk_keys WHERE game = ? AND NOT EXISTS ({held})"  # noqa: S608 - our own names
            numbers = [number for (number,) in self._database.execute(query, (game,))]
            self._erase_numbers(game, numbers, "retention")
            erased += len(numbers)
        return erased

    def _erase_numbers(self, game: str, numbers: Sequence[int], reason: str) -> None:
        def work(execute: Execute) -> None:
            for number in numbers:
                execute("DELETE FROM talk_keys WHERE game = ? AND number = ?", (game, number))
                execute(_ERASED, (reason, game, number))

        if numbers:
            self._database.run_in_append_order(work)
            self._database.scrub_deleted_pages()

    def list_own(self, players: Sequence[str]) -> list[Doc]:
        """Return all messages by a person with these ids."""
        query = f"""
SELECT e.game, e.mailbox, e.entry FROM talk_entries e JOIN talk_messages m ON m.game = e.game AND m.number = e.number
WHERE m.player IN ({placeholders(players)}) AND e.mailbox = m.seat ORDER BY e.game, e.entry"""  # noqa: S608 - question marks only
        found = []
        for game, mailbox, entry in self._database.execute(query, players):
            each = self.find_entry(MailboxReader(game, mailbox, players, passed_on=True), entry)
            found += [each.message] if each and each.message else []
        return found


def _new_state(seats: int) -> Doc:
    """Return the state of mailboxes without messages; the last size belongs to the spectators' mailbox."""
    return {"count": 0, "at": 0, "heads": [EMPTY] * seats, "sizes": [0] * (seats + 1), "left": {}}


def _charge(state: Doc, seat: Seat, at: int) -> None:
    """Charge a message to the allowance of a seat; raise RuleError `too_many` with the seconds to wait."""
    left, since = state["left"].get(str(seat), (BURST, at))
    left = min(BURST, left + max(0, at - since) * RATE_PER_MINUTE / 60_000)
    if left < 1:
        wait = (1 - left) * 60 / RATE_PER_MINUTE
        raise RuleError("too_many", "", {"seconds": int(wait) + 1, "most": RATE_PER_MINUTE})
    state["left"][str(seat)] = [round(left - 1, 4), at]
