"""Seats that change hands and lose nothing: holds, new tokens, one seat a person, one's own tables, the builder."""

from __future__ import annotations

from typing import Any

import pytest

from domain.command_handler import GameConditions
from domain.kernel.game.command_of_record import command_of
from domain.kernel.game.deadlines import NO_DEADLINES
from domain.kernel.game.director_commands import Look
from domain.kernel.game.table_commands import Close
from tests.api.conftest import Reply, Site, Table, refused


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3, pace={"seconds": {"turn": 60}})


def looks(table: Table) -> int:
    """How many are in the log."""
    s = table.site.services
    p = s.commands.game(table.game)
    return sum(r.kind == "ruled" and isinstance(command_of(r, p), Look) for r in s.ledger.read(table.game))


def hold(table: Table, seat: int, seconds: int, token: str | None = None, **headers: str) -> Reply:
    token = table.director if token is None else token
    return table.site.put(f"{table.path}/seats/{seat}/hold", {"seconds": seconds}, token, **headers)


class TestHolds:
    def test_seat_that_is_left_is_held_as_long_as_anybody_may_think(self, orders: Table) -> None:
        assert orders.get().json["hold"] == 60
        assert orders.site.delete(f"{orders.path}/seats/1", orders.tokens[1]).status_code == 200
        shown = orders.get().json
        assert shown["seats"][1]["held"] == shown["at"] + 60_000
        assert not shown["seats"][1]["vacant"]
        work = {
            at: {row.work for row in orders.site.services.reader.list_due(shown["at"] + at)} for at in (59_999, 60_000)
        }
        assert ("vacant" in work[59_999], "vacant" in work[60_000]) == (False, True)
        (entry,) = orders.get(f"/timeline?after={orders.version - 1}").json["items"]
        assert entry["text"][0] == "Player 1 leaves the game; the seat is held for 1 minute."

    def test_without_deadlines_for_hour_and_as_the_table_has_agreed(self, site: Site) -> None:
        assert site.table("orders@1", 3).get().json["hold"] == 3600
        table = site.table("orders@1", 3, hold=0)
        site.delete(f"{table.path}/seats/1", table.tokens[1])
        assert table.get().json["seats"][1]["held"] is None

    def test_a_player_may_say_less_and_a_director_more(self, site: Site) -> None:
        for who, asked, held in ((0, 500, 100), (0, 20, 20), ("director", 500, 500)):
            table = site.table("orders@1", 3, hold=100)
            left = site.delete(f"{table.path}/seats/0?hold={asked}", table.token(who))
            assert left.status_code == 200, left.text
            shown = table.get().json
            assert shown["seats"][0]["held"] == shown["at"] + held * 1000
            refused(site.delete(f"{table.path}/seats/1?hold=-1", table.tokens[1]), 422, "invalid_query")

    def test_who_leaves_does_not_show_whether_they_had_answered(self, site: Site) -> None:
        """By the number of seals, which everybody can read; nor does a rewind behind that."""
        seals = []
        for seat in (1, 2):
            table = site.table("windows@1", 3, hold=0)
            table.move(0, {"type": "attack", "target": 1})
            table.move(seat, {"type": "pass"})
            assert site.delete(f"{table.path}/seats/1", table.tokens[1]).status_code == 200
            back = table.post("/rewinds", {"to": table.version - 1}, table.director, If_Match=f'"{table.version}"')
            assert back.status_code == 202, back.text
            found = table.get(f"/records?after={table.version - 2}").json["items"]
            seals.append([(r["kind"], len(r["seals"])) for r in found])
            table.post("/close", {"reason": "void"}, table.director)
            assert table.get("/audit").json["proved"] is True
        assert seals[0] == seals[1] == [("left", 2), ("rewound", 2)]

    def test_leaving_again_and_again_gives_no_more_time(self, site: Site) -> None:
        """What the seat was held before counts, whoever sat there."""
        table = site.table("orders@1", 3, hold=100)
        now = [table.get().json["at"]]
        site.services.commands._clock = lambda: now[0]
        held = []
        for _ in range(3):
            site.delete(f"{table.path}/seats/0", table.tokens[0])
            shown = table.get().json
            held.append((shown["seats"][0]["held"] or shown["at"]) - shown["at"])
            now[0] += 60_000
            table.tokens[0] = table.post("/seats", {"seat": 0}).json["token"]
        assert held == [100_000, 40_000, 0]

    def test_before_the_start_there_is_nothing_to_hold(self, site: Site) -> None:
        table = site.table("orders@1", 3, start=False)
        site.delete(f"{table.path}/seats/1", table.tokens[1])
        assert table.get().json["seats"][1]["held"] is None

    def test_the_director_holds_a_seat_until_somebody_sits_there(self, orders: Table) -> None:
        assert hold(orders, 2, 500).status_code == 200
        assert orders.get().json["seats"][2]["held"]
        (entry,) = orders.get(f"/timeline?after={orders.version - 1}").json["items"]
        assert entry["text"] == ["The place of Player 2 is held for 8 minutes and 20 seconds."]
        orders.site.delete(f"{orders.path}/seats/2?hold=900", orders.director)
        assert orders.get().json["seats"][2]["held"]
        assert orders.post("/seats", {"seat": 2}).status_code == 201
        assert orders.get().json["seats"][2]["held"] is None
        assert orders.get("/audit").json["proved"] is True

    def test_only_the_director_and_only_seats_that_there_are(self, orders: Table) -> None:
        refused(hold(orders, 0, 5, orders.tokens[0]), 403, "directors_only")
        refused(hold(orders, 0, 5, ""), 401, "unauthenticated")
        refused(hold(orders, 7, 5), 409, "unknown_seat")
        refused(hold(orders, 0, -1), 422, "invalid_body")
        refused(hold(orders, 0, 400 * 24 * 3600 + 1), 422, "invalid_body")
        refused(hold(orders, 0, 5, If_Match='"1"'), 412, "stale_version")
        orders.post("/close", {"reason": "void"}, orders.director)
        refused(hold(orders, 0, 5), 409, "game_over")

    def test_a_repetition_is_one_hold(self, orders: Table) -> None:
        first, again = (hold(orders, 0, 50, Idempotency_Key="hold-number-1") for _ in range(2))
        assert first.data == again.data


