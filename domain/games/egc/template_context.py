"""Context of sentences besides the members of a fact, from the states around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from domain.games.egc.data import DIPLOMACY, EMPIRES, HOMES, TECHNOLOGIES, VICTORY, number_of
from domain.games.egc.facts.armies import (
    ArmiesDrilled,
    ArmiesMarched,
    CombatFought,
    SheetCarriedOut,
    SupplyLost,
    TerritoryConquered,
)
from domain.games.egc.facts.opening import EmpireFounded, GameSetUp
from domain.games.egc.facts.realm import FinanceSettled, ProtectorateInstalled, VictoryCounted
from domain.games.egc.facts.relations import DiplomacySettled, MannedSet, TechnologySettled
from domain.games.egc.facts.sheets import EmpireSpied, OrderFiled, SheetOpened, TerritorySpied
from domain.games.egc.rules.relations import better_level
from domain.games.egc.rules.sheet import copy_of
from domain.games.egc.rules.spying import empire_price, territory_price
from domain.games.egc.state import Army, Egc
from domain.games.egc.void_orders import find_void_orders
from domain.kernel.narration.template_context import SILENT
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


def _carried_out(before: Egc, after: Egc, fact: SheetCarriedOut) -> Mapping[str, Json]:
    """Return the moved and resized armies, and the levels built and demolished, by territory."""
    works, ruins = list[Json](), list[Json]()
    for territory, levels in (fact.levels or {}).items():
        old = before.levels.get(territory, {})
        more = {kind: levels.get(kind, 0) - old.get(kind, 0) for kind in sorted({*old, *levels})}
        for found, sign in ((works, 1), (ruins, -1)):
            if some := {kind: sign * n for kind, n in more.items() if sign * n > 0}:
                found.append({"territory": territory, "levels": some})
    return {**_moved(before, after, fact), "works": works, "ruins": ruins}


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
    """EGC-9.5, EGC-9.7: return the losers that still had divisions, and the percentage of encirclement if any.

    EGC-9.10: and what becomes of the losers, and the morale of `both` armies or of the only `survivor`.
    """
    left = {
        army: before - lost
        for army, before, lost in zip((fact.attacker, fact.defender), fact.before, fact.losses, strict=True)
    }
    broken = [army for army, _ in fact.goes if left[army]]
    fates = [
        {"army": army, "to": to} if to else {"trapped": army} if left[army] else {"gone": army}
        for army, to in fact.goes
    ]
    lost = {army for army, to in fact.goes if to is None}
    alive = {army: n for army, n in zip(left, fact.morale, strict=True) if army not in lost and fact.significant}
    survivor, spirit = next(iter(alive.items())) if len(alive) == 1 else (None, None)
    return {
        "broken": broken,
        "encircled": fact.rounds[0][3] or None,
        "fates": fates,
        "both": len(alive) > 1,
        "survivor": survivor,
        "spirit": spirit,
    }


def _drilled(before: Egc, _: Egc, fact: ArmiesDrilled) -> Mapping[str, Json]:
    """Return the armies by their new training, and by their new morale; destroyed ones are left out."""
    alive = {army for army, force in before.armies[fact.seat].items() if force.divisions}
    trained, rested = (
        {army: value for army, value in values.items() if army in alive} for values in (fact.trained, fact.rested)
    )
    return {"training": _by_value(fact.seat, trained), "morale": _by_value(fact.seat, rested)}


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
    return {"done": _told_order(before, fact.order)}


def _table(_: Egc, __: Egc, fact: VictoryCounted) -> Mapping[str, Json]:
    """Return the gains and misses of each empire at the count, the greatest total first."""
    lines = (
        {
            "seat": x,
            "points": p,
            "realised": list(fact.realised[x]),
            "bonus": VICTORY["link_vp"] * len(fact.realised[x]),
            "gains": bool(p or fact.realised[x]),
            "failed": list(fact.failed[x]),
            "vp": fact.vp[x],
        }
        for x, p in enumerate(fact.points)
        if p or fact.realised[x] or fact.failed[x]
    )
    ranked = sorted((x for x, vp in enumerate(fact.vp) if vp), key=lambda x: (-fact.vp[x], x))
    return {
        "table": sorted(lines, key=lambda line: (-fact.vp[line["seat"]], line["seat"])),
        "leaders": [{"seat": x, "vp": fact.vp[x]} for x in ranked[:FEW]],
        "rest": len(ranked) - FEW if len(ranked) > FEW else None,
    }


def _conquered(before: Egc, _: Egc, fact: TerritoryConquered) -> Mapping[str, Json]:
    """EGC-11.1: return the other empires with a protectorate or protection ended by the conquest."""
    held = before.lands[fact.territory].protectorate
    holder = held.seat if held and held.seat != fact.seat else None
    return {"holder": holder, "protectors": _protectors(before, fact.territory, fact.seat)}


def _installed(before: Egc, _: Egc, fact: ProtectorateInstalled) -> Mapping[str, Json]:
    """EGC-14.9: return the other empires with a protection ended by the protectorate."""
    return {"protectors": _protectors(before, fact.territory, fact.seat)}


def _protectors(s: Egc, territory: str, but: Seat) -> list[Seat]:
    return sorted(seat for seat in map(int, s.lands[territory].protections) if seat != but)


def _diplomacy(before: Egc, _: Egc, fact: DiplomacySettled) -> Mapping[str, Json]:
    """EGC-14.10: return the points for territories lost and taken, the most if there were more, and orders in vain."""
    compensation, price = DIPLOMACY["territory_lost"] * fact.lost, -DIPLOMACY["territory_taken"] * fact.taken
    most: int = DIPLOMACY["max_points"]
    above = fact.before + fact.income + compensation - price > most
    return {
        "compensation": compensation,
        "price": price,
        "stays": fact.diplomacy == fact.before,
        "top": above and fact.diplomacy == most,
        "most": most if above and fact.diplomacy != most else None,
        "void": list(find_void_orders(before, fact.seat)),
    }


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


def complete_sentences(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Leave out battles known in detail and armies in territories told by their conquest; gather casus belli."""
    if any(fact["t"] == "casus_belli_gained" for fact in facts):
        facts = _gather_casus_belli(facts)
    taken = {fact["territory"]: EMPIRES[fact["seat"]] for fact in facts if fact["t"] == "territory_conquered"}
    if not taken:
        return facts
    known = {fact["territory"] for fact in facts if fact["t"] == "combat_fought"} & taken.keys()
    return [
        SILENT
        if fact["t"] == "battle_fought" and fact["territory"] in known
        else {**fact, "held": [*_manned_besides(fact["held"], taken)]}
        if fact["t"] == "manned_set" and "held" in fact
        else fact
        for fact in facts
    ]


