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
from api.response_builders import ChangeCursor, paginate_changes
from api.schemas.accounts import MyChallengesDoc
from api.schemas.table_responses import MineDoc, MyGamesDoc, TurnDoc
from api.services import ApiServices
from domain.service.principals import Role
from projections.game_documents import StoredSummaryDoc

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

    def challenges(self, s: ApiServices) -> MyChallengesDoc:
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
) -> MyGamesDoc:
    """Return a page of a person's tables, the latest change first."""
    roles = owner.roles(s)

    def read(before: int, since: int, limit: int) -> Sequence[tuple[int, tuple[StoredSummaryDoc, TurnDoc]]]:
        found: list[tuple[int, tuple[StoredSummaryDoc, TurnDoc]]] = []
        while len(found) < limit:
            page = s.reader.list_summaries(list(roles), status, before, limit, after=since, inside=True)
            tables = ((place, (doc, find_turn(s, doc, roles[doc["game"]]))) for place, doc in page)
            found += [(place, table) for place, table in tables if turn == "all" or table[1]["turn"]]
            if len(page) < limit:
                break
            before = page[-1][0]
        return found

    query = {"status": status, "turn": "" if turn == "all" else turn}
    items, address = paginate_changes(read, at, limit, "/v1/me/games", **query)
    named = add_names(s, [doc for doc, _ in items])
    votes = _count_votes(s, items)
    tables: list[MineDoc] = [
        {**doc, **mine, "votes": own} for doc, (_, mine), own in zip(named, items, votes, strict=True)
    ]
    return {"items": tables, "next": address}


def _count_votes(s: ApiServices, tables: Sequence[tuple[StoredSummaryDoc, TurnDoc]]) -> list[int]:
    """Return for each table its open undo requests and proposals with a vote of an own seat still to come."""
    running = [doc["game"] for doc, _ in tables if doc["status"] == "running"]
    status = {"rewind": request_status, "proposal": proposal_status}
    waiting = [each for each in s.job_requests.list_pending(running) if status[each.work](s, each)[0] == "open"]
    missing = [(each.game, seat) for each in waiting for seat in each.missing_seats]
    return [sum((doc["game"], role) in missing for role in mine["roles"]) for doc, mine in tables]


def find_turn(s: ApiServices, summary: StoredSummaryDoc, roles: Sequence[Role]) -> TurnDoc:
    """Return the roles, and the open decisions of a person with these roles, by their time."""
    own_seats = [role for role in roles if isinstance(role, int) and role in summary["waiting_for"]]
    dues: list[int | None] = []
    for seat in own_seats:  # in a secret decision, only the seat's own board has its status
        board = s.reader.find_board(summary["game"], seat)
        (top,) = msgspec.json.decode(board.doc)["decisions"][:1] if board else ({"must": []},)
        dues += [top.get("due", {}).get(str(seat))] if seat in top["must"] else []
    timed = [due for due in dues if due is not None]
    left = max(min(timed) - s.clock(), 0) if timed else None
    return {"turn": bool(dues), "left": left, "roles": list(roles)}
