"""Standing orders over HTTP and in the worker: who may give them, when they act, what ends them, what others see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from domain.command_handler import GameConditions
from domain.kernel.game.director_commands import Rewind
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Join
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import parse
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.schema.declarations import doc
from domain.standing_orders.order_rules import find_end
from domain.standing_orders.order_store import erase_orders
from tests.api.conftest import Doc, Site, Table, make_site, refused
from tests.api.game_pages import Page
from tests.api.members import register
from tests.api.test_table_talk import walk
from tests.api.test_tournament_pages import person
from workers.context import set_context
from workers.job_calls import JobCall, parse_id
from workers.jobs import order_acts
from workers.reconciler import Reconciler

GAME = "struggle_of_empires@1"
DAY = 86_400_000
START = 10 * DAY


class Clock:
    """A time that only the test moves."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def timed(site: Site, clock: Clock) -> Site:
    """The site with another clock for everything."""
    site.services.commands._clock = clock
    site.services = replace(site.services, clock=clock)
    site.context = replace(site.context, clock=clock)
    site.remake()
    return site


def work(table: Table) -> str:
    """What the worker does at this moment."""
    set_context(table.site.context)
    return order_acts.act_on_orders(table.game, "0-0")


def later(table: Table, clock: Clock, ms: int = 3 * 3_600_000) -> str:
    """What the worker does now, and after a time."""
    work(table)
    clock.now += ms
    return work(table)


def give(table: Table, seat: int, kind: str, **body: object) -> Doc:
    """An order that is accepted."""
    made = table.post("/standing-orders", {"kind": kind, **body}, table.tokens[seat])
    assert made.status_code == 201, made.text
    doc: Doc = made.json
    return doc


def orders(table: Table, seat: int) -> list[Doc]:
    """The orders of a seat."""
    found: list[Doc] = table.get("/standing-orders", seat).json["items"]
    return found


def reasons(table: Table, seat: int) -> list[str]:
    """Why the orders of a seat have ended."""
    return [each["reason"] for each in orders(table, seat)]


def asked(table: Table) -> tuple[str, int]:
    """Kind and seat of the open decision."""
    (found,) = table.get("/decisions").json["decisions"]
    return found["kind"], found["must"][0]


def play_to(table: Table, kind: str) -> int:
    """The game with defaults until a decision of a kind is open; its seat."""
    site = table.site
    rules = site.services.registry.get(GAME)
    for _ in range(200):
        game = site.services.commands.game(table.game)
        frame = game.state.top
        if frame.kind == kind:
            site.ring()
            return frame.owing[0]
        seat = frame.owing[0]
        (open_now,) = decisions(rules, game.state, game.lasting.rewinds.count)
        move = doc(rules.default(game.state, open_now, seat))
        site.services.commands.handle(table.game, Play(seat, [move], open_now.id))
    raise AssertionError(kind)


def go_back(table: Table, to: int) -> None:
    """A rewind that the director orders and all agree to."""
    table.site.services.commands.handle(table.game, Rewind(to), GameConditions(expected=table.version))
    table.site.ring()


@pytest.fixture
def table(site: Site, clock: Clock) -> Table:
    """A table of three at its first turn."""
    made = timed(site, clock).table(GAME, 3, undo="free")
    play_to(made, "turn")
    return made


