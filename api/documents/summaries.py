"""Summaries of games with the names of people and titles, one by one or as a page of the lobby."""

from __future__ import annotations

from api.response_builders import cut
from api.services import Doc, Services

LOBBY_PAGE = 50
"""Games on a page, unless the client says."""


def with_names(s: Services, docs: list[Doc]) -> list[Doc]:
    """Summaries with the names that people gave, themselves and their tables."""
    names = s.access.names(seat["player"] for doc in docs for seat in doc["seats"] if seat["player"])
    cards = s.access.cards([doc["game"] for doc in docs])
    told = [_card(cards.get(doc["game"])) for doc in docs]
    return [
        d | {"names": {p: names[p] for s in d["seats"] if (p := s["player"]) in names}} | card
        for d, card in zip(docs, told, strict=True)
    ]


def _card(found: tuple[str, str] | None) -> Doc:
    title, note = found or ("", "")
    return ({"title": title} if title else {}) | ({"note": note} if note else {})


def lobby_page(
    s: Services, status: str = "", ruleset: str = "", before: int = 0, limit: int = LOBBY_PAGE, *, free: str = "0"
) -> Doc:
    """Public games, the newest change first; those before a position, if there is one."""
    found = s.reader.lobby(status, ruleset, before, limit + 1, free=free == "1")
    kept = {"status": status, "ruleset": ruleset, "free": free if free == "1" else ""}
    page, address = cut(found, limit, "/v1/games", lambda last: last[0], **kept)
    return {"items": with_names(s, [doc for _, doc in page]), "next": address}
