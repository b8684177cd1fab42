"""Nothing that is sent costs more than its length: at most in proportion, and at its longest little.

Each form makes a request of about a size. It is measured in time of the processor, at the longest that is let in and at
a quarter of that.
"""

from __future__ import annotations

import gc
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from api.http import strict_json
from domain.errors import InvalidTable, NeedsChance, RuleError
from domain.kernel.game.deadlines import parse_time_control
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.choices import Choice, accept, some
from domain.kernel.rules.decide import dry_run, query_builder
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema import validators
from domain.kernel.schema.validators import validator_of
from domain.ruleset_registry import load_shipped
from domain.types import MAX_INT, MAX_ITEMS, MAX_WORD, Json
from tests.api.conftest import PROBLEM, Site, Table, make_site

BODY = 250_000
"""Bytes of a body, somewhat less than the limit."""

HEAD = 60_000
"""Bytes of an address, and of a header: more than any server in front lets in."""

MOST = 0.5
"""Seconds that one request may cost, on a usual machine; `./run perf` judges the budgets."""

STEPS, USUAL = 20_000, 0.001
"""Additions in a loop, and the seconds that a usual machine takes for them."""

NOISE = 0.02
"""Below that, times are not compared."""

TWICE = 2
"""Four times the length may cost so many times four as much; a square would cost sixteen times as much."""

ANSWER = 8_000
"""Bytes of a refusal."""

SHIPPED = load_shipped()


