"""The group chat of a table over HTTP: who may name it, and what the table is told of it."""

from __future__ import annotations

import pytest

from domain.accounts.sessions import FRESH
from tests.api.conftest import Site, Table, refused
from tests.api.members import Member, register, timed
from tests.api.test_feeds import seated

WISH = {"url": "https://hooks.example.org/services/T0/secret", "language": "fr"}


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


@pytest.fixture
def table(site: Site, anne: Member) -> Table:
    return seated(site, anne)


class TestNaming:
    def test_its_host_is_told_to_the_table_and_its_address_to_none(self, anne: Member, table: Table) -> None:
        refused(table.get("/chat", 1), 404, "not_found")
        made = anne.put(f"{table.path}/chat", WISH)
        assert made.status_code == 200, made.text
        assert (made.json["host"], made.json["by"]) == ("hooks.example.org", anne.doc["player"])
        for who in (1, 2, "director"):
            assert table.get("/chat", who).json == made.json
        assert "secret" not in made.text + repr(table.site.services.ledger.execute("SELECT * FROM webhooks"))
        refused(table.get("/chat"), 401, "unauthenticated")
        refused(register(table.site, "Bob").get(f"{table.path}/chat"), 403, "not_at_table")
        log = [(each["what"], each["detail"]) for each in anne.get("/me/audit").json["items"]]
        assert ("chat_set", table.game) in log

    def test_another_takes_its_place_and_all_there_may_remove_it(self, anne: Member, table: Table) -> None:
        for n in range(2):
            assert anne.put(f"{table.path}/chat", {"url": f"https://hooks{n}.example.org/x"}).status_code == 200
        assert table.get("/chat", 1).json["host"] == "hooks1.example.org"
        assert len(table.site.services.ledger.execute("SELECT * FROM webhooks")) == 1
        assert table.site.delete(f"{table.path}/chat", table.tokens[1]).status_code == 204
        refused(table.site.delete(f"{table.path}/chat", table.tokens[1]), 404, "not_found")
        for name in ("webhooks", "chats", "deliveries"):
            assert table.site.services.ledger.execute(f"SELECT * FROM {name}") == []  # noqa: S608 - our own names

    def test_it_needs_an_account_and_password_that_was_shown_lately(self, site: Site) -> None:
        watch = timed(site)
        anne = register(site)
        table = seated(site, anne)
        refused(site.put(f"{table.path}/chat", WISH, table.tokens[1]), 403, "accounts_only")
        refused(site.put(f"{table.path}/chat", WISH, anne.personal("read", "play")), 403, "session_required")
        watch.now += FRESH
        refused(anne.put(f"{table.path}/chat", WISH), 403, "password_required")

    @pytest.mark.parametrize(
        "url", ["http://hooks.example.org/", "https://127.0.0.1/", "https://hooks.example.org:80/"]
    )
    def test_an_address_is_what_that_of_a_webhook_may_be(self, anne: Member, table: Table, url: str) -> None:
        refused(anne.put(f"{table.path}/chat", {"url": url}), 422, "webhook_refused")

    def test_a_table_with_a_delay_has_none(self, site: Site, anne: Member) -> None:
        table = seated(site, anne, delay=3600)
        refused(anne.put(f"{table.path}/chat", WISH), 422, "webhook_refused")

    def test_it_is_no_webhook_of_the_account_and_is_among_its_data(self, anne: Member, table: Table) -> None:
        chat = anne.put(f"{table.path}/chat", WISH).json
        assert anne.get("/me/webhooks").json["items"] == []
        assert anne.get("/me/data").json["chats"] == [chat | {"game": table.game}]
        assert anne.delete("/me").status_code == 204
        refused(table.get("/chat", 1), 404, "not_found")
