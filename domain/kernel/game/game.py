"""The aggregate: a game after its records, with its state, its players and its time.

The projector is `fold`: it applies facts and never runs `decide`. A rewind takes the state back; data of the game as a
whole go on.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from domain.errors import VerificationError
from domain.kernel.game.appeals import APPEAL_ACTS, Appeals
from domain.kernel.game.deadlines import (
    NO_DEADLINES,
    SECOND,
    FrameClock,
    TimeBank,
    TimeControl,
    add_thinking_time,
    charge_time_banks,
    due_times,
    hold_seat,
    initial_time_banks,
    move_deadline,
    parse_time_control,
    refill_clock,
    rewind_clocks,
    running_clock,
    seat_deadline,
    shift_clocks,
    shift_time_bank,
    take_vacation,
    tick,
)
from domain.kernel.game.officers import Staff
from domain.kernel.game.playing_time import (
    Pause,
    Pauses,
    begin_pause,
    current_pause,
    end_pause,
    playing_time,
    restore_pause,
    shift_pauses,
)
from domain.kernel.game.rulings import Ruling
from domain.kernel.records.audience import ALL_KEY
from domain.kernel.records.record import PackHead, Record, facts_for
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.flow import Frame, S, State, assign, evolve_all
from domain.kernel.rules.meta import Table
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.canonical_json import digest, struct_digest
from domain.kernel.schema.declarations import Part
from domain.kernel.schema.json_codec import Encoder, Hint, encoder, field_types
from domain.types import DIRECTOR, Doc, Json, Seat, Viewer

S_co = TypeVar("S_co", bound=State, covariant=True)

SEATING = ("joined", "left", "revealed")
"""Kinds of records affecting the seating."""


TERMS = ("undo", "listing", "hold", "several", "delay", "misses", "officers", "appeals", "origin", "imported")
"""Terms of a table: seats required to agree to an undo; visibility of the table in listings; seconds of holding a seat
after its player leaves; permission for one person to have several seats (granted in older records, without the
term); seconds of delay for viewers; missed deadlines on end (`row`) or altogether (`all`) after which a seat counts as
vacant (never in older records, without the term); whether officers must be `neutral` (not in older records);
seconds to appeal against an act of an officer (`appeal`) and to answer (`answer`; no appeals without the term); of a
fork its origin: `game`, `version`, and the hash of that version's record (`head`); of an imported game its id and its
last record's hash in the file.
"""


Digests = Mapping[str, tuple[object, str]]
"""Field of a state -> (object, its digest)."""


@dataclass(frozen=True)
class Player:
    """Player of a seat: an opaque id, and the seat's contribution to the seed."""

    id: str
    nonce_hash: str = ""
    nonce: str = ""
    """Hex; empty until revealed. A seat without a revealed nonce plays without one."""


BOT = re.compile(r"bot-(?P<bot>[a-z]{1,20})-[0-9]{1,2}")
"""Ids of players run by the service: name of the bot, number of the seat. No person has such an id."""


def bot_of(player: Player) -> str:
    """Return the bot's name; empty for a person."""
    match = BOT.fullmatch(player.id)
    return match["bot"] if match else ""


