"""A world for crawlers: tables and events in every state, with everybody who may stand before their pages."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from domain.ruleset_registry import RulesetRegistry
from domain.tournaments.aggregate.result_commands import Report
from domain.tournaments.draw import commit_nonce
from domain.tournaments.scoring import rank_points
from tests.api.conftest import Doc, Site, Table
from tests.api.game_pages import Person
from tests.api.members import promoted, register
from tests.api.oauth.browser import Browser, address, allowed, exchanged, registered
from tests.api.player import play
from tests.api.test_staff import PACE
from tests.api.test_tournaments import BODY, NONCE, appoint
from tests.rulesets import GAMES, REGISTERED

CATALOGUE = RulesetRegistry(entry.rules for entry in REGISTERED)

NAMES = ("Organiser", "Deputy", "Anne", "Bruno", "Clara", "Zoe")
"""People with accounts: officers, three players, and somebody who has no part in anything."""

ROLES = ("nobody", "Deputy", "Organiser", "Anne", "Zoe", "Moderator")
"""Those as whom a crawler looks; the other players are as Anne."""


def sent(answer: Any, *statuses: int) -> Doc:
    """The document of an answer that is no refusal."""
    assert answer.status_code in (statuses or (200, 201, 202)), answer.text
    found: Doc = answer.json
    return found


@dataclass
class World:
    """A site with all of it. `paths`: the pages from which a crawler starts."""

    site: Site
    people: dict[str, Person] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in NAMES:
            self.people[name] = self._log_in(name)
        promoted(self.site, "Moderator", "moderator")
        self.people["Moderator"] = self._log_in("Moderator", is_new=False)
        self.people["nobody"] = Person(self.site, Browser(self.site))
        self._add_programs()
        self._make_tables()
        self._make_analyses()
        self._make_events()
        self._make_company()
        self.site.work()
        self.paths += [f"/games/{table.game}{page}" for table in self.tables.values() for page in ("", "/desk")]
        self.paths += list(self.events.values())

    def _log_in(self, name: str, *, is_new: bool = True) -> Person:
        member = register(self.site, name) if is_new else None
        browser = Browser(self.site)
        assert browser.log_in(name).status_code == 303
        return Person(self.site, browser, member)

    def _add_programs(self) -> None:
        """Zoe's programs, and the page on which she allows one."""
        zoe = self.people["Zoe"]
        zoe.api.personal("read", label="a reader")
        client = registered(zoe.api)
        exchanged(self.site, client, allowed(zoe.browser, client)["code"])
        self.paths.append(address(client, scope="read play direct"))

    @property
    def host(self) -> Person:
        """The organiser of everything."""
        return self.people["Organiser"]

    @property
    def players(self) -> list[Person]:
        return [self.people[name] for name in ("Anne", "Bruno", "Clara")]

    # --- tables --------------------------------------------------------------------------------------------------

    def table(self, name: str, *, start: bool = True, seats: int = 3, moves: int = 0, **terms: Any) -> Table:
        """A table of the organiser's with three seats, of which the first ones are taken."""
        body = {"ruleset": "orders@1", "seats": 3, "pace": PACE, **terms}
        made = sent(self.host.api.post("/games", body))
        table = Table(self.site, made["game"], self.host.api.token, [])
        for seat, who in enumerate(self.players[:seats]):
            sent(who.api.post(f"{table.path}/seats", {"seat": seat, **self._invite(made)}))
            table.tokens.append(who.api.token)
        if "invitation" in made:
            self.paths.append(f"/games/{made['game']}/invitation?{urlencode({'invitation': made['invitation']})}")
        if start:
            sent(table.post("/start", {}, table.director))
        play(table, random.Random(1), moves)
        card = {"title": name.capitalize(), "note": "Bring your own maps."}
        sent(self.host.api.put(f"{table.path}/card", card, Annals_Role="director"), 204)
        self.tables[name] = table
        return table

    @staticmethod
    def _invite(made: Doc) -> Doc:
        return {"invitation": made["invitation"]} if made.get("invitation") else {}

    def rule(self, table: Table, path: str, body: Doc | None = None) -> Doc:
        """An act of the organiser at a table."""
        return sent(self.host.api.post(f"{table.path}{path}", body or {}, Annals_Role="director"))

    def _make_tables(self) -> None:
        anne = self.people["Anne"].api
        self.table("open", start=False, seats=1)
        self.table("full", start=False)
        self.table("by invitation", start=False, seats=1, listing="invitation")
        self.table("unlisted", listing="unlisted", moves=2)
        self.table("running", moves=4)
        self.table("free", undo="free", pace=None, moves=3)
        self.table("delayed", delay=3600, moves=2)
        self.table("late", pace={"seconds": {"turn": 1}})
        self.table("secret", ruleset="windows@1", pace="none", moves=2)
        for entry in GAMES:
            self._make_game(entry.rules.meta.ruleset, entry.seats)
        table = self.table("talking", moves=2, talk="free")
        for to, text in (([], "Good evening."), ([1], "Shall we leave each other alone?")):
            sent(anne.post(f"{table.path}/talk/messages", {"to": to, "text": text, "references": [{"version": 2}]}))
        for place in ("", "t01"):
            sent(anne.put(f"{table.path}/notes", {"place": place, "text": "They lie."}), 204)
        self.paths.append(f"/games/{table.game}/talk")
        self.rule(self.table("paused"), "/pauses", {"reason": "The lights are out."})
        sent(anne.post(f"{self.table('asking').path}/proposals", {"act": "extend", "seconds": 60, **self._decision()}))
        table = self.table("going back", moves=3)
        sent(anne.post(f"{table.path}/rewinds", {"to": table.version - 1}, If_Match=f'"{table.version}"'))
        sent(anne.delete(f"{self.table('left', moves=2).path}/seats/0"), 200)
        table = self.table("appealed")
        version = sent(self.host.api.put(f"{table.path}/seats/1/hold", {"seconds": 60}))["version"]
        sent(anne.post(f"{table.path}/appeals", {"version": version, "reason": "I was not asked."}))
        table = self.table("answered")
        sent(self.host.api.post(f"{table.path}/officers", {"name": "Deputy", "role": "deputy", "reason": "I travel."}))
        sent(self.people["Deputy"].api.put(f"/me/offices/{table.game}", {}))
        version = sent(self.host.api.put(f"{table.path}/seats/1/hold", {"seconds": 60}))["version"]
        sent(anne.post(f"{table.path}/appeals", {"version": version, "reason": "I was not asked."}))
        answer = {"outcome": "overturned", "reason": "Rule 4."}
        sent(self.people["Deputy"].api.post(f"{table.path}/appeals/{version}/answer", answer))
        sent(self.host.api.post(f"{self.table('offered').path}/officers", {"name": "Deputy", "role": "arbiter"}))
        self.rule(self.table("ruled", moves=3), "/close", {"reason": "annulled", "explanation": "The board fell."})
        table = self.table("withdrawn", moves=3)
        version = self.rule(table, "/close", {"reason": "adjudicated", "places": [1, 2, 3]})["version"]
        self.rule(table, f"/rulings/{version}/withdrawal", {"reason": "I was wrong."})
        self.rule(self.table("void", moves=3), "/close", {"reason": "void", "explanation": "A storm."})
        play(self.table("finished", options={"turns": 1}), random.Random(1), 200)

    def _decision(self) -> Doc:
        return {"decision": self.tables["asking"].decision}

    def _make_game(self, ruleset: str, seats: int) -> None:
        """A game as it is shipped, of its first players and bots."""
        body = {"ruleset": ruleset, "seats": seats}
        table = Table(self.site, sent(self.host.api.post("/games", body))["game"], self.host.api.token, [])
        for seat in range(seats):
            who = self.players[seat].api if seat < 2 else None
            body = {"seat": seat} | ({} if who else {"name": f"Guest {seat}"})
            made = sent((who or self.site).post(f"{table.path}/seats", body))
            table.tokens.append(who.token if who else made["token"])
        sent(table.post("/start", {}, table.director))
        self.people["Anne"].read(table.path)
        play(table, random.Random(1), 3)
        self.tables[ruleset] = table

    def _make_analyses(self) -> None:
        closed = self.tables["finished"]
        zoe = self.people["Zoe"].api
        made = sent(zoe.post(f"{closed.path}/forks", {"version": closed.version - 3}))
        self.tables["fork"] = Table(self.site, made["game"], zoe.token, [])
        made = sent(zoe.post("/imports", {"export": self.site.get(f"{closed.path}/export").text}))
        self.tables["import"] = Table(self.site, made["game"], "", [])

    def _make_company(self) -> None:
        """Invitations, reports, and the people and notices around an account: Zoe's, who is nobody's friend."""
        zoe, clara = self.people["Zoe"].api, self.people["Clara"].api.doc["player"]
        invited = self.tables["by invitation"].path
        for name in ("Anne", "Zoe"):
            sent(self.host.api.post(f"{invited}/challenges", {"name": name, "days": 9}, Annals_Role="director"))
        sent(zoe.post("/reports", {"player": clara, "said": "She shouts."}))
        sent(zoe.put(f"/me/blocks/{clara}"), 204)
        sent(zoe.put("/me/relations", {"players": [clara]}))
        sent(zoe.put(f"/me/watching/{self.tables['running'].game}"), 204)
        sent(zoe.post("/me/webhooks", {"url": "https://example.org/annals", "about": "mine"}))
        registered(zoe)
        self.paths += [
            f"/players/{clara}",
            "/moderation?name=Anne",
            "/learn/struggle_of_empires@1",
            "/learn/struggle_of_empires@1/game",
            "/learn/struggle_of_empires@1/exercises/1",
        ]

    # --- events --------------------------------------------------------------------------------------------------

    def event(self, name: str, *steps: str, **terms: Any) -> str:
        """The path of an event after these steps."""
        body = {**BODY, "title": name.capitalize(), "stages": [{"format": "league", "rounds": 2}], **terms}
        path = f"/tournaments/{sent(self.host.api.post('/tournaments', body))['tournament']}"
        appoint(self.host.api, path, self.people["Deputy"].api, "deputy")
        self.events[name] = path
        for step in steps:
            _STEPS[step](self, path)
        return path

    def _enter(self, path: str) -> None:
        for who in self.players:
            sent(who.api.post(f"{path}/entrants"))

    def _ask_substitutes(self, path: str) -> None:
        """Anne waits for Zoe's answer; Zoe plays for Bruno if need be, and the deputy for Anne."""
        anne, bruno, _ = self.players
        for entrant, name, accepts in ((anne, "Zoe", False), (bruno, "Zoe", True), (anne, "Deputy", True)):
            sent(entrant.api.post(f"{path}/entrants/me/substitutes", {"name": name}))
            if accepts:
                tournament, player = path.rpartition("/")[2], entrant.api.doc["player"]
                sent(self.people[name].api.put(f"/me/substitutions/{tournament}/{player}"), 200, 201, 204)

    def _check_in(self, path: str) -> None:
        sent(self.host.api.post(f"{path}/phases", {"phase": "checking"}))
        for number, who in enumerate(self.players):
            sent(who.api.post(f"{path}/checkin", {"nonce_hash": commit_nonce(NONCE.format(number))}))

    def _show_nonces(self, path: str) -> None:
        sent(self.host.api.post(f"{path}/phases", {"phase": "drawing"}))
        for number, who in enumerate(self.players):
            sent(who.api.post(f"{path}/nonce", {"nonce": NONCE.format(number)}))

    def _report(self, path: str, round_: int = 1) -> None:
        points = (3, 2, 1)
        game = sent(self.site.get(f"{path}/stages/1/rounds/{round_}"))["pods"][0]["game"]
        report = Report(1, round_, 1, game, 9, "0" * 64, rank_points(points), points)
        version = self.site.services.tournaments.handle(path.rpartition("/")[2], report)
        self.site.services.notify_appended(version.position)

    def _play_second(self, path: str) -> None:
        round_ = f"{path}/stages/1/rounds/2"
        for step in ("draw", "tables"):
            sent(self.host.api.post(f"{round_}/{step}"))
        self._report(path, 2)
        sent(self.host.api.post(f"{round_}/rank"))

    def _penalise(self, path: str) -> None:
        body = {"act": "penalised", "entrant": 0, "ticks": 1, "reason": "Late."}
        effect = self.host.api.post(f"{path}/rulings?dry_run=1", body).headers["ETag"]
        ruling = sent(self.host.api.post(f"{path}/rulings", body, If_Match=effect))["ruling"]
        sent(self.players[0].api.post(f"{path}/appeals", {"ruling": ruling, "reason": "I was there."}))

    def _make_events(self) -> None:
        ready = ("enter", "check_in", "show_nonces")
        in_play = (*ready, "draw", "tables")
        self.event("registering", note="Round 1 begins on Sunday.")
        self.event("entered", "enter", "substitutes")
        self.event("repeating", "enter", "schedule")
        self.event("checking", "enter", "check_in")
        self.event("drawing", *ready)
        self.event("drawn", *ready, "draw")
        self.event("bidding", *ready, "draw", "bidding", stages=[{"rounds": 1, "seating": "bid"}])
        self.event("in play", *in_play)
        self.event("reported", *in_play, "report")
        self.event("ranked", *in_play, "report", "rank", stages=[{"format": "swiss", "rounds": 2}])
        self.event("long", *in_play, "report", "rank", "second", stages=[{"format": "swiss", "rounds": 3}])
        self.event("contested", *in_play, "report", "rank", "penalise")
        self.event("finished", *in_play, "report", "rank", "close", stages=[{"format": "league", "rounds": 1}])
        self.event("cancelled", "enter", "cancel")
        self.event("staged", *in_play, stages=[{"format": "league", "rounds": 1}, {"format": "knockout", "rounds": 1}])
        self.event("ladder", "enter", "queue", stages=[{"format": "ladder"}])
        self.event("arena", "enter", "queue_closed", stages=[{"format": "arena"}])


