"""Heuristic player: factories and troops at home, armies advancing to the next territory, protectorates, allies.

It works on its seat's view. Each call looks at the present sheet and proposes the missing orders, then submits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from domain.games.egc.data import (
    COASTS,
    EMPIRES,
    HOMES,
    INFRASTRUCTURES,
    LINKS,
    SEATS,
    TERRITORIES,
    by_rank,
)
from domain.games.egc.moves import ZERO
from domain.kernel.rules.ruleset import Dice
from domain.types import Doc, Json, Seat

SHARES = {
    "logistics": 900,
    "land_warfare": 3300,
    "officer_training": 2700,
    "siegecraft": 900,
    "naval": 1500,
    "infrastructure": 3000,
    "exploration": 300,
    "diplomacy": 2400,
    "administration": 1800,
    "research": 1200,
}
"""Turn zero: 18,000 points."""

STUDIES = ("infrastructure", "land_warfare", "diplomacy", "officer_training", "administration")
GUESS = (6, 5)
"""Assumed morale and training of an unknown army."""
EXPECTED_LOSS = 150
"""Least strength assumed for another empire's army in an attack."""

SURPLUS = 400
"""Divisions raised beyond the land's supply; they march on soon, or starve."""


def propose(player_view: dict[str, Json], decision: dict[str, Json], seat: Seat, dice: Dice) -> Iterator[Doc]:
    """Yield the orders missing in the sheet, best first; then submit it."""
    if seat not in decision["must"]:
        return
    if decision["kind"] in ZERO:
        if "allocation" not in player_view["own"]["sheet"]:
            yield {"type": "allocate_turn_zero", "points": dict(SHARES)}
    else:
        view = BotView(player_view["public"], player_view["own"], seat)
        yield from (move for move in plan(view, dice) if not view.is_filed(move))
    yield {"type": "submit_orders"}


@dataclass
class BotView:
    """The view of a seat, with the bot's questions about it."""

    public: Doc
    own: Doc
    seat: Seat

    def __post_init__(self) -> None:
        self.lands: Doc = self.public["lands"]
        self.orders: list[Doc] = self.own["sheet"]["orders"]
        self.after: Doc = self.own["projection"]
        gone = set(self.after["gone"])
        armies = {**self.own["armies"], **self.after["armies"]}
        self.armies = {army: armies[army] for army in sorted(armies) if army not in gone}

    def is_filed(self, move: Doc) -> bool:
        """Return whether the sheet has this order, or another one replaced by it."""
        keys = ("army", "target", "to", "territory", "proposal")
        same = [k for k in keys if k in move and move["type"] not in ("set_research", "give_territory")]
        if move["type"] == "build":
            same.append("infrastructure")
        return any(o["type"] == move["type"] and all(o.get(k) == move[k] for k in same) for o in self.orders)

    def owner(self, territory: str) -> Seat | None:
        """Return the owner of a territory."""
        seat: Seat | None = self.lands.get(territory, {}).get("owner")
        return seat

    def own_territories(self) -> list[str]:
        """Return the own territories."""
        return [t for t in TERRITORIES if self.owner(t) == self.seat]

    def protector(self, territory: str) -> Seat | None:
        """Return the holder of a territory's protectorate."""
        seat: Seat | None = self.lands.get(territory, {}).get("protectorate", {}).get("seat")
        return seat

    def relation(self, other: Seat) -> str:
        """Return the level between the seat and another."""
        level: str = self.public["relations"][f"{min(self.seat, other)}-{max(self.seat, other)}"]
        return level

    def rank(self, technology: str) -> int:
        """Return the own rank."""
        rank: int = self.own["ranks"][technology]
        return rank

    def money(self) -> int:
        """Return the money left by the sheet."""
        money: int = self.after["treasury"]
        return money

    def points(self) -> int:
        """Return the diplomacy points left by the sheet."""
        points: int = self.after["diplomacy"]
        return points

    def level(self, territory: str, name: str) -> int:
        """Return an own level after the sheet."""
        levels = self.after["levels"].get(territory) or self.own["levels"].get(territory, {})
        level: int = levels.get(name, 0)
        return level

    def room(self, territory: str) -> int:
        """Return how many divisions more an own territory feeds, with ordered armies counted at their goals."""
        going = {o["army"]: o["path"][-1] for o in self.orders if o["type"] == "order_army" and o["order"] == "move"}
        here = sum(a["divisions"] for i, a in self.armies.items() if going.get(i, a["territory"]) == territory)
        farms = self.level(territory, "farm") * by_rank("farm_supply", self.rank("infrastructure"))
        room: int = TERRITORIES[territory].supply + farms - here
        return room


