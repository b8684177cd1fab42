"""View of a seat, as the heuristic player uses it: documents in, victory points out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.compat import cached_property
from domain.games.age_of_reason.data import BLUFF, CARDS, CONSTANTS, HOME, POWERS, REGIONS, ROUNDS, SPACES, Card
from domain.games.common.majority import majority
from domain.types import Seat

GOLD = 0.3
"""Worth of one gold, in points."""
UNREST = 0.45
"""Cost of one point of unrest, in points."""


class BotView:
    """The view of a seat, with the bot's questions about it."""

    def __init__(self, player_view: Mapping[str, Any], seat: Seat) -> None:
        self.board, self.own = player_view["public"], player_view["own"]
        self.seat = seat
        self.me = self.board["empires"][seat]
        self.power: str = self.me["power"] or ""

    @cached_property
    def tokens(self) -> dict[str, dict[str, int]]:
        """Power -> region -> tokens."""
        seated = {e["power"]: e["tokens"] for e in self.board["empires"] if e["power"]}
        return {**self.board["npp"], **seated}

    @cached_property
    def seats(self) -> dict[str, Seat]:
        """Power -> seat."""
        return {e["power"]: e["seat"] for e in self.board["empires"]}

    @cached_property
    def allies(self) -> list[str]:
        """The own coalition, with the own power."""
        return next((row for row in self.board["coalitions"].values() if self.power in row), [])

    @property
    def rounds_left(self) -> int:
        """Rounds left in this game turn, the current one included."""
        return int(ROUNDS[self.board["players"]] - self.board["round"] + 1)

    @property
    def weight(self) -> float:
        """The expected number of further scorings of a token; later ones count less, as it may be lost."""
        left: int = CONSTANTS["turns"] - self.board["game_turn"]
        return 1 + 0.6 * left

    def points(self, region: str, change: Mapping[str, int]) -> dict[str, int]:
        """Return the points of each power in a region with some tokens more or less."""
        counts = {p: self.tokens.get(p, {}).get(region, 0) + change.get(p, 0) for p in POWERS}
        return majority({p: n for p, n in counts.items() if n > 0}, REGIONS[region].vp)

    def gain(self, region: str, loser: str | None) -> float:
        """Return the worth of a token in place of the loser's: own points, points lost by others, and the income."""
        change = {self.power: 1} | ({loser: -1} if loser else {})
        before, after = self.points(region, {}), self.points(region, change)
        own = after.get(self.power, 0) - before.get(self.power, 0)
        others = [p for p in self.seats if p != self.power]
        theirs = sum(after.get(p, 0) - before.get(p, 0) for p in others) / max(1, len(others))
        return self.weight * (own - theirs + 0.5 + GOLD)

    def bonus(self, seat: Seat, region: str) -> int:
        """Return the bonus of the tokens on the action board."""
        spaces = (SPACES[name] for name in self.board["empires"][seat]["action_tokens"])
        return sum(s.bonus for s in spaces if s.effect == "combat_bonus" and region in s.regions)

    def price(self, gold: int) -> float:
        """Return the worth of a payment in points, with the unrest of a loan."""
        short = max(0, gold - self.me["gold"])
        return GOLD * gold + UNREST * float(-(-short // 2))

    def affordable(self, gold: int) -> bool:
        """Return whether the seat can pay it without a loan beyond the track."""
        return bool(gold <= self.me["gold"] + 2 * (CONSTANTS["unrest_max"] - self.me["unrest"]))

    @cached_property
    def hand(self) -> list[Card]:
        """The cards affordable for the seat."""
        return [CARDS[c] for c in self.own["hand"] if self.affordable(CARDS[c].cost)]

    @cached_property
    def ships(self) -> list[Card]:
        """The cards playable where a ship is needed."""
        held = [CARDS[c] for c in self.own["hand"] if CARDS[c].ships]
        return [c for c in self.hand if c.ships] if held else [CARDS[BLUFF[self.power]]]

    def reaches(self, region: str) -> bool:
        """Return whether the seat can attack in a region."""
        own, there = self.me["tokens"], REGIONS[region]
        if there.kind == "colony" or there.naval:
            return region in own or there.kind != "colony"
        return region in own or HOME[self.power] in there.adjacent or any(r in there.adjacent for r in own)

    def hirable(self, region: str) -> list[str]:
        """Return the powers without seat able to help."""
        return [p for p in self.allies if p not in self.seats and region in self.tokens.get(p, {})]
