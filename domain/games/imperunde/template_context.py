"""Context of sentences besides the members of a fact, and mergers of several facts into one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from domain.games.imperunde.data import CANALS, COUNTRIES, DICE, ECONOMY, UNITS, VALUE
from domain.games.imperunde.facts.cards import AutoPassSet, CardDrawn, DeckShuffled, HandShown
from domain.games.imperunde.facts.combat import AttackDeclared, CombatEnded, CombatStarted, RoundFought
from domain.games.imperunde.facts.diplomacy import RelationsFixed
from domain.games.imperunde.facts.events import LandEvent, PiratesPlaced, SeaEvent
from domain.games.imperunde.facts.money import IncomeComputed
from domain.games.imperunde.facts.movement import CountryFreed, TransportsSunk, UnitsMoved
from domain.games.imperunde.facts.turn import GameWon
from domain.games.imperunde.roll_readers import gather_dice, join_dice
from domain.games.imperunde.rules.budget import LINES
from domain.games.imperunde.rules.rounds import card_bonus
from domain.games.imperunde.rules.sides import black_ships
from domain.games.imperunde.state import WINDOWS, ImpeRunde, Party, Side
from domain.kernel.rules.ruleset import ContextBuilder, SentenceMerger
from domain.types import Doc, Json, Seat

S = ImpeRunde
STORM: Final = "units_moved.storm"
"""Kind of a sentence with the dice of steps whose way another one tells."""
REBELS = ("natives", "insurgents")
"""Parties with a count of the survivors in their sentences."""
SentenceContext = Mapping[str, Json]


def count_pieces(some: Iterable[tuple[str, int]]) -> list[Json]:
    """Return the numbers of units by kind, regardless of their moves left."""
    count: Counter[str] = Counter()
    for unit, number in some:
        count[unit] += number
    return [{"unit": unit, "count": count[unit]} for unit in sorted(count)]


# --- talks, cards and money --------------------------------------------------------------------------------------


def _shuffled(before: S, _: S, fact: DeckShuffled) -> SentenceContext:
    """Return whether played cards are among them, and whether it is the new pile of the set-up, not shuffled yet."""
    return {"played": fact.discard and bool(before.discard), "ready": not before.turn}


def _overrides(before: S, after: S, _: object) -> SentenceContext:
    """Return the pairs with a relation forced by a card, and the stances that fall back to the relation, by seat."""
    renewed: dict[tuple[Seat, str], list[Seat]] = {}
    for name, pair in after.pairs.items():
        a, b = map(int, name.split("-"))
        for i, (seat, target) in enumerate(((a, b), (b, a))):
            if pair.stances[i] != before.pairs[name].stances[i]:
                renewed.setdefault((seat, pair.stances[i]), []).append(target)
    forced = [name for name, pair in before.pairs.items() if pair.override]
    return {
        "forced": [{"seats": list(map(int, name.split("-")))} for name in sorted(forced)],
        "renewed": [
            {"seat": seat, "targets": some, "stance": stance} for (seat, stance), some in sorted(renewed.items())
        ],
    }


def _wars(before: S, _: S, fact: RelationsFixed) -> SentenceContext:
    """Return the pairs of seats at war, and those whose war has ended, each once."""
    ended = [name for name, pair in before.pairs.items() if pair.base == "war" and name not in fact.wars]
    return {"fronts": _group_pairs(fact.wars), "truces": _group_pairs(ended)}


def _group_pairs(names: Iterable[str]) -> list[Json]:
    """Return each first seat of pairs with the others of its pairs."""
    pairs = sorted(tuple(map(int, name.split("-"))) for name in names)
    return [{"seat": a, "against": [b for _, b in some]} for a, some in groupby(pairs, lambda pair: pair[0])]


def _revenue(_: S, __: S, fact: IncomeComputed) -> SentenceContext:
    """Return the total income, its parts, and the interest paid."""
    parts = [{"key": line, "value": fact.lines[line]} for line in LINES if fact.lines[line] > 0]
    return {"total": sum(fact.lines.values()), "parts": parts, "interest": -fact.lines["interest"]}


def _fresh(before: S, _: S, __: object) -> SentenceContext:
    """Return whether posts were built."""
    return {"some": any(country.fresh_posts for country in before.countries.values())}


def _hand(_: S, __: S, fact: HandShown) -> SentenceContext:
    """Return each card once, with the number of its copies."""
    count = Counter(fact.cards)
    return {"hand": [{"card": card, "many": n if n > 1 else None} for card, n in sorted(count.items())]}


def _own_card(_: S, __: S, ___: CardDrawn) -> SentenceContext:
    """Return no other card: only the other facts of the record tell some (`complete_sentences`)."""
    return {"hand": None}


def _standing_pass(_: S, __: S, fact: AutoPassSet) -> SentenceContext:
    """Return the passed kinds of windows in three parts, for a list with "or"; only `every` for all kinds."""
    kinds = [kind for kind in WINDOWS if kind in fact.windows]
    if len(kinds) == len(WINDOWS):
        return {"every": True}
    return {"listed": kinds[:-2], "previous": kinds[-2] if len(kinds) > 1 else None, "last": kinds[-1]}


# --- movement ----------------------------------------------------------------------------------------------------


def _movement_kind(before: S, _: S, fact: UnitsMoved) -> SentenceContext:
    """Return the kind of movement (march, into or back from a combat, or forced by a card), with the units.

    All steps of the attacker before the first round lead into the combat.
    """
    c = before.combat
    if before.top.kind == "card":
        how = "forced"
    elif c is None or c.called_off:
        how = "back" if c else "march"
    elif fact.seat == c.attacker and not c.round:
        how = "charge"
    elif fact.to == c.region and fact.seat == c.attacker:
        how = "support"
    else:
        how = "march"
    return {"how": how, "lot": count_pieces((x.unit, x.count) for x in fact.units)}


def _sinkers(before: S, _: S, fact: TransportsSunk) -> SentenceContext:
    """Return the seats with the sinking warships."""
    return {"by": list(before.enemies_at(fact.seat, fact.region))}


def _lost_pieces(before: S, _: S, fact: CountryFreed) -> SentenceContext:
    """IMP-3.4: return the pieces that go back to the supply."""
    country = before.country(fact.country)
    forts, posts = [("fort", country.forts)] if country.forts else [], [("trading_post", country.posts)]
    units = [(x.unit, x.count) for x in country.units]
    return {"pieces": count_pieces([*(posts if country.posts else []), *forts, *units])}


def _pinned(before: S, _: S, __: object) -> SentenceContext:
    """Return whether ships were captured."""
    fleets = (fleet for zone in before.zones.values() for fleet in zone.fleets.values())
    return {"some": any(lot.pinned for fleet in fleets for lot in fleet)}


def _marched(run: Sequence[Doc]) -> Sequence[Doc]:
    """Merge steps of the same units into one march, and units on the same path into one group.

    The paths of units into a combat are omitted, but not their dice: the attack has told their starts.
    """
    told: list[Doc] = []
    for fact in _enter_together(run):
        last = told[-1] if told else None
        same = last is not None and (last["seat"], last["how"]) == (fact["seat"], fact["how"])
        if last is not None and same and last["way"][-1] == fact["from"] and last["lot"] == fact["lot"]:
            last["way"].append(fact["to"])
            _add_dice(last, fact)
        elif fact["how"] == "support" and (approach := _approach(told, fact)) is not None:
            approach |= {"how": "support", "way": [*approach["way"], fact["to"]]}
            _add_dice(approach, fact)
        elif last is not None and same and last["way"] == [fact["from"], fact["to"]]:
            last["lot"] = count_pieces((x["unit"], x["count"]) for x in (*last["lot"], *fact["lot"]))
            _add_dice(last, fact)
        elif fact["how"] != "charge":
            told.append({**fact, "way": [fact["from"], fact["to"]]})
        elif fact.get("storm_dice"):
            told.append({**fact, "t": STORM, "way": [fact["from"], fact["to"]]})
    for fact in told:
        fact |= {"from": fact["way"][0], "to": fact["way"][-1], "through": fact["way"][1:-1]}
    return told


def _enter_together(run: Sequence[Doc]) -> Sequence[Doc]:
    """IMP-8.1.2.3: return the steps, the last of several into a combat with the dice of all: they roll together."""
    steps = [i for i, fact in enumerate(run) if fact["how"] in ("charge", "support") and fact.get("storm_dice")]
    if len(steps) < 2:
        return run
    dice = join_dice(x for i in steps for x in run[i]["storm_dice"])
    return [{**f, "storm_dice": dice if i == steps[-1] else []} if i in steps else f for i, f in enumerate(run)]


def _add_dice(told: Doc, fact: Doc) -> None:
    """Add the dice of a step to those of the sentence that tells it."""
    if more := fact.get("storm_dice"):
        told["storm_dice"] = gather_dice([*told.get("storm_dice", ()), *more])


def _approach(told: Sequence[Doc], last: Doc) -> Doc | None:
    """Return the march of the same units that ends where their last step into a combat begins."""
    same = (fact for fact in told if (fact["how"], fact["seat"], fact["lot"]) == ("march", last["seat"], last["lot"]))
    return next((fact for fact in same if fact["way"][-1] == last["from"]), None)


# --- combat ------------------------------------------------------------------------------------------------------


def _defence(s: S, region: str, parties: Iterable[Party], natives: int = 0) -> list[Json]:
    """Return the units of each party in a region; parties without fighting units are left out."""
    found = [(who, _strength(s, region, who, natives)) for who in parties]
    return [{"party": who, "units": units} for who, units in found if units]


def _strength(s: S, region: str, who: Party, natives: int) -> list[Json]:
    if region not in COUNTRIES:
        ships = black_ships(s.zone(region).pirates) if who == "pirates" else s.zone(region).warships(who)
        return count_pieces((x.unit, x.count) for x in ships)
    if who == "natives":
        return count_pieces([("infantry", natives)] if natives else [])
    country = s.country(region)
    forts = [("fort", country.forts)] if country.forts else []
    return count_pieces([*forts, *((x.unit, x.count) for x in country.units)])


def _attack(before: S, _: S, fact: AttackDeclared) -> SentenceContext:
    """Return the units by path, and the defenders with their units."""
    force: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for x in fact.units:
        force.setdefault(tuple(x.path[:-1]), []).append((x.unit, x.count))
    target = fact.target
    if target in COUNTRIES:
        owner = before.country(target).owner
        parties: list[Party] = ["natives" if owner is None else owner]
    else:
        parties = before.enemies_at(fact.seat, target)
    return {
        "force": [{"from": way[0], "through": way[1:], "units": count_pieces(units)} for way, units in force.items()],
        "defence": _defence(before, target, parties, VALUE[target]),
    }


def _started(before: S, _: S, fact: CombatStarted) -> SentenceContext:
    """Return the kind of combat, and the defence; an attack by a seat has told everything already."""
    if fact.supported:
        return {"kind": "attack"}
    kind = fact.attacker if isinstance(fact.attacker, str) else "fleets"
    return {"kind": kind, "defence": _defence(before, fact.region, [fact.defender])}


def _duels(before: S, _: S, fact: RoundFought) -> SentenceContext:
    """Return die against die, as sorted; ties on land; unmatched dice; the losses of each side; the rebels' party."""
    pairs = list(zip(fact.attacker, fact.defender, strict=False))
    c = before.fight
    duels = [_duel(before, mine, other) for mine, other in pairs]
    lost = [
        [(x["unit"], 1) for x in duels if x["result"] == "lost"],
        [(x["target"], 1) for x in duels if x["result"] == "won"],
    ]
    return {
        "sides": {"attacker": c.attacker, "defender": c.defender},
        "duels": duels,
        "ties": sum(x["result"] == "lost" and (x["counted"] or x["value"]) == x["against"] for x in duels),
        "lost": [
            count_pieces(some) if who not in REBELS else None
            for who, some in zip((c.attacker, c.defender), lost, strict=True)
        ],
        "idle": [list(die) for die in (*fact.attacker[len(pairs) :], *fact.defender[len(pairs) :])],
        "rebels": "insurgents" if c.attacker == "insurgents" else "natives",
    }


