"""The page of a person's notices: mail, calendar, webhooks."""

from __future__ import annotations

from flask import Response, request

from api.http import i18n
from api.pages.account.personal_acts import ActPage, ActRequest, Refusal, read_id, render_acts
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import Answer, ask, read_document
from api.pages.common.numbers import parse_number
from api.pages.common.session import redirect, render_games_page, session_owner
from api.schemas.webhooks import DeliveriesDoc, WebhooksDoc
from api.services import services
from domain.kernel.text.message_catalog import Message
from domain.notifications import email_subscriptions
from domain.notifications.webhooks import EVENTS
from domain.types import Doc

ADDRESS = "/account/notices"

EVENT_WORDS = {
    "turn.due": Message("I owe a decision"),
    "deadline.near": Message("A deadline of mine is near"),
    "game.over": Message("A game of mine has ended"),
    "seat.left": Message("Somebody has left a table of mine"),
    "challenge.made": Message("Somebody invites me to a table"),
    "appeal.made": Message("A seat appeals at a table that I direct"),
    "appeal.answered": Message("An appeal at a table of mine is answered"),
    "proposal.made": Message("Somebody proposes something that needs my consent"),
    "message.received": Message("Letters or treaties wait for me"),
    "message.reported": Message("Messages are reported at a table that I direct"),
    "message.silenced": Message("I may write no words to a table for a time"),
    "event.announced": Message("The officers of a tournament of mine say something"),
    "order.acted": Message("A standing order of mine has made a move"),
    "order.ended": Message("A standing order of mine has ended"),
    "table.changed": Message("Each new record of a table"),
    "table.opened": Message("A public table is opened"),
    "table.started": Message("A public table begins"),
    "table.closed": Message("A public table is closed"),
    "event.opened": Message("A tournament takes entrants"),
    "event.due": Message("A tournament waits for me"),
    "event.round": Message("A round of a tournament of mine begins"),
    "event.changed": Message("Times or terms of a tournament change"),
    "event.left": Message("An entrant withdraws, or is excluded"),
    "event.drawn": Message("A round of a tournament is drawn"),
    "event.voided": Message("A table of a tournament has no result"),
    "event.reported": Message("A result of a tournament is on the list"),
    "event.ruled": Message("A ruling in a tournament concerns me"),
    "event.ranked": Message("The standings of a tournament are official"),
    "event.over": Message("A tournament is over"),
}
"""Type of an event -> its words, also of types without mail."""

MAIL_DEFAULTS = (
    "turn.due",
    "deadline.near",
    "game.over",
    "proposal.made",
    "message.received",
    "order.acted",
    "order.ended",
    "event.round",
)
"""Events ticked in the form of a new address."""


def show_notices(act: str = "") -> Response:
    """Show and change mail, browsers, calendar and webhooks."""
    return _PAGE.respond(act)


def _name_events(types: tuple[str, ...]) -> list[tuple[str, str]]:
    lang = i18n.request_language()
    return [(each, i18n.translate(EVENT_WORDS[each], lang)) for each in types]


def _show(page: ActPage, refusal: Refusal | None) -> Response:
    owner = session_owner()
    s = services()
    mail = ask("GET", "/me/mail")
    push = ask("GET", "/me/push") if s.settings.webhooks != "none" else None
    hook = request.args.get("webhook", "")
    hooks = read_document(WebhooksDoc, "/me/webhooks")["items"]
    chosen = next((each for each in hooks if each["id"] == hook), None)
    return render_acts(
        "notices",
        page,
        refusal,
        mails=bool(s.settings.mail),
        mail=mail.doc if mail.status < 400 else None,
        mail_events=_name_events(email_subscriptions.TYPES),
        mail_defaults=MAIL_DEFAULTS,
        hours=[(hour, f"{hour:02}:00") for hour in range(24)],
        calendar=s.account_store.calendar_keys.find_time(owner.account) if owner else None,
        push=push.doc if push and push.status < 400 else None,
        webhooks=hooks,
        hook_events=_name_events(EVENTS["mine"]),
        all_events={about: _name_events(types) for about, types in EVENTS.items()},
        chosen=chosen,
        event_words=dict(_name_events(tuple(EVENT_WORDS))),
        deliveries=_list_deliveries(chosen["id"]) if chosen else (),
        chats=s.notifications.chats.list_by_account(owner.account) if owner else (),
    )


