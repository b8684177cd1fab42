"""IMP-6.4: investments."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.imperunde.data import CANALS, COUNTRIES, ECONOMY, UNITS, is_warship
from domain.games.imperunde.facts.money import CanalBuilt, CardsBought, PurchaseMade
from domain.games.imperunde.moves import BuildCanal, Buy, BuyCards
from domain.games.imperunde.rules import diplomacy
from domain.games.imperunde.rules.checks import need_country, need_room_at_sea, need_supply, need_zone
from domain.games.imperunde.rules.end import check_win
from domain.games.imperunde.rules.movement import weather
from domain.games.imperunde.state import D, ImpeRunde
from domain.games.imperunde.unit_stacks import Lot
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET, unwrap
from domain.types import Seat

RULE = "IMP-6.4.2"


def check_buy(s: ImpeRunde, seat: Seat, move: Buy) -> None:
    """IMP-6.4.2: the errors of `buy`, in this order."""
    item, quantity, country = move.item, move.quantity, move.country
    require(item in UNITS, "unknown_item", RULE, item=item)
    need_country(country, RULE)
    if is_warship(item):
        need_zone(unwrap(move.zone), RULE)
    require(quantity >= 1, "invalid_amount", RULE, quantity=quantity)
    require(s.is_own(seat, country), "not_your_country", RULE, country=country)
    _need_open_to(s, item, country)
    if is_warship(item):
        need_port(s, seat, country, unwrap(move.zone), RULE)
    if item == "trading_post":
        room = s.room(country) - s.country(country).posts
        require(quantity <= room, "post_limit", RULE, room=room)
    elif not s.is_home(country):
        _need_colony_budget(s, seat, move)
    need_supply(s, seat, item, quantity, RULE)
    need_funds(s, seat, UNITS[item].cost * quantity, RULE)


def _need_open_to(s: ImpeRunde, item: str, country: str) -> None:
    """IMP-6.4.2.3, IMP-6.4.2.4: items closed to a home, or to a colony with a black marker."""
    home = s.is_home(country)
    require(not (home and UNITS[item].kind in ("fort", "post")), "not_allowed_at_home", RULE, item=item)
    require(home or not s.country(country).black, "investment_blocked", RULE, country=country)


def need_port(s: ImpeRunde, seat: Seat, country: str, zone: str, rule: str) -> None:
    """IMP-6.4.2.5: a warship goes to a zone next to the country, where no friend's warships are."""
    require(zone in COUNTRIES[country].coasts, "zone_not_adjacent", rule, zone=zone)
    need_room_at_sea(s, seat, zone, rule)


def _need_colony_budget(s: ImpeRunde, seat: Seat, move: Buy) -> None:
    """IMP-6.4.2.7: only posts from before this turn count."""
    colony = s.country(move.country)
    require(colony.settled_posts > 0, "no_trading_post", RULE, country=move.country)
    if move.item == "fort":
        require(
            colony.forts + move.quantity <= colony.settled_posts,
            "fort_limit",
            RULE,
            cause="settled",
            room=colony.settled_posts - colony.forts,
        )
    left = budget_left(s, seat, move.country)
    require(UNITS[move.item].cost * move.quantity <= left, "colony_budget_exceeded", RULE, left=left)


def budget_left(s: ImpeRunde, seat: Seat, country: str) -> int:
    """IMP-6.4.2.7: the colony's remaining budget for military units this turn."""
    spent = s.nations[seat].spent.get(country, 0)
    return int(ECONOMY["colony_military_budget_per_post"] * s.country(country).settled_posts - spent)


def need_funds(s: ImpeRunde, seat: Seat, cost: int, rule: str) -> None:
    """Raise RuleError unless the money is available."""
    have = s.nations[seat].available
    require(cost <= have, "insufficient_funds", rule, available=have, cost=cost)


def do_buy(d: D, frame: Frame, seat: Seat, move: Buy) -> None:
    """IMP-6.4.2: pay and place; a warship rolls at once in a storm."""
    check_buy(d.state, seat, move)
    item, quantity, country = move.item, move.quantity, move.country
    cost, nation = UNITS[item].cost * quantity, d.state.nations[seat]
    spent = nation.spent.get(country, 0) + cost
    budget = UNSET if item == "trading_post" or d.state.is_home(country) else spent
    d.add(PurchaseMade(seat, item, quantity, country, cost, nation.available - cost, move.zone, budget))
    if move.zone is not UNSET:
        weather(d, seat, move.zone, (Lot(item, quantity),))
    check_win(d)


# --- canals --------------------------------------------------------------------------------------------------


def check_build_canal(s: ImpeRunde, seat: Seat, move: BuildCanal) -> None:
    """IMP-6.4.4: the errors of `build_canal`, in this order."""
    rule = "IMP-6.4.4"
    require(move.canal in CANALS, "unknown_canal", rule, canal=move.canal)
    canal = CANALS[move.canal]
    require(s.country(canal.country).owner == seat, "not_your_country", rule, country=canal.country)
    require(canal.id not in s.canals, "canal_exists", rule, canal=canal.id)
    require(not s.country(canal.country).black, "investment_blocked", rule, country=canal.country)
    need_funds(s, seat, canal.cost, rule)


def do_build_canal(d: D, frame: Frame, seat: Seat, move: BuildCanal) -> None:
    """IMP-6.4.4: two fresh posts come with it, as far as the supply goes."""
    check_build_canal(d.state, seat, move)
    canal = CANALS[move.canal]
    posts = min(canal.posts, d.state.supply(seat, "trading_post"))
    left = d.state.nations[seat].available - canal.cost
    d.add(CanalBuilt(seat, canal.id, canal.country, posts, canal.cost, left))
    check_win(d)


# --- cards ---------------------------------------------------------------------------------------------------


def check_buy_cards(s: ImpeRunde, seat: Seat, move: BuyCards) -> None:
    """IMP-6.4.5: the errors of `buy_cards`, in this order."""
    rule, quantity, most = "IMP-6.4.5", move.quantity, ECONOMY["max_cards_bought_per_turn"]
    require(quantity >= 1, "invalid_amount", rule, quantity=quantity)
    bought = s.nations[seat].bought
    require(bought + quantity <= most, "card_purchase_limit", rule, bought=bought, highest=most)
    require(quantity <= s.pile, "deck_empty", rule, pile=s.pile)
    need_funds(s, seat, ECONOMY["card_cost"] * quantity, rule)


def do_buy_cards(d: D, frame: Frame, seat: Seat, move: BuyCards) -> None:
    """IMP-6.4.5: from the top of the draw pile, face down."""
    check_buy_cards(d.state, seat, move)
    nation, quantity = d.state.nations[seat], move.quantity
    cost = ECONOMY["card_cost"] * quantity
    d.add(CardsBought(seat, quantity, nation.bought + quantity, cost, nation.available - cost))
    for _ in range(quantity):
        diplomacy.deal(d, seat)
    d.barrier()
