"""Tables whose decisions fall due at an hour of the day."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from icalendar import Calendar

from api.paces import list_offsets
from domain.kernel.game.daily_hour import parse_daily_hour
from domain.kernel.game.deadlines import DAY
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.table_commands import Start
from tests.api.conftest import Site, refused
from tests.template import RULESET
from workers.context import set_context
from workers.jobs import proposals

DAILY = {"hour": "20:00", "zone": "Europe/Paris", "days_off": [6, 7]}
PACE = {"seconds": {"turn": 43_200}, "daily": DAILY}


def expect_deadline(now: int) -> int:
    """The deadline by the calendar of Paris, ms, for a decision opened at a time."""
    earliest = datetime.fromtimestamp(now / 1000, ZoneInfo("UTC")) + timedelta(hours=12)
    local = earliest.astimezone(ZoneInfo("Europe/Paris"))
    found = local.replace(hour=20, minute=0, second=0, microsecond=0)
    while found < local or found.isoweekday() > 5:
        found += timedelta(days=1)
    return round(found.timestamp() * 1000)


def test_a_table_by_the_hour_shows_the_same_deadline_everywhere(site: Site) -> None:
    """In lists, decisions and calendars; the record has the offsets, and the summary the hour as it was sent."""
    table = site.table("orders@1", 3, pace=PACE)
    summary = table.get().json
    due = expect_deadline(summary["waiting_since"])
    assert summary["pace"]["daily"] == DAILY
    assert (summary["deadline"], table.get("/decisions").json["decisions"][0]["deadline"]) == (due, due)
    (event,) = Calendar.from_ical(table.get("/calendar").data).walk("VEVENT")
    assert round(event.decoded("dtstart").timestamp() * 1000) == due
    daily = site.services.ledger.read(table.game)[0].body["pace"]["daily"]
    assert daily["offsets"][1] == [196_819_200_000, 7200], "the first summer time of France after 1970"
    first = table.get("/timeline").json["items"][0]
    assert first["body"]["daily"] == DAILY
    assert first["text"] == ["The game is opened. Decisions fall due at 20:00 (Europe/Paris)."]
    assert table.get("/timeline?lang=fr").json["items"][0]["text"] == [
        "La partie est ouverte. Les décisions sont à rendre pour 20:00 (Europe/Paris)."
    ]
    assert table.post("/close", {"reason": "void"}, table.director).status_code == 201
    assert table.get("/audit").json["proved"] is True
    again = table.post("/rematches", {}, table.tokens[0]).json["game"]
    assert site.get(f"/games/{again}").json["pace"] == summary["pace"]


def test_players_agree_on_an_hour_as_of_the_proposal(site: Site) -> None:
    """A repetition of the proposal gets the same answer."""
    table = site.table("orders@1", 3)
    act = {"act": "pace", "pace": PACE}
    made = [table.post("/proposals", act, table.tokens[0], Idempotency_Key="hour-of-the-day-1") for _ in range(2)]
    assert (made[0].status_code, made[0].data) == (202, made[1].data)
    assert made[0].json["act"] == act
    for seat in (1, 2):
        table.post(f"/proposals/{made[0].json['id']}/consents", {"agrees": True}, table.tokens[seat])
    set_context(site.context)
    proposals.run_proposal(made[0].json["id"])
    summary = table.get().json
    assert summary["deadline"] == expect_deadline(summary["at"])


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"zone": "Europe/Lutetia"}, "/pace/daily/zone"),
        ({"zone": "../Paris"}, "/pace/daily/zone"),
        ({"hour": "25:00"}, "/pace/daily/hour"),
        ({"days_off": list(range(1, 8))}, "/pace/daily/days_off"),
        ({"offsets": [[0, 0]]}, "/pace/daily"),
        ({"hour": None}, "/pace/daily/hour"),
    ],
)
def test_an_hour_that_makes_no_sense_is_refused_with_its_place(site: Site, change: Any, pointer: str) -> None:
    body = {"ruleset": "orders@1", "seats": 3, "pace": {**PACE, "daily": DAILY | change}}
    answer = refused(site.post("/games", body), 422, "invalid_table")
    assert answer["errors"][0]["at"] == pointer


@pytest.mark.parametrize(
    "name", ["Europe/Paris", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"]
)
def test_the_offsets_of_a_pace_are_those_of_its_zone(name: str) -> None:
    """For ten years; half hours, changes of half an hour, and four changes in a year too."""
    zone, begin = ZoneInfo(name), 1_795_000_000_123
    end = begin + 3653 * DAY
    hour = parse_daily_hour({"hour": "08:15", "zone": name, "days_off": [], "offsets": list_offsets(zone, begin, end)})
    at = begin + DAY
    for _ in range(3650):
        at = hour.next_time(at + 1)
        assert f"{datetime.fromtimestamp(at / 1000, zone):%H:%M:%S}" == "08:15:00"


@pytest.mark.parametrize(
    ("name", "days"),
    [
        ("Europe/Paris", ("03-29", "10-25")),
        ("America/St_Johns", ("03-08", "11-01")),
        ("Australia/Lord_Howe", ("04-05", "10-04")),  # by half an hour
    ],
)
def test_a_table_is_played_over_both_changes_of_the_clocks(name: str, days: tuple[str, str]) -> None:
    """At an hour that one change skips and the other repeats. Every other decision lapses."""
    zone, hours = ZoneInfo(name), set()
    for day in days:
        begin = round(
            (datetime.fromisoformat(f"2026-{day} 09:00").replace(tzinfo=zone) - timedelta(3)).timestamp() * 1000
        )
        daily = {
            "hour": "02:15",
            "zone": name,
            "days_off": [],
            "offsets": list_offsets(zone, begin - DAY, begin + 30 * DAY),
        }
        game = InMemoryGame(RULESET, 2, bytes(32), pace={"seconds": {"move": 43_200}, "daily": daily}, start=False)
        game.now = begin
        game.execute(Start())
        for turn in range(6):
            due, earliest = game.game.deadline, datetime.fromtimestamp(game.game.time / 1000 + 43_200, zone)
            night = earliest.replace(hour=2, minute=15, second=0, microsecond=0, tzinfo=None)
            nights = [(night + timedelta(n)).replace(tzinfo=zone).timestamp() * 1000 for n in (-1, 0, 1)]
            assert due == min(time for time in nights if time >= earliest.timestamp() * 1000)
            hours.add(f"{datetime.fromtimestamp(due / 1000, zone):%H:%M}")
            game.now = round(due) - 3_600_000
            game.lapse() if turn % 2 else game.play(game.state.top.owing[0], {"type": "take", "count": 1})
    assert len(hours) == 2, "the hour, and the one in its place where it is skipped"
