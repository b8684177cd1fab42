"""Summaries of games with names and titles, single or as a lobby page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from api.response_builders import ChangeCursor, paginate_changes
from api.schemas.table_responses import LobbyDoc
from api.services import ApiServices
from domain.kernel.game.seat_players import is_bot
from projections.game_documents import StoredSummaryDoc, SummaryDoc

Summary = TypeVar("Summary", bound=SummaryDoc)

LOBBY_PAGE = 50
"""Default page size."""


def add_names(s: ApiServices, docs: Sequence[StoredSummaryDoc]) -> list[SummaryDoc]:
    """Add players' names, the guests among them, and the tables' titles and notes, to summaries."""
    people = {doc["game"]: _people(doc) for doc in docs}
    names = s.seat_tokens.texts.list_names(player for some in people.values() for player in some)
    cards = s.seat_tokens.texts.list_cards([doc["game"] for doc in docs])
    owners = {*s.seat_tokens.list_account_players(*people)}
    found: list[SummaryDoc] = []
    for doc in docs:
        known = {player: names[player] for player in people[doc["game"]] if player in names}
        named: SummaryDoc = {**doc, "names": known}
        if guests := sorted(player for player in known if player not in owners and not is_bot(player)):
            named["guests"] = guests
        found.append(_add_card(named, cards.get(doc["game"])))
    return found


def add_places(s: ApiServices, docs: list[Summary]) -> list[Summary]:
    """Add `tournament`, the place in one, to summaries of tables that the caller may see now."""
    places = s.reader.list_tournament_tables([doc["game"] for doc in docs])
    for doc in docs:
        if (place := places.get(doc["game"])) is not None:
            doc["tournament"] = {
                "tournament": place.tournament,
                "stage": place.stage,
                "round": place.round,
                "pod": place.pod,
            }
    return docs


def _people(doc: StoredSummaryDoc) -> list[str]:
    """Return the player ids of a summary."""
    seats = [seat["player"] for seat in doc["seats"] if seat["player"]]
    return seats + [officer["player"] for officer in doc.get("offices", ())]


def _add_card(doc: SummaryDoc, card: tuple[str, str] | None) -> SummaryDoc:
    title, note = card or ("", "")
    if title:
        doc["title"] = title
    if note:
        doc["note"] = note
    return doc


def build_lobby_page(
    s: ApiServices,
    status: str = "",
    ruleset: str = "",
    at: ChangeCursor = ChangeCursor(),  # noqa: B008 - immutable
    limit: int = LOBBY_PAGE,
    *,
    free: str = "0",
) -> LobbyDoc:
    """Return a page of public games, the latest change first."""

    def read(before: int, since: int, limit: int) -> Sequence[tuple[int, StoredSummaryDoc]]:
        return s.reader.list_lobby(status, ruleset, before, limit, after=since, free=free == "1")

    query = {"status": status, "ruleset": ruleset, "free": free if free == "1" else ""}
    page, address = paginate_changes(read, at, limit, "/v1/games", **query)
    return {"items": add_names(s, page), "next": address}
