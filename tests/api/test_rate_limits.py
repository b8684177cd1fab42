"""What one caller costs the others: buckets for tokens and addresses, and a gate before what reads a whole game."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest

from api.documents import motion_limits
from api.http import rate_limits
from api.http.problems import Problem
from api.http.rate_limits import ADDRESS_FACTOR, Gate, TokenBuckets
from domain.kernel.proof.verify import verify
from tests.api.conftest import Reply, Site, Table, refused
from tests.api.members import register
from tests.api.test_rewinds import ORDER, back, moved, say

PATIENCE = 60
"""Seconds that a test waits for what must come."""

ELSEWHERE = "192.0.2.7"
"""Where a second caller comes from; the first is where the test client is by default."""


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


@contextmanager
def counted(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often records of each game are read from its beginning to a version or to the end."""
    reads: Counter[str] = Counter()
    read = site.services.ledger.read

    def spied(game: str, after: int = 0, upto: int | None = None) -> Any:
        reads[game] += after == 0
        return read(game, after, upto)

    with monkeypatch.context() as patch:
        patch.setattr(site.services.ledger, "read", spied)
        yield reads


def of(site: Site, address: str, path: str, token: str = "") -> Reply:
    """A read from another address."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return site.client.get("/v1" + path, headers=headers, environ_overrides={"REMOTE_ADDR": address})


class TestBuckets:
    @pytest.fixture(autouse=True)
    def at_one_moment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Buckets fill meanwhile: by how much must not depend on how fast the machine is."""
        monkeypatch.setattr("api.http.rate_limits.time", SimpleNamespace(monotonic=lambda: 1000.0))

    def test_who_asks_too_often_is_told_when_to_come_again(self, orders: Table) -> None:
        orders.site.remake(rate=0.5, burst=2)
        answers = [orders.post("/choices", {}, orders.tokens[0]) for _ in range(3)]
        assert [a.status_code for a in answers] == [200, 200, 429]
        refused(answers[2], 429, "too_many_requests")
        assert answers[2].headers["Retry-After"] == "2"
        assert orders.post("/choices", {}, orders.tokens[1]).status_code == 200
        assert orders.get("/board", 0).status_code == 200

    def test_tokens_that_are_none_share_the_bucket_of_their_address(self, orders: Table) -> None:
        orders.site.remake(rate=0.5, burst=2)
        codes = [orders.post("/choices", {}, f"anl_{n:016}_{'x' * 43}").status_code for n in range(4)]
        assert codes == [401, 401, 429, 429]

    def test_costly_reads_count(self, orders: Table) -> None:
        orders.site.remake(rate=0.5, burst=20)
        assert orders.get("/audit").status_code == 200
        refused(orders.get("/board?version=1"), 429, "too_many_requests")

    @pytest.mark.parametrize(
        ("path", "cost"),
        [
            *(("/scores", 2), ("/digest", 2), ("/board/changes?from=1", 2), ("/rewinds", 1), ("/export", 5)),
            *(("/timeline", 0.2), ("/records", 0.2), ("/resume", 0.2), ("/records/1/proof", 0.2)),
        ],
    )
    def test_what_reads_much_is_not_free(self, orders: Table, path: str, cost: float) -> None:
        orders.site.remake(rate=0.001, burst=10)
        codes = [orders.get(path).status_code for _ in range(round(10 / cost) + 1)]
        assert codes == [200] * round(10 / cost) + [429]

    @pytest.mark.parametrize("what", ["results", "games"])
    def test_nor_is_what_a_player_has_played(self, site: Site, what: str) -> None:
        """Also for who shows no token, which is counted by the address."""
        site.remake(rate=0.001, burst=2)
        codes = [site.get(f"/players/nobody/{what}").status_code for _ in range(11)]
        assert codes == [200] * 10 + [429]

    def test_nor_is_all_that_is_known_of_oneself(self, site: Site) -> None:
        anne = register(site)
        site.remake(rate=0.001, burst=10)
        assert [anne.get("/me/data").status_code for _ in range(6)] == [200] * 5 + [429]

    def test_one_s_own_log_is_no_audit_of_a_game(self, site: Site) -> None:
        site.remake(rate=0.001, burst=20)
        anne = register(site)
        assert [anne.get("/me/audit").status_code for _ in range(5)] == [200] * 5

    def test_new_tokens_do_not_refill_the_bucket_of_their_address(self, site: Site) -> None:
        """Whoever opens games has as many tokens as it likes."""
        tables = [site.table("orders@1", 3, start=False) for _ in range(10)]
        site.remake(rate=0.001, burst=20)
        codes = [t.get("/audit", "director").status_code for t in tables]
        assert codes == [200] * ADDRESS_FACTOR + [429] * (10 - ADDRESS_FACTOR)
        assert of(site, ELSEWHERE, tables[0].path + "/export").status_code == 200

    def test_what_is_left_stands_in_the_answer(self, orders: Table) -> None:
        """As a structured field: the quota, the seconds until an empty one is full; what is left, until it is full."""
        orders.site.remake(rate=0.5, burst=10)
        told = [orders.post("/choices", {}, orders.tokens[0]).headers for _ in range(2)]
        assert {t["RateLimit-Policy"] for t in told} == {'"caller";q=10;w=20, "address";q=50;w=20'}
        assert [t["RateLimit"] for t in told] == [
            '"caller";r=9;t=2, "address";r=49;t=1',
            '"caller";r=8;t=4, "address";r=48;t=1',
        ]
        costly = orders.get("/export", 0)
        assert costly.headers["RateLimit"].startswith('"caller";r=3;')
        assert "RateLimit" not in orders.get("/board", 0).headers, "what costs nothing is not counted"

    def test_who_is_over_it_is_told_what_is_left(self, orders: Table) -> None:
        orders.site.remake(rate=0.5, burst=1)
        over = [orders.post("/choices", {}, orders.tokens[0]) for _ in range(2)][1]
        refused(over, 429, "too_many_requests")
        assert over.headers["RateLimit"].startswith('"caller";r=0;t=2')
        assert over.headers["Retry-After"] == "2"

    def test_all_moves_at_once_cost_more(self, orders: Table) -> None:
        orders.site.remake(rate=0.001, burst=20)
        codes = [orders.post("/choices?all=1", {}, orders.tokens[0]).status_code for _ in range(3)]
        assert codes == [200, 200, 429]

    def test_answers_to_further_picks_cost_two(self, orders: Table) -> None:
        orders.site.remake(rate=0.001, burst=4)
        codes = [orders.post("/choices?ahead=12", {}, orders.tokens[0]).status_code for _ in range(3)]
        assert codes == [200, 200, 429]

    def test_zero_switches_both_off(self, orders: Table) -> None:
        orders.site.remake(rate=0, burst=1)
        assert "RateLimit" not in orders.get("/scores", 0).headers
        assert {orders.get("/scores", 0).status_code for _ in range(10)} == {200}

    def test_a_bucket_fills_again(self) -> None:
        buckets = TokenBuckets(2.0, 3)
        assert [buckets.take({"a": 1}, 1, 0.0) for _ in range(4)] == [0, 0, 0, 0.5]
        assert buckets.take({"a": 1}, 1, 0.5) == 0
        assert buckets.take({"b": 1}, 3, 0.5) == 0
        assert TokenBuckets(0, 0).take({"a": 1}, 1, 0.0) == 0

    def test_what_is_refused_by_one_bucket_takes_nothing_from_other(self) -> None:
        """A client that loops on its token shuts out nobody else behind the same address."""
        buckets = TokenBuckets(1.0, 2)
        assert [buckets.take({"loops": 1, "harness": 2}, 1, 0.0) for _ in range(50)] == [0, 0] + [1.0] * 48
        assert [buckets.take({"other": 1, "harness": 2}, 1, 0.0) for _ in range(3)] == [0, 0, 1.0]
        assert buckets.take({"third": 1, "harness": 2}, 1, 0.0) == 0.5