class TestNewTokens:
    def reissue(self, table: Table, seat: int, token: str | None = None, **headers: str) -> Reply:
        return table.post(f"/seats/{seat}/tokens", token=table.director if token is None else token, **headers)

    def test_the_player_stays_and_the_old_token_opens_nothing(self, orders: Table) -> None:
        before = orders.get().json["seats"]
        answer = self.reissue(orders, 1, Idempotency_Key="x" * 32)
        assert answer.status_code == 201, answer.text
        new, old = answer.json["token"], orders.tokens[1]
        refused(orders.post("/choices", {}, old), 401, "unauthenticated")
        assert orders.post("/choices", {}, new).status_code == 200
        assert orders.get().json["seats"] == before
        assert self.reissue(orders, 1, Idempotency_Key="x" * 32).data == answer.data
        (entry,) = orders.get(f"/timeline?after={orders.version - 1}").json["items"]
        assert entry["text"] == ["Player 1 is given a new token by the director."]
        assert orders.get("/audit").json["proved"] is True

    def test_repetition_after_another_gives_no_open_secret(self, orders: Table) -> None:
        first = self.reissue(orders, 1, Idempotency_Key="x" * 32).json["token"]
        second = self.reissue(orders, 1, Idempotency_Key="y" * 32).json["token"]
        assert self.reissue(orders, 1, Idempotency_Key="x" * 32).json["token"] == first
        refused(orders.post("/choices", {}, first), 401, "unauthenticated")
        assert orders.post("/choices", {}, second).status_code == 200

    def test_it_speaks_for_nobody_at_other_tables(self, orders: Table) -> None:
        """The director who gave it out may have kept it."""
        site, path = orders.site, f"/games/{orders.game}/seats"
        other = site.post("/games", {"ruleset": "orders@1", "seats": 3}, orders.tokens[1]).json
        new = self.reissue(orders, 1).json["token"]
        player = orders.get().json["seats"][1]["player"]
        found = site.get("/me/games", new).json["items"]
        assert [(g["game"], g["roles"]) for g in found] == [(orders.game, [1])]
        refused(site.delete(f"/players/{player}/name", new), 403, "forbidden")
        assert site.post("/games", {"ruleset": "orders@1", "seats": 3}, new).json["player"] != player
        assert site.get("/me/games", other["token"]).status_code == 200
        site.delete(f"{path}/1", new)
        assert orders.post("/choices", {}, new).status_code == 401

    def test_who_may_not(self, orders: Table) -> None:
        refused(self.reissue(orders, 1, orders.tokens[1]), 403, "directors_only")
        refused(self.reissue(orders, 7), 409, "unknown_seat")
        refused(self.reissue(orders, 1, If_Match='"1"'), 412, "stale_version")
        orders.site.delete(f"{orders.path}/seats/1", orders.tokens[1])
        refused(self.reissue(orders, 1), 409, "seat_empty")
        assert orders.post("/seats", {"seat": 1}, orders.director).status_code == 201
        refused(self.reissue(orders, 0), 403, "director_plays")
        assert self.reissue(orders, 1).status_code == 201, "of the director's own seat"