def _list_deliveries(webhook: str) -> list[Doc]:
    found = read_document(DeliveriesDoc, f"/me/webhooks/{webhook}/deliveries?limit=20")
    return [dict(each) for each in found["items"]]


def _change_mail() -> ActRequest:
    form = request.form
    body: Doc = {
        "address": form.get("address", "").strip(),
        "events": form.getlist("events"),
        "digest": form.get("digest", ""),
        "hour": parse_number(form.get("hour", ""), 23) or 0,
        "language": form.get("language", ""),
    }
    return ActRequest("PUT", "/me/mail", body)


def _make_push() -> ActRequest:
    body: Doc = {
        "endpoint": request.form.get("endpoint", ""),
        "keys": {name: request.form.get(name, "") for name in ("p256dh", "auth")},
        **({"name": name} if (name := read_text("name")) else {}),
        "language": i18n.request_language(),
    }
    return ActRequest("POST", "/me/push", body)


def _make_webhook() -> ActRequest:
    body = {"url": read_text("url"), "about": "mine", "events": request.form.getlist("events")}
    about = request.form.get("about", "mine")
    if about == "lobby":
        body |= {"about": "lobby", "events": []}
    return ActRequest("POST", "/me/webhooks", body)


def _change_webhook() -> ActRequest:
    body: Doc = {
        "url": read_text("url"),
        "events": request.form.getlist("events"),
        "on": request.form.get("on") == "yes",
    }
    return ActRequest("PUT", f"/me/webhooks/{read_id()}", body)


def _replay() -> ActRequest:
    return ActRequest("POST", f"/me/webhooks/{read_id()}/deliveries/{read_id('delivery')}/replays")


def _show_secret(answer: Answer) -> Response:
    return render_games_page("secret", kind="webhook", secret=answer.doc["secret"], target=ADDRESS)


def _show_calendar(answer: Answer) -> Response:
    return render_games_page("secret", kind="calendar", secret=answer.doc["address"], target=ADDRESS)


def _show_deliveries(_: Answer) -> Response:
    return redirect(f"{ADDRESS}?done=test&webhook={read_id()}#deliveries")


_PAGE = ActPage(
    ADDRESS,
    {
        "mail": _change_mail,
        "code": lambda: ActRequest("POST", "/me/mail/confirmations", {"code": read_text("code").upper()}),
        "no_mail": lambda: ActRequest("DELETE", "/me/mail"),
        "calendar": lambda: ActRequest("POST", "/me/calendar-key"),
        "no_calendar": lambda: ActRequest("DELETE", "/me/calendar-key"),
        "push": _make_push,
        "no_push": lambda: ActRequest("DELETE", f"/me/push/{read_id()}"),
        "try_push": lambda: ActRequest("POST", f"/me/push/{read_id()}/tests"),
        "webhook": _make_webhook,
        "change": _change_webhook,
        "remove": lambda: ActRequest("DELETE", f"/me/webhooks/{read_id()}"),
        "rotate": lambda: ActRequest("POST", f"/me/webhooks/{read_id()}/rotations"),
        "test": lambda: ActRequest("POST", f"/me/webhooks/{read_id()}/tests"),
        "replay": _replay,
    },
    {
        "mail": Message("Saved. A new address first gets a code, which you enter here."),
        "code": Message("The address is confirmed. Mail goes there from now on."),
        "no_mail": Message("The address is removed."),
        "no_calendar": Message("The address of your calendar works no more."),
        "push": Message("This browser tells you from now on."),
        "no_push": Message("That browser tells you nothing more."),
        "try_push": Message("A message is on its way."),
        "change": Message("The webhook is changed."),
        "remove": Message("The webhook is removed."),
        "test": Message("A delivery is on its way."),
    },
    _show,
    {
        "calendar": _show_calendar,
        "webhook": _show_secret,
        "rotate": _show_secret,
        "test": _show_deliveries,
        "replay": _show_deliveries,
    },
    {("code", "wrong_credentials"): "code"},
)
