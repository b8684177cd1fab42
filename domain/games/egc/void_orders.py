"""EGC-14: orders of a turn without any effect, and why, for its sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from domain.games.egc.data import SEAT, STRAITS
from domain.games.egc.state import ELIMINATED, ENEMIES, Egc
from domain.types import Doc, Json, Seat

TERRITORIAL: Mapping[str, tuple[str, ...]] = {
    "give_territory": ("territory_given", "protectorate_given"),
    "annex": ("territory_annexed",),
    "install_protectorate": ("protectorate_installed",),
    "protect": ("territory_protected",),
    "drop": ("protection_ended", "protectorate_ended"),
}
"""EGC-14.9: order on a territory -> the news of its success."""


def find_void_orders(s: Egc, seat: Seat) -> Iterator[Doc]:
    """Yield a seat's orders without effect, with the reason; `s` is the state after P12 of the resolution."""
    for filed in s.sheets[seat].orders:
        if reason := _reason(s, seat, filed.order):
            yield {"seat": seat, "n": filed.n, "done": filed.order, **reason}


def _reason(s: Egc, seat: Seat, order: Doc) -> Mapping[str, Json] | None:
    kind = order["type"]
    if kind in TERRITORIAL:
        done = any(_is_news(s, name, seat=seat, territory=order["territory"]) for name in TERRITORIAL[kind])
        return None if done else _territorial_reason(s, seat, order["territory"])
    if kind == "set_straits":
        strait = STRAITS[order["strait"]]
        lost = s.lands[strait.controller].owner != seat
        return {"why": "strait", "territory": strait.controller} if lost else _eliminated(s, order["target"])
    if kind == "set_ports":
        return _eliminated(s, order["target"])
    if kind == "relation_action":
        return _relation_reason(s, seat, SEAT[order["target"]], order["action"])
    return None


def _is_news(s: Egc, kind: str, **members: Json) -> bool:
    return any(news["t"] == kind and all(news[k] == v for k, v in members.items()) for news in s.news)


def _eliminated(s: Egc, target: str) -> Mapping[str, Json] | None:
    return {"why": "eliminated", "by": SEAT[target]} if s.status[SEAT[target]] == ELIMINATED else None


def _territorial_reason(s: Egc, seat: Seat, territory: str) -> Mapping[str, Json]:
    """EGC-14.9: an order on a territory conquered this turn, or no longer held as it needs, is void."""
    land = s.lands[territory]
    if land.conquered_turn == s.turn:
        return {"why": "conquered", "territory": territory, "by": land.owner}
    if land.owner not in (None, seat):
        return {"why": "owned", "territory": territory, "by": land.owner}
    if land.protectorate and land.protectorate.seat != seat:
        return {"why": "protectorate", "territory": territory, "by": land.protectorate.seat}
    return {"why": "lost", "territory": territory, "by": seat}


def _relation_reason(s: Egc, seat: Seat, target: Seat, action: str) -> Mapping[str, Json] | None:
    """EGC-14.4 to EGC-14.6: a relation already beyond the action; an action with its price back has a sentence."""
    back = s.reports[seat].get("action_cancelled", ())
    if action == "sabotage" or any(entry["target"] == target for entry in back):
        return None
    begun = _is_news(s, "war_declared", seat=seat, target=target)
    changed = any(_is_news(s, "relation_changed", seat=a, target=b) for a, b in ((seat, target), (target, seat)))
    offered = any(entry["target"] == target for entry in s.reports[seat].get("proposal_made", ()))
    if begun or changed or offered:
        return None
    if s.relation(seat, target) in ENEMIES:
        return {"why": "enemies"}
    return {"why": "allies"} if s.allied(seat, target) else None
