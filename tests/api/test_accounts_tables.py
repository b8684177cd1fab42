"""Accounts at tables: whoever shows the account's token is what the person is there; guests' seats can be claimed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Doc, Site, Table, refused
from tests.api.members import Member, promoted, register

ORDER: Doc = {"type": "order", "to": "t00", "units": 1}
TABLE: Doc = {"ruleset": "orders@1", "seats": 3}
K = "K" * 32


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


@pytest.fixture
def table(site: Site) -> Table:
    """A table for three with a free seat 0."""
    table = site.table("orders@1", 3, start=False, pace={"seconds": {"turn": 3600}})
    assert site.delete(f"{table.path}/seats/0", table.tokens[0]).status_code == 200
    return table


def seated(member: Member, table: Table, seat: int = 0, **headers: str) -> Doc:
    answer = member.post(f"{table.path}/seats", {"seat": seat}, **headers)
    assert answer.status_code == 201, answer.text
    found: Doc = answer.json
    return found


def guest_table(site: Site, **terms: Any) -> tuple[Doc, Doc]:
    """A table, and the only guest there."""
    made = site.post("/games", TABLE | terms).json
    return made, site.post(f"/games/{made['game']}/seats", {"seat": 0, "name": "Guest"}).json


class TestSeats:
    def test_an_account_sits_under_its_own_name_and_id(self, anne: Member, table: Table) -> None:
        joined = seated(anne, table)
        assert joined["player"] == anne.doc["player"]
        assert "token" not in joined
        doc = table.get().json
        assert doc["seats"][0]["player"] == anne.doc["player"]
        assert doc["names"][anne.doc["player"]] == "Anne"
        assert anne.id not in str(doc)

    def test_it_plays_with_its_token(self, anne: Member, table: Table) -> None:
        seated(anne, table)
        assert anne.post(f"{table.path}/start").status_code == 201
        assert anne.get(f"{table.path}/board").json["viewer"] == 0
        moved = anne.post(f"{table.path}/moves", {"move": ORDER, "decision": table.decision})
        assert moved.status_code == 201, moved.text
        token = anne.personal("play")
        again = table.site.post(f"{table.path}/choices", {}, token)
        assert again.status_code == 200

    def test_a_repetition_seats_nobody_twice(self, anne: Member, table: Table) -> None:
        first = seated(anne, table, Idempotency_Key=K)
        assert seated(anne, table, Idempotency_Key=K) == first
        assert len(table.site.services.seat_tokens.list_roles(first["player"])) == 1

    def test_a_name_of_its_own_at_a_table_is_refused(self, anne: Member, table: Table) -> None:
        refused(anne.post(f"{table.path}/seats", {"seat": 0, "name": "Zoe"}), 422, "invalid_body")

    def test_at_a_table_of_others_it_is_one_of_the_public(self, anne: Member, table: Table) -> None:
        assert "own" not in anne.get(f"{table.path}/board").json
        refused(anne.post(f"{table.path}/start"), 403, "not_at_table")
        refused(anne.get(f"{table.path}/board", Annals_Role="0"), 403, "not_at_table")
        nowhere = "/games/00000000-0000-0000-0000-000000000000"
        refused(anne.post(f"{nowhere}/start"), 404, "unknown_game")

    def test_who_was_put_out_is_out(self, anne: Member, table: Table) -> None:
        seated(anne, table)
        assert table.site.delete(f"{table.path}/seats/0", table.director).status_code == 200
        refused(anne.post(f"{table.path}/start"), 403, "not_at_table")

    def test_the_hidden_token_of_its_seat_opens_nothing(self, anne: Member, table: Table) -> None:
        """What a guest would have been shown can be derived by nobody, and would be of no use."""
        seated(anne, table, Idempotency_Key=K)
        s = table.site.services
        grant = s.seat_tokens.make_token(anne.doc["player"], "join", table.game, K)
        assert s.seat_tokens.find_bearer(grant.token) is not None
        refused(table.site.get(f"{table.path}/board", grant.token), 401, "unauthenticated")

    def test_nobody_is_lent_a_token_of_its_seat(self, anne: Member, table: Table) -> None:
        """It logs in; a director who had a token of its seat could read its secrets and move for it."""
        seated(anne, table)
        version = table.version
        refused(table.post("/seats/0/tokens", None, table.director), 409, "account_has_seat")
        assert table.version == version


class TestRoles:
    @pytest.fixture
    def both(self, site: Site, anne: Member) -> str:
        """A table that the account directs, where it has two seats."""
        path = f"/games/{anne.post('/games', TABLE | {'several': True}).json['game']}"
        assert [anne.post(f"{path}/seats", {"seat": seat}).status_code for seat in (0, 1)] == [201, 201]
        assert site.post(f"{path}/seats", {"seat": 2}).status_code == 201
        return path

    def test_who_is_several_things_says_which(self, site: Site, anne: Member, both: str) -> None:
        told = refused(anne.get(f"{both}/board"), 422, "role_required")
        assert told["roles"] == [0, 1, "director"]
        assert anne.post(f"{both}/start", Annals_Role="director").status_code == 201
        assert [anne.get(f"{both}/board", Annals_Role=r).json["viewer"] for r in ("0", "1", "director")] == [
            0,
            1,
            "public",
        ]
        refused(anne.get(f"{both}/board", Annals_Role="2"), 403, "not_at_table")
        refused(anne.get(f"{both}/board", Annals_Role="00"), 403, "not_at_table")
        for wrong in ("DIRECTOR", "x", "100", "-1"):
            refused(anne.get(f"{both}/board", Annals_Role=wrong), 422, "invalid_headers")
        refused(site.get(f"{both}/board", Annals_Role="0"), 401, "unauthenticated")

    def test_what_is_kept_by_caches_is_kept_for_one_role(self, anne: Member, both: str) -> None:
        answer = anne.get(f"{both}/board?version=1", Annals_Role="0")
        assert "Annals-Role" in answer.headers["Vary"]

    def test_a_seat_s_token_has_one_role(self, site: Site, table: Table) -> None:
        assert table.get("/board", 1, Annals_Role="1").status_code == 200
        refused(table.get("/board", 1, Annals_Role="2"), 403, "not_at_table")

    def test_a_director_who_plays_by_a_claimed_seat_does_not_look(self, site: Site, anne: Member) -> None:
        """All ids of the person count, not the one that directs."""
        game = anne.post("/games", TABLE).json["game"]
        seats = [site.post(f"/games/{game}/seats", {"seat": n}).json["token"] for n in range(3)]
        assert anne.post(f"/games/{game}/start", Annals_Role="director").status_code == 201
        assert anne.post(f"/games/{game}/looks").status_code == 201
        assert anne.post("/me/claims", {"token": seats[0]}).status_code == 200
        refused(anne.post(f"/games/{game}/looks", Annals_Role="director"), 403, "director_plays")

    @pytest.mark.parametrize("claimed", [False, True])
    def test_a_director_who_has_looked_takes_no_seat_by_whatever_id(
        self, site: Site, anne: Member, claimed: bool
    ) -> None:
        """Also of a table that the person has opened and looked into as a guest."""
        if claimed:
            made = site.post("/games", TABLE).json
            game, look = made["game"], {"token": made["token"]}
        else:
            game, look = anne.post("/games", TABLE).json["game"], {"token": anne.token}
        seats = [site.post(f"/games/{game}/seats", {"seat": n}).json["token"] for n in range(3)]
        assert site.post(f"/games/{game}/start", **look).status_code == 201
        assert site.post(f"/games/{game}/looks", **look).status_code == 201
        if claimed:
            assert anne.post("/me/claims", look).status_code == 200
        assert site.delete(f"/games/{game}/seats/1", seats[1]).status_code == 200
        refused(anne.post(f"/games/{game}/seats", {"seat": 1}), 403, "director_looked")
        assert site.post(f"/games/{game}/seats", {"seat": 1}).status_code == 201

    def test_at_a_table_by_invitation_the_director_needs_none(self, site: Site, anne: Member) -> None:
        game = anne.post("/games", TABLE | {"listing": "invitation"}).json["game"]
        assert anne.post(f"/games/{game}/seats", {}).status_code == 201
        refused(register(site, "Bob").post(f"/games/{game}/seats", {}), 403, "not_invited")


class TestClaims:
    def test_all_of_a_guest_becomes_the_account_s(self, site: Site, anne: Member) -> None:
        made, joined = guest_table(site)
        other = site.post("/games", TABLE).json["game"]
        second = site.post(f"/games/{other}/seats", {}, joined["token"]).json
        claimed = anne.post("/me/claims", {"token": joined["token"]})
        assert claimed.json == {"player": joined["player"], "games": sorted([made["game"], other])}
        assert anne.post("/me/claims", {"token": joined["token"]}).json == claimed.json
        for token in (joined["token"], second["token"]):
            refused(site.get(f"/games/{made['game']}/board", token), 401, "unauthenticated")
        assert {g["game"] for g in anne.get("/me/games").json["items"]} == {made["game"], other}
        assert anne.get(f"/games/{other}/board").json["viewer"] == second["seat"]
        assert site.get(f"/games/{made['game']}").json["names"][joined["player"]] == "Anne"
        assert anne.get("/me").json["players"] == [anne.doc["player"], joined["player"]]

    def test_nobody_claims_what_is_somebody_else_s(self, site: Site, anne: Member) -> None:
        _, joined = guest_table(site)
        bob = register(site, "Bob")
        assert bob.post("/me/claims", {"token": joined["token"]}).status_code == 200
        refused(anne.post("/me/claims", {"token": joined["token"]}), 409, "not_claimable")
        assert bob.delete("/me").status_code == 204
        refused(anne.post("/me/claims", {"token": joined["token"]}), 409, "not_claimable")

    @pytest.mark.parametrize("token", ["x", "anl_0123456789abcdef_" + "x" * 43])
    def test_nor_what_is_no_token(self, anne: Member, token: str) -> None:
        refused(anne.post("/me/claims", {"token": token}), 409, "not_claimable")

    def test_what_a_director_has_lent_claims_nothing(self, site: Site, anne: Member) -> None:
        made, joined = guest_table(site)
        lent = site.post(f"/games/{made['game']}/seats/0/tokens", {}, made["token"]).json["token"]
        refused(anne.post("/me/claims", {"token": lent}), 409, "not_claimable")
        assert site.get(f"/games/{made['game']}/board", lent).json["viewer"] == joined["seat"]

    def test_a_claimed_person_has_one_seat_at_a_table(self, site: Site, anne: Member) -> None:
        made, joined = guest_table(site)
        anne.post("/me/claims", {"token": joined["token"]})
        refused(anne.post(f"/games/{made['game']}/seats", {}), 409, "already_seated")

    def test_a_guest_s_repetition_gets_what_opens_nothing(self, site: Site, anne: Member) -> None:
        game = site.post("/games", TABLE).json["game"]
        ask = {"seat": 0, "name": "Guest"}
        first = site.post(f"/games/{game}/seats", ask, Idempotency_Key=K)
        anne.post("/me/claims", {"token": first.json["token"]})
        again = site.post(f"/games/{game}/seats", ask, Idempotency_Key=K)
        assert again.data == first.data
        refused(site.get(f"/games/{game}/board", again.json["token"]), 401, "unauthenticated")
        assert site.get(f"/games/{game}").json["names"][first.json["player"]] == "Anne"

    def test_seat_that_the_guest_took_meanwhile_is_claimed_as_well(
        self, site: Site, anne: Member, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The request was let in before the claim, and stored after it."""
        _, joined = guest_table(site)
        other = site.post("/games", TABLE).json["game"]
        access = site.services.seat_tokens
        real = access.authenticate

        def late(token: str) -> Any:
            found = real(token)
            monkeypatch.setattr(access, "authenticate", real)
            assert anne.post("/me/claims", {"token": joined["token"]}).status_code == 200
            return found

        monkeypatch.setattr(access, "authenticate", late)
        second = site.post(f"/games/{other}/seats", {}, joined["token"]).json
        assert anne.get(f"/games/{other}/board").json["viewer"] == second["seat"]
        assert anne.post("/me/claims", {"token": second["token"]}).status_code == 200
        refused(site.get(f"/games/{other}/board", second["token"]), 401, "unauthenticated")

    def test_a_stream_of_the_guest_s_ends(self, site: Site, anne: Member) -> None:
        made, joined = guest_table(site)
        who = site.services.seat_tokens.authenticate(joined["token"])
        assert who is not None
        assert site.services.seat_tokens.is_current(who)
        anne.post("/me/claims", {"token": joined["token"]})
        assert not site.services.seat_tokens.is_current(who)
        assert made["game"] == who.game


