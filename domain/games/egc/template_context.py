"""Context of sentences besides the members of a fact, from the states around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.games.egc.data import EMPIRES, HOMES, TECHNOLOGIES, number_of
from domain.games.egc.facts.armies import ArmiesDrilled, ArmiesMarched, CombatFought, SheetCarriedOut, SupplyLost
from domain.games.egc.facts.opening import EmpireFounded, GameSetUp
from domain.games.egc.facts.realm import FinanceSettled, VictoryCounted
from domain.games.egc.facts.relations import MannedSet, TechnologySettled
from domain.games.egc.facts.sheets import EmpireSpied, OrderFiled, SheetOpened, TerritorySpied
from domain.games.egc.state import Army, Egc
from domain.kernel.rules.ruleset import ContextBuilder
from domain.types import Doc, Json, Seat


def _ports(_: Egc, __: Egc, fact: GameSetUp) -> Mapping[str, Json]:
    """Return the number of ports; their places are on the board."""
    return {"many": len(fact.ports)}


def _spied_levels(_: Egc, __: Egc, fact: TerritorySpied) -> Mapping[str, Json]:
    """Return the infrastructure above level 0."""
    return {"built": {kind: level for kind, level in fact.found.levels.items() if level}}


def _seas(before: Egc, _: Egc, fact: SheetOpened) -> Mapping[str, Json]:
    """Return whether the seas have changed since the sheet before."""
    changed = set(fact.controls) != set(before.sheets[fact.seat].controls)
    return {"gained": changed and bool(fact.controls), "lost": changed and not fact.controls}


def _moved(before: Egc, _: Egc, fact: ArmiesMarched | SheetCarriedOut) -> Mapping[str, Json]:
    """Return the places of moved and resized armies, and the lost ones."""
    old, places = before.armies[fact.seat], dict[str, list[tuple[str, int]]]()
    for army, force in sorted((fact.armies or {}).items(), key=lambda item: number_of(item[0])):
        if force and (army not in old or force[:2] != (old[army].territory, old[army].divisions)):
            places.setdefault(force[0], []).append((army, force[1]))
    gone = sorted((army for army, force in (fact.armies or {}).items() if force is None), key=number_of)
    some = [{"seat": fact.seat, "territory": t, **_new_and_old(places[t], old)} for t in sorted(places)]
    return {"places": some, **_lost_armies(gone)}


def _new_and_old(armies: Sequence[tuple[str, int]], old: Mapping[str, Army]) -> Mapping[str, Json]:
    """Return the raised armies and the changed ones, or only the totals if there are too many to name."""
    if len(armies) > FEW:
        return _strengths("armies", armies)
    raised = [list(entry) for entry in armies if entry[0] not in old]
    return {"raised": raised, "armies": [list(entry) for entry in armies if entry[0] in old]}


def _strengths(member: str, armies: Sequence[tuple[str, int]]) -> Mapping[str, Json]:
    """Return the armies with their divisions, or only the totals if there are too many to name."""
    if len(armies) <= FEW:
        return {member: [list(entry) for entry in armies]}
    return {"mass": {"armies": len(armies), "divisions": sum(divisions for _, divisions in armies)}}


def _lost_armies(armies: Sequence[str]) -> Mapping[str, Json]:
    return {"gone": list(armies)} if len(armies) <= FEW else {"fallen": len(armies)}


def _fought(_: Egc, __: Egc, fact: CombatFought) -> Mapping[str, Json]:
    """EGC-9.5, EGC-9.7: return the losers that still had divisions, and the percentage of encirclement if any."""
    left = {
        army: before - lost
        for army, before, lost in zip((fact.attacker, fact.defender), fact.before, fact.losses, strict=True)
    }
    broken = [army for army, _ in fact.goes if left[army]]
    return {"broken": broken, "encircled": fact.rounds[0][3] or None}


def _drilled(_: Egc, __: Egc, fact: ArmiesDrilled) -> Mapping[str, Json]:
    """Return the armies by their new training, and by their new morale."""
    return {"training": _by_value(fact.seat, fact.trained), "morale": _by_value(fact.seat, fact.rested)}


def _by_value(seat: Seat, values: Mapping[str, int]) -> list[Json]:
    found = {v: sorted(number_of(a) for a in values if values[a] == v) for v in sorted(set(values.values()))}
    name = {number_of(army): army for army in values}
    return [
        {"seat": seat, "value": v, **({"army": name[some[0]]} if len(some) == 1 else {"numbers": _runs(some)})}
        for v, some in found.items()
    ]


def _runs(numbers: Sequence[int]) -> list[str]:
    """Join three and more consecutive numbers: `1`, `4\u20136`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    said = ([f"{run[0]}\N{EN DASH}{run[-1]}"] if len(run) > 2 else list(map(str, run)) for run in runs)
    return [text for some in said for text in some]


def _thinned(_: Egc, __: Egc, fact: SupplyLost | FinanceSettled) -> Mapping[str, Json]:
    """Return the armies with lost divisions, and the lost ones."""
    left = dict(sorted((fact.left or {}).items(), key=lambda entry: number_of(entry[0])))
    remaining = [(a, n) for a, n in left.items() if n]
    return {**_strengths("remaining", remaining), **_lost_armies([a for a, n in left.items() if not n])}


def _statement(before: Egc, after: Egc, fact: FinanceSettled) -> Mapping[str, Json]:
    """Return whether the revenue has several sources."""
    return {**_thinned(before, after, fact), "split": fact.revenue != fact.national}


