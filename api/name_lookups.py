"""Names in requests: look-ups of accounts, with a limit, and names of guests."""

from __future__ import annotations

from api import authorization
from api.http import rate_limits
from api.http.problems import Problem
from api.services import services
from domain.accounts.account_names import check_name, check_script, fold_name
from domain.accounts.accounts import Account
from domain.bots import BOTS
from domain.kernel.text.message_catalog import Message
from domain.types import Doc


def find_person(body: Doc) -> Account:
    """Return the active account named by `name` or `player` of a body. Raise Problem."""
    found = find_named(body)
    if found is None:
        raise Problem("unknown_account")
    return found


def find_named(body: Doc) -> Account | None:
    """Return the same, or None. Raise Problem for a body without one of both, or after too many names in an hour."""
    if bool(body["name"]) == bool(body["player"]):
        raise Problem("invalid_body", errors=[{"at": "/name", "message": Message("Send either `name` or `player`.")}])
    accounts = services().account_store.accounts
    if body["name"]:
        count_lookup()
    found = accounts.find_by_name(body["name"]) if body["name"] else accounts.find_by_player(body["player"])
    return found if found is not None and found.state == "active" else None


def count_lookup() -> None:
    """Count a look-up for the caller's account and address. Raise Problem over the limit."""
    owner = authorization.optional_owner()
    rate_limits.charge_quota("names", owner.account if owner else "")


def check_shown_name(name: str, game: str = "", player: str = "") -> None:
    """Raise Problem if a guest, with this player id, would appear under the name of somebody else.

    Others are bots, people at the table of `game`, and accounts: a refusal for an account counts like a look-up.
    Raise AccountError for a name in several scripts.
    """
    key = fold_name(name)
    if not key:
        return
    check_script(name)
    if key in _BOT_NAMES or (game and key in _list_names_at(game, player)):
        raise Problem("name_taken")
    if services().account_store.accounts.find_by_name(name) is not None:
        count_lookup()
        raise Problem("name_taken")


def check_account_name(name: str) -> None:
    """Raise AccountError for a name that no account may have, and Problem for one under which a bot appears."""
    check_name(name)
    if fold_name(name) in _BOT_NAMES:
        raise Problem("name_taken")


_BOT_NAMES = frozenset(fold_name(said) for bot in BOTS for said in (f"Bot ({bot})", f"bot {bot}", "bot"))


def _list_names_at(game: str, player: str) -> set[str]:
    """Return the folded names of the others with a role at a table."""
    s = services()
    held, _ = s.seat_tokens.officers.list_by_game(game)
    seated = [each.id for each in s.commands.game(game).players.values()]
    people = {*seated, *(officer for officer, _ in held), s.seat_tokens.find_director(game) or ""} - {player, ""}
    return {fold_name(name) for name in s.seat_tokens.texts.list_names(sorted(people)).values()}
