"""What can be done to a game: each act is a value with its arguments, which makes the next record and game.

`commands` (over the ledger), `match` (in memory) and `verify` (of a log) all go through here. Acts of the table raise
RuleError with the codes of TABLE_CODES, moves with those of the kernel and the ruleset; a refusal changes nothing.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar

from domain.errors import DecisionClosed, RuleError
from domain.ids import Doc, Json, Seat, Viewer
from domain.kernel.clock import DAY
from domain.kernel.declare import doc
from domain.kernel.draws import commitment
from domain.kernel.flow import Patched, S, Seated, State, Vacated, assign
from domain.kernel.game import AnyGame, Game, Player, opened, rewound
from domain.kernel.record import Record
from domain.kernel.ruleset import Draft, Ruleset, Table, carry_on, decide, decide_all, decisions
from domain.kernel.step import By, Moment, Step, append, draft_of

TABLE_CODES: Mapping[str, str] = {
    "not_open": "the game has started: seats are taken or given back by other acts",
    "not_running": "the game has not started, or is closed",
    "seat_taken": "the seat has a player",
    "no_free_seat": "every seat has a player",
    "seat_empty": "the seat has no player",
    "unknown_seat": "the table has no such seat",
    "nonce_mismatch": "the nonce is not the one that was committed to",
    "seats_missing": "not every seat has a player",
    "undo_forbidden": "the rules, or the table, do not let a seat undo this",
    "consent_missing": "seats that have learnt or done something since must agree",
    "still_running": "the game is not over",
    "no_vacation_left": "the seat has not that many days of vacation",
    "not_due": "the seat has a player, and time left",
    "deadline_too_soon": "a deadline is brought forward to a minute from now at the soonest",
    "already_seated": "whoever has a seat takes no other one, unless the table lets one person have several",
}
"""Refusals of acts of the table, the same in every game."""

LATER = MappingProxyType({"later": True})
"""Of a field that an act has got since: at its default it is no part of what a command's id stands for."""

UNSAID = MappingProxyType({"unsaid": True})
"""Of one that is no part of that whatever it holds: who asks has ids of their own."""

SOONEST = 60_000
"""ms that are left at least until a deadline that is brought forward."""

UNSTARTED = 14 * DAY
"""ms after which a table is closed that has not been started, and at which nobody has done anything."""

_HEX = re.compile(r"(?:[0-9a-f]{2}){16,64}")
"""A nonce: 16 to 64 bytes in hex."""


class Act(ABC):
    """Something that can be done to a game that is open. Its fields are its arguments, values of JSON."""

    verb: ClassVar[str]
    """The act's name in the hash that is stored with a command: it must not change, nor may the names of the fields."""

    @abstractmethod
    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        """The next record and game; raises RuleError or DecisionClosed."""

    @classmethod
    @abstractmethod
    def of(cls, record: Record, game: AnyGame) -> Act:
        """What was done, by the record of it, to the game as it was before."""

    @property
    def lasting(self) -> bool:
        """Whether it means the same after a lost race, and is then decided anew."""
        return True


def refuse_unless(ok: bool, code: str, **detail: Json) -> None:
    """Raises RuleError."""
    if not ok:
        raise RuleError(code, "", detail)


def _running(game: AnyGame) -> None:
    refuse_unless(game.status not in ("over", "closed"), "game_over")
    refuse_unless(game.status == "running", "not_running", status=game.status)


# --- the table -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Open:
    """The first of all: ruleset, seats, options, and the hash of the secret seed. `body` adds pace and policies."""

    verb: ClassVar[str] = "Open"
    game: str
    table: Table
    body: Doc = field(default_factory=dict)

    def step(self, rules: Ruleset[S], moment: Moment) -> Step[S]:
        """The first record, and the game that it opens."""
        terms: Doc = {
            **self.body,
            "game": self.game,
            "ruleset": rules.meta.ruleset,
            "seats": self.table.seats,
            "options": dict(self.table.options),
            "seed_hash": commitment(moment.seed),
        }
        public: Doc = {"v": 1, "kind": "opened", "at": moment.now, "prev": "", "body": terms}
        record = Record(public, {})
        return Step(record, opened(rules, record))

    @classmethod
    def of(cls, record: Record) -> Open:
        """What was opened."""
        body = record.body
        more = {k: v for k, v in body.items() if k not in ("game", "ruleset", "seats", "options", "seed_hash")}
        return cls(body["game"], Table(body["seats"], body["options"]), more)