@dataclass(frozen=True)
class Game(Generic[S_co]):
    """A game after a record. state, counts, sealed and last go back with a rewind; the rest belongs to the game."""

    id: str
    ruleset: str
    table: Table
    seed_hash: str
    state: S_co
    status: str = "open"
    """open (seats are taken), running, over (the rules are done), closed (the seed is revealed)."""
    version: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    """Channel -> next ordinal of its draws."""
    sealed: Mapping[str, tuple[int, Doc]] = field(default_factory=dict)
    """Key of a named pack not yet published -> version and pack."""
    rewinds: int = 0
    epoch: int = 0
    players: Mapping[int, Player] = field(default_factory=dict)
    terms: Mapping[str, Json] = field(default_factory=dict)
    """Terms of the table beside ruleset, seats and options: `TERMS` present in its record."""
    time_control: TimeControl = NO_DEADLINES
    clocks: tuple[FrameClock, ...] = ()
    time_banks: tuple[TimeBank, ...] = ()
    """Time bank of each seat: spare time, days of vacation, holds."""
    thinking: tuple[int, ...] = ()
    """Thinking time of each seat, ms; empty without deadlines. It never goes back."""
    undone_from: tuple[int, ...] = ()
    """`thinking` at the first arrival at the open decision, if a free undo went back to it; else empty."""
    granted: tuple[int, ...] = ()
    """Sum by which deadlines of each seat's decisions were moved, ms; empty without deadlines. It never goes back."""
    stakeholders: frozenset[str] = frozenset()
    """All players who have had a seat since the start, also those who have left it."""
    seatings: tuple[tuple[int, Seat, str], ...] = ()
    """Version, seat and new player (empty: none) of each change of players, in order."""
    undone_spans: tuple[tuple[int, int], ...] = ()
    """For each rewind the version that it goes back to, and its own: the versions between are undone."""
    misses: tuple[tuple[int, int], ...] = ()
    """Deadlines missed by the player of each seat: on end, and altogether; empty without the term. Never goes back."""
    former_players: Mapping[Seat, str] = field(default_factory=dict)
    """Seat -> player who left it last, in the running game."""
    fresh_timers: Mapping[Seat, int] = field(default_factory=dict)
    """Seat -> timer of the decision for which somebody who took the seat over was last given the full time."""
    conceded: tuple[tuple[Seat, str], ...] = ()
    """Seat and player of each concession. Never goes back."""
    staff: Staff = field(default_factory=Staff)
    """The officers, as far as records name them. Never goes back."""
    pauses: Pauses = ()
    """Pauses of the game. Never go back."""
    ruling: Ruling | None = None
    """A ruling about the end that was not withdrawn."""
    appeals: Appeals = field(default_factory=Appeals)
    """Acts of officers, and appeals against them; empty without the term. Never go back."""
    opened_at: int = 0
    """Time of the opening, ms."""
    waiting_since: int = 0
    """Time since when the open decision waits, ms."""
    last: Record | None = None
    """The last record."""
    stored_hash: str = field(default="", compare=False)
    """Hash of the last record where the record itself is not at hand; else empty."""
    board: str = ""
    """Digest of the public view."""
    time: int = 0
    """Time of the last record, ms."""
    digests: Digests = field(default_factory=dict, compare=False, repr=False)
    """Field of the state -> (object, digest): a field is hashed again only after its object was replaced."""

    @property
    def hash(self) -> str:
        """Return the hash of the last record; computed on demand, since a fold needs only the last one."""
        return self.last.hash if self.last else self.stored_hash

    @property
    def delay(self) -> int:
        """Return the delay for viewers away from the table, ms."""
        return int(self.terms.get("delay", 0)) * SECOND

    @property
    def unvacated_seats(self) -> tuple[Seat, ...]:
        """Return the seats without a player and not vacant: now or until now on hold."""
        if self.status != "running":
            return ()
        return tuple(s for s, player in self.players.items() if not player.id and s not in self.state.vacant)

    def has_stake(self, player_ids: Iterable[str]) -> bool:
        """Return whether one of these players has, or had, a seat in the running game."""
        has_begun = self.status == "running" or self.pending_ruling is not None
        return has_begun and not self.stakeholders.isdisjoint(player_ids)

    @property
    def pending_ruling(self) -> Ruling | None:
        """Return the ruling about the end, as long as the game is not closed."""
        return self.ruling if self.status == "over" else None

    @property
    def absent_seats(self) -> tuple[Seat, ...]:
        """Return the vacant seats that still have a player, who has missed too many deadlines and may come back."""
        return tuple(s for s in self.state.vacant if s in self.players and self.players[s].id)

    @property
    def is_timed(self) -> bool:
        """Return whether anything in it has a due time: deadlines, the end of a hold or pause, the start."""
        is_held = any(account.hold_end > self.playing_time(self.time) for account in self.time_banks)
        runs_out = is_held or self.current_pause is not None
        waits = self.status == "open" or self.pending_ruling is not None
        return waits or (self.status == "running" and (bool(self.time_control.seconds) or runs_out))

    @property
    def is_finished(self) -> bool:
        """Return whether the rules have ended it: only such a game has final places."""
        return self.status in ("over", "closed") and self.state.over

    @property
    def ending(self) -> Doc | None:
        """Return the closing: `reason`, `by` (engine, director, clock), `finished` by the rules; None before it.

        Of a ruling also `ruling` (its version), `ranked` (there are final places), `forfeits` and `penalties`.
        """
        if self.status != "closed" or self.last is None:
            return None
        if (ruling := self.ruling) is not None:
            doc: Doc = {"reason": ruling.reason, "by": "director", "finished": False, "ruling": ruling.version}
            doc |= {"ranked": ruling.is_ranked, "forfeits": list(ruling.forfeits)}
            return doc | {"penalties": ruling.penalties_to_json()}
        reason, by = self.last.body["reason"], self.last.public.get("by")
        by = by or ("engine" if reason == "finished" else "director")
        return {"reason": reason, "by": by, "finished": self.is_finished}

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Return the frames with possibly open decisions: none unless the game is running."""
        return self.state.frames if self.status == "running" else ()

    @property
    def clock(self) -> FrameClock | None:
        """Return the running clock."""
        return running_clock(self.clocks, self.frames)

    def is_active(self, version: int) -> bool:
        """Return whether no rewind has undone a version."""
        return 0 < version <= self.version and not any(to < version < at for to, at in self.undone_spans)

    def pause_at(self, at: int) -> Pause | None:
        """Return the pause on at a time, not before the last record."""
        return current_pause(self.pauses, at) if self.status == "running" else None

    @property
    def current_pause(self) -> Pause | None:
        """Return the pause on after the last record."""
        return self.pause_at(self.time)

    @property
    def has_stopped(self) -> bool:
        """Return whether it pauses without an end: nothing has a due time."""
        return (pause := self.current_pause) is not None and pause.until is None

    @property
    def as_at_standstill(self) -> Game[S_co]:
        """Return the game with the times of its clocks and spans as they stand in a pause without end."""
        return replace(self, pauses=()) if self.has_stopped else self

    def playing_time(self, at: int) -> int:
        """Return the time of all clocks and spans at a time of day; it stands still during pauses."""
        return playing_time(self.pauses, at)

    @property
    def deadline(self) -> int | None:
        """Return the deadline of the open decision, before grace, banks and vacations; None while no clock runs."""
        return self.clock.deadline if self.clock and not self.has_stopped else None

    def seat_deadlines(self, seats: Iterable[Seat]) -> list[int]:
        """Return the seats' deadlines, before grace and bank."""
        clock = None if self.has_stopped else self.clock
        deadlines = [seat_deadline(clock, self.time_banks[seat]) for seat in seats] if clock else []
        return [at for at in deadlines if at is not None]

    def due_times(self, seats: Iterable[Seat], *, individually: bool = False) -> dict[Seat, int]:
        """Return the time of each seat's default, assuming it owes the open decision; empty while no clock runs.

        A secret decision has one time for all seats asked; `individually` returns each seat's own. None is within a
        pause.
        """
        if self.has_stopped:
            return {}
        now = self.playing_time(self.time)
        dues = due_times(
            self.time_control, self.clocks, self.frames, seats, self.time_banks, now, individually=individually
        )
        earliest = self.pauses[-1].standstill if self.pauses else 0
        return {seat: max(due, earliest) for seat, due in dues.items()}


