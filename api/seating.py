"""Checks before a person takes a seat, based on the caller's view of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from api import authorization, officer_rights
from api.http.problems import Problem
from api.response_builders import load_table, missing_game, opening_terms
from api.services import services
from api.visibility import visibility_of
from domain.accounts.social import Challenge
from domain.bots import is_kept_out, list_levels
from domain.errors import RuleError
from domain.kernel.game.director_commands import Look, Reissue
from domain.kernel.game.game import AnyGame
from domain.kernel.game.play_commands import Play
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message
from domain.types import DIRECTOR, Seat


def check_bot(rules: AnyRuleset, game: AnyGame, bot: str) -> None:
    """Raise Problem unless a bot of the service may have a seat of the table."""
    if bot not in list_levels(rules):
        raise Problem("invalid_body", errors=[{"at": "/bot", "message": Message("The ruleset has no such bot.")}])
    if is_kept_out(game, bot):
        message = Message("An analysis has no bot that looks ahead, since its origin may still be played.")
        raise Problem("invalid_body", errors=[{"at": "/bot", "message": message}])


def check_admission(game: str, invitation: str) -> Challenge | None:
    """Return the caller's challenge for this game, if any. Raise Problem without admission.

    A table with `listing: invitation` admits holders of the secret, its director and challenged players.
    """
    s, players = services(), authorization.player_ids()
    challenge = next((c for c in s.account_store.social_graph.list_challenges(players) if c.game == game), None)
    if is_director(game):
        return challenge
    _check_blocks(game, players)
    if (
        challenge is None
        and opening_terms(game).get("listing") == "invitation"
        and not s.seat_tokens.is_invitation(game, invitation)
    ):
        raise Problem("not_invited")
    return challenge


def _check_blocks(game: str, players: Sequence[str]) -> None:
    """Raise Problem if the table's director blocks the player."""
    s = services()
    directing = s.seat_tokens.find_director(game)
    account = s.account_store.accounts.find_by_player(directing) if directing and players else None
    if account and set(players) & {player for player, _ in s.account_store.social_graph.list_blocks(account.id)}:
        raise Problem("not_admitted")


def check_not_reserved(game: str, seat: Seat | None, player: str) -> None:
    """Raise Problem if the seat is reserved for another player. Its `seats` lists the other free seats."""
    reserved = {
        at: whose
        for at, whose in services().account_store.social_graph.list_reserved_seats(game).items()
        if whose != player
    }
    if not reserved:
        return
    _, free, _ = _visible_table(game)
    if (free[0] if seat is None and free else seat) in reserved:
        raise Problem("seat_reserved", seats=[at for at in free if at not in reserved])


def check_not_conceded(game: str) -> None:
    """Raise RuleError if the caller has conceded the game."""
    if has_conceded(game):
        raise RuleError("conceded")


def has_conceded(game: str) -> bool:
    """Return True if the caller has conceded the game, under any of their player ids."""
    players = authorization.player_ids()
    return bool(players) and any(player in players for _, player in services().commands.game(game).seating.concessions)


def check_not_looked(game: str, player: str, version: int) -> None:
    """Raise Problem if the joining player has seen hidden data of this game as its director, or could have.

    A director with a ruling that replaced another player's token has had a token of that seat. An officer's move for a
    seat counts likewise, and at a table with neutral officers any ruling in the running game: no seat could have made
    it.
    """
    s, ids = services(), {player, *authorization.player_ids()}
    now, owner = s.commands.game(game), s.seat_tokens.find_director(game)
    if ids.isdisjoint({owner, *now.lasting.staff.people}):
        return
    before = s.ledger.read(game, upto=version - 1)
    rulings = officer_rights.list_rulings(s, now, before, ids)
    own = [(r, c) for r, c in rulings if not (isinstance(c, Reissue) and _find_player(now, c.seat, r.version) in ids)]
    if any(isinstance(command, Look | Reissue) for _, command in own):
        raise Problem("director_looked")
    started = next((r.version for r in before if r.kind == "started"), version)
    ruled = [command for r, command in own if r.version > started and r.kind != "deputed"]
    if any(now.terms.get("officers") == "neutral" or isinstance(command, Play) for command in ruled):
        raise Problem("director_ruled")


def _find_player(game: AnyGame, seat: Seat, version: int) -> str:
    """Return the player of a seat before a version; empty for none."""
    return next((player for v, at, player in reversed(game.seating.changes) if at == seat and v < version), "")


def check_visible_seat(game: str, seat: Seat | None) -> None:
    """Refuse a seat that is unavailable in the delayed view of a spectator, with the error of that view."""
    if not _is_delayed(game):
        return
    status, free, seats = _visible_table(game)
    if status not in ("open", "running"):
        raise RuleError("not_open", "", {"status": status})
    if seat is not None and seat >= seats:
        raise RuleError("unknown_seat", "", {"seats": seats})
    if seat not in (None, *free):
        raise RuleError("seat_taken", "", {"seat": seat})
    if not free:
        raise RuleError("no_free_seat", "")


def _is_delayed(game: str) -> bool:
    """Return True if the caller sees an older state of the table. Open tables have no delay."""
    return visibility_of(game).upto is not None and load_table(game)[1].status != "open"


def _visible_table(game: str) -> tuple[str, list[Seat], int]:
    """Return a table's status, its free seats, those of absent players too, and the number of seats, for the caller."""
    if _is_delayed(game):
        view = services().reader.find_summary(game)
        if view is None:
            raise missing_game(game)
        seats = view["seats"]
        free = [seat["seat"] for seat in seats if not seat["player"] or seat.get("absent")]
        return view["status"], free, len(seats)
    _, now = load_table(game)
    taken = {seat for seat, player in now.players.items() if player.id}
    return now.status, [seat for seat in range(now.table.seats) if seat not in taken], now.table.seats


@contextmanager
def hide_current_state(game: str, seat: Seat | None) -> Iterator[None]:
    """Replace refusals that would reveal the current state of a delayed game to a spectator."""
    try:
        yield
    except RuleError as error:
        if not _is_delayed(game) or error.code not in ("not_open", "seat_taken", "no_free_seat"):
            raise
        if seat is None:
            raise RuleError("no_free_seat", "") from None
        raise RuleError("seat_taken", "", {"seat": seat}) from None


def is_director(game: str) -> bool:
    principal, owner = authorization.optional_principal(), authorization.optional_owner()
    if owner is not None:
        return DIRECTOR in services().seat_tokens.list_roles(*authorization.player_ids()).get(game, [])
    return bool(principal and principal.game == game and principal.seat is None)
