"""What sentences take besides the members of a fact, from the states around it, and what several facts say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from domain.games.imperunde.data import COUNTRIES, UNITS, VALUE
from domain.games.imperunde.facts.cards import DeckShuffled, HandShown
from domain.games.imperunde.facts.combat import AttackDeclared, CombatEnded, CombatStarted, RoundFought
from domain.games.imperunde.facts.diplomacy import RelationsFixed
from domain.games.imperunde.facts.events import LandEvent, PiratesPlaced, SeaEvent
from domain.games.imperunde.facts.money import IncomeComputed
from domain.games.imperunde.facts.movement import TransportsSunk, UnitsMoved
from domain.games.imperunde.facts.turn import GameWon
from domain.games.imperunde.rules.budget import LINES
from domain.games.imperunde.rules.sides import black_ships
from domain.games.imperunde.state import ImpeRunde, Party
from domain.kernel.rules.ruleset import ContextBuilder, SentenceMerger
from domain.types import Doc, Json

S = ImpeRunde
REBELS = ("natives", "insurgents")
"""Of them it is told how many are left."""
SentenceContext = Mapping[str, Json]


def _pieces(some: Iterable[tuple[str, int]]) -> list[Json]:
    """So many of each kind of unit, whatever moves they have left."""
    count: Counter[str] = Counter()
    for unit, number in some:
        count[unit] += number
    return [{"unit": unit, "count": count[unit]} for unit in sorted(count)]


# --- talks, cards and money --------------------------------------------------------------------------------------


def _shuffled(before: S, _: S, fact: DeckShuffled) -> SentenceContext:
    """Whether cards that were played are among them."""
    return {"played": fact.discard and bool(before.discard)}


def _overrides(before: S, _: S, __: object) -> SentenceContext:
    """Whether cards had forced relations."""
    return {"some": any(pair.override for pair in before.pairs.values())}


def _wars(_: S, __: S, fact: RelationsFixed) -> SentenceContext:
    """Who is at war with whom, each pair once."""
    pairs = sorted(tuple(map(int, name.split("-"))) for name in fact.wars)
    return {
        "fronts": [{"seat": a, "against": [b for _, b in some]} for a, some in groupby(pairs, lambda pair: pair[0])]
    }


def _revenue(_: S, __: S, fact: IncomeComputed) -> SentenceContext:
    """What it makes in all, of what, and the interest as it is paid."""
    parts = [{"key": line, "value": fact.lines[line]} for line in LINES if fact.lines[line] > 0]
    return {"total": sum(fact.lines.values()), "parts": parts, "interest": -fact.lines["interest"]}


def _fresh(before: S, _: S, __: object) -> SentenceContext:
    """Whether posts were built."""
    return {"some": any(country.fresh_posts for country in before.countries.values())}


def _hand(_: S, __: S, fact: HandShown) -> SentenceContext:
    """Each card once, and how many there are of several."""
    count = Counter(fact.cards)
    return {"hand": [{"card": card, "many": n if n > 1 else None} for card, n in sorted(count.items())]}


# --- movement ----------------------------------------------------------------------------------------------------


def _movement_kind(before: S, _: S, fact: UnitsMoved) -> SentenceContext:
    """Why units go: on the move, into a combat, back from it, or forced by a card; which, whatever moves are left."""
    c = before.combat
    if before.top.kind == "card":
        how = "forced"
    elif c is None or c.called_off:
        how = "back" if c else "march"
    elif fact.to == c.region and fact.seat == c.attacker:
        how = "support" if c.round else "charge"
    else:
        how = "march"
    return {"how": how, "lot": _pieces((x.unit, x.count) for x in fact.units)}


def _sinkers(before: S, _: S, fact: TransportsSunk) -> SentenceContext:
    """Whose warships sink them."""
    return {"by": list(before.enemies_at(fact.seat, fact.region))}


def _pinned(before: S, _: S, __: object) -> SentenceContext:
    """Whether ships were captured."""
    fleets = (fleet for zone in before.zones.values() for fleet in zone.fleets.values())
    return {"some": any(lot.pinned for fleet in fleets for lot in fleet)}


def _marched(run: Sequence[Doc]) -> Sequence[Doc]:
    """Steps of the same units as one march, units that go the same way together.

    How units go into a combat is not told: the attack has told whence.
    """
    told: list[Doc] = []
    for fact in run:
        last = told[-1] if told else None
        same = last is not None and (last["seat"], last["how"]) == (fact["seat"], fact["how"])
        if last is not None and same and last["way"][-1] == fact["from"] and last["lot"] == fact["lot"]:
            last["way"].append(fact["to"])
        elif last is not None and same and last["way"] == [fact["from"], fact["to"]]:
            last["lot"] = _pieces((x["unit"], x["count"]) for x in (*last["lot"], *fact["lot"]))
        elif fact["how"] != "charge":
            told.append({**fact, "way": [fact["from"], fact["to"]]})
    for fact in told:
        fact |= {"from": fact["way"][0], "to": fact["way"][-1], "through": fact["way"][1:-1]}
    return told


# --- combat ------------------------------------------------------------------------------------------------------


def _defence(s: S, region: str, parties: Iterable[Party], natives: int = 0) -> list[Json]:
    """With what each party stands in a region; those that have nothing to fight with are left out."""
    found = [(who, _strength(s, region, who, natives)) for who in parties]
    return [{"party": who, "units": units} for who, units in found if units]


def _strength(s: S, region: str, who: Party, natives: int) -> list[Json]:
    if region not in COUNTRIES:
        ships = black_ships(s.zone(region).pirates) if who == "pirates" else s.zone(region).warships(who)
        return _pieces((x.unit, x.count) for x in ships)
    if who == "natives":
        return _pieces([("infantry", natives)] if natives else [])
    country = s.country(region)
    forts = [("fort", country.forts)] if country.forts else []
    return _pieces([*forts, *((x.unit, x.count) for x in country.units)])


def _attack(before: S, _: S, fact: AttackDeclared) -> SentenceContext:
    """Whence which units come, and who stands in their way with what."""
    force: dict[str, list[tuple[str, int]]] = {}
    for x in fact.units:
        force.setdefault(x.path[0], []).append((x.unit, x.count))
    target = fact.target
    if target in COUNTRIES:
        owner = before.country(target).owner
        parties: list[Party] = ["natives" if owner is None else owner]
    else:
        parties = before.enemies_at(fact.seat, target)
    return {
        "force": [{"from": start, "units": _pieces(units)} for start, units in force.items()],
        "defence": _defence(before, target, parties, VALUE[target]),
    }


def _started(before: S, _: S, fact: CombatStarted) -> SentenceContext:
    """Which kind of combat it is, and what the attacked have; of an attack by a seat all is told."""
    if fact.supported:
        return {"kind": "attack"}
    kind = fact.attacker if isinstance(fact.attacker, str) else "fleets"
    return {"kind": kind, "defence": _defence(before, fact.region, [fact.defender])}


def _duels(before: S, _: S, fact: RoundFought) -> SentenceContext:
    """Die against die, as they lie sorted; those that are left over; what each side loses; what a horde consists of."""
    pairs = list(zip(fact.attacker, fact.defender, strict=False))
    c = before.fight
    duels = [_duel(mine, other, c.sea) for mine, other in pairs]
    lost = [
        [(x["unit"], 1) for x in duels if x["result"] == "lost"],
        [(x["target"], 1) for x in duels if x["result"] == "won"],
    ]
    return {
        "sides": {"attacker": c.attacker, "defender": c.defender},
        "duels": duels,
        "lost": [
            _pieces(some) if who not in REBELS else None
            for who, some in zip((c.attacker, c.defender), lost, strict=True)
        ],
        "idle": [list(die) for die in (*fact.attacker[len(pairs) :], *fact.defender[len(pairs) :])],
        "rebel": "insurgent" if c.attacker == "insurgents" else "native",
    }


def _duel(mine: tuple[str, int], other: tuple[str, int], sea: bool) -> dict[str, Json]:
    """IMP-8.2.5, IMP-8.2.6: on land a tie is the defender's, and against a fort some units count otherwise."""
    (unit, value), (target, against) = mine, other
    counted = value + (UNITS[unit].vs_fort if target == "fort" else 0)
    result = "won" if counted > against else "tied" if counted == against and sea else "lost"
    return {
        "unit": unit,
        "value": value,
        "counted": counted if counted != value else None,
        "target": target,
        "against": against,
        "result": result,
    }


