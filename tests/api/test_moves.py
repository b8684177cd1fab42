"""Moves over HTTP: versions, decisions, repetition, dry runs, the builder."""

from __future__ import annotations

import random

import pytest

from domain.kernel.game.table_commands import Close
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.player import build, kinds

ORDER = {"type": "order", "to": "t01", "units": 2}
PASS = {"type": "pass"}


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


@pytest.fixture
def skirmish(site: Site) -> Table:
    return site.table("skirmish@1", 4)


class TestPreconditions:
    def test_a_move_names_a_version_or_a_decision(self, orders: Table) -> None:
        refused(orders.post("/moves", {"move": ORDER}, orders.tokens[0]), 428, "precondition_required")
        assert orders.post("/moves", {"move": ORDER}, orders.tokens[0], If_Match='"5"').status_code == 201
        assert orders.move(0, ORDER).status_code == 201

    def test_an_old_version_is_told_the_new_one(self, orders: Table) -> None:
        before = orders.version
        doc = refused(orders.post("/moves", {"move": ORDER}, orders.tokens[0], If_Match='"4"'), 412, "stale_version")
        assert (doc["expected"], doc["version"]) == (4, before)
        assert orders.version == before

    def test_ten_sheets_do_not_disturb_each_other(self, orders: Table) -> None:
        """With the decision's id nobody is ever stale."""
        decision = orders.decision
        for seat in (0, 1, 2, 0, 1, 2):
            body = {"move": ORDER | {"units": 1}, "decision": decision}
            assert orders.post("/moves", body, orders.tokens[seat]).status_code == 201

    def test_an_answer_never_slips_into_a_later_question(self, orders: Table) -> None:
        decision = orders.decision
        for seat in (0, 1, 2):
            orders.move(seat, {"type": "submit"})
        body = {"move": ORDER, "decision": decision}
        doc = refused(orders.post("/moves", body, orders.tokens[0]), 409, "decision_closed")
        assert doc["decision"] == decision
        refused(orders.post("/choices", {"decision": decision}, orders.tokens[0]), 409, "decision_closed")
        refused(orders.post("/moves?dry_run=1", body, orders.tokens[0]), 409, "decision_closed")

    def test_of_two_counter_cards_the_first_in_the_log_wins(self, site: Site) -> None:
        """Both saw the same window; what comes later is told that it is closed, and has spent nothing."""
        for seed in range(60):
            table, rng = site.table("windows@1", 3), random.Random(seed)
            window = until_window(table)
            cards = [
                m
                for s in window["must"]
                if "play_card" in kinds(table, s)
                for m in [build(table, s, rng, ["play_card"])]
            ]
            seats = [s for s in window["must"] if "play_card" in kinds(table, s)]
            if len(seats) < 2:
                continue
            bodies = [{"move": m, "decision": window["id"]} for m in cards]
            first, second = (table.post("/moves", b, table.tokens[s]) for s, b in zip(seats[:2], bodies, strict=False))
            assert first.status_code == 201
            refused(second, 409, "decision_closed")
            return
        pytest.fail("no two seats held a card")

    def test_both_together_hold_both(self, orders: Table) -> None:
        body = {"move": ORDER, "decision": orders.decision}
        refused(orders.post("/moves", body, orders.tokens[0], If_Match='"4"'), 412, "stale_version")
        assert orders.post("/moves", body, orders.tokens[0], If_Match=f'"{orders.version}"').status_code == 201