def _duel(s: S, mine: tuple[str, int], other: tuple[str, int]) -> dict[str, Json]:
    """IMP-8.2.5, IMP-8.2.6: on land a tie is the defender's, and against a fort some units count otherwise."""
    (unit, value), (target, against) = mine, other
    counted = value + (UNITS[unit].vs_fort if target == "fort" else 0)
    result = "won" if counted > against else "tied" if counted == against and s.fight.sea else "lost"
    return {
        "unit": unit,
        "value": value,
        "counted": counted if counted != value else None,
        "own": _die(s, "attacker", mine),
        "target": target,
        "against": against,
        "other": _die(s, "defender", other),
        "result": result,
    }


def _die(s: S, side: Side, die: tuple[str, int]) -> SentenceContext:
    """Return die and bonus of a value with a card's bonus; else the die's highest face if the value is above a six."""
    unit, value = die
    if bonus := card_bonus(s, side, unit):
        return {"base": value - bonus, "bonus": bonus}
    return {"most": DICE[UNITS[unit].die].hi} if value > DICE["white"].hi else {}


def _boarded(run: Sequence[Doc]) -> Sequence[Doc]:
    """Add the dice of boardings to the tied pairs, in their order."""
    return [
        {**fact, "duels": _with_boardings(fact["duels"], fact["boardings"])} if "boardings" in fact else fact
        for fact in run
    ]


