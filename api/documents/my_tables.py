"""A person's own tables, with the decisions that they owe there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from api import authorization
from api.documents import challenges
from api.documents.summaries import with_names
from api.response_builders import cut
from api.services import Doc, Services
from domain.service.seat_tokens import Role

MOST = 5000
"""Games of one person that are looked through."""


PAGE = 50
"""Tables in the first message."""


@dataclass(frozen=True)
class Person:
    """Whose tables they are. A token that a director has lent stands for one seat, and for no person."""

    account: str = ""
    player: str = ""
    lent: tuple[str, Role] | None = None

    def roles(self, s: Services) -> dict[str, list[Role]]:
        """Game -> what the person is there."""
        if self.lent:
            return {self.lent[0]: [self.lent[1]]}
        found = s.access.roles(*self.players(s))
        return {game: found[game] for game in list(found)[:MOST]}

    def players(self, s: Services) -> list[str]:
        """The ids by which records know the person."""
        return s.people.accounts.players(self.account) if self.account else [self.player]

    def asked(self, s: Services) -> Doc:
        """The tables to which the person is asked."""
        return challenges.asked(s, [] if self.lent else self.players(s), self.account)


def asking() -> Person:
    """Who asks."""
    found = authorization.holder()
    if found is not None:
        return Person(account=found.account)
    seat_of = authorization.principal()
    return Person(player=seat_of.player, lent=(seat_of.game, seat_of.role) if seat_of.lent else None)


def my_page(
    s: Services, person: Person, status: str = "", turn: str = "all", before: int = 0, limit: int = PAGE
) -> Doc:
    """A person's tables, the newest change first."""
    roles = person.roles(s)
    found: list[tuple[int, Doc]] = []
    while len(found) <= limit:
        page = s.reader.of(list(roles), status, before, limit + 1, inside=True)
        told = ((position, with_turn(s, doc, roles[doc["game"]])) for position, doc in page)
        found += [(position, doc) for position, doc in told if turn == "all" or doc["turn"]]
        if len(page) <= limit:
            break
        before = page[-1][0]
    kept = {"status": status, "turn": "" if turn == "all" else turn}
    shown, address = cut(found, limit, "/v1/me/games", lambda last: last[0], **kept)
    return {"items": with_names(s, [doc for _, doc in shown]), "next": address}


def with_turn(s: Services, summary: Doc, roles: Sequence[Role]) -> Doc:
    """Whether a decision is owed, as one's own seats know it, and how long there is for it, ms."""
    mine = [role for role in roles if isinstance(role, int) and role in summary["waiting_for"]]
    dues: list[int | None] = []
    for seat in mine:  # in a secret decision the others do not know who has answered
        board = s.reader.board(summary["game"], seat)
        (top,) = orjson.loads(board.doc)["decisions"][:1] if board else ({"must": []},)
        dues += [top.get("due", {}).get(str(seat))] if seat in top["must"] else []
    timed = [due for due in dues if due is not None]
    left = max(min(timed) - s.clock(), 0) if timed else None
    return {**summary, "turn": bool(dues), "left": left, "roles": list(roles)}
