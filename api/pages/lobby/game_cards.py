"""The cards of the games on the front page: their ideas, and the ways into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api.documents.introductions import IntroductionWords, load_introduction
from api.documents.playing_times import Length, find_length
from api.http import i18n
from api.pages.common.form_keys import new_form_key
from api.pages.common.geometry import load_geometry
from api.schemas.history_responses import AnswersDoc, RulesetLineDoc
from api.services import services
from domain.bots import STRONG


@dataclass(frozen=True)
class GameCard:
    """A game on the front page. `words` is None for a game without an introduction."""

    ruleset: str
    title: str
    seats: Sequence[int]
    has_map: bool
    words: IntroductionWords | None
    length: Length | None
    weight: int
    answers: AnswersDoc | None
    has_strong: bool
    """True if some bots of the game look ahead."""
    key: str
    """The key of its form: a second click on a button opens no second table."""


def list_cards(rulesets: Sequence[RulesetLineDoc]) -> list[GameCard]:
    """Return the cards of these games."""
    return [_make_card(each) for each in rulesets]


def _make_card(line: RulesetLineDoc) -> GameCard:
    package = services().registry.get(line["name"]).package
    found = load_introduction(package)
    words = found["words"][i18n.request_language()] if found else None
    length, weight = find_length(line["name"], package, min(line["seats"])), found["weight"] if found else 0
    answers = found["answers"] if found else None
    has_map = load_geometry(package) is not None
    has_strong, key = STRONG in line["bots"], new_form_key()
    return GameCard(
        line["name"], line["title"], line["seats"], has_map, words, length, weight, answers, has_strong, key
    )
