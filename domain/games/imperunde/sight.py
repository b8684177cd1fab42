"""What one viewer sees (IMP-14): `public` the common board, a seat what it sees besides, the director all."""

from __future__ import annotations

from domain.games.imperunde.data import PIECES, PIRATES
from domain.games.imperunde.state import ImpeRunde
from domain.ids import DIRECTOR, PUBLIC, Json, Seat, Viewer
from domain.kernel.jsonform import to_json


def sight(s: ImpeRunde, viewer: Viewer) -> Json:
    """IMP-14."""
    if viewer == PUBLIC:
        return _public(s)
    if viewer == DIRECTOR:
        return {
            "hands": [list(hand) for hand in s.hands],
            "auto": [dict(auto) for auto in s.auto],
            "budgets": {seat: to_json(budget) for seat, budget in s.budgets.items()},
            "deck": list(s.deck),
            "seen": list(s.seen),
        }
    return _own(s, int(viewer))


def _public(s: ImpeRunde) -> Json:
    return {
        "goal": s.goal,
        "turn_limit": s.turn_limit,
        "turn": s.turn,
        "phase": s.phase,
        "order": list(s.order),
        "active": s.active,
        "nations": [_nation(s, seat) for seat in s.everybody],
        "countries": {k: _form(c) for k, c in s.countries.items()},
        "zones": {k: _form(z) for k, z in s.zones.items()},
        "pairs": {k: _form(p) for k, p in s.pairs.items()},
        "canals": list(s.canals),
        "pirates": {ship: s.supply("pirates", ship) for ship in PIRATES},
        "pile": s.pile,
        "discard": list(s.discard),
        "struck": list(s.struck),
        "combat": _form(s.combat) if s.combat else None,
        "winner": s.winner,
        "seen": list(s.seen) if _shown_to_all(s) else [],
    }


def _nation(s: ImpeRunde, seat: Seat) -> Json:
    supply = {unit: s.supply(seat, unit) for unit in PIECES}
    return {**_form(s.nations[seat]), "posts": s.posts(seat), "supply": supply}


def _form(part: object) -> Json:
    """The JSON form of a part of the state, made once per object."""
    kept = part.__dict__.setdefault("_memo", {})
    if "form" not in kept:
        kept["form"] = to_json(part)
    return kept["form"]


def _own(s: ImpeRunde, seat: Seat) -> Json:
    budget = s.budgets.get(str(seat))
    return {
        "hand": sorted(s.hands[seat]),
        "auto": dict(s.auto[seat]),
        "budget": to_json(budget) if budget else None,
        "owes": bool(s.frames) and seat in s.top.owing,
        "seen": sorted(s.seen) if sees_hand(s, seat) else [],
    }


def _shown_to_all(s: ImpeRunde) -> bool:
    return bool(s.frames) and s.top.kind == "theft" and bool(s.top.data["reveal"])


def sees_hand(s: ImpeRunde, seat: Seat) -> bool:
    """IMP-9.4.16: whether the hand that is shown is shown to this seat."""
    return bool(s.frames) and s.top.kind == "theft" and (s.top.data["reveal"] or seat in s.top.asked)