class TestStreams:
    def test_an_account_s_ticket_is_of_one_table(self, anne: Member, table: Table) -> None:
        seated(anne, table)
        refused(anne.post("/stream-tickets"), 422, "invalid_query")
        ticket = anne.post(f"/stream-tickets?game={table.game}").json["ticket"]
        with table.site.get(f"{table.path}/stream?ticket={ticket}") as answer:
            assert answer.status_code == 200
            answer.until('"viewer":0')

    def test_it_ends_with_the_session(self, site: Site, anne: Member, table: Table) -> None:
        seated(anne, table)
        ticket = anne.post(f"/stream-tickets?game={table.game}").json["ticket"]
        cookie = anne.post(f"/stream-cookies?game={table.game}").headers["Set-Cookie"].partition(";")[0]
        anne.delete("/me/sessions")
        refused(site.get(f"{table.path}/stream?ticket={ticket}"), 401, "unauthenticated")
        answer = site.get(f"{table.path}/stream", Cookie=cookie)
        refused(answer, 401, "unauthenticated")

    def test_an_open_stream_says_goodbye(self, anne: Member, table: Table) -> None:
        seated(anne, table)
        with anne.get(f"{table.path}/stream") as answer:
            answer.until("event: board")
            anne.delete("/me/sessions")
            table.post("/start", token=table.director)
            rest = answer.text
        assert "event: bye" in rest
        assert "event: board" not in rest


