"""A key stands for one request: every route that writes, every other route under its key, and every repetition."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from domain.command_handler import GameConditions
from domain.errors import AccountError
from domain.kernel.game.play_commands import Play
from domain.service.recurrence import Recurrence
from domain.tournament_series import plan_schedule
from domain.tournaments.aggregate.basic_commands import (
    CheckIn,
    CloseCheckIn,
    Draw,
    Enter,
    OpenCheckIn,
    ShowNonce,
    TournamentCommand,
)
from domain.tournaments.aggregate.elsewhere_commands import MoveElsewhere
from domain.tournaments.aggregate.queue_commands import JoinQueue
from domain.tournaments.aggregate.result_commands import AddTable, Report
from domain.tournaments.aggregate.seat_commands import OpenBids
from domain.tournaments.aggregate.tournament_appeal_commands import OUTCOMES, ContestRuling
from domain.tournaments.aggregate.tournament_ruling_commands import ROLES, DeputeOfficer, Penalise, RulingEffect
from domain.tournaments.draw import commit_nonce
from tests.api.conftest import Doc, Reply, Site, Table, make_site, refused
from tests.api.members import OTHER, PASSWORD, Member, promoted, register

K = "k" * 40
NONCE = "ab" * 16
ORDER: Doc = {"type": "order", "to": "t00", "units": 1}
PACE: Doc = {"seconds": {"turn": 36_000}, "vacation": 9}
TABLE: Doc = {"ruleset": "orders@1", "seats": 3}
HOOK: Doc = {"url": "https://receiver.example/x", "about": "mine"}
CLIENT: Doc = {
    "name": "A client",
    "redirects": ["https://client.example/back"],
    "grant_types": ["authorization_code"],
    "scopes": ["read"],
    "confidential": True,
}


@dataclass(frozen=True)
class Ask:
    """A request that succeeds, and a change that makes it another one."""

    route: str
    path: str
    body: Doc | None
    other: Doc | None
    """Another body, or None where the route has none."""
    headers: Mapping[str, str]
    token: str = ""

    def send(self, site: Site, key: str = K, **headers: str) -> Reply:
        method, _ = self.route.split(" ")
        send = {"POST": site.post, "PUT": site.put}.get(method)
        sent = {"Idempotency_Key": key, **self.headers, **headers}
        return send(self.path, self.body, self.token, **sent) if send else site.delete(self.path, self.token, **sent)


def ask(route: str, path: str, body: Doc | None, other: Doc | None = None, **headers: str) -> Ask:
    return Ask(route, path, body, other, headers)


# --- who asks, and what ----------------------------------------------------------------------------------------


def table_of(site: Site, *, start: bool = True, committed: bool = False, **terms: Any) -> Table:
    """A table whose seat 0 has hidden a nonce if it is `committed` and, once it runs, filed an order."""
    made = site.post("/games", TABLE | {"pace": PACE, "undo": "free", "talk": "free"} | terms).json
    table = Table(site, made["game"], made["token"], [])
    for seat in range(3):
        hidden = {"nonce_hash": hashlib.sha256(bytes.fromhex(NONCE)).hexdigest()} if seat == 0 and committed else {}
        table.tokens.append(table.post("/seats", {"seat": seat, **hidden}).json["token"])
    if start:
        assert table.post("/start", token=table.director).status_code == 201
        assert table.move(0, ORDER).status_code == 201
    return table


AT = "/v1/games/{game}"


def open_table(site: Site, who: int | str) -> list[Ask]:
    table = table_of(site, start=False, committed=who == 0)
    mine = [ask(f"POST {AT}/start", f"{table.path}/start", {})]
    if who == 0:
        mine = [ask(f"POST {AT}/nonces", f"{table.path}/nonces", {"nonce": NONCE}, {"nonce": NONCE + "00"})]
    return [replace(each, token=table.token(who)) for each in mine]


def running_table(site: Site, who: int | str) -> list[Ask]:
    table = table_of(site)
    path, version, decision = table.path, f'"{table.version}"', table.decision
    order = {"move": ORDER, "decision": decision} | ({"seat": 1} if who == "director" else {})
    both = [
        ask(f"POST {AT}/moves", f"{path}/moves", order, order | {"move": {"type": "order", "to": "t01", "units": 1}}),
        ask(f"POST {AT}/rewinds", f"{path}/rewinds", {"to": table.version - 1}, {"to": 4}, If_Match=version),
        ask(f"DELETE {AT}/seats/{{seat}}", f"{path}/seats/0", None),
    ]
    seat = [
        ask(f"POST {AT}/vacations", f"{path}/vacations", {"days": 1}, {"days": 2}),
        ask(f"POST {AT}/talk/messages", f"{path}/talk/messages", {"to": [1], "text": "x"}, {"to": [1], "text": "y"}),
        ask(f"POST {AT}/proposals", f"{path}/proposals", {"act": "close"}, {"act": "remove", "seat": 1}),
        ask(f"POST {AT}/seats/{{seat}}/concession", f"{path}/seats/0/concession", {}),
    ]
    extension = {"decision": decision, "seconds": 60}
    director = [
        ask(f"POST {AT}/looks", f"{path}/looks", {}),
        ask(f"POST {AT}/pauses", f"{path}/pauses", {}, {"moves": True}),
        ask(f"POST {AT}/extensions", f"{path}/extensions", extension, extension | {"seconds": 61}),
        ask(f"POST {AT}/close", f"{path}/close", {"reason": "void"}, {"reason": "abandoned"}),
        ask(f"PUT {AT}/seats/{{seat}}/hold", f"{path}/seats/1/hold", {"seconds": 50}, {"seconds": 51}),
        ask(f"POST {AT}/seats/{{seat}}/tokens", f"{path}/seats/1/tokens", {}),
        ask(f"POST {AT}/seats/{{seat}}/removals", f"{path}/seats/2/removals", {}, {"reason": "gone"}),
    ]
    mine = both + (director if who == "director" else seat)
    return [replace(each, token=table.token(who)) for each in mine]


def joining(site: Site) -> list[Ask]:
    """An account that directs a table and asks for a seat there: for itself, or for a bot."""
    anne = register(site)
    game = anne.post("/games", {"ruleset": "orders@1", "seats": 3}).json["game"]
    path, bot = f"/games/{game}/seats", {"seat": 1, "bot": "builder"}
    found = [
        ask(f"POST {AT}/seats", path, {"seat": 0}, {"seat": 2}),
        ask(f"POST {AT}/seats", path, bot, bot | {"seat": 2}),
    ]
    return [replace(each, token=anne.token) for each in found]


def ordering(site: Site) -> list[Ask]:
    """A seat that decides beforehand."""
    table = site.table("struggle_of_empires@1", 3)
    path, body = f"{table.path}/standing-orders", {"kind": "keep_dice"}
    return [Ask(f"POST {AT}/standing-orders", path, body, {"kind": "pass_turns"}, {}, table.tokens[0])]


def reporting(site: Site) -> list[Ask]:
    """An account with a letter from a guest."""
    table = table_of(site)
    reader = register(site)
    reader.post("/me/claims", {"token": table.tokens[1]})
    assert table.post("/talk/messages", {"to": [1], "text": "x"}, table.tokens[0]).status_code == 201
    body = {"entries": [1], "said": "x"}
    path = f"{table.path}/talk/reports"
    return [Ask(f"POST {AT}/talk/reports", path, body, body | {"said": "y"}, {}, reader.token)]


def officers(site: Site) -> tuple[Member, str, list[Member]]:
    """An account that directs a table, the table's path, and its deputies."""
    owner = register(site, "Olga")
    game = owner.post("/games", TABLE).json["game"]
    deputies = [register(site, name) for name in ("Dora", "Dirk")]
    for deputy in deputies:
        offer = {"player": deputy.doc["player"], "role": "deputy"}
        assert owner.post(f"/games/{game}/officers", offer).status_code == 202
        assert deputy.put(f"/me/offices/{game}").status_code == 200
    return owner, f"/games/{game}", deputies


