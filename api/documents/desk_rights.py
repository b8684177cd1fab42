"""Rights of an officer at a table: the desk shows no other forms. Commands and routes say which office each takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api import officer_rights
from api.services import ApiServices
from domain.compat import cached_property
from domain.kernel.game.appeal_commands import AnswerAppeals
from domain.kernel.game.appeals import Appeal, answering_role
from domain.kernel.game.director_commands import Depute, Extend, Hold
from domain.kernel.game.game import AnyGame
from domain.kernel.game.officers import OFFICES, Office, includes_office, may_give
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.ruling_commands import RuleEnding, may_withdraw
from domain.kernel.game.rulings import ENDINGS
from domain.kernel.game.table_commands import Close, Join, Leave, Start
from domain.types import Doc

CLOSINGS = ("abandoned", "void")
"""Ends of a game in the form that are no rulings: they close the game at once."""

_LEAST_OFFICE: Mapping[str, Office] = {
    "extend": Extend.least_office,
    "pause": PauseGame.least_office,
    "resume": ResumeGame.least_office,
    "hold": Hold.least_office,
    "remove": Leave.least_office,
    "bot": Join.least_office,
    "start": Start.least_office,
    "appoint": officer_rights.OFFERING,
    "recall": officer_rights.OFFERING,
    "withdraw": RuleEnding.least_office,
    "answer": AnswerAppeals.least_office,
}
"""Act of the desk -> least office for it. Some acts have a method of their own with further conditions."""


def allows(office: str, act: str) -> bool:
    """Return True if an office includes an act of the desk."""
    return includes_office(office, _LEAST_OFFICE[act])


@dataclass(frozen=True)
class DeskRights:
    """Rights of an officer at a table."""

    game: AnyGame
    office: str
    players: Sequence[str]
    """All player ids of the officer."""

    @cached_property
    def stake(self) -> str:
        """Code of the refusal if the table wants neutral officers, and this one is none; else an empty string."""
        return officer_rights.find_stake(self.game, self.players)

    @property
    def has_stake(self) -> bool:
        """Return True if the officer's acts are refused for want of neutrality."""
        return bool(self.stake)

    def may(self, act: str) -> bool:
        """Return True if the office allows an act of the desk."""
        return not self.has_stake and allows(self.office, act)

    @property
    def endings(self) -> list[str]:
        """Return the ends of the game that the officer may choose."""
        if self.has_stake:
            return []
        may_rule = self.game.status == "running" and includes_office(self.office, RuleEnding.least_office)
        return [*(ENDINGS if may_rule else ()), *(CLOSINGS if includes_office(self.office, Close.least_office) else ())]

    @property
    def roles(self) -> list[Office]:
        """Return the roles that the officer may offer."""
        return [role for role in OFFICES if self.may("appoint") and may_give(self.office, role)]

    @property
    def may_withdraw(self) -> bool:
        """Return True if the officer may withdraw the ruling about the end."""
        return not self.has_stake and may_withdraw(self.game, self.office)

    def list_answerable(self, now: int) -> list[int]:
        """Return the versions of contested decisions with appeals for this officer to answer at a time, ms."""
        if not self.may("answer") or self.game.has_stake(self.players):
            return []
        appeals = self.game.lasting.appeals.unanswered
        return sorted({each.version for each in appeals if now < each.answer_by and self._may_answer(each)})

    def _may_answer(self, appeal: Appeal) -> bool:
        """Return True unless the contested decision is the officer's own and another must answer."""
        act = self.game.lasting.appeals.find_act(appeal.version)
        if act is None or act.player not in self.players:
            return act is not None
        return self.office == "owner" and answering_role(self.game, act) == "owner"

    def may_dismiss(self, officer: Doc) -> bool:
        """Return True if the officer may end the role in a row of the list of officers."""
        if officer["office"] == "owner":
            return False
        is_lower = not self.has_stake and may_give(self.office, officer["office"])
        return officer["player"] in self.players or (is_lower and includes_office(self.office, Depute.least_office))


def find_desk_rights(s: ApiServices, game: str, office: str, players: Sequence[str]) -> DeskRights:
    """Return the rights of an officer with these player ids at a table. Raise UnknownGame."""
    return DeskRights(s.commands.game(game), office, players)