class TestGate:
    def held(self, gate: Gate, *names: str, is_long: bool = False) -> Callable[[], None]:
        """A thread that has a place until it is told to leave."""
        inside, leave = threading.Event(), threading.Event()

        def hold() -> None:
            with gate.slot(*names, is_long=is_long):
                inside.set()
                assert leave.wait(60)

        thread = threading.Thread(target=hold)
        thread.start()
        assert inside.wait(30)

        def end() -> None:
            leave.set()
            thread.join(30)

        return end

    def full(self, gate: Gate, *names: str, is_long: bool = False) -> bool:
        try:
            with gate.slot(*names, is_long=is_long):
                return False
        except Problem as problem:
            return problem.code == "too_many_requests"

    def test_an_address_has_its_places_and_all_have_theirs(self) -> None:
        gate = Gate(most=3, each=2, patience=0.01)
        ends = [self.held(gate, "a"), self.held(gate, "a")]
        assert self.full(gate, "a")
        assert not self.full(gate, "b")
        ends.append(self.held(gate, "b"))
        assert self.full(gate, "c")
        ends.pop()()
        assert not self.full(gate, "c")
        for end in ends:
            end()
        assert not self.full(gate, "a")

    def test_who_waits_gets_the_place_that_is_left(self) -> None:
        gate = Gate(most=1, each=1, patience=60)
        end = self.held(gate, "a")
        threading.Timer(0.05, end).start()
        began = time.monotonic()
        assert not self.full(gate, "b")
        assert time.monotonic() - began < 30

    def test_a_place_goes_to_who_has_held_one_for_the_least_time(self) -> None:
        """Who asks without end does not keep out who asks for the first time."""
        gate, order, leave = Gate(most=1, each=1, patience=PATIENCE, waiting=16), list[str](), threading.Event()

        def hold(address: str) -> None:
            with gate.slot(address):
                order.append(address)
                assert leave.wait(PATIENCE)

        with ThreadPoolExecutor(9) as pool:
            for n, address in enumerate([*["busy"] * 8, "seldom"]):
                pool.submit(hold, address)
                end_of_patience = time.monotonic() + PATIENCE
                while len(gate._taken) + len(gate._waiting) <= n and time.monotonic() < end_of_patience:
                    time.sleep(0.01)
            assert order == ["busy"]
            leave.set()
        assert order == ["busy", "seldom", *["busy"] * 7]

    def test_a_person_has_one_place_from_all_addresses(self) -> None:
        gate = Gate(most=2, each=1, patience=0.01)
        ends = [self.held(gate, "a", "anne")]
        assert self.full(gate, "b", "anne")
        assert self.full(gate, "a", "berta")
        assert not self.full(gate, "b", "berta")
        ends.pop()()
        assert not self.full(gate, "b", "anne")

    def test_use_counts_for_the_person_and_the_address(self) -> None:
        """Who comes from another address each time is known by the account."""
        gate, order = Gate(most=1, each=1, patience=PATIENCE, waiting=16), list[str]()
        with gate.slot("a", "busy"):
            time.sleep(0.05)
        end = self.held(gate, "x")

        def enter(*names: str) -> None:
            with gate.slot(*names):
                order.append(names[1])

        with ThreadPoolExecutor(2) as pool:
            for n, names in enumerate((("b", "busy"), ("c", "seldom")), 1):
                pool.submit(enter, *names)
                until = time.monotonic() + PATIENCE
                while len(gate._waiting) < n and time.monotonic() < until:
                    time.sleep(0.01)
            end()
        assert order == ["seldom", "busy"]

    def test_long_work_leaves_a_place_to_the_rest(self) -> None:
        gate = Gate(most=2, each=1, patience=0.01)
        ends = [self.held(gate, "a", is_long=True)]
        assert self.full(gate, "b", is_long=True)
        assert not self.full(gate, "b")
        ends.append(self.held(gate, "b"))
        assert self.full(gate, "c")
        for end in ends:
            end()
        assert not self.full(gate, "b", is_long=True)

    def test_waiting_long_work_holds_nobody_up(self) -> None:
        """It has used nothing, and may not enter yet: it is no competitor."""
        gate = Gate(most=2, each=1, patience=PATIENCE)
        end = self.held(gate, "a", is_long=True)
        waits = threading.Thread(target=self.full, args=(gate, "b"), kwargs={"is_long": True})
        waits.start()
        until = time.monotonic() + PATIENCE
        while not gate._waiting and time.monotonic() < until:
            time.sleep(0.01)
        began = time.monotonic()
        assert not self.full(gate, "c")
        assert not self.full(gate, "c")
        assert time.monotonic() - began < PATIENCE / 2
        end()
        waits.join(PATIENCE)

    def test_few_of_an_address_wait_long(self) -> None:
        """Each of them holds a thread: a second one waits for a short time, a third one not at all."""
        gate = Gate(most=1, each=1, patience=40, waiting=2)
        end, waiting = self.held(gate, "a"), list[threading.Thread]()

        def wait(least: int) -> None:
            waiting.append(threading.Thread(target=self.full, args=(gate, "b")))
            waiting[-1].start()
            end_of_patience = time.monotonic() + 10
            while len(gate._waiting) < least and time.monotonic() < end_of_patience:
                time.sleep(0.01)

        wait(1)
        began = time.monotonic()
        assert self.full(gate, "b")
        assert time.monotonic() - began < 20
        wait(2)
        began = time.monotonic()
        assert self.full(gate, "b")
        assert time.monotonic() - began < 1
        end()
        for each in waiting:
            each.join(10)

    def test_no_number_of_addresses_holds_every_thread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Who comes while many wait is sent away at once."""
        monkeypatch.setattr(rate_limits, "MAX_WAITING", 3)
        gate = Gate(most=1, each=1, patience=40)
        end = self.held(gate, "a")
        with ThreadPoolExecutor(3) as pool:
            asked = [pool.submit(self.full, gate, f"b{n}") for n in range(3)]
            end_of_patience = time.monotonic() + 10
            while len(gate._waiting) < 3 and time.monotonic() < end_of_patience:
                time.sleep(0.01)
            began = time.monotonic()
            assert self.full(gate, "c")
            assert time.monotonic() - began < 1
            end()
            assert not any(each.result() for each in asked)

    def test_a_failure_gives_the_place_back(self) -> None:
        gate = Gate(most=1, each=1, patience=0.01)
        with pytest.raises(ValueError, match="broken"), gate.slot("a"):
            raise ValueError("broken")
        assert not self.full(gate, "a")


class TestWholeGames:
    READS = ("/scores", "/board?version=3", "/audit", "/export", "/digest", "/records/1/proof")

    def occupied(self, site: Site) -> Gate:
        """A gate whose places for the test client's address are taken."""
        gate: Gate = site.app.extensions["annals.gate"]
        gate._patience = 0.01
        gate._taken.append(rate_limits._Ticket(frozenset({"127.0.0.1"}), is_long=False))
        return gate

    @pytest.mark.parametrize("path", READS)
    def test_they_wait_at_the_gate(self, orders: Table, path: str) -> None:
        self.occupied(orders.site)
        answer = orders.get(path)
        refused(answer, 429, "too_many_requests")
        assert answer.headers["Retry-After"] == "1"
        assert of(orders.site, ELSEWHERE, orders.path + path).status_code == 200
        for light in ("", "/board", "/decisions", "/timeline", "/records", "/resume", "/rewinds"):
            assert orders.get(light).status_code == 200, light

    def test_and_so_do_the_director_and_motions(self, orders: Table) -> None:
        assert orders.post("/looks", {}, orders.director).status_code == 201
        motion, version = moved(orders), orders.version
        gate = self.occupied(orders.site)
        decision = orders.decision
        refused(back(orders, "director", version - 1), 429, "too_many_requests")
        refused(say(orders, motion, 1, agrees=True), 429, "too_many_requests")
        refused(orders.get("/rewinds", "director"), 429, "too_many_requests")
        refused(orders.get(f"/rewinds/{motion['id']}", "director"), 429, "too_many_requests")
        refused(orders.post("/looks", {}, orders.director), 429, "too_many_requests")
        dry = {"decision": decision, "moves": [ORDER]}
        refused(orders.post("/moves?dry_run=1", dry, orders.tokens[1]), 429, "too_many_requests")
        assert orders.version == version, "nothing is written by what is refused"
        gate._taken.clear()
        assert orders.get("/rewinds", "director").json["items"][0]["hidden"]
        self.occupied(orders.site)
        longer = {"decision": decision, "seconds": 60}
        assert orders.post("/extensions", longer, orders.director).status_code == 201, "a deadline waits for nobody"