def removing(site: Site) -> list[Ask]:
    """An owner who ends the roles of two deputies."""
    owner, path, deputies = officers(site)
    route = f"POST {AT}/officers/{{player}}/removals"
    found = [ask(route, f"{path}/officers/{each.doc['player']}/removals", {}, {"reason": "x"}) for each in deputies]
    return [replace(each, token=owner.token) for each in found]


def inheriting(site: Site) -> list[Ask]:
    """A deputy of a table whose owner's account is erased."""
    owner, path, deputies = officers(site)
    owner.prove()
    assert owner.delete("/me").status_code == 204
    return [Ask(f"POST {AT}/inheritance", f"{path}/inheritance", {}, {"reason": "x"}, {}, deputies[1].token)]


def account(site: Site) -> list[Ask]:
    root = promoted(site, "Root", "admin")
    token = root.post("/me/tokens", {"label": "t", "scopes": ["read"]}).json["id"]
    hook = root.post("/me/webhooks", HOOK).json["id"]
    reported = site.post("/games", TABLE).json["game"]
    closed = site.table("orders@1", 3)
    assert closed.move(0, ORDER).status_code == 201
    assert closed.post("/close", {"reason": "void"}, closed.director).status_code == 201
    scopes = {"label": "a bot", "scopes": ["read"]}
    found = [
        ask("POST /v1/games", "/games", TABLE, TABLE | {"undo": "free"}),
        ask(f"POST {AT}/forks", f"{closed.path}/forks", {"version": 5}, {"version": 6}),
        ask("POST /v1/games/batches", "/games/batches", {"table": TABLE, "count": 2}, {"table": TABLE, "count": 3}),
        ask("POST /v1/me/tokens", "/me/tokens", scopes, scopes | {"days": 3}),
        ask("POST /v1/me/tokens/{token}/rotations", f"/me/tokens/{token}/rotations", None),
        ask("POST /v1/me/webhooks", "/me/webhooks", HOOK, HOOK | {"about": "lobby"}),
        ask("POST /v1/me/webhooks/{webhook}/rotations", f"/me/webhooks/{hook}/rotations", None),
        ask("POST /v1/me/clients", "/me/clients", CLIENT, CLIENT | {"name": "B"}),
        ask("POST /v1/reports", "/reports", {"game": reported, "said": "x"}, {"game": reported, "said": "y"}),
        ask("POST /v1/invitations", "/invitations", {"uses": 2}, {"uses": 3}),
    ]
    return [replace(each, token=root.token) for each in found]


