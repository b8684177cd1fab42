"""EGC-7.12 to EGC-7.16, EGC-7.18 to EGC-7.21: diplomatic orders."""

from __future__ import annotations

from domain.games.egc.data import DIPLOMACY, HOMES, SEAT, STRAITS, annex_cost
from domain.games.egc.moves import (
    Annex,
    AnswerProposal,
    Drop,
    GiveTerritory,
    InstallProtectorate,
    Protect,
    RelationAction,
    SetPorts,
    SetStraits,
)
from domain.games.egc.rules.projection import (
    Copy,
    known_recipient,
    known_strait,
    known_target,
    known_territory,
    need,
    need_calm,
    need_other,
)
from domain.games.egc.rules.wars import has_casus_belli
from domain.games.egc.state import HOSTILE, Egc, Filed
from domain.types import Seat

RULE = "EGC-7.12"


def action_cost(relation: str, action: str) -> int:
    """EGC-7.12: points for an action, without the stake."""
    if action == "degrade" and relation == "war":
        action = "degrade_at_war"
    cost: int = DIPLOMACY.get(action, 0)
    return cost


def pending(s: Egc, seat: Seat, other: Seat) -> bool:
    """EGC-7.12: whether a proposal between the two awaits an answer this turn."""
    return any({p.sender, p.target} == {seat, other} for p in s.proposals.values())


def relation_action(c: Copy, move: RelationAction, filed: Filed) -> None:
    """EGC-7.12."""
    known_target(move.target)
    other, action, stake = SEAT[move.target], move.action, move.stake or 0
    need_other(c, other, RULE)
    need_calm(c, other, RULE)
    need(stake >= 0, "bad_amount", RULE)
    check_action(c.s, c.seat, other, action)
    need(action != "declare_war_cb" or stake == 0, "stake_not_allowed", RULE)
    c.points -= action_cost(c.s.relation(c.seat, other), action) + stake


def check_action(s: Egc, seat: Seat, other: Seat, action: str) -> None:
    """EGC-7.12: the conditions of an action, but the stake."""
    relation = s.relation(seat, other)
    if action == "degrade":
        need(relation != "total_war", "relation_floor", RULE)
    elif action in ("propose", "incite"):
        need(relation != "alliance", "relation_ceiling", RULE)
        need(not pending(s, seat, other), "proposal_pending", RULE)
    elif action == "sabotage":
        need(relation in HOSTILE, "not_at_war", RULE)
    else:
        need(relation not in HOSTILE, "already_at_war", RULE)
        need(has_casus_belli(s, seat, other), "no_casus_belli", RULE)


def answer_cost(action: str, accept: bool) -> int:
    """EGC-7.13."""
    key = {("propose", True): "accept", ("incite", False): "refuse_incite"}.get((action, accept))
    cost: int = DIPLOMACY[key] if key else 0
    return cost


def answer_proposal(c: Copy, move: AnswerProposal, filed: Filed) -> None:
    """EGC-7.13."""
    proposal = c.s.proposals.get(move.proposal)
    need(proposal is not None and proposal.target == c.seat, "unknown_proposal", "EGC-7.13")
    if proposal:
        c.points -= answer_cost(proposal.action, move.accept)


def set_straits(c: Copy, move: SetStraits, filed: Filed) -> None:
    """EGC-7.14."""
    known_strait(move.strait)
    known_target(move.target)
    other = SEAT[move.target]
    need_other(c, other, "EGC-7.14")
    need(c.owns(STRAITS[move.strait].controller), "not_owner", "EGC-7.14", cause="strait", strait=move.strait)
    need_calm(c, other, "EGC-7.14")
    closed = f"{move.strait}:{other}" in c.s.closed
    need(move.closed != closed, "no_change", "EGC-7.14")


def set_ports(c: Copy, move: SetPorts, filed: Filed) -> None:
    """EGC-7.15."""
    known_target(move.target)
    other = SEAT[move.target]
    need_other(c, other, "EGC-7.15")
    need_calm(c, other, "EGC-7.15")
    need(move.open != (f"{c.seat}:{other}" in c.s.open_ports), "no_change", "EGC-7.15")


def give_territory(c: Copy, move: GiveTerritory, filed: Filed) -> None:
    """EGC-7.16."""
    known_territory(move.territory)
    known_recipient(move.to)
    territory, other = move.territory, SEAT[move.to]
    need_other(c, other, "EGC-7.16")
    check_gift(c, territory)
    need_calm(c, other, "EGC-7.16")


def check_gift(c: Copy, territory: str) -> None:
    """EGC-7.16: the allowed gifts of territory."""
    land = c.s.lands[territory]
    mine = land.protectorate is not None and land.protectorate.seat == c.seat
    need(c.owns(territory) or mine, "not_owner", "EGC-7.16")
    need(territory != HOMES[c.seat] or not c.owns(territory), "metropolis_not_giveable", "EGC-7.16")
    need(mine or len(c.s.owned(c.seat)) > 1, "last_territory", "EGC-7.16")


def protect(c: Copy, move: Protect, filed: Filed) -> None:
    """EGC-7.18."""
    known_territory(move.territory)
    land = c.s.lands[move.territory]
    need(land.owner is None, "not_neutral", "EGC-7.18")
    need(land.protectorate is None, "is_protectorate", "EGC-7.18")
    need(str(c.seat) not in land.protections, "already_protected", "EGC-7.18")
    c.points -= DIPLOMACY["protect"]


def install_protectorate(c: Copy, move: InstallProtectorate, filed: Filed) -> None:
    """EGC-7.19."""
    known_territory(move.territory)
    land = c.s.lands[move.territory]
    need(land.owner is None, "not_neutral", "EGC-7.19")
    need(land.protectorate is None, "is_protectorate", "EGC-7.19")
    since = land.protections.get(str(c.seat))
    need(since is not None and c.s.in_force(since), "not_protected_by_you", "EGC-7.19")
    c.points -= DIPLOMACY["protectorate"]


def annex(c: Copy, move: Annex, filed: Filed) -> None:
    """EGC-7.20."""
    known_territory(move.territory)
    held = c.s.lands[move.territory].protectorate
    need(held is not None and held.seat == c.seat, "not_your_protectorate", "EGC-7.20")
    if held:
        c.points -= annex_cost(c.s.turn - held.since)


def drop(c: Copy, move: Drop, filed: Filed) -> None:
    """EGC-7.21."""
    known_territory(move.territory)
    land = c.s.lands[move.territory]
    held = land.protectorate is not None and land.protectorate.seat == c.seat
    need(held or str(c.seat) in land.protections, "nothing_to_drop", "EGC-7.21")
