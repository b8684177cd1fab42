"""Move builder: exactly the moves accepted by `decide`, asked for one field at a time.

Every offer has passed the checks of a move. A bid's amount is a range (AOR-21.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized

from domain.games.age_of_reason import frames
from domain.games.age_of_reason.data import CARDS, DECKS, MARKERS, POWERS, REGIONS, SCORING, SPACES
from domain.games.age_of_reason.moves import (
    Attack,
    Bid,
    ChoosePower,
    Commit,
    Convert,
    Hire,
    Pass,
    PassBid,
    Place,
    Reserves,
    TakeBack,
)
from domain.games.age_of_reason.rules import attacking, coalitions, converting, placing, setup
from domain.games.age_of_reason.rules.battle import commit
from domain.games.age_of_reason.rules.battle.allies import hirable
from domain.games.age_of_reason.rules.checks import check_ship, is_legal
from domain.games.age_of_reason.rules.money import price
from domain.games.age_of_reason.state import AgeOfReason
from domain.games.age_of_reason.value_objects import Target
from domain.games.common import auction
from domain.kernel.rules.choices import Builder, Option, one, some
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.declarations import doc
from domain.types import Json, Seat


def build(s: AgeOfReason, seat: Seat) -> Builder:
    """Return the builder of the open decision."""
    if seat not in s.top.owing:
        return _take_back(s, seat)
    return BUILDERS[s.top.kind](s, seat)


def _priced(s: AgeOfReason, seat: Seat, cards: Iterable[str]) -> list[Option]:
    """Return cards with their costs."""
    return [Option(card, price(s, seat, CARDS[card].cost)) for card in cards]


# --- set-up and auctions --------------------------------------------------------------------------------------


def _choose_power(s: AgeOfReason, seat: Seat) -> Builder:
    free = [p for p in POWERS if is_legal(setup.check_choose_power, s, seat, ChoosePower(p))]
    return ChoosePower((yield one("power", free)))


def _auction_bid(s: AgeOfReason, seat: Seat) -> Builder:
    bid = yield from auction.ask_bid(s.unaligned(), s.bidding.standing, coalitions.most_bid(s, seat))
    return Bid(*bid) if bid else PassBid()


# --- the turn ------------------------------------------------------------------------------------------------


def _turn(s: AgeOfReason, seat: Seat) -> Builder:
    kinds = [Option(kind, _cost(s, seat, kind)) for kind, (offers, _) in TURN.items() if offers(s, seat)]
    kind = yield one("type", [Option("pass", ends=True), *kinds])
    if kind == "pass":
        return Pass()
    return (yield from TURN[kind][1](s, seat))


def _cost(s: AgeOfReason, seat: Seat, kind: str) -> dict[str, Json]:
    """Return the cost common to every move of a type."""
    return price(s, seat, converting.COST) if kind == "convert" else {}


def _spaces(s: AgeOfReason, seat: Seat) -> list[str]:
    def find() -> list[str]:
        if s.acting.placed or s.acting.attacks_made or not s.reserve(seat):
            return []
        return [space for space in SPACES if is_legal(placing.check_space, s, seat, space)]

    return memo(s, f"spaces {seat}", find)


def _place(s: AgeOfReason, seat: Seat) -> Builder:
    space = yield one("space", [Option(x, price(s, seat, SPACES[x].cost)) for x in _spaces(s, seat)])
    if space in placing.TAKES_BACK:
        return Place(space, (yield one("card", placing.eligible(s, seat, space) or [None])))
    if SPACES[space].names_region:
        return Place(space, region=(yield one("region", SPACES[space].regions)))
    return Place(space)


# convert


def _ship_cards(s: AgeOfReason, seat: Seat) -> list[str]:
    """Return the cards playable where a ship is needed, at any cost."""
    return memo(s, f"ships {seat}", lambda: [c for c in DECKS[s.power(seat)] if is_legal(check_ship, s, seat, c)])


def _to_convert(s: AgeOfReason, seat: Seat) -> list[str]:
    if s.empires[seat].means < converting.COST or not _ship_cards(s, seat):
        return []
    aktion = [marker for marker in s.lying() if MARKERS[marker].kind == "aktion"]
    return [marker for marker in aktion if is_legal(converting.check_marker, s, seat, marker)]


def _convert(s: AgeOfReason, seat: Seat) -> Builder:
    marker = yield one("marker", _to_convert(s, seat))
    return Convert(marker, (yield one("card", _ship_cards(s, seat))))


# attack


def _attack_cards(s: AgeOfReason, seat: Seat, region: str) -> list[str]:
    """Return the cards for an attack; they depend on the kind of region alone."""

    def find() -> list[str]:
        return [card for card in DECKS[s.power(seat)] if is_legal(attacking.check_card, s, seat, region, card)]

    return memo(s, f"cards {seat} {REGIONS[region].naval}", find)


def _targets(s: AgeOfReason, seat: Seat) -> dict[str, list[Target]]:
    """Return region -> targets of the seat there."""
    own = s.coalition_of(s.power(seat))

    def fit(region: str) -> list[Target]:
        enemies = [power for power in POWERS if s.coalition_of(power) != own and region in s.tokens.get(power, {})]
        powers = [Target("power", power=power) for power in enemies]
        markers = [Target("marker", marker=marker) for marker in s.markers.get(region, ())]
        return [t for t in (*powers, *markers) if is_legal(attacking.check_target, s, seat, region, t)]

    def find() -> dict[str, list[Target]]:
        near = [r for r in SCORING if attacking.has_access(s, seat, r) and _attack_cards(s, seat, r)]
        found = {region: fit(region) for region in near}
        return {region: targets for region, targets in found.items() if targets}

    left = s.acting.attacks_made < s.acting.attacks_allowed
    return memo(s, f"targets {seat}", find) if left else {}


def _attack(s: AgeOfReason, seat: Seat) -> Builder:
    known = _targets(s, seat)
    region = yield one("region", known)
    shown = [doc(target) for target in known[region]]
    target = known[region][shown.index((yield one("target", shown)))]
    return Attack(region, target, (yield one("card", _priced(s, seat, _attack_cards(s, seat, region)))))


# --- answers in a battle -------------------------------------------------------------------------------------


def _commit(s: AgeOfReason, seat: Seat) -> Builder:
    held = [card for card in s.hand(seat) if is_legal(commit.check_commit, s, seat, card)]
    defends = s.top.context(frames.Commit).defender == seat
    none = [] if defends else [Option(None)]
    return Commit((yield one("card", [*none, *_priced(s, seat, held)])))


def _hire(s: AgeOfReason, seat: Seat) -> Builder:
    free = hirable(s, s.fight, seat)
    spent = commit.spent(s, seat)
    most = (s.empires[seat].means - spent) // commit.HIRE_COST
    values = [Option(power, price(s, seat, commit.HIRE_COST, spent)) for power in free]
    return Hire((yield some("powers", values, 0, min(len(free), most))))


def _take_back(s: AgeOfReason, seat: Seat) -> Builder:
    yield one("type", ["take_back"])
    return TakeBack()


def _reserves(s: AgeOfReason, seat: Seat) -> Builder:
    return Reserves((yield one("use", [False, True])))


TURN: dict[str, tuple[Callable[[AgeOfReason, Seat], Sized], Callable[[AgeOfReason, Seat], Builder]]] = {
    "place": (_spaces, _place),
    "convert": (_to_convert, _convert),
    "attack": (_targets, _attack),
}
"""Move type -> condition for offering it, and its builder."""


BUILDERS: dict[str, Callable[[AgeOfReason, Seat], Builder]] = {
    "choose_power": _choose_power,
    "auction_bid": _auction_bid,
    "turn": _turn,
    "commit": _commit,
    "hire": _hire,
    "reserves": _reserves,
}