IN_TOURNAMENT = "/v1/tournaments/{tournament}"
ROUND = "/stages/{stage}/rounds/{number}"
FIRST = "/stages/1/rounds/1/tables/1"


def organising(site: Site) -> list[Ask]:
    """An account with tournaments in each phase, which plays in them too."""
    anne, handler = register(site), site.services.tournaments
    terms = {
        "ruleset": "orders@1",
        "table": {},
        "seats": {"least": 3, "most": 3, "preferred": 3},
        "stages": [{"rounds": 1}],
    }

    def made(*commands: TournamentCommand, **more: Any) -> str:
        answer = anne.post("/tournaments", {**terms, **more})
        assert answer.status_code == 201, answer.text
        for command in commands:
            handler.handle(answer.json["tournament"], command)
        return f"/tournaments/{answer.json['tournament']}"

    entered = (Enter(anne.doc["player"]), Enter("p1"), Enter("p2"))
    me = (anne.doc["player"],)
    checking = (*entered, OpenCheckIn(), CheckIn(me, commit_nonce(NONCE)), CheckIn(("p1",)), CheckIn(("p2",)))
    drawing = (*checking, CloseCheckIn())
    drawn = (*drawing, ShowNonce(me, NONCE), Draw(1, 1))
    ranking = made(*drawn)
    entrants = handler.load(ranking.rpartition("/")[2]).play.rounds[0].pods[0]
    for command in (AddTable(1, 1, 1, "g", entrants), Report(1, 1, 1, "g", 9, "h", (1, 2, 3), (3, 2, 1))):
        handler.handle(ranking.rpartition("/")[2], command)
    bids = {"stages": [{"rounds": 1, "seating": "bid"}]}
    hall = {"elsewhere": "some"}
    swiss = {"stages": [{"format": "swiss", "rounds": 3}]}
    ladder = {"stages": [{"format": "ladder"}]}
    weekly, every = {"start": "2060-01-04T20:00", "zone": "Europe/Paris"}, ("WEEKLY", "DAILY")
    timed = plan_schedule(Recurrence("FREQ=DAILY", weekly["zone"], weekly["start"]))
    people = [{"player": register(site, name).doc["player"]} for name in ("Bertrand", "Claire", "Didier")]
    officer = people[0]
    deputed = DeputeOfficer(officer["player"], "deputy")
    # The last has no account: a draw withdraws it, a refused one does not.
    others = (*(person["player"] for person in people), "p4")
    present = (*(Enter(p) for p in others), OpenCheckIn(), *(CheckIn((p,)) for p in others), CloseCheckIn())
    rulings = f"{made(*present)}/rulings"
    ruling = {"act": "penalised", "entrant": 1, "ticks": 5, "reason": "Late."}
    seen = {"If_Match": anne.post(f"{rulings}?dry_run=1", ruling).headers["ETag"]}
    entries = len(others) + 1
    own = (Enter(me[0]), *present[:entries], CheckIn(me), *present[entries:])

    def ruled(*commands: TournamentCommand) -> tuple[str, int]:
        """A tournament with a ruling by an arbiter, and the number of the ruling."""
        path = made(*commands, DeputeOfficer("p9", "arbiter"))
        t = handler.load(path.rpartition("/")[2])
        penalty = Penalise("p9", (), (), "", 1, 1, 5)
        seen = replace(penalty, preview=RulingEffect(t, penalty).digest)
        return path, handler.handle(t.id, seen).versions[0]

    (contested, number), (answered, other) = ruled(*own), ruled(*present)
    handler.handle(answered.rpartition("/")[2], ContestRuling(others[1:2], other))
    appeal = {"ruling": number, "reason": "x"}
    answers = [{"outcome": outcome, "reason": "x"} for outcome in OUTCOMES]
    hashes = [{"nonce_hash": commit_nonce(text)} for text in ("x" * 16, "y" * 16)]
    found = [
        ask("POST /v1/tournaments", "/tournaments", terms, terms | {"capacity": 9}),
        ask(f"POST {IN_TOURNAMENT}/entrants", f"{made()}/entrants", {}),
        ask(f"DELETE {IN_TOURNAMENT}/entrants/me", f"{made(*entered)}/entrants/me", None),
        ask(f"POST {IN_TOURNAMENT}/queue", f"{made(*entered, **ladder)}/queue", {}),
        ask(f"DELETE {IN_TOURNAMENT}/queue", f"{made(*entered, JoinQueue(me), **ladder)}/queue", None),
        ask(f"PUT {IN_TOURNAMENT}/schedule", f"{made()}/schedule", *({**weekly, "rule": f"FREQ={f}"} for f in every)),
        ask(f"DELETE {IN_TOURNAMENT}/schedule", f"{made(timed)}/schedule", None),
        ask(
            f"PUT {IN_TOURNAMENT}/timetable",
            f"{made()}/timetable",
            *({"starts": [f"206{n}-01-04T20:00"]} for n in "12"),
        ),
        ask(f"POST {IN_TOURNAMENT}/divisions", f"{made()}/divisions", *({"name": name} for name in "AB")),
        ask(
            f"POST {IN_TOURNAMENT}/amendments",
            f"{made()}/amendments",
            *({"reveal": seconds, "reason": "x"} for seconds in (61, 62)),
        ),
        ask(f"POST {IN_TOURNAMENT}/checkin", f"{made(*entered, OpenCheckIn())}/checkin", *hashes),
        ask(
            f"POST {IN_TOURNAMENT}/entrants/{{entrant}}/checkin",
            f"{made(*entered, OpenCheckIn())}/entrants/1/checkin",
            {},
        ),
        ask(f"POST {IN_TOURNAMENT}/nonce", f"{made(*drawing)}/nonce", {"nonce": NONCE}, {"nonce": NONCE + "00"}),
        ask(f"POST {IN_TOURNAMENT}/phases", f"{made()}/phases", {"phase": "checking"}, {"phase": "drawing"}),
        ask(f"POST {IN_TOURNAMENT}{ROUND}/draw", f"{made(*present)}/stages/1/rounds/1/draw", {"reason": "x"}, {}),
        ask(f"POST {IN_TOURNAMENT}{ROUND}/bidding", f"{made(*drawn, **bids)}/stages/1/rounds/1/bidding", {}),
        ask(
            f"PUT {IN_TOURNAMENT}{ROUND}/bids",
            f"{made(*drawn, OpenBids(1, 1), **bids)}/stages/1/rounds/1/bids",
            {"bid": [100, 0, 0]},
            {"bid": [0, 0, 100]},
        ),
        ask(f"PUT {IN_TOURNAMENT}{ROUND}/tables/{{pod}}/elsewhere", f"{made(*drawn, **hall)}{FIRST}/elsewhere", {}),
        ask(
            f"PUT {IN_TOURNAMENT}{ROUND}/tables/{{pod}}/scores",
            f"{made(*drawn, MoveElsewhere(me[0], 1, 1, 1), **hall)}{FIRST}/scores",
            {"points": [3, 2, 1]},
            {"points": [3, 3, 1]},
        ),
        ask(f"POST {IN_TOURNAMENT}{ROUND}/rank", f"{ranking}/stages/1/rounds/1/rank", {}),
        ask(f"POST {IN_TOURNAMENT}/close", f"{made()}/close", {}),
        ask(f"POST {IN_TOURNAMENT}/entrants/me/byes", f"{made(*checking, **swiss)}/entrants/me/byes", {}),
        ask(f"POST {IN_TOURNAMENT}/entrants/me/substitutes", f"{made(*entered)}/entrants/me/substitutes", *people[:2]),
        ask(f"POST {IN_TOURNAMENT}/officers", f"{made()}/officers", *({**officer, "office": o} for o in ROLES)),
        ask(f"POST {IN_TOURNAMENT}/announcements", f"{made()}/announcements", {"text": "x"}, {"text": "y"}),
        ask(f"POST {IN_TOURNAMENT}/invitations", f"{made()}/invitations", *people[:2]),
        ask(
            f"POST {IN_TOURNAMENT}/entrants/imports",
            f"{made()}/entrants/imports",
            {"csv": "account\nBertrand\n"},
            {"csv": "name\nBertrand\n"},
        ),
        ask(f"DELETE {IN_TOURNAMENT}/officers/{{player}}", f"{made(deputed)}/officers/{officer['player']}", None),
        ask(f"POST {IN_TOURNAMENT}/appeals", f"{contested}/appeals", appeal, appeal | {"reason": "y"}),
        ask(f"POST {IN_TOURNAMENT}/appeals/{{ruling}}/answer", f"{answered}/appeals/{other}/answer", *answers),
        ask(f"POST {IN_TOURNAMENT}/rulings", rulings, ruling, {**ruling, "ticks": 6}, **seen),
    ]
    return [replace(each, token=anne.token) for each in found]


