"""Who must agree before a game goes back: free up to the last barrier, beyond it those who know or did more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from domain.errors import RuleError
from domain.ids import Json, Seat
from domain.kernel.audience import seats_of
from domain.kernel.fold import Position, line
from domain.kernel.record import Record, visible_packs
from domain.kernel.ruleset import Ruleset

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


def motion(
    rules: Ruleset[Any], p: Position[Any], records: Sequence[Record], to: int, seat: Seat, policy: Policy = "consent"
) -> Motion:
    """What it takes for that seat to go back to version `to` of the line.

    `records` are all of the game. Raises RuleError `undo_forbidden` or `not_on_line`.
    """
    undone = [records[v - 1] for v in line(records) if v > to]
    if to not in line(records) or not undone or records[to - 1].kind in ("opened", "joined", "revealed"):
        raise RuleError("not_on_line", "", {"to": to})
    # Only what the seat may read: a refusal must not tell of a move that others keep to themselves.
    types = {move["type"] for r in undone for _, move in Record(r.public, visible_packs(r, seat)).acts()}
    allowed = policy in ("free", "consent") and rules.meta.undo and all(rules.moves[t].undo for t in types)
    if not allowed:
        raise RuleError("undo_forbidden")
    others = [s for s in range(p.table.seats) if s != seat and s not in p.state.vacant]
    asked = [] if policy == "free" else [s for s in others if any(_concerns(r, s) for r in undone)]
    return Motion(
        to,
        seat,
        tuple(r.version for r in undone),
        not asked,
        tuple(asked),
        tuple((r.version, d[1], d[3]) for r in undone for d in r.public.get("draws", ())),
        tuple((r.version, key) for r in undone for key in sorted(r.packs) if seats_of(key)),
    )


def _concerns(record: Record, seat: Seat) -> bool:
    """Whether the seat has learnt something from the record, or was its author."""
    if any(seat in seats_of(key) for key in record.packs) or any(s == seat for s, _ in record.acts()):
        return True
    return bool(record.public.get("barrier")) or record.public.get("by") != "seat"


def agreed(asked: Motion, consent: Sequence[Seat]) -> None:
    """Raises RuleError `consent_missing` unless every seat that must agree has agreed."""
    if missing := [s for s in asked.consents if s not in consent]:
        raise RuleError("consent_missing", "", {"missing": missing})
