"""The end of a game: the winner, one's own place, turning points, points by turn, and the next game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from api.http import i18n
from api.pages.common.in_process import ask
from api.pages.common.labels import capital
from api.pages.common.owners import Owner
from api.pages.player_view.view_nodes import Node, build_node
from api.pages.table.charts import Chart, draw_chart, list_owners
from api.pages.table.table_page import TablePage
from domain.kernel.game.seat_players import is_bot
from domain.kernel.text.message_catalog import Message
from domain.types import Doc, Json

MOST_NAMED = 6
"""Seats named behind the winners."""
TURNING_POINTS = 3


@dataclass(frozen=True)
class RankedSeat:
    """A line of the final table."""

    place: int
    owner: Owner | None
    name: str
    points: str
    is_own: bool
    detail: Node
    """The figures behind the points."""


@dataclass(frozen=True)
class TurningPoint:
    """A turn of a great gain on all others."""

    title: str
    text: str
    version: int
    since: int


@dataclass(frozen=True)
class GameResult:
    """The end of a game in words and figures."""

    headline: str
    own: str
    """The visitor's place in words, or an empty text."""
    places: Sequence[RankedSeat]
    turning: Sequence[TurningPoint]
    chart: Chart | None
    again: str
    """The way to play again: `again` against bots, `rematch` with the same people, or empty."""


def show_result(page: TablePage) -> GameResult | None:
    """Return the end of a game, or None for a running one, and for an end without places."""
    if page.summary["status"] not in ("over", "closed"):
        return None
    scores = ask("GET", f"/games/{page.game}/scores", role=page.role).doc.get("scores") or ()
    if not scores:
        return None
    labels, texts, owners = page.labels, page.labels.texts, list_owners(page.labels, page.board)
    ranked = sorted(scores, key=lambda each: (each["place"], each["seat"]))
    turns = ask("GET", f"/games/{page.game}/digest?after=0", role=page.role).doc.get("turns", ())
    turns = [turn for turn in turns if turn.get("figures") and "points" in turn["figures"][0]]
    places = [
        RankedSeat(
            each["place"],
            owners.get(each["seat"]),
            labels.short_seat(each["seat"]),
            texts.grammar.number(each["points"]),
            each["seat"] == page.seat,
            build_node(
                labels, "", {name: _key_rows(value) for name, value in each["detail"].items() if name != "points"}
            ),
        )
        for each in ranked
    ]
    return GameResult(
        _tell_winner(page, ranked),
        _tell_own_place(page, ranked),
        places,
        find_turning_points(page, turns),
        draw_chart(labels, page.board, turns, "points") if len(turns) > 1 else None,
        _find_way_on(page),
    )


def _key_rows(value: Json) -> Json:
    """Return a list of objects by the one word in each, if these differ: it names the row better than a number."""
    rows = value if isinstance(value, list | tuple) else ()
    keyed = {}
    for row in rows:
        words = [name for name, each in row.items() if isinstance(each, str)] if isinstance(row, dict) else []
        if len(words) != 1:
            return value
        keyed[row[words[0]]] = {name: each for name, each in row.items() if name != words[0]}
    return keyed if rows and len(keyed) == len(rows) else value


def _tell_winner(page: TablePage, ranked: Sequence[Doc]) -> str:
    """Return the winners of the game with the points of all, in the words of its chronicle."""
    winners = [each["seat"] for each in ranked if each["place"] == 1]
    others = [each for each in ranked if each["place"] != 1]
    named, rest = (others, None) if len(others) <= MOST_NAMED else (others[:3], len(others) - 3)
    members = {"winners": winners, "points": ranked[0]["points"], "others": named, "rest": rest}
    return page.labels.texts.render("line.result", members, page.labels.names) or ""


def _tell_own_place(page: TablePage, ranked: Sequence[Doc]) -> str:
    own = next((each for each in ranked if each["seat"] == page.seat), None)
    if own is None:
        return ""
    behind, count = ranked[0]["points"] - own["points"], len(ranked)
    if own["place"] == 1:
        ahead = own["points"] - ranked[1]["points"] if count > 1 else 0
        told = Message("You have won: place 1 of {count}.", count=count)
        if ahead > 0:
            told = Message(
                "You have won: place 1 of {count}, {ahead} {ahead#point|points} ahead.", count=count, ahead=ahead
            )
    else:
        told = Message(
            "You have come in place {place} of {count}, {behind} {behind#point|points} behind.",
            place=own["place"],
            count=count,
            behind=behind,
        )
    return i18n.translate(told, page.labels.texts.lang)


def find_turning_points(page: TablePage, turns: Sequence[Doc]) -> list[TurningPoint]:
    """Return the turns with the largest gain of one seat over the mean of all, in their order: no smaller loss."""
    found = []
    start = [{"last": turns[0]["first"] - 1, "figures": [{"points": 0}] * len(turns[0]["figures"])}] if turns else []
    for before, after in pairwise([*start, *turns]):
        gains = [b["points"] - a["points"] for a, b in zip(before["figures"], after["figures"], strict=False)]
        mean = sum(gains) / len(gains)
        swing, seat = max((gain - mean, seat) for seat, gain in enumerate(gains))
        if swing > 0 and gains[seat] > 0:
            found.append((swing, _show_turning_point(page, before, after, seat, gains)))
    largest = sorted(found, key=lambda each: -each[0])[:TURNING_POINTS]
    return sorted((each for _, each in largest), key=lambda each: each.version)


def _show_turning_point(page: TablePage, before: Doc, after: Doc, seat: int, gains: Sequence[int]) -> TurningPoint:
    best = max((gain for other, gain in enumerate(gains) if other != seat), default=0)
    name, gain = capital(page.labels.said_short(seat)), gains[seat]
    if best > 0:
        told = Message(
            "{name} goes up by {gain} {gain#point|points}, and nobody else by more than {best}.",
            name=name,
            gain=gain,
            best=best,
        )
    else:
        told = Message("{name} goes up by {gain} {gain#point|points}, and nobody else goes up.", name=name, gain=gain)
    return TurningPoint(after["title"], i18n.translate(told, page.labels.texts.lang), after["last"], before["last"])


def _find_way_on(page: TablePage) -> str:
    """Return the command for the next game, for a player of a game without an origin."""
    if page.seat is None or "origin" in page.summary or "tournament" in page.summary or "rematch" in page.summary:
        return ""
    others = [each["player"] for each in page.summary["seats"] if each["seat"] != page.seat]
    return "again" if all(not each or is_bot(each) for each in others) else "rematch"
