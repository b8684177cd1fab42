"""What is known of people, what they may have erased, and what moderators do."""

from __future__ import annotations

from typing import Any

import pytest

from domain.accounts.accounts import FREED, no_statements
from domain.accounts.audit_log import KEPT
from domain.errors import AccountError
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.members import OTHER, PASSWORD, Member, Watch, log_in, promoted, register, timed
from tests.api.test_secrecy import windowed

ORDER: Doc = {"type": "order", "to": "t00", "units": 1}
TABLE: Doc = {"ruleset": "orders@1", "seats": 3}


@pytest.fixture
def watch(site: Site) -> Watch:
    return timed(site)


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


def whats(member: Member) -> list[str]:
    return [entry["what"] for entry in member.get("/me/audit").json["items"]]


class TestNames:
    def test_a_new_one_is_shown_at_all_tables(self, site: Site, anne: Member) -> None:
        game = anne.post("/games", TABLE).json["game"]
        anne.post(f"/games/{game}/seats", {})
        assert anne.put("/me/name", {"name": "Anna"}).json["name"] == "Anna"
        assert site.get(f"/games/{game}").json["names"] == {anne.doc["player"]: "Anna"}
        assert log_in(site, "Anna").status_code == 201
        refused(log_in(site, "Anne"), 403, "wrong_credentials")

    def test_the_one_before_is_kept_from_others_for_a_while(self, site: Site, watch: Watch) -> None:
        anne = register(site)
        anne.put("/me/name", {"name": "Zoe"})
        bob = register(site, "Bob")
        ask: Doc = {"name": "Anne", "password": PASSWORD}
        refused(site.post("/accounts", ask), 409, "name_taken")
        refused(bob.put("/me/name", {"name": "ANNE"}), 409, "name_taken")
        assert bob.get("/me").json["name"] == "Bob"
        assert anne.put("/me/name", {"name": "Anne"}).status_code == 200
        assert anne.put("/me/name", {"name": "Zoe"}).status_code == 200
        watch.now += FREED
        assert site.post("/accounts", ask).status_code == 201

    def test_its_own_look_alike_may_be_taken(self, anne: Member) -> None:
        for name in ("ANNE", "An-ne", "Anne", "Anne"):
            assert anne.put("/me/name", {"name": name}).json["name"] == name

    def test_moderators_see_all_that_it_was_called(self, site: Site, anne: Member) -> None:
        anne.put("/me/name", {"name": "Zoe"})
        judge = promoted(site, "Judge", "moderator")
        for query in ("name=zoe", f"player={anne.doc['player']}"):
            found = judge.get(f"/accounts?{query}").json
            assert [(n["name"], n["until"] is None) for n in found["names"]] == [("Anne", False), ("Zoe", True)]
            assert found == judge.get(f"/accounts/{anne.id}").json
        for query in ("", "name=zoe&player=x"):
            refused(judge.get(f"/accounts?{query}"), 422, "invalid_query")
        refused(judge.get("/accounts?name=nobody"), 404, "unknown_account")


class TestLog:
    def test_it_tells_what_has_happened(self, site: Site, anne: Member) -> None:
        log_in(site, password=OTHER)
        log_in(site, label="Tablet")
        anne.personal("read")
        entries = anne.get("/me/audit").json["items"]
        assert [e["what"] for e in entries] == ["token_made", "login", "login_refused", "opened"]
        assert {e["address"] for e in entries} == {"127.0.0.0/24"}
        assert entries[1]["detail"] == "Tablet"

    def test_it_has_pages(self, anne: Member) -> None:
        for _ in range(4):
            anne.personal("read")
        seen, address = [], "/v1/me/audit?limit=2"
        while address:
            page = anne.get(address.removeprefix("/v1")).json
            seen += [e["id"] for e in page["items"]]
            address = page["next"]
        assert len(set(seen)) == len(seen) == 5

    def test_it_forgets_what_is_old(self, site: Site, watch: Watch) -> None:
        anne = register(site)
        watch.now += KEPT + 1
        log_in(site)
        found = site.services.account_store.audit_log.list_entries(anne.id)
        assert [e.what for e in found] == ["login"]

    def test_administrators_read_that_of_all(self, site: Site, anne: Member) -> None:
        root = promoted(site, "Root", "admin")
        log_in(site, "Nobody at all")
        everything = root.get("/audit").json["items"]
        assert {e["account"] for e in everything} == {"", anne.id, root.id}
        assert {e["account"] for e in root.get(f"/audit?account={anne.id}").json["items"]} == {anne.id}
        assert "Nobody" not in str(everything)


