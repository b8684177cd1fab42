"""A client of Annals in one file, with nothing but the standard library; Python 3.11 or newer.

    annals = Annals("http://127.0.0.1:8000")
    annals.register("Marta", "a river of green glass")
    table = annals.open("struggle_of_empires@1", 3)
    table.seat_bot(1), table.seat_bot(2)
    seat = table.join(0)
    seat.start()
    seat.play(choose)

Every write has a key of its own and is sent again with it when the connection breaks, or when the service asks to be
left alone for a while, so that it is done once. The types are those of the service's document, generated into
`annals_types.py` (README.md says how); the client runs without that file.
"""

from __future__ import annotations

import http.client
import json
import random
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

if TYPE_CHECKING:
    import annals_types as t

Json = Any
Choose = Callable[["t.Board", "t.Choice"], Json]
"""(board, question) -> the pick: a value of one option, a list of them, or a number, by the question's `kind`."""

AGAIN = frozenset({429, 503})
"""Statuses after which the same request may be sent again, in so many seconds as `Retry-After` says."""

OVERTAKEN = frozenset(
    {"stale_version", "decision_closed", "already_answered", "not_your_decision", "wrong_phase", "not_offered"}
)
"""What a player is told whose answer came after the game had gone on: look again."""

OVER = frozenset({"game_over", "not_running"})


class AnnalsError(Exception):
    """The root of what this client raises."""


class Unreachable(AnnalsError):
    """The service does not answer, though it was asked again for as long as the client has patience."""


class Refused(AnnalsError):
    """The service says no: `status`, `code` for programs, and the whole problem."""

    def __init__(self, status: int, problem: dict[str, Json], retry_after: str = "") -> None:
        super().__init__(f"{status} {problem.get('code', '')} {problem.get('detail') or problem.get('title', '')}")
        self.status, self.problem, self.retry_after = status, problem, retry_after
        self.code = str(problem.get("code", ""))

    @property
    def passing(self) -> bool:
        """Whether the same request may be sent again; a damaged record waits for an operator."""
        return self.status in AGAIN and self.code != "record_damaged"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token goes where it was meant to go, and nowhere else."""

    def redirect_request(self, *args: Json, **more: Json) -> None:
        return None


@dataclass
class Wire:
    """Requests to one service as one caller."""

    address: str
    token: str = field(default="", repr=False)
    role: str = ""
    """For who is several things at a table: `director`, or a seat's number."""
    patience: float = 60.0
    """Seconds for which a request is sent again before the client gives up."""
    timeout: float = 30.0
    """Seconds without a sign of life after which a connection counts as broken."""
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        self.address = self.address.rstrip("/")
        self._opener = urllib.request.build_opener(_NoRedirect)

    def get(self, path: str, **query: Json) -> Json:
        """The document at a path below /v1. Raises Refused, Unreachable."""
        sent = {name: value for name, value in query.items() if value is not None}
        return json.loads(self.text(path + (f"?{urlencode(sent)}" if sent else "")))

    def text(self, path: str) -> bytes:
        """The bytes of an answer."""
        return self._send("GET", path, None, {})

    def write(self, path: str, body: Json, *, method: str = "POST", version: int | None = None, key: str = "") -> Json:
        """The answer to a write, which is done once; `version`: only if the game stands there (412 otherwise)."""
        headers = {"Idempotency-Key": key or secrets.token_hex(16), "Content-Type": "application/json"}
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        answer = self._send(method, path, json.dumps(body).encode(), headers)
        return json.loads(answer) if answer else None

    def stream(self, path: str, last: int) -> http.client.HTTPResponse:
        """An open stream. Raises Refused, OSError."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": str(last)} if last else {})
        return self._open("GET", path, None, headers)

    def pause(self, attempt: int, wanted: str = "") -> float:
        """Seconds to wait: what the service asks for, else longer each time; a little by chance keeps clients apart."""
        asked = float(wanted) if wanted.isdigit() else min(0.1 * 2**attempt, 5.0)
        return asked + random.uniform(0, 0.1)  # noqa: S311 - no secret

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        end = time.monotonic() + self.patience
        for attempt in range(1000):
            wanted = ""
            try:
                with self._open(method, path, body, headers) as answer:
                    return answer.read()
            except Refused as refusal:
                if not refusal.passing:
                    raise
                failure: AnnalsError = refusal
                wanted = refusal.retry_after
            except (OSError, http.client.HTTPException) as broken:
                failure = Unreachable(f"{method} {path}: {type(broken).__name__}")
            pause = self.pause(attempt, wanted)
            if time.monotonic() + pause > end:
                raise failure
            self.sleep(pause)
        raise Unreachable(f"{method} {path}")

    def _open(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> http.client.HTTPResponse:
        if self.token:
            headers = headers | {"Authorization": f"Bearer {self.token}"}
        if self.role:
            headers = headers | {"Annals-Role": self.role}
        request = urllib.request.Request(f"{self.address}/v1{path}", body, headers, method=method)  # noqa: S310
        try:
            return cast(http.client.HTTPResponse, self._opener.open(request, timeout=self.timeout))
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(error.code, _problem(error), error.headers.get("Retry-After", "")) from None


def _problem(error: urllib.error.HTTPError) -> dict[str, Json]:
    """What a refusal says; what stands before the service may answer with something else than a problem."""
    try:
        found = json.loads(error.read(1 << 20))
    except (ValueError, OSError, http.client.HTTPException):
        found = None
    return found if isinstance(found, dict) else {"title": error.reason}


class Annals:
    """One person, or nobody yet, at one service."""

    def __init__(self, address: str, token: str = "", **more: Json) -> None:
        self.wire = Wire(address, token, **more)

    def register(self, name: str, password: str, *, bot: bool = False, invitation: str = "") -> t.Registered:
        """Open an account and act as it from now on. Keep the recovery `codes`: they are shown this once."""
        body = {"name": name, "password": password, "bot": bot} | ({"invitation": invitation} if invitation else {})
        return cast("t.Registered", self._entered(self.wire.write("/accounts", body)))

    def log_in(self, name: str, password: str) -> t.Entered:
        """Another session."""
        return cast("t.Entered", self._entered(self.wire.write("/sessions", {"name": name, "password": password})))

    def recover(self, name: str, code: str, password: str) -> t.Entered:
        """A new password for a recovery code; all other sessions end."""
        body = {"name": name, "code": code, "password": password}
        return cast("t.Entered", self._entered(self.wire.write("/recovery", body)))

    def _entered(self, answer: Json) -> Json:
        self.wire.token = answer["token"]
        return answer

    def personal_token(self, label: str, scopes: list[str], days: int) -> t.NewPersonalToken:
        """A token for a program; needs a session whose password was shown in the last minutes."""
        body = {"label": label, "scopes": scopes, "days": days}
        return cast("t.NewPersonalToken", self.wire.write("/me/tokens", body))

    def me(self) -> t.Me:
        """What the account is."""
        return cast("t.Me", self.wire.get("/me"))

    def my_games(self, **query: Json) -> Iterator[t.Mine]:
        """One's own tables, page by page; `turn="mine"` for those that wait for oneself, `status`."""
        following: str | None = f"/me/games?{urlencode(query)}"
        while following is not None:
            page = cast("t.MyGames", self.wire.get(following.removeprefix("/v1")))
            yield from page["items"]
            following = page["next"]

    def rulesets(self) -> t.Rulesets:
        """What can be played."""
        return cast("t.Rulesets", self.wire.get("/rulesets"))

    def open(self, ruleset: str, seats: int, **terms: Json) -> Table:
        """Open a table, and direct it; `options`, `pace`, `listing`, `undo` .. as the document has them."""
        made = cast("t.NewGameDoc", self.wire.write("/games", {"ruleset": ruleset, "seats": seats, **terms}))
        guest = made.get("token")
        wire = replace(self.wire, token=guest) if guest else self.wire
        return Table(wire, made["game"], position=made["position"], invitation=made.get("invitation", ""))

    def table(self, game: str, role: str = "") -> Table:
        """A table that there is."""
        return Table(replace(self.wire, role=role), game)


