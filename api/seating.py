"""Who is let in to a table, and which seat can be had: as whoever asks may know it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from api import authorization
from api.http.problems import Problem
from api.response_builders import missing_game, table, terms
from api.services import Doc, services
from api.visibility import sight
from domain.accounts.social import Challenge
from domain.errors import RuleError
from domain.kernel.game.command_of_record import act_of
from domain.kernel.game.director_commands import Look
from domain.types import DIRECTOR, Seat


def admit(game: str, invitation: str) -> Challenge | None:
    """At a table by invitation only whoever has its secret, directs it, or was challenged; the challenge."""
    s, mine = services(), authorization.players()
    asked = next((c for c in s.people.circle.challenges(mine) if c.game == game), None)
    if directs(game):
        return asked
    _keep_away(game, mine)
    if asked is None and terms(game).get("listing") == "invitation" and not s.access.invited(game, invitation):
        raise Problem("not_invited")
    return asked


def _keep_away(game: str, players: Sequence[str]) -> None:
    """Whoever directs a table does not have people at it whom they block."""
    s = services()
    directing = s.access.director(game)
    account = s.people.accounts.playing(directing) if directing and players else None
    if account and set(players) & {player for player, _ in s.people.circle.blocks(account.id)}:
        raise Problem("not_admitted")


def place(game: str, seat: Seat | None, player: str) -> None:
    """Raises for a seat that is kept for somebody else; `seats` are those that are not."""
    kept = {at: whose for at, whose in services().people.circle.kept(game).items() if whose != player}
    if not kept:
        return
    free = [row["seat"] for row in _seen(game)["seats"] if not row["player"]]
    if (free[0] if seat is None and free else seat) in kept:
        raise Problem("seat_reserved", seats=[at for at in free if at not in kept])


def unseeing(game: str, player: str, version: int) -> None:
    """Raises if whoever takes a seat with that record has looked at what is hidden there, as its director."""
    s = services()
    if s.access.director(game) not in {player, *authorization.players()}:
        return
    now, before = s.commands.game(game), s.ledger.read(game, upto=version - 1)
    if any(r.kind == "ruled" and isinstance(act_of(r, now), Look) for r in before):
        raise Problem("director_looked")


def as_seen(game: str, seat: Seat | None) -> None:
    """Refuses a spectator who sees a table late what could not be had as he sees it, in the words of then."""
    if not _late(game):
        return
    seen = _seen(game)
    if seen["status"] not in ("open", "running"):
        raise RuleError("not_open", "", {"status": seen["status"]})
    free = [row["seat"] for row in seen["seats"] if not row["player"]]
    if seat is not None and seat >= len(seen["seats"]):
        raise RuleError("unknown_seat", "", {"seats": len(seen["seats"])})
    if seat not in (None, *free):
        raise RuleError("seat_taken", "", {"seat": seat})
    if not free:
        raise RuleError("no_free_seat", "")


def _late(game: str) -> bool:
    """Whether whoever asks sees the table as it stood before: until the start all see it as it is."""
    return sight(game).upto is not None and table(game)[1].status != "open"


def _seen(game: str) -> Doc:
    """Status and seats of a table, as whoever asks may know them."""
    if _late(game):
        found = services().reader.game(game)
        if found is None:
            raise missing_game(game)
        return found
    _, now = table(game)
    people = {seat: player.id for seat, player in now.players.items()}
    return {"status": now.status, "seats": [{"seat": at, "player": people.get(at)} for at in range(now.table.seats)]}


@contextmanager
def veiled(game: str, seat: Seat | None) -> Iterator[None]:
    """Whether the game has ended meanwhile, or somebody else sits there, is not told to who sees the table late."""
    try:
        yield
    except RuleError as error:
        if not _late(game) or error.code not in ("not_open", "seat_taken", "no_free_seat"):
            raise
        if seat is None:
            raise RuleError("no_free_seat", "") from None
        raise RuleError("seat_taken", "", {"seat": seat}) from None


def directs(game: str) -> bool:
    who, found = authorization.asking(), authorization.holder()
    if found is not None:
        return DIRECTOR in services().access.roles(*authorization.players()).get(game, [])
    return bool(who and who.game == game and who.seat is None)