def _with_boardings(duels: Sequence[Doc], boardings: Iterable[Json]) -> list[Doc]:
    left = iter(boardings)
    return [{**duel, "boarding": next(left, None)} if duel["result"] == "tied" else duel for duel in duels]


def _combat_end(before: S, _: S, fact: CombatEnded) -> SentenceContext:
    """Return whether it was won at sea: on land, the conquest tells it."""
    return {"sea": before.combat is not None and before.combat.sea}


def _won(before: S, _: S, fact: GameWon) -> SentenceContext:
    """Return the winner's posts, and the goal."""
    return {"posts": before.posts(fact.seat), "goal": before.goal}


# --- events ------------------------------------------------------------------------------------------------------


def _markers(before: S, _: S, __: object) -> SentenceContext:
    """Return the places of the markers, and the colonies without a famine or plunder from now on."""
    zones = {kind: sorted(z for z, x in before.zones.items() if x.marker == kind) for kind in ("storm", "calm")}
    famine = sorted(name for name, country in before.countries.items() if country.famine)
    plundered = sorted(name for name, country in before.countries.items() if country.plundered_by is not None)
    return {**zones, "famine": famine, "plundered": plundered}


def _struck(before: S, _: S, fact: LandEvent) -> SentenceContext:
    """Return the owner of the colony; in a free country nothing comes of it."""
    return {"owner": before.country(fact.region).owner}


