"""Webhooks over HTTP: whose they are, what is shown, and that whatever is repeated is done once."""

from __future__ import annotations

from typing import Any

import pytest

from api.http.rate_limits import NOTIFICATION_QUOTA
from domain.accounts.sessions import FRESH
from tests.api.conftest import Site, refused
from tests.api.members import Member, register, timed

NEW = {"url": "https://receiver.example/x", "about": "mine"}


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


def made(who: Member, **more: Any) -> Any:
    found = who.post("/me/webhooks", NEW | more)
    assert found.status_code == 201, found.text
    return found.json


class TestMaking:
    def test_the_secret_is_shown_once(self, anne: Member) -> None:
        hook = made(anne)
        secret = hook.pop("secret")
        assert secret.startswith("whsec_")
        assert anne.get("/me/webhooks").json["items"] == [hook]
        assert anne.get(f"/me/webhooks/{hook['id']}").json == hook
        assert anne.get("/me/data").json["webhooks"] == [hook]
        assert [each["what"] for each in anne.get("/me/audit").json["items"]].count("webhook_made") == 1

    def test_under_a_key_it_is_made_once(self, anne: Member) -> None:
        found = [anne.post("/me/webhooks", NEW, Idempotency_Key="key-one-two") for _ in range(2)]
        assert found[0].json == found[1].json
        assert len(anne.get("/me/webhooks").json["items"]) == 1

    def test_it_needs_a_password_that_was_shown_lately(self, site: Site) -> None:
        watch = timed(site)
        anne = register(site)
        hook = made(anne)["id"]
        watch.now += FRESH
        for method, path, body in (
            ("POST", "", NEW),
            ("PUT", f"/{hook}", {"url": NEW["url"]}),
            ("POST", f"/{hook}/rotations", None),
        ):
            ask = anne.post if method == "POST" else anne.put
            refused(ask(f"/me/webhooks{path}", body), 403, "password_required")

    @pytest.mark.parametrize(
        "url", ["http://a.example/", "https://localhost/", "https://a.example:25/", "https://u:p@a.example/"]
    )
    def test_an_address_that_will_not_do(self, anne: Member, url: str) -> None:
        refused(anne.post("/me/webhooks", NEW | {"url": url}), 422, "webhook_refused")

    @pytest.mark.parametrize(
        ("url", "fault"), [("https:///hook", "has no host"), ("https://localhost:9444/hook", "must be a full name")]
    )
    def test_host_that_is_missing_is_told_from_one_of_another_form(self, anne: Member, url: str, fault: str) -> None:
        doc = refused(anne.post("/me/webhooks", NEW | {"url": url}), 422, "webhook_refused")
        assert fault in doc["detail"]

    def test_of_each_it_is_told_what_there_is(self, anne: Member) -> None:
        refused(anne.post("/me/webhooks", NEW | {"events": ["table.opened"]}), 422, "webhook_refused")
        assert made(anne, events=["turn.due"])["events"] == ["turn.due"]
        assert made(anne, about="lobby")["events"] == ["table.opened", "table.started", "table.closed", "event.opened"]

    def test_one_of_a_table_is_for_who_has_a_role_there(self, site: Site, anne: Member) -> None:
        table = site.table("orders@1", 3)
        refused(anne.post("/me/webhooks", NEW | {"about": "table", "game": table.game}), 403, "not_at_table")
        refused(anne.post("/me/webhooks", NEW | {"about": "table"}), 422, "webhook_refused")
        refused(anne.post("/me/webhooks", NEW | {"game": table.game}), 422, "webhook_refused")
        own = anne.post("/games", {"ruleset": "orders@1", "seats": 3}).json["game"]
        assert made(anne, about="table", game=own)["game"] == own

    def test_where_the_operator_sends_none(self, site: Site, anne: Member) -> None:
        site.remake(webhooks="none")
        refused(anne.post("/me/webhooks", NEW), 422, "webhook_refused")


