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
    """Return timeline entries in one language, with the reasons of rewinds, up to the summary's version.

    Each entry names the people of its own time, so its text stays the same whoever sits there later.
    """
    limit = min(limit, max(summary["version"] - after, 0))
    rules, game = s.registry.get(summary["ruleset"]), summary["game"]
    words, names = load_texts(rules.package, lang), _list_names(s, summary)
    found = []
    for entry in s.reader.read_timeline(game, viewer, after, limit, gate=gate):
        version = entry["version"]
        told = add_text(rules, entry, words, _namer_at(summary, words, names, version))
        if any(to < version < rewind for to, rewind in summary.get("undone", ())):
            told["undone"] = True
        if told.get("kind") == "rewound":
            told["reason"] = _rewind_reason(s, game, version)
        found.append(told)
    return found


def name_resolver(s: ApiServices, summary: Doc, words: Texts) -> SeatNamer:
    """Return the names of the people who sit there at the summary's version."""
    return _namer_at(summary, words, _list_names(s, summary), summary["version"])


def _list_names(s: ApiServices, summary: Doc) -> dict[str, str]:
    players = {seat["player"] for seat in summary["seats"]} | {player for _, _, player in summary.get("seatings", ())}
    return s.seat_tokens.texts.list_names(players - {None, ""})


def _namer_at(summary: Doc, words: Texts, names: dict[str, str], version: int) -> SeatNamer:
    """Return the namer of the seats after a version: each by its player of that time, or the one who sat there last."""
    people = {seat["seat"]: seat["player"] for seat in summary["seats"]}
    if changes := summary.get("seatings"):
        people = {seat: player for at, seat, player in changes if at <= version and player}
    powers = {int(seat): power for seat, power in summary.get("powers", {}).items()}
    return SeatNames(words, powers, {seat: names.get(player, "") for seat, player in people.items()})


def _rewind_reason(s: ApiServices, game: str, version: int) -> str | None:
    hashed = [r.body.get("reason", "") for r in s.ledger.read(game, version - 1, version)]
    return s.seat_tokens.texts.find_text(hashed[0]) if hashed and hashed[0] else None
