"""Consent to going back in a game: free up to the last barrier, beyond it from seats with later knowledge or moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from domain.errors import RuleError
from domain.kernel.game.clock_fold import thinking_until
from domain.kernel.game.game import AnyGame
from domain.kernel.game.record_builder import voting_seats
from domain.kernel.game.seat_players import bot_of
from domain.kernel.records.audience import seats_of
from domain.kernel.records.record import Record, visible_packs
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import Json, Seat

Policy = Literal["free", "consent", "director", "none"]
"""Agreement of the table: seats undo freely; with consent past a barrier; only the director; nobody."""


@dataclass(frozen=True)
class Motion:
    """Consequences of a requested rewind. Public, except `hidden`, reserved for the director."""

    to: int
    seat: Seat
    undone: tuple[int, ...]
    """Active versions to become inactive."""
    free: bool
    """No seat needs to agree."""
    consents: tuple[Seat, ...]
    """Seats required to agree, ascending."""
    draws: tuple[tuple[int, str, Json], ...]
    """Public draws seen in vain: version, label, value."""
    fresh: bool
    """Everything unseen is drawn anew."""
    hidden: tuple[tuple[int, str], ...]
    """Information given to single seats: version, audience."""


def undone_records(game: AnyGame, records: Sequence[Record], to: int) -> list[Record]:
    """Return the records undone by going back to version `to`.

    `records` are at least those after that version. Raise RuleError `not_on_line`.
    """
    undone = [r for r in records if r.version > to and game.is_active(r.version)]
    if game.status == "open" or not undone or not game.is_active(to) or any(r.kind == "started" for r in undone):
        raise RuleError("not_on_line", "", {"to": to})
    return undone


def check_may_undo(rules: AnyRuleset, records: Sequence[Record], seat: Seat, policy: Policy) -> None:
    """Raise RuleError `undo_forbidden` if table or rules let no seat undo one of these records.

    Only moves readable by the seat count: a refusal must not reveal a secret move of others.
    """
    types = {move["type"] for r in records for _, move in visible_record(r, seat).moves()}
    if not _may_undo(rules, types, policy):
        raise RuleError("undo_forbidden")


def _may_undo(rules: AnyRuleset, types: Iterable[str], policy: Policy) -> bool:
    """Return whether table and rules let a seat undo moves of these types."""
    is_possible = policy in ("free", "consent") and rules.meta.undo
    return is_possible and all(rules.moves[name].admission.undo for name in types)


def foresee_undo(
    rules: AnyRuleset, game: AnyGame, seat: Seat, policy: Policy, types: Iterable[str], *, barrier: bool
) -> Literal["alone", "consent", "never"]:
    """Return what it will take to undo moves of these types at once. `barrier`: they reveal or draw something."""
    if not _may_undo(rules, types, policy):
        return "never"
    return "consent" if policy != "free" and barrier and _other_people(game, seat) else "alone"


def _other_people(game: AnyGame, seat: Seat) -> list[Seat]:
    """Return the other seats with a person: programs need not consent."""
    return [s for s, player in sorted(game.players.items()) if s != seat and player.id and not bot_of(player)]


def visible_record(record: Record, seat: Seat) -> Record:
    """Return the record as readable by a seat."""
    return Record(record.public, visible_packs(record, seat))


def public_draws(records: Sequence[Record]) -> tuple[tuple[int, str, Json], ...]:
    """Return the draws seen by everybody: version, label, value."""
    return tuple((r.version, d[1], d[3]) for r in records for d in r.public.get("draws", ()))


def find_private_packs(records: Sequence[Record]) -> tuple[tuple[int, str], ...]:
    """Return version and audience of each pack readable by single seats only."""
    return tuple((r.version, key) for r in records for key in sorted(r.packs) if seats_of(key))


def build_motion(
    rules: AnyRuleset,
    game: AnyGame,
    records: Sequence[Record],
    to: int,
    seat: Seat,
    policy: Policy = "consent",
    waiting: Sequence[Seat] = (),
    *,
    fresh: bool | None = None,
) -> Motion:
    """Return the motion of a seat to go back to the active version `to`.

    `records` are at least those after it, as far as the seat may read them. Asked are the seats that have learnt or
    done something since, and the `waiting` ones, after long thinking. With consent the seat pays for no time, so at a
    table with deadlines everybody present is asked once somebody is. So is everybody about fresh chance (`fresh`);
    by default it is asked for if public draws are undone with somebody's consent.
    Raise RuleError `undo_forbidden` or `not_on_line`, and `consent_missing` for fresh chance without another person.
    """
    undone = undone_records(game, records, to)
    check_may_undo(rules, undone, seat, policy)
    others = _other_people(game, seat)
    consents = [] if policy == "free" else [s for s in others if s in waiting or any(_concerns(r, s) for r in undone)]
    versions, draws, voting = tuple(r.version for r in undone), public_draws(undone), voting_seats(game, seat)
    if fresh is None:
        fresh = bool(consents and draws and voting)
    if fresh and not voting:
        raise RuleError("consent_missing", "", {"missing": []})
    if fresh or (consents and game.timing.thinking):
        consents = sorted({*consents, *voting})
    return Motion(to, seat, versions, not consents, tuple(consents), draws, fresh, find_private_packs(undone))


def _concerns(record: Record, seat: Seat) -> bool:
    """Return whether the seat has learnt something from the record, or was its author."""
    if any(seat in seats_of(key) for key in record.packs) or any(s == seat for s, _ in record.moves()):
        return True
    is_others_agreement = record.kind == "rewound" or "agreed" in record.body
    return bool(record.public.get("barrier")) or record.public.get("by") != "seat" or is_others_agreement


def check_consent(motion: Motion, consent: Sequence[Seat]) -> None:
    """Raise RuleError `consent_missing` unless every required seat has agreed."""
    if missing := [s for s in motion.consents if s not in consent]:
        raise RuleError("consent_missing", "", {"missing": missing})


FREE_WAIT_MS = 60_000
"""Time for which another seat may have thought, before a seat that goes back needs its consent, ms."""


def waiting_seats(game: AnyGame, target: AnyGame, seat: Seat, now: int) -> tuple[Seat, ...]:
    """Return the other people whose time a free undo would waste or renew: at time `now` they have thought for long.

    Their thinking counts since the target was first reached, or many short waits would add up. A decision of several
    seats that both have open keeps its clock, so nobody is asked. In any other one its seats count alike, or the answer
    would tell who has already moved in secret.
    """
    if not (game.timing.thinking and target.timing.thinking and game.frames and target.frames):
        return ()
    top, shared = game.frames[-1], len(game.frames[-1].asked) > 1
    if shared and top.timer == target.frames[-1].timer:
        return ()
    thinking = thinking_until(game, now)
    before = target.reversible.undone_from or target.timing.thinking
    long = {s for s, ms in enumerate(thinking) if ms - before[s] > FREE_WAIT_MS}
    if shared and long.intersection(top.asked):
        long.update(top.asked)
    people = {s for s, player in game.players.items() if player.id and not bot_of(player)}
    return tuple(sorted(long & people - {seat}))
