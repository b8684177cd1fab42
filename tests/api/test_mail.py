"""Mail over HTTP: whose address it is, what is told of it, and the link that ends it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.http.login_throttle import FREE_FAILURES, LONGEST_WAIT
from domain.accounts.sessions import FRESH
from domain.notifications.email_subscriptions import CODES_A_DAY, CODES_OF_ADDRESS, TYPES, EmailSubscription
from tests.api.conftest import Site, Table, refused
from tests.api.members import Member, register, timed

WISH = {"address": "anne@example.org", "events": ["game.over", "turn.due"], "digest": "daily", "hour": 6}


@pytest.fixture
def sending(site: Site) -> Site:
    """It sends mail."""
    site.remake(mail=True)
    return site


@pytest.fixture
def anne(sending: Site) -> Member:
    return register(sending)


def codes(site: Site) -> list[str]:
    """All that wait to be sent, the newest last."""
    rows = site.services.ledger.execute("SELECT id, box FROM deliveries WHERE type = 'mail.confirm' ORDER BY made")
    keys = site.services.ledger.keys
    found = (keys.open("notices", f"delivery|{id_}", bytes.fromhex(box)) for id_, box in rows)
    return [json.loads(body)["data"]["code"] for body in found]


def confirmed(who: Member, **more: Any) -> EmailSubscription:
    assert who.put("/me/mail", WISH | more).status_code == 200
    assert who.post("/me/mail/confirmations", {"code": codes(who.site)[-1]}).status_code == 200
    found = who.site.services.notifications.email_subscriptions.find_by_account(who.id)
    assert found
    return found


class TestKeeping:
    def test_an_address_is_confirmed_by_its_code(self, sending: Site, anne: Member) -> None:
        refused(anne.get("/me/mail"), 404, "not_found")
        refused(anne.post("/me/mail/confirmations", {"code": "AAAAAAAAAA"}), 404, "not_found")
        kept = anne.put("/me/mail", WISH)
        assert (kept.status_code, kept.json["state"], kept.json["next"]) == (200, "waiting", None)
        assert kept.json["events"] == ["turn.due", "game.over"]
        refused(anne.post("/me/mail/confirmations", {"code": "AAAAAAAAAA"}), 403, "wrong_credentials")
        again, shown = (anne.post("/me/mail/confirmations", {"code": codes(sending)[0]}) for _ in range(2))
        assert (again.status_code, shown.status_code, shown.json["state"]) == (200, 200, "on")
        assert anne.get("/me/mail").json == shown.json
        assert anne.get("/me/data").json["mail"] == [shown.json]
        assert shown.json["next"]
        log = [each["what"] for each in anne.get("/me/audit").json["items"]]
        assert (log.count("mail_changed"), log.count("mail_confirmed")) == (1, 1)
        changed = anne.put("/me/mail", WISH | {"digest": "none"})
        assert (changed.json["state"], changed.json["next"]) == ("on", None)
        assert len(codes(sending)) == 1

    def test_it_needs_session_and_a_password_that_was_shown_lately(self, site: Site) -> None:
        site.remake(mail=True)
        watch = timed(site)
        anne = register(site)
        token = anne.personal("read", "play")
        refused(site.put("/me/mail", WISH, token), 403, "session_required")
        refused(site.get("/me/mail", token), 403, "session_required")
        watch.now += FRESH
        refused(anne.put("/me/mail", WISH), 403, "password_required")

    def test_where_no_mail_is_sent_that_is_said_and_address_can_go(self, site: Site, anne: Member) -> None:
        confirmed(anne)
        site.remake(mail=False)
        refused(anne.get("/me/mail"), 409, "mail_off")
        refused(anne.put("/me/mail", WISH), 409, "mail_off")
        refused(anne.post("/me/mail/confirmations", {"code": "AAAAAAAAAA"}), 409, "mail_off")
        assert anne.delete("/me/mail").status_code == 204

    @pytest.mark.parametrize(
        "more",
        [
            {"address": "anne@example.org\n"},
            {"address": "a@example.org\r\nBcc: b@example.org"},
            {"address": f"{'a' * 250}@example.org"},
            {"address": f"{'a' * 65}@example.org"},
            {"events": ["challenge.made"]},
            {"events": ["turn.due"] * (len(TYPES) + 1)},
            {"digest": "hourly"},
            {"hour": 24},
            {"hour": True},
            {"language": "de"},
            {"state": "on"},
        ],
    )
    def test_what_does_not_fit(self, anne: Member, more: dict[str, Any]) -> None:
        assert anne.put("/me/mail", WISH | more).status_code == 422

    def test_an_address_that_programs_read_as_another_is_refused(self, sending: Site, anne: Member) -> None:
        """By such forms one address could be sent any number of codes."""
        refused(anne.put("/me/mail", WISH | {"address": "=?utf-8?q?v?=@example.org"}), 422, "webhook_refused")
        assert codes(sending) == []

    def test_nobody_learns_that_others_have_an_address(self, sending: Site, anne: Member) -> None:
        mine = confirmed(anne)
        for n in range(CODES_OF_ADDRESS):
            bob = register(sending, f"Bob {n}")
            kept = bob.put("/me/mail", WISH)
            assert (kept.status_code, kept.json["state"]) == (200, "waiting")
        assert len(codes(sending)) == CODES_OF_ADDRESS
        assert sending.services.notifications.email_subscriptions.find_by_account(anne.id) == mine

    def test_codes_of_an_account_and_guesses_are_bounded(self, anne: Member, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "api.http.login_throttle._wait_after", lambda count: LONGEST_WAIT if count >= FREE_FAILURES else 0.0
        )
        found = [anne.put("/me/mail", WISH | {"address": f"a{n}@example.org"}) for n in range(CODES_A_DAY + 1)]
        assert {answer.status_code for answer in found[:-1]} == {200}
        refused(found[-1], 409, "too_many")
        guesses = [anne.post("/me/mail/confirmations", {"code": "AAAAAAAAAA"}) for _ in range(FREE_FAILURES + 1)]
        refused(guesses[-1], 429, "too_many_requests")

    def test_it_is_removed_and_goes_with_the_account(self, sending: Site, anne: Member) -> None:
        confirmed(anne)
        assert anne.delete("/me/mail").status_code == 204
        refused(anne.delete("/me/mail"), 404, "not_found")
        confirmed(anne)
        assert anne.delete("/me").status_code == 204
        for table in ("webhooks", "deliveries", "mailboxes"):
            assert sending.services.ledger.execute(f"SELECT * FROM {table}") == []  # noqa: S608 - our own names

    def test_it_is_no_webhook(self, anne: Member) -> None:
        box = confirmed(anne)
        assert anne.get("/me/webhooks").json["items"] == []
        refused(anne.get(f"/me/webhooks/{box.webhook}/deliveries"), 404, "not_found")
        refused(anne.delete(f"/me/webhooks/{box.webhook}"), 404, "not_found")


class TestTheLink:
    def test_to_look_changes_nothing_and_to_send_ends_it(
        self, sending: Site, anne: Member, capfd: pytest.CaptureFixture[str]
    ) -> None:
        box = confirmed(anne)
        path = f"/mail/end?token={box.token}"
        capfd.readouterr()
        for ask in (sending.client.get, sending.client.head):
            assert ask(path).status_code == 200
        assert anne.get("/me/mail").json["state"] == "on"
        page = sending.client.get(path, headers={"Accept-Language": "fr"})
        assert 'method="post"' in page.text
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        assert "script-src" not in page.headers["Content-Security-Policy"]
        for name in (anne.id, box.preferences.address, str(anne.doc["player"])):
            assert name not in page.text
        for _ in range(2):
            assert sending.client.post(path).status_code == 200
        assert anne.get("/me/mail").json["state"] == "off"
        assert [each["what"] for each in anne.get("/me/audit").json["items"]].count("mail_off") == 1
        said = "".join(capfd.readouterr())
        assert "/mail/end" in said
        assert box.token not in said

    @pytest.mark.parametrize("media", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
    def test_one_click_of_a_program_ends_it(self, sending: Site, anne: Member, media: str) -> None:
        """RFC 8058: a form with one field, from anywhere, without a cookie."""
        box = confirmed(anne)
        body = "List-Unsubscribe=One-Click"
        if media.startswith("multipart"):
            body = '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n'
        answer = sending.client.post(
            f"/mail/end?token={box.token}", data=body, content_type=media, headers={"Sec-Fetch-Site": "cross-site"}
        )
        assert answer.status_code == 200
        assert anne.get("/me/mail").json["state"] == "off"

    @pytest.mark.parametrize("token", ["", "x", "x" * 5000, "%00", "é"])
    def test_another_one_leads_nowhere(self, sending: Site, anne: Member, token: str) -> None:
        confirmed(anne)
        for ask in (sending.client.get, sending.client.post):
            assert ask(f"/mail/end?token={token}").status_code == 404
        assert anne.get("/me/mail").json["state"] == "on"

    def test_that_of_an_address_before_ends_nothing(self, sending: Site, anne: Member) -> None:
        before = confirmed(anne)
        confirmed(anne, address="other@example.org")
        assert sending.client.post(f"/mail/end?token={before.token}").status_code == 404
        assert anne.get("/me/mail").json["state"] == "on"


class TestLooking:
    """A person who has looked at a table gets the next mail about it."""

    @pytest.fixture
    def table(self, sending: Site, anne: Member) -> Table:
        made = sending.table("orders@1", 3, start=False)
        assert sending.delete(f"{made.path}/seats/0", made.tokens[0]).status_code == 200
        assert anne.post(f"{made.path}/seats", {"seat": 0}).status_code == 201
        assert anne.post(f"{made.path}/start").status_code == 201
        for game in (made.game, "another"):
            made.site.services.ledger.execute("INSERT INTO mail_unread VALUES (?, ?, 'turn.due', 1)", (anne.id, game))
        return made

    @staticmethod
    def unread(table: Table) -> list[str]:
        return [game for (game,) in table.site.services.ledger.execute("SELECT game FROM mail_unread ORDER BY game")]

    @pytest.mark.parametrize("path", ["board", "decisions", "resume", "timeline", "stream", "moves"])
    def test_a_request_at_the_table_is_a_look(self, anne: Member, table: Table, path: str) -> None:
        if path == "moves":
            done = anne.post(f"{table.path}/moves", {"move": {"type": "submit"}, "decision": table.decision})
        else:
            done = anne.get(f"{table.path}/{path}", **({"Last_Event_ID": "1"} if path == "stream" else {}))
        assert done.status_code < 300, done.text
        assert self.unread(table) == ["another"]

    def test_a_ticket_and_its_stream_are_looks(self, anne: Member, table: Table) -> None:
        ticket = anne.post(f"/stream-tickets?game={table.game}").json["ticket"]
        assert self.unread(table) == ["another"]
        table.site.services.ledger.execute("UPDATE mail_unread SET game = ?", (table.game,))
        assert table.get(f"/stream?ticket={ticket}").status_code == 200
        assert self.unread(table) == []

    def test_what_others_read_is_none(self, table: Table) -> None:
        bob = register(table.site, "Bob")
        for answer in (table.get("/board"), table.get("/board", 1), bob.get(f"{table.path}/board")):
            assert answer.status_code == 200
        assert len(self.unread(table)) == 2
