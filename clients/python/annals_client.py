"""A client of Annals in one file, with only the standard library; Python 3.11 or newer.

    annals = Annals("http://127.0.0.1:8000")
    annals.register("Marta", "a river of green glass")
    table = annals.open("struggle_of_empires@1", 3)
    table.seat_bot(1), table.seat_bot(2)
    seat = table.join(0)
    seat.start()
    seat.play(choose)

Every write has its own idempotency key. If the connection breaks, or the service asks the client to wait, the write is
repeated with this key, so it is done once. Types for checkers alone are generated into `annals_types.py` (README.md).
"""

from __future__ import annotations

import http.client
import json
import random
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

if TYPE_CHECKING:
    import annals_types as t

Json = Any
Choose = Callable[["t.Board", "t.Choice"], Json]
"""(board, question) -> the pick: one option's value, a list of values or a number, by the question's `kind`."""

OVERTAKEN = frozenset(
    {"stale_version", "decision_closed", "already_answered", "not_your_decision", "wrong_phase", "not_offered"}
)
"""Codes of a stale move: the game has continued, look again."""

OVER = frozenset({"game_over", "not_running"})

PAUSE_SECONDS = 30  # until the next look during a pause with an end: no event tells that it is over


class AnnalsError(Exception):
    """Base class of this client's exceptions."""


class Unreachable(AnnalsError):
    """The service did not answer within the client's `patience`, with all retries."""


class Refused(AnnalsError):
    """The service refused the request: `status`, `code` for programs, and the whole problem."""

    def __init__(self, status: int, problem: dict[str, Json], retry_after: str = "") -> None:
        super().__init__(f"{status} {problem.get('code', '')} {problem.get('detail') or problem.get('title', '')}")
        self.status, self.problem, self.retry_after = status, problem, retry_after
        self.code = str(problem.get("code", ""))

    @property
    def passing(self) -> bool:
        """Tells that the same request may be repeated, after `retry_after`. A damaged record needs an operator."""
        return self.status in (429, 503) and self.code != "record_damaged"


class Forked(AnnalsError):
    """The service shows another game than before. Keep both heads: together they prove it."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a token goes to its service only."""

    def redirect_request(self, *args: Json, **more: Json) -> None:
        return None


