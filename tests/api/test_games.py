"""Opening, finding, joining, starting: the table before it is played at."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from domain.kernel.rules.draws import commitment
from tests.api.conftest import CATALOGUE, Site, Table, refused

KEY = "k" * 32
NONCES = [bytes([n]) * 16 for n in range(3)]


class TestOpening:
    def test_the_answer_has_what_a_director_needs(self, site: Site) -> None:
        made = site.post("/games", {"ruleset": "orders@1", "seats": 3})
        assert made.status_code == 201
        doc = made.json
        assert made.headers["Location"] == f"/v1/games/{doc['game']}"
        assert (made.headers["Annals-Version"], made.headers["Annals-Position"]) == ("1", str(doc["position"]))
        assert made.headers["Cache-Control"] == "no-store"
        assert re.fullmatch(r"anl_[0-9a-f]{16}_[\w-]{43}", doc["token"])
        assert "invitation" not in doc

    def test_what_was_agreed_stands_in_the_record(self, site: Site) -> None:
        """Pace resolved, undo, listing; people as opaque ids alone."""
        pace = {"seconds": {"turn": 60}, "grace": 5}
        terms = {"options": {"turns": 2}, "pace": pace, "undo": "free", "listing": "unlisted", "name": "Anne"}
        game = site.post("/games", {"ruleset": "orders", "seats": 3, **terms}).json["game"]
        (record,) = site.services.ledger.read(game)
        body = record.body
        assert (body["pace"], body["undo"], body["listing"]) == (pace, "free", "unlisted")
        assert (body["ruleset"], body["options"]) == ("orders@1", {"turns": 2})
        assert "Anne" not in str(record)
        summary = site.get(f"/games/{game}").json
        assert (summary["undo"], summary["pace"]) == ("free", pace)

    @pytest.mark.parametrize(
        ("change", "at"),
        [
            ({"ruleset": "nothing@1"}, "/ruleset"),
            ({"ruleset": "nothing"}, "/ruleset"),
            ({"seats": 7}, "/seats"),
            ({"options": {"turns": 0}}, "/options/turns"),
            ({"options": {"turns": "3"}}, "/options/turns"),
            ({"options": {"more": 1}}, "/options/more"),
            ({"pace": "fast"}, "/pace"),
            ({"pace": 3}, "/pace"),
            ({"pace": {"seconds": {"nothing": 3}}}, "/pace/seconds/nothing"),
            ({"pace": {"seconds": {"turn": 0}}}, "/pace/seconds/turn"),
            ({"pace": {"seconds": {"turn": 60}, "grace": -1}}, "/pace/grace"),
        ],
    )
    def test_a_table_that_cannot_be_is_refused_with_a_pointer(
        self, site: Site, change: dict[str, Any], at: str
    ) -> None:
        answer = site.post("/games", {"ruleset": "orders@1", "seats": 3} | change)
        assert refused(answer, 422, "invalid_table")["errors"][0]["at"] == at
        assert site.services.ledger.log(0, 1) == []

    @pytest.mark.parametrize(
        "change", [{"undo": "maybe"}, {"listing": "secret"}, {"name": ""}, {"name": " x"}, {"name": "a\u202eb"}]
    )
    def test_a_body_that_does_not_fit_is_refused(self, site: Site, change: dict[str, Any]) -> None:
        refused(site.post("/games", {"ruleset": "orders@1", "seats": 3} | change), 422, "invalid_body")

    @pytest.mark.parametrize("code", [0x34F, 0x600, 0x6DD, 0x8E2, 0x17B4, 0x180B, 0xFE0F, 0x1D173, 0xE0041, 0xE0FFF])
    def test_a_name_holds_nothing_invisible(self, site: Site, code: int) -> None:
        body = {"ruleset": "orders@1", "seats": 3, "name": f"Ann{chr(code)}"}
        refused(site.post("/games", body), 422, "invalid_body")

    @pytest.mark.parametrize(
        "name",
        [
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian: a non-joiner within a word
            "\u0936\u094d\u200d\u092f",  # Devanagari: a half letter
            "\u0d28\u0d4d\u200d\u0d2e",  # Malayalam
            "\u0995\u09cd\u200c\u09af",  # Bengali: a virama that is seen
        ],
    )
    def test_what_a_language_is_written_with_stays(self, site: Site, name: str) -> None:
        made = site.post("/games", {"ruleset": "orders@1", "seats": 3, "name": name})
        assert made.status_code == 201, made.text
        assert list(site.services.seat_tokens.texts.list_names([made.json["player"]]).values()) == [name]

    @pytest.mark.parametrize(
        "name",
        [
            "An\u200cne",
            "An\u200dne",
            "Anne\u200c",
            "\u200cAnne",
            "\u0645\u200d\u06cc",
            "\u0645\u200c",
            "\u0645\u200c\u200c\u06cc",
            "\u0936\u094d\u200d",
            "\U0001f468\u200d\U0001f469",
            "\u2764\ufe0f",
            "Anne\U0010ffff",
            "Anne\U000f0000",
            "Anne\u0378",
            "Anne\U00016fe4",
            "Anne\u3164",
            "Anne\u2029",
        ],
    )
    def test_what_cannot_be_seen_is_named_with_its_place(self, site: Site, name: str) -> None:
        doc = refused(site.post("/games", {"ruleset": "orders@1", "seats": 3, "name": name}), 422, "invalid_body")
        ((at, said),) = [(e["at"], e["message"]) for e in doc["errors"]]
        assert at == "/name"
        assert re.search(r"U\+[0-9A-F]{4,6} \(.+\) at position [0-9] is invisible", said), said

    def test_a_name_is_kept_in_its_composed_form(self, site: Site) -> None:
        """So that two that look alike are alike, whatever keyboard they come from."""
        made = site.post("/games", {"ruleset": "orders@1", "seats": 3, "name": "Zoe\u0308"})
        assert list(site.services.seat_tokens.texts.list_names([made.json["player"]]).values()) == ["Zo\u00eb"]

    @pytest.mark.parametrize("code", [0x300, 0x489, 0x64B, 0x93F, 0x20DD, 0x1E8D0])
    def test_a_name_does_not_begin_with_a_mark(self, site: Site, code: int) -> None:
        body = {"ruleset": "orders@1", "seats": 3, "name": f"{chr(code)}Ann"}
        refused(site.post("/games", body), 422, "invalid_body")
        assert site.post("/games", body | {"name": f"A{chr(code)}nn"}).status_code == 201

    @pytest.mark.parametrize("name", ["Zo\u00eb", "Zoe\u0308 \U0001f3b2", "\u0645\u0631", "\u0928\u093f", "A-1"])
    def test_published_pattern_allows_names_and_not_much_else(self, site: Site, name: str) -> None:
        """Lookahead and characters beyond U+FFFF stand in no pattern that all languages read."""
        parts = site.get("/openapi.json").json["components"]["schemas"]
        pattern = parts["NewGame"]["properties"]["name"]["pattern"]
        for tried, told in (
            (name, True),
            (name + "\ufe0f", False),
            ("\u0301" + name, True),
            (name + "\U000e0041", True),
        ):
            made = site.post("/games", {"ruleset": "orders@1", "seats": 3, "name": tried})
            assert (made.status_code == 201) == (tried == name)
            assert bool(re.fullmatch(pattern, tried)) == told

    def test_every_preset_can_be_stored_and_read_again(self, site: Site) -> None:
        """The views resolve the stored pace once more."""
        for name in CATALOGUE.names():
            meta = CATALOGUE.get(name).meta
            for preset in meta.paces:
                made = site.post("/games", {"ruleset": name, "seats": meta.seats[0], "pace": preset})
                assert site.get(f"/games/{made.json['game']}").json["pace"]["seconds"], (name, preset)

    def test_a_repeated_request_gets_the_same_answer(self, site: Site) -> None:
        body = {"ruleset": "orders@1", "seats": 3}
        first = site.post("/games", body, Idempotency_Key=KEY)
        again = site.post("/games", body, Idempotency_Key=KEY)
        assert (again.status_code, again.data) == (201, first.data)
        assert again.headers["Idempotency-Replayed"] == "true"
        assert site.get(f"/games/{first.json['game']}/board", again.json["token"]).status_code == 200
        refused(site.post("/games", body | {"seats": 2}, Idempotency_Key=KEY), 422, "idempotency_key_reused")

    def test_a_key_that_could_be_guessed_is_refused(self, site: Site) -> None:
        answer = site.post("/games", {"ruleset": "orders@1", "seats": 3}, Idempotency_Key="k" * 31)
        refused(answer, 422, "invalid_headers")

    def test_a_token_of_another_table_is_the_same_person(self, site: Site) -> None:
        first = site.post("/games", {"ruleset": "orders@1", "seats": 3}).json
        second = site.post("/games", {"ruleset": "sealed@1", "seats": 3}, first["token"]).json
        assert first["player"] == second["player"]


class TestLobby:
    def test_only_public_games_are_listed(self, site: Site) -> None:
        for listing in ("public", "unlisted", "invitation"):
            site.post("/games", {"ruleset": "orders@1", "seats": 3, "listing": listing})
        (line,) = site.get("/games").json["items"]
        assert (line["listing"], line["status"], line["names"]) == ("public", "open", {})

    def test_pages_hold_every_game_once(self, site: Site) -> None:
        made = {site.post("/games", {"ruleset": "orders@1", "seats": 3}).json["game"] for _ in range(7)}
        seen, path = [], "/games?limit=3"
        while path:
            answer = site.get(path.removeprefix("/v1"))
            seen += [line["game"] for line in answer.json["items"]]
            path = answer.json["next"]
            assert answer.headers.get("Link") == (f'<{path}>; rel="next"' if path else None)
        assert len(seen) == 7
        assert set(seen) == made

    def test_games_of_the_same_moment_are_not_lost_between_pages(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(site.services.commands, "_clock", lambda: 5_000)
        made = {site.post("/games", {"ruleset": "orders@1", "seats": 3}).json["game"] for _ in range(5)}
        seen, path = [], "/games?limit=2"
        while path:
            answer = site.get(path.removeprefix("/v1"))
            seen += [line["game"] for line in answer.json["items"]]
            path = answer.json["next"]
        assert sorted(seen) == sorted(made)

    def test_filters(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        site.table("sealed@1", 3, start=False)
        for query, count in (("status=running", 1), ("status=open", 1), ("ruleset=sealed@1", 1), ("status=closed", 0)):
            assert len(site.get(f"/games?{query}").json["items"]) == count, query
        (line,) = site.get("/games?status=running").json["items"]
        assert line["game"] == table.game
        assert set(line["names"].values()) == {"Player 0", "Player 1", "Player 2"}

    def test_an_unknown_game_is_not_found(self, site: Site) -> None:
        unknown = "00000000-0000-4000-8000-000000000000"
        for path in ("", "/board", "/decisions", "/timeline", "/records", "/scores", "/resume", "/export", "/audit"):
            refused(site.get(f"/games/{unknown}{path}"), 404, "unknown_game")
        refused(site.get(f"/games/{unknown}/stream"), 404, "unknown_game")
        refused(site.get(f"/games/{unknown}/board?version=1"), 404, "unknown_game")
        refused(site.post(f"/games/{unknown}/seats"), 404, "unknown_game")
        refused(site.post(f"/games/{unknown}/moves", {"move": {}}), 401, "unauthenticated")
        token = site.post("/games", {"ruleset": "orders@1", "seats": 3}).json["token"]
        refused(site.post(f"/games/{unknown}/start", token=token), 404, "unknown_game")


class TestSeats:
    @pytest.fixture
    def path(self, site: Site) -> str:
        return f"/games/{site.post('/games', {'ruleset': 'orders@1', 'seats': 3}).json['game']}/seats"

    def test_any_free_seat_or_a_named_one(self, site: Site, path: str) -> None:
        first = site.post(path, {"seat": 1}).json
        assert [first["seat"], *(site.post(path).json["seat"] for _ in range(2))] == [1, 0, 2]
        refused(site.post(path), 409, "no_free_seat")
        refused(site.post(path, {"seat": 1}), 409, "seat_taken")
        refused(site.post(path, {"seat": 3}), 409, "unknown_seat")

    def test_a_refusal_speaks_the_readers_language(self, site: Site, path: str) -> None:
        site.post(path, {"seat": 1})
        said = {
            lang: refused(site.post(path, {"seat": 1}, Accept_Language=lang), 409, "seat_taken")["detail"]
            for lang in ("en", "fr-CH, en;q=0.5", "de")
        }
        assert list(said.values()) == ["The seat is taken.", "Le siège est occupé.", "The seat is taken."]

    def test_of_many_at_once_each_gets_a_seat_of_its_own(self, site: Site, path: str) -> None:
        site.asleep = True
        with ThreadPoolExecutor(5) as context:
            answers: list[Any] = list(
                context.map(lambda _: site.app.test_client().post("/v1" + path, json={}), range(5))
            )
        seats = sorted(a.json["seat"] for a in answers if a.status_code == 201)
        assert seats == [0, 1, 2]
        assert [a.json["code"] for a in answers if a.status_code != 201] == ["no_free_seat"] * 2

    def test_a_repeated_request_keeps_the_seat_and_the_token(self, site: Site, path: str) -> None:
        first = site.post(path, {"name": "Anne"}, Idempotency_Key=KEY)
        again = site.post(path, {"name": "Anne"}, Idempotency_Key=KEY)
        assert again.data == first.data
        assert again.headers["Idempotency-Replayed"] == "true"
        refused(site.post(path, {"seat": 2}, Idempotency_Key=KEY), 422, "idempotency_key_reused")

    def test_an_invitation_is_needed_where_it_was_agreed(self, site: Site) -> None:
        made = site.post("/games", {"ruleset": "orders@1", "seats": 3, "listing": "invitation"}).json
        path = f"/games/{made['game']}/seats"
        refused(site.post(path), 403, "not_invited")
        refused(site.post(path, {"invitation": made["invitation"][:-1]}), 403, "not_invited")
        assert site.post(path, {"invitation": made["invitation"]}).status_code == 201
        assert site.post(path, token=made["token"]).status_code == 201

    def test_a_seat_is_given_back(self, site: Site, path: str) -> None:
        """By the one who sits there, and the token is worth nothing afterwards."""
        game = path.removesuffix("/seats")
        token = site.post(path, {"seat": 0}).json["token"]
        other = site.post(path, {"seat": 1}).json["token"]
        refused(site.delete(f"{path}/0", other), 403, "not_your_seat")
        refused(site.delete(f"{path}/0"), 401, "unauthenticated")
        assert site.delete(f"{path}/0", token).status_code == 200
        refused(site.get(f"{game}/board", token), 401, "unauthenticated")
        assert site.post(path, {"seat": 0}).status_code == 201

    def test_director_frees_seat_of_running_game_for_another_player(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        assert site.delete(f"{table.path}/seats/1?hold=0", table.director).status_code == 200
        refused(table.get("/board", 1), 401, "unauthenticated")
        assert table.get().json["seats"][1]["vacant"] is True
        taken = table.post("/seats", {"name": "New"})
        assert taken.json["seat"] == 1
        assert "own" in site.get(f"{table.path}/board", taken.json["token"]).json
        assert "New" in table.get().json["names"].values()

    def test_a_token_opens_its_own_table_only(self, site: Site) -> None:
        one, other = site.table("orders@1", 3), site.table("orders@1", 3)
        for path in ("", "/board", "/timeline", "/stream", "/export"):
            refused(site.get(one.path + path, other.tokens[0]), 403, "other_table")
        refused(one.post("/start", token=other.director), 403, "other_table")
        refused(one.post("/moves", {"move": {}}, other.tokens[0]), 403, "other_table")

    @pytest.mark.parametrize("header", ["", "Bearer", "Bearer x", "Basic YTpi", "Bearer anl_0000000000000000_x"])
    def test_a_token_that_is_none_is_refused_everywhere(self, site: Site, header: str) -> None:
        """Also where none is needed: nobody takes the public's view for their own."""
        table = site.table("orders@1", 3)
        answer = site.get(table.path + "/board", Authorization=header)
        refused(answer, 401, "unauthenticated")
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="annals"'


