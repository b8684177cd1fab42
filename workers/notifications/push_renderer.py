"""Messages to browsers: a title in the reader's language and its address, and nothing of the game."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from domain.accounts.account_tables import DAY
from domain.kernel.text.package_data import load
from domain.notifications.deliveries import ClaimedDelivery
from domain.notifications.email_subscriptions import EmailSubscriptions
from domain.notifications.order_news import ORDER_TYPES
from domain.notifications.personal_news import REPORTED, SILENCED
from domain.notifications.push_devices import PushDevices, PushTarget
from domain.notifications.table_links import table_url, talk_url, tournament_url
from domain.notifications.unread_messages import MESSAGE
from domain.notifications.webhook_urls import WebhookUrl
from domain.notifications.webhooks import TEST
from domain.types import Doc
from projections.table_describer import TableDescriber
from workers.notifications.event_texts import EVENT_PREFIX, EventTexts
from workers.notifications.notice_relevance import NoticeRelevance
from workers.notifications.push_messages import encrypt_once, push_headers

USEFUL = DAY
"""Time (ms) in which a push service keeps a message without a deadline for a browser."""

TEST_PATH = "/account/notices#push"

ORDERS_PART = "#orders"
"""Place of the standing orders on the page of a table: their news replaces no turn."""


@dataclass(frozen=True)
class PushRenderer:
    """Renders messages to browsers. `contact`: an address for questions of a push service."""

    devices: PushDevices
    subscriptions: EmailSubscriptions
    describer: TableDescriber
    relevance: NoticeRelevance
    contact: str

    def render(self, delivery: ClaimedDelivery, url: WebhookUrl, now: int) -> tuple[bytes, Mapping[str, str]] | None:
        """Return body and headers of a message at `now` (ms); None if it is obsolete or the browser is gone."""
        target, doc = self.devices.find_target(delivery.webhook.id), json.loads(delivery.body)
        if target is None or not self._is_current(doc, target, now):
            return None
        shown = self._show(doc, target.language)
        until = doc["data"].get("deadline") or delivery.until or now + USEFUL
        headers = push_headers(target, url, self.contact, now, max((until - now) // 1000, 0), shown["tag"])
        return encrypt_once(json.dumps(shown, ensure_ascii=False).encode(), target), headers

    def _is_current(self, doc: Doc, target: PushTarget, now: int) -> bool:
        data = doc["data"]
        if doc["type"] == TEST:
            return True
        if "tournament" in data:
            return self.relevance.is_event_current(data)
        roles = self.subscriptions.list_seats(target.account, [data["game"]]).get(data["game"], [])
        has_role = (
            str(data["seat"]) in roles if "seat" in data else bool(roles) or doc["type"] in ("challenge.made", REPORTED)
        )
        is_late = 0 < (data.get("deadline") or 0) <= now
        return has_role and not is_late and self.relevance.waits(target.account, doc)

    def _show(self, doc: Doc, lang: str) -> Doc:
        """Return title, text, address within the service, and tag: a message replaces an older one with its tag."""
        data, type_ = doc["data"], str(doc["type"])
        texts = load("workers.notifications", f"texts/{lang}.json")
        if type_ == TEST:
            return {"title": texts["push.test"], "body": "", "url": TEST_PATH, "tag": type_, "lang": lang}
        game = self.describer.name_ruleset(data["ruleset"], lang) if "ruleset" in data else ""
        if type_.startswith(EVENT_PREFIX):
            event = EventTexts(self.describer, texts, lang, "")
            title, link = event.find_title(data["tournament"]), tournament_url("", data["tournament"])
        else:
            found = [data["game"]]
            titles = {**self.describer.name_event_tables(found), **self.describer.find_titles(found)}
            title = titles.get(data["game"]) or texts["table"].format(game=data["game"][:8])
            link = talk_url("", data["game"]) if type_ in (MESSAGE, REPORTED, SILENCED) else table_url("", data["game"])
            link += ORDERS_PART if type_ in ORDER_TYPES else ""
        subject = texts[f"{type_}.subject"].format(title=title)
        return {"title": subject, "body": game, "url": link, "tag": link, "lang": lang}
