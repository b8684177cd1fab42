"""Summaries of games with names and titles, single or as a lobby page."""

from __future__ import annotations

from api.response_builders import paginate
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
    s: ApiServices, status: str = "", ruleset: str = "", before: int = 0, limit: int = LOBBY_PAGE, *, free: str = "0"
) -> Doc:
    """Return a page of public games, the latest change first, before a position if given."""
    found = s.reader.list_lobby(status, ruleset, before, limit + 1, free=free == "1")
    query = {"status": status, "ruleset": ruleset, "free": free if free == "1" else ""}
    page, address = paginate(found, limit, "/v1/games", lambda last: last[0], **query)
    return {"items": add_names(s, [doc for _, doc in page]), "next": address}
