"""Routes of conduct in talk: a participant reports messages, and officers without a stake settle and silence."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response

from api import authorization, officer_rights
from api.caller_keys import creation_response, role_key
from api.documents.shown_messages import find_entries, reported_to_json
from api.documents.talk import find_reader
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response, load_table
from api.schemas.query_args import KeyHeaders
from api.schemas.talk_responses import MessageReportDoc, MessageReportsDoc, ReportSentDoc
from api.schemas.talk_schemas import MessageReportOutcomeSchema, NewMessageReportSchema, NewSilenceSchema
from api.services import services
from domain.accounts.abuse_reports import AbuseReport
from domain.accounts.account_tables import write
from domain.errors import RuleError
from domain.kernel.game.game import AnyGame
from domain.notifications.personal_news import REPORTED, SILENCED
from domain.service.database import Statement
from domain.talk import message_reports
from domain.talk.message_reports import Handler, ReportedMessages
from domain.talk.silences import HOUR
from domain.types import Doc

bp = Blueprint("talk_conduct", __name__, url_prefix="/v1/games", description="Messages between players.")


@bp.operation(
    "POST",
    "/<game:game>/talk/reports",
    "report_messages",
    access=authorization.require_talk,
    errors=(403, 404, 409),
    body=NewMessageReportSchema,
    headers=KeyHeaders,
    status=201,
)
def report_messages(body: Doc, headers: Doc, game: str) -> JsonResponse[ReportSentDoc]:
    """Report messages of your mailbox to the officers without a stake in the game, else to the moderators.

    At a table with hidden names it is always the moderators: the choice would tell whether an officer plays.

    They read these messages with their proof, and nothing else of your mailbox. The texts stay for them until the
    report is settled, also if their writer erases the account.
    """
    _, now = load_table(game)
    s, owner, reader = services(), authorization.optional_owner(), find_reader(game, now, own=True)
    if owner is None:
        raise Problem("accounts_only")
    if reader.mailbox < 0 or not reader.players:
        raise Problem("not_a_participant")
    entries = sorted({*body["entries"]})
    found = find_entries(reader, entries)
    if len(found) != len(entries) or any(each.message is None for each in found):
        raise RuleError("unknown_reference", "", {"at": "/entries"})
    is_theirs = body["to"] == "officers" and now.terms.get("names") != "hidden"
    officers = officer_rights.list_impartial_officers(s, now) if is_theirs else []
    handler: Handler = "officers" if officers else "moderators"

    def hold(report: str) -> list[Statement]:
        reported = ReportedMessages(
            report, game, reader.mailbox, found[0].holder or reader.players[0], handler, entries
        )
        news = s.notifications.outbox.personal_news
        told = news.add(REPORTED, report, officers, {"game": game, "ruleset": now.ruleset})
        return [*s.message_reports.add(reported, [each.number for each in found]), *told]

    key = role_key(headers["key"])
    request = ("report_messages", game, owner.account, headers["key"]) if headers["key"] else ()
    filed = s.account_store.reports.file(owner.account, "", game, body["said"], *request, key=key, more=hold)
    s.notify_changed(game)
    stored = s.message_reports.find(filed.id)
    return creation_response({"report": filed.id, "to": stored.handler if stored else handler}, key)


def _require_handler(game: str) -> AnyGame:
    """Return the game of an officer without a stake in it. Raise Problem for anybody else."""
    officer_rights.require_officer()
    _, now = load_table(game)
    officer_rights.require_no_stake(now)
    if officer_rights.has_part(now, officer_rights.officer_ids(game)):
        raise Problem("director_plays")
    return now


@bp.operation(
    "GET",
    "/<game:game>/talk/reports",
    "message_reports",
    access=authorization.require_role,
    errors=(403, 404),
)
def list_message_reports(game: str) -> JsonResponse[MessageReportsDoc]:
    """Return the reports of messages to the officers of a table, the oldest first, for officers without a stake."""
    _require_handler(game)
    found = [each for each in services().message_reports.list_by_table(game) if each.handler == "officers"]
    items = [_to_json(report, each) for each in found if (report := _find_report(each.id))]
    return json_response({"items": items})


def _find_report(id_: str) -> AbuseReport | None:
    return services().account_store.reports.find(id_)


def _to_json(report: AbuseReport, found: ReportedMessages) -> MessageReportDoc:
    return {
        "report": report.id,
        "at": report.at,
        "said": report.said,
        "outcome": report.outcome,
        "reported": reported_to_json(found),
    }


@bp.operation(
    "PUT",
    "/<game:game>/talk/reports/<report:report>",
    "settle_message_report",
    access=authorization.require_role,
    errors=(403, 404),
    body=MessageReportOutcomeSchema,
)
def settle_message_report(body: Doc, game: str, report: str) -> JsonResponse[MessageReportDoc]:
    """Settle a report of messages, and erase their texts if you wish. The first outcome stays."""
    _require_handler(game)
    s, found, filed = services(), services().message_reports.find(report), _find_report(report)
    if found is None or filed is None or found.game != game or found.handler != "officers":
        raise Problem("not_found")
    if not filed.settled:
        rows = message_reports.settle(report, upheld=body["erase"])
        s.account_store.reports.settle(report, body["outcome"], *_audit("report_settled", report), *rows)
        s.message_reports.scrub()
    return json_response(_to_json(_find_report(report) or filed, found))


def _audit(action: str, detail: str) -> list[Statement]:
    """Return the entry in the log of the acting officer's account; none for a guest."""
    caller = authorization.principal()
    if not caller.account:
        return []
    return security_log.audit_statements(caller.account, action, rate_limits.client_network(), detail)


