"""Summaries of games with names and titles, single or as a lobby page."""

from __future__ import annotations

from collections.abc import Sequence

from api.response_builders import ChangeCursor, Changed, paginate_changes
from api.services import ApiServices
from domain.types import Doc

LOBBY_PAGE = 50
"""Default page size."""


def add_names(s: ApiServices, docs: list[Doc]) -> list[Doc]:
    """Add players' names, and the tables' titles and notes, to summaries."""
    people = {doc["game"]: _people(doc) for doc in docs}
    names = s.seat_tokens.texts.list_names(player for some in people.values() for player in some)
    cards = s.seat_tokens.texts.list_cards([doc["game"] for doc in docs])
    texts = [_card_members(cards.get(doc["game"])) for doc in docs]
    return [
        d | {"names": {p: names[p] for p in people[d["game"]] if p in names}} | card
        for d, card in zip(docs, texts, strict=True)
    ]


def add_places(s: ApiServices, docs: list[Doc]) -> list[Doc]:
    """Add `tournament`, the place in one, to summaries of tables that the caller may see now."""
    places = s.reader.list_tournament_tables([doc["game"] for doc in docs])
    return [doc | ({"tournament": places[doc["game"]]._asdict()} if doc["game"] in places else {}) for doc in docs]


def _people(doc: Doc) -> list[str]:
    """Return the player ids of a summary."""
    seats = [seat["player"] for seat in doc["seats"] if seat["player"]]
    return seats + [officer["player"] for officer in doc.get("offices", ())]


def _card_members(found: tuple[str, str] | None) -> Doc:
    title, note = found or ("", "")
    return ({"title": title} if title else {}) | ({"note": note} if note else {})


def build_lobby_page(
    s: ApiServices,
    status: str = "",
    ruleset: str = "",
    at: ChangeCursor = ChangeCursor(),  # noqa: B008 - immutable
    limit: int = LOBBY_PAGE,
    *,
    free: str = "0",
) -> Doc:
    """Return a page of public games, the latest change first."""

    def read(before: int, since: int, limit: int) -> Sequence[Changed]:
        return s.reader.list_lobby(status, ruleset, before, limit, after=since, free=free == "1")

    query = {"status": status, "ruleset": ruleset, "free": free if free == "1" else ""}
    page, address = paginate_changes(read, at, limit, "/v1/games", **query)
    return {"items": add_names(s, [doc for _, doc in page]), "next": address}