class TestKeeping:
    def test_whatever_is_somebody_elses_is_not_there(self, site: Site, anne: Member) -> None:
        hook, bob = made(anne)["id"], register(site, "Bob")
        test = anne.post(f"/me/webhooks/{hook}/tests").json["id"]
        own = made(bob)["id"]
        path = f"/me/webhooks/{hook}"
        for answer in (
            bob.get(path),
            bob.put(path, {"url": NEW["url"]}),
            bob.delete(path),
            bob.post(f"{path}/rotations"),
            bob.post(f"{path}/tests"),
            bob.get(f"{path}/deliveries"),
            bob.post(f"{path}/deliveries/{test}/replays"),
            bob.post(f"/me/webhooks/{own}/deliveries/{test}/replays"),
        ):
            refused(answer, 404, "not_found")

    def test_it_is_changed_and_switched_off(self, anne: Member) -> None:
        hook = made(anne)["id"]
        path = f"/me/webhooks/{hook}"
        for _ in range(2):
            changed = anne.put(path, {"url": "https://other.example/", "events": ["game.over"], "on": False})
            assert (changed.json["url"], changed.json["events"], changed.json["state"]) == (
                "https://other.example/",
                ["game.over"],
                "off",
            )
        refused(anne.post(f"{path}/tests"), 409, "webhook_off")
        assert anne.put(path, {"url": NEW["url"]}).json["state"] == "on"
        assert anne.post(f"{path}/tests").status_code == 202
        assert anne.delete(path).status_code == 204
        refused(anne.delete(path), 404, "not_found")

    def test_a_secret_is_replaced(self, anne: Member) -> None:
        hook = made(anne)
        path = f"/me/webhooks/{hook['id']}/rotations"
        found = [anne.post(path, Idempotency_Key="key-one-two").json["secret"] for _ in range(2)]
        assert found[0] == found[1] != hook["secret"]
        assert anne.post(path).json["secret"] not in (found[0], hook["secret"])

    def test_deliveries_come_in_pages(self, anne: Member) -> None:
        hook = made(anne)["id"]
        sent = [anne.post(f"/me/webhooks/{hook}/tests").json["id"] for _ in range(5)]
        seen, path = [], f"/me/webhooks/{hook}/deliveries?limit=2"
        while path:
            page = anne.get(path.removeprefix("/v1")).json
            seen += [each["id"] for each in page["items"]]
            path = page["next"] or ""
        assert sorted(seen) == sorted(sent)
        assert anne.get(f"/me/webhooks/{hook}/deliveries?status=dead").json["items"] == []
        (first, *_) = anne.get(f"/me/webhooks/{hook}/deliveries").json["items"]
        assert (first["type"], first["state"], first["tries"], first["log"]) == ("webhook.test", "waiting", 0, [])

    def test_trials_are_counted(self, site: Site, anne: Member) -> None:
        site.remake(rate=50.0)
        hook = made(anne)["id"]
        found = [anne.post(f"/me/webhooks/{hook}/tests").status_code for _ in range(NOTIFICATION_QUOTA + 1)]
        assert found[-1] == 429
        assert set(found[:-1]) == {202}

    def test_who_erases_the_account_leaves_none(self, site: Site, anne: Member) -> None:
        hook = made(anne)["id"]
        anne.post(f"/me/webhooks/{hook}/tests")
        assert anne.delete("/me").status_code == 204
        for table in ("webhooks", "deliveries"):
            assert site.services.ledger.execute(f"SELECT * FROM {table}") == []  # noqa: S608 - our own names


def test_what_is_sent_is_documented(site: Site) -> None:
    doc = site.get("/openapi.json").json
    assert set(doc["webhooks"]) >= {"turn.due", "deadline.near", "game.over", "challenge.made", "table.changed"}
    schema = doc["webhooks"]["turn.due"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert schema["properties"]["data"] == {"$ref": "#/components/schemas/TurnNotice"}
    assert "TurnNotice" in doc["components"]["schemas"]