class TestRepetition:
    def test_same_request_gets_the_same_bytes_and_stores_nothing(self, orders: Table) -> None:
        key = {"Idempotency_Key": "order-number-1"}
        first = orders.move(0, ORDER, **key)
        version = orders.version
        orders.move(1, ORDER)
        again = orders.move(0, ORDER, **key)
        assert first.status_code == again.status_code == 201
        assert first.data == again.data
        assert again.headers["Idempotency-Replayed"] == "true"
        assert orders.version == version + 1

    def test_also_after_its_decision_is_gone(self, orders: Table) -> None:
        body = {"move": ORDER, "decision": orders.decision}
        first = orders.post("/moves", body, orders.tokens[0], Idempotency_Key="order-number-1")
        for seat in (0, 1, 2):
            orders.move(seat, {"type": "submit"})
        again = orders.post("/moves", body, orders.tokens[0], Idempotency_Key="order-number-1")
        assert first.data == again.data

    def test_the_key_with_another_request_is_refused(self, orders: Table) -> None:
        orders.move(0, ORDER, Idempotency_Key="order-number-1")
        answer = orders.move(0, ORDER | {"units": 1}, Idempotency_Key="order-number-1")
        refused(answer, 422, "idempotency_key_reused")

    def test_every_seat_has_keys_of_its_own(self, orders: Table) -> None:
        for seat in (0, 1, 2):
            assert "Idempotency-Replayed" not in orders.move(seat, ORDER, Idempotency_Key="the-same-key").headers

    def test_a_refusal_is_not_remembered(self, orders: Table) -> None:
        much = ORDER | {"units": 9}
        refused(orders.move(0, much, Idempotency_Key="order-number-1"), 409, "insufficient_funds")
        assert orders.move(0, ORDER, Idempotency_Key="order-number-1").status_code == 201

    def test_the_key_stands_in_no_record(self, orders: Table) -> None:
        orders.move(0, ORDER, Idempotency_Key="my-private-key")
        assert "my-private-key" not in str(orders.site.services.ledger.read(orders.game))


class TestRefusals:
    def test_a_refusal_has_code_rule_and_own_figures(self, orders: Table) -> None:
        doc = refused(orders.move(0, ORDER | {"units": 6}), 409, "insufficient_funds")
        assert (doc["rule"], doc["figures"]) == ("OR-2", {"free": 5})

    def test_a_list_is_all_or_nothing(self, orders: Table) -> None:
        before = orders.version
        moves = [ORDER, ORDER, ORDER]
        body = {"moves": moves, "decision": orders.decision}
        refused(orders.post("/moves", body, orders.tokens[0]), 409, "insufficient_funds")
        assert orders.version == before
        assert orders.post("/moves", body | {"moves": moves[:2]}, orders.tokens[0]).status_code == 201
        assert orders.version == before + 1

    def test_the_answer_holds_what_the_seat_may_read(self, orders: Table) -> None:
        answer = orders.move(0, ORDER)
        (record,) = answer.json["records"]
        assert record["facts"] == [{"t": "order_filed", "seat": 0, "to": "t01", "units": 2}]
        assert answer.headers["Annals-Version"] == str(orders.version)

    def test_only_with_a_token_of_the_seat(self, orders: Table) -> None:
        body = {"move": ORDER, "decision": orders.decision, "seat": 1}
        refused(orders.post("/moves", body, orders.tokens[0]), 403, "not_your_seat")
        refused(orders.post("/moves", body), 401, "unauthenticated")
        assert orders.post("/moves", body, orders.tokens[1]).status_code == 201

    def test_nothing_is_moved_before_the_start_or_after_the_end(self, site: Site) -> None:
        table = site.table("skirmish@1", 4, start=False)
        body = {"move": PASS, "decision": "0-1"}
        refused(table.post("/moves", body, table.tokens[0]), 409, "not_running")
        refused(table.post("/moves?dry_run=1", body, table.tokens[0]), 409, "not_running")
        refused(table.post("/choices", {}, table.tokens[0]), 409, "not_running")
        table.post("/start", token=table.director)
        site.services.commands.handle(table.game, Close("abandoned"))
        refused(table.post("/moves", body, table.tokens[0]), 409, "game_over")
        refused(table.post("/moves?dry_run=1", body, table.tokens[0]), 409, "game_over")


