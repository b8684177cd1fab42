"""The aggregate: a game as it is after its records, with its state, its players and its time.

The projector is `fold`: it applies facts and never runs `decide`. The line after rewinds goes back; what belongs to the
game goes on.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from domain.errors import VerificationError
from domain.kernel.game.deadlines import (
    NO_PACE,
    SECOND,
    Account,
    Clock,
    Pace,
    accounts_of,
    charge,
    deadline_of,
    dues,
    hold,
    moved,
    pace_of,
    rest,
    running,
    shift,
    shifted,
    tick,
)
from domain.kernel.records.audience import ALL_KEY
from domain.kernel.records.record import PackHead, Record, facts_for
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.flow import Frame, S, State, assign, evolved
from domain.kernel.rules.meta import Table
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.canonical_json import digest, digest_of
from domain.kernel.schema.declarations import Part
from domain.kernel.schema.json_codec import Encoder, Hint, encoder, hints
from domain.types import DIRECTOR, Doc, Json, Seat, Viewer

S_co = TypeVar("S_co", bound=State, covariant=True)

SEATING = ("joined", "left", "revealed")
"""Kinds of records that change who sits at the table."""


TERMS = ("undo", "listing", "hold", "several", "delay")
"""Who must agree to an undo; who finds the table; for how many seconds a seat that is left is held; whether one person
may have several seats (so it was before tables said it); how many seconds later others see what is played."""


Digests = Mapping[str, tuple[object, str]]
"""Field of a state -> (object, its digest)."""


@dataclass(frozen=True)
class Player:
    """Who sits at a seat: an opaque id, and what the seat adds to the seed."""

    id: str
    nonce_hash: str = ""
    nonce: str = ""
    """Hex; empty until shown. A seat that does not show its nonce plays without one."""


BOT = re.compile(r"bot-(?P<bot>[a-z]{1,20})-[0-9]{1,2}")
"""The ids of players who are bots of the service: which bot, at which seat. No person has such an id."""


def bot_of(player: Player) -> str:
    """Which bot it is; empty for a person."""
    found = BOT.fullmatch(player.id)
    return found["bot"] if found else ""


@dataclass(frozen=True)
class Game(Generic[S_co]):
    """A game after a record. state, counts, sealed and last go back with a rewind; the rest belongs to the game."""

    id: str
    ruleset: str
    table: Table
    seed_hash: str
    state: S_co
    status: str = "open"
    """open (seats are taken), running, over (the rules are done), closed (the seed is shown)."""
    version: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    """Channel -> next ordinal of its draws."""
    sealed: Mapping[str, tuple[int, Doc]] = field(default_factory=dict)
    """Key of a named pack not yet published -> version and pack."""
    rewinds: int = 0
    epoch: int = 0
    players: Mapping[int, Player] = field(default_factory=dict)
    terms: Mapping[str, Json] = field(default_factory=dict)
    """What the table agreed on beside ruleset, seats and options: `TERMS`, as far as its record has them."""
    pace: Pace = NO_PACE
    clocks: tuple[Clock, ...] = ()
    accounts: tuple[Account, ...] = ()
    """What each seat has of its own: a bank of time, days of vacation, holds."""
    opened: int = 0
    """When, ms."""
    waiting: int = 0
    """Since when the open decision waits, ms."""
    last: Record | None = None
    """The last record."""
    board: str = ""
    """Digest of the public sight."""
    at: int = 0
    """Time of the last record, ms."""
    digests: Digests = field(default_factory=dict, compare=False, repr=False)
    """Field of the state -> (object, digest): a field is hashed again only when it is another object."""

    @property
    def hash(self) -> str:
        """Hash of the last record; made when it is asked for, since a fold needs only the last one's."""
        return self.last.hash if self.last else ""

    @property
    def delay(self) -> int:
        """By how much later those who are not at the table see what is played, ms."""
        return int(self.terms.get("delay", 0)) * SECOND

    @property
    def kept(self) -> tuple[Seat, ...]:
        """The seats that nobody has and that are not vacant: they are held, or were until now."""
        if self.status != "running":
            return ()
        return tuple(s for s, player in self.players.items() if not player.id and s not in self.state.vacant)

    @property
    def timed(self) -> bool:
        """Whether anything in it is due at some time: deadlines, the end of a hold, that nobody starts it."""
        held = any(account.held > self.at for account in self.accounts)
        return self.status == "open" or (self.status == "running" and (bool(self.pace.seconds) or held))

    @property
    def finished(self) -> bool:
        """Whether the rules have ended it: only then are there final places."""
        return self.status in ("over", "closed") and self.state.over

    @property
    def ending(self) -> Doc | None:
        """How it was closed: `reason`, `by` whom (engine, director, clock), `finished` by the rules; None before."""
        if self.status != "closed" or self.last is None:
            return None
        reason, by = self.last.body["reason"], self.last.public.get("by")
        by = by or ("engine" if reason == "finished" else "director")
        return {"reason": reason, "by": by, "finished": self.finished}

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames whose decisions may be open: none unless the game is running."""
        return self.state.frames if self.status == "running" else ()

    @property
    def clock(self) -> Clock | None:
        """The one that runs."""
        return running(self.clocks, self.frames)

    @property
    def deadline(self) -> int | None:
        """Of the open decision, before grace, banks and vacations; None while no clock runs."""
        return self.clock.deadline if self.clock else None

    def deadlines(self, seats: Iterable[Seat]) -> list[int]:
        """Theirs, before grace and bank."""
        clock = self.clock
        found = [deadline_of(clock, self.accounts[seat]) for seat in seats] if clock else []
        return [at for at in found if at is not None]

    def dues(self, seats: Iterable[Seat], *, alone: bool = False) -> dict[Seat, int]:
        """When the default of each is played, if it owes the open decision; nothing while no clock runs.

        Of a secret decision that of all who were asked; with `alone` each seat's own.
        """
        return dues(self.pace, self.clocks, self.frames, seats, self.accounts, self.at, alone=alone)


AnyGame = Game[State]
"""A game of whichever rules."""


def nonces(p: Game[S]) -> dict[int, str]:
    """The nonces that were shown, by seat."""
    return {seat: player.nonce for seat, player in p.players.items() if player.nonce}


def public_digest(rules: Ruleset[S], state: S) -> str:
    """Digest of what everybody sees: the public sight and the open decisions."""
    seen = {"sight": rules.board(state), "decisions": [d.to_json() for d in decisions(rules, state)]}
    return digest_of(seen)[:32]


def state_digest(state: State, known: Digests) -> tuple[str, Digests]:
    """Digest of the whole state, made per field; `known` are the digests of the state before."""
    made, values = dict(known), state.__dict__
    kind: Hint = type(state)
    for name, encode in _encoders(kind):
        value, old = values[name], known.get(name)
        if old is None or old[0] is not value:
            made[name] = value, digest_of(encode(value) if encode else value)
    return digest({n: d for n, (_, d) in made.items()})[:32], made


@functools.cache
def _encoders(kind: Hint) -> tuple[tuple[str, Encoder | None], ...]:
    return tuple((name, encoder(hint, False)) for name, hint in hints(kind).items())


def line(records: Iterable[Record]) -> list[int]:
    """The versions that count after the rewinds, ascending; a rewind itself counts."""
    out: list[int] = []
    for r in records:
        if r.kind == "rewound":
            to = r.body["to"]
            while out and out[-1] > to:
                out.pop()
        out.append(r.version)
    return out


def opened(rules: Ruleset[S], record: Record) -> Game[S]:
    """The game after the first record."""
    body = record.body
    table = Table(body["seats"], body["options"])
    pace, at = pace_of(rules.meta, body.get("pace")), record.at
    return Game(
        body["game"],
        body["ruleset"],
        table,
        body["seed_hash"],
        rules.blank(table),
        version=record.version,
        last=record,
        terms={k: body[k] for k in TERMS if k in body},
        pace=pace,
        accounts=accounts_of(pace, table.seats),
        opened=at,
        waiting=at,
        at=at,
    )


def _players(p: Game[S], record: Record) -> Mapping[int, Player]:
    seat, body, players = record.head.seat, record.body, p.players
    if record.kind == "joined" and seat is not None:
        kept = players[seat].nonce if seat in players else ""
        return {**players, seat: Player(body["player"], body.get("nonce_hash", ""), kept)}
    if record.kind == "revealed" and seat is not None:
        return {**players, seat: replace(players[seat], nonce=body["nonce"])}
    if record.kind == "left" and p.status == "open":
        return {s: player for s, player in players.items() if s != seat}
    if record.kind == "left" and seat is not None:
        return {**players, seat: replace(players[seat], id="")}
    return players


def _status(before: str, kind: str, state: State) -> str:
    if kind == "closed":
        return "closed"
    if kind == "started" or before != "open":
        return "over" if state.over else "running"
    return before


def advance(rules: Ruleset[S], p: Game[S], record: Record, state: S | None = None) -> Game[S]:
    """The game after one more record that is no rewind. Who has just decided passes the state it has."""
    if state is None:
        facts, packs = rules.read_record(record)
        state = evolved(p.state, facts)
    else:
        packs = record.heads
    head = record.head
    kind, at, before = head.kind, head.at, p.state.frames
    status = _status(p.status, kind, state)
    frames: tuple[Frame, ...] = state.frames if status == "running" else ()
    same = bool(frames and before) and frames[-1].n == before[-1].n and kind != "rewound"
    clocks, accounts = _timed(rules, p, record, frames, same)
    return assign(
        p,
        state=state,
        status=status,
        clocks=clocks,
        accounts=accounts,
        waiting=p.waiting + _set_forward(record) if same else at,
        counts=_counts(p, record, packs),
        sealed=_sealed(p, record, packs),
        players=_players(p, record) if kind in SEATING else p.players,
        version=head.v,
        last=record,
        board=p.board if head.board is None else head.board,
        at=at,
    )


def _timed(
    rules: Ruleset[S], p: Game[S], record: Record, frames: tuple[Frame, ...], same: bool
) -> tuple[tuple[Clock, ...], tuple[Account, ...]]:
    """Clocks and accounts after the record, which leaves these frames; `same`: the top one was so before."""
    clocks, accounts, at, kind = p.clocks, p.accounts, record.head.at, record.head.kind
    if ms := _set_forward(record):  # up to then time has run as ever
        accounts = charge(accounts, clocks, p.state.frames, p.at, at - ms)
        return shifted(clocks, ms), tuple(shift(account, ms) for account in accounts)
    if kind == "ruled" and record.body.get("act") == "extend" and p.state.frames:
        clocks = moved(clocks, p.state.top.timer, record.body["ms"])
    if clocks and p.pace.bank:
        accounts = charge(accounts, clocks, p.state.frames, p.at, at)
    if kind in _OWN and p.status == "running":
        accounts = _account(accounts, record)
    if p.pace.seconds and not (same and running(clocks, frames)):
        clocks = tick(rules.meta, p.pace, clocks, frames, at, accounts)
    return clocks, accounts


def _set_forward(record: Record) -> int:
    """By how much time itself was set forward, ms."""
    head = record.head
    return int(head.body["ms"]) if head.kind == "ruled" and head.body.get("act") == "shift" else 0


_OWN = ("rested", "left", "joined", "ruled")
"""Kinds of records that may change an account."""


def _account(accounts: tuple[Account, ...], record: Record) -> tuple[Account, ...]:
    """The accounts after a vacation, a hold or the end of one."""
    head, body = record.head, record.body
    kind, at, seat = head.kind, head.at, -1 if head.seat is None else head.seat
    if kind == "rested":
        new = rest(accounts[seat], body["days"], at)
    elif "hold" in body and (kind == "ruled" or accounts[seat].held < at + body["hold"] * SECOND):
        new = hold(accounts[seat], body["hold"], at)
    elif kind == "joined" and accounts[seat].held > at:
        new = hold(accounts[seat], 0, at)
    else:
        return accounts
    return (*accounts[:seat], new, *accounts[seat + 1 :])


def _counts(p: AnyGame, record: Record, packs: Mapping[str, PackHead]) -> Mapping[str, int]:
    counts = p.counts
    if drawn := record.head.draws:
        counts = {**counts, ALL_KEY: drawn[-1][0] + 1}
    for key, pack in packs.items():
        if drawn := pack.draws:
            counts = {**counts, key: drawn[-1][0] + 1}
    return counts


def _sealed(p: AnyGame, record: Record, packs: Mapping[str, PackHead]) -> Mapping[str, tuple[int, Doc]]:
    sealed = p.sealed
    for key in packs:
        if ":" in key:
            sealed = {**sealed, key: (record.version, record.packs[key])}
    if openings := record.head.openings:
        shown = {opening["key"] for opening in openings}
        sealed = {key: pack for key, pack in sealed.items() if key not in shown}
    return sealed


def rewound(rules: Ruleset[S], p: Game[S], target: Game[S], record: Record) -> Game[S]:
    """The game after a rewind: the line goes back to `target`, the game's own counters go on."""
    fresh = record.body.get("entropy") == "fresh"
    back = replace(
        target,
        rewinds=p.rewinds + 1,
        epoch=p.epoch + fresh,
        players=p.players,
        accounts=charge(p.accounts, p.clocks, p.state.frames, p.at, record.at),
        clocks=(),
        digests=p.digests,
    )
    return advance(rules, back, record)


