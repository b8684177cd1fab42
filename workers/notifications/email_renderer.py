"""What stands in a mail: plain text in the language of who gets it, and no more than the notice tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime

from domain.errors import UnknownRuleset
from domain.kernel.text.message_catalog import texts
from domain.kernel.text.package_data import load
from domain.notifications.email_subscriptions import CONFIRM, DIGEST, Mailbox
from domain.ruleset_registry import Catalogue
from domain.types import Doc
from workers.notifications.table_status import PARTS

LONGEST = 120
"""Characters of a title."""


class _Verbatim(UnstructuredHeader, BaseHeader):
    """Holds an address, which programs read as it stands: the library would break a long one into encoded words."""

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("List-Unsubscribe", _Verbatim)
_FORM = SMTP.clone(header_factory=_HEADERS)

Cards = Callable[[Sequence[str]], Mapping[str, tuple[str, str]]]
"""Games -> title and note of those tables that have any."""


@dataclass(frozen=True)
class Letters:
    """`url`: by which address people find the service; `sender`: in whose name it writes."""

    catalogue: Catalogue
    cards: Cards
    url: str
    sender: str

    @property
    def domain(self) -> str:
        """Of the sender."""
        return self.sender.rpartition("@")[2]

    def write(self, id_: str, doc: Doc, box: Mailbox, now: int) -> EmailMessage:
        """A notice as a mail; the same notice has the same Message-ID, however often it is sent. `now` in ms.

        Raises ValueError if a header would read otherwise than it was meant.
        """
        say = load("workers.notifications", f"texts/{box.wish.language}.json")
        games = [line["game"] for line in lines_of(doc)]
        known = _Known(self, say, box.wish.language, {game: card[0] for game, card in self.cards(games).items()})
        subject, text = known.written(doc, now)
        mail = EmailMessage(_FORM)
        for name, meant in (("From", self.sender), ("To", box.wish.address), ("Subject", _plain(subject))):
            mail[name] = meant
            if str(mail[name]) != meant:
                raise ValueError(f"{name} would be another one")
        mail["Date"], mail["Message-ID"] = format_datetime(_time(now)), f"<{id_}@{self.domain}>"
        mail["Auto-Submitted"], mail["Content-Language"] = "auto-generated", box.wish.language
        if doc["type"] != CONFIRM:
            link = f"{self.url}/mail/end?token={box.token}"
            mail["List-Unsubscribe"], mail["List-Unsubscribe-Post"] = f"<{link}>", "List-Unsubscribe=One-Click"
            text += f"\n\n-- \n{say['end'].format(link=link)}"
        mail.set_content(f"{text}\n", cte="quoted-printable")
        return mail


@dataclass(frozen=True)
class _Known:
    letters: Letters
    say: Mapping[str, str]
    lang: str
    titles: Mapping[str, str]

    def written(self, doc: Doc, now: int) -> tuple[str, str]:
        """Subject and text."""
        data, type_ = doc["data"], str(doc["type"])
        if type_ == CONFIRM:
            return self.say[f"{type_}.subject"], self.say[type_].format(code=data["code"])
        if type_ == DIGEST:
            return self.say[f"{type_}.subject"], self._digest(data, now)
        told = self._told(data)
        lines = [self.say[type_].format_map(told), *self._until(data), "", self._link(data["game"])]
        return self.say[f"{type_}.subject"].format_map(told), "\n".join(lines)

    def _digest(self, data: Doc, now: int) -> str:
        parts = []
        for name in PARTS:
            if found := data[name]:
                lines = [self.say[f"mail.digest.{name}"]]
                lines += [self._line(line, "line.ended" if name == "ended" else "line") for line in found]
                if more := data["more"][name]:
                    lines.append(self.say["mail.digest.more"].format(count=more))
                parts.append("\n".join(lines))
        return "\n\n".join(parts)

    def _line(self, data: Doc, form: str) -> str:
        said = self.say[form].format_map(self._told(data))
        return "\n  ".join([f"- {said}", *self._until(data), self._link(data["game"])])

    def _until(self, data: Doc) -> list[str]:
        due = data.get("deadline")
        return [self.say["until"].format(deadline=f"{_time(due):%Y-%m-%d %H:%M} UTC")] if due else []

    def _link(self, game: str) -> str:
        return f"{self.letters.url}/v1/games/{game}"

    def _told(self, data: Doc) -> dict[str, str]:
        game, titled = data["game"], self.titles.get(data["game"], "")
        title = " ".join(titled.split())[:LONGEST] or self.say["table"].format(game=game[:8])
        return {"title": title, "ruleset": self._ruleset(data["ruleset"]), "seat": str(data.get("seat", ""))}

    def _ruleset(self, name: str) -> str:
        try:
            rules = self.letters.catalogue.get(name)
        except UnknownRuleset:
            return name
        return texts(rules.package, self.lang).say("title", {}) or rules.meta.title


def lines_of(doc: Doc) -> list[Doc]:
    """What tells of a table, each with its `game`."""
    data = doc["data"]
    if doc["type"] == DIGEST:
        return [line for name in PARTS for line in data[name]]
    return [data] if "game" in data else []


def _plain(header: str) -> str:
    """A header that holds no encoded word (RFC 2047): the library reads them in what it is given.

    What one stands for, another header for instance, would be sent.
    """
    return header.replace("=?", "= ?")


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