class TestGiving:
    def test_only_the_seat_reads_them(self, table: Table) -> None:
        give(table, 0, "pass_turns", times=3)
        (mine,) = orders(table, 0)
        assert (mine["kind"], mine["text"], mine["times"], mine["state"]) == (
            "pass_turns",
            "Pass each turn.",
            3,
            "stands",
        )
        assert orders(table, 1) == []
        for who in (None, "director"):
            doc = table.get("/standing-orders", who).json
            assert (doc["items"], doc["kinds"], doc["shown"]) == ([], [], [])

    def test_kinds_have_their_fields_with_names(self, table: Table) -> None:
        kinds = {each["kind"]: each for each in table.get("/standing-orders", 0).json["kinds"]}
        assert [*kinds] == ["pass_turns", "bid_up_to", "pass_bids", "answer_support", "keep_dice"]
        asker, answer = kinds["answer_support"]["fields"]
        assert [each["value"] for each in asker["options"]] == [1, 2]
        assert [each["text"] for each in answer["options"]] == ["accept", "decline"]
        assert kinds["bid_up_to"]["fields"][0]["lo"] == 0

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ({"kind": "march"}, 409, "unknown_standing_order"),
            ({"kind": "pass_turns", "values": {"x": 1}}, 422, "invalid_body"),
            ({"kind": "answer_support", "values": {"asker": 0, "answer": "accept"}}, 422, "invalid_body"),
            ({"kind": "answer_support", "values": {"asker": 1}}, 422, "invalid_body"),
            ({"kind": "bid_up_to", "values": {"amount": True, "a": 0, "b": 1}}, 422, "invalid_body"),
            ({"kind": "pass_turns", "turn": 99}, 422, "invalid_body"),
            ({"kind": "pass_turns", "times": 0}, 422, "invalid_body"),
            ({"kind": "pass_turns", "stops": ["rain"]}, 422, "invalid_body"),
        ],
    )
    def test_what_cannot_be_is_refused(self, table: Table, body: Doc, status: int, code: str) -> None:
        refused(table.post("/standing-orders", body, table.tokens[0]), status, code)

    def test_the_director_and_a_lent_token_give_none(self, table: Table) -> None:
        refused(table.post("/standing-orders", {"kind": "pass_turns"}, table.director), 403, "seats_only")
        lent = table.post("/seats/0/tokens", {}, table.director).json["token"]
        refused(table.post("/standing-orders", {"kind": "pass_turns"}, lent), 403, "lent_token")
        assert table.site.get(f"{table.path}/standing-orders", lent).json["items"] == []

    def test_ten_stand_at_once_and_a_repeated_request_gives_one(self, table: Table) -> None:
        key = {"Idempotency_Key": "k" * 40}
        body = {"kind": "pass_turns", "turn": 2}
        first, again = (table.post("/standing-orders", body, table.tokens[0], **key) for _ in range(2))
        assert first.json == again.json
        assert again.headers["Idempotency-Replayed"] == "true"
        for _ in range(9):
            give(table, 0, "pass_bids")
        assert refused(table.post("/standing-orders", body, table.tokens[0]), 409, "too_many_orders")["figures"] == {
            "most": 10
        }

    def test_a_table_may_refuse_them(self, site: Site) -> None:
        table = site.table(GAME, 3, standing_orders="refused")
        assert table.get().json["standing_orders"] == "refused"
        refused(table.post("/standing-orders", {"kind": "pass_turns"}, table.tokens[0]), 409, "orders_refused")
        assert table.get("/standing-orders", 0).json["kinds"] == []


class TestActing:
    def test_it_acts_once_after_a_time_as_the_seat(self, table: Table, clock: Clock) -> None:
        _, seat = asked(table)
        give(table, seat, "pass_turns")
        version = table.version
        work(table)
        assert table.version == version
        assert later(table, clock) == "done"
        record = table.site.services.ledger.read(table.game)[-1]
        assert (record.version, record.kind, record.public["by"], record.public["seat"]) == (
            version + 1,
            "moved",
            "seat",
            seat,
        )
        assert record.moves() == [(seat, {"type": "pass"})]
        (done,) = orders(table, seat)
        assert [act["version"] for act in done["acts"]] == [version + 1]
        assert (done["state"], done["reason"]) == ("ended", "used_up")
        assert later(table, clock) == "gone"
        assert table.version == version + 1

    def test_the_player_is_faster(self, table: Table, clock: Clock) -> None:
        _, seat = asked(table)
        give(table, seat, "pass_turns", times=2)
        work(table)
        assert table.move(seat, {"type": "pass"}).status_code == 201
        version = table.version
        later(table, clock)
        assert table.version == version
        assert orders(table, seat)[0]["acts"] == []

    def test_a_job_that_ran_before_its_row_was_read_moves_once(self, table: Table, clock: Clock) -> None:
        _, seat = asked(table)
        give(table, seat, "pass_turns", times=5)
        work(table)
        clock.now += DAY
        stale = table.site.context.orders.list_standing(table.game)
        now = table.site.services.commands.game(table.game)
        records = table.site.services.ledger.read(table.game)
        work(table)
        version = table.version
        set_context(table.site.context)
        assert not order_acts._judge(table.site.context, now, records, stale)
        assert table.version == version

    def test_a_revoked_one_does_not_act(self, table: Table, clock: Clock) -> None:
        _, seat = asked(table)
        made, version = give(table, seat, "pass_turns"), table.version
        work(table)
        path = f"{table.path}/standing-orders/{made['order']}"
        refused(table.site.delete(path, table.tokens[(seat + 1) % 3]), 404, "not_found")
        assert table.site.delete(path, table.tokens[seat]).status_code == 204
        assert table.site.delete(path, table.tokens[seat]).status_code == 204
        later(table, clock)
        assert (table.version, reasons(table, seat)) == (version, ["revoked"])

    def test_a_table_that_shows_them_tells_everybody(self, site: Site, clock: Clock) -> None:
        table = timed(site, clock).table(GAME, 3, standing_orders="shown")
        seat = play_to(table, "turn")
        give(table, seat, "pass_turns")
        assert work(table) == "done"
        assert table.get("/standing-orders").json["shown"] == [{"seat": seat, "version": table.version}]

    def test_bids_rise_to_the_limit(self, site: Site, clock: Clock) -> None:
        table = timed(site, clock).table(GAME, 3)
        first = play_to(table, "auction_bid")
        second = (first + 1) % 3
        give(table, second, "bid_up_to", values={"amount": 2, "a": second, "b": first}, times=9)
        wish = {"a": first, "b": second}
        assert table.move(first, {"type": "bid", "amount": 0, **wish}).status_code == 201
        later(table, clock)
        assert table.site.services.ledger.read(table.game)[-1].moves()[0][1] == {
            "type": "bid", "amount": 1, "a": second, "b": first
        }  # fmt: skip
        third = (first + 2) % 3
        assert table.move(third, {"type": "bid", "amount": 2, **wish}).status_code == 201
        assert table.move(first, {"type": "pass_bid"}).status_code == 201
        later(table, clock)
        assert table.site.services.ledger.read(table.game)[-1].moves()[-1] == (second, {"type": "pass_bid"})