@dataclass
class Place:
    """A table, and what is sent to it."""

    site: Site
    table: Table

    @property
    def path(self) -> str:
        return f"/v1{self.table.path}"

    def post(self, path: str, raw: bytes, token: str | None = None, **headers: str) -> dict[str, Any]:
        sent = {"Authorization": f"Bearer {self.table.tokens[0] if token is None else token}"} if token != "" else {}
        sent |= {"Content-Type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
        return {"method": "POST", "path": path, "data": raw, "headers": sent}

    def move(self, raw: bytes, **headers: str) -> dict[str, Any]:
        return self.post(f"{self.path}/moves?dry_run=1", raw, **headers)

    def open(self, **members: Any) -> dict[str, Any]:
        return self.post("/v1/games", dump({"ruleset": "orders@1", "seats": 3} | members), "")

    def get(self, path: str, query: str = "", **headers: str) -> dict[str, Any]:
        sent = {k.replace("_", "-"): v for k, v in headers.items()}
        return {"method": "GET", "path": path, "query_string": query, "headers": sent}

    def board(self, query: str = "", **headers: str) -> dict[str, Any]:
        return self.get(f"{self.path}/board", query, **headers)

    def ruleset(self, query: str = "", **headers: str) -> dict[str, Any]:
        return self.get("/v1/rulesets/orders@1", query, **headers)

    def stream(self, **headers: str) -> dict[str, Any]:
        """One that is not opened."""
        return self.get(f"{self.path}/stream", "ticket=x", **headers)


Form = Callable[[Place, int], dict[str, Any]]


def dump(doc: Json) -> bytes:
    return json.dumps(doc, separators=(",", ":")).encode()


def keys(n: int) -> bytes:
    """So many bytes of members, without their brackets."""
    return b",".join(b'"k%05d":1' % i for i in range(n // 11))


def items(item: bytes, n: int) -> bytes:
    """A move that holds a list of about so many bytes."""
    return b'{"move":{"type":"order","to":[' + b",".join([item] * (n // (len(item) + 1))) + b"]}}"


def text(part: bytes, n: int, end: bytes = b'"}}') -> bytes:
    """A move that holds a text of about so many bytes."""
    return b'{"move":{"type":"order","to":"' + part * (n // len(part)) + end


BODIES: Mapping[str, Form] = {
    "keys of which the first two are equal": lambda p, n: p.post("/v1/games", b'{"k00000":1,' + keys(n) + b"}", ""),
    "keys of which the last two are equal": lambda p, n: p.post("/v1/games", b"{" + keys(n) + b',"x":1,"x":1}', ""),
    "keys that are all equal": lambda p, n: p.post("/v1/games", b"{" + b",".join([b'"k":1'] * (n // 6)) + b"}", ""),
    "objects with equal keys": lambda p, n: p.move(items(b'{"k":1,"k":1}', n)),
    "fields that are not known": lambda p, n: p.post("/v1/games", b"{" + keys(n) + b"}", ""),
    "fields of a move": lambda p, n: p.move(b'{"move":{"type":"order",' + keys(n) + b"}}"),
    "a key": lambda p, n: p.post("/v1/games", dump({"k" * n: 1}), ""),
    "a key of a move": lambda p, n: p.move(dump({"move": {"type": "submit", "k" * n: 1}})),
    "options": lambda p, n: p.post("/v1/games", b'{"ruleset":"orders@1","seats":3,"options":{' + keys(n) + b"}}", ""),
    "an option": lambda p, n: p.open(options={"k" * n: 1}),
    "the value of an option": lambda p, n: p.open(options={"turns": [0] * (n // 2)}),
    "classes of a pace": lambda p, n: p.post(
        "/v1/games", b'{"ruleset":"orders@1","seats":3,"pace":{"seconds":{' + keys(n) + b"}}}", ""
    ),
    "a class of a pace": lambda p, n: p.open(pace={"seconds": {"k" * n: 1}}),
    "members of a pace": lambda p, n: p.post(
        "/v1/games", b'{"ruleset":"orders@1","seats":3,"pace":{' + keys(n) + b"}}", ""
    ),
    "a preset": lambda p, n: p.open(pace="x" * n),
    "a ruleset": lambda p, n: p.open(ruleset="x_" * (n // 2)),
    "an undo policy": lambda p, n: p.open(undo="x" * n),
    "a name": lambda p, n: p.open(name="x" * n),
    "a name of marks": lambda p, n: p.open(name="\u0301" * (n // 6)),
    "a name with spaces": lambda p, n: p.open(name="x " * (n // 2)),
    "an invitation": lambda p, n: p.post(f"{p.path}/seats", dump({"invitation": "x" * n}), ""),
    "a hash": lambda p, n: p.post(f"{p.path}/seats", dump({"nonce_hash": "0" * n}), ""),
    "a nonce": lambda p, n: p.post(f"{p.path}/nonces", dump({"nonce": "0" * n})),
    "a reason": lambda p, n: p.post(f"{p.path}/rewinds", dump({"to": 1, "reason": "x" * n}), If_Match='"1"'),
    "a decision": lambda p, n: p.move(dump({"move": {}, "decision": "0-" + "1" * n})),
    "a type": lambda p, n: p.move(dump({"move": {"type": "x" * n}})),
    "moves": lambda p, n: p.move(b'{"moves":[' + b",".join([b"1"] * (n // 2)) + b"]}"),
    "moves that are objects": lambda p, n: p.move(b'{"moves":[' + b",".join([b"{}"] * (n // 3)) + b"]}"),
    "50 moves": lambda p, n: p.move(dump({"moves": [{"type": "order", "to": "x" * (n // 50)}] * 50})),
    "picks": lambda p, n: p.post(f"{p.path}/choices", b'{"picks":[' + b",".join([b"1"] * (n // 2)) + b"]}"),
    "2000 picks": lambda p, n: p.post(f"{p.path}/choices", dump({"picks": ["order" + "x" * (n // 2000 - 8)] * 2000})),
    "a pick of many": lambda p, n: p.post(f"{p.path}/choices", b'{"picks":[[' + b",".join([b"1"] * (n // 2)) + b"]]}"),
    "a pick with keys": lambda p, n: p.post(f"{p.path}/choices", b'{"picks":[{' + keys(n) + b"}]}"),
    "a pick of objects": lambda p, n: p.post(
        f"{p.path}/choices", b'{"picks":[[' + b",".join([b'{"a":{}}'] * (n // 9)) + b"]]}"
    ),
    "an integer": lambda p, n: p.move(b'{"move":' + b"9" * n + b"}"),
    "an integer below zero": lambda p, n: p.move(b'{"move":-' + b"9" * n + b"}"),
    "zeros": lambda p, n: p.move(b'{"move":' + b"0" * n + b"}"),
    "a fraction": lambda p, n: p.move(b'{"move":0.' + b"9" * n + b"}"),
    "an exponent": lambda p, n: p.move(b'{"move":1e' + b"9" * n + b"}"),
    "digits and an exponent": lambda p, n: p.move(b'{"move":' + b"1" * n + b"e-%d}" % n),
    "integers": lambda p, n: p.move(items(b"1", n)),
    "integers that are too large": lambda p, n: p.move(items(b"-9007199254740991", n)),
    "fractions": lambda p, n: p.move(items(b"0.999999999999999999", n)),
    "exponents": lambda p, n: p.move(items(b"1e5", n)),
    "numbers below zero": lambda p, n: p.move(items(b"-0", n)),
    "escapes": lambda p, n: p.move(text(rb"\u0041", n)),
    "pairs of surrogates": lambda p, n: p.move(text(rb"\ud83d\ude00", n)),
    "a lone surrogate at the end": lambda p, n: p.move(text(rb"\ud83d\ude00", n, rb'\ud800"}}')),
    "escaped backslashes": lambda p, n: p.move(text(rb"\\", n)),
    "quotes": lambda p, n: p.move(b"[" * 65 + b'"' * n),
    "a string that does not end": lambda p, n: p.move(b"[" * 65 + b'"' + rb"\\" * (n // 2)),
    "letters of three bytes": lambda p, n: p.move(text("\u20ac".encode(), n)),
    "strings": lambda p, n: p.move(items(b'""', n)),
    "lists": lambda p, n: p.move(items(b"[]", n)),
    "objects": lambda p, n: p.move(items(b"{}", n)),
    "deep lists": lambda p, n: p.move(items(b"[" * 60 + b"]" * 60, n)),
    "brackets that do not end": lambda p, n: p.move(b"[" * n),
    "brackets that do not begin": lambda p, n: p.move(b"]" * n + b"[" * 70),
    "strings and brackets": lambda p, n: p.move(b"[" * 70 + b'"[",' * (n // 4)),
    "white space": lambda p, n: p.move(b'{"move":' + b" " * n + b"1}"),
}

HEADS: Mapping[str, Form] = {
    "parameters": lambda p, n: p.board("&".join(f"k{i:05}=1" for i in range(n // 9))),
    "a parameter many times": lambda p, n: p.board("wait=1&" * (n // 7)),
    "parameters twice": lambda p, n: p.board("&".join(f"k{i % (n // 18):05}=1" for i in range(n // 9))),
    "a parameter": lambda p, n: p.board("k" * n + "=1"),
    "ampersands": lambda p, n: p.board("&" * n),
    "percent signs": lambda p, n: p.board("wait=" + "%41" * (n // 3)),
    "wait": lambda p, n: p.board("wait=" + "1" * n),
    "version": lambda p, n: p.board("version=" + "1" * n),
    "lang": lambda p, n: p.ruleset("lang=" + "x" * n),
    "cursor": lambda p, n: p.get("/v1/games", "cursor=" + "1" * n),
    "limit": lambda p, n: p.get("/v1/games", "limit=" + "1" * n),
    "ruleset": lambda p, n: p.get("/v1/games", "ruleset=" + "x_" * (n // 2)),
    "ticket": lambda p, n: p.get(f"{p.path}/stream", "ticket=" + "ant_" * (n // 4)),
    "languages": lambda p, n: p.ruleset(Accept_Language=",".join(f"x{i:05};q=0.5" for i in range(n // 13))),
    "parts of a language": lambda p, n: p.ruleset(Accept_Language="x-" * (n // 2)),
    "parameters of a language": lambda p, n: p.ruleset(Accept_Language="en" + ";a=1" * (n // 4)),
    "quotes of a language": lambda p, n: p.ruleset(Accept_Language='"' + "\\" * n),
    "commas": lambda p, n: p.ruleset(Accept_Language="," * n),
    "media types": lambda p, n: p.board(Accept="a/b;q=0.1," * (n // 10)),
    "tags": lambda p, n: p.board(If_None_Match=",".join(f'"{i:05}"' for i in range(n // 8))),
    "commas of tags": lambda p, n: p.board(If_None_Match="," * n),
    "quotes of tags": lambda p, n: p.board(If_None_Match='"' * n),
    "broken tags": lambda p, n: p.board(If_None_Match='W/"x ' * (n // 5)),
    "spaces of tags": lambda p, n: p.board(If_None_Match=" " * n + "x"),
    "versions": lambda p, n: p.move(b'{"move":{}}', If_Match='"1", ' * (n // 5)),
    "a date": lambda p, n: p.board(If_Modified_Since="Mon, 01 Jan " + "(" * n),
    "ranges": lambda p, n: p.get("/v1/docs/assets/index.css", Range="bytes=" + "0-1," * (n // 4), If_Range="x" * n),
    "an id of a stream": lambda p, n: p.stream(Last_Event_ID="1" * n),
    "an idempotency key": lambda p, n: p.move(b'{"move":{}}', Idempotency_Key="x" * n),
    "a token": lambda p, n: p.board(Authorization="Bearer anl_" + "0" * n),
    "spaces before a token": lambda p, n: p.board(Authorization="Bearer" + " " * n + "x"),
    "parts of a scheme": lambda p, n: p.board(Authorization="Digest " + "a=b," * (n // 4)),
    "cookies": lambda p, n: p.stream(Cookie="; ".join(f"a{i:05}=b" for i in range(n // 10))),
    "a cookie many times": lambda p, n: p.stream(Cookie="annals_stream=b; " * (n // 17)),
    "quotes of a cookie": lambda p, n: p.stream(Cookie='annals_stream="' + "\\" * n),
    "escapes of a cookie": lambda p, n: p.stream(Cookie='annals_stream="' + "\\101" * (n // 4) + '"'),
    "spaces of a cookie": lambda p, n: p.stream(Cookie="a" + " " * n),
    "semicolons": lambda p, n: p.stream(Cookie=";" * n),
    "parameters of a media type": lambda p, n: p.move(b"{}", Content_Type="application/json" + ";a=b" * (n // 4)),
    "spaces of a media type": lambda p, n: p.move(b"{}", Content_Type="application/json;" + " " * n),
    "quotes of a media type": lambda p, n: p.move(b"{}", Content_Type='application/json;a="' + "\\" * n),
    "percents of a media type": lambda p, n: p.move(b"{}", Content_Type="a/b;a*=utf-8''" + "%41" * (n // 3)),
    "an encoding": lambda p, n: p.move(b"{}", Content_Encoding="x" * n),
    "an origin": lambda p, n: p.board(Origin="x" * n),
    "a host": lambda p, n: p.board(Host="x." * (n // 2)),
    "a protocol": lambda p, n: p.stream(X_Forwarded_Proto="," * n),
    "headers": lambda p, n: p.get(f"{p.path}/board") | {"headers": {f"X-{i}": "1" for i in range(n // 10)}},
    "a path": lambda p, n: p.get("/v1/games/" + "a" * n),
    "slashes": lambda p, n: p.get("/v1/games" + "/" * n),
    "parts of a path": lambda p, n: p.get("/v1/games" + "/a" * (n // 2)),
    "percents of a path": lambda p, n: p.get("/v1/games/" + "%2e" * (n // 3)),
    "a job": lambda p, n: p.get("/v1/jobs/rewind-" + "a" * n),
    "a turn": lambda p, n: p.get(f"/v1/jobs/resolve-{p.table.game}-" + "1" * n),
    "a player": lambda p, n: p.get("/v1/players/" + "a" * n + "/results"),
    "a code": lambda p, n: p.get("/v1/problems/" + "a_" * (n // 2)),
    "a seat": lambda p, n: p.get(f"{p.path}/seats/" + "1" * n),
    "a file": lambda p, n: p.get("/v1/docs/assets/" + "a/" * (n // 2)),
    "steps up": lambda p, n: p.get("/v1/docs/assets/" + "../" * (n // 3)),
    "a method": lambda p, n: p.board() | {"method": "X" * n},
}

FORMS = [pytest.param(form, BODY, id=name) for name, form in BODIES.items()]
FORMS += [pytest.param(form, HEAD, id=name) for name, form in HEADS.items()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    site = make_site(tmp_path_factory.mktemp("growth"))
    yield Place(site, site.table("orders@1", 3))
    site.close()


def cost(do: Callable[[], Any]) -> float:
    """Seconds of a usual machine's processor, at best; of one that is slow now, those that it would take.

    Without the collector, whose work depends on what else is in memory.
    """
    times, slow = [], []
    gc.disable()
    try:
        for _ in range(3):
            slow.append(_seconds(_additions) / USUAL)
            times.append(_seconds(do))
            if times[-1] > 10 * MOST:
                break
    finally:
        gc.enable()
    return min(times) / max(min(slow), 1)


def _seconds(do: Callable[[], Any]) -> float:
    began = time.process_time()
    do()
    return time.process_time() - began


def _additions() -> int:
    added = 0
    for n in range(STEPS):
        added += n
    return added


def grows_evenly(small: Callable[[], Any], large: Callable[[], Any], times: float = 4) -> None:
    """Of two inputs, the second so many times as long as the first, and the longest that is let in."""
    most = cost(large)
    assert most < MOST, f"{most * 1000:.0f} ms"
    if most > NOISE:
        assert most < TWICE * times * cost(small)


class TestRequests:
    @pytest.mark.parametrize(("form", "size"), FORMS)
    def test_cost_what_they_are_long(self, place: Place, form: Form, size: int) -> None:
        """And the answer repeats no more than a part of them."""
        requests = [form(place, n) for n in (size // 4, size)]
        answers = [place.site.client.open(**sent) for sent in requests]
        for answer in answers:
            found = answer.data
            answer.close()
            assert answer.status_code < 500
            assert answer.status_code == 200 or (answer.mimetype == PROBLEM and len(found) < ANSWER), found[:200]
        small, large = (lambda sent=sent: place.site.client.open(**sent).close() for sent in requests)
        grows_evenly(small, large)

    def test_options_are_few(self, place: Place) -> None:
        """A hundred are looked at; more are refused together."""
        for n, code in ((100, "invalid_table"), (101, "invalid_body")):
            sent = place.open(options={f"k{i}": 1 for i in range(n)})
            assert place.site.client.open(**sent).json["code"] == code

    def test_a_part_of_what_does_not_fit_is_told(self, place: Place) -> None:
        body = dump({"seats": "3"} | {f"k{i:02}": 1 for i in range(50)})
        for sent in (place.post("/v1/games", body, ""), place.board("&".join(f"k{i:02}" for i in range(50)))):
            errors = place.site.client.open(**sent).json["errors"]
            assert len(errors) == 20


class TestBeforehand:
    """What a request may do is asked before its body is read."""

    def test_a_body_is_read_of_nobody_who_may_not(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        found = 0
        monkeypatch.setattr(strict_json, "parse", lambda _: pytest.fail("the body was read"))
        for path, method, operation in operations(place):
            security = operation["security"]
            bad = {"Authorization": "Bearer anl_" + "0" * 60}
            for headers in ([bad] if {"token": []} in security else []) + ([{}] if security == [{"token": []}] else []):
                answer = place.site.client.open(path, method=method, data=b"{}", headers=headers)
                assert (answer.status_code, answer.json["code"]) == (401, "unauthenticated"), (method, path)
                found += 1
        assert found > 30

    def test_nor_of_anybody_who_asks_too_often(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        """Also where no token is needed."""
        place.site.remake(rate=0.001, burst=1)
        try:
            sent = place.post("/v1/games", b"{}", "")
            place.site.client.open(**sent)
            monkeypatch.setattr(strict_json, "parse", lambda _: pytest.fail("the body was read"))
            assert place.site.client.open(**sent).status_code == 429
        finally:
            place.site.remake(rate=0)

    def test_every_route_that_writes_is_counted(self, place: Place) -> None:
        routes = [(path, method) for path, method, _ in operations(place) if method in ("POST", "DELETE")]
        place.site.remake(rate=0.001, burst=0)
        try:
            for path, method in routes:
                answer = place.site.client.open(path, method=method, headers={"Content-Type": "application/json"})
                assert answer.status_code == 429, (method, path)
        finally:
            place.site.remake(rate=0)


def operations(place: Place) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every route: an address, the method, and what is documented."""
    ids = {
        "game": place.table.game,
        "rewind": "rewind-" + "0" * 24,
        "proposal": "proposal-" + "0" * 24,
        "job": "audit-" + "0" * 24,
    }
    ids |= {"seat": "0", "version": "1", "name": "orders@1", "player": "x", "code": "x"}
    ids |= {"session": "0" * 16, "token": "0" * 16, "account": "0" * 16, "report": "0" * 24}
    ids |= {"client": "0" * 16, "grant": "0" * 16, "passkey": "x"}
    ids |= {"tile": "0/000", "origin_hash": "0" * 64}
    ids |= {"tournament": "00000000-0000-8000-8000-000000000000", "stage": "1", "number": "1", "pod": "1"}
    ids |= {"family": "orders", "ruling": "1", "entrant": "0", "disclosure": "0" * 24, "part": "x"}
    ids |= {"device": "0" * 16, "webhook": "0" * 16, "delivery": "msg_" + "0" * 32}
    ids |= {"announcement": "0" * 24, "order": "0" * 24}
    for path, methods in place.site.client.get("/v1/openapi.json").json["paths"].items():
        for method, operation in methods.items():
            if method != "parameters":
                yield path.format(**ids), method.upper(), operation


# --- moves -----------------------------------------------------------------------------------------------------


def largest(shape: validators.Validator, n: int) -> Json:
    """The largest value of a shape, its lists with so many items."""
    match shape:
        case validators.IntegerRange():
            return shape.hi
        case validators.Word():
            return max(shape.of, key=len) if shape.of else "x" * MAX_WORD
        case validators.Nullable():
            return largest(shape.inner, n)
        case validators.ListOf():
            return [largest(shape.item, n)] * max(shape.lo, min(n, shape.hi))
        case validators.MapOf():
            return {f"{i:080}": largest(shape.item, n) for i in range(min(n, shape.hi))}
        case validators.ObjectOf():
            tag = next(iter(shape.variants), "")
            known = {**shape.fields, **shape.variants.get(tag, {})}
            return {name: largest(part, n) for name, part in known.items()} | ({shape.tag: tag} if tag else {})
    return True


MOVES = [
    pytest.param(SHIPPED.get(ruleset), name, id=f"{ruleset} {name}")
    for ruleset in SHIPPED.names()
    for name in SHIPPED.get(ruleset).moves
]


class TestMoves:
    @pytest.mark.parametrize(("rules", "name"), MOVES)
    def test_the_largest_of_a_shape_is_checked_in_time(self, rules: Ruleset[Any], name: str) -> None:
        """Also one that could not come in a body."""
        fields = validator_of(rules.moves[name])
        small, large = (largest(fields, n) for n in (MAX_ITEMS // 4, MAX_ITEMS))
        times = len(dump(large)) / len(dump(small))  # sixteen where lists hold lists
        grows_evenly(lambda: fields.find_error(small, ""), lambda: fields.find_error(large, ""), times)
        extra = [{f"k{i}": 1 for i in range(n)} for n in (6_000, 24_000)]
        grows_evenly(lambda: fields.find_error(extra[0], ""), lambda: fields.find_error(extra[1], ""))

    @pytest.mark.parametrize("ruleset", SHIPPED.names())
    def test_legal_moves_that_were_blown_up_are_decided_in_time(self, ruleset: str) -> None:
        """Lists of 400 items, numbers as large as they can be, 50 moves at once: all that a body can hold."""
        rules, rng = SHIPPED.get(ruleset), random.Random(5)
        match = InMemoryGame(rules, max(s for s in rules.meta.seats if s <= 10), bytes(32))
        tried = 0
        for _ in range(60):
            if match.decisions()[0].engine:
                match.resolve()
                continue
            seat = rng.choice(match.state.top.owing)
            move = built(rules, match.state, seat, rng)
            lists: list[list[Json]] = [[huge] for huge in blown_up(move)]
            for moves in [*lists, [move] * 50]:
                if len(dump(moves)) > BODY:
                    continue
                tried += 1
                most = cost_once(rules, match.state, seat, moves)
                assert most < MOST or cost(lambda: tried_out(rules, match.state, seat, moves)) < MOST, moves  # noqa: B023
            match.play(seat, move)
        assert tried > 60

    def test_the_longest_sequence_of_picks(self) -> None:
        """A pick that is not offered ends the replay; one of several is measured before it is looked at."""
        ask = some("x", [f"v{i}" for i in range(MAX_ITEMS)], 0, MAX_ITEMS)
        values = ask.values
        grows_evenly(lambda: accept(ask, values[: MAX_ITEMS // 4]), lambda: accept(ask, values))

        def too_many() -> None:
            with pytest.raises(RuleError, match="not_offered"):
                accept(ask, [{"a": {}}] * 25_000)

        assert cost(too_many) < NOISE


def built(rules: Ruleset[Any], state: Any, seat: int, rng: random.Random) -> dict[str, Json]:
    """A random move of the builder."""
    picks: list[Json] = []
    while isinstance(found := query_builder(rules, state, seat, picks), Choice):
        if found.kind == "range":
            picks.append(rng.randint(found.lo, found.hi))
        elif found.kind == "some":
            picks.append(rng.sample(found.values, rng.randint(found.lo, min(found.hi, len(found.values)))))
        else:
            picks.append(rng.choice(found.values))
    return found


def blown_up(value: Json) -> Iterator[Json]:
    """The same value with one part of it as large as it can be."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from ({**value, name: huge} for huge in blown_up(part) if name != "type")
    elif isinstance(value, list):
        yield from ([*value, *value[-1:] * MAX_ITEMS][:MAX_ITEMS], (value * MAX_ITEMS)[:MAX_ITEMS])
        yield from ([huge] * MAX_ITEMS for part in value[:1] for huge in blown_up(part))
    elif type(value) is int:
        yield from (MAX_INT, MAX_ITEMS)


def tried_out(rules: Ruleset[Any], state: Any, seat: int, moves: list[Json]) -> None:
    try:
        dry_run(rules, state, seat, moves)
    except (RuleError, NeedsChance) as error:
        assert len(str(getattr(error, "detail", ""))) < ANSWER  # noqa: PT017 - either may come


def cost_once(rules: Ruleset[Any], state: Any, seat: int, moves: list[Json]) -> float:
    began = time.process_time()
    tried_out(rules, state, seat, moves)
    return time.process_time() - began


# --- tables ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", SHIPPED.names())
def test_terms_of_a_table(ruleset: str) -> None:
    """The largest options that a shape lets in, and the largest pace."""
    rules = SHIPPED.get(ruleset)
    classes = {*rules.meta.clocks.values(), "move"}
    pace = {"seconds": dict.fromkeys(classes, 400 * 24 * 3600), "grace": 1, "bank": 1, "vacation": 100}
    assert cost(lambda: parse_time_control(rules.meta, pace)) < NOISE
    for seats, (name, option) in product(rules.meta.seats, rules.meta.options.items()):
        value = largest(option.validator, MAX_ITEMS)

        def made(seats: int = seats, name: str = name, value: Json = value) -> None:
            try:
                rules.make_table(seats, {name: value})
            except InvalidTable as error:
                assert len(error.reason) < ANSWER  # noqa: PT017 - it may fit as well

        assert cost(made) < NOISE
