"""The page of a person: games, places and ratings, and the acts of others about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from flask import Response, request

from api.http import i18n
from api.pages.account.personal_acts import ActPage, ActRequest, Refusal, render_acts
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import ask, read_document
from api.pages.common.session import session_owner
from api.pages.lobby.lobby import show_tables
from api.pages.lobby.people import relate
from api.schemas.history_responses import ResultsDoc, RulesetsDoc
from api.schemas.table_responses import LobbyDoc, RelatedDoc
from api.services import services
from domain.kernel.game.seat_players import is_bot
from domain.kernel.text.grammar import GRAMMARS
from domain.kernel.text.message_catalog import Message
from domain.ratings import OVERALL
from projections.game_documents import ResultDoc

MOST_RESULTS = 200
"""Newest results in the sums of the page."""

_CURSOR = re.compile(r"[0-9]{1,16}\.[0-9a-f-]{36}\.[0-9]{1,2}", re.ASCII)


@dataclass(frozen=True)
class GameFigures:
    """Results of a person in one game. `mean`: mean place, with one decimal."""

    title: str
    count: int
    wins: int
    mean: str


def show_player(player: str, act: str = "") -> Response:
    """Show a person, and block or report them."""
    page = ActPage(
        f"/players/{player}",
        {
            "block": lambda: ActRequest("PUT", f"/me/blocks/{player}"),
            "unblock": lambda: ActRequest("DELETE", f"/me/blocks/{player}"),
            "relate": lambda: relate(player),
            "unrelate": lambda: relate(player, ends=True),
            "report": lambda: ActRequest("POST", "/reports", {"player": player, "said": read_text("said")}),
        },
        {
            "block": Message("This person invites you no more, and joins no table of yours. Nobody tells them."),
            "unblock": Message("This person may invite you again, and join your tables."),
            "relate": Message("As an officer you now see no secrets at tables of this person."),
            "unrelate": Message("The relation is ended."),
            "report": Message("The moderators have your report. You read its outcome among your people."),
        },
        partial(_show, player),
        is_public=True,
    )
    return page.respond(act)


def _show(player: str, page: ActPage, refusal: Refusal | None) -> Response:
    owner, s = session_owner(), services()
    cursor = request.args.get("cursor", "")
    query = f"&cursor={cursor}" if _CURSOR.fullmatch(cursor) else ""
    found = read_document(ResultsDoc, f"/players/{player}/results?limit={MOST_RESULTS}{query}")
    titles = {each["name"]: each["title"] for each in read_document(RulesetsDoc, "/rulesets")["items"]}
    rating = ask("GET", f"/ratings/{OVERALL}/players/{player}")
    own = s.account_store.accounts.list_players(owner.account) if owner else ()
    blocks = s.account_store.social_graph.list_blocks(owner.account) if owner else ()
    more = re.search(r"cursor=([0-9a-f.-]+)", found["next"] or "")
    return render_acts(
        "player",
        page,
        refusal,
        player=player,
        name=found["name"],
        found=found,
        figures=_sum_results(found["items"], titles),
        titles=titles,
        running=show_tables(read_document(LobbyDoc, f"/players/{player}/games?status=running&limit=20")["items"]),
        rating=rating.doc if rating.status < 400 else None,
        family=OVERALL,
        is_own=player in own,
        is_person=not is_bot(player),
        is_blocked=player in {each for each, _ in blocks},
        is_related=bool(owner) and player in read_document(RelatedDoc, "/me/relations")["players"],
        more=more[1] if more else "",
    )


def _sum_results(results: Sequence[ResultDoc], titles: dict[str, str]) -> list[GameFigures]:
    """Return the figures of each finished game, most played first."""
    places: dict[str, list[int]] = {}
    for each in results:
        if each["place"] is not None:
            places.setdefault(each["ruleset"], []).append(each["place"])
    grammar = GRAMMARS[i18n.request_language()]
    return [
        GameFigures(
            titles.get(name, name), len(some), some.count(1), grammar.decimal(Fraction(sum(some), len(some)), 1)
        )
        for name, some in sorted(places.items(), key=lambda pair: -len(pair[1]))
    ]
