"""Timeline entries in one language."""

from __future__ import annotations

from api.http import rate_limits
from api.services import ApiServices, Doc
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.text.message_catalog import SeatNamer, Texts, load_texts
from domain.types import Viewer
from projections.documents import add_text


def build_entries(
    s: ApiServices, summary: Doc, viewer: Viewer, after: int, limit: int, lang: str, gate: rate_limits.GateContext
) -> list[Doc]:
    """Return timeline entries in one language, with the reasons of rewinds, up to the summary's version."""
    limit = min(limit, max(summary["version"] - after, 0))
    rules, game = s.registry.get(summary["ruleset"]), summary["game"]
    words = load_texts(rules.package, lang)
    name = name_resolver(s, summary, words)
    found = [add_text(rules, e, words, name) for e in s.reader.read_timeline(game, viewer, after, limit, gate=gate)]
    for entry in found:
        if entry.get("kind") == "rewound":
            entry["reason"] = _rewind_reason(s, game, entry["version"])
    return found


def name_resolver(s: ApiServices, summary: Doc, words: Texts) -> SeatNamer:
    people = s.seat_tokens.texts.list_names(seat["player"] for seat in summary["seats"] if seat["player"])
    powers = {int(seat): power for seat, power in summary.get("powers", {}).items()}
    return SeatNames(words, powers, {seat["seat"]: people.get(seat["player"], "") for seat in summary["seats"]})


def _rewind_reason(s: ApiServices, game: str, version: int) -> str | None:
    hashed = [r.body.get("reason", "") for r in s.ledger.read(game, version - 1, version)]
    return s.seat_tokens.texts.find_text(hashed[0]) if hashed and hashed[0] else None