class Calls:
    """Queues that note what is enqueued."""

    def __init__(self) -> None:
        self.calls: list[JobCall] = []

    def enqueue(self, calls: Sequence[JobCall], now: int) -> int:
        self.calls = [call for call in calls if call.kind == "order"]
        return len(self.calls)

    def job_state(self, name: str, now: int) -> str:
        return ""

    def count_workers(self) -> dict[str, int]:
        return {}

    def close(self) -> None: ...


def test_rows_are_work_after_each_record_and_when_answer_is_due(table: Table, clock: Clock) -> None:
    context, queues = table.site.context, Calls()
    reconciler = Reconciler(
        table.site.services.reader,
        context.job_requests,
        context.heartbeat,
        queues,
        clock,
        None,
        context.orders,
    )

    def look() -> list[str]:
        reconciler.pass_once()
        return [call.id(0) for call in queues.calls]

    assert look() == []
    _, seat = asked(table)
    give(table, seat, "pass_turns", times=2)
    (id_,) = look()
    call = parse_id(id_)
    assert call is not None
    set_context(context)
    call.run()
    assert look() == []
    clock.now += DAY
    assert look() == [id_]
    assert call.run() == "done"
    assert look() == []
    assert table.move(asked(table)[1], {"type": "pass"}).status_code == 201
    assert look() == [id_]


