"""Feeds: a table's chronicle as Atom, deadlines as iCalendar, and the key that a calendar program holds."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from icalendar import Calendar

from tests.api.conftest import Site, Table, refused
from tests.api.members import Member, register, timed

PACE: dict[str, Any] = {"pace": {"seconds": {"turn": 86_400}}}
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


@pytest.fixture
def table(site: Site, anne: Member) -> Table:
    """A running table for three with deadlines, at which seat 0 is Anne's."""
    return seated(site, anne)


def seated(site: Site, who: Member, **terms: Any) -> Table:
    made = site.table("orders@1", 3, start=False, **PACE, **terms)
    assert site.delete(f"{made.path}/seats/0", made.tokens[0]).status_code == 200
    assert who.post(f"{made.path}/seats", {"seat": 0}).status_code == 201
    assert who.post(f"{made.path}/start").status_code == 201
    return made


def _ms(count: int) -> timedelta:
    return timedelta(seconds=count // 1000)


def events(answer: Any) -> list[Any]:
    assert answer.status_code == 200, answer.text
    assert answer.content_type.startswith("text/calendar")
    return Calendar.from_ical(answer.data).walk("VEVENT")


class TestAtom:
    def test_it_holds_lines_that_everybody_may_read_newest_first(self, anne: Member, table: Table) -> None:
        answer = table.site.get(f"{table.path}/feed?lang=fr")
        assert answer.content_type.startswith("application/atom+xml")
        feed = ET.fromstring(answer.data)  # noqa: S314 - our own
        assert feed.attrib["{http://www.w3.org/XML/1998/namespace}lang"] == "fr"
        titles = [str(entry.findtext(f"{ATOM}title")) for entry in feed.iter(f"{ATOM}entry")]
        told = table.site.get(f"{table.path}/timeline?lang=fr").json["items"]
        assert titles == [entry["text"][0] for entry in reversed(told) if entry["text"]]
        assert anne.get(f"{table.path}/feed?lang=fr").data == answer.data
        again = table.site.get(f"{table.path}/feed?lang=fr", If_None_Match=answer.headers["ETag"])
        assert again.status_code == 304

    def test_each_entry_keeps_its_id(self, table: Table) -> None:
        def ids() -> list[str]:
            feed = ET.fromstring(table.get("/feed").data)  # noqa: S314 - our own
            return [str(entry.findtext(f"{ATOM}id")) for entry in feed.iter(f"{ATOM}entry")]

        before = ids()
        table.move(1, {"type": "submit"})
        after = ids()
        assert len(set(after)) == len(after) > len(before)
        assert after[-len(before) :] == before

    def test_names_make_no_markup(self, site: Site) -> None:
        table = site.table("orders@1", 2, start=False)
        assert site.delete(f"{table.path}/seats/0", table.tokens[0]).status_code == 200
        assert table.post("/seats", {"seat": 0, "name": "<b>&amp;]]>"}).status_code == 201
        feed = ET.fromstring(table.get("/feed").data)  # noqa: S314 - our own
        assert "<b>&amp;]]>" in "".join(feed.itertext())


class TestCalendars:
    def test_persons_calendar_has_event_for_each_deadline_hers(self, anne: Member, table: Table) -> None:
        bob = register(table.site, "Bob")
        (event,) = events(anne.get("/me/calendar"))
        board = anne.get(f"{table.path}/board").json["decisions"][0]
        assert event["DTSTART"].dt == datetime.fromisoformat("1970-01-01T00:00:00+00:00") + _ms(board["due"]["0"])
        assert "seat 1" in str(event["DESCRIPTION"])
        assert events(bob.get("/me/calendar")) == []
        done = anne.post(f"{table.path}/moves", {"move": {"type": "submit"}, "decision": table.decision})
        assert done.status_code == 201
        assert events(anne.get("/me/calendar")) == []

    def test_a_deadline_that_moves_is_the_same_event(self, anne: Member, table: Table) -> None:
        (before,) = events(anne.get("/me/calendar"))
        body = {"decision": table.decision, "seconds": 3600}
        assert table.post("/extensions", body, table.director).status_code == 201
        (after,) = events(anne.get("/me/calendar"))
        assert (after["UID"], after["DTSTART"].dt > before["DTSTART"].dt) == (before["UID"], True)

    def test_a_tables_calendar_tells_what_everybody_may_know(self, anne: Member, table: Table) -> None:
        (event,) = events(table.get("/calendar"))
        assert "seat 1, seat 2 and seat 3" in str(event["DESCRIPTION"])
        assert anne.get(f"{table.path}/calendar").data == table.get("/calendar").data

    def test_outside_of_a_table_with_a_delay_nothing_is_told_early(self, site: Site, anne: Member) -> None:
        table = seated(site, anne, delay=3600)
        assert table.move(1, {"type": "submit"}).status_code == 201
        spectators, players = (who.get(f"{table.path}/timeline").json["items"] for who in (site, anne))
        assert len(spectators) < len(players)
        for path, count in (("feed", b"<entry>"), ("calendar", b"VEVENT")):
            told = table.get(f"/{path}")
            assert anne.get(f"{table.path}/{path}").data == told.data
            assert told.data.count(count) == (len(spectators) if path == "feed" else 0)

    def test_a_look_at_a_feed_is_no_look_at_the_table(self, site: Site, anne: Member) -> None:
        site.remake(mail=True)
        table = seated(site, anne)
        site.services.ledger.execute("INSERT INTO mail_unread VALUES (?, ?, 'turn.due', 1)", (anne.id, table.game))
        for path in (f"{table.path}/feed", f"{table.path}/calendar", "/me/calendar"):
            assert anne.get(path).status_code == 200
        assert len(site.services.ledger.execute("SELECT * FROM mail_unread")) == 1


class TestKeys:
    def test_a_key_opens_the_deadlines_and_nothing_else(
        self,
        site: Site,
        anne: Member,
        table: Table,
        caplog: pytest.LogCaptureFixture,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        caplog.set_level(logging.DEBUG)
        made = anne.post("/me/calendar-key")
        assert (made.status_code, made.headers["Cache-Control"]) == (201, "no-store")
        key = made.json["key"]
        assert made.json["address"].endswith(f"/v1/calendar?key={key}")
        answer = site.get(f"/calendar?key={key}")
        assert events(answer)
        assert answer.data == anne.get("/me/calendar").data
        assert table.game.encode() not in answer.data
        for path in ("/me", "/me/calendar", f"{table.path}/board"):
            refused(site.get(path, key), 401, "unauthenticated")
        assert anne.get("/me/calendar-key").json == {"made": made.json["made"]}
        kept = repr(site.services.ledger.execute("SELECT * FROM calendar_keys"))
        assert key not in kept
        assert key not in caplog.text
        assert key not in "".join(capfd.readouterr())

    def test_a_new_one_ends_the_old_one_and_it_can_be_revoked(self, site: Site, anne: Member) -> None:
        first, second = (anne.post("/me/calendar-key").json["key"] for _ in range(2))
        refused(site.get(f"/calendar?key={first}"), 404, "not_found")
        assert site.get(f"/calendar?key={second}").status_code == 200
        assert anne.delete("/me/calendar-key").status_code == 204
        refused(site.get(f"/calendar?key={second}"), 404, "not_found")
        refused(anne.delete("/me/calendar-key"), 404, "not_found")
        refused(anne.get("/me/calendar-key"), 404, "not_found")
        log = [each["what"] for each in anne.get("/me/audit").json["items"]]
        assert (log.count("calendar_key_made"), log.count("calendar_key_revoked")) == (2, 1)

    def test_it_ends_with_the_account(self, site: Site, anne: Member) -> None:
        keys = [anne.post("/me/calendar-key").json["key"]]
        bob = register(site, "Bob")
        keys.append(bob.post("/me/calendar-key").json["key"])
        assert anne.delete("/me").status_code == 204
        site.services.account_store.accounts.set_state(bob.id, "banned", 0, [])
        for key in keys:
            refused(site.get(f"/calendar?key={key}"), 404, "not_found")
        assert len(site.services.ledger.execute("SELECT * FROM calendar_keys")) == 1

    @pytest.mark.parametrize("key", ["", "x", "ank_0123456789abcdef_" + "a" * 43 + "%0A"])
    def test_what_is_no_key(self, site: Site, key: str) -> None:
        refused(site.get(f"/calendar?key={key}"), 422, "invalid_query")

    def test_to_make_one_the_password_was_shown_lately(self, site: Site) -> None:
        from domain.accounts.sessions import FRESH

        watch = timed(site)
        anne = register(site)
        refused(site.post("/me/calendar-key", token=anne.personal("read", "play")), 403, "session_required")
        watch.now += FRESH
        refused(anne.post("/me/calendar-key"), 403, "password_required")