class TestStarting:
    def test_nonces_are_committed_then_shown(self, site: Site) -> None:
        made = site.post("/games", {"ruleset": "orders@1", "seats": 3}).json
        path = f"/games/{made['game']}"
        tokens: list[str] = []
        for nonce in NONCES:
            refused(
                site.post(f"{path}/nonces", {"nonce": nonce.hex()}, tokens[0]), 409, "seats_missing"
            ) if tokens else 0
            tokens.append(site.post(f"{path}/seats", {"nonce_hash": commitment(nonce)}).json["token"])
        refused(site.post(f"{path}/nonces", {"nonce": NONCES[1].hex()}, tokens[0]), 409, "nonce_mismatch")
        refused(site.post(f"{path}/nonces", {"nonce": NONCES[1].hex()}, made["token"]), 403, "seats_only")
        refused(site.post(f"{path}/nonces", {"nonce": "xyz"}, tokens[0]), 422, "invalid_body")
        for token, nonce in zip(tokens, NONCES, strict=True):
            assert site.post(f"{path}/nonces", {"nonce": nonce.hex()}, token).status_code == 201
            is_last = nonce is NONCES[-1]
            early = site.post(f"{path}/start", token=made["token"])
            assert early.status_code == 201 if is_last else early.json["code"] == "nonces_open"
        assert [s["nonce"] for s in site.get(path).json["seats"]] == [n.hex() for n in NONCES]

    def test_a_game_starts_once_all_seats_are_taken(self, site: Site) -> None:
        """By the director or any seat."""
        made = site.post("/games", {"ruleset": "orders@1", "seats": 2}).json
        path = f"/games/{made['game']}"
        token = site.post(f"{path}/seats").json["token"]
        refused(site.post(f"{path}/start"), 401, "unauthenticated")
        refused(site.post(f"{path}/start", token=made["token"]), 409, "seats_missing")
        refused(site.post(f"{path}/start", {"patch": {}}, made["token"]), 422, "unknown_field")
        site.post(f"{path}/seats")
        assert site.post(f"{path}/start", token=token).status_code == 201
        refused(site.post(f"{path}/start", token=token), 409, "not_open")
        refused(site.post(f"{path}/seats"), 409, "no_free_seat")

    def test_a_repeated_start_gets_the_same_bytes(self, site: Site) -> None:
        table = site.table("orders@1", 3, start=False)
        answers = [table.post("/start", token=table.director, Idempotency_Key="start-it-now") for _ in range(3)]
        assert len({a.data for a in answers}) == 1
        assert [a.headers.get("Idempotency-Replayed") for a in answers] == [None, "true", "true"]


