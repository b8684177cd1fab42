"""Commands of officers and of the service: rewind, look, extend, shift, hold, reissue, depute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from domain.kernel.game.command import (
    HASHED_UNLESS_DEFAULT,
    NOT_HASHED,
    Command,
    refuse_unless,
    require_play,
    require_running,
    seat_of_record,
)
from domain.kernel.game.deadlines import SECOND, parse_time_control
from domain.kernel.game.game import AnyGame, Game
from domain.kernel.game.game_fold import apply_rewind
from domain.kernel.game.officers import Office, Officer, Staff, includes_office, may_give
from domain.kernel.game.play_commands import require_known_time, require_open_decision
from domain.kernel.game.record_builder import By, CommandContext, Transition, build_record, new_draft, voting_seats
from domain.kernel.game.seat_players import Player
from domain.kernel.game.table_commands import HoldClocks, describe_hold, has_cover_packs, is_asked_in_secret
from domain.kernel.game.undo import waiting_seats
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import resume_frames
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import S, Seated, Vacated
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Doc, Seat, Viewer

MIN_REMAINING_MS = 60_000
"""Least time left after a deadline is brought forward, in ms."""


@dataclass(frozen=True)
class Rewind(Command):
    """Go back to the active version `to` (`not_on_line`); nothing is deleted. `reason` is a salted hash of the text.

    With `fresh` the epoch rises and everything unseen is dealt again; a seat needs everybody's consent for it. With
    `clocks` "kept", every decision has the time that it had at that version, and what deadlines were moved by since. A
    seat that goes back without consent pays for the time since then (`no_time_left`). Records before that rule are
    "restarted": every clock begins again.
    """

    verb: ClassVar[str] = "Rewind"
    least_office: ClassVar[Office] = "arbiter"
    to: int
    by: By = "director"
    seat: Seat | None = None
    consent: Sequence[Seat] = ()
    reason: str = ""
    fresh: bool = False
    clocks: Literal["kept", "restarted"] = field(default="kept", metadata=HASHED_UNLESS_DEFAULT)

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        target = self._find_target(rules, game, context)
        rewinds = game.lasting.rewinds
        back = game.rewind_to(target, replace(rewinds, epoch=rewinds.epoch + self.fresh))
        transition = self._build_record(rules, game, back, context)
        rewound = apply_rewind(rules, game, target, transition.record).with_digests(transition.game.reversible.digests)
        if self.by == "seat" and self.seat is not None:
            self._check_seat(game, target, rewound, self.seat, context)
        return Transition(transition.record, rewound)

    def _find_target(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Game[S]:
        if self.by == "seat":
            require_play(game, context.record_time(game))
        require_running(game)
        refuse_unless(rules.meta.undo or self.by == "director", "undo_forbidden")
        target: Game[S] = context.game_at(self.to)
        refuse_unless(target.status == "running" and target.version < game.version, "not_on_line", to=self.to)
        return target

    def _build_record(self, rules: Ruleset[S], game: Game[S], back: Game[S], context: CommandContext) -> Transition[S]:
        draft = new_draft(rules, back, context)
        if self.fresh:
            everybody: tuple[Viewer, ...] = tuple(range(game.table.seats))
            rules.redeal(draft, everybody)
        seats = range(game.table.seats) if has_cover_packs(game) else ()
        asked_in_secret = [seat for seat in seats if is_asked_in_secret(draft.state, seat)]
        vacated = _update_vacancies(rules, draft, game, context.playing_time(game))
        cover = [seat for seat in vacated if seat in asked_in_secret]
        # Without the digest of the board, the record has one in any case.
        blind = Game(back.tip, replace(back.reversible, board=""), back.lasting)
        return build_record(
            rules, blind, context, draft, "rewound", by=self.by, seat=self.seat, cover_seats=cover, body=self._body()
        )

    def _check_seat(
        self, game: AnyGame, target: AnyGame, rewound: AnyGame, seat: Seat, context: CommandContext
    ) -> None:
        """Raise RuleError unless the seat may go back: it has time left, and all who must agree have."""
        if not self.consent and self.clocks == "kept":
            _require_time_left(rewound, seat)
            waiting = waiting_seats(game, target, seat, context.record_time(game))
            is_left_open = game.terms.get("undo") == "free" or context.replaying
            refuse_unless(is_left_open or not waiting, "consent_missing", missing=list(waiting))
        must_all_agree = self.fresh or (self.consent and game.timing.thinking)
        if must_all_agree and not context.replaying:
            missing = [s for s in voting_seats(game, seat) if s not in self.consent]
            refuse_unless(not missing and bool(self.consent), "consent_missing", missing=missing)

    def _body(self) -> Doc:
        body: Doc = {"to": self.to, "entropy": "fresh" if self.fresh else "keep"}
        body |= {"clocks": "kept"} if self.clocks == "kept" else {}
        consent = {"consent": list(self.consent)} if self.consent else {}
        return body | consent | ({"reason": self.reason} if self.reason else {})

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Rewind:
        body = record.body
        return cls(
            body["to"],
            record.public["by"],
            record.public.get("seat"),
            body.get("consent", ()),
            body.get("reason", ""),
            body["entropy"] == "fresh",
            body.get("clocks", "restarted"),
        )


def _require_time_left(rewound: AnyGame, seat: Seat) -> None:
    """Raise RuleError if the seat would owe the open decision without any time left for it."""
    clock = rewound.clock
    if clock is None or seat not in rewound.frames[-1].owing:
        return
    is_over = not clock.left and clock.daily is None and not rewound.timing.banks[seat].bank
    refuse_unless(not is_over, "no_time_left")


def _update_vacancies(rules: Ruleset[S], draft: Draft[S], game: Game[S], at: int) -> list[Seat]:
    """Apply changes of players since the target version to the state: seating belongs to the game, not to its versions.

    Return the seats vacated by this.
    """
    vacated: list[Seat] = []
    for seat, player in sorted(game.players.items()):
        is_absent = seat in game.absent_seats
        has_left = not player.id and game.timing.banks[seat].hold_end <= at
        if (has_left or is_absent) and seat not in draft.state.vacant:
            draft.add(Vacated(seat))
            rules.vacated(draft, seat)
            vacated.append(seat)
        elif seat in draft.state.vacant and not is_absent and (player.id or seat in game.unvacated_seats):
            draft.add(Seated(seat))
    resume_frames(draft)
    return vacated


@dataclass(frozen=True)
class Look(Command):
    """The director looks at hidden information. The act is public, its content stays secret until the end."""

    verb: ClassVar[str] = "Look"
    least_office: ClassVar[Office] = "arbiter"

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_running(game)
        draft, ruling = new_draft(rules, game, context), {"act": "look"}
        return build_record(rules, game, context, draft, "ruled", by="director", ruling=ruling)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Look:
        return cls()


@dataclass(frozen=True)
class Extend(Command):
    """Move the deadline of the open decision by `ms`: after an outage, for a holiday, by the director's leave.

    With `until` the new deadline is that time, ms since 1970, and the record holds the difference. The new deadline
    must not cause an immediate default; older logs hold some that do.
    """

    verb: ClassVar[str] = "Extend"
    least_office: ClassVar[Office] = "arbiter"
    decision: str
    ms: int = 0
    by: By = "director"
    until: int | None = field(default=None, metadata=HASHED_UNLESS_DEFAULT)

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_running(game)
        require_open_decision(rules, game, self.decision)
        ms = self._move_by(game, context)
        deadline = game.as_at_standstill.deadline
        if not context.replaying and (ms < 0 or self.until is not None) and deadline is not None:
            soonest = context.playing_time(game) + MIN_REMAINING_MS
            refuse_unless(deadline + ms >= soonest, "deadline_too_soon", deadline=deadline, soonest=soonest)
            refuse_unless(self.until != deadline, "already_until", until=deadline)
        body = {"act": "extend", "decision": self.decision, "ms": ms}
        return build_record(rules, game, context, new_draft(rules, game, context), "ruled", by=self.by, body=body)

    def _move_by(self, game: AnyGame, context: CommandContext) -> int:
        """Return the ms by which the deadline moves."""
        if self.until is None:
            return self.ms
        require_known_time(game, context)
        refuse_unless(game.deadline is not None, "no_deadline")
        return self.until - (game.deadline or 0)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Extend:
        return cls(record.body["decision"], record.body["ms"], record.public["by"])


@dataclass(frozen=True)
class SetPace(Command):
    """Give the game another time control; every clock starts again. `pace` has the form of the record `opened`."""

    verb: ClassVar[str] = "SetPace"
    pace: Doc

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_running(game)
        body = {"act": "pace", "pace": parse_time_control(rules.meta, self.pace).to_json()}
        return build_record(rules, game, context, new_draft(rules, game, context), "ruled", by="director", body=body)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> SetPace:
        return cls(record.body["pace"])


@dataclass(frozen=True)
class Shift(Command):
    """The service clock was set forward by `ms`, and all due times with it: nobody loses time.

    Its record is the first of the new time; `CommandContext.now` is already set forward. The command's id prevents a
    second shift for the same clock reading.
    """

    verb: ClassVar[str] = "Shift"
    ms: int

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        refuse_unless(game.status in ("open", "running") or game.pending_ruling is not None, "game_over")
        body = {"act": "shift", "ms": self.ms, "reason": "clock_set_forward"}
        return build_record(rules, game, context, new_draft(rules, game, context), "ruled", by="clock", body=body)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Shift:
        return cls(record.body["ms"])


@dataclass(frozen=True)
class Hold(Command):
    """Stop the seat's time for `seconds` from now on, and play no default for it; 0 ends the hold.

    With `until` the hold ends at that time, ms since 1970, rounded up to whole seconds. Use it to reserve a seat for a
    substitute, or for a player unable to play just now.
    """

    verb: ClassVar[str] = "Hold"
    least_office: ClassVar[Office] = "arbiter"
    seat: Seat
    seconds: int = 0
    until: int | None = field(default=None, metadata=HASHED_UNLESS_DEFAULT)
    clocks: HoldClocks = field(default="kept", metadata=NOT_HASHED)

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_running(game)
        refuse_unless(0 <= self.seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        draft = new_draft(rules, game, context)
        body = {"act": "hold"} | describe_hold(self._seconds(game, context), self.clocks)
        return build_record(rules, game, context, draft, "ruled", by="director", seat=self.seat, body=body)

    def _seconds(self, game: AnyGame, context: CommandContext) -> int:
        if self.until is None:
            return self.seconds
        now, end = require_known_time(game, context), game.timing.banks[self.seat].hold_end
        refuse_unless(self.until > now, "time_passed", now=now)
        refuse_unless(not self.until <= end < self.until + SECOND, "already_until", until=end)
        return -((now - self.until) // SECOND)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Hold:
        return cls(seat_of_record(record), record.body["hold"], clocks=record.body.get("clocks", "restarted"))


@dataclass(frozen=True)
class Reissue(Command):
    """Replace the lost token of a seat's player: the replacement is public."""

    verb: ClassVar[str] = "Reissue"
    least_office: ClassVar[Office] = "deputy"
    seat: Seat

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        refuse_unless(game.status in ("open", "running"), "game_over")
        refuse_unless(0 <= self.seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        refuse_unless(bool(game.players.get(self.seat, Player("")).id), "seat_empty", seat=self.seat)
        draft, body = new_draft(rules, game, context), {"act": "reissue"}
        return build_record(rules, game, context, draft, "ruled", by="director", seat=self.seat, body=body)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Reissue:
        return cls(seat_of_record(record))


Cause = Literal["", "inherited"]


@dataclass(frozen=True)
class Depute(Command):
    """Give a person a role of an officer, `none` to end it. `owner` hands the table over, `former` names its owner.

    An officer gives and ends roles below the own one, and may give up the own role. An owner hands over the table to
    anybody. The highest officer below the owner may inherit it: `cause` is then "inherited". That the owner is gone is
    for the caller to check.
    """

    verb: ClassVar[str] = "Depute"
    least_office: ClassVar[Office] = "arbiter"
    player: str
    role: Literal["arbiter", "deputy", "director", "owner", "none"]
    former: str = ""
    cause: Cause = ""

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        refuse_unless(game.status in ("open", "running"), "game_over")
        inherits = self.cause == "inherited"
        refuse_unless(not inherits or game.lasting.staff.owner in ("", self.former), "office_ended")
        if context.agreement is None:
            check_appointment(game.lasting.staff, context.officer, self.player, self.role, inherits=inherits)
        body: Doc = {"player": self.player, "role": self.role}
        body |= {"from": self.former} if self.former else {}
        body |= {"cause": self.cause} if self.cause else {}
        return build_record(rules, game, context, new_draft(rules, game, context), "deputed", by="director", body=body)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Depute:
        body = record.body
        return cls(body["player"], body["role"], body.get("from", ""), body.get("cause", ""))


def check_appointment(staff: Staff, officer: Officer | None, player: str, role: str, *, inherits: bool = False) -> None:
    """Raise RuleError unless the officer may give a person this role, or end the person's role (`none`)."""
    refuse_unless(officer is not None, "office_insufficient")
    if officer is None:
        return
    held = staff.office_of(player)
    if inherits:
        refuse_unless(officer.office != "owner", "has_office")
        is_highest = all(includes_office(officer.office, office) for office in staff.offices.values())
        refuse_unless(officer.player == player and role == "owner" and is_highest, "office_insufficient")
    elif role == "none":
        refuse_unless(held is not None and held != "owner", "no_office")
        refuse_unless(officer.player == player or may_give(officer.office, held), "no_office")
    else:
        refuse_unless(officer.player != player and held != role, "has_office")
        refuse_unless(may_give(officer.office, role), "office_insufficient")
        refuse_unless(may_give(officer.office, held), "has_office")