def _combat_end(before: S, _: S, fact: CombatEnded) -> SentenceContext:
    """Whether it was won at sea: on land the conquest tells it."""
    return {"sea": before.combat is not None and before.combat.sea}


def _won(before: S, _: S, fact: GameWon) -> SentenceContext:
    """What the winner has, of what is asked for."""
    return {"posts": before.posts(fact.seat), "goal": before.goal}


# --- events ------------------------------------------------------------------------------------------------------


def _markers(before: S, _: S, __: object) -> SentenceContext:
    """Where they lie."""
    zones = {kind: sorted(z for z, x in before.zones.items() if x.marker == kind) for kind in ("storm", "calm")}
    return {**zones, "black": sorted(name for name, x in before.countries.items() if x.black)}


def _struck(before: S, _: S, fact: LandEvent) -> SentenceContext:
    """Whose colony it is; in a free country nothing comes of it."""
    return {"owner": before.country(fact.region).owner}


def _at_sea(before: S, _: S, fact: SeaEvent) -> SentenceContext:
    """Whether ships are there, and how many of the pirates' frigates can come."""
    zone = before.zone(fact.region)
    frigates = min(VALUE[fact.region], before.supply("pirates", "frigate"))
    return {"idle": not zone.fleets, "frigates": frigates}


