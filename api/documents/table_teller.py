"""Base of the tellers of a table: its rules, its texts in a language, and the names of its seats."""

from __future__ import annotations

from api.services import ApiServices
from domain.compat import cached_property
from domain.kernel.game.game import AnyGame
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.grammar import PERSON_MARK
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.types import Json, Seat


def name_seats(s: ApiServices, texts: Texts, rules: AnyRuleset, now: AnyGame, own: Seat | None = None) -> SeatNames:
    """Return the names of a table's seats: powers, and the people who may be named."""
    people = {seat: player.id for seat, player in now.players.items() if player.id}
    names = s.seat_tokens.texts.list_names(people.values())
    known = {seat: names[id_] for seat, id_ in people.items() if id_ in names}
    return SeatNames(texts, rules.powers(now.state), known, own=own)


class TableTeller:
    """Tells something of a table in a language."""

    def __init__(self, s: ApiServices, now: AnyGame, lang: str) -> None:
        self._services, self._now, self._lang = s, now, lang

    @cached_property
    def _rules(self) -> AnyRuleset:
        return self._services.registry.get(self._now.ruleset)

    @cached_property
    def _texts(self) -> Texts:
        return load_texts(self._rules.package, self._lang)

    @cached_property
    def _names(self) -> SeatNames:
        return name_seats(self._services, self._texts, self._rules, self._now)

    def _word(self, kind: str, value: Json) -> str:
        """Return the name of a field's value: of a seat, or of something in the game."""
        noun = self._names(value) if kind == "seat" else self._texts.noun(value)
        return noun.bare.strip(PERSON_MARK)
