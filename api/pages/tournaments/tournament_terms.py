"""Terms of a tournament in words, before it is opened and on its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from api.http import i18n
from api.pages.common.agreements import longest_seconds
from api.pages.common.labels import Labels
from api.pages.lobby.pace_form import tell_pace
from api.services import services
from domain.kernel.text.grammar import GRAMMARS
from domain.kernel.text.message_catalog import Message
from domain.tournaments.terms import ALL, DAY, DECLARED, NO_BOTS, QUEUED, SOME
from domain.types import Doc, Json

_CHANGED = {
    "least": Message("least seats at a table"),
    "most": Message("most seats at a table"),
    "preferred": Message("preferred seats at a table"),
    "capacity": Message("most entrants"),
    "reveal": Message("time to show nonces"),
    "pace": Message("pace"),
    "time_limit": Message("time of a table"),
    "bidding": Message("time to bid"),
    "elsewhere": Message("tables elsewhere"),
    "bots": Message("programs"),
}
"""Last part of the pointer of a changed term -> its words."""

_ELSEWHERE = {
    ALL: Message("all: the scores are confirmed by all seats, and nothing is rated"),
    SOME: Message("those that an officer names: the scores are confirmed by all seats, and not rated"),
}
"""Term of tables outside of the service -> its words."""

_BOTS = {
    DECLARED: Message("may play, and are marked for all when they declare themselves"),
    NO_BOTS: Message("may not play"),
}
"""Term of programs -> its words."""

_SECONDS = ("reveal", "time_limit", "bidding")


def list_elsewhere() -> list[tuple[str, str]]:
    """Return the terms of tables outside of the service, with their words."""
    return [(name, i18n.translate(said, i18n.request_language())) for name, said in _ELSEWHERE.items()]


def list_bots() -> list[tuple[str, str]]:
    """Return the terms of programs, with their words."""
    return [(name, i18n.translate(said, i18n.request_language())) for name, said in _BOTS.items()]


def tell_changes(amendment: Doc, labels: Labels) -> list[str]:
    """Return a sentence for each changed term of an amendment."""
    return [_tell_change(each, labels.texts.lang) for each in amendment["changes"]]


def _tell_change(change: Doc, lang: str) -> str:
    parts = change["at"].split("/")
    name = parts[-1]
    if name in _CHANGED:
        term = i18n.translate(_CHANGED[name], lang)
    else:
        term = i18n.translate(Message("stage {number}", number=int(parts[2]) + 1), lang) if len(parts) > 2 else name
        term += f", {name}" if len(parts) > 3 else ""
    before, after = (_tell_value(name, change[side], lang) for side in ("before", "after"))
    message = Message("{term}: {after}, before {former}", term=term, after=after, former=before)
    return i18n.translate(message, lang)


def _tell_value(name: str, value: Json, lang: str) -> str:
    if name == "bots":
        return i18n.translate(_BOTS[value or DECLARED], lang)
    if value is None:
        return i18n.translate(Message("none"), lang)
    if name == "elsewhere":
        return i18n.translate(_ELSEWHERE[value], lang)
    if name in _SECONDS and isinstance(value, int):
        return GRAMMARS[lang].duration(value)
    return str(value) if isinstance(value, (int, str)) else i18n.translate(Message("see the record"), lang)


@dataclass(frozen=True)
class TermsShown:
    """Terms of the document of a tournament, or of the body of a request for one."""

    doc: Doc
    labels: Labels

    @classmethod
    def of_body(cls, body: Doc) -> TermsShown:
        """Return the terms of a request with a known ruleset."""
        registry, name = services().registry, body["ruleset"]
        ruleset = name if "@" in name else registry.latest(name).meta.ruleset
        found = Labels.of_table({"ruleset": ruleset, "names": {}, "seats": []}, i18n.request_language())
        return cls(body, found)

    @property
    def stages(self) -> list[tuple[str, Sequence[str]]]:
        """Return the format of each stage, and its figures in words."""
        return [(each["format"], self._tell_stage(each)) for each in self.doc["stages"]]

    @property
    def options(self) -> list[tuple[str, str]]:
        """Return names and values of the options of the game with another value than by default."""
        defaults = {name: option.default for name, option in self.labels.rules.meta.options.items()}
        return [
            (self.labels.texts.get(f"option.{name}") or self.labels.member(name), self.labels.describe(name, value))
            for name, value in self.doc.get("options", {}).items()
            if value != defaults.get(name)
        ]

    @property
    def undo(self) -> str:
        """Return the agreement on going back."""
        return str(self.doc["table"].get("undo", "consent"))

    @property
    def longest(self) -> int:
        """Return the seconds for the longest decision, or 0 without deadlines."""
        return longest_seconds(self.labels, self.doc["table"].get("pace"))

    @property
    def time_limit(self) -> int:
        """Return the seconds of play until a table ends, or 0."""
        return int(self.doc["table"].get("time_limit") or 0)

    @property
    def last_turn(self) -> int:
        """Return the seconds for playing the current turn to its end then, or 0."""
        return int(self.doc["table"].get("last_turn") or 0)

    @property
    def band(self) -> list[str]:
        """Return the bounds of the ratings in words; empty for everybody."""
        band = self.doc.get("band") or {}
        bounds = {name: self._write_rating(band[name]) for name in ("least", "most") if band.get(name) is not None}
        said = [Message("a rating from {least}", least=bounds["least"])] if "least" in bounds else []
        said += [Message("a rating up to {most}", most=bounds["most"])] if "most" in bounds else []
        if count := band.get("tables"):
            said.append(Message("{count} rated {count#table|tables} at least", count=count))
        return [i18n.translate(each, self.labels.texts.lang) for each in said]

    def _write_rating(self, hundredths: int) -> str:
        return self.labels.texts.grammar.decimal(Fraction(hundredths, 100), 2)

    @property
    def elsewhere(self) -> str:
        """Return the tables outside of the service in words, or an empty text."""
        said = _ELSEWHERE.get(self.doc.get("elsewhere") or "")
        return i18n.translate(said, self.labels.texts.lang) if said else ""

    @property
    def choices(self) -> dict[str, list[tuple[str, str]]]:
        """Return the values of terms to choose from, with their words."""
        return {"elsewhere": list_elsewhere(), "bots": list_bots()}

    @property
    def bots(self) -> str:
        """Return whether programs may play, in words."""
        return i18n.translate(_BOTS[self.doc.get("bots", DECLARED)], self.labels.texts.lang)

    @property
    def pace(self) -> list[str]:
        """Return what the pace means, one line for each part."""
        return tell_pace(self.labels, self.doc["table"].get("pace"))

    def _tell_stage(self, stage: Doc) -> list[str]:
        rounds, at_once = stage.get("rounds"), stage.get("concurrent", 1)
        told = [Message("{count} {count#round|rounds}", count=rounds)] if rounds else []
        if entrants := stage.get("entrants"):
            told.append(Message("{count} {count#entrant|entrants}", count=entrants))
        if stage["format"] in QUEUED:
            told.append(Message("{count} {count#table|tables} at once for each entrant", count=at_once))
            told.append(Message("a wait of {patience:time} at most", patience=stage.get("patience", DAY)))
        elif at_once > 1:
            told.append(Message("{count} rounds at once", count=at_once))
        return [i18n.translate(each, self.labels.texts.lang) for each in told]
