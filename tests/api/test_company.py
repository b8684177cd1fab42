"""Challenges, tables' names and notes, rematches, watched tables, blocks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Site, Table, refused
from tests.api.members import Member, Watch, register, timed

BODY = {"ruleset": "orders@1", "seats": 3}


@pytest.fixture
def watch(site: Site) -> Watch:
    return timed(site)


@pytest.fixture
def anne(site: Site, watch: Watch) -> Member:
    return register(site, "Anne")


@pytest.fixture
def bert(site: Site, watch: Watch) -> Member:
    return register(site, "Bert")


def opened(who: Member, **terms: Any) -> str:
    made = who.post("/games", BODY | terms)
    assert made.status_code == 201, made.text
    return str(made.json["game"])


class TestCards:
    def test_a_table_has_a_title_and_a_note(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        body = {"title": "Dimanche soir", "note": "Un coup par jour."}
        assert site.put(f"{table.path}/card", body, table.director).status_code == 204
        assert {k: table.get().json[k] for k in body} == body
        assert site.get("/games").json["items"][0]["title"] == "Dimanche soir"
        assert site.put(f"{table.path}/card", {}, table.director).status_code == 204
        assert "title" not in table.get().json

    def test_only_its_director_gives_it(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        refused(site.put(f"{table.path}/card", {"title": "x"}, table.tokens[0]), 403, "directors_only")
        refused(site.put(f"{table.path}/card", {"title": "a\u202eb"}, table.director), 422, "invalid_body")
        refused(site.put(f"{table.path}/card", {"title": "x" * 81}, table.director), 422, "invalid_body")

    def test_it_goes_with_its_writer_s_name(self, site: Site) -> None:
        made = site.post("/games", BODY | {"name": "Anne"}).json
        path = f"/games/{made['game']}"
        site.put(f"{path}/card", {"title": "Chez Anne"}, made["token"])
        assert site.delete(f"/players/{made['player']}/name", made["token"]).status_code == 204
        assert "title" not in site.get(path).json

    def test_a_moderator_takes_it_away(self, site: Site, anne: Member, bert: Member) -> None:
        game = opened(anne)
        assert anne.put(f"/games/{game}/card", {"title": "Rude"}).status_code == 204
        refused(bert.delete(f"/games/{game}/card"), 403, "role_missing")
        site.services.account_store.accounts.set_role(bert.id, "moderator")
        assert bert.delete(f"/games/{game}/card").status_code == 204
        assert "title" not in site.get(f"/games/{game}").json


class TestChallenges:
    def test_who_is_asked_comes_without_an_invitation(self, anne: Member, bert: Member) -> None:
        game = opened(anne, listing="invitation")
        anne.put(f"/games/{game}/card", {"title": "Among us"})
        refused(bert.post(f"/games/{game}/seats", {}), 403, "not_invited")
        made = anne.post(f"/games/{game}/challenges", {"name": "bert", "seat": 2})
        assert (made.status_code, made.json["answer"]) == (201, "open")
        (mine,) = bert.get("/me/challenges").json["items"]
        assert (mine["game"], mine["seat"], mine["name"], mine["title"]) == (game, 2, "Anne", "Among us")
        taken = bert.post(f"/games/{game}/seats", {"seat": 2}, Idempotency_Key="k" * 40)
        assert taken.status_code == 201
        assert bert.get("/me/challenges").json["items"] == []
        assert [c["answer"] for c in anne.get(f"/games/{game}/challenges").json["items"]] == ["accepted"]
        assert bert.post(f"/games/{game}/seats", {"seat": 2}, Idempotency_Key="k" * 40).data == taken.data

    def test_the_seat_is_kept_meanwhile(self, site: Site, anne: Member, bert: Member, watch: Watch) -> None:
        game = opened(anne)
        assert anne.post(f"/games/{game}/challenges", {"name": "Bert", "seat": 0, "days": 2}).status_code == 201
        doc = refused(site.post(f"/games/{game}/seats", {}), 409, "seat_reserved")
        assert doc["seats"] == [1, 2]
        refused(site.post(f"/games/{game}/seats", {"seat": 0}), 409, "seat_reserved")
        assert site.post(f"/games/{game}/seats", {"seat": 1}).status_code == 201
        watch.now += 2 * 86_400_000
        assert [c["answer"] for c in anne.get(f"/games/{game}/challenges").json["items"]] == ["past"]
        assert bert.get("/me/challenges").json["items"] == []
        assert site.post(f"/games/{game}/seats", {"seat": 0}).status_code == 201

    def test_who_declines_frees_the_seat(self, site: Site, anne: Member, bert: Member) -> None:
        game = opened(anne)
        anne.post(f"/games/{game}/challenges", {"name": "Bert", "seat": 0})
        assert bert.delete(f"/me/challenges/{game}").status_code == 204
        refused(bert.delete(f"/me/challenges/{game}"), 404, "not_found")
        assert [c["answer"] for c in anne.get(f"/games/{game}/challenges").json["items"]] == ["declined"]
        assert site.post(f"/games/{game}/seats", {}).json["seat"] == 0

    def test_it_is_taken_back(self, anne: Member, bert: Member) -> None:
        game = opened(anne)
        anne.post(f"/games/{game}/challenges", {"name": "Bert"})
        assert anne.delete(f"/games/{game}/challenges?to=Bert").status_code == 204
        refused(anne.delete(f"/games/{game}/challenges?to=Bert"), 404, "not_found")
        assert bert.get("/me/challenges").json["items"] == []

    def test_nothing_tells_whether_anybody_is_called_so(self, anne: Member, bert: Member, watch: Watch) -> None:
        game, told = opened(anne), []
        for name in ("Bert", "Nobody"):
            doc = anne.post(f"/games/{game}/challenges", {"name": name}).json
            told.append({k: v for k, v in doc.items() if k not in ("to", "at", "until")})
        assert told[0] == told[1]
        listed = anne.get(f"/games/{game}/challenges").json["items"]
        assert [(c["to"], c["answer"]) for c in listed] == [("Bert", "open"), ("Nobody", "open")]

    def test_guests_are_asked_by_their_id(self, site: Site, anne: Member) -> None:
        table, game = site.table("orders@1", 3), opened(anne, listing="invitation")
        player = table.get().json["seats"][1]["player"]
        assert anne.post(f"/games/{game}/challenges", {"player": player}).status_code == 201
        assert site.get("/me/challenges", table.tokens[1]).json["items"][0]["game"] == game
        assert site.post(f"/games/{game}/seats", {}, table.tokens[1]).status_code == 201
        refused(site.post(f"/games/{game}/seats", {}, table.tokens[2]), 403, "not_invited")

    def test_only_a_director_asks_and_only_for_what_is_there(self, site: Site, anne: Member) -> None:
        table = site.table("orders@1", 3)
        path = f"{table.path}/challenges"
        refused(site.post(path, {"name": "Anne"}, table.tokens[0]), 403, "directors_only")
        refused(site.post(path, {"name": "Anne", "seat": 3}, table.director), 409, "unknown_seat")
        refused(site.post(path, {"name": "Anne", "seat": 0}, table.director), 409, "seat_taken")
        refused(site.post(path, {}, table.director), 422, "invalid_body")
        refused(site.post(path, {"name": "Anne", "player": "x"}, table.director), 422, "invalid_body")
        table.post("/close", {"reason": "void"}, table.director)
        refused(site.post(path, {"name": "Anne"}, table.director), 409, "not_open")

    def test_one_seat_is_kept_for_one(self, anne: Member, bert: Member) -> None:
        game = opened(anne)
        assert anne.post(f"/games/{game}/challenges", {"name": "Bert", "seat": 1}).status_code == 201
        refused(anne.post(f"/games/{game}/challenges", {"name": "Carl", "seat": 1}), 409, "seat_reserved")
        assert anne.post(f"/games/{game}/challenges", {"name": "Bert", "seat": 2}).status_code == 201
        assert bert.get("/me/challenges").json["items"][0]["seat"] == 2


class TestRematches:
    def over(self, site: Site, **terms: Any) -> Table:
        table = site.table("orders@1", 3, **terms)
        table.post("/close", {"reason": "abandoned"}, table.director)
        return table

    def test_each_has_the_next_seat(self, site: Site, watch: Watch) -> None:
        pace = {"seconds": {"move": 7200}, "grace": 60, "bank": 3600, "vacation": 3}
        table = self.over(site, undo="free", options={"turns": 4}, listing="unlisted", pace=pace)
        first = table.post("/rematches", {"name": "Again"}, table.tokens[0])
        assert (first.status_code, first.json["seat"]) == (201, 1)
        new = first.json["game"]
        others = [table.post("/rematches", {}, table.tokens[seat]) for seat in (1, 2)]
        assert [(o.status_code, o.json["game"], o.json["seat"], "token" in o.json) for o in others] == [
            (200, new, 2, False),
            (200, new, 0, False),
        ]
        assert table.post("/rematches", {"name": "Again"}, table.tokens[0]).data == first.data
        old, doc = table.get().json, site.get(f"/games/{new}").json
        assert old["pace"]["seconds"] == pace["seconds"]
        assert old["rematch"] == new
        assert [doc[k] for k in ("ruleset", "options", "undo", "listing", "pace")] == [
            old[k] for k in ("ruleset", "options", "undo", "listing", "pace")
        ]
        refused(site.post(f"/games/{new}/seats", {"seat": 1}), 409, "seat_reserved")
        for seat in range(3):
            got = site.post(f"/games/{new}/seats", {"seat": (seat + 1) % 3}, table.tokens[seat])
            assert got.status_code == 201, got.text
        assert site.post(f"/games/{new}/start", token=first.json["token"]).status_code == 201

    def test_only_once_it_is_over_and_by_who_was_there(self, site: Site, watch: Watch) -> None:
        table = site.table("orders@1", 3)
        refused(table.post("/rematches", {}, table.tokens[0]), 409, "still_running")
        other = self.over(site)
        refused(other.post("/rematches", {}, table.tokens[0]), 403, "other_table")
        refused(site.post(f"{other.path}/rematches"), 401, "unauthenticated")

    @pytest.mark.parametrize(("who", "officers"), [("director", "any"), (1, "neutral")])
    def test_the_trust_in_a_director_is_not_for_who_asks_first(
        self, site: Site, watch: Watch, who: int | str, officers: str
    ) -> None:
        table = self.over(site, officers="any")
        made = table.post("/rematches", {}, table.token(who))
        assert made.status_code == 201
        assert site.get(f"/games/{made.json['game']}").json["officers"] == officers
        assert table.post("/rematches", {}, table.token(who)).data == made.data

    def test_an_account_needs_no_token_of_it(self, site: Site, anne: Member, bert: Member) -> None:
        game = opened(anne)
        for who in (anne, bert):
            assert who.post(f"/games/{game}/seats", {}).status_code == 201
        anne.post(f"/games/{game}/close", {"reason": "void"}, Annals_Role="director")
        made = bert.post(f"/games/{game}/rematches")
        assert (made.status_code, "token" in made.json) == (201, False)
        (mine,) = anne.get("/me/challenges").json["items"]
        assert (mine["game"], mine["seat"], mine["name"]) == (made.json["game"], 1, "Bert")


class TestWatching:
    def test_a_list_of_tables(self, site: Site, anne: Member) -> None:
        tables = [site.table("orders@1", 3) for _ in range(3)]
        for table in tables[:2]:
            assert anne.put(f"/me/watching/{table.game}").status_code == 204
        anne.put(f"/me/watching/{tables[0].game}")
        assert [d["game"] for d in anne.get("/me/watching").json["items"]] == [tables[1].game, tables[0].game]
        page = anne.get("/me/watching?limit=1").json
        assert [d["game"] for d in site.get(page["next"].removeprefix("/v1"), anne.token).json["items"]] == [
            tables[0].game
        ]
        anne.delete(f"/me/watching/{tables[1].game}")
        assert [d["game"] for d in anne.get("/me/watching").json["items"]] == [tables[0].game]
        refused(anne.put("/me/watching/00000000-0000-4000-8000-000000000000"), 404, "unknown_game")


class TestBlocks:
    def test_who_is_blocked_reaches_one_no_more(self, anne: Member, bert: Member) -> None:
        game, mine = opened(anne), opened(bert)
        anne.post(f"/games/{game}/challenges", {"name": "Bert"})
        player = anne.get("/me").json["players"][0]
        assert bert.put(f"/me/blocks/{player}").status_code == 204
        assert bert.get("/me/challenges").json["items"] == []
        assert [(b["player"], b["name"]) for b in bert.get("/me/blocks").json["items"]] == [(player, "Anne")]
        refused(anne.post(f"/games/{mine}/seats", {}), 403, "not_admitted")
        bert.delete(f"/me/blocks/{player}")
        assert len(bert.get("/me/challenges").json["items"]) == 1
        assert anne.post(f"/games/{mine}/seats", {}).status_code == 201

    def test_a_guest_whom_an_account_claims_stays_blocked(self, site: Site, anne: Member, bert: Member) -> None:
        table, mine = site.table("orders@1", 3), opened(bert)
        guest = table.get().json["seats"][0]["player"]
        bert.put(f"/me/blocks/{guest}")
        refused(site.post(f"/games/{mine}/seats", {}, table.tokens[0]), 403, "not_admitted")
        assert anne.post("/me/claims", {"token": table.tokens[0]}).status_code == 200
        refused(anne.post(f"/games/{mine}/seats", {}), 403, "not_admitted")

    def test_nobody_blocks_himself(self, anne: Member) -> None:
        refused(anne.put(f"/me/blocks/{anne.get('/me').json['players'][0]}"), 403, "forbidden")

    def test_all_of_it_is_told_and_goes_with_the_account(self, site: Site, anne: Member, bert: Member) -> None:
        game, player = opened(bert), bert.get("/me").json["players"][0]
        anne.put(f"/me/watching/{game}")
        anne.put(f"/me/blocks/{player}")
        bert.post(f"/games/{game}/challenges", {"name": "Anne", "seat": 0})
        data = anne.get("/me/data").json
        assert (data["watching"], data["blocks"]) == ([game], [player])
        assert anne.delete("/me").status_code == 204
        for name in ("watching", "blocks", "challenges"):
            assert site.services.ledger.execute(f"SELECT * FROM {name}") == []  # noqa: S608 - our own names


class TestPlayers:
    def test_pages_of_results_and_tables(self, site: Site) -> None:
        """A person who has had many seats: each comes once, whatever the page."""
        first = site.table("orders@1", 3, several=True)
        player, token = first.get().json["seats"][0]["player"], first.tokens[0]
        games = [first.game]
        for listing in ("public", "unlisted", "public"):
            made = site.post("/games", BODY | {"several": True, "listing": listing}).json
            for _ in range(2):
                assert site.post(f"/games/{made['game']}/seats", {}, token).status_code == 201
            games += [made["game"]] if listing == "public" else []
            site.post(f"/games/{made['game']}/close", {"reason": "void"}, made["token"])
        whole = site.get(f"/players/{player}/results").json
        assert ([r["game"] for r in whole["items"]], whole["unfinished"]) == ([games[2]] * 2 + [games[1]] * 2, 4)
        seen, path = [], f"/players/{player}/results?limit=1"
        while path:
            page = site.get(path).json
            assert (page["finished"], page["unfinished"], len(page["items"])) == (0, 4, 1)
            seen += page["items"]
            path = (page["next"] or "").removeprefix("/v1")
        assert seen == whole["items"]
        assert [d["game"] for d in site.get(f"/players/{player}/games").json["items"]] == games[::-1]
        assert [d["game"] for d in site.get(f"/players/{player}/games?status=running").json["items"]] == [first.game]
        page = site.get(f"/players/{player}/games?limit=2").json
        assert [d["game"] for d in site.get(page["next"].removeprefix("/v1")).json["items"]] == [first.game]
        refused(site.get(f"/players/{player}/results?cursor=x"), 422, "invalid_query")
        own = site.get(f"/players/{player}/results", token).json
        assert (len(own["items"]), own["unfinished"]) == (6, 6), "to oneself with the table by invitation"
        assert site.get(f"/players/{player}/results", first.tokens[1]).json == whole