def nobody(site: Site) -> list[Ask]:
    """Without a token the key itself is who asks."""
    person = {"name": "Anne", "password": PASSWORD}
    return [
        ask("POST /v1/accounts", "/accounts", person, person | {"label": "x"}),
        ask("POST /v1/games", "/games", TABLE, TABLE | {"undo": "free"}),
        ask("POST /v1/games/batches", "/games/batches", {"table": TABLE, "count": 2}, {"table": TABLE, "count": 3}),
    ]


def pausing(site: Site) -> list[Ask]:
    """A director of a paused table."""
    table = table_of(site)
    assert table.post("/pauses", {}, table.director).status_code == 201
    made = ask(f"POST {AT}/resumptions", f"{table.path}/resumptions", {}, {"reason": "x"})
    return [replace(made, token=table.director)]


def withdrawing(site: Site) -> list[Ask]:
    """A director of a table that was annulled."""
    table = table_of(site)
    ruled = table.post("/close", {"reason": "annulled"}, table.director).json["version"]
    path = f"{table.path}/rulings/{ruled}/withdrawal"
    made = ask(f"POST {AT}/rulings/{{version}}/withdrawal", path, {}, {"reason": "x"})
    return [replace(made, token=table.director)]


def contested(site: Site, *, is_answer: bool) -> list[Ask]:
    """A seat of a table with a decision of its director, and the director after an appeal."""
    table = table_of(site)
    body = {"decision": table.decision, "seconds": 60}
    version = table.post("/extensions", body, table.director).json["version"]
    sent: Doc = {"version": version, "reason": "x"}
    if not is_answer:
        made = ask(f"POST {AT}/appeals", f"{table.path}/appeals", sent, sent | {"reason": "y"})
        return [replace(made, token=table.token(0))]
    assert table.post("/appeals", sent, table.token(0)).status_code == 201
    answer: Doc = {"outcome": "upheld", "reason": "x"}
    path = f"{table.path}/appeals/{version}/answer"
    made = ask(f"POST {AT}/appeals/{{version}}/answer", path, answer, answer | {"outcome": "overturned"})
    return [replace(made, token=table.director)]