class TestOnePerson:
    def test_takes_two_seats_only_where_the_table_lets_it(self, site: Site) -> None:
        for several, status in ((False, 409), (True, 201)):
            made = site.post("/games", {"ruleset": "orders@1", "seats": 3, "several": several}).json
            assert site.get(f"/games/{made['game']}").json["several"] is several
            path = f"/games/{made['game']}/seats"
            mine = site.post(path).json["token"]
            second = site.post(path, {}, mine)
            assert second.status_code == status, second.text
            assert site.post(path, {}).status_code == 201

    def test_finds_all_tables_that_are_theirs(self, site: Site) -> None:
        mine = site.post("/games", {"ruleset": "orders@1", "seats": 3, "listing": "invitation"}).json
        other = site.post("/games", {"ruleset": "orders@1", "seats": 3}, mine["token"]).json
        site.post(f"/games/{other['game']}/seats", {"seat": 2}, mine["token"])
        site.post("/games", {"ruleset": "orders@1", "seats": 3})
        found = site.get("/me/games", mine["token"]).json["items"]
        assert [(g["game"], g["roles"]) for g in found] == [
            (other["game"], [2, "director"]),
            (mine["game"], ["director"]),
        ]
        assert [g["game"] for g in site.get("/games").json["items"]].count(mine["game"]) == 0
        page = site.get("/me/games?limit=1&status=open", other["token"]).json
        assert [g["game"] for g in page["items"]] == [other["game"]]
        rest = site.get(page["next"].removeprefix("/v1"), other["token"]).json
        assert ([g["game"] for g in rest["items"]], rest["next"]) == ([mine["game"]], None)
        assert site.get("/me/games?status=closed", mine["token"]).json["items"] == []
        refused(site.get("/me/games"), 401, "unauthenticated")