def _at_sea(before: S, _: S, fact: SeaEvent) -> SentenceContext:
    """Return whether ships are there, and the number of the pirates' frigates able to come."""
    zone = before.zone(fact.region)
    frigates = min(VALUE[fact.region], before.supply("pirates", "frigate"))
    return {"idle": not zone.fleets, "frigates": frigates}


def _placed(before: S, _: S, __: PiratesPlaced) -> SentenceContext:
    """Return whether a card has called them: those of an event are told with it."""
    return {"called": before.top.kind == "card"}


# --- gathered ----------------------------------------------------------------------------------------------------


def _dealt(run: Sequence[Doc]) -> Sequence[Doc]:
    """Merge cards dealt one after the other, to several seats or to one."""
    hands = [{"seat": fact["seat"], "cards": fact["cards"]} for fact in run]
    return [{**run[-1], "hands": hands, "drawn": len(run), "each": len({x["seat"] for x in hands}) > 1}]


def _piled(run: Sequence[Doc]) -> Sequence[Doc]:
    """Merge pieces placed by a seat in the same region."""
    same = groupby(run, key=lambda fact: (fact["seat"], fact["region"]))
    groups = [list(some) for _, some in same]
    return [
        {
            **some[0],
            "units": count_pieces((x["unit"], x["count"]) for f in some for x in f["units"]),
            "storm_dice": gather_dice(x for f in some for x in f.get("storm_dice", ())),
        }
        for some in groups
    ]