def _placed(before: S, _: S, __: PiratesPlaced) -> SentenceContext:
    """Whether a card has called them: those of an event are told with it."""
    return {"called": before.top.kind == "card"}


# --- gathered ----------------------------------------------------------------------------------------------------


def _dealt(run: Sequence[Doc]) -> Sequence[Doc]:
    """Cards that are dealt one after the other, to several seats or to one."""
    hands = [{"seat": fact["seat"], "cards": fact["cards"]} for fact in run]
    return [{**run[-1], "hands": hands, "drawn": len(run), "each": len({x["seat"] for x in hands}) > 1}]


def _piled(run: Sequence[Doc]) -> Sequence[Doc]:
    """Pieces that a seat places in the same region."""
    same = groupby(run, key=lambda fact: (fact["seat"], fact["region"]))
    groups = [list(some) for _, some in same]
    return [{**some[0], "units": _pieces((x["unit"], x["count"]) for f in some for x in f["units"])} for some in groups]


def _events(run: Sequence[Doc]) -> Sequence[Doc]:
    """Those without effect in one sentence, which no digest repeats."""
    idle = [fact for fact in run if fact["owner"] is None]
    told = [fact for fact in run if fact["owner"] is not None]
    return [*told, {"t": "land_event.idle", "idle": idle, "count": len(idle)}] if idle else told


CONTEXT_BUILDERS: Mapping[str, ContextBuilder[ImpeRunde]] = {
    "deck_shuffled": _shuffled,
    "overrides_ended": _overrides,
    "relations_fixed": _wars,
    "income_computed": _revenue,
    "hand_shown": _hand,
    "posts_settled": _fresh,
    "units_moved": _movement_kind,
    "transports_sunk": _sinkers,
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
"""Public fact -> what its sentence takes besides its own members."""

SENTENCE_MERGERS: Mapping[str, SentenceMerger] = {
    "pieces_placed": _piled,
    "card_dealt": _dealt,
    "units_moved": _marched,
    "land_event": _events,
}
"""Fact -> how several that follow each other are told together."""