class TestTheDirectorsBuilder:
    @pytest.fixture
    def window(self, site: Site) -> Table:
        """Seat 1 has a card that it may play, which nobody else knows."""
        for _ in range(50):
            table = site.table("windows@1", 3, hold=0)
            table.move(0, {"type": "attack", "target": 1})
            if len(table.post("/choices", {}, table.tokens[1]).json["choice"]["options"]) > 1:
                return table
        raise AssertionError("nobody is dealt a card that fits")

    def ask(self, table: Table, **body: Any) -> Reply:
        return table.post("/choices", body, table.director)

    def test_of_seat_with_a_player_who_is_in_time_it_tells_nothing(self, orders: Table) -> None:
        refused(self.ask(orders, seat=0), 403, "seats_only")
        refused(self.ask(orders), 422, "invalid_body")
        refused(self.ask(orders, seat=9), 409, "unknown_seat")
        refused(orders.post("/choices", {"seat": 1}, orders.tokens[0]), 403, "not_your_seat")
        assert orders.post("/choices", {"seat": 0}, orders.tokens[0]).status_code == 200
        assert looks(orders) == 0

    def test_what_is_hidden_is_told_once_the_look_is_in_the_log(self, window: Table) -> None:
        window.site.delete(f"{window.path}/seats/1?hold=60", window.director)
        before = window.version
        answer = self.ask(window, seat=1)
        assert answer.status_code == 200, answer.text
        assert (answer.json["looked"], looks(window)) == (True, 1)
        assert answer.json["version"] == window.version == before + 1
        again = self.ask(window, seat=1, decision=answer.json["decision"])
        assert (again.json["choice"], again.json["looked"], looks(window)) == (answer.json["choice"], True, 1)
        assert window.get("/audit").json["proved"] is True

    def test_that_no_look_was_needed_does_not_tell_what_a_seat_has(self, site: Site) -> None:
        """Two hands out of three hold an ambush, which the builder offers; one that holds none is as much a secret."""
        hands = set()
        for _ in range(25):
            table = site.table("windows@1", 3, hold=0)
            table.move(0, {"type": "attack", "target": 1})
            site.delete(f"{table.path}/seats/1?hold=60", table.director)
            state: Any = site.services.commands.game(table.game).state
            hands.add("ambush" in state.hands[1])
            assert (self.ask(table, seat=1).json["looked"], looks(table)) == (True, 1)
        assert hands == {True, False}

    def test_look_counts_for_its_decision_with_clock_set_back(self, window: Table) -> None:
        window.site.services.commands._clock = lambda: 0
        window.site.delete(f"{window.path}/seats/1?hold=60", window.director)
        assert self.ask(window, seat=1).status_code == 200
        before = window.decision, looks(window)
        for seat in (0, 2):
            window.move(seat, {"type": "pass"})
        moved = {"seat": 1, "move": {"type": "pass"}, "decision": window.decision}
        assert window.post("/moves", moved, window.director).status_code == 201
        assert self.ask(window, seat=1).json["decision"] == window.decision != before[0]
        assert looks(window) > before[1]

    def test_what_everybody_can_work_out_is_no_look(self, orders: Table) -> None:
        orders.site.delete(f"{orders.path}/seats/1", orders.tokens[1])
        answer = self.ask(orders, seat=1)
        assert (answer.status_code, answer.json["looked"], looks(orders)) == (200, False, 0)

    def test_of_a_seat_that_is_late_it_tells_too(self, orders: Table) -> None:
        later = orders.get().json["due"] + 1
        orders.site.services = orders.site.services.__class__(**vars(orders.site.services) | {"clock": lambda: later})
        orders.site.remake()
        assert self.ask(orders, seat=0).status_code == 200

    def test_who_has_answered_is_not_late(self, orders: Table) -> None:
        orders.move(0, {"type": "submit"})
        later = orders.get().json["due"] + 1
        orders.site.services = orders.site.services.__class__(**vars(orders.site.services) | {"clock": lambda: later})
        orders.site.remake()
        refused(self.ask(orders, seat=0), 403, "seats_only")
        assert self.ask(orders, seat=1).status_code == 200

    def test_who_holds_a_seat_asks_for_no_other(self, window: Table) -> None:
        for seat in (1, 2):
            window.site.delete(f"{window.path}/seats/{seat}?hold=0", window.tokens[seat])
        assert window.post("/seats", {"seat": 2}, window.director).status_code == 201
        refused(self.ask(window, seat=1), 403, "director_plays")
        assert looks(window) == 0