def _ranked(before: Egc, _: Egc, fact: TechnologySettled) -> Mapping[str, Json]:
    """Return the technologies with a changed rank, and the new one."""
    old = before.empires[fact.seat].ranks
    moved = [(t, fact.ranks[t], old.get(t, fact.ranks[t])) for t in TECHNOLOGIES]
    return {
        "gained": _by_rank({t: now for t, now, was in moved if now < was}),
        "lost": _by_rank({t: now for t, now, was in moved if now > was}),
    }


def _by_rank(ranks: Mapping[str, int]) -> list[Json]:
    """Return the technologies of each rank, best first; given all ten, the commonest rank's are not named."""
    found = {rank: [t for t in TECHNOLOGIES if ranks.get(t) == rank] for rank in sorted(set(ranks.values()))}
    most = max(found, key=lambda rank: len(found[rank]), default=0)
    if len(ranks) < len(TECHNOLOGIES) or len(found[most]) < MOST:
        return [{"rank": rank, "techs": some} for rank, some in found.items()]
    named: list[Json] = [{"rank": rank, "techs": some} for rank, some in found.items() if rank != most]
    return [*named, {"rank": most, "others" if named else "whole": True}]


def _founded(_: Egc, __: Egc, fact: EmpireFounded) -> Mapping[str, Json]:
    """Return the empire's technologies by rank."""
    return {"standing": _by_rank(fact.ranks)}


def _spied_ranks(_: Egc, __: Egc, fact: EmpireSpied) -> Mapping[str, Json]:
    """Return the empire's technologies by rank."""
    return {"standing": _by_rank(fact.found.ranks)}


def _order(before: Egc, _: Egc, fact: OrderFiled) -> Mapping[str, Json]:
    """Return the order, with both ends of an army's path, or the sender of the answered proposal."""
    path, proposal = fact.order.get("path"), before.proposals.get(str(fact.order.get("proposal")))
    way = {"from": path[0], "to": path[-1], "through": path[1:-1]} if path else {}
    return {"done": {**fact.order, **way, **({"sender": proposal.sender} if proposal else {})}}


def _table(_: Egc, __: Egc, fact: VictoryCounted) -> Mapping[str, Json]:
    """Return the gains and misses of each empire at the count, the greatest total first."""
    lines = (
        {"seat": x, "points": p, "realised": list(fact.realised[x]), "failed": list(fact.failed[x]), "vp": fact.vp[x]}
        for x, p in enumerate(fact.points)
        if p or fact.realised[x] or fact.failed[x]
    )
    return {"table": sorted(lines, key=lambda line: (-fact.vp[line["seat"]], line["seat"]))}


MOST = 6
"""Technologies of one rank from where the sentence calls them "the others"."""
FEW = 4
"""Most armies named with their divisions."""
NAMED = 8
"""Most territories named in a sentence."""


def _manned(_: Egc, __: Egc, fact: MannedSet) -> Mapping[str, Json]:
    """Return the territories with armies by empire; at the beginning only the word of all being at home."""
    held: dict[str, list[str]] = {}
    for territory, who in sorted(fact.manned.items()):
        if who is not None:
            held.setdefault(who, []).append(territory)
    if held == {empire: [HOMES[seat]] for seat, empire in enumerate(EMPIRES)}:
        return {"home": True}
    left = sorted(t for t, who in fact.manned.items() if who is None)
    return {
        "held": [[who, *_name_or_count(held[who])] for who in sorted(held)],
        "left": [_name_or_count(left)] if left else [],
    }


def _name_or_count(territories: Sequence[str]) -> list[Json]:
    """Return the territories by name, or their number if there are too many to name."""
    return [list(territories), None] if len(territories) <= NAMED else [None, len(territories)]


def gather_headlines(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Gather the territories of an empire by kind, and leave out battles told by the conquest of their place."""
    taken = {fact["territory"] for fact in facts if fact["t"] == "territory_conquered"}
    gathered: dict[tuple[Json, ...], dict[str, Json]] = {}
    out: list[Doc] = []
    for fact in facts:
        if fact["t"] == "battle_fought" and fact["territory"] in taken:
            continue
        if fact["t"] not in GATHERED:
            out.append(fact)
            continue
        key = fact["t"], fact["seat"], fact.get("loser")
        if key not in gathered:
            gathered[key] = {**fact, "territory": []}
            out.append(gathered[key])
        gathered[key]["territory"].append(fact["territory"])
    return [_name_or_count_all(fact) if fact["t"] in GATHERED else fact for fact in out]


def _name_or_count_all(fact: Doc) -> Doc:
    """Return a gathered fact with its territories by name, or their number if there are too many to name."""
    names, number = _name_or_count(fact["territory"])
    return {**fact, "territory": names, "number": number}


GATHERED = ("territory_conquered", "territory_annexed", "protectorate_installed")
"""Headlines that tell several territories of one empire at once."""

CONTEXT_BUILDERS: Mapping[str, ContextBuilder[Egc]] = {
    "game_set_up": _ports,
    "empire_founded": _founded,
    "order_filed": _order,
    "empire_spied": _spied_ranks,
    "territory_spied": _spied_levels,
    "sheet_opened": _seas,
    "sheet_carried_out": _moved,
    "armies_marched": _moved,
    "combat_fought": _fought,
    "armies_drilled": _drilled,
    "supply_lost": _thinned,
    "finance_settled": _statement,
    "technology_settled": _ranked,
    "victory_counted": _table,
    "manned_set": _manned,
}
"""Fact -> context of its sentence, besides its own members."""