_STEPS: dict[str, Callable[[World, str], object]] = {
    "enter": World._enter,
    "substitutes": World._ask_substitutes,
    "check_in": World._check_in,
    "show_nonces": World._show_nonces,
    "draw": lambda w, path: sent(w.host.api.post(f"{path}/stages/1/rounds/1/draw")),
    "bidding": lambda w, path: sent(w.host.api.post(f"{path}/stages/1/rounds/1/bidding")),
    "tables": lambda w, path: sent(w.host.api.post(f"{path}/stages/1/rounds/1/tables")),
    "report": World._report,
    "rank": lambda w, path: sent(w.host.api.post(f"{path}/stages/1/rounds/1/rank")),
    "second": World._play_second,
    "penalise": World._penalise,
    "close": lambda w, path: sent(w.host.api.post(f"{path}/close", {"outcome": "finished"})),
    "cancel": lambda w, path: sent(w.host.api.post(f"{path}/close", {"outcome": "cancelled"})),
    "queue": lambda w, path: sent(w.players[0].api.post(f"{path}/queue")),
    "queue_closed": lambda w, path: sent(w.host.api.post(f"{path}/phases", {"phase": "queue_closed"})),
    "schedule": lambda w, path: sent(
        w.host.api.put(
            f"{path}/schedule", {"rule": "FREQ=WEEKLY;BYDAY=SU", "start": "2060-03-21T20:00", "zone": "Europe/Paris"}
        )
    ),
}
