"""Undo requests, called rewinds and motions over HTTP, as their viewers may read them."""

from __future__ import annotations

from api.http import rate_limits
from api.services import Doc, Services
from api.visibility import sight
from domain.kernel.game.undo import learnt
from domain.kernel.records.record import Record
from domain.service.job_requests import Errand
from domain.service.seat_tokens import Principal
from domain.types import Json


def asked_for(errand: Errand) -> Doc:
    """The request itself."""
    args = errand.args or {}
    doc = {"id": errand.id, "game": errand.game, "version": errand.version, "consents": list(errand.asked)}
    return doc | {k: args[k] for k in ("to", "seat", "undone", "draws")} | {"job": f"/v1/jobs/{errand.id}"}


def status(s: Services, errand: Errand) -> tuple[str, str]:
    """`open`, `queued`, `done`, `declined` or `failed`, and the code of what failed. The log has the last word."""
    head = s.ledger.version(errand.game)  # first: whatever was done by then is found afterwards
    if s.ledger.command(errand.game, errand.id):
        return "done", ""
    if errand.declined:
        return "declined", "declined"
    if errand.outcome and "refused" in errand.outcome:
        return "failed", str(errand.outcome["refused"])
    if head != errand.version:
        return "failed", "stale_version"
    return ("open" if errand.missing else "queued"), ""


def standing(s: Services, errand: Errand) -> Doc:
    """The request and how it stands, as all may see it."""
    doc = asked_for(errand) | {"status": status(s, errand)[0]}
    return doc | {"agreed": list(errand.agreed), "declined": list(errand.declined)}


def shown(s: Services, errand: Errand, who: Principal | None, whole: rate_limits.Passage) -> Doc:
    """The same as somebody may see it; what it would undo in secret is told while it is open, from the whole game."""
    doc = standing(s, errand)
    if doc["status"] != "open" or who is None or not _sees_all(s, errand.game, who):
        return doc
    with whole():
        return doc | {"hidden": _hidden(s, errand)}


def _sees_all(s: Services, game: str, who: Principal) -> bool:
    """The director, unless it holds a seat."""
    if who.seat is not None:
        return False
    return all(p.id != who.player for p in s.commands.game(game).players.values())


def _hidden(s: Services, errand: Errand) -> list[Json]:
    versions = set((errand.args or {})["undone"])
    records: list[Record] = s.ledger.read(errand.game, upto=errand.version)
    return [list(item) for item in learnt([r for r in records if r.version in versions])]


def visible(errand: Errand) -> bool:
    """Whether whoever asks may know of it: spectators with a delay once the game has gone on where they see it."""
    upto = sight(errand.game).upto if errand.game else None
    return upto is None or errand.work != "rewind" or errand.version < upto