AnyGame = Game[State]
"""A game of any rules."""


def revealed_nonces(game: Game[S]) -> dict[int, str]:
    """Return the revealed nonces by seat."""
    return {seat: player.nonce for seat, player in game.players.items() if player.nonce}


def public_digest(rules: Ruleset[S], state: S) -> str:
    """Return the digest of everything public: the public view and the open decisions."""
    document = {"sight": rules.board(state), "decisions": [d.to_json() for d in decisions(rules, state)]}
    return struct_digest(document)[:32]


def state_digest(state: State, previous: Digests) -> tuple[str, Digests]:
    """Return the digest of the whole state, made per field; `previous` are the digests of the state before."""
    digests, values = dict(previous), state.__dict__
    kind: Hint = type(state)
    for name, encode in _encoders(kind):
        value, old = values[name], previous.get(name)
        if old is None or old[0] is not value:
            digests[name] = value, struct_digest(encode(value) if encode else value)
    return digest({n: d for n, (_, d) in digests.items()})[:32], digests


@functools.cache
def _encoders(kind: Hint) -> tuple[tuple[str, Encoder | None], ...]:
    return tuple((name, encoder(hint, False)) for name, hint in field_types(kind).items())


def active_versions(records: Iterable[Record]) -> list[int]:
    """Return the versions active after the rewinds, ascending; a rewind itself is active."""
    out: list[int] = []
    for r in records:
        if r.kind == "rewound":
            to = r.body["to"]
            while out and out[-1] > to:
                out.pop()
        out.append(r.version)
    return out


