"""Going back: asked for, agreed to, done by a worker on the version that was named, or not at all."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from domain.service import job_requests
from tests.api.conftest import CATALOGUE, Doc, Reply, Site, Table, refused
from tests.api.player import step
from tests.kernel.flows import orders as orders_rules

ORDER = {"type": "order", "to": "t01", "units": 2}
SPY = {"type": "spy", "to": "t01"}


class FinalSpy(orders_rules.Spy, frozen=True, tag="spy"):
    """A spy that is never undone."""

    admission: ClassVar = replace(orders_rules.Spy.admission, undo=False)


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


def marching(site: Site, undo: str = "consent") -> Table:
    """A table of the game of marches, where passing tells nobody anything."""
    return site.table("passage@1", 3, undo=undo)


def back(table: Table, who: int | str, to: int, version: int | None = None, key: str = "", **body: Any) -> Reply:
    headers = {"If_Match": f'"{version or table.version}"'} | ({"Idempotency_Key": key} if key else {})
    return table.post("/rewinds", {"to": to, **body}, table.token(who), **headers)


def say(table: Table, motion: Doc, who: int | str, *, agrees: bool) -> Reply:
    return table.post(f"/rewinds/{motion['id']}/consents", {"agrees": agrees}, table.token(who))


def job(table: Table, doc: Doc) -> Doc:
    found = table.site.client.get(doc["job"])
    assert found.status_code == 200, found.text
    answer: Doc = found.json
    return answer


def delegated(table: Table) -> tuple[int, int]:
    """A seat has done what nobody else has learnt anything from: the seat, and the version before."""
    seat, before = table.get("/decisions").json["decisions"][0]["must"][0], table.version
    assert table.move(seat, {"type": "delegate", "to": (seat + 1) % 3}).status_code == 201
    return seat, before


def moved(table: Table) -> Doc:
    """Seat 0 has filed an order and asks to take it back, which the others must agree to."""
    before = table.version
    table.move(0, ORDER)
    asked = back(table, 0, before)
    assert asked.status_code == 202, asked.text
    doc: Doc = asked.json
    return doc


def throw(table: Table) -> tuple[int, int]:
    """Somebody makes moves until dice have fallen: the last seat that has moved, and the version before."""
    rng = random.Random(1)
    while True:
        before, decision = table.version, step(table, rng)
        assert decision is not None
        last = table.get(f"/records?limit=200&after={before}").json["items"][-1]
        if last.get("draws"):
            return last["seat"], before


class TestAsking:
    def test_the_version_that_was_seen_is_named(self, orders: Table) -> None:
        refused(orders.post("/rewinds", {"to": 5}, orders.tokens[0]), 428, "precondition_required")
        refused(back(orders, 0, 5, 4), 412, "stale_version")
        refused(back(orders, "director", 5, 4), 412, "stale_version")

    def test_own_moves_are_free_up_to_the_last_barrier(self, site: Site) -> None:
        table = marching(site)
        seat, before = delegated(table)
        answer = back(table, seat, before)
        assert (answer.status_code, answer.json["consents"]) == (202, [])
        assert answer.headers["Location"] == answer.json["job"] == f"/v1/jobs/{answer.json['id']}"
        done = job(table, answer.json)
        assert (done["status"], done["version"]) == ("done", before + 2)
        entry = table.get("/timeline?limit=200").json["items"][-1]
        assert (entry["kind"], entry["to"], entry["reason"]) == ("rewound", before, None)

    @pytest.mark.parametrize("undo", ["director", "none"])
    def test_the_table_may_forbid_it(self, site: Site, undo: str) -> None:
        table = marching(site, undo)
        seat, before = delegated(table)
        refused(back(table, seat, before), 409, "undo_forbidden")

    def test_a_version_that_does_not_count(self, orders: Table) -> None:
        orders.move(0, ORDER)
        for who in (0, "director"):
            for to in (99, 1, 4, orders.version):
                refused(back(orders, who, to), 409, "not_on_line")

    def test_a_director_goes_back_with_a_reason_that_can_be_erased(self, orders: Table) -> None:
        before = orders.version
        orders.move(0, ORDER)
        answer = back(orders, "director", before, reason="A wrong card was dealt")
        assert job(orders, answer.json)["status"] == "done"
        assert answer.json["undone"] == [before + 1]
        services = orders.site.services
        assert "wrong card" not in str(services.ledger.read(orders.game))
        assert orders.get("/timeline?limit=200").json["items"][-1]["reason"] == "A wrong card was dealt"
        holder = services.seat_tokens.authenticate(orders.director)
        assert holder is not None
        services.seat_tokens.texts.erase_now(holder.player)
        assert orders.get("/timeline?limit=200").json["items"][-1]["reason"] is None
        assert "wrong card" not in str(services.ledger.execute("SELECT * FROM errands"))
        assert orders.get("/audit").json["proved"] is True

    def test_fresh_chance_is_the_directors_alone(self, orders: Table) -> None:
        before = orders.version
        orders.move(0, ORDER)
        refused(back(orders, 0, before, reason="because"), 403, "directors_only")
        assert job(orders, back(orders, "director", before, fresh=True).json)["status"] == "done"

    def test_a_repeated_request_goes_back_once(self, orders: Table) -> None:
        before, key = orders.version, "rewind-number-1"
        orders.move(0, ORDER)
        head = orders.version
        first = back(orders, "director", before, head, key, reason="because")
        again = back(orders, "director", before, head, key, reason="because")
        assert (first.status_code, again.status_code, first.data) == (202, 202, again.data)
        assert again.headers["Idempotency-Replayed"] == "true"
        assert orders.version == head + 1
        for to, other in ((4, {"reason": "because"}), (before, {"reason": "x"}), (before, {})):
            refused(back(orders, "director", to, head, key, **other), 422, "idempotency_key_reused")
        refused(back(orders, "director", before, head + 1, key, reason="because"), 422, "idempotency_key_reused")

    def test_the_key_of_a_move_is_not_that_of_a_rewind(self, orders: Table) -> None:
        before = orders.version
        assert orders.move(0, ORDER, Idempotency_Key="one-and-the-same").status_code == 201
        refused(back(orders, 0, before, key="one-and-the-same"), 422, "idempotency_key_reused")

    def test_only_at_a_running_game(self, site: Site) -> None:
        table = site.table("orders@1", 3, start=False)
        for who in (0, "director"):
            refused(back(table, who, 2), 409, "not_running")

    def test_move_that_came_in_between_wins_and_nothing_has_changed(self, orders: Table) -> None:
        """The request is accepted, and a move is stored before a worker comes to it."""
        before = orders.version
        orders.move(0, ORDER)
        orders.site.asleep = True
        asked = back(orders, "director", before).json
        assert job(orders, asked)["status"] == "queued"
        orders.move(1, ORDER)
        head = orders.version
        orders.site.asleep = False
        orders.site.work()
        found = job(orders, asked)
        assert (found["status"], found["problem"]["code"]) == ("failed", "stale_version")
        assert orders.version == head


class TestMotions:
    def test_a_motion_names_what_is_undone_and_who_must_agree(self, orders: Table) -> None:
        motion = moved(orders)
        assert (motion["consents"], motion["undone"]) == ([1, 2], [orders.version])
        found = orders.get(f"/rewinds/{motion['id']}", 1).json
        assert (found["status"], found["agreed"], found["declined"]) == ("open", [], [])
        assert found.items() >= motion.items()
        waiting = job(orders, motion)
        assert (waiting["status"], waiting["progress"]) == ("waiting", {"done": 0, "of": 2})
        assert orders.get("/rewinds").json["items"] == [orders.get(f"/rewinds/{motion['id']}").json]

    def test_last_consent_does_it_and_record_names_who_agreed(self, orders: Table) -> None:
        motion, head = moved(orders), orders.version
        assert say(orders, motion, 2, agrees=True).json["agreed"] == [2]
        assert orders.version == head
        last = say(orders, motion, 1, agrees=True)
        assert (last.json["status"], last.json["agreed"]) == ("done", [1, 2])
        record = orders.get("/records?limit=200").json["items"][-1]
        assert (record["kind"], record["seat"], record["body"]["consent"]) == ("rewound", 0, [1, 2])
        assert orders.get("/timeline?limit=200").json["items"][-1]["consent"] == [1, 2]
        done = job(orders, motion)
        assert (done["status"], done["version"]) == ("done", head + 1)

    def test_one_who_declines_ends_it_and_another_may_be_opened(self, orders: Table) -> None:
        motion = moved(orders)
        refused(back(orders, 1, orders.version - 1), 409, "motion_open")
        assert say(orders, motion, 1, agrees=False).json["status"] == "declined"
        for seat, agrees in ((1, True), (2, True), (2, False)):
            refused(say(orders, motion, seat, agrees=agrees), 409, "motion_closed")
        assert job(orders, motion)["problem"]["code"] == "declined"
        second = back(orders, 1, orders.version - 1)
        assert second.status_code == 202
        assert second.json["consents"] == [0, 2]

    def test_who_has_moved_it_may_withdraw_it(self, orders: Table) -> None:
        motion = moved(orders)
        refused(say(orders, motion, 0, agrees=True), 403, "not_asked")
        assert say(orders, motion, 0, agrees=False).json["status"] == "declined"

    def test_consent_is_given_by_those_who_are_asked(self, orders: Table) -> None:
        motion = moved(orders)
        refused(say(orders, motion, "director", agrees=True), 403, "seats_only")
        refused(orders.post(f"/rewinds/{motion['id']}/consents", {"agrees": True}), 401, "unauthenticated")
        refused(orders.post(f"/rewinds/{motion['id']}/consents", {"agrees": 1}, orders.tokens[1]), 422, "invalid_body")
        other = orders.site.table("orders@1", 3)
        refused(orders.post(f"/rewinds/{motion['id']}/consents", {"agrees": True}, other.tokens[1]), 403, "other_table")
        refused(other.post(f"/rewinds/{motion['id']}/consents", {"agrees": True}, other.tokens[1]), 404, "not_found")
        refused(orders.get("/rewinds/rewind-" + "0" * 24), 404, "not_found")

    def test_a_replaced_token_agrees_to_nothing(self, orders: Table) -> None:
        """Its director could have it: the record would name a player who has not agreed."""
        orders.tokens[1] = orders.post("/seats/1/tokens", {}, orders.director).json["token"]
        asked = moved(orders)
        refused(say(orders, asked, 1, agrees=True), 403, "lent_token")
        assert say(orders, asked, 1, agrees=False).json["status"] == "declined"

    def test_saying_it_twice_changes_nothing(self, orders: Table) -> None:
        motion = moved(orders)
        first = say(orders, motion, 1, agrees=True)
        assert say(orders, motion, 1, agrees=True).data == first.data
        assert say(orders, motion, 2, agrees=True).json["status"] == "done"
        assert say(orders, motion, 2, agrees=True).json["status"] == "done"

    def test_it_dies_when_the_game_moves_on(self, orders: Table) -> None:
        motion = moved(orders)
        orders.move(2, ORDER)
        assert orders.get(f"/rewinds/{motion['id']}").json["status"] == "failed"
        refused(say(orders, motion, 1, agrees=True), 409, "motion_closed")
        assert job(orders, motion)["problem"]["code"] == "stale_version"
        assert back(orders, 2, orders.version - 1).status_code == 202

    def test_director_who_looked_sees_what_single_seats_learnt(self, orders: Table) -> None:
        """Or one would learn without a trace who has moved in secret, and take a seat."""
        unseen = moved(orders)
        assert "hidden" not in orders.get(f"/rewinds/{unseen['id']}", "director").json
        assert orders.post("/looks", token=orders.director).status_code == 201
        motion = moved(orders)
        paths = {who: orders.get(f"/rewinds/{motion['id']}", who).json for who in (None, 0, 1, "director")}
        assert [who for who, doc in paths.items() if "hidden" in doc] == ["director"]
        assert paths["director"]["hidden"] == [[orders.version, "0"]]

    def test_a_motion_tells_nothing_of_what_others_did_unseen(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An order and a spy, if that is never undone, look the same to whoever asks; only who has sent it is told."""
        moves: Any = CATALOGUE.get("orders@1").moves
        monkeypatch.setitem(moves, "spy", FinalSpy)
        seen = set()
        for move in (ORDER, SPY):
            table = site.table("orders@1", 3)
            before = table.version
            table.move(1, move)
            asked = back(table, 0, before)
            assert say(table, asked.json, 2, agrees=True).status_code == 200
            seen.add((asked.status_code, str(asked.json["consents"]), str(asked.json["undone"])))
            if move is SPY:
                refused(say(table, asked.json, 1, agrees=True), 409, "undo_forbidden")
                assert table.get(f"/rewinds/{asked.json['id']}", 0).json["status"] == "open"
        assert len(seen) == 1

    def test_it_expires_after_a_week_and_makes_room(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        motion = moved(orders)
        assert motion["until"] > orders.site.services.clock()
        say(orders, motion, 1, agrees=True)
        monkeypatch.setattr(job_requests, "SILENCE_MS", 0)
        assert orders.get(f"/rewinds/{motion['id']}").json["status"] == "failed"
        refused(say(orders, motion, 2, agrees=True), 409, "motion_closed")
        assert job(orders, motion)["problem"]["code"] == "motion_expired"
        assert back(orders, 1, orders.version - 1).status_code == 202, "also before a worker has come by"

    def test_after_three_refusals_only_an_officer_may_act(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        """Declined, withdrawn and expired requests count together; other seats, and what needs nobody, go on."""
        before = orders.version
        motion = moved(orders)
        say(orders, motion, 1, agrees=False)
        proposal = orders.post("/proposals", {"act": "close"}, orders.tokens[0]).json
        orders.post(f"/proposals/{proposal['id']}/consents", {"agrees": False}, orders.tokens[0])
        assert back(orders, 0, before).status_code == 202
        with monkeypatch.context() as late:
            late.setattr(job_requests, "SILENCE_MS", 0)
            orders.site.work()
            problem = refused(back(orders, 0, before), 409, "motions_spent")
        assert "officer" in problem["detail"]
        refused(orders.post("/proposals", {"act": "close"}, orders.tokens[0]), 409, "motions_spent")
        assert orders.post("/proposals", {"act": "resume"}, orders.tokens[0]).status_code == 202
        assert say(orders, back(orders, 1, before).json, 0, agrees=False).status_code == 200
        assert job(orders, back(orders, "director", before).json)["status"] == "done"

    def test_each_voter_reads_the_chronicle_of_what_would_be_undone(self, site: Site) -> None:
        table = site.table("struggle_of_empires@1", 3)
        seat, before = throw(table)
        motion = back(table, seat, before).json
        for who, lang in ((0, "en"), (1, "fr"), (None, "en")):
            (entry,) = table.get(f"/timeline?after={before}&lang={lang}", who).json["items"]
            doc = table.get(f"/rewinds/{motion['id']}", who, Accept_Language=lang).json
            assert doc["told"] == [{"version": entry["version"], "text": entry["text"]}]
            assert entry["text"]
        say(table, motion, motion["consents"][0], agrees=False)
        assert "told" not in table.get(f"/rewinds/{motion['id']}", 0).json

    def test_undone_draws_are_drawn_anew_with_consent_of_everybody(self, site: Site) -> None:
        """A seat could else take back each throw that it does not like, or keep the one that it knows."""
        table = site.table("skirmish@1", 4)
        seat, before = throw(table)
        asked, others = back(table, seat, before).json, sorted({0, 1, 2, 3} - {seat})
        assert (asked["fresh"], asked["consents"], bool(asked["draws"])) == (True, others, True)
        for other in others:
            say(table, asked, other, agrees=True)
        record = table.get("/records?limit=200").json["items"][-1]
        assert (record["kind"], record["body"]["entropy"]) == ("rewound", "fresh")
        seat, before = throw(table)
        assert back(table, seat, before, fresh=False).json["fresh"] is False
        assert table.get("/audit").json["proved"] is True

    def test_nobody_draws_anew_alone(self, site: Site) -> None:
        made = site.post("/games", {"ruleset": "orders@1", "seats": 2}).json
        table = Table(site, made["game"], made["token"], [])
        table.tokens.append(table.post("/seats", {"seat": 0}, table.director).json["token"])
        assert table.post("/seats", {"seat": 1, "bot": "builder"}, table.director).status_code == 201
        table.post("/start", token=table.director)
        before = table.version
        table.move(0, ORDER)
        refused(back(table, 0, before, fresh=True), 409, "consent_missing")

    def test_a_repeated_motion_is_the_same_one(self, orders: Table) -> None:
        before = orders.version
        orders.move(0, ORDER)
        head = orders.version
        first = back(orders, 0, before, head, "motion-number-1")
        say(orders, first.json, 1, agrees=True)
        again = back(orders, 0, before, head, "motion-number-1")
        assert (again.status_code, again.data) == (202, first.data)
        assert first.headers["Location"] == f"/v1{orders.path}/rewinds/{first.json['id']}"

    def test_followers_are_told_of_it_and_of_how_it_stands(self, orders: Table) -> None:
        with orders.get("/stream", 1) as stream:
            stream.until("event: board")
            motion = moved(orders)
            stream.until("event: motion", motion["id"])
            say(orders, motion, 1, agrees=True)
            stream.until('"agreed":[1]')
            say(orders, motion, 2, agrees=True)
            stream.until('"status":"done"', '"kind":"rewound"')


class TestPreviews:
    """A way back is told before it is asked for: it has no way forward."""

    def test_dry_run_tells_what_is_undone_and_asks_nobody(self, orders: Table) -> None:
        before = orders.version
        for seat in (0, 1):
            assert orders.move(seat, ORDER).status_code == 201
        body, match = {"to": before}, f'"{orders.version}"'
        preview = orders.site.post(f"{orders.path}/rewinds?dry_run=1", body, orders.tokens[0], If_Match=match)
        assert preview.status_code == 200, preview.text
        doc = preview.json
        assert (doc["to"], doc["version"], doc["undone"]) == (before, before + 2, [before + 1, before + 2])
        assert [each["version"] for each in doc["told"]] == doc["undone"]
        assert orders.get("/rewinds", who=0).json["items"] == []
        asked = orders.site.post(f"{orders.path}/rewinds", body, orders.tokens[0], If_Match=match).json
        assert {name: asked[name] for name in ("consents", "undone", "fresh", "draws")} == {
            name: doc[name] for name in ("consents", "undone", "fresh", "draws")
        }

    def test_a_dry_run_is_refused_as_the_request_would_be(self, orders: Table) -> None:
        path, match = f"{orders.path}/rewinds?dry_run=1", f'"{orders.version}"'
        refused(orders.site.post(path, {"to": 1}, orders.tokens[0], If_Match=match), 409, "not_on_line")
        refused(orders.site.post(path, {"to": 1}, orders.tokens[0]), 428, "precondition_required")
        refused(orders.site.post(path, {"to": 1}, orders.tokens[0], If_Match='"1"'), 412, "stale_version")
