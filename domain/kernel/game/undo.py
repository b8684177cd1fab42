"""Who must agree before a game goes back: free up to the last barrier, beyond it those who know or did more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from domain.errors import RuleError
from domain.kernel.game.game import AnyGame, bot_of, line
from domain.kernel.records.audience import seats_of
from domain.kernel.records.record import Record, visible_packs
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import Json, Seat

Policy = Literal["free", "consent", "director", "none"]
"""What the table agreed: seats undo as they like; with consent past a barrier; only the director; nobody."""


@dataclass(frozen=True)
class Motion:
    """What a rewind would undo. Public, but for `hidden`, which is the director's alone."""

    to: int
    seat: Seat
    undone: tuple[int, ...]
    """Versions of the line that would no longer count."""
    free: bool
    """No seat needs to agree."""
    consents: tuple[Seat, ...]
    """Seats that must agree, ascending."""
    draws: tuple[tuple[int, str, Json], ...]
    """Public draws that would have been seen for nothing: version, label, value."""
    hidden: tuple[tuple[int, str], ...]
    """What single seats have learnt: version, audience."""

    def to_json(self, director: bool = False) -> dict[str, Json]:
        """As clients see it."""
        doc: dict[str, Json] = {
            "to": self.to,
            "seat": self.seat,
            "undone": list(self.undone),
            "free": self.free,
            "consents": list(self.consents),
            "draws": [list(d) for d in self.draws],
        }
        return doc | ({"hidden": [list(h) for h in self.hidden]} if director else {})


def undone(records: Sequence[Record], to: int) -> list[Record]:
    """What going back to version `to` would undo; `records` are all of the game. Raises RuleError `not_on_line`."""
    counting = line(records)
    start = next((r.version for r in records if r.kind == "started"), len(records) + 1)
    if to not in counting or not start <= to < counting[-1]:
        raise RuleError("not_on_line", "", {"to": to})
    return [records[v - 1] for v in counting if v > to]


def may_undo(rules: AnyRuleset, records: Sequence[Record], seat: Seat, policy: Policy) -> None:
    """Raises RuleError `undo_forbidden` where table or rules let no seat undo one of these records.

    Judged by what the seat may read: a refusal must not tell of a move that others keep to themselves.
    """
    types = {move["type"] for r in records for _, move in seen(r, seat).acts()}
    if (
        policy not in ("free", "consent")
        or not rules.meta.undo
        or not all(rules.moves[t].admission.undo for t in types)
    ):
        raise RuleError("undo_forbidden")


def seen(record: Record, seat: Seat) -> Record:
    """The record as a seat may read it."""
    return Record(record.public, visible_packs(record, seat))


def public_draws(records: Sequence[Record]) -> tuple[tuple[int, str, Json], ...]:
    """Draws that everybody has seen: version, label, value."""
    return tuple((r.version, d[1], d[3]) for r in records for d in r.public.get("draws", ()))


def learnt(records: Sequence[Record]) -> tuple[tuple[int, str], ...]:
    """What single seats have learnt: version, audience."""
    return tuple((r.version, key) for r in records for key in sorted(r.packs) if seats_of(key))


def motion(
    rules: AnyRuleset, p: AnyGame, records: Sequence[Record], to: int, seat: Seat, policy: Policy = "consent"
) -> Motion:
    """What it takes for that seat to go back to version `to` of the line.

    `records` are all of the game. Raises RuleError `undo_forbidden` or `not_on_line`.
    """
    gone = undone(records, to)
    may_undo(rules, gone, seat, policy)
    others = [s for s, player in sorted(p.players.items()) if s != seat and player.id and not bot_of(player)]
    asked = [] if policy == "free" else [s for s in others if any(_concerns(r, s) for r in gone)]
    versions = tuple(r.version for r in gone)
    return Motion(to, seat, versions, not asked, tuple(asked), public_draws(gone), learnt(gone))


def _concerns(record: Record, seat: Seat) -> bool:
    """Whether the seat has learnt something from the record, or was its author."""
    if any(seat in seats_of(key) for key in record.packs) or any(s == seat for s, _ in record.acts()):
        return True
    return bool(record.public.get("barrier")) or record.public.get("by") != "seat"


def agreed(asked: Motion, consent: Sequence[Seat]) -> None:
    """Raises RuleError `consent_missing` unless every seat that must agree has agreed."""
    if missing := [s for s in asked.consents if s not in consent]:
        raise RuleError("consent_missing", "", {"missing": missing})