def initial_game(rules: Ruleset[S], record: Record) -> Game[S]:
    """Return the game after the first record."""
    body = record.body
    table = Table(body["seats"], body["options"])
    time_control, at = parse_time_control(rules.meta, body.get("pace")), record.time
    return Game(
        body["game"],
        body["ruleset"],
        table,
        body["seed_hash"],
        rules.blank(table),
        version=record.version,
        last=record,
        terms={k: body[k] for k in TERMS if k in body},
        time_control=time_control,
        time_banks=initial_time_banks(time_control, table.seats),
        thinking=(0,) * table.seats if time_control.seconds else (),
        granted=(0,) * table.seats if time_control.seconds else (),
        misses=((0, 0),) * table.seats if body.get("misses") else (),
        opened_at=at,
        waiting_since=at,
        time=at,
    )


def _updated_players(game: Game[S], record: Record) -> Mapping[int, Player]:
    seat, body, players = record.head.seat, record.body, game.players
    if record.kind == "joined" and seat is not None:
        nonce = players[seat].nonce if seat in players else ""
        return {**players, seat: Player(body["player"], body.get("nonce_hash", ""), nonce)}
    if record.kind == "revealed" and seat is not None:
        return {**players, seat: replace(players[seat], nonce=body["nonce"])}
    if record.kind == "left" and game.status == "open":
        return {s: player for s, player in players.items() if s != seat}
    if record.kind == "left" and seat is not None:
        return {**players, seat: replace(players[seat], id="")}
    return players


def _update_stakeholders(game: AnyGame, record: Record) -> frozenset[str]:
    if record.kind == "started":
        return frozenset(player.id for player in game.players.values())
    return game.stakeholders | {record.body["player"]} if game.status == "running" else game.stakeholders


def _add_concession(game: AnyGame, record: Record) -> tuple[tuple[Seat, str], ...]:
    seat = record.head.seat
    if seat is None or not record.body.get("conceded"):
        return game.conceded
    return (*game.conceded, (seat, game.players[seat].id))


def _add_seating(game: AnyGame, record: Record) -> tuple[tuple[int, Seat, str], ...]:
    seat = record.head.seat
    player = record.body["player"] if record.kind == "joined" else ""
    return game.seatings if seat is None else (*game.seatings, (record.version, seat, player))


def _next_status(before: str, kind: str, state: State, ruling: Ruling | None) -> str:
    if kind == "closed":
        return "closed"
    if ruling is not None:
        return "over"
    if kind == "started" or before != "open":
        return "over" if state.over else "running"
    return before


def apply_record(
    rules: Ruleset[S],
    game: Game[S],
    record: Record,
    state: S | None = None,
    packs: Mapping[str, PackHead] | None = None,
) -> Game[S]:
    """Return the game after one more record, no rewind. A caller with the decided state passes it in `state`.

    Counts of draws and sealed packs come from `packs`, by default from those of the record.
    """
    if "pace" in record.head.body and record.head.kind == "ruled":
        game = _with_pace(rules, game, record)
    if state is None:
        facts, packs = rules.decode_record(record)
        state = evolve_all(game.state, facts)
    elif packs is None:
        packs = record.pack_heads
    head = record.head
    kind, at, before = head.kind, head.at, game.state.frames
    ruling = _update_ruling(game, record) if kind == "ruled" else game.ruling
    status = _next_status(game.status, kind, state, ruling)
    frames: tuple[Frame, ...] = state.frames if status == "running" else ()
    same = bool(frames and before) and frames[-1].n == before[-1].n and kind != "rewound"
    same = same or _is_about_appeal(record)
    pauses = _update_pauses(game, record) if kind == "ruled" else game.pauses
    clocks, time_banks = _update_clocks(rules, game, record, frames, same, pauses)
    return assign(
        game,
        state=state,
        status=status,
        clocks=clocks,
        time_banks=time_banks,
        thinking=_update_thinking(game, record) if game.clocks else game.thinking,
        undone_from=game.undone_from if same else (),
        granted=_update_granted(game, record) if game.clocks and kind == "ruled" else game.granted,
        waiting_since=game.waiting_since + _clock_shift(record) if same else at,
        counts=_update_counts(game, record, packs),
        sealed=_update_sealed(game, record, packs),
        players=_updated_players(game, record) if kind in SEATING else game.players,
        conceded=_add_concession(game, record) if kind == "left" else game.conceded,
        staff=game.staff.after(record.body) if kind == "deputed" else game.staff,
        stakeholders=_update_stakeholders(game, record) if kind in ("started", "joined") else game.stakeholders,
        seatings=_add_seating(game, record) if kind in ("joined", "left") else game.seatings,
        former_players=_update_former_players(game, record) if kind == "left" else game.former_players,
        misses=_update_misses(game, record) if game.misses else game.misses,
        fresh_timers=_update_fresh_timers(game, record) if "clock" in head.body else game.fresh_timers,
        pauses=pauses,
        ruling=ruling,
        appeals=_update_appeals(game, record) if kind in ("ruled", "rewound") else game.appeals,
        version=head.v,
        last=record,
        board=game.board if head.board is None else head.board,
        time=at,
    )