@dataclass
class Table:
    """A game as one caller meets it: a seat, its director, or the public."""

    wire: Wire
    game: str
    seat: int | None = None
    position: int = 0
    """Of the last write: reads wait for it."""
    invitation: str = field(default="", repr=False)
    looked: int = 0
    """The version at which it was looked last whose turn it is."""

    def _get(self, path: str, **query: Json) -> Json:
        return self.wire.get(f"/games/{self.game}{path}", **query)

    def _write(self, path: str, body: Json, version: int | None = None) -> Json:
        answer = self.wire.write(f"/games/{self.game}{path}", body, version=version)
        self.position = answer["position"]
        return answer

    def summary(self) -> t.Summary:
        """Who sits where, and what was agreed."""
        return cast("t.Summary", self._get("", wait=self.position))

    def join(self, seat: int | None = None, **more: Json) -> Table:
        """Take a seat; the table as that seat has it, with its own token for guests."""
        body = more | ({} if seat is None else {"seat": seat})
        if self.invitation:
            body.setdefault("invitation", self.invitation)
        taken = cast("t.SeatDoc", self._write("/seats", body))
        token = taken.get("token") or self.wire.token
        return Table(replace(self.wire, token=token, role=str(taken["seat"])), self.game, taken["seat"], self.position)

    def seat_bot(self, seat: int, bot: str = "heuristic") -> t.SeatDoc:
        """Seat a bot of the service; for directors."""
        return cast("t.SeatDoc", self._write("/seats", {"seat": seat, "bot": bot}))

    def start(self) -> t.Written:
        """Begin, once every seat is taken."""
        return cast("t.Written", self._write("/start", {}))

    def resume(self) -> t.Resume:
        """The board and what is to be decided, at once."""
        return cast("t.Resume", self._get("/resume", wait=self.position))

    def decisions(self) -> list[t.Decision]:
        """What is open; none: the game is over, or has not begun."""
        found: list[t.Decision] = self._get("/decisions", wait=self.position)["decisions"]
        return found

    def scores(self) -> t.Scores:
        """The standings."""
        return cast("t.Scores", self._get("/scores", wait=self.position))

    def timeline(self, after: int = 0, limit: int = 50) -> t.Timeline:
        """What happened, from a version on."""
        return cast("t.Timeline", self._get("/timeline", after=after, limit=limit))

    def export(self) -> bytes:
        """The records that one may read, as lines; `annals verify` proves them."""
        return self.wire.text(f"/games/{self.game}/export")

    def ask(self, picks: list[Json]) -> t.Next:
        """The builder's next question, or the finished move."""
        return cast("t.Next", self.wire.write(f"/games/{self.game}/choices", {"picks": picks}))

    def build(self, choose: Choose, board: t.Board) -> t.Move:
        """A finished move, of what `choose` picks."""
        picks: list[Json] = []
        while (answer := self.ask(picks))["move"] is None:
            question = answer["choice"]
            if question is None:
                raise AnnalsError("the builder neither asks nor answers")
            picks.append(choose(board, question))
        return answer["move"]

    def move(self, move: t.Move, *, decision: str = "", version: int | None = None) -> t.Moved:
        """Answer a decision. Raises Refused: the rules' own codes, `decision_closed`, `stale_version` .."""
        return cast(
            "t.Moved", self._write("/moves", {"move": move} | ({"decision": decision} if decision else {}), version)
        )

    def turn(self, choose: Choose) -> bool:
        """One move, if this seat owes one; whether to look again: it was made, or the game had gone on meanwhile."""
        now = self.resume()
        self.looked = now["version"]
        owed = next((d for d in now["decisions"] if self.seat in d["must"]), None)
        if owed is None:
            return False
        try:
            self.move(self.build(choose, now["board"]), decision=owed["id"])
        except Refused as refusal:
            if refusal.code not in OVERTAKEN | OVER:
                raise
            self.wire.sleep(self.wire.pause(0))
            return refusal.code in OVERTAKEN
        return True

    def play(self, choose: Choose) -> None:
        """Play to the end: whatever comes over the stream is a reason to look whose turn it is."""
        for event in self.follow():
            if event["event"] in ("board", "timeline") and event["data"]["version"] > self.looked:
                while self.turn(choose):
                    pass

    def follow(self, last: int = 0) -> Iterator[t.StreamEvent]:
        """Everything that comes, from a version on, until the game is closed; the client comes back by itself.

        An entry of the timeline may come twice, as after a broken connection. Raises Refused where the stream will
        never open again (the token has ended), Unreachable after the client's patience.
        """
        failures, since = 0, time.monotonic()
        while True:
            wanted = ""
            try:
                with self.wire.stream(f"/games/{self.game}/stream", last) as stream:
                    for event in read_events(stream):
                        failures, since = 0, time.monotonic()
                        last = int(event.get("id") or last)
                        if event["event"] == "bye":
                            break
                        yield cast("t.StreamEvent", event)
                        if event["event"] == "end":
                            return
            except Refused as refusal:
                if not refusal.passing:
                    raise
                wanted = refusal.retry_after
            except (OSError, http.client.HTTPException) as broken:
                if time.monotonic() - since > self.wire.patience:
                    raise Unreachable(f"the stream: {type(broken).__name__}") from None
            self.wire.sleep(self.wire.pause(failures, wanted))
            failures += 1


def read_events(lines: Iterator[bytes] | http.client.HTTPResponse) -> Iterator[dict[str, Json]]:
    """Server-sent events with their documents; one that was cut off is none, and kinds of later services pass."""
    event: dict[str, Json] = {}
    for raw in lines:
        line = raw.decode().rstrip("\r\n")
        if not line and "data" in event:
            yield {"event": "message", **event, "data": json.loads(event["data"])}
        if not line:
            event = {}
        name, _, value = line.partition(":")
        if name == "data" and "data" in event:
            event["data"] += "\n" + value.removeprefix(" ")
        elif name in ("event", "data", "id"):
            event[name] = value.removeprefix(" ")


def at_random(board: t.Board, choice: t.Choice) -> Json:
    """A pick for any question of any ruleset; what brings the game on is preferred a little."""
    rng = random
    if choice["kind"] == "range":
        return rng.randint(choice["lo"], choice["hi"])
    values = [option["value"] for option in choice["options"]]
    if choice["kind"] == "some":
        return rng.sample(values, rng.randint(choice["lo"], min(choice["hi"], len(values))))
    ends = [option["value"] for option in choice["options"] if option.get("ends")]
    return rng.choice(ends if ends and rng.random() < 0.35 else values)