@dataclass(frozen=True)
class Join(Act):
    """A player takes a free seat (None: the first), before the start or in place of one who left."""

    verb: ClassVar[str] = "Join"
    seat: Seat | None
    player: str
    nonce_hash: str = ""

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        refuse_unless(game.status in ("open", "running"), "not_open", status=game.status)
        seat = self._free(game) if self.seat is None else self.seat
        refuse_unless(0 <= seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        refuse_unless(not game.players.get(seat, Player("")).id, "seat_taken", seat=seat)
        has = [s for s, player in game.players.items() if player.id == self.player]
        refuse_unless(not has or game.terms.get("several", True) is True, "already_seated", seats=has)
        draft, nonce_hash = draft_of(rules, game, moment), self.nonce_hash
        if game.status == "running":
            if seat in game.state.vacant:
                draft.add(Seated(seat))
            nonce_hash = game.players[seat].nonce_hash
        body = {"player": self.player} | ({"nonce_hash": nonce_hash} if nonce_hash else {})
        return append(rules, game, moment, draft, "joined", seat=seat, body=body)

    @staticmethod
    def _free(game: AnyGame) -> Seat:
        free = [s for s in range(game.table.seats) if not game.players.get(s, Player("")).id]
        refuse_unless(bool(free), "no_free_seat")
        return free[0]

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Join:
        return cls(_seat(record), record.body["player"], record.body.get("nonce_hash", ""))


@dataclass(frozen=True)
class Reveal(Act):
    """A seat shows its nonce (hex), once all seats are taken and so all nonces are committed to."""

    verb: ClassVar[str] = "Reveal"
    seat: Seat
    nonce: str

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        refuse_unless(game.status == "open", "not_open", status=game.status)
        refuse_unless(len(game.players) == game.table.seats, "seats_missing")
        refuse_unless(self.seat in game.players, "seat_empty", seat=self.seat)
        refuse_unless(_HEX.fullmatch(self.nonce) is not None, "nonce_mismatch")
        committed = game.players[self.seat].nonce_hash
        refuse_unless(commitment(bytes.fromhex(self.nonce)) == committed, "nonce_mismatch")
        draft = draft_of(rules, game, moment)
        return append(rules, game, moment, draft, "revealed", seat=self.seat, body={"nonce": self.nonce})

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Reveal:
        return cls(_seat(record), record.body["nonce"])


@dataclass(frozen=True)
class Leave(Act):
    """A player leaves; in a running game the seat is vacant, and the rules say what that means.

    Before that it is held for so many seconds: for the rules nothing has changed, and a substitute goes on.
    """

    verb: ClassVar[str] = "Leave"
    seat: Seat
    hold: int = field(default=0, metadata=LATER)

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        refuse_unless(bool(game.players.get(self.seat, Player("")).id), "seat_empty", seat=self.seat)
        refuse_unless(game.status in ("open", "running"), "not_open", status=game.status)
        draft = draft_of(rules, game, moment)
        held = bool(self.hold) or game.accounts[self.seat].held > moment.time(game)
        cover: list[Seat] = []
        if game.status == "running" and not held:
            cover = [self.seat] if _covers(game) and _asked_in_secret(game.state, self.seat) else []
            _vacate(rules, draft, self.seat)
        body = {"hold": self.hold} if self.hold and game.status == "running" else None
        return append(rules, game, moment, draft, "left", seat=self.seat, cover=cover, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Leave:
        return cls(_seat(record), record.body.get("hold", 0))


def _covers(game: AnyGame) -> bool:
    """Older tables, which say nothing of holds, have records without such packs."""
    return "hold" in game.terms


def _asked_in_secret(state: State, seat: Seat) -> bool:
    """Whether it is to have a pack when it is vacated, or that it has none would tell that it had answered."""
    return bool(state.frames) and state.top.secret and seat in state.top.asked


def _vacate(rules: Ruleset[S], draft: Draft[S], seat: Seat) -> None:
    draft.add(Vacated(seat))
    rules.vacated(draft, seat)
    carry_on(draft)


@dataclass(frozen=True)
class Vacate(Act):
    """Nobody has taken a seat while it was held: now it is vacant, and the rules say what that means."""

    verb: ClassVar[str] = "Vacate"
    seat: Seat

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        _running(game)
        refuse_unless(self.seat in game.kept, "not_due", seats=[self.seat])
        refuse_unless(game.accounts[self.seat].held <= moment.time(game), "not_due", seats=[self.seat])
        draft, body = draft_of(rules, game, moment), {"act": "vacate"}
        cover = [self.seat] if _asked_in_secret(game.state, self.seat) else []
        _vacate(rules, draft, self.seat)
        return append(rules, game, moment, draft, "ruled", by="clock", seat=self.seat, cover=cover, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Vacate:
        return cls(_seat(record))


@dataclass(frozen=True)
class Start(Act):
    """Set-up. A scenario's patch is a fact of this record, so that its log replays like any other."""

    verb: ClassVar[str] = "Start"
    patch: Json = None

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        refuse_unless(game.status == "open", "not_open", status=game.status)
        refuse_unless(len(game.players) == game.table.seats, "seats_missing", taken=sorted(game.players))
        draft = draft_of(rules, game, moment)
        rules.setup(draft)
        if self.patch is not None:
            draft.add(Patched(self.patch))
        carry_on(draft)
        return append(rules, game, moment, draft, "started")

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Start:
        return cls(next((f["patch"] for f in record.public.get("facts", ()) if f["t"] == "patched"), None))


@dataclass(frozen=True)
class Close(Act):
    """The last of all: shows the seed, so that anyone can recompute every draw; all packs may be read from now on.

    With any other reason than `finished` a director does it, or the clock to a table that was not started; `by` says
    who, except in older records.
    """

    verb: ClassVar[str] = "Close"
    reason: str = "finished"
    by: By | None = field(default=None, metadata=UNSAID)

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        refuse_unless(game.status != "closed", "game_over")
        refuse_unless(game.status == "over" or self.reason != "finished", "still_running")
        left = game.status == "open" and moment.time(game) >= game.at + UNSTARTED
        refuse_unless(self.by != "clock" or left, "not_due")
        body = {"reason": self.reason, "seed": moment.seed.hex()}
        return append(rules, game, moment, draft_of(rules, game, moment), "closed", by=self.by, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Close:
        return cls(record.body["reason"], record.public.get("by"))


# --- play ------------------------------------------------------------------------------------------------------


def open_decision(rules: Ruleset[S], game: Game[S], decision: str) -> None:
    """Raises DecisionClosed unless that decision is open."""
    if decision not in [d.id for d in decisions(rules, game.state, game.rewinds)]:
        raise DecisionClosed(decision)


@dataclass(frozen=True)
class Play(Act):
    """One move or an atomic list: all or nothing. With `decision` the whole list answers that decision.

    `by` the seat, or a director for it.
    """

    verb: ClassVar[str] = "Play"
    seat: Seat
    moves: Sequence[Json]
    decision: str | None = None
    by: By = "seat"

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        _running(game)
        refuse_unless(0 <= self.seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        refuse_unless(bool(self.moves), "malformed_move")
        draft = draft_of(rules, game, moment)

        def before(state: S) -> None:
            if self.decision is not None:
                open_decision(rules, assign(game, state=state), self.decision)

        decide_all(draft, self.seat, self.moves, before, again=moment.again)
        kind, acts = "ruled" if self.by == "director" else "moved", [(self.seat, m) for m in self.moves]
        return append(rules, game, moment, draft, kind, by=self.by, seat=self.seat, acts=acts)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Act:
        moves = record.acts()
        return cls(moves[0][0], [m for _, m in moves], by=record.public["by"])

    @property
    def lasting(self) -> bool:
        return self.decision is not None


@dataclass(frozen=True)
class Lapse(Act):
    """A missed deadline: one record with the defaults of all (or these) who still owe, in seat order.

    Each must be vacant and not held, or past its due time (`not_due`): grace, bank, vacation and holds counted in.
    Raises DecisionClosed when that decision is gone, or none of them owes it an answer.
    """

    verb: ClassVar[str] = "Lapse"
    decision: str
    seats: Sequence[Seat] = ()

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        _running(game)
        open_decision(rules, game, self.decision)
        asked = game.state.top
        early = early_seats(game, [s for s in asked.owing if self._of(s)], moment.time(game), alone=moment.again)
        refuse_unless(not early, "not_due", seats=early)
        draft = draft_of(rules, game, moment)
        acts: list[tuple[Seat, Doc]] = []
        for seat in asked.owing:
            while self._of(seat) and _owes(draft.state, asked.n, seat):
                asking = decisions(rules, draft.state, game.rewinds)[0]
                acts.append((seat, doc(rules.default(draft.state, asking, seat))))
                decide(draft, *acts[-1])
        if not acts:
            raise DecisionClosed(self.decision)
        cover = asked.asked if asked.secret else ()
        return append(rules, game, moment, draft, "lapsed", by="clock", acts=acts, cover=cover)

    def _of(self, seat: Seat) -> bool:
        return not self.seats or seat in self.seats

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Lapse:
        return cls(_deciding(game), sorted({s for s, _ in record.acts()}))


def early_seats(game: AnyGame, seats: Sequence[Seat], at: int, *, alone: bool = False) -> list[Seat]:
    """Those of the seats whose default must not be played at that time yet; `alone` as for `Game.dues`."""
    due, vacant = game.dues(seats, alone=alone), game.state.vacant
    held = {s for s in seats if game.accounts[s].held > at}
    return [s for s in seats if s in held or (s not in vacant and not (s in due and due[s] <= at))]


def _owes(state: State, n: int, seat: Seat) -> bool:
    return bool(state.frames) and state.top.n == n and seat in state.top.owing


@dataclass(frozen=True)
class Resolve(Act):
    """Batch work that no seat owes; its move is named after the frame."""

    verb: ClassVar[str] = "Resolve"
    decision: str

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        _running(game)
        open_decision(rules, game, self.decision)
        draft = draft_of(rules, game, moment)
        decide_all(draft, None, [{"type": game.state.top.kind}])
        return append(rules, game, moment, draft, "resolved", by="engine")

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Resolve:
        return cls(_deciding(game))


@dataclass(frozen=True)
class Rest(Act):
    """A seat takes whole days of its vacation: none of its time runs meanwhile. It may play all the same."""

    verb: ClassVar[str] = "Rest"
    seat: Seat
    days: int

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        _running(game)
        refuse_unless(bool(game.players.get(self.seat, Player("")).id), "seat_empty", seat=self.seat)
        left = game.accounts[self.seat].days
        refuse_unless(1 <= self.days <= left, "no_vacation_left", days=left)
        draft = draft_of(rules, game, moment)
        return append(rules, game, moment, draft, "rested", by="seat", seat=self.seat, body={"days": self.days})

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Rest:
        return cls(_seat(record), record.body["days"])


# --- rulings ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rewind(Act):
    """Back to version `to` of the line (`not_on_line`); nothing is deleted. `reason` is a salted hash of the text.

    With `fresh` the epoch rises and what nobody has seen is dealt anew.
    """

    verb: ClassVar[str] = "Rewind"
    to: int
    by: By = "director"
    seat: Seat | None = None
    consent: Sequence[Seat] = ()
    reason: str = ""
    fresh: bool = False

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        _running(game)
        refuse_unless(rules.meta.undo or self.by == "director", "undo_forbidden")
        target: Game[S] = moment.past(self.to)
        refuse_unless(target.status == "running" and target.version < game.version, "not_on_line", to=self.to)
        back = replace(
            target,
            epoch=game.epoch + self.fresh,
            version=game.version,
            last=game.last,
            at=game.at,
            players=game.players,
        )
        draft = draft_of(rules, back, moment)
        if self.fresh:
            everybody: tuple[Viewer, ...] = tuple(range(game.table.seats))
            rules.redeal(draft, everybody)
        asked = [seat for seat in range(game.table.seats) if _covers(game) and _asked_in_secret(draft.state, seat)]
        vacated = _seat_again(rules, draft, game, moment.time(game))
        cover, blind, body = [seat for seat in vacated if seat in asked], replace(back, board=""), self._body()
        step = append(rules, blind, moment, draft, "rewound", by=self.by, seat=self.seat, cover=cover, body=body)
        return Step(step.record, replace(rewound(rules, game, target, step.record), digests=step.game.digests))

    def _body(self) -> Doc:
        body: Doc = {"to": self.to, "entropy": "fresh" if self.fresh else "keep"}
        consent = {"consent": list(self.consent)} if self.consent else {}
        return body | consent | ({"reason": self.reason} if self.reason else {})

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Rewind:
        body = record.body
        return cls(
            body["to"],
            record.public["by"],
            record.public.get("seat"),
            body.get("consent", ()),
            body.get("reason", ""),
            body["entropy"] == "fresh",
        )


def _seat_again(rules: Ruleset[S], draft: Draft[S], game: Game[S], at: int) -> list[Seat]:
    """Who sits at the table belongs to the game, not to the line: the state is told what has changed since.

    Returns the seats that are vacated by that.
    """
    vacated: list[Seat] = []
    for seat, player in sorted(game.players.items()):
        if not player.id and seat not in draft.state.vacant and game.accounts[seat].held <= at:
            draft.add(Vacated(seat))
            rules.vacated(draft, seat)
            vacated.append(seat)
        elif seat in draft.state.vacant and (player.id or seat in game.kept):
            draft.add(Seated(seat))
    carry_on(draft)
    return vacated


@dataclass(frozen=True)
class Look(Act):
    """The director looks at what is hidden. That somebody ruled is public, what it was is shown after the end."""

    verb: ClassVar[str] = "Look"

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        _running(game)
        draft, ruling = draft_of(rules, game, moment), {"act": "look"}
        return append(rules, game, moment, draft, "ruled", by="director", ruling=ruling)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Look:
        return cls()


@dataclass(frozen=True)
class Extend(Act):
    """The deadline of the open decision moves by so much: after an outage, for a holiday, by the director's leave.

    It is not brought so near that a default would take somebody's turn; older logs hold some that were.
    """

    verb: ClassVar[str] = "Extend"
    decision: str
    ms: int
    by: By = "director"

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        _running(game)
        open_decision(rules, game, self.decision)
        if not moment.again and self.ms < 0 and game.deadline is not None:
            deadline, soonest = game.deadline, moment.time(game) + SOONEST
            refuse_unless(deadline + self.ms >= soonest, "deadline_too_soon", deadline=deadline, soonest=soonest)
        body = {"act": "extend", "decision": self.decision, "ms": self.ms}
        return append(rules, game, moment, draft_of(rules, game, moment), "ruled", by=self.by, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Extend:
        return cls(record.body["decision"], record.body["ms"], record.public["by"])


@dataclass(frozen=True)
class Shift(Act):
    """The clock of the service was set forward by so much, and all that is due with it: nobody has lost any time.

    Its record is the first of the new time, `Moment.now` has been set forward already. Once it is done for a reading of
    the clock that was set, the command's id sees to it that it is not done again.
    """

    verb: ClassVar[str] = "Shift"
    ms: int

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        refuse_unless(game.status in ("open", "running"), "game_over")
        body = {"act": "shift", "ms": self.ms, "reason": "clock_set_forward"}
        return append(rules, game, moment, draft_of(rules, game, moment), "ruled", by="clock", body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Shift:
        return cls(record.body["ms"])


@dataclass(frozen=True)
class Hold(Act):
    """For so many seconds from now no time of the seat's runs, and no default is played for it; 0 ends that.

    So a seat is kept for a substitute, or for a player who cannot play just now.
    """

    verb: ClassVar[str] = "Hold"
    seat: Seat
    seconds: int

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        _running(game)
        refuse_unless(0 <= self.seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        draft, body = draft_of(rules, game, moment), {"act": "hold", "hold": self.seconds}
        return append(rules, game, moment, draft, "ruled", by="director", seat=self.seat, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Hold:
        return cls(_seat(record), record.body["hold"])


@dataclass(frozen=True)
class Reissue(Act):
    """The player of a seat is given a new token in place of one that was lost: all can see that it was done."""

    verb: ClassVar[str] = "Reissue"
    seat: Seat

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        refuse_unless(game.status in ("open", "running"), "game_over")
        refuse_unless(0 <= self.seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        refuse_unless(bool(game.players.get(self.seat, Player("")).id), "seat_empty", seat=self.seat)
        draft, body = draft_of(rules, game, moment), {"act": "reissue"}
        return append(rules, game, moment, draft, "ruled", by="director", seat=self.seat, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Reissue:
        return cls(_seat(record))


# --- of a log --------------------------------------------------------------------------------------------------


def _seat(record: Record) -> Seat:
    return int(record.public.get("seat", -1))


def _deciding(game: AnyGame) -> str:
    return f"{game.rewinds}-{game.frames[-1].n}" if game.frames else ""


_BY_KIND: Mapping[str, type[Act]] = {
    "joined": Join,
    "revealed": Reveal,
    "left": Leave,
    "started": Start,
    "moved": Play,
    "lapsed": Lapse,
    "resolved": Resolve,
    "rested": Rest,
    "rewound": Rewind,
    "closed": Close,
}


_RULED: Mapping[str, type[Act]] = {"extend": Extend, "hold": Hold, "reissue": Reissue, "shift": Shift, "vacate": Vacate}


def act_of(record: Record, game: AnyGame) -> Act:
    """What made a record that is not the first, done to the game as it was before."""
    if record.kind != "ruled":
        return _BY_KIND[record.kind].of(record, game)
    if record.acts():
        return Play.of(record, game)
    if "act" in record.body:
        return _RULED[record.body["act"]].of(record, game)
    return Look.of(record, game)
