"""The desk of an officer: all unfinished tables of a person, and everything to do there for an officer.

It is made of the projector's public summaries and of open requests, without hidden data. Tables come in the order of
their ids. This order never changes, so a cursor loses none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from api import officer_rights
from api.documents.contested_acts import appeal_status
from api.documents.summaries import add_names, add_places
from api.schemas.query_args import NEEDS
from api.schemas.table_responses import DeskAppealDoc, DeskDecisionDoc, DeskDoc, DeskRequestDoc, DeskTableDoc
from api.services import ApiServices
from domain.service.job_requests import JobRequest
from domain.types import DIRECTOR, Json
from projections.game_documents import AppealDoc, PauseDoc, RulingDoc, SummaryDoc

SILENT_MS = 7 * 86_400_000
"""Time without a move before a table counts as silent, ms."""

MAX_TABLES = 5000
"""Most tables for one person."""

_BATCH = 500


class _Seat(msgspec.Struct):
    seat: int
    player: str | None = None
    vacant: bool = False
    absent: bool = False
    held: int | None = None


class _Summary(msgspec.Struct):
    """Members of a summary for the desk."""

    game: str
    ruleset: str
    status: str
    version: int
    opened: int
    at: int
    seats: list[_Seat]
    waiting_for: list[int]
    waiting_engine: bool
    waiting_since: int
    deadline: int | None = None
    due: int | None = None
    pause: PauseDoc | None = None
    ruling: RulingDoc | None = None
    appeals: list[AppealDoc] = []
    set_aside: bool = False
    damaged: int | None = None
    origin: dict[str, Json] | None = None


_DECODE = msgspec.json.Decoder(_Summary).decode


def build_desk(
    s: ApiServices, players: Sequence[str], after: str = "", limit: int = 100, **filters: str
) -> tuple[DeskDoc, str]:
    """Return the desk of a person with these ids, and the cursor of the next page or an empty string.

    `filters`: `ruleset`, `status`, `office` and `needs`, each empty or a value.
    """
    offices = list_offices(s, players)
    now, games = s.clock(), sorted(offices)[:MAX_TABLES]
    requests, reported = _list_requests(s, games), _list_reported(s, games, players)
    tables = [
        _build_table(
            summary,
            offices[summary.game],
            requests.get(summary.game, ()),
            now,
            reported=summary.game in reported,
        )
        for summary in _read_summaries(s, games)
    ]
    counts = {need: sum(need in table["needs"] for table in tables) for need in NEEDS}
    found = [table for table in tables if table["game"] > after and _matches(table, filters)]
    page = found[:limit]
    cards = s.seat_tokens.texts.list_cards([table["game"] for table in page])
    for table in page:
        table["title"], _ = cards.get(table["game"], ("", ""))
    doc: DeskDoc = {"now": now, "tables": len(tables), "counts": counts, "items": page, "next": None}
    return doc, page[-1]["game"] if len(found) > limit else ""


def list_offices(s: ApiServices, players: Sequence[str]) -> dict[str, str]:
    """Return game -> role of a person with these ids, for all tables where the person is an officer."""
    roles = s.seat_tokens.list_roles(*players)
    held = {game: office for game, _, office in s.seat_tokens.officers.list_by_player(players)}
    return {game: held.get(game, "owner") for game, found in roles.items() if DIRECTOR in found}


def list_running(s: ApiServices, players: Sequence[str]) -> list[str]:
    """Return the running tables of an officer with these ids, in the order of their ids. Forks are none."""
    found = _read_summaries(s, sorted(list_offices(s, players))[:MAX_TABLES])
    return [summary.game for summary in found if summary.status == "running"]


def _read_summaries(s: ApiServices, games: Sequence[str]) -> list[_Summary]:
    parts = (games[i : i + _BATCH] for i in range(0, len(games), _BATCH))
    read = (_DECODE(doc) for part in parts for doc in s.reader.list_unfinished_summaries(part))
    found = [summary for summary in read if summary.origin is None]
    return sorted(found, key=lambda summary: summary.game)


def load_summaries(s: ApiServices, games: Sequence[str]) -> list[SummaryDoc]:
    """Return the summaries of unfinished tables of an officer, with names and places in tournaments."""
    docs = [msgspec.json.decode(doc) for doc in s.reader.list_unfinished_summaries(games)]
    return add_places(s, add_names(s, docs))


def _list_requests(s: ApiServices, games: Sequence[str]) -> Mapping[str, Sequence[JobRequest]]:
    found: dict[str, list[JobRequest]] = {}
    for i in range(0, len(games), _BATCH):
        for request in s.job_requests.list_pending(games[i : i + _BATCH]):
            found.setdefault(request.game, []).append(request)
    return found


def _list_reported(s: ApiServices, games: Sequence[str], players: Sequence[str]) -> frozenset[str]:
    """Return the tables with open reports of messages to officers, without those where the person has a part."""
    found = s.message_reports.list_open(games)
    return frozenset(game for game in found if not officer_rights.is_party(s.commands.game(game), players[0]))


def _build_table(
    summary: _Summary, office: str, requests: Sequence[JobRequest], now: int, *, reported: bool
) -> DeskTableDoc:
    waits = summary.status == "running" and bool(summary.waiting_for or summary.waiting_engine)
    empty = [seat for seat in summary.seats if not seat.player or seat.vacant or seat.absent]
    pending = [r for r in requests if r.work == "proposal" or r.version == summary.version]
    pause = _current_pause(summary, now)
    silence = max(now - (summary.waiting_since if waits else summary.at), 0)
    appeals: list[DeskAppealDoc] = [
        {**appeal, "status": appeal_status(appeal["answer_by"], now)} for appeal in summary.appeals
    ]
    needs = {
        "late": waits and not pause and _is_late(summary, now),
        "empty": bool(empty),
        "pending": bool(pending),
        "unstarted": summary.status == "open",
        "broken": summary.set_aside or summary.damaged is not None,
        "silent": silence >= SILENT_MS and not pause and summary.ruling is None,
        "paused": pause is not None,
        "ruled": summary.ruling is not None,
        "appealed": any(appeal["status"] == "open" for appeal in appeals),
        "reported": reported,
    }
    return {
        "game": summary.game,
        "ruleset": summary.ruleset,
        "title": "",
        "status": summary.status,
        "version": summary.version,
        "opened": summary.opened,
        "office": office,
        "needs": [need for need in NEEDS if needs[need]],
        "decision": _build_decision(summary, silence, now) if waits else None,
        "ruling": summary.ruling,
        "pause": pause,
        "empty": [{"seat": seat.seat, "absent": seat.absent, "held": seat.held} for seat in empty],
        "pending": [_request_to_json(request) for request in pending],
        "appeals": appeals,
        "damaged": summary.damaged,
    }


def _current_pause(summary: _Summary, now: int) -> PauseDoc | None:
    pause = summary.pause
    return pause if pause and (pause["until"] is None or now < pause["until"]) else None


def _is_late(summary: _Summary, now: int) -> bool:
    return summary.deadline is not None and summary.deadline <= now


def _build_decision(summary: _Summary, silence: int, now: int) -> DeskDecisionDoc:
    return {
        "seats": summary.waiting_for,
        "engine": summary.waiting_engine,
        "since": summary.waiting_since,
        "silence": silence,
        "deadline": summary.deadline,
        "due": summary.due,
        "left": None if summary.due is None else max(summary.due - now, 0),
    }


def _request_to_json(request: JobRequest) -> DeskRequestDoc:
    args = request.args or {}
    return {
        "id": request.id,
        "work": request.work,
        "seat": args.get("seat"),
        "act": args.get("act", {}).get("act") if request.work == "proposal" else None,
        "at": request.at,
        "missing": list(request.missing_seats),
    }


def _matches(table: DeskTableDoc, filters: Mapping[str, str]) -> bool:
    told = {"ruleset": table["ruleset"], "status": table["status"], "office": table["office"]}
    same = all(told[name] == value for name, value in filters.items() if name != "needs" and value)
    return same and (not filters.get("needs") or filters["needs"] in table["needs"])