class TestDirector:
    def test_a_director_moves_for_a_seat(self, skirmish: Table) -> None:
        (seat,) = skirmish.get("/decisions").json["decisions"][0]["must"]
        body = {"move": PASS, "decision": skirmish.decision, "seat": seat}
        assert skirmish.post("/moves", body, skirmish.director).status_code == 201
        (record,) = skirmish.site.services.ledger.read(skirmish.game, skirmish.version - 1)
        assert (record.kind, record.public["by"]) == ("ruled", "director")

    def test_a_director_names_the_seat(self, skirmish: Table) -> None:
        body = {"move": PASS, "decision": skirmish.decision}
        doc = refused(skirmish.post("/moves", body, skirmish.director), 422, "invalid_body")
        assert doc["errors"][0]["at"] == "/seat"
        refused(skirmish.post("/moves", body | {"seat": 9}, skirmish.director), 409, "unknown_seat")

    def test_a_director_learns_nothing_by_trying(self, orders: Table) -> None:
        """No reason of a refusal, no dry runs, no builder for a seat that has a player with time left."""
        body = {"move": ORDER | {"units": 9}, "decision": orders.decision, "seat": 0}
        refused(orders.post("/moves", body, orders.director), 409, "ruling_refused")
        refused(orders.post("/moves?dry_run=1", body, orders.director), 403, "seats_only")
        refused(orders.post("/choices", {"seat": 0}, orders.director), 403, "seats_only")
        (record,) = orders.post("/moves", body | {"move": ORDER}, orders.director).json["records"]
        assert record["facts"] == []


class TestDryRuns:
    def test_a_dry_run_stores_nothing_and_needs_no_precondition(self, orders: Table) -> None:
        before = orders.version
        answer = orders.post("/moves?dry_run=1", {"move": ORDER}, orders.tokens[0])
        assert answer.status_code == 200
        fact = {"t": "order_filed", "seat": 0, "to": "t01", "units": 2}
        told = {"legal": True, "chance": False, "barrier": True, "undo": "consent", "facts": [fact], "told": []}
        assert answer.json == told
        assert orders.version == before

    def test_it_refuses_what_the_move_would(self, orders: Table) -> None:
        path, body = "/moves?dry_run=1", {"move": ORDER | {"units": 6}}
        refused(orders.post(path, body, orders.tokens[0]), 409, "insufficient_funds")
        refused(orders.post(path, {"move": ORDER}, orders.tokens[0], If_Match='"1"'), 412, "stale_version")
        refused(orders.post(path, {"move": 3}, orders.tokens[0]), 422, "malformed_move")

    def test_it_tells_that_it_would_draw_but_not_what(self, skirmish: Table) -> None:
        rng, seen = random.Random(2), set()
        for _ in range(60):
            found = skirmish.get("/decisions").json["decisions"]
            if not found:
                break
            seat = found[0]["must"][0]
            body = {"move": build(skirmish, seat, rng), "decision": found[0]["id"]}
            tried = skirmish.post("/moves?dry_run=1", body, skirmish.tokens[seat]).json
            done = skirmish.post("/moves", body, skirmish.tokens[seat]).json
            drawn = any(r["draws"] for r in done["records"])
            assert drawn == tried["chance"]
            assert drawn or tried["barrier"] or tried["facts"] == done["records"][0]["facts"]
            seen.add(drawn)
        assert seen == {True, False}

    def test_a_spy_is_not_seen_through_a_dry_run(self, orders: Table) -> None:
        """What a look shows is paid for first."""
        tried = orders.post("/moves?dry_run=1", {"move": {"type": "spy", "to": "t01"}}, orders.tokens[0]).json
        assert tried["legal"] is True
        assert "facts" not in tried

    def test_it_tells_no_seat_what_others_have_answered_in_secret(self, site: Site) -> None:
        """The same answer, whether all others have answered or nobody has."""
        seen = set()
        for others in (False, True):
            table, rng = site.table("windows@1", 3), random.Random(3)
            window = until_window(table)
            first, *rest = window["must"]
            for seat in rest if others else ():
                body = {"move": {"type": "pass"}, "decision": window["id"]}
                assert table.post("/moves", body, table.tokens[seat]).status_code == 201
            assert "pass" in kinds(table, first), rng
            seen.add(table.post("/moves?dry_run=1", {"move": {"type": "pass"}}, table.tokens[first]).data)
        assert len(seen) == 1


