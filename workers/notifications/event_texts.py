"""Texts about tournaments in notices, with nothing but public facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from domain.kernel.text.grammar import GRAMMARS
from domain.notifications.table_links import table_url, tournament_url
from domain.tournaments.scoring import POINT
from domain.types import Doc
from projections.table_describer import TableDescriber

POINT_DECIMALS = 4

EVENT_PREFIX = "event."
"""Start of the types about tournaments."""


def heading_key(type_: str, data: Doc) -> str:
    """Return the key of the heading of a notice."""
    match type_:
        case "event.due" | "event.ruled" | "event.changed":
            return f"{type_}.{data['act']}"
        case "event.left":
            return f"{type_}.{data['how']}"
        case "event.round" if data["table"] is None:
            return "event.round.bye"
        case "event.over":
            return f"{type_}.{data['status']}"
        case _:
            return type_


@dataclass(frozen=True)
class EventTexts:
    """Words for the notices of tournaments in one language. `url` is the service's public URL, or empty."""

    describer: TableDescriber
    texts: Mapping[str, str]
    lang: str
    url: str

    def find_title(self, tournament: str) -> str:
        """Return the title of a tournament, in one line."""
        found = self.describer.find_titles([tournament]).get(tournament)
        return found or self.texts["event"].format(tournament=tournament[:8])

    def render_heading(self, type_: str, data: Doc, title: str) -> str:
        """Return the sentence with the news."""
        return self.texts[heading_key(type_, data)].format(title=title)

    def render_line(self, type_: str, data: Doc) -> str:
        """Return the news in one line: the sentence, round, table and places, and the address of the page."""
        facts = {"event.round_number": data.get("round"), "event.table": data.get("table")}
        facts |= {"event.place": data.get("place"), "event.former": data.get("former")}
        told = [self.texts[key].format(value=value) for key, value in facts.items() if value]
        link = tournament_url(self.url, data.get("next") or data["tournament"]) if self.url else ""
        heading = self.render_heading(type_, data, self.find_title(data["tournament"]))
        return " ".join(filter(None, [heading, f"({', '.join(told)})" if told else "", link]))

    def list_facts(self, data: Doc, format_ms: Callable[[int], str]) -> Iterator[str]:
        """Yield lines of one fact each; `format_ms` gives a time in the reader's zone."""
        if outcome := data.get("outcome"):
            yield self.texts[f"event.{outcome}"]
        facts: dict[str, object] = {"game": self.describer.name_ruleset(data["ruleset"], self.lang)}
        facts |= {"event.round_number": data.get("round"), "event.table": data.get("table")}
        facts |= {"event.tables": data.get("tables"), "event.byes": data.get("byes")}
        if data.get("seat") is not None:
            facts |= self._name_seat(data)
        names = self.describer.texts.list_names(data.get("opponents", ()))
        facts["event.who"] = (
            self.describer.texts.list_names([data["player"]]).get(data["player"]) if "player" in data else ""
        )
        facts["event.opponents"] = ", ".join(names[each] for each in data.get("opponents", ()) if each in names)
        facts |= {"event.place": data.get("place"), "event.former": data.get("former")}
        facts |= self._tell_ruling(data) if "ruling" in data else {}
        due = data.get("until") or data.get("deadline")
        facts["until"] = format_ms(due) if due else ""
        if self.url:
            facts["link"] = table_url(self.url, data["game"]) if data.get("game") else ""
            facts["event.link"] = tournament_url(self.url, data.get("next") or data["tournament"])
        yield from (self.texts[key].format(value=value) for key, value in facts.items() if value)

    def _tell_ruling(self, data: Doc) -> dict[str, object]:
        """Return the effect of a ruling at its table, and its reason."""
        reason, ticks = data.get("reason") or "", data.get("ticks")
        found = self.describer.texts.find_texts([reason]) if reason else {}
        points = GRAMMARS[self.lang].decimal(Fraction(ticks, POINT), POINT_DECIMALS) if ticks else ""
        rows = ", ".join(self.list_rows(data)) if data.get("players") else ""
        return {"event.new_places": rows, "event.subtracted": points, "event.reason": found.get(reason)}

    def _name_seat(self, data: Doc) -> dict[str, object]:
        if not data["game"]:
            return {"seat": data["seat"] + 1}
        summary = self.describer.find_summary(data["game"])
        power = self.describer.name_power(summary, data["seat"], self.lang)
        return {"power": power, "seat": "" if power else data["seat"] + 1}

    def list_rows(self, data: Doc) -> Iterator[str]:
        """Yield a line for each person of a result or at the head of a list, the first place first."""
        rows = [(each["place"], each["player"]) for each in data.get("leaders", ())]
        rows += list(zip(data.get("places", ()), data.get("players", ()), strict=True))
        names = self.describer.texts.list_names(player for _, player in rows)
        for place, player in sorted(rows):
            if player in names:
                yield self.texts["event.row"].format(place=place, name=names[player])