def _with_pace(rules: Ruleset[S], game: Game[S], record: Record) -> Game[S]:
    """Return the game with the time control of a record; every clock starts again, used time and days stay used."""
    before, pace = game.time_control, parse_time_control(rules.meta, record.body["pace"])
    time_banks = tuple(
        replace(
            b,
            bank=max(pace.bank * SECOND - (before.bank * SECOND - b.bank), 0),
            days=max(pace.vacation - (before.vacation - b.days), 0),
        )
        for b in _charge(game, game.frames, record.time)
    )
    none = (0,) * game.table.seats
    return assign(
        game,
        time_control=pace,
        time_banks=time_banks,
        clocks=(),
        thinking=game.thinking or none,
        granted=game.granted or none,
    )


def _charge(game: AnyGame, frames: tuple[Frame, ...], until: int) -> tuple[TimeBank, ...]:
    """Return the time banks at a time of day, after these frames have been open since the last record."""
    since, now = game.playing_time(game.time), game.playing_time(until)
    return charge_time_banks(game.time_banks, game.clocks, frames, since, now)


def _update_pauses(game: AnyGame, record: Record) -> Pauses:
    body, at = record.body, record.head.at
    if body.get("act") == "pause":
        return begin_pause(game.pauses, at, body.get("until"), moves=body["moves"])
    if body.get("act") == "resume":
        return end_pause(game.pauses, at)
    if body.get("act") == "end":  # the time stands still until it is withdrawn
        return begin_pause(game.pauses, at, None, moves=False)
    if body.get("act") == "withdraw":
        return end_pause(game.pauses, at) if game.ruling is None else restore_pause(game.pauses, game.ruling.pause, at)
    ms = _clock_shift(record)
    return shift_pauses(game.pauses, at - ms, ms) if ms else game.pauses


def _update_ruling(game: AnyGame, record: Record) -> Ruling | None:
    act, ms = record.body.get("act"), _clock_shift(record)
    if act == "end":
        return Ruling.from_record(record, game.pause_at(record.head.at))
    if game.ruling is not None and ms:
        pause = shift_pauses((game.ruling.pause,), record.head.at - ms, ms)[0] if game.ruling.pause else None
        contested = game.ruling.contested_until
        moved = contested + ms if contested else 0
        return replace(game.ruling, at=game.ruling.at + ms, contested_until=moved, pause=pause)
    if game.ruling is not None and act in APPEAL_ACTS and record.body["version"] == game.ruling.version:
        return game.ruling.after_appeal(record, game.terms["appeals"])
    return None if act == "withdraw" else game.ruling


def _update_appeals(game: AnyGame, record: Record) -> Appeals:
    terms = game.terms.get("appeals")
    return game.appeals.after(record, terms) if isinstance(terms, dict) else game.appeals


def _is_about_appeal(record: Record) -> bool:
    return record.head.kind == "ruled" and record.body.get("act") in APPEAL_ACTS


def _time_shift(game: AnyGame, record: Record, pauses: Pauses) -> int:
    """Return the ms added by a record to all clocks and spans: a clock set forward, a new end of a pause."""
    if ms := _clock_shift(record):
        return ms
    at = record.head.at
    return playing_time(pauses, at) - game.playing_time(at) if pauses != game.pauses else 0