class TestEndings:
    def test_a_table_that_was_not_finished_has_no_final_places(self, orders: Table) -> None:
        assert orders.get().json["ending"] is None
        orders.post("/close", {"reason": "abandoned"}, orders.director)
        ending = {"reason": "abandoned", "by": "director", "finished": False}
        assert orders.get().json["ending"] == ending
        scores = orders.get("/scores").json
        assert (scores["final"], scores["scores"], scores["ending"]) == (False, [], ending)
        player = orders.get().json["seats"][0]["player"]
        results = orders.site.get(f"/players/{player}/results").json
        assert (results["finished"], results["unfinished"]) == (0, 1)
        (item,) = results["items"]
        shown = (item["place"], item["points"], item["reason"], item["by"], item["seat"])
        assert shown == (None, None, "abandoned", "director", 0)
        (entry,) = orders.get(f"/timeline?after={orders.version - 1}").json["items"]
        assert (entry["by"], entry["body"]) == ("director", {"reason": "abandoned"})
        assert entry["text"] == [
            "The director declares the game abandoned and closes it; the secret behind its chance is now public."
        ]
        assert orders.get("/audit").json["proved"] is True

    def test_where_it_was_closed_nothing_is_offered(self, orders: Table) -> None:
        orders.post("/close", {"reason": "void"}, orders.director)
        refused(orders.post("/choices", {}, orders.tokens[0]), 409, "game_over")
        refused(orders.post("/choices", {"seat": 0}, orders.director), 409, "game_over")

    def test_one_that_was_closed_before_its_start_has_none_either(self, site: Site) -> None:
        table = site.table("orders@1", 3, start=False)
        table.post("/close", {"reason": "void"}, table.director)
        assert table.get().json["ending"]["finished"] is False
        assert table.get("/scores").json["scores"] == []


class TestRequestsOfOlderVersions:
    """The same key with the same request gets the same answer for ever, also where requests have grown meanwhile."""

    def test_a_table_that_was_opened_before_there_were_holds(self, site: Site) -> None:
        s, key = site.services, "k" * 32
        grant, named = s.seat_tokens.make_token("", "open", key), s.seat_tokens.command_id("", "open", key)
        terms = {"pace": NO_DEADLINES.to_json(), "undo": "consent", "listing": "public"}
        first = s.commands.open(grant.game, "orders@1", 3, {}, body=terms, idempotency_key=named)
        again = site.post("/games", {"ruleset": "orders@1", "seats": 3}, Idempotency_Key=key)
        assert (again.status_code, again.json["position"]) == (201, first.position), again.text
        assert again.headers["Idempotency-Replayed"] == "true"
        for more in ({"hold": 5}, {"several": True}):
            body = {"ruleset": "orders@1", "seats": 3, **more}
            refused(site.post("/games", body, Idempotency_Key=key), 422, "idempotency_key_reused")

    def test_one_that_was_closed_before_it_was_told_by_whom(self, orders: Table) -> None:
        s, key = orders.site.services, "close-it"
        director = s.seat_tokens.authenticate(orders.director)
        assert director
        named = s.seat_tokens.command_id("act", orders.game, "director", director.player, key)
        first = s.commands.handle(orders.game, Close("void"), GameConditions(idempotency_key=named))
        again = orders.post("/close", {"reason": "void"}, orders.director, Idempotency_Key=key)
        assert (again.status_code, again.json["version"]) == (201, first.versions[-1]), again.text


class TestBots:
    def test_a_director_seats_one(self, site: Site) -> None:
        table = site.table("struggle_of_empires@1", 3, start=False)
        site.delete(f"{table.path}/seats/1", table.tokens[1])
        body = {"seat": 1, "bot": "heuristic"}
        refused(table.post("/seats", body, table.tokens[0]), 403, "directors_only")
        refused(table.post("/seats", body), 403, "directors_only")
        refused(table.post("/seats", {"bot": "heuristic"}, table.director), 422, "invalid_body")
        refused(table.post("/seats", {"seat": 1, "bot": "genius"}, table.director), 422, "invalid_body")
        refused(table.post("/seats", {"seat": 0, "bot": "builder"}, table.director), 409, "seat_taken")
        made = table.post("/seats", body, table.director, Idempotency_Key="k" * 40)
        assert (made.status_code, "token" in made.json) == (201, False)
        assert table.post("/seats", body, table.director, Idempotency_Key="k" * 40).data == made.data
        doc = table.get().json
        assert doc["names"][doc["seats"][1]["player"]] == "Bot (heuristic)"
        assert table.post("/start", token=table.director).status_code == 201

    def test_a_ruleset_without_a_heuristic_has_none(self, site: Site) -> None:
        table = site.table("orders@1", 3, start=False)
        site.delete(f"{table.path}/seats/1", table.tokens[1])
        refused(table.post("/seats", {"seat": 1, "bot": "heuristic"}, table.director), 422, "invalid_body")
        assert table.post("/seats", {"seat": 1, "bot": "builder"}, table.director).status_code == 201
