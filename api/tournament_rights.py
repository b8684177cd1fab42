"""Rights in a tournament: the least office of each act. Routes refuse by them, and pages show forms by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Literal

from api import authorization
from api.event_stakes import has_stake_in_stage, list_related
from api.http import security_log
from api.http.problems import Problem
from api.services import services
from domain.accounts.credential_tables import CredentialOwner
from domain.errors import RuleError
from domain.kernel.text.message_catalog import Message
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_appeal_commands import check_answer, require_appellant
from domain.tournaments.aggregate.tournament_ruling_commands import Restore

TournamentOffice = Literal["arbiter", "deputy", "organiser"]

OFFICES: tuple[TournamentOffice, ...] = ("arbiter", "deputy", "organiser")
"""Offices of a tournament, rising: each includes the rights of those before it."""

LEAST_OFFICE: Mapping[str, TournamentOffice] = {
    "adjourn_round": "organiser",
    "add_division": "organiser",
    "amend_tournament": "organiser",
    "close_tournament": "organiser",
    "name_tournament_officer": "organiser",
    "remove_tournament_officer": "organiser",
    "schedule_tournament": "organiser",
    "unschedule_tournament": "organiser",
    "change_phase": "deputy",
    "pause_tournament": "deputy",
    "resume_tournament": "deputy",
    "set_timetable": "deputy",
    "end_event_code": "deputy",
    "import_entrants": "deputy",
    "invite_entrant": "deputy",
    "recall_event_offer": "deputy",
    "renew_claim": "deputy",
    "set_event_code": "deputy",
    "check_in_entrant": "deputy",
    "change_tournament_chat": "deputy",
    "draw_round": "deputy",
    "label_tournament": "deputy",
    "make_tables": "deputy",
    "move_table_elsewhere": "deputy",
    "open_bids": "deputy",
    "rank_round": "deputy",
    "report_results": "deputy",
    "announce": "arbiter",
    "enter_scores": "arbiter",
    "settle_scores": "arbiter",
    "answer_in_tournament": "arbiter",
    "remove_announcement": "arbiter",
    "remove_tournament_chat": "arbiter",
    "rule_on_tournament": "arbiter",
    "tournament_chat": "arbiter",
    "tournament_desk": "arbiter",
}
"""Operation of the API -> least office for it."""

_BY_OFFICE_ALONE = frozenset(
    {
        "answer_in_tournament",
        "change_tournament_chat",
        "enter_scores",
        "move_table_elsewhere",
        "rule_on_tournament",
        "settle_scores",
    }
)
"""Operations that name the officer: who stands in for the organiser without an office may not do them."""

_ONLY_FOR = {
    "organiser": Message("Only the organiser may do this"),
    "deputy": Message("Only the organiser or a deputy may do this"),
    "arbiter": Message("Only the officers of the tournament may do this"),
}
"""Least office -> title of a refusal."""


def list_rights(tournament: str, players: Sequence[str], owner: CredentialOwner) -> frozenset[str]:
    """Return the operations for which a person has the office, or stands in for the organiser.

    `players`: all player ids of the person; `owner`: the person's credential. Raise UnknownTournament.
    """
    return _list_rights(_load(tournament), players, owner)


def _list_rights(t: Tournament, players: Sequence[str], owner: CredentialOwner) -> frozenset[str]:
    held = _find_office(t, players)
    office = held[1] if held else None
    stands_in = _may_stand_in(t, office, owner)
    return frozenset(
        act
        for act, least in LEAST_OFFICE.items()
        if _includes_office(office, least) or (stands_in and act not in _BY_OFFICE_ALONE)
    )


def require_right(tournament: str, act: str) -> tuple[Tournament, str]:
    """Return a tournament and the caller's player id. Raise Problem unless the caller may do the operation."""
    t, players = _load(tournament), authorization.player_ids()
    if act not in _list_rights(t, players, authorization.credential_owner()):
        refused = Problem("directors_only")
        refused.title = _ONLY_FOR[LEAST_OFFICE[act]]
        raise refused
    held = _find_office(t, players)
    player = held[0] if held else authorization.current_account().player
    if not _includes_office(held[1] if held else None, LEAST_OFFICE[act]):
        security_log.log_event("organiser_replaced", tournament=t.id, player=player)
    return t, player


def list_appealable(tournament: str, players: Sequence[str]) -> frozenset[int]:
    """Return the rulings (versions) that a person with these player ids may contest. Raise UnknownTournament."""
    t = _load(tournament)
    return _list_allowed(t, lambda ruling: require_appellant(t, players, ruling))


def list_answerable(tournament: str, players: Sequence[str], account: str) -> frozenset[int]:
    """Return the rulings with an appeal that an officer with these player ids may answer. Raise UnknownTournament."""

    def check(t: Tournament, by: str, related: Sequence[str], ruling: int) -> None:
        check_answer(t, (by, *players), related, ruling)

    return _list_for_officer(tournament, players, account, check)


def list_restorable(tournament: str, players: Sequence[str], account: str) -> frozenset[int]:
    """Return the rulings that an officer with these player ids may take back, without a stake in their stage.

    Raise UnknownTournament.
    """

    def check(t: Tournament, by: str, related: Sequence[str], ruling: int) -> None:
        Restore(by, tuple(players), tuple(related), "", ruling).check_person(t, (*players, *related), t.time)

    return _list_for_officer(tournament, players, account, check)


def _list_for_officer(
    tournament: str,
    players: Sequence[str],
    account: str,
    check: Callable[[Tournament, str, Sequence[str], int], None],
) -> frozenset[int]:
    """Return the rulings that pass a check for an officer and the people related to the account; none for others."""
    t = _load(tournament)
    held = _find_office(t, players)
    if held is None:
        return frozenset()
    related = list_related(account)
    return _list_allowed(t, lambda ruling: check(t, held[0], related, ruling))


def _list_allowed(t: Tournament, check: Callable[[int], object]) -> frozenset[int]:
    """Return the rulings that pass a check."""
    allowed = set()
    for ruling in t.rulings:
        with suppress(RuleError):
            check(ruling.version)
            allowed.add(ruling.version)
    return frozenset(allowed)


def _load(tournament: str) -> Tournament:
    return services().tournaments.load(tournament)


def _find_office(t: Tournament, players: Sequence[str]) -> tuple[str, str] | None:
    """Return player id and office of a person, or None without an office."""
    offices = {**t.officers, t.director: "organiser"}
    return next(((player, offices[player]) for player in players if player in offices), None)


def _includes_office(held: str | None, least: TournamentOffice) -> bool:
    return held in OFFICES[OFFICES.index(least) :]


def _may_stand_in(t: Tournament, office: str | None, owner: CredentialOwner) -> bool:
    """Return whether a person with this office has the rights of the organiser.

    Deputies and moderators do, once the organiser's account is erased, banned or suspended, or while the organiser has
    a stake in the current stage.
    """
    accounts = services().account_store.accounts
    if office != "deputy" and not authorization.is_moderator(owner):
        return False
    if not accounts.is_active(t.director):
        return True
    organiser = accounts.find_by_player(t.director)
    return organiser is not None and has_stake_in_stage(t, accounts.list_players(organiser.id))
