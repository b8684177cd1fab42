"""Summaries of games with names and titles, single or as a lobby page."""

from __future__ import annotations

from collections.abc import Sequence

from api.response_builders import ChangeCursor, Changed, paginate_changes
from api.services import ApiServices, Doc

LOBBY_PAGE = 50
"""Default page size."""


def add_names(s: ApiServices, docs: list[Doc]) -> list[Doc]:
    """Add players' names, and the tables' titles and notes, to summaries."""
    names = s.seat_tokens.texts.list_names(seat["player"] for doc in docs for seat in doc["seats"] if seat["player"])
    cards = s.seat_tokens.texts.list_cards([doc["game"] for doc in docs])
    texts = [_card_members(cards.get(doc["game"])) for doc in docs]
    return [
        d | {"names": {p: names[p] for s in d["seats"] if (p := s["player"]) in names}} | card
        for d, card in zip(docs, texts, strict=True)
    ]


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