def _update_clocks(
    rules: Ruleset[S], game: Game[S], record: Record, frames: tuple[Frame, ...], same: bool, pauses: Pauses
) -> tuple[tuple[FrameClock, ...], tuple[TimeBank, ...]]:
    """Return clocks and time banks after the record with these frames left open; `same`: the top frame is unchanged."""
    clocks, time_banks, kind = game.clocks, game.time_banks, record.head.kind
    if ms := _time_shift(game, record, pauses):  # time before it has run as usual
        time_banks = _charge(game, game.state.frames, record.head.at - _clock_shift(record))
        standstill = None if _clock_shift(record) else playing_time(pauses, record.head.at)
        return shift_clocks(clocks, ms, standstill), tuple(shift_time_bank(account, ms) for account in time_banks)
    is_over = game.pending_ruling is not None and _is_about_appeal(record)
    if is_over or (record.body.get("act") == "end" and kind == "ruled"):  # the clocks wait for a withdrawal
        return clocks, _charge(game, game.state.frames, record.head.at)
    at = game.playing_time(record.head.at)
    if kind == "ruled" and record.body.get("act") == "extend" and game.state.frames:
        clocks = move_deadline(clocks, game.state.top.timer, record.body["ms"])
    if kind == "joined" and record.body.get("clock") == "full" and frames:
        clocks = refill_clock(rules.meta, game.time_control, clocks, frames[-1], at, time_banks)
    if clocks and game.time_control.bank:
        time_banks = charge_time_banks(time_banks, clocks, game.state.frames, game.playing_time(game.time), at)
    if kind in _TIME_BANK_KINDS and game.status == "running":
        time_banks = _update_time_bank(time_banks, record, at)
    if game.time_control.seconds and not (same and running_clock(clocks, frames)):
        clocks = tick(rules.meta, game.time_control, clocks, frames, at, time_banks)
    return clocks, time_banks


def _thinking_until(game: AnyGame, until: int) -> tuple[int, ...]:
    since, now = game.playing_time(game.time), game.playing_time(until)
    return add_thinking_time(game.thinking, game.clocks, game.frames, game.time_banks, since, now)


def _update_thinking(game: AnyGame, record: Record) -> tuple[int, ...]:
    """Return each seat's thinking time; time beyond a deadline that a bank has paid for is no part of it."""
    until = record.head.at - _clock_shift(record)
    times = _thinking_until(game, until)
    if not game.time_control.bank:
        return times
    charged = _charge(game, game.state.frames, until)
    return tuple(ms - (b.bank - a.bank) for ms, a, b in zip(times, charged, game.time_banks, strict=True))


def _update_granted(game: AnyGame, record: Record) -> tuple[int, ...]:
    if record.body.get("act") != "extend" or not game.frames:
        return game.granted
    asked, ms = game.frames[-1].asked, int(record.body["ms"])
    return tuple(sum_ + ms if seat in asked else sum_ for seat, sum_ in enumerate(game.granted))


def _clock_shift(record: Record) -> int:
    """Return the ms added to the service clock by the record, or 0."""
    head = record.head
    return int(head.body["ms"]) if head.kind == "ruled" and head.body.get("act") == "shift" else 0


_TIME_BANK_KINDS = ("rested", "left", "joined", "ruled")
"""Kinds of records able to change a time bank."""


def _update_time_bank(time_banks: tuple[TimeBank, ...], record: Record, at: int) -> tuple[TimeBank, ...]:
    """Return the time banks after a vacation, a hold or the end of one, at the playing time `at`."""
    head, body = record.head, record.body
    kind, seat = head.kind, -1 if head.seat is None else head.seat
    if kind == "rested":
        new = take_vacation(time_banks[seat], body["days"], at)
    elif "hold" in body and (kind == "ruled" or time_banks[seat].hold_end < at + body["hold"] * SECOND):
        new = hold_seat(time_banks[seat], body["hold"], at)
        new = replace(new, keeps_clocks=new.keeps_clocks or body.get("clocks") == "kept")
    elif kind == "joined" and time_banks[seat].hold_end > at:
        new = hold_seat(time_banks[seat], 0, at)
    else:
        return time_banks
    return (*time_banks[:seat], new, *time_banks[seat + 1 :])