class TestEnding:
    def test_a_turn_that_is_over_ends_it(self, table: Table) -> None:
        give(table, 0, "pass_bids")
        game = table.site.services.commands.game(table.game)
        order = table.site.context.orders.list_standing(table.game)[0]
        rules = table.site.services.registry.get(GAME)
        late = replace(order, turn=0)
        records = table.site.services.ledger.read(table.game)
        assert find_end(late, rules, game, records) == "turn_over"
        assert find_end(order, rules, game, records) == ""

    def test_an_attack_ends_it_unless_its_author_says_otherwise(self, table: Table) -> None:
        give(table, 0, "pass_turns")
        give(table, 0, "pass_turns", stops=[])
        give(table, 1, "pass_turns")
        game, records = table.site.services.commands.game(table.game), table.site.services.ledger.read(table.game)
        attack = {"t": "attack_declared", "seat": 1, "target": 0, "region": "baltic"}
        last = records[-1]
        told = Record({**last.public, "v": last.version + 1, "kind": "moved", "facts": [attack]}, {})
        rules = table.site.services.registry.get(GAME)
        found = table.site.context.orders.list_standing(table.game)
        assert sorted(find_end(each, rules, game, [*records, told]) for each in found) == ["", "", "attacked"]

    def test_a_rewind_behind_it_ends_it_and_a_later_one_does_not(self, table: Table, clock: Clock) -> None:
        _, seat = asked(table)
        other = (seat + 1) % 3
        give(table, other, "pass_turns", times=4)
        base = table.version
        assert table.move(seat, {"type": "pass"}).status_code == 201
        go_back(table, base)
        work(table)
        assert reasons(table, other) == [""]
        assert table.move(seat, {"type": "pass"}).status_code == 201
        later(table, clock)
        acted = orders(table, other)[0]["acts"][0]["version"]
        go_back(table, acted - 1)
        work(table)
        assert reasons(table, other) == ["rewound"]

    def test_another_player_in_the_seat_ends_it(self, table: Table) -> None:
        give(table, 0, "pass_turns")
        assert table.site.delete(f"{table.path}/seats/0", table.tokens[0]).status_code in (200, 201)
        work(table)
        assert table.site.context.orders.list_standing(table.game) == []
        table.site.services.commands.handle(table.game, Join(0, "somebody"))
        rows = table.site.services.ledger.execute("SELECT reason FROM standing_orders")
        assert rows == [("seat_changed",)]

    def test_the_end_of_the_game_ends_it(self, table: Table) -> None:
        give(table, 0, "pass_turns")
        assert table.post("/close", {"reason": "abandoned"}, table.director).status_code == 201
        work(table)
        assert reasons(table, 0) == ["game_over"]

    def test_it_rests_in_a_pause_and_goes_on_afterwards(self, table: Table, clock: Clock) -> None:
        _, seat = asked(table)
        give(table, seat, "pass_turns")
        assert table.post("/pauses", {}, table.director).status_code == 201
        version = table.version
        later(table, clock)
        assert (table.version, reasons(table, seat)) == (version, [""])
        assert table.post("/resumptions", {}, table.director).status_code == 201
        later(table, clock)
        assert table.version == version + 2

    def test_it_acts_in_a_vacation(self, site: Site, clock: Clock) -> None:
        pace = {"seconds": {"move": 86_400, "answer": 86_400}, "vacation": 5}
        table = timed(site, clock).table(GAME, 3, pace=pace)
        seat = play_to(table, "turn")
        assert table.post("/vacations", {"days": 2}, table.tokens[seat]).status_code == 201
        give(table, seat, "pass_turns")
        version = table.version
        later(table, clock)
        assert table.version == version + 1

    def test_condition_that_fails_leaves_the_decision_to_the_player(self, site: Site, clock: Clock) -> None:
        table = timed(site, clock).table(GAME, 3)
        seat = play_to(table, "auction_bid")
        give(table, seat, "pass_bids")
        version = table.version
        later(table, clock)
        assert (table.version, reasons(table, seat)) == (version, ["condition"])
        assert orders(table, seat)[0]["told"] == "Its condition no longer held. The decision is yours."

    def test_no_move_draws_without_consent(self, table: Table, clock: Clock) -> None:
        for _ in range(60):
            seat = asked(table)[1]
            give(table, seat, "pass_turns")
            later(table, clock)
            if "chance" in reasons(table, seat):
                break
        version = table.version
        last = asked(table)[1]
        give(table, last, "pass_turns", chance=True)
        later(table, clock)
        assert table.version == version + 1
        assert "chance" in reasons(table, last)


