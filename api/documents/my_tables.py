"""A person's own tables, with their open decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from api import authorization
from api.documents import challenges
from api.documents.proposals import proposal_status
from api.documents.summaries import add_names
from api.documents.undo_requests import request_status
from api.response_builders import ChangeCursor, Changed, paginate_changes
from api.services import ApiServices, Doc
from domain.service.principals import Role

MAX_GAMES = 5000
"""Most games read for one person."""


PAGE = 50
"""Tables in the first message."""


@dataclass(frozen=True)
class TableOwner:
    """The person or seat behind a list of tables. A lent token stands for its seat only."""

    account: str = ""
    player: str = ""
    lent: tuple[str, Role] | None = None

    def roles(self, s: ApiServices) -> dict[str, list[Role]]:
        """Return game -> roles of the person."""
        if self.lent:
            return {self.lent[0]: [self.lent[1]]}
        roles = s.seat_tokens.list_roles(*self.players(s))
        return {game: roles[game] for game in list(roles)[:MAX_GAMES]}

    def players(self, s: ApiServices) -> list[str]:
        """Return the person's player ids."""
        return s.account_store.accounts.list_players(self.account) if self.account else [self.player]

    def challenges(self, s: ApiServices) -> Doc:
        """Return the person's open challenges."""
        return challenges.build_challenges(s, [] if self.lent else self.players(s), self.account)


def current_owner() -> TableOwner:
    """Return the caller."""
    found = authorization.optional_owner()
    if found is not None:
        return TableOwner(account=found.account)
    seat_of = authorization.principal()
    return TableOwner(player=seat_of.player, lent=(seat_of.game, seat_of.role) if seat_of.lent else None)


def build_my_tables(
    s: ApiServices,
    owner: TableOwner,
    status: str = "",
    turn: str = "all",
    at: ChangeCursor = ChangeCursor(),  # noqa: B008 - immutable
    limit: int = PAGE,
) -> Doc:
    """Return a page of a person's tables, the latest change first."""
    roles = owner.roles(s)

    def read(before: int, since: int, limit: int) -> Sequence[Changed]:
        found: list[Changed] = []
        while len(found) < limit:
            page = s.reader.list_summaries(list(roles), status, before, limit, after=since, inside=True)
            tables = ((place, add_turn(s, doc, roles[doc["game"]])) for place, doc in page)
            found += [(place, doc) for place, doc in tables if turn == "all" or doc["turn"]]
            if len(page) < limit:
                break
            before = page[-1][0]
        return found

    query = {"status": status, "turn": "" if turn == "all" else turn}
    items, address = paginate_changes(read, at, limit, "/v1/me/games", **query)
    return {"items": add_names(s, _add_votes(s, [doc for _, doc in items])), "next": address}


def _add_votes(s: ApiServices, tables: Sequence[Doc]) -> list[Doc]:
    """Add `votes`: the open undo requests and proposals at a table with a vote of an own seat still to come."""
    running = [doc["game"] for doc in tables if doc["status"] == "running"]
    status = {"rewind": request_status, "proposal": proposal_status}
    waiting = [each for each in s.job_requests.list_pending(running) if status[each.work](s, each)[0] == "open"]
    missing = [(each.game, seat) for each in waiting for seat in each.missing_seats]
    return [doc | {"votes": sum((doc["game"], role) in missing for role in doc["roles"])} for doc in tables]


def add_turn(s: ApiServices, summary: Doc, roles: Sequence[Role]) -> Doc:
    """Add the roles, `turn` (a decision is open for an own seat) and `left` (ms until its default)."""
    own_seats = [role for role in roles if isinstance(role, int) and role in summary["waiting_for"]]
    dues: list[int | None] = []
    for seat in own_seats:  # in a secret decision, only the seat's own board has its status
        board = s.reader.find_board(summary["game"], seat)
        (top,) = msgspec.json.decode(board.doc)["decisions"][:1] if board else ({"must": []},)
        dues += [top.get("due", {}).get(str(seat))] if seat in top["must"] else []
    timed = [due for due in dues if due is not None]
    left = max(min(timed) - s.clock(), 0) if timed else None
    return {**summary, "turn": bool(dues), "left": left, "roles": list(roles)}