def _update_former_players(game: AnyGame, record: Record) -> Mapping[Seat, str]:
    seat = record.head.seat
    return game.former_players if seat is None else {**game.former_players, seat: game.players[seat].id}


def _update_misses(game: AnyGame, record: Record) -> tuple[tuple[int, int], ...]:
    """Return the misses: a default adds one, a move by the player ends a row, another player has none."""
    kind, head = record.head.kind, record.head
    if kind == "lapsed":
        missed = {seat for seat, _ in record.moves()} - set(game.state.vacant)
        return tuple((row + 1, sum_ + 1) if s in missed else (row, sum_) for s, (row, sum_) in enumerate(game.misses))
    if kind == "moved":
        moved = {seat for seat, _ in record.moves()}
        return tuple((0, sum_) if s in moved else (row, sum_) for s, (row, sum_) in enumerate(game.misses))
    if kind == "joined" and record.body.get("misses") != "kept":
        return tuple((0, 0) if s == head.seat else counts for s, counts in enumerate(game.misses))
    return game.misses


def _update_fresh_timers(game: AnyGame, record: Record) -> Mapping[Seat, int]:
    seat = record.head.seat
    if record.head.kind != "joined" or seat is None or not game.frames:
        return game.fresh_timers
    return {**game.fresh_timers, seat: game.frames[-1].timer}


def _update_counts(game: AnyGame, record: Record, packs: Mapping[str, PackHead]) -> Mapping[str, int]:
    counts = game.counts
    if draws := record.head.draws:
        counts = {**counts, ALL_KEY: draws[-1][0] + 1}
    for key, pack in packs.items():
        if draws := pack.draws:
            counts = {**counts, key: draws[-1][0] + 1}
    return counts


def _update_sealed(game: AnyGame, record: Record, packs: Mapping[str, PackHead]) -> Mapping[str, tuple[int, Doc]]:
    sealed = game.sealed
    for key in packs:
        if ":" in key:
            sealed = {**sealed, key: (record.version, record.packs[key])}
    if openings := record.head.openings:
        opened_keys = {opening["key"] for opening in openings}
        sealed = {key: pack for key, pack in sealed.items() if key not in opened_keys}
    return sealed


def apply_rewind(
    rules: Ruleset[S],
    game: Game[S],
    target: Game[S],
    record: Record,
    state: S | None = None,
    packs: Mapping[str, PackHead] | None = None,
) -> Game[S]:
    """Return the game after a rewind: the state goes back to `target`, the game's own counters go on.

    `state` and `packs` as for `apply_record`.
    """
    fresh = record.body.get("entropy") == "fresh"
    thinking = _update_thinking(game, record) if game.clocks else game.thinking
    time_banks = _charge(game, game.state.frames, record.time)
    shared = _shared_clock(game, target, record)
    clocks, overdrawn = _rewound_clocks(game, target, record, thinking, time_banks)
    overdrawn = 0 if shared else overdrawn
    if overdrawn and (seat := record.head.seat) is not None:
        paying = replace(time_banks[seat], bank=max(time_banks[seat].bank - overdrawn, 0))
        time_banks = (*time_banks[:seat], paying, *time_banks[seat + 1 :])
    back = replace(
        target,
        rewinds=game.rewinds + 1,
        time_control=game.time_control,
        epoch=game.epoch + fresh,
        players=game.players,
        conceded=game.conceded,
        staff=game.staff,
        stakeholders=game.stakeholders,
        seatings=game.seatings,
        undone_spans=(*game.undone_spans, (record.body["to"], record.version)),
        time_banks=time_banks,
        clocks=clocks,
        thinking=thinking,
        granted=game.granted,
        misses=game.misses,
        former_players=game.former_players,
        fresh_timers=game.fresh_timers,
        pauses=game.pauses,
        appeals=game.appeals,
        digests=game.digests,
    )
    rewound = apply_record(rules, back, record, state, packs)
    if _is_free_undo(record):
        rewound = replace(rewound, undone_from=target.undone_from or target.thinking)
    if shared is None:
        return rewound
    return replace(rewound, clocks=tuple(shared if c.n == shared.n else c for c in rewound.clocks))


def _is_free_undo(record: Record) -> bool:
    return record.public.get("by") == "seat" and not record.body.get("consent")