def _gather_casus_belli(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Return as many facts; equal casus belli are one with their number, and colonial incidents have their places.

    EGC-14.7: these are the territories conquered by the culprit in a battle with the holder.
    """
    repeated = Counter(tuple(fact.items()) for fact in facts if fact["t"] == "casus_belli_gained")
    fought = {fact["territory"]: fact["empires"] for fact in facts if fact["t"] == "battle_fought"}
    taken = [(x["territory"], x["seat"], x.get("loser")) for x in facts if x["t"] == "territory_conquered"]
    told = list[Doc]()
    for fact in facts:
        if fact["t"] != "casus_belli_gained":
            told.append(fact)
        elif times := repeated.pop(tuple(fact.items()), 0):
            holder, against = fact["holder"], fact["against"]
            fights = {t for t, empires in fought.items() if EMPIRES[holder] in empires}
            places = [t for t, by, loser in taken if by == against and loser != holder and t in fights]
            known = {"places": places} if len(places) == times and fact["kind"] == "colonial_incident" else {}
            told.append({**fact, **known, "times": times if times > 1 else None})
        else:
            told.append(SILENT)
    return told


def _manned_besides(held: Sequence[Json], taken: Mapping[str, str]) -> Iterator[Json]:
    """Yield the territories with armies of each empire, without those that it has just conquered."""
    for who, names, number in held:
        if names is None:
            yield [who, names, number]
        elif left := [name for name in names if taken.get(name) != who]:
            yield [who, left, number]


def _name_or_count(territories: Sequence[str]) -> list[Json]:
    """Return the territories by name, or their number if there are too many to name."""
    return [list(territories), None] if len(territories) <= NAMED else [None, len(territories)]


def gather_headlines(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Gather the territories of an empire by kind.

    Leave out battles told by the conquest of their place, and a count told by the result of the game.
    """
    ended = any(fact["t"] == "game_ended" for fact in facts)
    taken = {fact["territory"] for fact in facts if fact["t"] == "territory_conquered"}
    gathered: dict[tuple[Json, ...], dict[str, Json]] = {}
    out: list[Doc] = []
    for fact in facts:
        if fact["t"] == "battle_fought" and fact["territory"] in taken:
            continue
        if fact["t"] == "victory_counted" and ended:
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
    "sheet_carried_out": _carried_out,
    "armies_marched": _moved,
    "combat_fought": _fought,
    "armies_drilled": _drilled,
    "supply_lost": _thinned,
    "finance_settled": _statement,
    "technology_settled": _ranked,
    "victory_counted": _table,
    "manned_set": _manned,
    "territory_conquered": _conquered,
    "protectorate_installed": _installed,
    "diplomacy_settled": _diplomacy,
}
"""Fact -> context of its sentence, besides its own members."""


def move_context(s: Egc | None, seat: Seat | None, members: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return both ends of an army's path; from a state the order to cancel, or the sender of a proposal."""
    found = _ways(members)
    if s is None or seat is None:
        return found
    if members.get("type") == "cancel_order":
        filed = next((each for each in s.sheets[seat].orders if each.n == members.get("order")), None)
        return {"done": _told_order(s, filed.order)} if filed else {}
    if members.get("type") in ("spy_territory", "spy_empire"):
        price = territory_price if members["type"] == "spy_territory" else empire_price
        return {"price": price(copy_of(s, seat))}
    return {**_told_order(s, members), **_offer(s, seat, members)}


def _offer(s: Egc, seat: Seat, members: Mapping[str, Json]) -> Doc:
    """Return the level of a relation offered to the seat by a proposal."""
    proposal = s.proposals.get(str(members.get("proposal")))
    if proposal is None or proposal.target != seat:
        return {}
    better = better_level(s.relation(proposal.sender, seat))
    return {"offered": better} if better else {}


def _ways(order: Mapping[str, Json]) -> Doc:
    """Return both ends of an army's path, and the places between."""
    path = order.get("path")
    return {"from": path[0], "to": path[-1], "through": path[1:-1]} if isinstance(path, list | tuple) and path else {}


def _told_order(s: Egc, order: Mapping[str, Json]) -> Doc:
    """Return an order, with both ends of an army's path, or the sender of the answered proposal."""
    proposal = s.proposals.get(str(order.get("proposal")))
    return {**order, **_ways(order), **({"sender": proposal.sender} if proposal else {})}