def _events(run: Sequence[Doc]) -> Sequence[Doc]:
    """Merge events without effect into one sentence, repeated by no digest, before those with consequences."""
    idle = [fact for fact in run if fact["owner"] is None]
    told = [fact for fact in run if fact["owner"] is not None]
    return [{"t": "land_event.idle", "idle": idle, "count": len(idle)}, *told] if idle else told


def _winds(run: Sequence[Doc]) -> Sequence[Doc]:
    """Mark fair winds that nobody can use, which no digest repeats."""
    return [{**x, "t": "sea_event.idle"} if x["event"] == "fair_wind" and x["idle"] else x for x in run]


CONTEXT_BUILDERS: Mapping[str, ContextBuilder[ImpeRunde]] = {
    "deck_shuffled": _shuffled,
    "overrides_ended": _overrides,
    "relations_fixed": _wars,
    "income_computed": _revenue,
    "card_drawn": _own_card,
    "hand_shown": _hand,
    "auto_pass_set": _standing_pass,
    "posts_settled": _fresh,
    "units_moved": _movement_kind,
    "transports_sunk": _sinkers,
    "country_freed": _lost_pieces,
    "pins_removed": _pinned,
    "attack_declared": _attack,
    "combat_started": _started,
    "round_fought": _duels,
    "combat_ended": _combat_end,
    "game_won": _won,
    "markers_removed": _markers,
    "land_event": _struck,
    "sea_event": _at_sea,
    "pirates_placed": _placed,
}
"""Public fact -> context of its sentence, besides its own members."""

SENTENCE_MERGERS: Mapping[str, SentenceMerger] = {
    "pieces_placed": _piled,
    "card_dealt": _dealt,
    "units_moved": _marched,
    "round_fought": _boarded,
    "land_event": _events,
    "sea_event": _winds,
}
"""Fact -> merger of consecutive ones into one sentence."""


def move_context(s: ImpeRunde | None, seat: Seat | None, members: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the price of a purchase, and equal groups as one; from a state the doubloons of the seat."""
    found: Doc = {} if (price := _price(members)) is None else {"price": price}
    if isinstance(groups := members.get("groups"), list | tuple):
        found["groups"] = _merge_groups(groups)
    nation = s.nations[seat] if s is not None and seat is not None else None
    return found | ({"purse": nation.available} if nation else {})


def _price(move: Mapping[str, Json]) -> int | None:
    """Return the price of a finished purchase, or None for another move."""
    quantity, item, canal = (move.get(name) for name in ("quantity", "item", "canal"))
    if move.get("type") == "build_canal" and canal in CANALS:
        return CANALS[canal].cost
    if not isinstance(quantity, int):
        return None
    if move.get("type") == "buy_cards":
        return quantity * int(ECONOMY["card_cost"])
    return quantity * UNITS[item].cost if item in UNITS else None


def _merge_groups(groups: Sequence[Doc]) -> list[Doc]:
    """Return the groups on the same path as one, with the number of all their units."""
    merged: list[Doc] = []
    for group in groups:
        alike = next((each for each in merged if {**each, "count": 0} == {**group, "count": 0}), None)
        if alike is None:
            merged.append(dict(group))
        else:
            alike["count"] += group["count"]
    return merged
