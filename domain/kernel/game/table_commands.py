"""Commands of the table: open, join, reveal a nonce, leave, start, close."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from domain.kernel.game.command import (
    HASHED_UNLESS_DEFAULT,
    NOT_HASHED,
    Command,
    refuse_unless,
    require_running,
    seat_of_record,
)
from domain.kernel.game.deadlines import DAY
from domain.kernel.game.game import AnyGame, Game
from domain.kernel.game.game_fold import initial_game
from domain.kernel.game.officers import Office
from domain.kernel.game.record_builder import By, CommandContext, Transition, build_record, has_talk, new_draft
from domain.kernel.game.rulings import ENDINGS
from domain.kernel.game.seat_players import Player
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import resume_frames
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import commitment
from domain.kernel.rules.flow import Patched, Restored, S, Seated, State, Vacated
from domain.kernel.rules.meta import Table
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Doc, Json, Seat

UNSTARTED_LIMIT_MS = 14 * DAY
"""Idle time before an unstarted table is closed, ms."""

_HEX = re.compile(r"(?:[0-9a-f]{2}){16,64}")
"""A nonce: 16 to 64 bytes in hex."""


@dataclass(frozen=True)
class Open:
    """First command: ruleset, seats, options, and the hash of the secret seed. `body` adds pace and policies."""

    verb: ClassVar[str] = "Open"
    game: str
    table: Table
    body: Doc = field(default_factory=dict)

    def execute(self, rules: Ruleset[S], context: CommandContext) -> Transition[S]:
        """Return the first record, and the new game."""
        terms: Doc = {
            **self.body,
            "game": self.game,
            "ruleset": rules.meta.ruleset,
            "seats": self.table.seats,
            "options": dict(self.table.options),
            "seed_hash": commitment(context.seed),
        }
        public: Doc = {"v": 1, "kind": "opened", "at": context.now, "prev": "", "body": terms}
        public |= {"talk": context.talk_root(1)} if has_talk(terms) else {}
        record = Record(public, {})
        return Transition(record, initial_game(rules, record))

    @classmethod
    def from_record(cls, record: Record) -> Open:
        """Rebuild the command from the first record."""
        body = record.body
        more = {k: v for k, v in body.items() if k not in ("game", "ruleset", "seats", "options", "seed_hash")}
        return cls(body["game"], Table(body["seats"], body["options"]), more)


@dataclass(frozen=True)
class Join(Command):
    """A player takes a free seat (None: the first), before the start or in place of a former or absent player.

    A player who comes back to an absent seat joins it again. In a running game somebody who takes a seat over has the
    full time of the open decision, once for each decision; with `clock` "as_is", as in older records, the rest of it.
    The player who left the seat last has the same missed deadlines again; with `misses` "ended", as in older records,
    none.
    """

    verb: ClassVar[str] = "Join"
    least_office: ClassVar[Office] = "deputy"
    seat: Seat | None
    player: str
    nonce_hash: str = ""
    clock: Literal["full", "as_is"] = field(default="full", metadata=NOT_HASHED)
    misses: Literal["kept", "ended"] = field(default="kept", metadata=NOT_HASHED)

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        refuse_unless(game.status in ("open", "running"), "not_open", status=game.status)
        seat = self._free(game) if self.seat is None else self.seat
        refuse_unless(0 <= seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        refuse_unless(not game.players.get(seat, Player("")).id or seat in game.absent_seats, "seat_taken", seat=seat)
        refuse_unless(all(player != self.player for _, player in game.seating.concessions), "conceded")
        has = [s for s, player in game.players.items() if player.id == self.player and s != seat]
        refuse_unless(not has or game.terms.get("several", True) is True, "already_seated", seats=has)
        draft, nonce_hash = new_draft(rules, game, context), self.nonce_hash
        if game.status == "running":
            if seat in game.state.vacant:
                draft.add(Seated(seat))
            nonce_hash = game.players[seat].nonce_hash
        body = {"player": self.player} | ({"nonce_hash": nonce_hash} if nonce_hash else {})
        body |= {"clock": "full"} if self.clock == "full" and self._has_fresh_time(game, seat) else {}
        body |= {"misses": "kept"} if self.misses == "kept" and self._has_missed(game, seat) else {}
        return build_record(rules, game, context, draft, "joined", seat=seat, body=body)

    def _has_missed(self, game: AnyGame, seat: Seat) -> bool:
        """Return whether the player has missed deadlines here, and left the seat last."""
        has_left = not game.players.get(seat, Player("")).id and game.seating.former_players.get(seat) == self.player
        return has_left and bool(game.timing.misses) and game.timing.misses[seat] != (0, 0)

    def _has_fresh_time(self, game: AnyGame, seat: Seat) -> bool:
        """Return whether the player is new to the open decision, and nobody had its full time for this seat."""
        frame = game.frames[-1] if game.frames else None
        if frame is None or seat not in (frame.asked if frame.secret else frame.owing) or game.clock is None:
            return False
        knows_it = self.player in (game.players[seat].id, game.seating.former_players.get(seat))
        return game.timing.fresh_timers.get(seat) != frame.timer and not knows_it

    def _free(self, game: AnyGame) -> Seat:
        own = [s for s in game.absent_seats if game.players[s].id == self.player]
        free = own + [s for s in range(game.table.seats) if not game.players.get(s, Player("")).id]
        free += game.absent_seats
        refuse_unless(bool(free), "no_free_seat")
        return free[0]

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Join:
        body = record.body
        clock, misses = body.get("clock", "as_is"), body.get("misses", "ended")
        return cls(seat_of_record(record), body["player"], body.get("nonce_hash", ""), clock, misses)


@dataclass(frozen=True)
class Reveal(Command):
    """A seat reveals its nonce (hex), after all seats are taken and all nonces committed to."""

    verb: ClassVar[str] = "Reveal"
    seat: Seat
    nonce: str

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        refuse_unless(game.status == "open", "not_open", status=game.status)
        refuse_unless(len(game.players) == game.table.seats, "seats_missing")
        refuse_unless(self.seat in game.players, "seat_empty", seat=self.seat)
        refuse_unless(_HEX.fullmatch(self.nonce) is not None, "nonce_mismatch")
        committed = game.players[self.seat].nonce_hash
        refuse_unless(commitment(bytes.fromhex(self.nonce)) == committed, "nonce_mismatch")
        draft = new_draft(rules, game, context)
        return build_record(rules, game, context, draft, "revealed", seat=self.seat, body={"nonce": self.nonce})

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Reveal:
        return cls(seat_of_record(record), record.body["nonce"])


HoldClocks = Literal["kept", "restarted"]
"""Whether a seat goes on after a hold with the time, grace and bank that it had; in older records both begin anew."""


def describe_hold(seconds: int, clocks: HoldClocks) -> Doc:
    """Return the members of a record that hold a seat, or end its hold with 0."""
    return {"hold": seconds} | ({"clocks": "kept"} if seconds and clocks == "kept" else {})


@dataclass(frozen=True)
class Leave(Command):
    """A player leaves; in a running game the seat is vacant, with consequences defined by the rules.

    With `hold` the seat is first held for so many seconds: the rules see no change, and a substitute can go on. A
    player of a running game who `concedes` leaves at once and for good.
    """

    verb: ClassVar[str] = "Leave"
    least_office: ClassVar[Office] = "deputy"
    seat: Seat
    hold: int = field(default=0, metadata=HASHED_UNLESS_DEFAULT)
    by: By | None = field(default=None, metadata=NOT_HASHED)
    """`director` if the director removed the player; older records do not say it."""
    concedes: bool = field(default=False, metadata=HASHED_UNLESS_DEFAULT)
    clocks: HoldClocks = field(default="kept", metadata=NOT_HASHED)

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        refuse_unless(bool(game.players.get(self.seat, Player("")).id), "seat_empty", seat=self.seat)
        refuse_unless(game.status in ("open", "running"), "not_open", status=game.status)
        refuse_unless(game.status == "running" or not self.concedes, "not_running", status=game.status)
        draft = new_draft(rules, game, context)
        is_held = bool(self.hold) or game.timing.banks[self.seat].hold_end > context.playing_time(game)
        cover: list[Seat] = []
        if game.status == "running" and (self.concedes or not is_held):
            cover = [self.seat] if has_cover_packs(game) and is_asked_in_secret(game.state, self.seat) else []
            vacate_seat(rules, draft, self.seat)
        body = describe_hold(self.hold, self.clocks) if self.hold and game.status == "running" else {}
        body |= {"conceded": True} if self.concedes else {}
        return build_record(
            rules, game, context, draft, "left", by=self.by, seat=self.seat, cover_seats=cover, body=body
        )

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Leave:
        body = record.body
        return cls(
            seat_of_record(record),
            body.get("hold", 0),
            record.public.get("by"),
            body.get("conceded", False),
            body.get("clocks", "restarted"),
        )


def has_cover_packs(game: AnyGame) -> bool:
    """Return whether vacated seats get a cover pack; records of older tables, without the term `hold`, lack them."""
    return "hold" in game.terms


def is_asked_in_secret(state: State, seat: Seat) -> bool:
    """Return whether the seat needs a pack when vacated: a missing one would reveal its earlier answer."""
    return bool(state.frames) and state.top.secret and seat in state.top.asked


def vacate_seat(rules: Ruleset[S], draft: Draft[S], seat: Seat) -> None:
    """Make a seat vacant, with the consequences that the rules define."""
    draft.add(Vacated(seat))
    rules.vacated(draft, seat)
    resume_frames(draft)


@dataclass(frozen=True)
class Vacate(Command):
    """The hold of a seat has ended without a new player: it is now vacant, with consequences defined by the rules."""

    verb: ClassVar[str] = "Vacate"
    seat: Seat

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_running(game)
        refuse_unless(self.seat in game.unvacated_seats, "not_due", seats=[self.seat])
        now = context.record_time(game)
        is_over = not game.pause_at(now) and game.timing.banks[self.seat].hold_end <= now
        refuse_unless(is_over, "not_due", seats=[self.seat])
        draft, body = new_draft(rules, game, context), {"act": "vacate"}
        cover = [self.seat] if is_asked_in_secret(game.state, self.seat) else []
        vacate_seat(rules, draft, self.seat)
        return build_record(
            rules, game, context, draft, "ruled", by="clock", seat=self.seat, cover_seats=cover, body=body
        )

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Vacate:
        return cls(seat_of_record(record))


NONCE_WAIT_MS = 120_000
"""Time after the last change of a seat for which a start waits for nonces that seats have committed to, ms."""


def _require_nonces(game: AnyGame, now: int) -> None:
    """Raise RuleError while a seat has committed to a nonce and may still reveal it: it would not count."""
    seats, until = game.seating.unrevealed_seats, game.time + NONCE_WAIT_MS
    refuse_unless(not seats or now >= until, "nonces_open", seats=seats, until=until)


@dataclass(frozen=True)
class Start(Command):
    """Set-up. It waits for committed nonces (`NONCE_WAIT_MS`); older logs did not.

    A scenario's patch is a fact of this record, so its log replays like any other. A fork has no set-up: its `state` is
    that of its origin, with `own` as known to the seat of its first record. All its seats have players, and everything
    unknown is dealt anew.
    """

    verb: ClassVar[str] = "Start"
    least_office: ClassVar[Office] = "deputy"
    open_to_players: ClassVar[bool] = True
    patch: Json = None
    state: Doc | None = field(default=None, metadata=HASHED_UNLESS_DEFAULT)
    own: Doc | None = field(default=None, metadata=HASHED_UNLESS_DEFAULT)

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        refuse_unless(game.status == "open", "not_open", status=game.status)
        refuse_unless(len(game.players) == game.table.seats, "seats_missing", taken=sorted(game.players))
        if not context.replaying:
            _require_nonces(game, context.record_time(game))
        refuse_unless((self.state is not None) == ("origin" in game.terms), "not_open", status=game.status)
        draft = new_draft(rules, game, context)
        if self.state is not None:
            self._restore(rules, draft, self.state, game)
        else:
            rules.setup(draft)
        if self.patch is not None:
            draft.add(Patched(self.patch))
        resume_frames(draft)
        return build_record(rules, game, context, draft, "started")

    def _restore(self, rules: Ruleset[S], draft: Draft[S], state: Doc, game: AnyGame) -> None:
        """Give a fork the state of its origin, and deal anew whatever its viewer, or no seat, has seen of it."""
        viewer = game.terms["origin"].get("known_to")
        draft.add(Restored(state))
        if self.own is not None:
            draft.add(Restored(self.own), (viewer,))
        for seat in draft.state.vacant:
            draft.add(Seated(seat))
        rules.redeal(draft, tuple(range(game.table.seats)) if viewer is None else (viewer,))

    @classmethod
    def from_record(cls, record: Record, game: AnyGame | None) -> Start:
        found = {f["t"]: f for f in record.public.get("facts", ()) if f["t"] in ("patched", "restored")}
        own = [f["state"] for pack in record.packs.values() for _, f in pack.get("facts", ()) if f["t"] == "restored"]
        return cls(found.get("patched", {}).get("patch"), found.get("restored", {}).get("state"), *own[:1])


@dataclass(frozen=True)
class Close(Command):
    """Last command: it reveals the seed, so anyone can recompute every draw; all packs become readable.

    With any reason except `finished` it comes from a director, or from the clock for a table never started and after a
    ruling; `by` names the author, except in older records.
    """

    verb: ClassVar[str] = "Close"
    reason: str = "finished"
    by: By | None = field(default=None, metadata=NOT_HASHED)

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        refuse_unless(game.status != "closed", "game_over")
        if (ruling := game.pending_ruling) is not None:
            refuse_unless(self.reason == ruling.reason and self.by == "clock", "ruling_pending", version=ruling.version)
            refuse_unless(context.record_time(game) >= ruling.final_at, "not_due")
            return self._build(rules, game, context)
        refuse_unless(self.reason not in ENDINGS, "no_ruling")
        refuse_unless(game.status == "over" or self.reason != "finished", "still_running")
        is_abandoned = game.status == "open" and context.record_time(game) >= game.time + UNSTARTED_LIMIT_MS
        refuse_unless(self.by != "clock" or is_abandoned, "not_due")
        return self._build(rules, game, context)

    def _build(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        body = {"reason": self.reason, "seed": context.seed.hex()}
        return build_record(rules, game, context, new_draft(rules, game, context), "closed", by=self.by, body=body)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Close:
        return cls(record.body["reason"], record.public.get("by"))
