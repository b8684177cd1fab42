"""Messages to the group chat of a table, in the form that common chat programs accept."""

from __future__ import annotations

import json
from dataclasses import dataclass

import msgspec

from domain.kernel.text.package_data import load
from domain.notifications.chats import INTRODUCTION, Chat, Chats
from domain.notifications.deliveries import ClaimedDelivery
from domain.notifications.table_links import table_url, tournament_url
from domain.types import PUBLIC, Doc, is_tournament_id
from projections.documents import is_paused
from projections.table_describer import TableDescriber
from workers.notifications.event_texts import EVENT_PREFIX, EventTexts
from workers.notifications.zone_times import format_time

HEADERS = {"Content-Type": "application/json", "User-Agent": "Annals"}

_NO_COMMANDS = str.maketrans({"<": "‹", ">": "›", "@": "＠"})  # noqa: RUF001 - signs that chat programs do not read
"""Replacements of signs by which titles and names could call people or be links."""


@dataclass(frozen=True)
class ChatRenderer:
    """Renders messages to chats. `url` is the service's public URL, or empty."""

    chats: Chats
    describer: TableDescriber
    url: str

    def render(self, delivery: ClaimedDelivery) -> bytes | None:
        """Return the body of a message; None if it is obsolete or the chat is gone.

        `text` is read by programs like Slack, `content` by Discord, `allowed_mentions` keeps Discord from calling
        people.
        """
        chat = self.chats.find_by_webhook(delivery.webhook.id)
        text = self._render_text(json.loads(delivery.body), chat) if chat else ""
        if not text:
            return None
        message = text.translate(_NO_COMMANDS)
        return msgspec.json.encode({"text": message, "content": message, "allowed_mentions": {"parse": []}})

    def _render_text(self, doc: Doc, chat: Chat) -> str:
        data, type_, lang = doc["data"], doc["type"], chat.language
        texts = load("workers.notifications", f"texts/{lang}.json")
        if type_.startswith(EVENT_PREFIX) or is_tournament_id(chat.game):
            return self._render_event(doc, chat, texts)
        game = data["game"]
        title = self.describer.find_titles([game]).get(game) or texts["table"].format(game=game[:8])
        lines = [f"{title} ({self.describer.name_ruleset(data['ruleset'], lang)})"]
        if type_ == "turn.due":
            task_lines = self._task_lines(data, chat, texts)
            if not task_lines:
                return ""
            lines += task_lines
        elif type_ == "seat.left":
            lines += self._departure_lines(data, chat, texts)
        else:
            lines.append(texts[INTRODUCTION if type_ == INTRODUCTION else "chat.over"])
        return "\n".join([*lines, *([table_url(self.url, game)] if self.url else [])])

    def _render_event(self, doc: Doc, chat: Chat, texts: Doc) -> str:
        event = EventTexts(self.describer, texts, chat.language, self.url)
        title, data = event.find_title(chat.game), {**doc["data"], "tournament": chat.game}
        if doc["type"] == INTRODUCTION:
            link = [tournament_url(self.url, chat.game)] if self.url else []
            return "\n".join([title, texts["chat.set.event"], *link])
        facts = event.list_facts(data, lambda at: format_time(at, chat.zone, chat.language, texts))
        return "\n".join([event.render_heading(doc["type"], data, title), *event.list_rows(data), *facts])

    def _departure_lines(self, data: Doc, chat: Chat, texts: Doc) -> list[str]:
        """Return the lines with the empty seat, and the end of its hold."""
        summary = self.describer.find_summary(data["game"])
        seat = self.describer.name_seats(summary, [data["leaver"]], chat.language)
        until = format_time(data["until"], chat.zone, chat.language, texts) if data["until"] else ""
        return [
            texts["chat.left"].format(value=seat),
            *([texts["seat.left.until"].format(value=until)] if until else []),
        ]

    def _task_lines(self, data: Doc, chat: Chat, texts: Doc) -> list[str]:
        """Return whose turn it is, and by when, as spectators see it now; empty if that decision is over."""
        summary = self.describer.find_summary(data["game"])
        if summary is None or summary["version"] < data["version"]:
            seats, due, task = data["seats"], data["deadline"], ""
        else:
            board = self.describer.reader.find_board(data["game"], PUBLIC)
            opened = msgspec.json.decode(board.doc)["decisions"] if board else []
            decision = next((each for each in opened if each["id"] == data["decision"]), None)
            if decision is None or not decision["must"]:
                return []
            seats, due = decision["must"], min(decision.get("due", {}).values(), default=None)
            task = self.describer.name_decision(summary, decision["kind"], chat.language)
        names = self.describer.name_seats(summary, seats, chat.language, with_people=True)
        lines = [texts["chat.turn"].format(value=f"{names} ({task})" if task else names)]
        lines += [texts["paused"]] if summary and is_paused(summary, summary["at"]) else []
        return lines + ([texts["until"].format(value=format_time(due, chat.zone, chat.language, texts))] if due else [])
