"""Rules of messages: whether one may be written now, by terms, status and the ruleset's declaration; its form."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from domain.accounts.account_tables import DAY
from domain.errors import InvalidTable, RuleError
from domain.kernel.game.game import AnyGame
from domain.kernel.game.record_builder import has_talk
from domain.kernel.rules.meta import TalkRules
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message
from domain.types import Json, Seat

MOST_CHARACTERS = 2000
"""Characters of a message."""

RATE_CODE = "too_many"
"""Refusal above the allowance of a seat."""

MOST_REFERENCES = 10
"""References of a message."""

TALK_AFTER_CLOSE = 14 * DAY
"""Time after the close in which all who played may still write to the table, ms."""

_JOINERS = "\u200c\u200d"
_REFUSED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def check_terms(rules: TalkRules, talk: str) -> None:
    """Raise InvalidTable for terms with letters in a phase unknown to the ruleset."""
    if talk == "by_phase" and not rules.private:
        raise InvalidTable(Message("The ruleset has no phase for letters."), "/talk")


def check_time(rules: TalkRules, game: AnyGame, now: int, *, private: bool) -> None:
    """Raise RuleError unless a message may be written now: a letter, or one to the table."""
    mode = game.terms.get("talk", "none")
    if not has_talk(game.terms) or (private and mode == "public"):
        raise RuleError("talk_is_off", "", {"talk": mode})
    if game.status == "closed" and (private or now > game.time + TALK_AFTER_CLOSE):
        raise RuleError("not_now", "", {"when": "never" if private else "over"})
    if not private:
        return
    if game.status == "open":
        raise RuleError("not_now", "", {"when": "started"})
    if mode == "by_phase" and not has_private_phase(rules, game):
        raise RuleError("not_now", rules.rule, {"when": "phase", "decisions": list(rules.private)})


def has_private_phase(rules: TalkRules, game: AnyGame) -> bool:
    """Return whether the ruleset allows letters in the open decision."""
    return bool(game.frames) and game.frames[-1].kind in rules.private


def may_write_letters(rules: TalkRules, game: AnyGame, now: int) -> bool:
    """Return whether a letter may be written now."""
    try:
        check_time(rules, game, now, private=True)
    except RuleError:
        return False
    return True


def check_seats(game: AnyGame, writer: Seat, to: Iterable[Seat]) -> list[Seat]:
    """Return the seats of a letter, the writer's among them; raise RuleError unless all of them have players."""
    others = sorted({*to} - {writer})
    for seat in others:
        if not 0 <= seat < game.table.seats:
            raise RuleError("unknown_seat", "", {"seats": game.table.seats})
        if seat not in game.players or not game.players[seat].id:
            raise RuleError("seat_empty", "", {"seat": seat})
    if not others:
        raise RuleError("seat_empty", "", {"seat": writer})
    return sorted([writer, *others])


def clean_text(text: str) -> tuple[str, str]:
    """Return a text in NFC, and its first forbidden character, or an empty string.

    Marks of direction are forbidden: a page isolates each message instead.
    """
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()
    allowed = {"\n", *_JOINERS}
    return text, next((c for c in text if c not in allowed and unicodedata.category(c) in _REFUSED), "")


def check_references(references: Sequence[Mapping[str, Any]], newest: int) -> list[dict[str, Json]]:
    """Return the references; raise RuleError for a missing version."""
    for place, each in enumerate(references):
        if not 1 <= each["version"] <= newest:
            raise RuleError("unknown_reference", "", {"at": f"/references/{place}"})
    return [dict(each) for each in references]


def check_regions(rules: AnyRuleset, regions: Sequence[str]) -> list[str]:
    """Return the regions; raise RuleError for one outside of the ruleset."""
    known = frozenset(rules.treaties.regions)
    for place, each in enumerate(regions):
        if each not in known:
            raise RuleError("unknown_reference", "", {"at": f"/regions/{place}"})
    return list(dict.fromkeys(regions))