class TestSecrecy:
    def test_orders_change_no_byte_for_anybody_else(self, tmp_path: Path) -> None:
        with closing(make_site(tmp_path)) as site:
            clara = register(site, "Clara")
            table = site.table(GAME, 3, talk="free", start=False)
            assert table.post("/start", token=table.director).status_code == 201
            site.services = replace(site.services, clock=lambda: 9_000_000)
            site.remake()
            tokens = {"nobody": "", "director": table.director, "seat 2": table.tokens[2], "Clara": clara.token}
            walk(site, table, tokens)
            before, version = walk(site, table, tokens), table.version
            for seat in (0, 1):
                give(table, seat, "pass_turns", times=7)
            revoked = give(table, 0, "pass_bids")
            site.delete(f"{table.path}/standing-orders/{revoked['order']}", table.tokens[0])
            work(table)
            assert table.version == version
            now = walk(site, table, tokens)
            assert [place for place in before if before[place] != now[place]] == []

    def test_they_are_part_of_the_data_of_an_account_and_go_with_it(self, site: Site, clock: Clock) -> None:
        timed(site, clock)
        anne = register(site, "Anne")
        made = site.post("/games", {"ruleset": GAME, "seats": 3}, anne.token).json
        for seat, token in ((0, anne.token), (1, ""), (2, "")):
            assert site.post(f"/games/{made['game']}/seats", {"seat": seat}, token).status_code == 201
        assert site.post(f"/games/{made['game']}/start", {}, anne.token, Annals_Role="director").status_code == 201
        table = Table(site, made["game"], anne.token, [anne.token])
        sent = site.post(f"{table.path}/standing-orders", {"kind": "keep_dice"}, anne.token, Annals_Role="0")
        assert sent.status_code == 201, sent.text
        (found,) = site.get("/me/data", anne.token).json["standing_orders"]
        assert (found["kind"], found["game"]) == ("keep_dice", table.game)
        players = [row[0] for row in site.services.ledger.execute("SELECT player FROM standing_orders")]
        site.services.ledger.execute(*erase_orders(players))
        assert site.get("/me/data", anne.token).json["standing_orders"] == []

    def test_what_it_says_is_sealed_in_its_row(self, table: Table) -> None:
        give(table, 0, "pass_turns")
        give(table, 0, "answer_support", values={"asker": 1, "answer": "decline"})
        rows = table.site.services.ledger.execute("SELECT * FROM standing_orders")
        assert not any(word in str(rows) for word in ("pass_turns", "decline", "asker"))
        assert len({len(row[6]) for row in rows}) == 1

    def test_revoked_order_that_a_worker_still_knows_makes_no_move(self, table: Table, clock: Clock) -> None:
        _, seat = asked(table)
        made = give(table, seat, "pass_turns", times=5)
        work(table)
        clock.now += DAY
        stale, version = table.site.context.orders.list_standing(table.game), table.version
        assert table.site.delete(f"{table.path}/standing-orders/{made['order']}", table.tokens[seat]).status_code == 204
        game, records = table.site.services.commands.game(table.game), table.site.services.ledger.read(table.game)
        order_acts._judge(table.site.context, game, records, stale)
        assert table.version == version

    def test_moves_told_to_all_are_told_after_many_other_orders(self, site: Site, clock: Clock) -> None:
        table = timed(site, clock).table(GAME, 3, standing_orders="shown")
        seat = play_to(table, "turn")
        give(table, seat, "pass_turns")
        work(table)
        shown = table.get("/standing-orders").json["shown"]
        assert shown
        for _ in range(32):
            made = give(table, seat, "pass_bids")
            clock.now += 1000
            table.site.delete(f"{table.path}/standing-orders/{made['order']}", table.tokens[seat])
        assert table.get("/standing-orders").json["shown"] == shown

    def test_the_log_of_a_game_with_orders_verifies(self, table: Table, clock: Clock) -> None:
        for seat in range(3):
            give(table, seat, "pass_turns", times=20, chance=True)
        version = table.version
        for _ in range(3):
            later(table, clock)
        assert table.version >= version + 3
        assert table.post("/close", {"reason": "abandoned"}, table.director).status_code == 201
        export = parse(table.get("/export", "director").data)
        verify(table.site.services.registry.get(GAME), export)


@pytest.mark.parametrize(
    ("lang", "told"),
    [
        ("en", ("Standing orders (1)", "It has made 1 move:", "Revoke", "You have revoked it.")),
        ("fr", ("Ordres permanents (1)", "Il a joué 1 coup", "Révoquer", "Vous l&#39;avez révoqué.")),
    ],
)
def test_page_tells_what_an_order_did_and_why_another_ended(
    site: Site, clock: Clock, lang: str, told: Sequence[str]
) -> None:
    timed(site, clock)
    anne = person(site, "Anne")
    made = anne.api.post("/games", {"ruleset": GAME, "seats": 2}).json
    path = f"/games/{made['game']}"
    assert anne.api.post(f"{path}/seats", {"seat": 0}).status_code == 201
    other = site.post(f"{path}/seats", {"seat": 1}).json["token"]
    assert anne.api.post(f"{path}/start", {}, Annals_Role="director").status_code == 201
    table = Table(site, made["game"], anne.api.token, [anne.api.token, other])
    while play_to(table, "turn") != 0:
        game = site.services.commands.game(table.game)
        site.services.commands.handle(table.game, Play(game.state.top.owing[0], [{"type": "pass"}], None, "seat"))
    for kind, times in (("pass_turns", 5), ("pass_bids", 1)):
        body = {"kind": kind, "times": times, "turn": 3}
        assert anne.api.post(f"{path}/standing-orders", body, Annals_Role="0").status_code == 201
    later(table, clock)
    site.ring()
    given = anne.api.get(f"{path}/standing-orders", Annals_Role="0").json["items"]
    form = Page(anne.read(path).text).act("revoke", order=given[1]["order"])
    assert anne.send(form).status_code == 303
    html = anne.read(path, Accept_Language=lang).text
    panel = html.partition('id="orders"')[2]
    for text in told:
        assert text in panel


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with closing(make_site(tmp_path)) as made:
        yield made
