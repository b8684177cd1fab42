"""Terms of a tournament in words, before it is opened and on its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api.http import i18n
from api.pages.common.agreements import longest_seconds
from api.pages.common.labels import Labels
from api.pages.lobby.pace_form import tell_pace
from api.services import services
from domain.kernel.text.message_catalog import Message
from domain.tournaments.terms import DAY, QUEUED
from domain.types import Doc


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
