"""The move builder: one question after the other, offering exactly what the checks of `decide` accept (IMP-16)."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.common.checks import passes
from domain.games.imperunde import unit_choices as units
from domain.games.imperunde.card_choices import CARD_BUILDERS, playable
from domain.games.imperunde.data import CANALS, COUNTRIES, ECONOMY, UNITS, is_warship
from domain.games.imperunde.moves import UNTIL, WINDOW_FRAMES
from domain.games.imperunde.rules import budget, diplomacy, investment, setup
from domain.games.imperunde.state import WINDOWS, ImpeRunde
from domain.ids import Json, Seat
from domain.kernel.choices import Builder, Move, Option, one, some, span
from domain.kernel.flow import Frame
from domain.kernel.ruleset import memo

END = {
    "investment": "end_investments",
    "movement": "end_movement",
    "embarkation": "end_embarkation",
    "fair_wind": "end_fair_wind",
}


def build(s: ImpeRunde, seat: Seat) -> Builder:
    """The move of a seat, asked for item by item."""
    frame = s.top
    offered: list[Json | Option] = list(_own_types(s, frame, seat))
    if playable(s, seat):
        offered.append("play_card")
    if seat not in frame.owing or frame.kind in WINDOW_FRAMES:
        offered.append("set_auto_pass")
    kind = yield one("type", offered)
    return {"type": kind, **(yield from BUILDERS[kind](s, frame, seat))}


def _own_types(s: ImpeRunde, frame: Frame, seat: Seat) -> list[Json | Option]:
    """Types of move, cards and standing passes apart."""
    if frame.kind == "diplomacy":
        return _talk_types(s, frame, seat)
    if frame.kind == "budget":
        return [Option("set_budget", ends=seat in frame.owing)]
    if seat not in frame.owing:
        return []
    if frame.kind in WINDOW_FRAMES:
        return [Option("pass", ends=True)]
    if frame.kind in END:
        types = [t for t in _DURING[frame.kind] if _POSSIBLE[t](s, seat)]
        return [Option(END[frame.kind], ends=True), *types]
    return [Option(_ONLY[frame.kind], ends=True)]


def _talk_types(s: ImpeRunde, frame: Frame, seat: Seat) -> list[Json | Option]:
    types: list[Json | Option] = [Option("ready", ends=True)] if seat in frame.owing else ["unready"]
    if _stances(s, seat):
        types.append("set_stance")
    if passes(diplomacy.check_propose_goal, s, seat, {"goal": _another_goal(s)}):
        types.append("propose_goal")
    return types


# --- set-up --------------------------------------------------------------------------------------------------


def _home_fleet(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    zones = setup.fleet_zones(s, s.nations[seat].home, seat)
    frigate = yield one("frigate", zones)
    return {"frigate": frigate, "ship_of_the_line": (yield one("ship_of_the_line", zones))}


def _equip(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    zones = setup.fleet_zones(s, frame.data["country"], seat) if s.supply(seat, "frigate") else []
    choice = yield one("choice", [*["frigate"] * bool(zones), "armies"])
    if choice == "frigate":
        return {"choice": choice, "zone": (yield one("zone", zones))}
    sets = [[{"unit": u, "count": n} for u, n in armies.items()] for armies in setup.ARMY_CHOICES]
    return {"choice": choice, "units": (yield one("units", sets))}


# --- diplomacy and budget ------------------------------------------------------------------------------------


def _stances(s: ImpeRunde, seat: Seat) -> list[Json]:
    """Seats toward which the stance can be changed."""
    other = {"peace": "war", "war": "peace"}
    changes = [{"target": x, "stance": other[s.stance(seat, x)]} for x in s.everybody if x != seat]
    return [c["target"] for c in changes if passes(diplomacy.check_set_stance, s, seat, c)]


def _set_stance(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    target = yield one("target", _stances(s, seat))
    return {
        "target": target,
        "stance": (yield one("stance", ["war" if s.stance(seat, target) == "peace" else "peace"])),
    }


def _another_goal(s: ImpeRunde) -> int:
    lo, hi = diplomacy.goal_bounds(s)
    return lo if s.goal != lo else hi


def _propose_goal(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    lo, hi = diplomacy.goal_bounds(s)
    return {"goal": (yield one("goal", [g for g in range(lo, hi + 1) if g != s.goal]))}


def _vote_goal(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    return {"approve": (yield one("approve", [True, False]))}


def _set_budget(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    def legal(repay: int, borrow: int) -> bool:
        return passes(budget.check_set_budget, s, seat, {"repay": repay, "borrow": borrow})

    amounts = [(r, b) for r in ECONOMY["repay_choices"] for b in ECONOMY["borrow_choices"] if legal(r, b)]
    repay = yield one("repay", list(dict.fromkeys(r for r, _ in amounts)))
    return {"repay": repay, "borrow": (yield one("borrow", [b for r, b in amounts if r == repay]))}


# --- investments ---------------------------------------------------------------------------------------------


def _purchases(s: ImpeRunde, seat: Seat) -> dict[str, dict[str, list[str]]]:
    """Country -> item -> zones (empty for what stays ashore): what one piece of can be bought."""

    def legal(item: str, country: str, zone: str) -> bool:
        more = {"zone": zone} if zone else {}
        return passes(investment.check_buy, s, seat, {"item": item, "quantity": 1, "country": country, **more})

    def found() -> dict[str, dict[str, list[str]]]:
        out: dict[str, dict[str, list[str]]] = {}
        for country in [s.nations[seat].home, *s.colonies(seat)]:
            for item in UNITS:
                zones = COUNTRIES[country].coasts if is_warship(item) else ("",)
                if able := [z for z in zones if legal(item, country, z)]:
                    out.setdefault(country, {})[item] = able
        return out

    made: dict[str, dict[str, list[str]]] = memo(s, f"purchases {seat}", found)
    return made


def _buy(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    able = _purchases(s, seat)
    country = yield one("country", able)
    item = yield one("item", [Option(i, {"doubloons": UNITS[i].cost}) for i in able[country]])
    move: Move = {"country": country, "item": item}
    if is_warship(item):
        move["zone"] = yield one("zone", able[country][item])
    move["quantity"] = yield span("quantity", 1, _most(s, seat, move))
    return move


def _most(s: ImpeRunde, seat: Seat, move: Move) -> int:
    most = min(s.nations[seat].available // UNITS[move["item"]].cost, s.supply(seat, move["item"]))
    while not passes(investment.check_buy, s, seat, {**move, "quantity": most}):
        most -= 1
    return most


def _canals(s: ImpeRunde, seat: Seat) -> list[Json | Option]:
    able = [c for c in CANALS.values() if passes(investment.check_build_canal, s, seat, {"canal": c.id})]
    return [Option(c.id, {"doubloons": c.cost}) for c in able]


def _build_canal(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    return {"canal": (yield one("canal", _canals(s, seat)))}


def _card_counts(s: ImpeRunde, seat: Seat) -> list[Json | Option]:
    counts = range(1, ECONOMY["max_cards_bought_per_turn"] + 1)
    able = [n for n in counts if passes(investment.check_buy_cards, s, seat, {"quantity": n})]
    return [Option(n, {"doubloons": n * ECONOMY["card_cost"]}) for n in able]


def _buy_cards(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    return {"quantity": (yield one("quantity", _card_counts(s, seat)))}


# --- cards and windows ---------------------------------------------------------------------------------------


def _play_card(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    able = playable(s, seat)
    card = yield one("card", able)
    return {"card": card, **(yield from CARD_BUILDERS[card](s, seat))}


def _stolen(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    return {"card": (yield one("card", [*sorted(set(s.hands[frame.data["target"]])), None]))}


def _pass(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    more: list[Json] = ["for_combat"] if frame.kind == "round_window" else []
    until = yield one("until", [None, *UNTIL, *more], ends=(None,))
    if until == "for_combat":
        return {"for_combat": True}
    return {"until": until} if until else {}


def _set_auto_pass(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    windows = yield some("windows", WINDOWS, 1, len(WINDOWS))
    return {"windows": windows, "until": (yield one("until", [*UNTIL, "off"]))}


def _nothing(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    return {}
    yield


BUILDERS: dict[str, Callable[[ImpeRunde, Frame, Seat], Builder]] = {
    "place_home_fleet": _home_fleet,
    "equip_colony": _equip,
    "set_stance": _set_stance,
    "propose_goal": _propose_goal,
    "vote_goal": _vote_goal,
    "ready": _nothing,
    "unready": _nothing,
    "set_budget": _set_budget,
    "buy": _buy,
    "build_canal": _build_canal,
    "buy_cards": _buy_cards,
    "end_investments": _nothing,
    "move": units.build_move,
    "attack": units.build_attack,
    "choose_units": units.build_choose_units,
    "reinforce": units.build_reinforce,
    "end_movement": _nothing,
    "embark": units.build_embark,
    "end_embarkation": _nothing,
    "end_fair_wind": _nothing,
    "play_card": _play_card,
    "choose_stolen_card": _stolen,
    "pass": _pass,
    "set_auto_pass": _set_auto_pass,
}

_ONLY = {
    "setup_fleet": "place_home_fleet",
    "setup_colony": "equip_colony",
    "goal_vote": "vote_goal",
    "choose_units": "choose_units",
    "reinforce": "reinforce",
    "theft": "choose_stolen_card",
}

_DURING = {
    "investment": ("buy", "build_canal", "buy_cards"),
    "movement": ("move", "attack"),
    "embarkation": ("embark",),
    "fair_wind": ("move", "attack"),
}

_POSSIBLE: dict[str, Callable[[ImpeRunde, Seat], bool]] = {
    "buy": lambda s, seat: bool(_purchases(s, seat)),
    "build_canal": lambda s, seat: bool(_canals(s, seat)),
    "buy_cards": lambda s, seat: bool(_card_counts(s, seat)),
    "move": units.can_move,
    "attack": units.can_attack,
    "embark": lambda s, seat: bool(units.ports(s, seat)),
}