class TestStanding:
    def test_who_is_suspended_plays_on_and_begins_nothing(self, site: Site, anne: Member, table: Table) -> None:
        directed = anne.post("/games", TABLE).json["game"]
        seated(anne, table)
        table.post("/start", token=table.director)
        judge = promoted(site, "Judge", "moderator")
        assert judge.put(f"/accounts/{anne.id}/standing", {"state": "suspended", "days": 3}).status_code == 200
        assert anne.get("/me").json["state"] == "suspended"
        refused(anne.post("/games", TABLE), 403, "account_suspended")
        refused(anne.post(f"/games/{directed}/seats", {}), 403, "account_suspended")
        refused(anne.post(f"/games/{directed}/close", {"reason": "void"}), 403, "account_suspended")
        assert anne.post(f"{table.path}/moves", {"move": ORDER, "decision": table.decision}).status_code == 201
        judge.put(f"/accounts/{anne.id}/standing", {"state": "active"})
        assert anne.post(f"/games/{directed}/close", {"reason": "void"}).status_code == 201

    def test_the_seats_of_who_is_banned_are_held_for_others(self, site: Site, anne: Member, table: Table) -> None:
        seated(anne, table)
        table.post("/start", token=table.director)
        judge = promoted(site, "Judge", "moderator")
        for _ in range(2):
            assert judge.put(f"/accounts/{anne.id}/standing", {"state": "banned"}).json["state"] == "banned"
        seat = table.get().json["seats"][0]
        assert (seat["player"], seat["held"] > 0) == (None, True)
        refused(anne.post(f"{table.path}/moves", {"move": ORDER, "decision": table.decision}), 403, "not_at_table")
        refused(anne.post("/games", TABLE), 403, "account_banned")
        assert anne.get("/me").json["state"] == "banned"
        judge.put(f"/accounts/{anne.id}/standing", {"state": "active"})
        seated(anne, table)

    def test_a_ban_that_was_cut_off_goes_on_when_it_is_repeated(
        self, site: Site, anne: Member, table: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seated(anne, table)
        judge = promoted(site, "Judge", "moderator")
        with monkeypatch.context() as patch:
            patch.setattr("api.routes.accounts.moderation.leave_all_seats", lambda _: (_ for _ in ()).throw(OSError))
            assert judge.put(f"/accounts/{anne.id}/standing", {"state": "banned"}).status_code == 500
        refused(anne.post(f"{table.path}/start"), 403, "account_banned")
        assert table.get().json["seats"][0]["player"] == anne.doc["player"]
        judge.put(f"/accounts/{anne.id}/standing", {"state": "banned"})
        assert table.get().json["seats"][0]["player"] is None

    def test_a_moderator_judges_members_alone(self, site: Site, anne: Member) -> None:
        judge, other = (promoted(site, name, "moderator") for name in ("Judge", "Jury"))
        root = promoted(site, "Root", "admin")
        for target in (judge, other, root):
            refused(judge.put(f"/accounts/{target.id}/standing", {"state": "banned"}), 403, "role_missing")
        assert root.put(f"/accounts/{judge.id}/standing", {"state": "banned"}).status_code == 200
        refused(judge.put(f"/accounts/{anne.id}/standing", {"state": "banned"}), 403, "role_missing")


class TestQuotas:
    def test_tables_count_for_the_account_wherever_it_is(self, site: Site, anne: Member) -> None:
        site.remake(rate=50.0, tables=2)
        found = []
        for n in range(3):
            headers = {"Authorization": f"Bearer {anne.token}"}
            where = {"REMOTE_ADDR": f"192.0.2.{n}"}
            found.append(site.client.post("/v1/games", json=TABLE, headers=headers, environ_overrides=where))
        assert [a.status_code for a in found] == [201, 201, 429]

    def test_and_so_do_seats(self, site: Site, anne: Member) -> None:
        games = [site.post("/games", TABLE).json["game"] for _ in range(11)]
        site.remake(rate=50.0, tables=1)
        found = [anne.post(f"/games/{game}/seats", {}).status_code for game in games]
        assert found == [201] * 10 + [429]

    def test_requests_of_all_its_tokens_share_a_bucket(self, site: Site, anne: Member) -> None:
        tokens = [anne.token, anne.personal("play"), anne.personal("play")]
        site.remake(rate=0.001, burst=2)
        found = [site.post("/reports", {"said": "x", "player": "p"}, token) for token in tokens]
        assert [a.status_code for a in found] == [201, 201, 429]