CALLERS: dict[str, Callable[[Site], list[Ask]]] = {
    "a seat at an open table": lambda site: open_table(site, 0),
    "a director at an open table": lambda site: open_table(site, "director"),
    "a seat that appeals": lambda site: contested(site, is_answer=False),
    "a director who answers an appeal": lambda site: contested(site, is_answer=True),
    "a seat": lambda site: running_table(site, 0),
    "a director": lambda site: running_table(site, "director"),
    "a director of a paused table": pausing,
    "a director of an annulled table": withdrawing,
    "a person at a table": joining,
    "a person with a letter": reporting,
    "a seat that decides beforehand": ordering,
    "an owner": removing,
    "an heir": inheriting,
    "an account": account,
    "an organiser": organising,
    "nobody": nobody,
}
"""Callers, each with keys of its own, and all that they may ask under a key."""

WITHOUT_KEY = {
    "sets a state, which is the same the second time": (
        "POST /v1/imports",
        "POST /v1/me/pauses",
        "POST /v1/me/resumptions",
        "POST /v1/me/vacations",
        "PUT /v1/accounts/{account}/role",
        "PUT /v1/accounts/{account}/standing",
        "PUT /v1/games/{game}/card",
        "PUT /v1/games/{game}/chat",
        "PUT /v1/games/{game}/notes",
        "PUT /v1/games/{game}/talk/disclosures",
        "PUT /v1/games/{game}/talk/mutes",
        "PUT /v1/games/{game}/talk/reports/{report}",
        "PUT /v1/games/{game}/seats/{seat}/silence",
        "DELETE /v1/games/{game}/standing-orders/{order}",
        "DELETE /v1/games/{game}/seats/{seat}/silence",
        "PUT /v1/accounts/{account}/silence",
        "DELETE /v1/accounts/{account}/silence",
        "PUT /v1/games/{game}/talk/read",
        "PUT /v1/me/blocks/{player}",
        "PUT /v1/me/clients/{client}",
        "PUT /v1/me/event-offers/{tournament}/{part}",
        "PUT /v1/me/mail",
        "PUT /v1/me/name",
        "PUT /v1/me/offices/{game}",
        "PUT /v1/me/relations",
        "PUT /v1/me/settings",
        "PUT /v1/me/substitutions/{tournament}/{player}",
        "PUT /v1/me/watching/{game}",
        "POST /v1/me/push",
        "PUT /v1/me/webhooks/{webhook}",
        "PUT /v1/reports/{report}",
        "PUT /v1/tournaments/{tournament}/card",
        "PUT /v1/tournaments/{tournament}/chat",
        "PUT /v1/tournaments/{tournament}/followers/me",
    ),
    "takes away, and a second time there is nothing to take": (
        "DELETE /v1/accounts/{account}/credentials",
        "DELETE /v1/games/{game}/card",
        "DELETE /v1/games/{game}/challenges",
        "DELETE /v1/games/{game}/chat",
        "DELETE /v1/imports/{game}",
        "DELETE /v1/games/{game}/officers/{player}/offer",
        "DELETE /v1/me",
        "DELETE /v1/me/blocks/{player}",
        "DELETE /v1/me/calendar-key",
        "DELETE /v1/me/challenges/{game}",
        "DELETE /v1/me/clients/{client}",
        "DELETE /v1/me/event-offers/{tournament}/{part}",
        "DELETE /v1/me/factors/passkeys/{passkey}",
        "DELETE /v1/me/factors/totp",
        "DELETE /v1/me/grants/{grant}",
        "DELETE /v1/me/mail",
        "DELETE /v1/me/offices/{game}",
        "DELETE /v1/me/sessions",
        "DELETE /v1/me/sessions/{session}",
        "DELETE /v1/me/substitutions/{tournament}/{player}",
        "DELETE /v1/me/tokens/{token}",
        "DELETE /v1/me/watching/{game}",
        "DELETE /v1/me/push/{device}",
        "DELETE /v1/me/webhooks/{webhook}",
        "DELETE /v1/players/{player}/name",
        "DELETE /v1/stream-cookies",
        "DELETE /v1/tournaments/{tournament}/announcements/{announcement}",
        "DELETE /v1/tournaments/{tournament}/card",
        "DELETE /v1/tournaments/{tournament}/chat",
        "DELETE /v1/tournaments/{tournament}/code",
        "DELETE /v1/tournaments/{tournament}/entrants/me/substitutes/{player}",
        "DELETE /v1/tournaments/{tournament}/followers/me",
        "DELETE /v1/tournaments/{tournament}/offers/{player}",
    ),
    "one vote of a seat, one result of a table, one offer or challenge of a person, one rematch of a game": (
        "POST /v1/games/{game}/challenges",
        "POST /v1/games/{game}/officers",
        "POST /v1/games/{game}/proposals/{proposal}/consents",
        "POST /v1/games/{game}/rematches",
        "POST /v1/games/{game}/rewinds/{rewind}/consents",
        "POST /v1/me/claims",
        "POST /v1/me/entries",
        "POST /v1/me/officers",
        "POST /v1/tournaments/{tournament}/stages/{stage}/rounds/{number}/tables/{pod}/confirmations",
        "POST /v1/tournaments/{tournament}/stages/{stage}/rounds/{number}/tables/{pod}/settlement",
    ),
    "does what is missing, and a second time nothing is": (
        "DELETE /v1/tournaments/{tournament}/pause",
        "POST /v1/tournaments/{tournament}/stages/{stage}/rounds/{number}/adjournments",
        "POST /v1/tournaments/{tournament}/stages/{stage}/rounds/{number}/reports",
        "POST /v1/tournaments/{tournament}/stages/{stage}/rounds/{number}/tables",
        "PUT /v1/tournaments/{tournament}/pause",
    ),
    "is the request of C2SP programs, which know no keys: its old size tells a repetition": (
        "POST /v1/witness/add-checkpoint",
    ),
    "replaces what the one before has made": (
        "POST /v1/me/calendar-key",
        "POST /v1/me/clients/{client}/secrets",
        "POST /v1/me/factors/totp",
        "POST /v1/me/recovery-codes",
        "POST /v1/tournaments/{tournament}/entrants/{entrant}/claims",
        "PUT /v1/tournaments/{tournament}/code",
    ),
    "proves something: a repetition would be a second way in": (
        "POST /v1/me/factors/passkeys",
        "POST /v1/me/factors/passkeys/challenges",
        "POST /v1/me/factors/totp/confirmations",
        "POST /v1/me/mail/confirmations",
        "POST /v1/me/password",
        "POST /v1/me/proofs",
        "POST /v1/passkey-challenges",
        "POST /v1/passkey-sessions",
        "POST /v1/recovery",
        "POST /v1/sessions",
    ),
    "asks or sends something that counts for nothing": (
        "POST /v1/games/{game}/choices",
        "POST /v1/me/webhooks/{webhook}/deliveries/{delivery}/replays",
        "POST /v1/me/push/{device}/tests",
        "POST /v1/me/webhooks/{webhook}/tests",
        "POST /v1/recovery/mails",
        "POST /v1/stream-cookies",
        "POST /v1/stream-tickets",
    ),
}
"""Writing routes that take no key, with the reason."""

