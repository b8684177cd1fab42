"""Calendars of deadlines (iCalendar, RFC 5545). The same deadlines give the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from api.services import ApiServices
from domain.kernel.rules.flow import DecisionDoc
from domain.service.principals import Role
from domain.types import PUBLIC, Seat
from projections.game_documents import StoredSummaryDoc
from projections.table_describer import TableDescriber, list_owed

MAX_TABLES = 500
"""Tables in a person's calendar, the latest change first."""

REFRESH = timedelta(hours=1)
"""Suggested time between two reads."""

_PRODUCT = "-//Annals//deadlines//EN"


@dataclass(frozen=True)
class Deadline:
    """A time until which seats must decide."""

    game: str
    decision: str
    seats: tuple[Seat, ...]
    due: int
    """ms since 1970."""
    changed: int
    """Time of the table's last record, ms."""
    title: str
    note: str


def list_table_deadlines(
    s: ApiServices, summary: StoredSummaryDoc, lang: str, *, seat: Seat | None = None, with_event: bool = False
) -> Iterator[Deadline]:
    """Yield the deadlines of a table, or of one seat, that everybody may know.

    With `with_event`, the tournament may be named.
    """
    board = s.reader.find_board(summary["game"], PUBLIC)
    describer = make_describer(s)
    for decision in msgspec.json.decode(board.doc)["decisions"] if board else ():
        seats_by_due: dict[int, list[Seat]] = {}
        for each, due in decision.get("due", {}).items():
            if seat in (None, int(each)):
                seats_by_due.setdefault(due, []).append(int(each))
        for due, seats in seats_by_due.items():
            yield _make_deadline(describer, summary, decision, seats, due, lang, with_event=with_event)


def list_own_deadlines(s: ApiServices, roles: Mapping[str, Sequence[Role]], lang: str) -> Iterator[Deadline]:
    """Yield the deadlines of a person with these roles by game."""
    describer = make_describer(s)
    for _, summary in s.reader.list_summaries(list(roles), "running", limit=MAX_TABLES, inside=True):
        for seat in (role for role in roles[summary["game"]] if isinstance(role, int)):
            for decision in list_owed(s.reader, summary, seat):
                due = decision.get("due", {}).get(str(seat))
                if due is not None:
                    yield _make_deadline(describer, summary, decision, [seat], due, lang, with_event=True)


def make_describer(s: ApiServices) -> TableDescriber:
    """Return the names of tables in calendars."""
    return TableDescriber(s.registry, s.seat_tokens.texts, s.reader)


def _make_deadline(
    describer: TableDescriber,
    summary: StoredSummaryDoc,
    decision: DecisionDoc,
    seats: Sequence[Seat],
    due: int,
    lang: str,
    *,
    with_event: bool,
) -> Deadline:
    """Return a deadline; its note has the seats that decide, and the others with their people."""
    game, ruleset = summary["game"], describer.name_ruleset(summary["ruleset"], lang)
    task = describer.name_decision(summary, decision["kind"], lang)
    event = describer.name_event_tables([game], ruleset).get(game) if with_event else None
    title = ": ".join(filter(None, (describer.find_titles([game]).get(game) or event or ruleset, task)))
    others = [seat["seat"] for seat in summary["seats"] if seat["seat"] not in seats]
    note = f"{ruleset}: {describer.name_seats(summary, seats, lang)}"
    note += f"\n{describer.name_seats(summary, others, lang, with_people=True)}" if others else ""
    return Deadline(game, decision["id"], tuple(seats), due, summary["at"], title, note)


def build_calendar(name: str, deadlines: Iterable[Deadline]) -> bytes:
    """Return an iCalendar document with an event for each deadline. It holds no id of a game."""
    from icalendar import Calendar, Event  # noqa: PLC0415 - large, and few services make calendars

    calendar = Calendar()
    for key, value in (("prodid", _PRODUCT), ("version", "2.0"), ("method", "PUBLISH"), ("x-wr-calname", name)):
        calendar.add(key, value)
    calendar.add("refresh-interval", REFRESH, parameters={"VALUE": "DURATION"})
    for each in sorted(deadlines, key=lambda each: (each.due, each.game, each.decision, each.seats)):
        event = Event()
        event.add("uid", _make_uid(each))
        event.add("dtstamp", _to_datetime(each.changed))
        event.add("dtstart", _to_datetime(each.due))
        event.add("summary", each.title)
        event.add("description", each.note)
        event.add("transp", "TRANSPARENT")  # nobody is busy at that time
        calendar.add_component(event)
    return bytes(calendar.to_ical())


def _make_uid(deadline: Deadline) -> str:
    """Return an id that stays when the deadline moves; the game's id does not follow from it."""
    marked = msgspec.json.encode([deadline.game, deadline.decision, deadline.seats])
    return f"{hashlib.sha256(marked).hexdigest()[:32]}@annals"


def _to_datetime(ms: int) -> datetime:
    return datetime.fromtimestamp(ms // 1000, UTC)