class TestStolen:
    def test_an_administrator_ends_what_somebody_else_has_open(self, site: Site, anne: Member) -> None:
        root, token = promoted(site, "Root", "admin"), anne.personal("read")
        path = f"/accounts/{anne.id}/credentials"
        refused(anne.delete(path), 403, "role_missing")
        refused(promoted(site, "Maud", "moderator").delete(path), 403, "role_missing")
        for _ in range(2):
            assert root.delete(path).status_code == 204
        for gone in (anne.token, token):
            refused(site.get("/me", gone), 401, "unauthenticated")
        refused(root.delete("/accounts/0000000000000000/credentials"), 404, "unknown_account")
        again = log_in(site).json["token"]
        (ended, *_) = [each for each in site.get("/me/audit", again).json["items"] if each["what"] != "login"]
        assert (ended["what"], ended["address"], ended["detail"]) == ("credentials_ended", "", "")
        assert root.get("/me/audit").json["items"][0]["what"] == "ended_credentials"


class TestErasing:
    def test_the_person_is_gone_and_the_games_stand(self, site: Site, anne: Member) -> None:
        table = site.table("orders@1", 3, start=False)
        site.delete(f"{table.path}/seats/0", table.tokens[0])
        anne.post(f"{table.path}/seats", {"seat": 0})
        table.post("/start", token=table.director)
        anne.post(f"{table.path}/moves", {"move": ORDER, "decision": table.decision})
        anne.post("/reports", {"said": "Somebody was rude", "player": "p"})
        token = anne.personal("read", "play")
        assert anne.delete("/me").status_code == 204
        for gone in (anne.token, token):
            refused(site.get("/me", gone), 401, "unauthenticated")
        refused(log_in(site), 403, "wrong_credentials")
        refused(
            site.post("/recovery", {"name": "Anne", "code": anne.doc["codes"][0], "password": OTHER}),
            403,
            "wrong_credentials",
        )
        summary = table.get().json
        assert (summary["seats"][0]["player"], summary["names"].get(anne.doc["player"])) == (None, None)
        assert table.get("/audit").json["proved"]
        assert self._left_behind(site, anne) == []

    def _left_behind(self, site: Site, anne: Member) -> list[str]:
        tables = (
            *("accounts", "account_names", "account_players", "factors", "sessions", "personal_tokens", "account_log"),
            *("reports", "people", "texts"),
        )
        rows = {t: str(site.services.ledger.execute(f"SELECT * FROM {t}")) for t in tables}  # noqa: S608 - fixed names
        return [t for t, text in rows.items() for secret in ("Anne", "rude", "argon2") if secret in text]

    def test_its_name_is_not_given_away_at_once(self, site: Site, watch: Watch) -> None:
        anne, ask = register(site), {"name": "Anne", "password": PASSWORD}
        anne.delete("/me")
        refused(site.post("/accounts", ask), 409, "name_taken")
        watch.now += FREED
        assert site.post("/accounts", ask).status_code == 201

    def test_no_moderator_can_touch_it_any_more(self, site: Site, anne: Member) -> None:
        anne.delete("/me")
        root = promoted(site, "Root", "admin")
        refused(root.put(f"/accounts/{anne.id}/standing", {"state": "banned"}), 404, "unknown_account")
        refused(root.put(f"/accounts/{anne.id}/role", {"role": "admin"}), 404, "unknown_account")
        refused(root.get(f"/accounts/{anne.id}"), 404, "unknown_account")

    def test_all_that_is_known_can_be_fetched_first(self, site: Site, anne: Member) -> None:
        table = site.table("orders@1", 3, start=False)
        anne.post("/me/claims", {"token": table.tokens[0]})
        anne.personal("read")
        anne.post("/reports", {"said": "A report", "game": table.game})
        table.post("/start", token=table.director)
        back = table.site.post(
            f"{table.path}/rewinds", {"to": 1, "reason": "A slip."}, table.director, If_Match=f'"{table.version}"'
        )
        assert back.status_code in (202, 409)
        doc = anne.get("/me/data").json
        assert (doc["name"], doc["reports"][0]["said"], doc["roles"]) == ("Anne", "A report", {table.game: [0]})
        assert {"names", "sessions", "tokens", "log", "texts", "players"} <= doc.keys()
        assert anne.doc["token"].split("_", 2)[2] not in str(doc)