PAGES = re.compile(r"POST /(?!v1/)")
"""Pages and OAuth have forms and codes that count once."""


def test_every_route_that_writes_takes_a_key_or_has_a_reason(site: Site) -> None:
    """A new route fails here until it is one of those that are tried below, or has a reason."""
    paths = site.get("/openapi.json").json["paths"]
    written, keyed = set(), set()
    for rule in site.app.url_map.iter_rules():
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        for method in (rule.methods or set()) & {"POST", "PUT", "PATCH", "DELETE"}:
            operation = paths.get(path, {}).get(method.lower(), {})
            names = {p["name"] for p in operation.get("parameters", ()) if p["in"] == "header"}
            written.add(f"{method} {path}")
            keyed |= {f"{method} {path}"} if "Idempotency-Key" in names else set()
    tried = {each.route for asks in CALLERS.values() for each in asks(site_of(site))}
    reasons = {route for routes in WITHOUT_KEY.values() for route in routes}
    assert keyed == tried
    assert {route for route in written - keyed if not PAGES.match(route)} == reasons


def site_of(site: Site) -> Site:
    """The site with names of people that are free again."""
    for account_id, name in site.services.ledger.execute("SELECT id, name FROM accounts"):
        with suppress(AccountError):  # an erased one
            site.services.account_store.accounts.rename(account_id, f"{name} {account_id[:4]}")
    site.services.ledger.execute("DELETE FROM account_names WHERE until > 0")
    return site