# --- silence -----------------------------------------------------------------------------------------------------


@bp.operation(
    "PUT",
    "/<game:game>/seats/<seat:seat>/silence",
    "silence_seat",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=NewSilenceSchema,
    status=204,
)
def silence_seat(body: Doc, game: str, seat: int) -> Response:
    """Let the player of a seat write no words to the table for a time, as an officer without a stake in the game.

    Everybody who reads the talk of the table reads until when, and the reason. Letters, moves, treaties and answers
    without words go on.
    """
    now, s = _require_handler(game), services()
    player, until = _find_player(now, seat), s.clock() + body["hours"] * HOUR
    data = {"game": game, "ruleset": now.ruleset, "seat": seat, "deadline": until}
    told = s.notifications.outbox.personal_news.add(SILENCED, f"{game}|{until}", [player], data)
    _store(player, [s.silences.set(game, player, until, body["reason"]), *told], "silenced", game)
    return Response(status=204)


@bp.operation(
    "DELETE",
    "/<game:game>/seats/<seat:seat>/silence",
    "end_silence_of_seat",
    access=authorization.require_role,
    errors=(403, 404, 409),
    status=204,
)
def end_silence_of_seat(game: str, seat: int) -> Response:
    """End the silence of a seat's player at the table."""
    player = _find_player(_require_handler(game), seat)
    _store(player, [services().silences.lift(game, player)], "silence_lifted", game)
    return Response(status=204)


def _find_player(now: AnyGame, seat: int) -> str:
    """Return the player of a seat. Raise RuleError for a seat without one."""
    holder = now.players.get(seat)
    if holder is None or not holder.id:
        raise RuleError("seat_empty", "", {"seat": seat})
    return holder.id


def _store(player: str, statements: Sequence[Statement], action: str, game: str) -> None:
    """Store a silence or its end, with entries in the logs of both accounts."""
    s = services()
    account = s.account_store.accounts.find_holder(player)
    detail = "" if s.seat_tokens.hidden_players.find_game(player) else game  # administrators read the log
    told = security_log.audit_statements(account.id, action, "", detail) if account else []
    rows = [*statements, *told, *_audit(f"{action}_seat", game)]
    s.ledger.run_in_append_order(lambda execute: write(execute, rows))
    s.notify_changed(game)
