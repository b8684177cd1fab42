"""Entries of a timeline in one language."""

from __future__ import annotations

from api.http import rate_limits
from api.services import Doc, Services
from domain.kernel.narration.sentences import Who
from domain.kernel.text.message_catalog import Name, Texts, texts
from domain.types import Viewer
from projections.documents import with_text


def entries(
    s: Services, summary: Doc, viewer: Viewer, after: int, limit: int, lang: str, whole: rate_limits.Passage
) -> list[Doc]:
    """Entries of a game's timeline in one language, rewinds with their reasons; none after what the summary tells."""
    limit = min(limit, max(summary["version"] - after, 0))
    rules, game = s.catalogue.get(summary["ruleset"]), summary["game"]
    words = texts(rules.package, lang)
    name = sentence_names(s, summary, words)
    found = [with_text(rules, e, words, name) for e in s.reader.timeline(game, viewer, after, limit, whole=whole)]
    for entry in found:
        if entry.get("kind") == "rewound":
            entry["reason"] = _reason(s, game, entry["version"])
    return found


def sentence_names(s: Services, summary: Doc, words: Texts) -> Name:
    people = s.access.names(seat["player"] for seat in summary["seats"] if seat["player"])
    powers = {int(seat): power for seat, power in summary.get("powers", {}).items()}
    return Who(words, powers, {seat["seat"]: people.get(seat["player"], "") for seat in summary["seats"]})


def _reason(s: Services, game: str, version: int) -> str | None:
    hashed = [r.body.get("reason", "") for r in s.ledger.read(game, version - 1, version)]
    return s.access.said(hashed[0]) if hashed and hashed[0] else None