# --- under one key ---------------------------------------------------------------------------------------------


def everything(site: Site) -> dict[str, list[Any]]:
    """All rows of the ledger's database."""
    execute = site.services.ledger.execute
    names = [name for (name,) in execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: execute("SELECT * FROM " + name) for name in names if name[:7] != "sqlite_"}  # noqa: S608 - our names


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[Callable[[], Site]]:
    with ExitStack() as stack:

        def another() -> Site:
            return stack.enter_context(closing(make_site(Path(tempfile.mkdtemp(dir=tmp_path)))))

        yield another


@pytest.mark.parametrize("caller", CALLERS)
def test_a_key_stands_for_one_request(sites: Callable[[], Site], caller: str) -> None:
    """The same again gets the same bytes; another route, path, body or condition is refused. Nothing happens twice."""
    for n in range(len(CALLERS[caller](sites()))):
        site = sites()
        asks = CALLERS[caller](site)
        first = asks[n].send(site)
        assert first.status_code in (200, 201, 202), (asks[n].route, first.text)
        assert "Idempotency-Replayed" not in first.headers
        before = everything(site)
        if caller == "a seat" and asks[n].path.endswith(("seats/0", "concession")):  # no token is left for anything
            for each in asks:
                refused(each.send(site), 401, "unauthenticated")
            continue
        others = [other for m, other in enumerate(asks) if m != n]
        others += [replace(asks[n], body=asks[n].other)] if asks[n].other is not None else []
        others += [replace(asks[n], path=f"{asks[n].path}?hold=7")] if asks[n].route.startswith(f"DELETE {AT}") else []
        for other in others:
            answer = other.send(site)
            assert answer.status_code == 422, (asks[n].route, other.route, answer.text)
            refused(answer, 422, "idempotency_key_reused")
        if caller.startswith(("a seat", "a director")):
            refused(asks[n].send(site, If_Match='"1"'), 422, "idempotency_key_reused")
        again = asks[n].send(site)
        assert (again.status_code, again.data) == (first.status_code, first.data), asks[n].route
        assert again.headers["Idempotency-Replayed"] == "true", asks[n].route
        assert everything(site) == before, asks[n].route


def test_each_caller_has_keys_of_its_own(site: Site) -> None:
    """A seat, another seat, the director and a person without a table may all use the same one."""
    table = table_of(site)
    for who in (1, 2):
        assert table.post("/vacations", {"days": 1}, table.token(who), Idempotency_Key=K).status_code == 201
    assert table.post("/looks", {}, table.director, Idempotency_Key=K).status_code == 201
    assert site.post("/games", TABLE, Idempotency_Key=K).status_code == 201