@dataclass
class Wire:
    """HTTP requests to one service as one caller."""

    address: str
    token: str = field(default="", repr=False)
    role: str = ""
    """`director` or a seat's number, if the caller has several roles in a game."""
    patience: float = 60.0
    """Seconds of retries before the client gives up."""
    timeout: float = 30.0
    """Seconds of silence after which a connection counts as broken."""
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        self.address = self.address.rstrip("/")
        self._opener = urllib.request.build_opener(_NoRedirect)

    def get(self, path: str, **query: Json) -> Json:
        """Return the document at a path below /v1. Raises Refused, Unreachable."""
        sent = {name: value for name, value in query.items() if value is not None}
        return json.loads(self.text(path + (f"?{urlencode(sent)}" if sent else "")))

    def text(self, path: str) -> bytes:
        """Return the bytes of an answer."""
        return self._send("GET", path, None, {})

    def write(self, path: str, body: Json, *, method: str = "POST", version: int | None = None, key: str = "") -> Json:
        """Send a write, done once, and return its answer. `version`: the game must be at this version (else 412)."""
        headers = {"Idempotency-Key": key or secrets.token_hex(16), "Content-Type": "application/json"}
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        answer = self._send(method, path, json.dumps(body).encode(), headers)
        return json.loads(answer) if answer else None

    def stream(self, path: str, last: int) -> http.client.HTTPResponse:
        """Open a stream. Raises Refused, OSError."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": str(last)} if last else {})
        return self._open("GET", path, None, headers)

    def pause(self, attempt: int, wanted: str = "") -> float:
        """Return seconds to wait: as the service asks, else doubled each time; a random part spreads clients."""
        return read_retry_after(wanted, min(0.1 * 2**attempt, 5.0)) + random.uniform(0, 0.1)  # noqa: S311 - no secret

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
        caller = {"Authorization": self.token and f"Bearer {self.token}", "Annals-Role": self.role}
        headers = headers | {name: value for name, value in caller.items() if value}
        request = urllib.request.Request(f"{self.address}/v1{path}", body, headers, method=method)  # noqa: S310
        try:
            return cast(http.client.HTTPResponse, self._opener.open(request, timeout=self.timeout))
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(error.code, _problem(error), error.headers.get("Retry-After", "")) from None


def read_retry_after(value: str, otherwise: float) -> float:
    """Return the seconds of a `Retry-After`, a number or a date; `otherwise` if it is neither."""
    try:
        is_number = value.isascii() and value.isdecimal()
        return float(value[:9]) if is_number else max(parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return otherwise


def _problem(error: urllib.error.HTTPError) -> dict[str, Json]:
    """Return the problem of a refusal; a made-up one if a proxy answered with another document."""
    try:
        found = json.loads(error.read(1 << 20))
    except (ValueError, OSError, http.client.HTTPException):
        found = None
    return found if isinstance(found, dict) else {"title": error.reason}


class Annals:
    """A service and the account in use, if any."""

    def __init__(self, address: str, token: str = "", **more: Json) -> None:
        self.wire = Wire(address, token, **more)

    def register(self, name: str, password: str, *, bot: bool = False, invitation: str = "") -> t.Registered:
        """Open an account and use it from now on. Keep the recovery `codes`: they are shown only here."""
        body = {"name": name, "password": password, "bot": bot} | ({"invitation": invitation} if invitation else {})
        return cast("t.Registered", self._entered(self.wire.write("/accounts", body)))

    def log_in(self, name: str, password: str) -> t.Entered:
        """Log in and use the new session."""
        return cast("t.Entered", self._entered(self.wire.write("/sessions", {"name": name, "password": password})))

    def recover(self, name: str, code: str, password: str) -> t.Entered:
        """Set a new password with a recovery code; all other sessions end."""
        body = {"name": name, "code": code, "password": password}
        return cast("t.Entered", self._entered(self.wire.write("/recovery", body)))

    def _entered(self, answer: Json) -> Json:
        self.wire.token = answer["token"]
        return answer

    def personal_token(self, label: str, scopes: list[str], days: int) -> t.NewPersonalToken:
        """Create a token for a program; needs a recent login with the password."""
        body = {"label": label, "scopes": scopes, "days": days}
        return cast("t.NewPersonalToken", self.wire.write("/me/tokens", body))

    def me(self) -> t.Me:
        """Return the account."""
        return cast("t.Me", self.wire.get("/me"))

    def my_games(self, **query: Json) -> Iterator[t.Mine]:
        """Yield the account's tables, page by page; filters: `turn="mine"` for tables to move at, `status`."""
        following: str | None = f"/me/games?{urlencode(query)}"
        while following is not None:
            page = cast("t.MyGames", self.wire.get(following.removeprefix("/v1")))
            yield from page["items"]
            following = page["next"]

    def desk(self, **query: Json) -> t.Desk:
        """Return the unfinished tables that the account directs, with what waits there for an officer."""
        return cast("t.Desk", self.wire.get("/me/desk", **query))

    def pause_games(self, **pause: Json) -> t.ManyRuled:
        """Pause all running tables that the account directs; `until`, `moves`, `reason`, and `games` for some."""
        return cast("t.ManyRuled", self.wire.write("/me/pauses", pause))

    def resume_games(self, **more: Json) -> t.ManyRuled:
        """End the pauses of all tables that the account directs; `reason`, and `games` for some."""
        return cast("t.ManyRuled", self.wire.write("/me/resumptions", more))

    def accept_office(self, game: str) -> t.Written:
        """Accept a role as an officer."""
        return cast("t.Written", self.wire.write(f"/me/offices/{game}", {}, method="PUT"))

    def rulesets(self) -> t.Rulesets:
        """Return the rulesets."""
        return cast("t.Rulesets", self.wire.get("/rulesets"))

    def open(self, ruleset: str, seats: int, **terms: Json) -> Table:
        """Open a table as its director; `options`, `pace`, `listing`, `undo` .. as in the OpenAPI document."""
        made = cast("t.NewGameDoc", self.wire.write("/games", {"ruleset": ruleset, "seats": seats, **terms}))
        wire = replace(self.wire, token=made["token"]) if "token" in made else self.wire
        table = Table(wire, made["game"], position=made["position"], invitation=made.get("invitation", ""))
        table.heads.note(made["version"], made["head"])
        return table

    def table(self, game: str, role: str = "") -> Table:
        """Return an existing table."""
        return Table(replace(self.wire, role=role), game)

    def fork(self, game: str, version: int, seat: int | None = None) -> t.ForkDoc:
        """Open an analysis from a version of a closed game; for accounts."""
        return cast("t.ForkDoc", self.wire.write(f"/games/{game}/forks", {"version": version, "seat": seat}))

    def import_game(self, export: str) -> t.ImportDoc:
        """Import the export of a closed game as one for analysis; the same file again is the same game."""
        return cast("t.ImportDoc", self.wire.write("/imports", {"export": export}))

    def open_tournament(self, **terms: Json) -> t.TournamentWritten:
        """Open a tournament as its organiser; `ruleset`, `seats`, `stages` .. as in the OpenAPI document."""
        return cast("t.TournamentWritten", self.wire.write("/tournaments", terms))

    def tournament(self, tournament: str, view: str = "", **query: Json) -> Json:
        """Return a tournament, or one of its views: `/standings`, `/explain`, `/stages/1/rounds/1`."""
        return self.wire.get(f"/tournaments/{tournament}{view}", **query)

    def act(self, tournament: str, path: str, **body: Json) -> t.TournamentWritten:
        """Act in a tournament: `/entrants`, `/checkin`, `/nonce`; as its organiser `/phases`, `/close`, .."""
        return cast("t.TournamentWritten", self.wire.write(f"/tournaments/{tournament}{path}", body))