def until_window(table: Table) -> Doc:
    """Attacks until several seats are asked at once; that decision."""
    rng = random.Random(1)
    for _ in range(30):
        decision: Doc = table.get("/decisions").json["decisions"][0]
        seat = decision["must"][0]
        if len(decision["must"]) > 1:
            return decision
        first = ["attack"] if "attack" in kinds(table, seat) else []
        move = build(table, seat, rng, first)
        table.post("/moves", {"move": move, "decision": decision["id"]}, table.tokens[seat])
    pytest.fail("no window came")


class TestBuilder:
    def test_questions_come_one_by_one_with_labels(self, orders: Table) -> None:
        doc = orders.post("/choices", {}, orders.tokens[0]).json
        assert (doc["decision"], doc["move"], doc["choice"]["field"]) == (orders.decision, None, "type")
        assert {"value": "submit", "ends": True, "label": "move.submit", "text": "submit"} in doc["choice"]["options"]
        doc = orders.post("/choices", {"picks": ["order"]}, orders.tokens[0]).json
        assert doc["choice"]["options"][1] == {"value": "t01", "label": "word.t01", "text": "t01"}
        doc = orders.post("/choices", {"picks": ["order", "t01"]}, orders.tokens[0]).json
        assert (doc["choice"]["kind"], doc["choice"]["lo"], doc["choice"]["hi"]) == ("range", 1, 5)
        doc = orders.post("/choices", {"picks": ["order", "t01", 2]}, orders.tokens[0]).json
        assert (doc["choice"], doc["move"]) == (None, ORDER)

    def test_none_yes_and_no_have_words_too(self, site: Site) -> None:
        table = site.table("sealed@1", 3)
        seat = table.get("/decisions").json["decisions"][0]["must"][0]
        move = build(table, seat, random.Random(1), ["attack"])
        table.post("/moves", {"move": move, "decision": table.decision}, table.tokens[seat])
        asked = table.get("/decisions").json["decisions"][0]["must"]
        found = [table.post("/choices", {}, table.tokens[x], Accept_Language="fr").json["choice"] for x in asked]
        none = {"value": None, "label": "word.none", "text": "aucun"}
        assert any(none in choice["options"] for choice in found)

    @pytest.mark.parametrize("picks", [["nothing"], [None], [{"a": 1}], ["order", "t99"], ["submit", 1], [2.5], [True]])
    def test_a_pick_that_was_not_offered_is_refused(self, orders: Table, picks: list[object]) -> None:
        refused(orders.post("/choices", {"picks": picks}, orders.tokens[0]), 409, "not_offered")

    def test_all_moves_come_at_once(self, orders: Table) -> None:
        """As many as there are, each as the questions lead to it, in their order."""

        def led(picks: list[object]) -> list[Doc]:
            doc = orders.post("/choices", {"picks": picks}, orders.tokens[0]).json
            if doc["move"]:
                return [doc["move"]]
            asked = doc["choice"]
            values = [o["value"] for o in asked.get("options", ())] or range(asked["lo"], asked["hi"] + 1)
            return [move for value in values for move in led([*picks, value])]

        doc = orders.post("/choices?all=1", {}, orders.tokens[0]).json
        assert (doc["choice"], doc["move"], doc["moves"]) == (None, None, led([]))
        assert doc["count"] == len(doc["moves"]) > 10
        assert doc == orders.post("/choices?all=1", {}, orders.tokens[0]).json
        assert len({*doc["texts"]}) == len(doc["moves"])
        some = orders.post("/choices?all=1&limit=3", {"picks": ["order"]}, orders.tokens[0]).json
        assert (some["moves"], some["count"]) == (led(["order"])[:3], len(led(["order"])))
        assert orders.post("/choices?all=1", {"picks": ["order", "t01", 2]}, orders.tokens[0]).json["moves"] == [ORDER]
        refused(orders.post("/choices?all=1", {"picks": ["nothing"]}, orders.tokens[0]), 409, "not_offered")
        refused(orders.post("/choices?all=1&limit=0", {}, orders.tokens[0]), 422, "invalid_query")

    def test_the_next_answers_come_at_once(self, site: Site) -> None:
        """Each is what a request with its picks tells; more moves than wanted end the list."""
        table = site.table("struggle_of_empires@1", 2)
        (seat,) = table.get("/decisions").json["decisions"][0]["must"]
        token = table.tokens[seat]
        first, plain = (table.post(f"/choices?ahead={most}", {}, token).json for most in (24, 0))
        assert first == plain | {"ahead": first["ahead"]}
        led = table.post("/choices?all=1", {}, token).json["moves"]
        assert sorted(map(str, (each["move"] for each in first["ahead"] if each["move"]))) == sorted(map(str, led))
        assert len(led) > 4
        for each in first["ahead"]:
            asked = table.post("/choices", {"picks": each["picks"]}, token).json
            assert each == {"picks": each["picks"]} | {name: asked[name] for name in ("choice", "move", "text")}
            assert asked["text"] is None or asked["text"].startswith("Play ")
        assert table.post("/choices?ahead=1", {}, token).json["ahead"] == []
        refused(table.post("/choices?ahead=25", {}, token), 422, "invalid_query")

    def test_questions_options_and_moves_are_in_clients_language(self, site: Site) -> None:
        """The bidder itself is you, and the purse stands in the question."""
        table = site.table("struggle_of_empires@1", 2)
        while (decision := table.get("/decisions").json["decisions"][0])["kind"] != "auction_bid":
            seat = decision["must"][0]
            table.move(seat, build(table, seat, random.Random(1)))
        (seat,) = decision["must"]
        power = table.get("/board").json["public"]["empires"][1 - seat]["power"]

        def ask(picks: list[object], lang: str) -> Doc:
            found: Doc = table.post("/choices", {"picks": picks}, table.tokens[seat], Accept_Language=lang).json
            return found

        assert "You have" in ask(["bid"], "en")["choice"]["text"]
        asked = ask(["bid", 2], "fr")["choice"]
        assert asked["text"] == "Qui rejoint l'alliance grise\u202f?"
        assert {"value": seat, "text": "Vous"} in asked["options"]
        done = ask(["bid", 2, seat, 1 - seat], "en")
        assert done["text"].startswith("Bid 2 gold: you grey, ")
        assert power.capitalize().split("_")[0] in done["text"]

    def test_what_cannot_be_counted_says_so(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domain.queries.MAX_QUESTIONS", 8)
        doc = orders.post("/choices?all=1", {}, orders.tokens[0]).json
        assert doc["count"] is None
        assert 0 < len(doc["moves"]) < 8

    def test_all_moves_of_a_seat_are_for_that_seat(self, orders: Table) -> None:
        orders.site.delete(f"{orders.path}/seats/0", orders.tokens[0])
        assert orders.post("/choices", {"seat": 0}, orders.director).status_code == 200
        for query in ("all=1", "ahead=12"):
            refused(orders.post(f"/choices?{query}", {"seat": 0}, orders.director), 403, "seats_only")

    def test_who_does_not_decide_is_told_so(self, skirmish: Table) -> None:
        (seat,) = skirmish.get("/decisions").json["decisions"][0]["must"]
        refused(skirmish.post("/choices", {}, skirmish.tokens[(seat + 1) % 4]), 409, "not_your_decision")

    def test_words_come_in_the_language_asked_for(self, site: Site) -> None:
        table = site.table("struggle_of_empires@1", 2)
        (seat,) = table.get("/decisions").json["decisions"][0]["must"]
        said = [table.post(f"/choices?lang={x}", {}, table.tokens[seat]) for x in ("en", "fr")]
        said += [table.post("/choices", {}, table.tokens[seat], Accept_Language=x) for x in ("en", "fr")]
        texts = [[o.get("text") for o in a.json["choice"]["options"]] for a in said]
        assert texts[:2] == texts[2:]
        assert texts[0] != texts[1]
        refused(table.post("/choices?lang=xx", {}, table.tokens[seat]), 422, "invalid_query")