def test_a_refused_request_leaves_its_key_free(site: Site) -> None:
    table, key = table_of(site), {"Idempotency_Key": K}
    refused(table.post("/vacations", {"days": 10}, table.tokens[0], **key), 409, "no_vacation_left")
    assert table.post("/vacations", {"days": 1}, table.tokens[0], **key).status_code == 201


# --- what has changed since ------------------------------------------------------------------------------------


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


def test_webhook_changed_and_removed_does_not_come_back(anne: Member) -> None:
    first = anne.post("/me/webhooks", HOOK, Idempotency_Key=K)
    hook = f"/me/webhooks/{first.json['id']}"
    anne.put(hook, {"url": "https://other.example/", "on": False})
    assert anne.post("/me/webhooks", HOOK, Idempotency_Key=K).data == first.data
    assert anne.delete(hook).status_code == 204
    assert anne.post("/me/webhooks", HOOK, Idempotency_Key=K).data == first.data
    assert anne.get("/me/webhooks").json["items"] == []


def test_a_secret_that_was_replaced_does_not_come_back(anne: Member) -> None:
    path = f"/me/webhooks/{anne.post('/me/webhooks', HOOK).json['id']}/rotations"
    first = anne.post(path, Idempotency_Key=K)
    *_, newest = (anne.post(path).json["secret"] for _ in range(5))
    assert anne.post(path, Idempotency_Key=K).data == first.data
    hooks = anne.site.services.notifications.webhooks
    ((secret, _), *_) = hooks.list_by_account(anne.id)[0].secrets
    assert secret == newest


def test_invitation_used_up_and_deleted_does_not_come_back(site: Site) -> None:
    root = promoted(site, "Root", "admin")
    first = root.post("/invitations", {"uses": 1}, Idempotency_Key=K)
    site.services.ledger.execute("DELETE FROM account_invitations")
    assert root.post("/invitations", {"uses": 1}, Idempotency_Key=K).data == first.data
    assert site.services.ledger.execute("SELECT * FROM account_invitations") == []


def test_a_proposal_is_shown_as_it_was_made(site: Site) -> None:
    table = table_of(site)
    first = table.post("/proposals", {"act": "close"}, table.tokens[0], Idempotency_Key=K)
    table.post(f"/proposals/{first.json['id']}/consents", {"agrees": False}, table.tokens[1])
    assert table.post("/proposals", {"act": "close"}, table.tokens[0], Idempotency_Key=K).data == first.data


def test_a_report_is_shown_as_it_was_filed(site: Site, anne: Member) -> None:
    body = {"game": site.post("/games", TABLE).json["game"], "said": "x"}
    first = anne.post("/reports", body, Idempotency_Key=K)
    site.services.account_store.reports.settle(first.json["id"], "done")
    assert anne.post("/reports", body, Idempotency_Key=K).data == first.data


def test_recovery_codes_are_not_shown_after_a_new_password(site: Site) -> None:
    body = {"name": "Anne", "password": PASSWORD}
    anne = Member(site, site.post("/accounts", body, Idempotency_Key=K).json)
    changed = anne.post("/me/password", {"current": PASSWORD, "password": OTHER})
    assert changed.status_code < 300, changed.text
    refused(site.post("/accounts", body, Idempotency_Key=K), 422, "idempotency_key_reused")


def test_what_is_kept_of_a_request_tells_nothing_of_it(site: Site) -> None:
    """Neither the key, nor the password, nor a hash of them that needs no secret, nor the same for two accounts."""
    for name, key in (("Anne", K), ("Bob", "b" * 40)):
        site.post("/accounts", {"name": name, "password": PASSWORD}, Idempotency_Key=key)
    kept = repr(site.services.ledger.execute("SELECT * FROM commands"))
    for said in (K, PASSWORD, "Anne"):
        assert said not in kept
        assert hashlib.sha256(said.encode()).hexdigest() not in kept


def test_a_key_from_before_keys_were_bound_still_answers(site: Site) -> None:
    """Earlier versions kept the hash of the command only."""
    table = table_of(site)
    seat = site.services.seat_tokens.authenticate(table.tokens[1])
    assert seat
    named = site.services.seat_tokens.command_id("act", table.game, "1", seat.player, K)
    stored = site.services.commands.handle(
        table.game, Play(1, [ORDER], table.decision), GameConditions(idempotency_key=named)
    )
    body = {"move": ORDER, "decision": table.decision}
    again = table.post("/moves", body, table.tokens[1], Idempotency_Key=K)
    assert (again.status_code, again.json["version"]) == (201, stored.versions[-1])
    refused(
        table.post("/proposals", {"act": "close"}, table.tokens[1], Idempotency_Key=K), 422, "idempotency_key_reused"
    )
