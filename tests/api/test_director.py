"""What only a director does, and what it leaves behind."""

from __future__ import annotations

from typing import Any

import pytest

from api import officer_rights
from domain.kernel.game.director_commands import Look, Rewind
from domain.kernel.game.table_commands import Close, Join
from tests.api.conftest import Reply, Site, Table, refused
from tests.kernel.flows import windows

ORDER = {"type": "order", "to": "t01", "units": 2}


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3, pace={"seconds": {"turn": 60}})


class TestLooks:
    def test_a_look_shows_everything_and_is_recorded(self, orders: Table) -> None:
        """Publicly: that the director ruled something; after the end: that it was a look."""
        orders.move(0, ORDER)
        answer = orders.post("/looks", token=orders.director)
        assert answer.status_code == 201, answer.text
        own = answer.json["board"]["own"]
        assert own["seats"]["0"]["sheet"] == [{"to": "t01", "units": 2}]
        assert len(own["hidden"]["garrison"]) == 12
        (record,) = orders.get(f"/records?after={orders.version - 1}").json["items"]
        assert (record["kind"], record["by"]) == ("ruled", "director")
        assert "look" not in str(record)
        orders.post("/close", {"reason": "void"}, orders.director)
        assert '"ruling":{"act":"look"}' in orders.get("/export").text
        assert orders.get("/audit").json["proved"] is True

    def test_who_holds_a_seat_has_no_directors_sight(self, site: Site) -> None:
        made = site.post("/games", {"ruleset": "orders@1", "seats": 2}).json
        path = f"/games/{made['game']}"
        site.post(f"{path}/seats", token=made["token"])
        site.post(f"{path}/seats")
        site.post(f"{path}/start", token=made["token"])
        before = site.services.ledger.version(made["game"])
        refused(site.post(f"{path}/looks", token=made["token"]), 403, "director_plays")
        assert site.services.ledger.version(made["game"]) == before

    @pytest.fixture
    def playing(self, site: Site) -> Table:
        """A running table at which the director has seat 0."""
        return self.sit(site)

    @pytest.fixture
    def trusting(self, site: Site) -> Table:
        """The same, where a playing director may do everything alone."""
        return self.sit(site, officers="any")

    def sit(self, site: Site, **terms: Any) -> Table:
        made = site.post("/games", {"ruleset": "orders@1", "seats": 3, **terms}).json
        table = Table(site, made["game"], made["token"], [])
        for token in (made["token"], "", ""):
            table.tokens.append(site.post(f"{table.path}/seats", {}, token).json["token"])
        assert table.post("/start", token=table.director).status_code == 201
        return table

    def test_who_leaves_the_seat_and_looks_does_not_come_back(self, trusting: Table) -> None:
        """With whatever token of theirs; others take the seat."""
        site, path = trusting.site, f"{trusting.path}/seats"
        other = site.post("/games", {"ruleset": "orders@1", "seats": 3}, trusting.director).json["token"]
        assert site.delete(f"{path}/0", trusting.tokens[0]).status_code == 200
        assert trusting.post("/looks", token=trusting.director).status_code == 201
        before = trusting.version
        for token in (trusting.director, other):
            refused(site.post(path, {"seat": 0}, token), 403, "director_looked")
        assert trusting.version == before
        assert site.post(path, {"seat": 0}).status_code == 201

    def test_nor_after_the_look_was_undone(self, trusting: Table) -> None:
        site, version = trusting.site, trusting.version
        assert site.delete(f"{trusting.path}/seats/0", trusting.tokens[0]).status_code == 200
        assert trusting.post("/looks", token=trusting.director).status_code == 201
        trusting.site.services.commands.handle(trusting.game, Rewind(version, "director", reason=""))
        trusting.site.ring()
        refused(site.post(f"{trusting.path}/seats", {"seat": 0}, trusting.director), 403, "director_looked")

    def test_who_has_not_looked_comes_back(self, trusting: Table) -> None:
        site, path = trusting.site, f"{trusting.path}/seats"
        assert site.delete(f"{path}/0", trusting.tokens[0]).status_code == 200
        assert site.put(f"{path}/1/hold", {"seconds": 60}, trusting.director).status_code == 200
        assert site.post(path, {"seat": 0}, trusting.director).status_code == 201

    def test_who_leaves_for_another_seat_does_not_come_back(self, trusting: Table) -> None:
        site = trusting.site
        assert site.delete(f"{trusting.path}/seats/0", trusting.tokens[0]).status_code == 200
        move = {"decision": trusting.decision, "seat": 1, "move": {"type": "submit"}}
        assert trusting.post("/moves", move, trusting.director).status_code == 201
        refused(site.post(f"{trusting.path}/seats", {"seat": 0}, trusting.director), 403, "director_ruled")

    def test_a_seat_that_was_taken_before_the_look_is_told_again(self, trusting: Table) -> None:
        """A repetition gives the answer of then, and nothing else."""
        site, path = trusting.site, f"{trusting.path}/seats"
        site.delete(f"{path}/0", trusting.tokens[0])
        back = [site.post(path, {"seat": 0}, trusting.director, Idempotency_Key="x" * 32)]
        site.delete(f"{path}/0", back[0].json["token"])
        assert trusting.post("/looks", token=trusting.director).status_code == 201
        back.append(site.post(path, {"seat": 0}, trusting.director, Idempotency_Key="x" * 32))
        assert back[0].status_code == 201
        assert back[0].data == back[1].data
        assert trusting.get().json["seats"][0]["player"] is None
        refused(trusting.post("/choices", {}, back[0].json["token"]), 401, "unauthenticated")

    def test_who_takes_a_seat_while_looking_is_told_nothing(
        self, playing: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site, path = playing.site, f"{playing.path}/seats"
        site.delete(f"{path}/0", playing.tokens[0])
        stand_apart = officer_rights.require_no_stake

        def meanwhile(game: Any) -> None:
            stand_apart(game)
            monkeypatch.undo()
            player = site.services.seat_tokens.find_director(playing.game)
            site.services.commands.handle(playing.game, Join(0, player or ""))

        monkeypatch.setattr(officer_rights, "require_no_stake", meanwhile)
        told = refused(playing.post("/looks", token=playing.director), 409, "director_has_stake")
        assert "board" not in told

    def test_a_look_between_question_and_seat_is_seen(self, playing: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        site, path = playing.site, f"{playing.path}/seats"
        site.delete(f"{path}/0", playing.tokens[0])

        def meanwhile(*_: object) -> None:
            monkeypatch.undo()
            site.services.commands.handle(playing.game, Look())

        monkeypatch.setattr("api.routes.games.check_visible_seat", meanwhile)
        refused(site.post(path, {"seat": 0}, playing.director), 403, "director_looked")

    @pytest.mark.parametrize("closed", [False, True])
    def test_of_a_game_that_is_not_played_nothing_is_looked_at(self, site: Site, orders: Table, closed: bool) -> None:
        """What is hidden of a closed one everybody may see; before the start there is nothing."""
        if closed:
            orders.post("/close", {"reason": "void"}, orders.director)
            refused(orders.post("/looks", token=orders.director), 409, "game_over")
            return
        made = site.post("/games", {"ruleset": "orders@1", "seats": 3}).json
        refused(site.post(f"/games/{made['game']}/looks", token=made["token"]), 409, "not_running")

    def test_a_repeated_request_is_one_look(self, orders: Table) -> None:
        answers = [orders.post("/looks", token=orders.director, Idempotency_Key="look-number-1") for _ in range(2)]
        assert answers[0].data == answers[1].data

    @pytest.mark.parametrize(
        ("path", "body"),
        [("/looks", {}), ("/extensions", {"decision": "0-1", "seconds": 1}), ("/close", {"reason": "void"})],
    )
    def test_seats_may_not(self, orders: Table, path: str, body: dict[str, object]) -> None:
        refused(orders.post(path, body, orders.tokens[0]), 403, "directors_only")
        refused(orders.post(path, body), 401, "unauthenticated")


class TestRulings:
    """What a director is told who moves for a seat: nothing that only this seat may know."""

    CARDS = tuple({"type": "play_card", "card": card} for card in windows.CARDS)

    def rule(self, table: Table, seat: int, **body: object) -> Reply:
        return table.post("/moves", {"decision": table.decision, "seat": seat, **body}, table.director)

    @pytest.fixture
    def window(self, site: Site) -> Table:
        """Seat 0 has passed, 1 and 2 have not."""
        table = site.table("windows@1", 3)
        table.move(0, {"type": "attack", "target": 1})
        table.move(0, {"type": "pass"})
        return table

    def test_one_move_at_a_time(self, window: Table) -> None:
        """A second one that cannot be made would show for free what becomes of the first."""
        before = window.version
        for first in ({"type": "pass"}, *self.CARDS):
            for seat in range(3):
                answer = self.rule(window, seat, moves=[first, {"type": "nonsense"}])
                assert refused(answer, 422, "invalid_body")["errors"][0]["at"] == "/moves"
        assert window.version == before
        assert self.rule(window, 1, moves=[{"type": "pass"}]).status_code == 201

    def test_every_refusal_by_the_rules_is_the_same(self, window: Table) -> None:
        """Who has answered, and which cards are in a hand, stands in none of them."""
        hands = [window.get("/board", seat).json["own"]["hand"] for seat in range(3)]
        held = [(s, c) for s in range(3) for c in self.CARDS if s and c["card"] == "ambush" and "ambush" in hands[s]]
        plays = [(s, c) for s in range(3) for c in self.CARDS if (s, c) not in held]
        tries = [(0, {"type": "pass"}), (1, {"type": "end"}), *plays]
        answers = [self.rule(window, seat, move=move) for seat, move in tries]
        assert len({answer.data for answer in answers}) == 1
        doc = refused(answers[0], 409, "ruling_refused")
        assert not {"rule", "figures", "also"} & set(doc)

    def test_what_all_may_know_is_told(self, window: Table) -> None:
        refused(self.rule(window, 0, move={"type": "pass", "x": 1}), 422, "malformed_move")
        refused(self.rule(window, 0, move={"type": "nonsense"}), 409, "unknown_move")
        refused(self.rule(window, 9, move={"type": "pass"}), 409, "unknown_seat")
        refused(self.rule(window, 0, move={"type": "pass"}, decision="0-1"), 409, "decision_closed")
        window.site.services.commands.handle(window.game, Close("abandoned"))
        body = {"decision": "0-1", "seat": 0, "move": {"type": "pass"}}
        refused(window.post("/moves", body, window.director), 409, "game_over")

    def test_who_holds_a_seat_moves_for_none(self, window: Table) -> None:
        """Also if the director has taken the seat over later."""
        window.site.delete(f"{window.path}/seats/2?hold=0", window.tokens[2])
        assert window.post("/seats", {"seat": 2}, window.director).status_code == 201
        before = window.version
        for seat in range(3):
            refused(self.rule(window, seat, move={"type": "pass"}), 403, "director_plays")
        assert window.version == before


class TestDeadlines:
    def test_the_deadline_of_the_open_decision_moves(self, orders: Table) -> None:
        due = orders.get().json["due"]
        body = {"decision": orders.decision, "seconds": 90}
        assert orders.post("/extensions", body, orders.director).status_code == 201
        assert orders.get().json["due"] == due + 90_000
        assert orders.get("/decisions").json["decisions"][0]["deadline"] == due + 90_000
        refused(orders.post("/extensions", body | {"decision": "0-9"}, orders.director), 409, "decision_closed")


class TestClosing:
    def test_a_table_that_will_not_be_finished(self, orders: Table) -> None:
        """Everything is shown, and nothing more happens."""
        refused(orders.post("/close", {"reason": "finished"}, orders.director), 422, "invalid_body")
        assert orders.post("/close", {"reason": "abandoned"}, orders.director).status_code == 201
        assert orders.get("/board").json["status"] == "closed"
        assert "garrison" in orders.get("/board").json["own"]["hidden"]
        refused(orders.post("/close", {"reason": "abandoned"}, orders.director), 409, "game_over")
        refused(orders.post("/looks", token=orders.director), 409, "game_over")
