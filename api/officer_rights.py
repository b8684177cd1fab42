"""Officers of a table: the caller's role, its rights, and access to hidden data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from api import authorization
from api.event_stakes import has_stake_in_event, list_related
from api.http.problems import Problem
from api.services import ApiServices, services
from domain.errors import RuleError
from domain.kernel.game.command import Command
from domain.kernel.game.command_of_record import command_of
from domain.kernel.game.deadlines import DAY
from domain.kernel.game.game import AnyGame
from domain.kernel.game.officers import Office, Officer, includes_office
from domain.kernel.records.record import Record
from domain.service.principals import Principal
from domain.types import DIRECTOR

OFFERING: Office = "director"
"""Least office for offering a role and for withdrawing an offer."""

ORPHAN_MS = 30 * DAY
"""Time without a sign of a table's owner before the next officer may inherit it, ms."""


def acting_officer(game: str) -> Officer | None:
    """Return the caller as an officer of the game, or None.

    An account with a role of an officer acts in it unless it acts in one of its seats.
    """
    caller = authorization.optional_principal()
    if caller is None or caller.game != game:
        ids = authorization.player_ids()
        found = services().seat_tokens.list_principals(game, ids, "", "") if ids else []
        caller = next((one for one in found if one.role == DIRECTOR), None)
    if caller is None or caller.seat is not None:
        return None
    return Officer(caller.player, caller.office)  # type: ignore[arg-type] # the rows hold nothing else


def officer_ids(game: str) -> list[str]:
    """Return all player ids of a caller in the role of an officer; none for any other caller."""
    officer = acting_officer(game)
    return [] if officer is None else [officer.player, *authorization.player_ids()]


def require_officer(least: Office = "arbiter") -> None:
    """Raise Problem unless the caller is an officer of the game with this role or a higher one. Needs a role."""
    caller = authorization.principal()
    if caller.seat is not None:
        raise Problem("directors_only")
    if not includes_office(caller.office, least):
        raise RuleError("office_insufficient")


def check_neutrality(game: AnyGame) -> None:
    """Raise RuleError if the caller is an officer with a stake, at a table with neutral officers.

    For acts that are no commands; `execute_command` checks commands.
    """
    if refusal := find_stake(game, officer_ids(game.id)):
        raise RuleError(refusal)


def has_part(game: AnyGame, ids: Sequence[str]) -> bool:
    """Return whether a person with these ids has, or had, a seat in the game, or a place in its tournament's stage."""
    return game.lasting.seating.has_stakeholder(ids) or has_stake_in_event(game.id, ids)


def is_party(game: AnyGame, player: str) -> bool:
    """Return whether a person has a part in the game, or has declared a relation to somebody who plays there."""
    accounts = services().account_store.accounts
    account = accounts.find_by_player(player)
    seated = {each.id for each in game.players.values() if each.id}
    is_related = account is not None and bool(seated & {*list_related(account.id)})
    return is_related or has_part(game, accounts.list_alike([player]))


def list_impartial_officers(s: ApiServices, game: AnyGame) -> list[str]:
    """Return the officers of a table without a stake in it, neither gone nor banned."""
    owner, (held, _) = s.seat_tokens.find_director(game.id), s.seat_tokens.officers.list_by_game(game.id)
    officers = [player for player, _ in held if s.account_store.accounts.is_active(player)]
    officers += [owner] if owner and not is_owner_gone(s, game) else []
    return [each for each in officers if not is_party(game, each)]


def find_stake(game: AnyGame, ids: Sequence[str]) -> str:
    """Return the code of the refusal of an officer with these player ids and a stake, or an empty string.

    At a table with neutral officers the stake is a seat in the game, or a place in the tournament of the table.
    """
    if game.terms.get("officers") != "neutral":
        return ""
    if game.has_stake(ids):
        return "director_has_stake"
    return "director_in_event" if has_stake_in_event(game.id, ids) else ""


def hidden_data_refusal(s: ApiServices, principal: Principal, game: AnyGame, ids: Collection[str]) -> str:
    """Return the code for hiding the game's hidden data from an officer, or an empty string.

    `ids` are all player ids of the officer. An officer must neither sit there, nor have declared a relation to a
    player there. A relation to a hidden player counts for nothing: the refusal would tell who it is.
    """
    seated = {player.id for player in game.players.values() if player.id}
    if seated & {principal.player, *ids}:
        return "director_plays"
    related = s.account_store.social_graph.list_relations(principal.account) if principal.account else []
    return "director_related" if seated & set(s.account_store.accounts.list_shown_alike(related)) else ""


def require_no_stake(game: AnyGame) -> None:
    """Raise Problem if the officer has a seat in the game, or a declared relation to one of its players."""
    refusal = hidden_data_refusal(services(), authorization.principal(), game, authorization.player_ids())
    if refusal:
        raise Problem(refusal)


def list_rulings(
    s: ApiServices, game: AnyGame, records: Iterable[Record], ids: Collection[str]
) -> list[tuple[Record, Command]]:
    """Return an officer's records among these, with their commands; `ids` are all player ids of the officer.

    Older records name no officer and are the first owner's.
    """
    first_owner = game.lasting.staff.former_owner or s.seat_tokens.find_director(game.id)
    return [(r, command_of(r, game)) for r in records if _author(r, first_owner) in ids]


def _author(record: Record, first_owner: str | None) -> str | None:
    """Return the player id of the officer behind a record, or None."""
    officer = Officer.from_record(record)
    if officer is not None:
        return officer.player
    return first_owner if record.public.get("by") == "director" else None


def is_owner_gone(s: ApiServices, game: AnyGame) -> bool:
    """Return whether the table's owner is erased or banned, or has given no sign for a term.

    Signs are uses of the account, and records naming the owner; of a guest only the latter are known.
    """
    owner = s.seat_tokens.find_director(game.id) or ""
    account = s.account_store.accounts.find_by_player(owner)
    if account is not None and account.state == "banned":
        return True
    if account is None and s.seat_tokens.is_owned_by_account(game.id):
        return True
    if account is not None and s.account_store.clock() - s.account_store.accounts.last_use(account.id) < ORPHAN_MS:
        return False
    signs = [
        game.lasting.opening.opened_at,
        *(record.time for record in s.ledger.read(game.id) if _is_sign(record, owner)),
    ]
    return s.clock() - max(signs) >= ORPHAN_MS


def _is_sign(record: Record, owner: str) -> bool:
    officer = Officer.from_record(record)
    return officer is not None and officer.player == owner
