"""Mail texts: plain text in the receiver's language, with nothing of the game but what everybody may read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime
from functools import partial

from domain.kernel.text.package_data import load
from domain.notifications.email_subscriptions import (
    CONFIRM,
    DIGEST,
    DIGEST_PARTS,
    EVENT_PART,
    GAME_PARTS,
    RECOVERY,
    EmailPreferences,
    EmailSubscription,
)
from domain.notifications.order_news import ENDED
from domain.notifications.personal_news import REPORTED, SILENCED
from domain.notifications.table_links import table_url, talk_url
from domain.notifications.unread_messages import MESSAGE
from domain.types import Doc
from projections.documents import is_paused
from projections.game_documents import StoredSummaryDoc
from projections.table_describer import News, TableDescriber
from workers.notifications.event_texts import EVENT_PREFIX, EventTexts
from workers.notifications.zone_times import format_time


class _UnfoldedHeader(UnstructuredHeader, BaseHeader):
    """A header with an address for programs, kept in one piece. The library would encode a long one."""

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("List-Unsubscribe", _UnfoldedHeader)
_POLICY = SMTP.clone(header_factory=_HEADERS)


@dataclass(frozen=True)
class EmailRenderer:
    """Renders mails. `url` is the service's public URL, `sender` the sender's address."""

    describer: TableDescriber
    url: str
    sender: str

    @property
    def domain(self) -> str:
        """Domain of the sender."""
        return self.sender.rpartition("@")[2]

    def render(self, id_: str, doc: Doc, box: EmailSubscription, now: int) -> EmailMessage:
        """Return a notification as a mail with a fixed Message-ID; `now` is in ms.

        Raises ValueError if a header would read differently from its value.
        """
        texts = load("workers.notifications", f"texts/{box.preferences.language}.json")
        games = [line["game"] for line in list_lines(doc)]
        titles = {**self.describer.name_event_tables(games), **self.describer.find_titles(games)}
        notification = _NotificationText(self, texts, box.preferences, box.zone, titles)
        subject, text = notification.render(doc, now)
        mail = EmailMessage(_POLICY)
        for name, meant in (
            ("From", self.sender),
            ("To", box.preferences.address),
            ("Subject", _without_encoded_words(subject)),
        ):
            mail[name] = meant
            if str(mail[name]) != meant:
                raise ValueError(f"{name} would be another one")
        mail["Date"], mail["Message-ID"] = format_datetime(_to_datetime(now)), f"<{id_}@{self.domain}>"
        mail["Auto-Submitted"], mail["Content-Language"] = "auto-generated", box.preferences.language
        if doc["type"] not in (CONFIRM, RECOVERY):
            link = f"{self.url}/mail/end?token={box.token}"
            mail["List-Unsubscribe"], mail["List-Unsubscribe-Post"] = f"<{link}>", "List-Unsubscribe=One-Click"
            text += f"\n\n-- \n{texts['end'].format(link=link)}"
        mail.set_content(f"{text}\n", cte="quoted-printable")
        return mail


@dataclass(frozen=True)
class _NotificationText:
    renderer: EmailRenderer
    texts: Mapping[str, str]
    preferences: EmailPreferences
    zone: str
    titles: Mapping[str, str]

    def render(self, doc: Doc, now: int) -> tuple[str, str]:
        """Return subject and text."""
        data, type_ = doc["data"], str(doc["type"])
        if type_ in (CONFIRM, RECOVERY):
            link = f"{self.renderer.url}/recovery"
            return self.texts[f"{type_}.subject"], self.texts[type_].format(code=data["code"], link=link)
        if type_ == DIGEST:
            return self.texts[f"{type_}.subject"], self._digest(data, now)
        if type_.startswith(EVENT_PREFIX):
            return self._event(type_, data)
        title = self._title(data["game"])
        subject, heading = (self.texts[key].format(title=title) for key in (f"{type_}.subject", _heading_key(doc)))
        if type_ in (MESSAGE, REPORTED, SILENCED):  # of the talk and the game it says nothing
            link = self.texts["message.link"].format(value=talk_url(self.renderer.url, data["game"]))
            return subject, f"{heading}\n\n{link}"
        summary = self._describer.find_summary(data["game"])
        parts = [heading, "\n".join(self._facts(data, summary, now))]
        if summary:
            parts += self._news(self._describer.read_news(summary, data.get("seat"), self._lang))
        return subject, "\n\n".join(parts)

    @property
    def _describer(self) -> TableDescriber:
        return self.renderer.describer

    @property
    def _lang(self) -> str:
        return self.preferences.language

    def _event(self, type_: str, data: Doc) -> tuple[str, str]:
        event = EventTexts(self._describer, self.texts, self._lang, self.renderer.url)
        title = event.find_title(data["tournament"])
        facts = "\n".join(event.list_facts(data, self._time))
        subject = self.texts[f"{type_}.subject"].format(title=title)
        return subject, f"{event.render_heading(type_, data, title)}\n\n{facts}"

    def _facts(self, data: Doc, summary: StoredSummaryDoc | None, now: int) -> Iterator[str]:
        """Yield lines of one fact each: a pause, game, power, task, deadline, address."""
        if summary and is_paused(summary, now):
            yield self.texts["paused"]
        facts = {"game": self._describer.name_ruleset(data["ruleset"], self._lang)}
        if "seat" in data:
            facts["power"] = self._describer.name_power(summary, data["seat"], self._lang)
            facts["seat"] = "" if facts["power"] else str(data["seat"] + 1)
            facts["task"] = self._task(data, summary)
        if due := data.get("deadline"):
            facts["until"] = self._time(due)
        if "leaver" in data:
            facts["seat.left.seat"] = self._describer.name_seats(summary, [data["leaver"]], self._lang)
            facts["seat.left.until"] = self._time(data["until"]) if data["until"] else ""
        facts["link"] = table_url(self.renderer.url, data["game"])
        yield from (self.texts[name].format(value=value) for name, value in facts.items() if value)

    def _task(self, data: Doc, summary: StoredSummaryDoc | None) -> str:
        return self._describer.name_task(summary, data["seat"], data.get("decision", ""), self._lang)

    def _news(self, news: News) -> Iterator[str]:
        if news.lines:
            lines = [self.texts["news.since" if news.has_moved else "news.latest"]]
            lines += [self.texts["news.earlier"].format(count=news.earlier)] if news.earlier else []
            yield "\n".join([*lines, *(f"- {line}" for line in news.lines)])

    def _digest(self, data: Doc, now: int) -> str:
        parts = []
        for name in DIGEST_PARTS:
            if part_lines := data.get(name):
                render = self._render_event_line if name == EVENT_PART else partial(self._render_line, now=now)
                lines = [self.texts[f"mail.digest.{name}"], *map(render, part_lines)]
                if more := data["more"][name]:
                    lines.append(self.texts["mail.digest.more"].format(count=more))
                parts.append("\n".join(lines))
        return "\n\n".join(parts)

    def _render_event_line(self, data: Doc) -> str:
        event = EventTexts(self._describer, self.texts, self._lang, self.renderer.url)
        return f"- {event.render_line(data['type'], data)}"

    def _render_line(self, data: Doc, now: int) -> str:
        summary = self._describer.find_summary(data["game"])
        return "\n  ".join([f"- {self._title(data['game'])}", *self._facts(data, summary, now)])

    def _title(self, game: str) -> str:
        return self.titles.get(game) or self.texts["table"].format(game=game[:8])

    def _time(self, ms: int) -> str:
        """Return a time in the person's zone, with the zone's name."""
        return format_time(ms, self.zone, self._lang, self.texts)


def _heading_key(doc: Doc) -> str:
    """Return the key of the sentence with the news of a table."""
    data = doc["data"]
    how = data.get("reason", "") if doc["type"] == ENDED else data.get("how", "left").removeprefix("left")
    return f"{doc['type']}.{how}" if how else str(doc["type"])


def list_lines(doc: Doc) -> list[Doc]:
    """Return the parts about single tables, each with its `game`; none of a notice about a tournament."""
    data = doc["data"]
    if "tournament" in data:
        return []
    if doc["type"] == DIGEST:
        return [line for name in GAME_PARTS for line in data[name]]
    return [data] if "game" in data else []


def _without_encoded_words(header: str) -> str:
    """Break up encoded words (RFC 2047) in a header value.

    The library would decode them and could send another header.
    """
    return header.replace("=?", "= ?")


def _to_datetime(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
