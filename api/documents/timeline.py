"""Timeline entries in one language, and the names and reasons in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from api.http import rate_limits
from api.services import ApiServices
from domain.kernel.narration.battle_texts import BattleDoc
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import load_texts
from domain.types import Doc, Json, Viewer
from projections.chronicler import Chronicler
from projections.game_documents import EntryDoc, StoredSummaryDoc


def build_entries(
    s: ApiServices,
    summary: StoredSummaryDoc,
    viewer: Viewer,
    after: int,
    limit: int,
    lang: str,
    gate: rate_limits.GateContext,
) -> list[EntryDoc]:
    """Return timeline entries in one language, with officers and their reasons, up to the summary's version."""
    return add_texts(s, summary, _load_timeline(s, summary, viewer, after, limit, gate), lang)


def build_chronicle(
    s: ApiServices,
    summary: StoredSummaryDoc,
    viewer: Viewer,
    after: int,
    limit: int,
    lang: str,
    gate: rate_limits.GateContext,
) -> tuple[list[EntryDoc], list[BattleDoc]]:
    """Return timeline entries as `build_entries`, and the battles in them."""
    told = _load_timeline(s, summary, viewer, after, limit, gate)
    rules, chronicler = _prepare(s, summary, told, lang)
    return [_tell(s, rules, chronicler, entry) for entry in told], chronicler.tell_battles(rules, told)


def add_texts(s: ApiServices, summary: StoredSummaryDoc, entries: Iterable[Doc], lang: str) -> list[EntryDoc]:
    """Return the entries of a viewer's timeline with their texts."""
    told = list(entries)
    rules, chronicler = _prepare(s, summary, told, lang)
    return [_tell(s, rules, chronicler, entry) for entry in told]


def _load_timeline(
    s: ApiServices,
    summary: StoredSummaryDoc,
    viewer: Viewer,
    after: int,
    limit: int,
    gate: rate_limits.GateContext,
) -> list[Doc]:
    limit = min(limit, max(summary["version"] - after, 0))
    return list(s.reader.read_timeline(summary["game"], viewer, after, limit, gate=gate))


def _prepare(
    s: ApiServices, summary: StoredSummaryDoc, told: Sequence[Doc], lang: str
) -> tuple[AnyRuleset, Chronicler]:
    """Return the rules of the table and the chronicler of these entries."""
    rules = s.registry.get(summary["ruleset"])
    bodies = [entry.get("body") or {} for entry in told]
    return rules, Chronicler.prepare(s.seat_tokens.texts, summary, load_texts(rules.package, lang), bodies)


def _tell(s: ApiServices, rules: AnyRuleset, chronicler: Chronicler, entry: Doc) -> EntryDoc:
    version, told = entry["version"], chronicler.tell(rules, entry)
    if chronicler.is_undone(version):
        told["undone"] = True
    body: Json = dict(entry.get("body") or {})
    told["body"] = body
    if officer := body.pop("officer", None):
        told["officer"] = chronicler.officer(officer)
    if body.get("act") == "appeal":
        told["reason"] = chronicler.reasons.get(body.pop("reason", ""))
    if told["kind"] == "rewound":
        told["reason"] = _rewind_reason(s, chronicler.summary["game"], version)
        if officer:
            told["officer"]["reason"] = told["reason"]
    return told


def _rewind_reason(s: ApiServices, game: str, version: int) -> str | None:
    hashed = [r.body.get("reason", "") for r in s.ledger.read(game, version - 1, version)]
    return s.seat_tokens.texts.find_text(hashed[0]) if hashed and hashed[0] else None
