"""Rights of an officer at a table: the desk shows no other forms. Commands and routes say which office each takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api import officer_rights
from api.services import ApiServices
from domain.compat import cached_property
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
}
"""Act of the desk -> least office for it. The other acts have a method of their own."""


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
        return not self.has_stake and includes_office(self.office, _LEAST_OFFICE[act])

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

    def may_dismiss(self, officer: Doc) -> bool:
        """Return True if the officer may end the role in a row of the list of officers."""
        if officer["office"] == "owner":
            return False
        is_lower = not self.has_stake and may_give(self.office, officer["office"])
        return officer["player"] in self.players or (is_lower and includes_office(self.office, Depute.least_office))


def find_desk_rights(s: ApiServices, game: str, office: str, players: Sequence[str]) -> DeskRights:
    """Return the rights of an officer with these player ids at a table. Raise UnknownGame."""
    return DeskRights(s.commands.game(game), office, players)