def fold(rules: Ruleset[S], records: Sequence[Record], upto: int | None = None) -> Game[S]:
    """The game after the records 1..upto (all unless given), rewinds followed."""
    kept = records if upto is None else [r for r in records if r.version <= upto]
    if not kept or kept[0].kind != "opened":
        raise VerificationError("no_beginning", 1)
    targets = {r.body["to"] for r in kept if r.head.kind == "rewound"}
    game = opened(rules, kept[0])
    marks = {1: game}
    for r in kept[1:]:
        back = marks[r.body["to"]] if r.head.kind == "rewound" else None
        game = rewound(rules, game, back, r) if back else advance(rules, game, r)
        if targets and r.version in targets:
            marks[r.version] = game
    return game


def state_for(rules: Ruleset[S], records: Sequence[Record], viewer: Viewer) -> S:
    """The state folded only from what a viewer may read: its sight is that of the full state, or something leaks."""
    state = opened(rules, records[0]).state
    counted = set(line(records))
    for r in records:
        if r.version in counted:
            state = rules.fold(state, facts_for(r, viewer))
    return state


def shown(rules: Ruleset[S], p: Game[S], viewer: Viewer) -> Part:
    """What a viewer sees besides the board; after the end everybody is shown all."""
    return rules.shown(p.state, DIRECTOR if p.status == "closed" else viewer)
