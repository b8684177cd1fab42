"""Move builder: one question after the other, offering exactly the moves accepted by `decide` (IMP-16)."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.common.checks import is_legal
from domain.games.imperunde import frames
from domain.games.imperunde import unit_choices as units
from domain.games.imperunde.card_choices import CARD_BUILDERS, playable
from domain.games.imperunde.data import CANALS, COUNTRIES, ECONOMY, UNITS, is_warship
from domain.games.imperunde.moves import (
    UNTIL,
    WINDOW_FRAMES,
    Armies,
    BuildCanal,
    Buy,
    BuyCards,
    ChooseStolenCard,
    EndEmbarkation,
    EndFairWind,
    EndInvestments,
    EndMovement,
    EquipColony,
    Pass,
    PlaceHomeFleet,
    ProposeGoal,
    Ready,
    SetAutoPass,
    SetBudget,
    SetStance,
    Unready,
    VoteGoal,
)
from domain.games.imperunde.rules import budget, diplomacy, investment, setup
from domain.games.imperunde.state import WINDOWS, ImpeRunde, Relation
from domain.kernel.rules.choices import Builder, Option, one, some, span
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.declarations import UNSET, Maybe, Move
from domain.types import Json, Seat

END = {
    "investment": "end_investments",
    "movement": "end_movement",
    "embarkation": "end_embarkation",
    "fair_wind": "end_fair_wind",
}


def build(s: ImpeRunde, seat: Seat) -> Builder:
    """Yield the questions for a move of the seat, item by item."""
    frame = s.top
    offered: list[Json | Option] = list(_own_types(s, frame, seat))
    if playable(s, seat):
        offered.append("play_card")
    if seat not in frame.owing or frame.kind in WINDOW_FRAMES:
        offered.append("set_auto_pass")
    kind = yield one("type", offered)
    return (yield from BUILDERS[kind](s, frame, seat))


def _own_types(s: ImpeRunde, frame: Frame, seat: Seat) -> list[Json | Option]:
    """Yield the types of move, cards and standing passes apart."""
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
    if is_legal(diplomacy.check_propose_goal, s, seat, ProposeGoal(_another_goal(s))):
        types.append("propose_goal")
    return types


# --- set-up --------------------------------------------------------------------------------------------------


def _home_fleet(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    zones = setup.fleet_zones(s, s.nations[seat].home, seat)
    frigate = yield one("frigate", zones)
    return PlaceHomeFleet(frigate, (yield one("ship_of_the_line", zones)))


def _equip(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    zones = setup.fleet_zones(s, frame.context(frames.SetupColony).country, seat) if s.supply(seat, "frigate") else []
    choice = yield one("choice", [*["frigate"] * bool(zones), "armies"])
    if choice == "frigate":
        return EquipColony(choice, zone=(yield one("zone", zones)))
    sets = [[{"unit": u, "count": n} for u, n in armies.items()] for armies in setup.ARMY_CHOICES]
    units = yield one("units", sets)
    return EquipColony(choice, units=[Armies(x["unit"], x["count"]) for x in units])


# --- diplomacy and budget ------------------------------------------------------------------------------------


_OTHER: dict[str, Relation] = {"peace": "war", "war": "peace"}


def _stances(s: ImpeRunde, seat: Seat) -> list[Json]:
    """Return the seats with a stance open to change."""
    changes = [SetStance(x, _OTHER[s.stance(seat, x)]) for x in s.everybody if x != seat]
    return [c.target for c in changes if is_legal(diplomacy.check_set_stance, s, seat, c)]


def _set_stance(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    target = yield one("target", _stances(s, seat))
    return SetStance(target, (yield one("stance", [_OTHER[s.stance(seat, target)]])))


def _another_goal(s: ImpeRunde) -> int:
    lo, hi = diplomacy.goal_bounds(s)
    return lo if s.goal != lo else hi


def _propose_goal(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    lo, hi = diplomacy.goal_bounds(s)
    return ProposeGoal((yield one("goal", [g for g in range(lo, hi + 1) if g != s.goal])))


def _vote_goal(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    return VoteGoal((yield one("approve", [True, False])))


def _set_budget(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    def legal(repay: int, borrow: int) -> bool:
        return is_legal(budget.check_set_budget, s, seat, SetBudget(repay, borrow))

    amounts = [(r, b) for r in ECONOMY["repay_choices"] for b in ECONOMY["borrow_choices"] if legal(r, b)]
    repay = yield one("repay", list(dict.fromkeys(r for r, _ in amounts)))
    return SetBudget(repay, (yield one("borrow", [b for r, b in amounts if r == repay])))


# --- investments ---------------------------------------------------------------------------------------------


def _purchases(s: ImpeRunde, seat: Seat) -> dict[str, dict[str, list[str]]]:
    """Return country -> item -> zones (empty for pieces ashore) with room for at least one piece."""

    def legal(item: str, country: str, zone: str) -> bool:
        return is_legal(investment.check_buy, s, seat, Buy(item, 1, country, zone or UNSET))

    def find() -> dict[str, dict[str, list[str]]]:
        out: dict[str, dict[str, list[str]]] = {}
        for country in [s.nations[seat].home, *s.colonies(seat)]:
            for item in UNITS:
                zones = COUNTRIES[country].coasts if is_warship(item) else ("",)
                if able := [z for z in zones if legal(item, country, z)]:
                    out.setdefault(country, {})[item] = able
        return out

    return memo(s, f"purchases {seat}", find)


def _buy(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    able = _purchases(s, seat)
    country = yield one("country", able)
    item = yield one("item", [Option(i, {"doubloons": UNITS[i].cost}) for i in able[country]])
    zone = (yield one("zone", able[country][item])) if is_warship(item) else UNSET
    return Buy(item, (yield span("quantity", 1, _most(s, seat, item, country, zone))), country, zone)


def _most(s: ImpeRunde, seat: Seat, item: str, country: str, zone: Maybe[str]) -> int:
    most = min(s.nations[seat].available // UNITS[item].cost, s.supply(seat, item))
    while not is_legal(investment.check_buy, s, seat, Buy(item, most, country, zone)):
        most -= 1
    return most


def _canals(s: ImpeRunde, seat: Seat) -> list[Json | Option]:
    able = [c for c in CANALS.values() if is_legal(investment.check_build_canal, s, seat, BuildCanal(c.id))]
    return [Option(c.id, {"doubloons": c.cost}) for c in able]


def _build_canal(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    return BuildCanal((yield one("canal", _canals(s, seat))))


def _card_counts(s: ImpeRunde, seat: Seat) -> list[Json | Option]:
    counts = range(1, ECONOMY["max_cards_bought_per_turn"] + 1)
    able = [n for n in counts if is_legal(investment.check_buy_cards, s, seat, BuyCards(n))]
    return [Option(n, {"doubloons": n * ECONOMY["card_cost"]}) for n in able]


def _buy_cards(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    return BuyCards((yield one("quantity", _card_counts(s, seat))))


# --- cards and windows ---------------------------------------------------------------------------------------


def _play_card(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    able = playable(s, seat)
    card = yield one("card", able)
    return (yield from CARD_BUILDERS[card](s, seat))


def _stolen(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    return ChooseStolenCard((yield one("card", [*sorted(set(s.hands[frame.context(frames.Theft).target])), None])))


def _pass(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    more: list[Json] = ["for_combat"] if frame.kind == "round_window" else []
    until = yield one("until", [None, *UNTIL, *more], ends=(None,))
    if until == "for_combat":
        return Pass(for_combat=True)
    return Pass(until or UNSET)


def _set_auto_pass(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    windows = yield some("windows", WINDOWS, 1, len(WINDOWS))
    return SetAutoPass(windows, (yield one("until", [*UNTIL, "off"])))


def _nothing(move: Move) -> Callable[[ImpeRunde, Frame, Seat], Builder]:
    """Return a builder without questions."""

    def builder(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
        return move
        yield

    return builder


BUILDERS: dict[str, Callable[[ImpeRunde, Frame, Seat], Builder]] = {
    "place_home_fleet": _home_fleet,
    "equip_colony": _equip,
    "set_stance": _set_stance,
    "propose_goal": _propose_goal,
    "vote_goal": _vote_goal,
    "ready": _nothing(Ready()),
    "unready": _nothing(Unready()),
    "set_budget": _set_budget,
    "buy": _buy,
    "build_canal": _build_canal,
    "buy_cards": _buy_cards,
    "end_investments": _nothing(EndInvestments()),
    "move": units.build_move,
    "attack": units.build_attack,
    "choose_units": units.build_choose_units,
    "reinforce": units.build_reinforce,
    "end_movement": _nothing(EndMovement()),
    "embark": units.build_embark,
    "end_embarkation": _nothing(EndEmbarkation()),
    "end_fair_wind": _nothing(EndFairWind()),
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