def plan(v: BotView, dice: Dice) -> Iterator[Doc]:
    """Yield all orders wanted by the seat this turn."""
    yield from _links(v)
    yield from _answers(v)
    yield from _building(v)
    yield from _marching(v)
    yield from _recruiting(v)
    yield from _protecting(v)
    yield from _talking(v, dice)
    yield from _studying(v)


# --- money -------------------------------------------------------------------------------------------------------


def _building(v: BotView) -> Iterator[Doc]:
    """Build factories at home, paying threefold, then a centre and a port for armies and their ways."""
    home = HOMES[v.seat]
    if v.owner(home) != v.seat:
        return
    turn = v.public["turn"]
    port = bool(TERRITORIES[home].seas) and not v.lands[home].get("port")
    wanted = ["factory", *(["port"] if port and turn > 2 else []), *(["recruitment_centre"] if turn > 1 else [])]
    for name in wanted:
        top, level = INFRASTRUCTURES[name].top, 0 if name == "port" else v.level(home, name)
        if level < top and v.money() - INFRASTRUCTURES[name].cost[level] > 80_000:
            yield {"type": "build", "territory": home, "infrastructure": name}


def _recruiting(v: BotView) -> Iterator[Doc]:
    """Raise as many as the centre allows, while upkeep stays within a third of the revenue."""
    strength = sum(a["divisions"] for a in v.armies.values())
    affordable = (v.own["revenue"] // 3) // 150 - strength
    for territory in v.own_territories():
        most = 150 * v.level(territory, "recruitment_centre")
        if territory != HOMES[v.seat]:
            most = most * by_rank("colony_recruitment_percent", v.rank("administration")) // 100
        number = min(most, affordable, v.money() // 500, v.room(territory) + SURPLUS)
        if number >= 30 and len(v.armies) < 30:
            yield {"type": "recruit", "territory": territory, "divisions": number}


def _studying(v: BotView) -> Iterator[Doc]:
    """Spend money on research before usury takes it."""
    spare = min(v.money(), max(v.money() - v.own["revenue"] // 2, v.money() // 4))
    if spare > 10_000:
        study = STUDIES[v.public["turn"] % len(STUDIES)]
        yield {"type": "set_research", "technology": study, "amount": spare}


# --- armies ------------------------------------------------------------------------------------------------------


def outlook(divisions: int, quality: int, morale: int, enemies: int, protection: int) -> int:
    """Return the divisions left after an attack on an army of the usual kind; 0 if it would fail (EGC-9.8)."""
    their_morale, training = GUESS
    a, d, first_a, first_d = divisions, enemies, divisions, enemies
    while True:
        loss_d = min(d, max(1, 2 * a * (10 + quality) // (8 * protection)))
        loss_a = min(a, max(1, d * (10 + 10 * training) // 400))
        a, d = a - loss_a, d - loss_d
        if not a or (first_a - a) * 10 > first_a * morale:
            return 0
        if not d or (first_d - d) * 10 > first_d * their_morale:
            return a


def _marching(v: BotView) -> Iterator[Doc]:
    """Send each army to the best target within its strength; an army without one trains or rests by itself."""
    aimed = {o["path"][-1] for o in v.orders if o["type"] == "order_army" and o["order"] == "move"}
    busy = {o["army"] for o in v.orders if o["type"] == "order_army"}
    for army, a in v.armies.items():
        if army in busy:
            continue
        found = [(score, path) for path in _paths(v, a["territory"]) if (score := _worth(v, a, path, aimed)) > 0]
        if found:
            _, path = max(found)
            aimed.add(path[-1])
            yield {"type": "order_army", "army": army, "order": "move", "path": path}
        elif v.room(a["territory"]) < 0:
            yield from _relief(v, army, a)


def _relief(v: BotView, army: str, a: Doc) -> Iterator[Doc]:
    """Send a hungry army to an own neighbouring territory with more supply."""
    here = a["territory"]
    own = [t for t in TERRITORIES[here].neighbours if v.owner(t) == v.seat]
    best = max(own, key=v.room, default=here)
    if v.room(best) - a["divisions"] > v.room(here):
        yield {"type": "order_army", "army": army, "order": "move", "path": [here, best]}


def _paths(v: BotView, here: str) -> Iterator[list[str]]:
    """Yield paths to a neighbour by land, or over one accessible sea."""
    for t in TERRITORIES[here].neighbours:
        yield [here, t]
    for sea in TERRITORIES[here].seas:
        if sea in v.after["accessible"]:
            yield from ([here, sea, t] for t in COASTS[sea] if t != here)


def _worth(v: BotView, a: dict[str, int], path: list[str], aimed: set[str]) -> int:
    """Return the worth of a target: bonus points first, then value for losses; 0 if it is out of reach."""
    goal, landing = path[-1], len(path) > 2
    owner, t = v.owner(goal), TERRITORIES[goal]
    if goal in aimed or v.protector(goal) == v.seat or owner == v.seat:
        return 0
    if owner is not None and not _may_attack(v, goal, owner):
        return 0
    if goal not in v.public["armies"]:
        return 1000 + t.value // 100
    enemies = t.supply if owner is None else EXPECTED_LOSS
    training = 10 * a["training"]
    quality = (training + 10 * (11 - v.rank("naval"))) // 2 if landing else training
    left = outlook(a["divisions"], quality, a["morale"], enemies, 100 + 5 * t.defence + 30 * landing)
    return 300 + 60 * t.bonus + t.value // 200 - (a["divisions"] - left) if left else 0


def _may_attack(v: BotView, goal: str, owner: Seat) -> bool:
    relation = v.relation(owner)
    return relation == "total_war" or (relation == "war" and goal != HOMES[owner])


# --- points ------------------------------------------------------------------------------------------------------


def _protecting(v: BotView) -> Iterator[Doc]:
    """Annex cheap protectorates, install them where protection is in force, protect the richest free territory."""
    turn, left = v.public["turn"], v.points()
    held = [t for t in TERRITORIES if v.protector(t) == v.seat]
    for t in held:
        if turn - v.lands[t]["protectorate"]["since"] >= 5 and left >= 100:
            yield {"type": "annex", "territory": t}
    mine = [t for t in TERRITORIES if str(v.seat) in v.lands.get(t, {}).get("protections", {})]
    income = by_rank("diplomacy_income", v.rank("diplomacy"))
    room = max(1, (income - 20) // 40) - len(held)
    for t in mine:
        if room > 0 and left >= 80:
            yield {"type": "install_protectorate", "territory": t}
    if len(mine) < room and left >= 120:
        free = [t for t in TERRITORIES if v.owner(t) is None and v.protector(t) is None and t not in mine]
        rich = sorted(free, key=lambda t: (-TERRITORIES[t].bonus, -TERRITORIES[t].value, t))
        offset = v.seat * 3 % len(rich) if rich else 0
        for t in rich[offset : offset + 1]:
            yield {"type": "protect", "territory": t}


def _answers(v: BotView) -> Iterator[Doc]:
    """Accept peace and friendship."""
    for name, proposal in sorted(v.own["proposals"].items()):
        if proposal["target"] == v.seat:
            yield {"type": "answer_proposal", "proposal": name, "accept": True}


def _borders(v: BotView) -> list[Seat]:
    """Return the empires with a neighbour by land of an own territory."""
    beside = {v.owner(n) for t in v.own_territories() for n in TERRITORIES[t].neighbours}
    return sorted(x for x in beside if x is not None and x != v.seat)


def _talking(v: BotView, dice: Dice) -> Iterator[Doc]:
    """Seek one distant ally, and a war with a neighbour once nothing neutral is left to take."""
    others = [x for x in SEATS if x != v.seat and v.public["empires"][x]["status"] != "eliminated"]
    if v.points() < 300 or any(o["type"] == "relation_action" for o in v.orders):
        return
    near = _borders(v)
    neutral = any(v.owner(n) is None for t in v.own_territories() for n in TERRITORIES[t].neighbours)
    fighting = [x for x in others if v.relation(x) in ("war", "total_war", "imminent_war")]
    if near and not neutral and not fighting:
        victim = near[dice.randint(0, len(near) - 1)]
        yield {"type": "relation_action", "target": EMPIRES[victim], "action": "degrade"}
    friends = [x for x in others if x not in near and v.relation(x) in ("peace", "nap", "mpa")]
    if friends and not any(v.relation(x) == "alliance" for x in others):
        friend = max(friends, key=lambda x: (v.relation(x) == "mpa", v.relation(x) == "nap", -abs(x - v.seat)))
        yield {"type": "relation_action", "target": EMPIRES[friend], "action": "propose"}


def _links(v: BotView) -> Iterator[Doc]:
    """Choose links with both ends in hand first."""
    turn = v.public["turn"]
    if turn == 4 or any(c["turn"] == turn - 1 for c in v.public["counts"][:3]):
        held = {t for t in TERRITORIES if v.seat in (v.owner(t), v.protector(t))}
        near = [k.id for k in LINKS.values() if k.id not in v.own["links_done"] and held & {*k.ends}]
        whole = [k for k in near if held.issuperset(LINKS[k].ends)]
        chosen = (whole + [k for k in near if k not in whole])[:2]
        if chosen:
            yield {"type": "choose_links", "links": chosen}
