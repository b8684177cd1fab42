"""EGC-7.2, EGC-7.9, EGC-7.17, EGC-7.22: research, expeditions, gifts of money, links."""

from __future__ import annotations

from domain.games.egc.data import SEAT, VICTORY
from domain.games.egc.moves import ChooseLinks, FundExpeditions, GiveMoney, SetResearch
from domain.games.egc.rules.projection import (
    Copy,
    known_links,
    known_recipient,
    known_technology,
    need,
    need_calm,
    need_other,
)
from domain.games.egc.state import Filed


def set_research(c: Copy, move: SetResearch, filed: Filed) -> None:
    """EGC-7.2."""
    known_technology(move.technology)
    need(move.amount >= 1, "bad_amount", "EGC-7.2")
    c.funds -= move.amount


def fund_expeditions(c: Copy, move: FundExpeditions, filed: Filed) -> None:
    """EGC-7.9; funds count before the check of the moves, in any sequence of orders."""
    need(move.count >= 1, "bad_amount", "EGC-7.9")
    c.funds -= move.count * c.by_rank("expedition_cost", "exploration")


def give_money(c: Copy, move: GiveMoney, filed: Filed) -> None:
    """EGC-7.17: per recipient and turn, up to a limit by diplomacy rank."""
    known_recipient(move.to)
    other, amount = SEAT[move.to], move.amount
    need(amount >= 1, "bad_amount", "EGC-7.17")
    need_other(c, other, "EGC-7.17")
    need_calm(c, other, "EGC-7.17")
    limit = c.by_rank("money_gift_limit", "diplomacy")
    need(amount <= limit, "gift_limit", "EGC-7.17", limit=limit)
    c.funds -= amount


def choose_links(c: Copy, move: ChooseLinks, filed: Filed) -> None:
    """EGC-7.22: up to two, in turn 4 and after each of the first three counts."""
    links = move.links
    known_links(links)
    need(
        len(links) <= VICTORY["links_per_choice"] and len(set(links)) == len(links),
        "bad_amount",
        "EGC-7.22",
        cause="links",
        limit=VICTORY["links_per_choice"],
    )
    need(c.s.choosing_links(), "links_closed", "EGC-7.22")
    need(not any(link in c.empire.links_done for link in links), "link_already_done", "EGC-7.22")