@dataclass
class Heads:
    """Hashes of a game's records as the service has shown them. A later answer with another hash is a fork."""

    game: str
    seen: dict[int, str] = field(default_factory=dict)
    """Version -> hash of its record; the newest thousand."""

    def note(self, version: int, head: str) -> None:
        """Keep the hash of a version. Raises Forked if it was another one before."""
        before = self.seen.setdefault(version, head)
        if before != head:
            raise Forked(f"game {self.game}, version {version}: first {before}, now {head}")
        if len(self.seen) > 1000:
            del self.seen[min(self.seen)]


@dataclass
class Table:
    """A game in one role: a seat, the director or the public."""

    wire: Wire
    game: str
    seat: int | None = None
    position: int = 0
    """Position of the last write: reads wait for it."""
    invitation: str = field(default="", repr=False)
    looked: int = 0
    """Version of the last check for a turn."""
    heads: Heads = field(default_factory=lambda: Heads(""))

    def __post_init__(self) -> None:
        self.heads.game = self.game

    def _get(self, path: str, **query: Json) -> Json:
        return self.wire.get(f"/games/{self.game}{path}", **query)

    def _write(self, path: str, body: Json, version: int | None = None) -> Json:
        answer = self.wire.write(f"/games/{self.game}{path}", body, version=version)
        self.position = answer["position"]
        self.heads.note(answer["version"], answer["head"])
        return answer

    def check_head(self) -> None:
        """Ask for the newest record that was seen, and raise Forked if the service has another one, or none."""
        if self.heads.seen:
            newest = max(self.heads.seen)
            items = self._get("/timeline", after=newest - 1, limit=1, wait=self.position)["items"]
            self.heads.note(newest, items[0]["head"] if items else "none")

    def summary(self) -> t.Summary:
        """Return seats and terms of the game."""
        return cast("t.Summary", self._get("", wait=self.position))

    def join(self, seat: int | None = None, **more: Json) -> Table:
        """Take a seat and return the table in this role; guests get a token for it."""
        known = {"invitation": self.invitation} if self.invitation else {}
        taken = cast("t.SeatDoc", self._write("/seats", known | more | ({} if seat is None else {"seat": seat})))
        wire = replace(self.wire, token=taken.get("token") or self.wire.token, role=str(taken["seat"]))
        return Table(wire, self.game, taken["seat"], self.position, heads=self.heads)

    def seat_bot(self, seat: int, bot: str = "heuristic") -> t.SeatDoc:
        """Seat a bot of the service; for directors."""
        return cast("t.SeatDoc", self._write("/seats", {"seat": seat, "bot": bot}))

    def offer_office(self, name: str, role: str, reason: str = "") -> t.OfferDoc:
        """Offer an account a role as an officer, or the table itself (`owner`); for officers."""
        body = {"name": name, "role": role} | ({"reason": reason} if reason else {})
        return cast("t.OfferDoc", self.wire.write(f"/games/{self.game}/officers", body))

    def pause_game(self, **pause: Json) -> t.Written:
        """Stop the time of all seats; `until`, `moves`, `reason`; for officers."""
        return cast("t.Written", self._write("/pauses", pause))

    def resume_game(self, reason: str = "") -> t.Written:
        """End the pause of the game; for officers."""
        return cast("t.Written", self._write("/resumptions", {"reason": reason} if reason else {}))

    def close(self, reason: str, **result: Json) -> t.Written:
        """Close the game, or end it by a ruling: `places`, `forfeits`, `penalties`, `explanation`; for officers."""
        return cast("t.Written", self._write("/close", {"reason": reason, **result}))

    def withdraw_ruling(self, version: int, reason: str = "") -> t.Written:
        """Withdraw the ruling of a version within a day; for officers."""
        return cast("t.Written", self._write(f"/rulings/{version}/withdrawal", {"reason": reason} if reason else {}))

    def concede(self) -> t.Written:
        """Leave the seat for good."""
        return cast("t.Written", self._write(f"/seats/{self.seat}/concession", {}))

    def start(self) -> t.Written:
        """Start the game; every seat must be taken."""
        return cast("t.Written", self._write("/start", {}))

    def resume(self) -> t.Resume:
        """Return board and open decisions together."""
        return cast("t.Resume", self._get("/resume", wait=self.position))

    def decisions(self) -> list[t.Decision]:
        """Return the open decisions; none before the start and after the end."""
        return cast("list[t.Decision]", self._get("/decisions", wait=self.position)["decisions"])

    def scores(self) -> t.Scores:
        """Return the standings."""
        return cast("t.Scores", self._get("/scores", wait=self.position))

    def timeline(self, after: int = 0, limit: int = 50) -> t.Timeline:
        """Return timeline entries after a version."""
        return cast("t.Timeline", self._get("/timeline", after=after, limit=limit))

    def talk(self) -> t.Talk:
        """Return the terms of talk, and your conversations with their last messages."""
        return cast("t.Talk", self._get("/talk", wait=self.position))

    def messages(self, after: int = 0, limit: int = 50) -> t.Messages:
        """Return the messages after a place in your mailbox, in order."""
        return cast("t.Messages", self._get("/talk/messages", after=after, limit=limit))

    def say(self, text: str, to: Sequence[int] = (), **more: Json) -> t.Message:
        """Write a letter to these seats, or without any to the table; `treaty`, `answer`, `version`, `references`."""
        body: dict[str, Json] = {"to": list(to), "text": text, **more}
        return cast("t.Message", self.wire.write(f"/games/{self.game}/talk/messages", body))

    def treaties(self, to: Sequence[int] = ()) -> t.TreatyKinds:
        """Return the treaties that may be proposed to these seats, or to the table."""
        return cast("t.TreatyKinds", self._get("/talk/treaties", to=",".join(map(str, to))))

    def standing_orders(self) -> t.StandingOrders:
        """Return the `kinds` of orders that you may give, and your `items` with their moves and ends."""
        return cast("t.StandingOrders", self._get("/standing-orders"))

    def order(self, kind: str, values: dict[str, Json] | None = None, **more: Json) -> t.StandingOrder:
        """Decide beforehand, with the fields of the kind; `times`, `turn`, `chance`, `stops`."""
        body = {"kind": kind, "values": values or {}, **more}
        return cast("t.StandingOrder", self.wire.write(f"/games/{self.game}/standing-orders", body))

    def revoke(self, order: str) -> None:
        """Revoke an order. Its moves stay."""
        self.wire.write(f"/games/{self.game}/standing-orders/{order}", None, method="DELETE")

    def export(self) -> bytes:
        """Return the readable records as lines; `annals verify` checks them."""
        return self.wire.text(f"/games/{self.game}/export")

    def ask(self, picks: list[Json], *, ahead: int = 0) -> t.Next:
        """Return the builder's next question, or the finished move; with `ahead` also answers to further picks."""
        return cast("t.Next", self.wire.write(f"/games/{self.game}/choices?ahead={ahead}", {"picks": picks}))

    def build(self, choose: Choose, board: t.Board) -> t.Move:
        """Build a move from the picks of `choose`. Only picks beyond the answers at hand need another request."""
        picks: list[Json] = []
        known: list[t.FurtherAnswer] = []
        while True:
            answer: Any = next((a for a in known if a["picks"] == picks), None) or self.ask(picks, ahead=12)
            if answer["move"] is not None:
                return cast("t.Move", answer["move"])
            if answer["choice"] is None:
                raise AnnalsError("the builder neither asks nor answers")
            known = answer.get("ahead", known)
            picks.append(choose(board, answer["choice"]))

    def move(self, move: t.Move, *, decision: str = "", version: int | None = None) -> t.Moved:
        """Answer a decision. Raises Refused with a code of the rules, or `decision_closed`, `stale_version` .."""
        body = {"move": move} | ({"decision": decision} if decision else {})
        return cast("t.Moved", self._write("/moves", body, version))

    def turn(self, choose: Choose) -> bool:
        """Play one move if this seat owes one. Return True to look again: after a move, or after a stale one."""
        now = self.resume()
        self.looked = now["version"]
        owed = next((d for d in now["decisions"] if self.seat in d["must"]), None)
        if owed is None:
            return False
        try:
            self.move(self.build(choose, now["board"]), decision=owed["id"])
        except Refused as refusal:
            if refusal.code == "game_paused":
                ends = refusal.problem.get("figures", {}).get("until") is not None
                self.wire.sleep(PAUSE_SECONDS if ends else 0)
                return ends
            if refusal.code not in OVERTAKEN | OVER:
                raise
            self.wire.sleep(self.wire.pause(0))
            return refusal.code in OVERTAKEN
        return True

    def play(self, choose: Choose, hear: Callable[[], object] = lambda: None) -> None:
        """Play to the end; check for a turn after every change on the stream, and call `hear` after each message."""
        for event in self.follow():
            if event["event"] == "message":
                hear()
            if event["event"] in ("board", "timeline") and event["data"]["version"] > self.looked:
                while self.turn(choose):
                    pass

    def follow(self, last: int = 0) -> Iterator[t.StreamEvent]:
        """Yield stream events after a version, until the game is closed; reconnect after interruptions.

        A timeline entry can come twice, for example after a broken connection. Raises Refused if the stream cannot
        open again (the token has ended), Unreachable after the client's `patience`, Forked for another game.
        """
        failures, since = 0, time.monotonic()
        while True:
            wanted = ""
            self.check_head()
            try:
                with self.wire.stream(f"/games/{self.game}/stream", last) as stream:
                    for event in read_events(stream):
                        failures, since = 0, time.monotonic()
                        last = int(event.get("id") or last)
                        if event["event"] == "bye":
                            break
                        if event["event"] in ("board", "timeline"):
                            self.heads.note(event["data"]["version"], event["data"]["head"])
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
    """Yield server-sent events with parsed documents. Skip incomplete events; pass on unknown kinds."""
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
    """Return a random pick for any question of any ruleset; slightly prefer options with `ends`."""
    rng = random
    if choice["kind"] == "range":
        return rng.randint(choice["lo"], choice["hi"])
    values = [option["value"] for option in choice["options"]]
    if choice["kind"] == "some":
        return rng.sample(values, rng.randint(choice["lo"], min(choice["hi"], len(values))))
    ends = [option["value"] for option in choice["options"] if option.get("ends")]
    return rng.choice(ends if ends and rng.random() < 0.35 else values)