class TestReports:
    def test_moderators_read_and_settle_them(self, site: Site, anne: Member) -> None:
        table = site.table("orders@1", 3)
        for n in range(3):
            ask = {"said": f"Report {n}", "game": table.game, "player": "p"}
            assert anne.post("/reports", ask).status_code == 201
        judge = promoted(site, "Judge", "moderator")
        seen, address = [], "/reports?limit=2"
        while address:
            page = judge.get(address.removeprefix("/v1")).json
            seen += page["items"]
            address = page["next"]
        assert [r["said"] for r in seen] == [f"Report {n}" for n in range(3)]
        path = f"/reports/{seen[0]['id']}"
        assert judge.put(path, {"outcome": "Talked to them."}).json["outcome"] == "Talked to them."
        assert judge.put(path, {"outcome": "Something else."}).json["outcome"] == "Talked to them."
        assert len(judge.get("/reports").json["items"]) == 2
        assert [r["id"] for r in judge.get("/reports?status=settled").json["items"]] == [seen[0]["id"]]
        refused(judge.put("/reports/" + "0" * 24, {"outcome": "x"}), 404, "not_found")
        assert "Talked" in str(anne.get("/me/data").json["reports"])

    def test_one_is_written_once_under_a_key(self, anne: Member) -> None:
        ask = {"said": "x", "player": "p"}
        first = anne.post("/reports", ask, Idempotency_Key="report-it-1")
        assert anne.post("/reports", ask, Idempotency_Key="report-it-1").data == first.data
        other = anne.post("/reports", ask | {"said": "y"}, Idempotency_Key="report-it-1")
        refused(other, 422, "idempotency_key_reused")

    def test_it_is_about_something_that_there_is(self, anne: Member) -> None:
        refused(anne.post("/reports", {"said": "x"}), 422, "invalid_body")
        nowhere = {"said": "x", "game": "00000000-0000-0000-0000-000000000000"}
        refused(anne.post("/reports", nowhere), 404, "unknown_game")

    def test_only_so_many_wait(self, anne: Member, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domain.accounts.abuse_reports.MOST_OPEN", 1)
        ask = {"said": "x", "player": "p"}
        assert anne.post("/reports", ask).status_code == 201
        refused(anne.post("/reports", ask), 409, "too_many")


class TestRoles:
    def test_an_administrator_gives_and_takes_them(self, site: Site, anne: Member) -> None:
        root = promoted(site, "Root", "admin")
        assert root.put(f"/accounts/{anne.id}/role", {"role": "moderator"}).json["role"] == "moderator"
        assert anne.get("/reports").status_code == 200
        root.put(f"/accounts/{anne.id}/role", {"role": "member"})
        refused(anne.get("/reports"), 403, "role_missing")
        assert whats(anne)[:2] == ["role_given", "role_given"]

    def test_the_last_one_stays(self, site: Site) -> None:
        root = promoted(site, "Root", "admin")
        refused(root.put(f"/accounts/{root.id}/role", {"role": "member"}), 409, "last_admin")
        second = promoted(site, "Second", "admin")
        assert root.put(f"/accounts/{root.id}/role", {"role": "member"}).status_code == 200
        refused(root.put(f"/accounts/{second.id}/role", {"role": "member"}), 403, "role_missing")

    @pytest.mark.parametrize("kept", ["suspended", "banned"])
    def test_one_who_may_do_nothing_is_no_administrator(self, site: Site, kept: str) -> None:
        root, second = promoted(site, "Root", "admin"), promoted(site, "Second", "admin")
        site.services.account_store.accounts.set_state(second.id, kept, 2**60, [])
        refused(root.put(f"/accounts/{root.id}/role", {"role": "member"}), 409, "last_admin")
        refused(root.delete("/me"), 409, "last_admin")

    def test_the_last_one_does_not_erase_himself(self, site: Site) -> None:
        """And is told before his seats are left."""
        root, table = promoted(site, "Root", "admin"), site.table("orders@1", 3)
        assert root.post("/me/claims", {"token": table.tokens[0]}).status_code == 200
        refused(root.delete("/me"), 409, "last_admin")
        assert table.get().json["seats"][0]["player"] is not None
        with pytest.raises(AccountError, match="last_admin"):
            site.services.account_store.accounts.erase(root.id, no_statements)
        promoted(site, "Second", "admin")
        assert root.delete("/me").status_code == 204

    @pytest.mark.parametrize(
        ("store", "method", "path", "body"),
        [
            ("accounts", "put", "/accounts/{account}/standing", {"state": "banned"}),
            ("accounts", "put", "/accounts/{account}/role", {"role": "admin"}),
            ("accounts", "post", "/invitations", {}),
            ("reports", "put", "/reports/{report}", {"outcome": "All is well."}),
            ("credentials", "delete", "/accounts/{account}/credentials", None),
        ],
    )
    def test_who_has_lost_the_role_meanwhile_does_nothing(
        self,
        site: Site,
        anne: Member,
        monkeypatch: pytest.MonkeyPatch,
        store: str,
        method: str,
        path: str,
        body: Doc | None,
    ) -> None:
        """Between the moment that they are let in and the one in which it is written."""
        root, accounts = promoted(site, "Root", "admin"), site.services.account_store.accounts
        promoted(site, "Second", "admin")
        report = anne.post("/reports", {"player": "f" * 16, "said": "It was so."}).json["id"]
        written = getattr(site.services.account_store, store)
        together = written._in_transaction

        def later(work: Any) -> Any:
            monkeypatch.undo()
            accounts.set_role(root.id, "member")
            return together(work)

        monkeypatch.setattr(written, "_in_transaction", later)
        asked = (body,) if body is not None else ()
        refused(getattr(root, method)(path.format(account=anne.id, report=report), *asked), 403, "role_missing")
        found = accounts.find(anne.id)
        assert found is not None
        assert (found.state, found.role) == ("active", "member")
        assert site.services.ledger.execute("SELECT * FROM account_invitations") == []
        assert [each.settled for each in site.services.account_store.reports.list_by_account(anne.id)] == [0]
        assert anne.get("/me").status_code == 200

    def test_whoever_has_risen_meanwhile_is_judged_by_nobody(
        self, site: Site, anne: Member, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        judge, accounts = promoted(site, "Judge", "moderator"), site.services.account_store.accounts
        together = accounts._in_transaction

        def later(work: Any) -> Any:
            monkeypatch.undo()
            accounts.set_role(anne.id, "moderator")
            return together(work)

        monkeypatch.setattr(accounts, "_in_transaction", later)
        refused(judge.put(f"/accounts/{anne.id}/standing", {"state": "banned"}), 403, "role_missing")
        found = accounts.find(anne.id)
        assert found is not None
        assert (found.state, found.role) == ("active", "moderator")

    def test_accounts_need_an_invitation_where_operator_says_so(self, site: Site) -> None:
        root = promoted(site, "Root", "admin")
        site.remake(registration="invitation")
        ask: Doc = {"name": "Anne", "password": PASSWORD}
        refused(site.post("/accounts", ask), 403, "not_invited")
        refused(site.post("/accounts", ask | {"invitation": "x"}), 403, "not_invited")
        made = root.post("/invitations", {"uses": 2}, Idempotency_Key="two-friends").json
        assert root.post("/invitations", {"uses": 2}, Idempotency_Key="two-friends").json == made
        ask |= made
        first = site.post("/accounts", ask, Idempotency_Key="K" * 32)
        assert site.post("/accounts", ask, Idempotency_Key="K" * 32).data == first.data
        assert site.post("/accounts", ask | {"name": "Bob"}).status_code == 201
        refused(site.post("/accounts", ask | {"name": "Cleo"}), 403, "not_invited")

    def test_an_invitation_is_not_used_by_who_is_refused(self, site: Site) -> None:
        root = promoted(site, "Root", "admin")
        site.remake(registration="invitation")
        secret = root.post("/invitations", {}).json
        ask: Doc = {"name": "Root", "password": PASSWORD} | secret
        refused(site.post("/accounts", ask), 409, "name_taken")
        assert site.post("/accounts", ask | {"name": "Anne"}).status_code == 201


class TestGames:
    @pytest.fixture
    def table(self, site: Site, anne: Member) -> Table:
        table = site.table("orders@1", 3, start=False, pace={"seconds": {"turn": 3600}})
        assert anne.post("/me/claims", {"token": table.tokens[0]}).status_code == 200
        table.post("/start", token=table.director)
        return table

    def found(self, member: Member, query: str = "turn=mine") -> list[Any]:
        items: list[Any] = member.get(f"/me/games?{query}").json["items"]
        return items

    def test_whose_turn_it_is_and_how_long_there_is(self, anne: Member, table: Table) -> None:
        (item,) = self.found(anne)
        assert (item["game"], item["turn"], item["roles"]) == (table.game, True, [0])
        assert 0 < item["left"] <= 3_600_000
        submitted = {"move": {"type": "submit"}, "decision": table.decision}
        assert anne.post(f"{table.path}/moves", submitted).status_code == 201
        assert self.found(anne) == []
        (item,) = self.found(anne, "turn=all")
        assert (item["turn"], item["left"]) == (False, None)

    def test_in_secret_others_see_who_has_answered_as_still_asked(self, site: Site) -> None:
        """But the list of what waits for oneself is one's own."""
        table = site.table("windows@1", 3)
        members = [register(site, name) for name in ("Anne", "Bob", "Cleo")]
        for member, token in zip(members, table.tokens, strict=True):
            assert member.post("/me/claims", {"token": token}).status_code == 200
        seat = windowed(Table(site, table.game, table.director, [m.token for m in members]), answers=True)
        assert seat in table.get().json["waiting_for"]
        assert self.found(members[seat]) == []
        assert [len(self.found(m)) for n, m in enumerate(members) if n in table.get().json["waiting_for"]].count(0) == 1

    def test_pages_of_what_waits(self, site: Site, anne: Member) -> None:
        waiting = []
        for n in range(7):
            table = site.table("orders@1", 3, start=False)
            anne.post("/me/claims", {"token": table.tokens[0]})
            if n % 3 == 0:
                table.post("/start", token=table.director)
                waiting.append(table.game)
        seen, address = [], "/me/games?turn=mine&limit=1"
        while address:
            page = anne.get(address.removeprefix("/v1")).json
            seen += [item["game"] for item in page["items"]]
            address = page["next"]
        assert seen == waiting[::-1]
        assert len(self.found(anne, "turn=all")) == 7
        assert len(self.found(anne, "status=open")) == 4

    def test_a_guest_is_told_the_same(self, table: Table) -> None:
        (item,) = table.site.get("/me/games?turn=mine", table.tokens[1]).json["items"]
        assert (item["turn"], item["roles"]) == (True, [1])


class TestSettings:
    def test_zone_of_times_is_utc_until_set_and_follows_account(self, site: Site) -> None:
        anne = register(site)
        assert anne.get("/me/settings").json == {"zone": "UTC"}
        for _ in range(2):
            assert anne.put("/me/settings", {"zone": "Europe/Paris"}).json == {"zone": "Europe/Paris"}
        assert anne.get("/me/data").json["settings"] == anne.get("/me/settings").json == {"zone": "Europe/Paris"}
        assert anne.delete("/me").status_code == 204
        assert site.services.ledger.execute("SELECT * FROM account_settings") == []

    @pytest.mark.parametrize(
        "zone", ["", "Paris", "Mars/Olympus", "../etc/passwd", "/Europe/Paris", "Europe/Paris\n", 1]
    )
    def test_what_is_no_zone_is_refused(self, site: Site, zone: Any) -> None:
        refused(register(site).put("/me/settings", {"zone": zone}), 422, "invalid_body")

    def test_a_program_does_not_set_it(self, site: Site) -> None:
        token = register(site).personal("read", "play")
        refused(site.put("/me/settings", {"zone": "Europe/Paris"}, token), 403, "session_required")