class TestRewinds:
    def test_a_list_reads_the_game_once_at_most(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        assert orders.post("/looks", {}, orders.director).status_code == 201
        before = orders.version
        orders.move(0, ORDER)
        orders.site.asleep = True
        for _ in range(12):
            assert back(orders, "director", before).status_code == 202
        with counted(orders.site, monkeypatch) as reads:
            assert len(orders.get("/rewinds", "director").json["items"]) == 12
            assert reads[orders.game] == 0, "no motion is open"
        assert back(orders, 0, before).json["consents"]
        with counted(orders.site, monkeypatch) as reads:
            items = orders.get("/rewinds", "director").json["items"]
        assert [("hidden" in item) for item in items] == [True] + [False] * 12
        assert reads[orders.game] == 1

    def test_no_more_than_twenty_stand_at_one_version(self, orders: Table) -> None:
        before = orders.version
        orders.move(0, ORDER)
        orders.site.asleep = True
        codes = [back(orders, "director", before, key=f"key-number-{n}").status_code for n in range(21)]
        assert codes == [202] * 20 + [409]
        refused(back(orders, "director", before), 409, "too_many_rewinds")
        repeated = back(orders, "director", before, key="key-number-3")
        assert (repeated.status_code, repeated.headers["Idempotency-Replayed"]) == (202, "true")
        orders.move(0, ORDER)
        assert back(orders, "director", before).status_code == 202

    def test_what_was_declined_stands_no_more(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(motion_limits, "MAX_SPENT", 99)
        before = orders.version
        orders.move(0, ORDER)
        for _ in range(22):
            asked = back(orders, 0, before)
            assert asked.status_code == 202, asked.text
            assert say(orders, asked.json, 0, agrees=False).status_code == 200


def moving(table: Table) -> Reply:
    """A move that never ends anything."""
    return table.move(0, {"type": "set_auto", "on": bool(table.version % 2)})


class Held(Gate):
    """Who comes from elsewhere stays inside until it may go on; patience is short, so that nobody waits for it."""

    def __init__(self) -> None:
        super().__init__(patience=0.05)
        self.inside, self.go_on = threading.Semaphore(0), threading.Event()

    @contextmanager
    def slot(self, *names: str, is_long: bool = False) -> Iterator[None]:
        with super().slot(*names, is_long=is_long):
            if ELSEWHERE in names:
                self.inside.release()
                assert self.go_on.wait(PATIENCE)
            yield


@pytest.mark.parametrize("path", ["/audit", "/scores", "/export", "/digest", "/board?version=1"])
def test_one_address_holds_up_nobody(site: Site, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """The most that one address may have under way, against all that another one asks for meanwhile."""
    table, other = (site.table("windows@1", 3) for _ in range(2))
    moving(table)
    monkeypatch.setattr(rate_limits, "Gate", Held)
    site.remake()
    gate = site.app.extensions[rate_limits._GATE]
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(of, site, ELSEWHERE, table.path + path, table.director) for _ in range(8)]
        try:
            assert gate.inside.acquire(timeout=PATIENCE)
            sent_away = [each.result().status_code for each in islice(as_completed(asked, PATIENCE), 7)]
            assert site.client.get("/readyz").status_code == 200
            assert moving(other).status_code == 201
            assert of(site, "192.0.2.8", table.path + path, table.tokens[0]).status_code == 200
        finally:
            gate.go_on.set()
    assert sent_away == [429] * 7
    assert sorted(each.result().status_code for each in asked) == [200] + [429] * 7


def test_an_address_opens_so_many_tables_whatever_its_tokens(site: Site) -> None:
    site.remake(rate=50.0, tables=3)
    body = {"ruleset": "orders@1", "seats": 3}
    made = [site.post("/games", body) for _ in range(3)]
    assert '"tables of the address";r=2;' in made[0].headers["RateLimit"]
    assert {answer.status_code for answer in made} == {201}
    for token in ("", made[0].json["token"]):
        late = refused(site.post("/games", body, token), 429, "too_many_requests")
        assert late
    other = {"environ_base": {"REMOTE_ADDR": "192.0.2.9"}}
    again = [site.client.post("/v1/games", json=body, headers={"Idempotency-Key": "k" * 32}, **other) for _ in range(5)]
    assert len({answer.data for answer in again}) == 1, "repetitions open nothing"
    assert site.client.post("/v1/games", json=body, **other).status_code == 201


CLUB = "192.0.2.0/24"
"""A network that the operator has named; ELSEWHERE is in it."""


class TestSharedNetworks:
    """Many people behind one address, whom the operator has named: only their own limits count."""

    def test_fifty_open_accounts_within_the_hour(self, site: Site) -> None:
        site.remake(rate=50.0, accounts=30, shared_networks=(CLUB,))

        def opened(address: str) -> Counter[int]:
            codes = Counter[int]()
            for n in range(50):
                body = {"name": f"{'abcd'[int(address[-1]) % 4]}{n}member", "password": f"long enough {n} {address}"}
                elsewhere = {"environ_base": {"REMOTE_ADDR": address}}
                codes[site.client.post("/v1/accounts", json=body, **elsewhere).status_code] += 1
            return codes

        assert opened(ELSEWHERE) == {201: 50}
        assert opened("198.51.100.1") == {201: 30, 429: 20}

    def test_all_of_them_read_and_open_tables(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        site.remake(rate=0.001, burst=5, tables=1, shared_networks=(CLUB,))
        exports = [of(site, ELSEWHERE, table.path + "/export", token).status_code for token in table.tokens]
        assert exports == [200] * 3
        assert [of(site, ELSEWHERE, table.path + "/export").status_code for _ in range(10)] == [200] * 10
        assert of(site, ELSEWHERE, table.path + "/export", table.tokens[0]).status_code == 429, "each has an own bucket"
        body, elsewhere = {"ruleset": "orders@1", "seats": 3}, {"environ_base": {"REMOTE_ADDR": ELSEWHERE}}
        opened = [site.client.post("/v1/games", json=body, **elsewhere).status_code for _ in range(5)]
        assert opened == [201] * 5

    def test_each_has_a_place_at_the_gate(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        site.remake(shared_networks=(CLUB,))
        gate: Gate = site.app.extensions["annals.gate"]
        gate._patience = 0.01
        gate._taken.append(rate_limits._Ticket(frozenset({ELSEWHERE}), is_long=False))
        assert of(site, ELSEWHERE, table.path + "/export").status_code == 200


def test_a_game_is_audited_once_as_long_as_it_stays_the_same(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    table, proofs = site.table("windows@1", 3), list[int]()
    prove = verify

    def counted(rules: Any, file: Any) -> Any:
        proofs.append(len(file.records))
        return prove(rules, file)

    monkeypatch.setattr("api.routes.audit.verify", counted)
    moving(table)
    answers = [of(site, f"192.0.2.{n}", table.path + "/audit").json for n in range(4)]
    assert answers[0]["proved"]
    assert answers == answers[:1] * 4
    moving(table)
    assert of(site, ELSEWHERE, table.path + "/audit").json != answers[0]
    assert len(proofs) == 2