def _shared_clock(game: AnyGame, target: AnyGame, record: Record) -> FrameClock | None:
    """Return the running clock of a decision of several seats that a free undo leaves open, or None.

    It goes on: the others have been thinking all the time.
    """
    if record.body.get("clocks") != "kept" or not _is_free_undo(record) or game.time_control != target.time_control:
        return None
    if not (game.frames and target.frames and len(target.frames[-1].asked) > 1):
        return None
    clock = running_clock(game.clocks, game.frames)
    return clock if clock and clock.n == target.frames[-1].timer else None


def _rewound_clocks(
    game: AnyGame, target: AnyGame, record: Record, thinking: tuple[int, ...], time_banks: tuple[TimeBank, ...]
) -> tuple[tuple[FrameClock, ...], int]:
    """Return the stopped clocks of the target, and by how much the seat that goes back has overdrawn its own, ms.

    None by older records, which start every clock again. A seat that goes back without anybody's consent pays with its
    own clock for the time since the target, and then with its bank.
    """
    if record.body.get("clocks") != "kept" or game.time_control != target.time_control or not target.granted:
        return (), 0
    seat = record.head.seat
    used = {} if seat is None or not _is_free_undo(record) else {seat: thinking[seat] - target.thinking[seat]}
    granted = {s: ms - target.granted[s] for s, ms in enumerate(game.granted)}
    if game.pauses != target.pauses:  # spans have moved since the target
        time_banks = target.time_banks
    at = target.playing_time(target.time)
    return rewind_clocks(target.clocks, target.frames, at, time_banks, used, granted)


FREE_WAIT_MS = 60_000
"""Time for which another seat may have thought, before a seat that goes back needs its consent, ms."""


def waiting_seats(game: AnyGame, target: AnyGame, seat: Seat, now: int) -> tuple[Seat, ...]:
    """Return the other people whose time a free undo would waste or renew: at time `now` they have thought for long.

    Their thinking counts since the target was first reached, or many short waits would add up. A decision of several
    seats that both have open keeps its clock, so nobody is asked. In any other one its seats count alike, or the answer
    would tell who has already moved in secret.
    """
    if not (game.thinking and target.thinking and game.frames and target.frames):
        return ()
    top, shared = game.frames[-1], len(game.frames[-1].asked) > 1
    if shared and top.timer == target.frames[-1].timer:
        return ()
    thinking = _thinking_until(game, now)
    before = target.undone_from or target.thinking
    long = {s for s, ms in enumerate(thinking) if ms - before[s] > FREE_WAIT_MS}
    if shared and long.intersection(top.asked):
        long.update(top.asked)
    people = {s for s, player in game.players.items() if player.id and not bot_of(player)}
    return tuple(sorted(long & people - {seat}))


def fold(rules: Ruleset[S], records: Sequence[Record], last: int | None = None) -> Game[S]:
    """Return the game after the records up to version `last` (all by default), rewinds followed."""
    selected = records if last is None else [r for r in records if r.version <= last]
    if not selected or selected[0].kind != "opened":
        raise VerificationError("no_beginning", 1)
    game = initial_game(rules, selected[0])
    for after in iterate_games(rules, game, selected[1:]):
        game = after
    return game


def iterate_games(rules: Ruleset[S], game: Game[S], records: Sequence[Record]) -> Iterator[Game[S]]:
    """Yield the game after each of the records that follow it. No rewind among them goes back to before the game."""
    targets = {r.body["to"] for r in records if r.head.kind == "rewound"}
    games = {game.version: game}
    for r in records:
        back = games[r.body["to"]] if r.head.kind == "rewound" else None
        game = apply_rewind(rules, game, back, r) if back else apply_record(rules, game, r)
        if targets and r.version in targets:
            games[r.version] = game
        yield game


def state_known_to(rules: Ruleset[S], records: Sequence[Record], viewer: Viewer) -> S:
    """Return the state folded only from facts readable by a viewer.

    Its view must equal the full state's, or something leaks.
    """
    state = initial_game(rules, records[0]).state
    active = set(active_versions(records))
    for r in records:
        if r.version in active:
            state = rules.fold(state, facts_for(r, viewer))
    return state


def private_view(rules: Ruleset[S], game: Game[S], viewer: Viewer) -> Part:
    """Return a viewer's view beyond the board; once the game is closed, all of it."""
    return rules.player_view_part(game.state, DIRECTOR if game.status == "closed" else viewer)
