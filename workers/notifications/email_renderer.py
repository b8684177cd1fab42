"""Mail texts: plain text in the receiver's language, with no more than the notification's own data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime

from domain.errors import UnknownRuleset
from domain.kernel.text.message_catalog import load_texts
from domain.kernel.text.package_data import load
from domain.notifications.email_subscriptions import CONFIRM, DIGEST, EmailSubscription
from domain.ruleset_registry import RulesetRegistry
from domain.types import Doc
from workers.notifications.table_status import DIGEST_PARTS

MAX_TITLE = 120
"""Longest title, characters."""


class _UnfoldedHeader(UnstructuredHeader, BaseHeader):
    """A header with an address for programs, kept in one piece. The library would encode a long one."""

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("List-Unsubscribe", _UnfoldedHeader)
_POLICY = SMTP.clone(header_factory=_HEADERS)

CardLookup = Callable[[Sequence[str]], Mapping[str, tuple[str, str]]]
"""Returns game -> (title, note) for those games that have a card."""


@dataclass(frozen=True)
class EmailRenderer:
    """Renders mails. `url` is the service's public URL, `sender` the sender's address."""

    registry: RulesetRegistry
    find_cards: CardLookup
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
        notification = _NotificationText(
            self, texts, box.preferences.language, {game: card[0] for game, card in self.find_cards(games).items()}
        )
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
        if doc["type"] != CONFIRM:
            link = f"{self.url}/mail/end?token={box.token}"
            mail["List-Unsubscribe"], mail["List-Unsubscribe-Post"] = f"<{link}>", "List-Unsubscribe=One-Click"
            text += f"\n\n-- \n{texts['end'].format(link=link)}"
        mail.set_content(f"{text}\n", cte="quoted-printable")
        return mail


@dataclass(frozen=True)
class _NotificationText:
    renderer: EmailRenderer
    texts: Mapping[str, str]
    lang: str
    titles: Mapping[str, str]

    def render(self, doc: Doc, now: int) -> tuple[str, str]:
        """Return subject and text."""
        data, type_ = doc["data"], str(doc["type"])
        if type_ == CONFIRM:
            return self.texts[f"{type_}.subject"], self.texts[type_].format(code=data["code"])
        if type_ == DIGEST:
            return self.texts[f"{type_}.subject"], self._digest(data, now)
        values = self._line_values(data)
        lines = [self.texts[type_].format_map(values), *self._deadline_lines(data), "", self._link(data["game"])]
        return self.texts[f"{type_}.subject"].format_map(values), "\n".join(lines)

    def _digest(self, data: Doc, now: int) -> str:
        parts = []
        for name in DIGEST_PARTS:
            if part_lines := data[name]:
                lines = [self.texts[f"mail.digest.{name}"]]
                lines += [self._render_line(line, "line.ended" if name == "ended" else "line") for line in part_lines]
                if more := data["more"][name]:
                    lines.append(self.texts["mail.digest.more"].format(count=more))
                parts.append("\n".join(lines))
        return "\n\n".join(parts)

    def _render_line(self, data: Doc, form: str) -> str:
        sentence = self.texts[form].format_map(self._line_values(data))
        return "\n  ".join([f"- {sentence}", *self._deadline_lines(data), self._link(data["game"])])

    def _deadline_lines(self, data: Doc) -> list[str]:
        due = data.get("deadline")
        return [self.texts["until"].format(deadline=f"{_to_datetime(due):%Y-%m-%d %H:%M} UTC")] if due else []

    def _link(self, game: str) -> str:
        return f"{self.renderer.url}/v1/games/{game}"

    def _line_values(self, data: Doc) -> dict[str, str]:
        game, titled = data["game"], self.titles.get(data["game"], "")
        title = " ".join(titled.split())[:MAX_TITLE] or self.texts["table"].format(game=game[:8])
        return {"title": title, "ruleset": self._ruleset(data["ruleset"]), "seat": str(data.get("seat", ""))}

    def _ruleset(self, name: str) -> str:
        try:
            rules = self.renderer.registry.get(name)
        except UnknownRuleset:
            return name
        return load_texts(rules.package, self.lang).render("title", {}) or rules.meta.title


def list_lines(doc: Doc) -> list[Doc]:
    """Return the parts about single tables, each with its `game`."""
    data = doc["data"]
    if doc["type"] == DIGEST:
        return [line for name in DIGEST_PARTS for line in data[name]]
    return [data] if "game" in data else []


def _without_encoded_words(header: str) -> str:
    """Break up encoded words (RFC 2047) in a header value.

    The library would decode them and could send another header.
    """
    return header.replace("=?", "= ?")


def _to_datetime(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