class TestForgetting:
    def test_names_can_be_erased_by_their_owner(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        player = table.get().json["seats"][0]["player"]
        refused(site.delete(f"/players/{player}/name", table.tokens[1]), 403, "forbidden")
        assert site.delete(f"/players/{player}/name", table.tokens[0]).status_code == 204
        assert "Player 0" not in table.get().text
        assert table.get("/board", 0).status_code == 200


class TestVacations:
    def table(self, site: Site, **more: int) -> Table:
        return site.table("orders@1", 3, pace={"seconds": {"turn": 60}} | more)

    def test_a_seat_takes_days_of_its_own(self, site: Site) -> None:
        table = self.table(site, vacation=3, bank=60)
        before = table.get("/decisions").json["decisions"][0]
        answer = table.post("/vacations", {"days": 2}, table.tokens[1])
        assert answer.status_code == 201, answer.text
        shown = table.get().json
        assert [(a["bank"], a["vacation"], a["back"] is None) for a in shown["accounts"]] == [
            (60_000, 3, True),
            (60_000, 1, False),
            (60_000, 3, True),
        ]
        after = table.get("/decisions").json["decisions"][0]
        assert after["deadline"] == before["deadline"]
        assert [after["due"][s] - before["due"][s] for s in "012"] == [0, 2 * 86_400_000, 0]
        assert before["due"]["0"] == before["deadline"] + 60_000
        entry = table.get("/timeline?limit=200").json["items"][-1]
        assert (entry["kind"], entry["seat"], entry["text"]) == ("rested", 1, ["Player 1 goes on vacation for 2 days."])

    def test_not_more_than_it_has(self, site: Site) -> None:
        table = self.table(site, vacation=1)
        assert refused(table.post("/vacations", {"days": 2}, table.tokens[0]), 409, "no_vacation_left")["figures"] == {
            "days": 1
        }
        refused(table.post("/vacations", {"days": 0}, table.tokens[0]), 422, "invalid_body")
        refused(table.post("/vacations", {"days": 1}, table.director), 403, "seats_only")
        refused(table.post("/vacations", {"days": 1}), 401, "unauthenticated")
        refused(self.table(site).post("/vacations", {"days": 1}, table.tokens[0]), 403, "other_table")
        none = self.table(site)
        refused(none.post("/vacations", {"days": 1}, none.tokens[0]), 409, "no_vacation_left")
        assert none.get().json["accounts"] == []

    def test_once_for_a_key(self, site: Site) -> None:
        table = self.table(site, vacation=2)
        first = table.post("/vacations", {"days": 1}, table.tokens[0], Idempotency_Key="vacation-1")
        again = table.post("/vacations", {"days": 1}, table.tokens[0], Idempotency_Key="vacation-1")
        assert (first.data, again.headers["Idempotency-Replayed"]) == (again.data, "true")
        assert table.get().json["accounts"][0]["vacation"] == 1
