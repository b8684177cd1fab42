"""Commands of the table: open, join, reveal a nonce, leave, start, close."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from domain.kernel.game.command import LATER, UNSAID, Act, refuse_unless, require_running, seat_of_record
from domain.kernel.game.deadlines import DAY
from domain.kernel.game.game import AnyGame, Game, Player, opened
from domain.kernel.game.record_builder import By, Moment, Step, append, draft_of
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import carry_on
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import commitment
from domain.kernel.rules.flow import Patched, S, Seated, State, Vacated
from domain.kernel.rules.meta import Table
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Doc, Json, Seat

UNSTARTED = 14 * DAY
"""ms after which a table is closed that has not been started, and at which nobody has done anything."""

_HEX = re.compile(r"(?:[0-9a-f]{2}){16,64}")
"""A nonce: 16 to 64 bytes in hex."""


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
        return cls(seat_of_record(record), record.body["player"], record.body.get("nonce_hash", ""))


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
        return cls(seat_of_record(record), record.body["nonce"])


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
            cover = [self.seat] if covers_for_absent(game) and is_asked_in_secret(game.state, self.seat) else []
            _vacate(rules, draft, self.seat)
        body = {"hold": self.hold} if self.hold and game.status == "running" else None
        return append(rules, game, moment, draft, "left", seat=self.seat, cover=cover, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Leave:
        return cls(seat_of_record(record), record.body.get("hold", 0))


def covers_for_absent(game: AnyGame) -> bool:
    """Older tables, which say nothing of holds, have records without such packs."""
    return "hold" in game.terms


def is_asked_in_secret(state: State, seat: Seat) -> bool:
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
        require_running(game)
        refuse_unless(self.seat in game.kept, "not_due", seats=[self.seat])
        refuse_unless(game.accounts[self.seat].held <= moment.time(game), "not_due", seats=[self.seat])
        draft, body = draft_of(rules, game, moment), {"act": "vacate"}
        cover = [self.seat] if is_asked_in_secret(game.state, self.seat) else []
        _vacate(rules, draft, self.seat)
        return append(rules, game, moment, draft, "ruled", by="clock", seat=self.seat, cover=cover, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Vacate:
        return cls(seat_of_record(record))


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
