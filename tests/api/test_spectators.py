"""A table with a delay: whoever is not at it learns nothing of what came after the version that is shown."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from domain.ruleset_registry import load_shipped
from domain.service.heartbeat import Heartbeat
from tests.api.conftest import Site, Table, make_site, refused
from tests.api.player import play

CATALOGUE = load_shipped()
SECONDS = 3600
PASSWORD = "a long enough passphrase"

AT_A_TABLE = {
    "/v1/games/{game}": [""],
    "/v1/games/{game}/appeals": [""],
    "/v1/games/{game}/audit": [""],
    "/v1/games/{game}/board": ["", "?version={version}"],
    "/v1/games/{game}/board/changes": ["?from=1", "?from={version}&to=1"],
    "/v1/games/{game}/board/parts": ["?fields=version,decisions,public", "?fields=at&version={version}"],
    "/v1/games/{game}/calendar": [""],
    "/v1/games/{game}/decisions": [""],
    "/v1/games/{game}/digest": ["", "?after={version}"],
    "/v1/games/{game}/export": [""],
    "/v1/games/{game}/feed": [""],
    "/v1/games/{game}/proposals": [""],
    "/v1/games/{game}/records": ["?limit=200", "?after={version}&limit=1"],
    "/v1/games/{game}/records/{version}/proof": [""],
    "/v1/games/{game}/replay": ["", "?from={version}&to={version}"],
    "/v1/games/{game}/resume": [""],
    "/v1/games/{game}/rewinds": [""],
    "/v1/games/{game}/rewinds/{rewind}": [""],
    "/v1/games/{game}/scores": [""],
    "/v1/games/{game}/talk": [""],
    "/v1/games/{game}/talk/disclosures": [""],
    "/v1/games/{game}/talk/messages": ["", "?before=9007199254740991"],
    "/v1/games/{game}/timeline": ["?limit=200", "?after={version}&limit=1"],
    "/v1/jobs/{job}": [""],
    "/v1/players/{player}/games": ["", "?status=running", "?status=closed"],
    "/v1/players/{player}/results": [""],
}
"""Routes that tell of a game, with what is asked there."""

LISTS = {
    "/v1/log": ["", "?since=1"],
    "/v1/exports": ["", "?player={player}"],
    "/v1/games": ["", "?status=running", "?status=closed", "?free=1"],
    "/v1/me/watching": [""],
}
"""Routes that tell of several."""

STREAMS = ("/v1/games/stream", "/v1/games/{game}/stream", "/v1/me/stream")
"""Looked at by themselves."""

OF_THE_WHOLE_LOG = ("/metrics", "/healthz", "/readyz", "/v1/log/checkpoint", "/v1/log/tile/{tile}")
"""They tell that something was written, and not where."""

OF_NO_GAME = (
    "/v1/rulesets",
    "/v1/problems/",
    "/v1/accounts",
    "/v1/audit",
    "/v1/imports",
    "/v1/me",
    "/v1/reports",
    "/v1/verifier.py",
    "/v1/witness/{origin_hash}/checkpoint",
    "/v1/calendar",
    "/v1/tournaments",
    "/v1/ratings",
)
"""They tell nothing of a game, or of one's own alone; tournaments and ratings have results that spectators see."""

AT_IT_ALONE = (
    "/v1/games/{game}/chat",
    "/v1/games/{game}/challenges",
    "/v1/games/{game}/notes",
    "/v1/games/{game}/officers",
    "/v1/games/{game}/standing-orders",
    "/v1/games/{game}/suggestion",
    "/v1/games/{game}/talk/disclosures/{disclosure}/file",
    "/v1/games/{game}/talk/mailbox",
    "/v1/games/{game}/talk/reports",
    "/v1/games/{game}/talk/treaties",
    "/v1/games/{game}/proposals/{proposal}",
)
"""For the director, and for those at the table."""

LOG_WIDE = re.compile(r'"(position|now)":\d+')


class Spectated:
    """A table with a delay on a site of its own, and those who look at it."""

    def __init__(self, folder: Path, ruleset: str, **terms: Any) -> None:
        self.site: Site = make_site(folder, CATALOGUE)
        Heartbeat(self.site.services.ledger).migrate()
        terms = {"delay": SECONDS, **terms}
        self.table: Table = self.site.table(ruleset, CATALOGUE.get(ruleset).meta.seats[0], **terms)
        made = self.site.post("/accounts", {"name": "Stranger", "password": PASSWORD})
        assert made.status_code == 201, made.text
        self.stranger: str = made.json["token"]
        assert self.site.put(f"/me/watching/{self.table.game}", token=self.stranger).status_code == 204
        self.player: str = self.table.get("", "director").json["seats"][0]["player"]
        self.rewinds: list[str] = ["rewind-" + "0" * 24]

    def close(self) -> None:
        self.site.close()

    def at(self, version: int) -> int:
        """When that record was written, ms."""
        return int(self.site.services.ledger.read(self.table.game, version - 1, version)[0].public["at"])

    def until(self, version: int, ms: int = 0) -> None:
        """The time at which that version may be seen by everybody, and some ms."""
        self.site.now = max(self.site.now, self.at(version) + SECONDS * 1000 + ms)
        self.site.ring()

    def show(self) -> None:
        """Everybody may see all there is."""
        self.until(self.table.version)

    @property
    def seen(self) -> int:
        """The version that everybody sees."""
        return int(self.table.get().json["version"])

    def addresses(self, upto: int) -> Iterator[str]:
        """All that can be asked, of versions up to one."""
        for route, queries in (AT_A_TABLE | LISTS).items():
            for query in queries:
                yield from self._filled(route + query, upto)

    def _filled(self, address: str, upto: int) -> Iterator[str]:
        jobs = [f"resolve-{self.table.game}-0-{n}" for n in range(1, 12)] + self.rewinds
        every: dict[str, list[Any]] = {"version": list(range(1, upto + 1)), "rewind": self.rewinds, "job": jobs}
        named = next((name for name in every if f"{{{name}}}" in address), None)
        for value in every[named] if named else [None]:
            yield address.format(game=self.table.game, player=self.player, **({named: value} if named else {}))

    def walk(self, upto: int) -> dict[tuple[str, str], Any]:
        """What strangers are answered, whole, but for what is of the whole log."""
        found = {}
        for who in ("", self.stranger):
            for address in self.addresses(upto):
                answer = self.site.get(address.removeprefix("/v1"), who)
                tagged = "ETag" in answer.headers and "proof" not in address
                head = {k: v for k, v in answer.headers.items() if k in ("Annals-Version", "Cache-Control", "Link")}
                tag = answer.headers["ETag"] if tagged else ""
                found[who[:3], address] = answer.status_code, head, tag, LOG_WIDE.sub("", answer.text)
        return found


@pytest.fixture
def spectated(tmp_path: Path) -> Iterator[Spectated]:
    with closing(Spectated(tmp_path, "struggle_of_empires@1")) as found:
        yield found


def test_every_route_is_known_to_tell_of_games_or_not(site: Site) -> None:
    """A new one is looked at here first."""
    asked = [path for path, methods in site.get("/openapi.json").json["paths"].items() if "get" in methods]
    known = {*AT_A_TABLE, *LISTS, *STREAMS, *OF_THE_WHOLE_LOG, *AT_IT_ALONE}
    assert [path for path in asked if path not in known and not path.startswith(OF_NO_GAME)] == []


@pytest.mark.parametrize("ruleset", CATALOGUE.names())
def test_nothing_shows_of_what_came_later(tmp_path: Path, ruleset: str) -> None:
    """Every answer is the same, byte for byte, before and after the game has gone on, was undone, and has ended."""
    with closing(Spectated(tmp_path, ruleset)) as spectated:
        table, rng = spectated.table, random.Random(5)
        play(table, rng, 12)
        spectated.show()
        version = table.version
        assert spectated.seen == version
        before = spectated.walk(version + 9)
        assert table.game in before["", f"/v1/players/{spectated.player}/games"][3]
        play(table, rng, 6)
        match = {"If_Match": f'"{table.version}"'}
        asked = table.post("/rewinds", {"to": version, "reason": "So."}, table.director, **match)
        assert asked.status_code == 202
        spectated.rewinds.append(asked.json["id"])
        assert spectated.site.delete(f"{table.path}/seats/0", table.director).status_code == 200
        assert table.post("/close", {"reason": "abandoned"}, table.director).status_code == 201
        spectated.until(version + 1, -1)
        after = spectated.walk(version + 9)
        assert {address: after[address] for address in before} == before
        told = [text for (_, address), (status, _, _, text) in after.items() if asked.json["id"] in address]
        assert all(json.loads(text)["code"] == "not_found" for text in told)
        assert table.get("", "director").json["status"] == "closed"
        spectated.show()
        assert (spectated.seen, table.get().json["status"]) == (table.version, "closed")
        assert table.get("/board").json["own"]
        assert spectated.site.get(f"/players/{spectated.player}/results").json["items"] == []  # left before the end
        assert table.game.encode() in spectated.site.get("/exports").data


def versions(text: str) -> list[int]:
    """Of the entries of a timeline that a stream has told."""
    return [int(found) for found in re.findall(r'event: timeline\ndata: .*?"version":(\d+)', text)]


class TestStreams:
    def test_each_record_is_told_once_it_may_be_seen(self, spectated: Spectated) -> None:
        """In order, and to those at the table at once."""
        table, rng = spectated.table, random.Random(3)
        play(table, rng, 3)
        spectated.show()
        first = table.version
        watching, playing = table.get("/stream"), table.get("/stream", 0)
        with watching, playing:
            assert f"id: {first}\n" in watching.until("event: board", "\n\n")
            playing.until("event: board")
            play(table, rng, 4)
            playing.until(f"id: {table.version}\n")
            assert "event" not in watching.until(": still here")
            for version in range(first + 1, table.version + 1):
                spectated.until(version)
                assert versions(watching.until(f"id: {version}\n")) == [version]

    def test_whoever_comes_back_is_told_no_more(self, spectated: Spectated) -> None:
        """Whatever the client says that it has, and the rest in its time."""
        table = spectated.table
        play(table, random.Random(3), 6)
        spectated.until(table.version - 2)
        seen = spectated.seen
        assert seen == table.version - 2
        for last in (1, seen, table.version, table.version + 5):
            with table.get("/stream", Last_Event_ID=str(last)) as stream:
                told = stream.until(f"id: {seen}\n")
                assert versions(told) == list(range(last + 1, seen + 1))
                assert json.loads(told.split("data: ")[1].split("\n")[0])["version"] <= seen
        with table.get("/stream", Last_Event_ID=str(seen - 1)) as stream:
            stream.until(f"id: {seen}\n")
            spectated.show()
            assert versions(stream.until(f"id: {table.version}\n")) == [seen + 1, seen + 2]

    def test_all_who_watch_a_table_are_told_the_same(self, spectated: Spectated) -> None:
        """Two hundred of them."""
        table = spectated.table
        spectated.site.remake(streams_each=300, streams_address=300, keep_alive=60.0)
        play(table, random.Random(3), 2)
        spectated.until(table.version - 1)
        many = [table.get("/stream") for _ in range(200)]
        for stream in many:
            stream.until("event: board")
        spectated.show()
        assert [versions(stream.until(f"id: {table.version}\n")) for stream in many] == [[table.version]] * 200
        for stream in many:
            stream.close()

    def test_the_end_is_told_when_all_of_it_may_be_seen(self, spectated: Spectated) -> None:
        table = spectated.table
        spectated.show()
        with table.get("/stream") as watching, spectated.site.get("/games/stream") as lobby:
            watching.until("event: board")
            assert '"status":"running"' in lobby.until("event: tables", "\n\n")
            table.post("/close", {"reason": "void"}, table.director)
            assert "event" not in watching.until(": still here")
            assert "event" not in lobby.until(": still here")
            spectated.show()
            assert "event: end" in watching.text
            assert '"status":"closed"' in lobby.until("event: table\n", "\n\n")

    def test_a_rematch_tells_nobody_that_the_game_is_over(self, spectated: Spectated) -> None:
        """It stays out of every list until the end is shown, and the first table names it only then."""
        table, site = spectated.table, spectated.site
        spectated.show()
        version = table.version
        before = spectated.walk(version + 3)
        with site.get("/games/stream") as lobby:
            lobby.until("event: tables", "\n\n")
            assert table.post("/close", {"reason": "void"}, table.director).status_code == 201
            made = table.post("/rematches", {}, table.tokens[0])
            assert made.status_code == 201, made.text
            assert "event" not in lobby.until(": still here")
        spectated.site.ring()
        after = spectated.walk(version + 3)
        assert {address: after[address] for address in before} == before
        assert made.json["game"] not in "".join(text for _, _, _, text in after.values())
        assert table.get("", 1).json["rematch"] == made.json["game"]
        spectated.show()
        assert table.get().json["rematch"] == made.json["game"]
        again = table.post("/rematches", {}, table.tokens[0])
        assert (again.status_code, again.data) == (201, made.data)

    def test_after_end_is_shown_rematch_is_listed_like_its_table(self, spectated: Spectated) -> None:
        table, site = spectated.table, spectated.site
        table.post("/close", {"reason": "void"}, table.director)
        spectated.show()
        made = table.post("/rematches", {}, table.tokens[0]).json["game"]
        assert made in site.get("/games").text

    def test_a_motion_is_for_those_at_the_table(self, spectated: Spectated) -> None:
        table = spectated.table
        play(table, random.Random(3), 6)
        spectated.show()
        with table.get("/stream") as watching, table.get("/stream", 1) as playing:
            for stream in (watching, playing):
                stream.until("event: board")
            match = {"If_Match": f'"{table.version}"'}
            asked = [table.post("/rewinds", {"to": table.version - 4}, token, **match) for token in table.tokens]
            assert any(answer.status_code == 202 and answer.json["consents"] for answer in asked)
            playing.until("event: motion")
            assert "event" not in watching.until(": still here")
        assert table.get("/rewinds").json["items"] == []
        assert len(table.get("/rewinds", 1).json["items"]) == 1


class TestAtTheTable:
    def test_whoever_sits_directs_or_moderates_sees_all_at_once(self, spectated: Spectated) -> None:
        """Also where no token is asked for."""
        table, site = spectated.table, spectated.site
        spectated.show()
        play(table, random.Random(3), 3)
        newest = table.version
        for token in (table.tokens[1], table.director, moderator(spectated)):
            assert site.get(f"{table.path}/board", token).json["version"] == newest
            assert site.get(f"{table.path}", token).json["version"] == newest
            assert site.get(f"{table.path}/timeline?limit=200", token).json["items"][-1]["version"] == newest
            records = site.get(f"{table.path}/records?limit=200", token)
            assert records.json["items"][-1]["v"] == newest
            assert (
                site.get(f"{table.path}/records?limit=1&after={newest - 2}", token)
                .headers["Cache-Control"]
                .startswith("private")
            )
            refused(site.get(f"{table.path}/records/{newest}/proof", token), 404, "not_found")
            assert site.get(f"{table.path}/audit", token).json["report"]["records"] == newest
            assert len(site.get(f"{table.path}/export", token).data.splitlines()) == newest + 2
            assert site.get(f"{table.path}/board?version={newest}", token).status_code == 200
            assert site.get(f"{table.path}/scores", token).json["version"] == newest
            with site.get(f"{table.path}/stream", token) as stream:
                assert f"id: {newest}\n" in stream.until("event: board", "\n\n")
        assert site.get("/me/games", table.tokens[1]).json["items"][0]["version"] == newest

    def test_a_token_of_another_table_opens_nothing_here(self, spectated: Spectated) -> None:
        """Nor does one that is none; where none is asked for they count for nothing."""
        table, site = spectated.table, spectated.site
        spectated.show()
        seen = table.version
        play(table, random.Random(3), 3)
        other = site.table("struggle_of_empires@1", 3)
        for token in (other.tokens[0], other.director, "anl_nothing", spectated.stranger):
            assert site.get(f"{table.path}/records?limit=200", token).json["items"][-1]["v"] == seen
            refused(site.get(f"{table.path}/records/{seen + 1}/proof", token), 404, "not_found")

    def test_a_moderator_is_one_no_longer(self, spectated: Spectated) -> None:
        """Whose stream ends then."""
        table, site = spectated.table, spectated.site
        spectated.show()
        token = moderator(spectated)
        with site.get(f"{table.path}/stream", token) as stream:
            stream.until("event: board")
            demote(spectated)
            assert stream.text.count("event: bye") == 1
        play(table, random.Random(3), 1)
        assert site.get(f"{table.path}", token).json["version"] == spectated.seen < table.version

    def test_a_table_without_a_delay_is_read_by_all_at_once(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        assert table.get().json["version"] == table.get("/board").json["version"] == table.version
        assert table.get().json["delay"] == 0
        assert "delay" not in site.services.ledger.read(table.game)[0].body


def moderator(spectated: Spectated) -> str:
    """The session of one."""
    accounts = spectated.site.services.account_store.accounts
    made = spectated.site.post("/accounts", {"name": "Keeper", "password": PASSWORD}).json
    accounts.set_role(made["account"], "moderator", [])
    return str(made["token"])


def demote(spectated: Spectated) -> None:
    accounts = spectated.site.services.account_store.accounts
    found = accounts.find_by_name("Keeper")
    assert found is not None
    accounts.set_role(found.id, "member", [])


class TestTakingASeat:
    def test_before_the_start_everybody_sees_who_sits_there(self, tmp_path: Path) -> None:
        with closing(Spectated(tmp_path, "struggle_of_empires@1")) as spectated:
            body = {"ruleset": "struggle_of_empires@1", "seats": 3, "delay": SECONDS}
            made = spectated.site.post("/games", body).json
            assert spectated.site.get("/games?status=open").json["items"][0]["game"] == made["game"]
            spectated.site.post(f"/games/{made['game']}/seats", {"seat": 2})
            seats = spectated.site.get(f"/games/{made['game']}").json["seats"]
            assert [bool(seat["player"]) for seat in seats] == [False, False, True]
            assert spectated.site.get(f"/games/{made['game']}/stream-tickets").status_code == 404

    def test_nobody_finds_out_by_asking_for_a_seat(self, spectated: Spectated) -> None:
        """Whether the game has ended, whose seat is free: refused as the game is seen."""
        table, site = spectated.table, spectated.site
        play(table, random.Random(3), 3)
        spectated.show()

        def ask() -> list[Any]:
            return [json.loads(site.post(f"{table.path}/seats", body).data) for body in ({}, {"seat": 0}, {"seat": 9})]

        before = ask()
        assert [doc["code"] for doc in before] == ["no_free_seat", "seat_taken", "unknown_seat"]
        assert site.delete(f"{table.path}/seats/0", table.director).status_code == 200
        assert ask() == before
        table.post("/close", {"reason": "void"}, table.director)
        assert ask() == before
        spectated.show()
        assert {doc["code"] for doc in ask()} == {"not_open"}

    def test_a_seat_that_is_seen_to_be_free_can_be_taken(self, spectated: Spectated) -> None:
        """Who comes too late is told that it is taken, whatever has happened."""
        table, site = spectated.table, spectated.site
        site.delete(f"{table.path}/seats/0", table.director)
        spectated.show()
        assert site.get("/games?free=1").json["items"][0]["game"] == table.game
        joined = site.post(f"{table.path}/seats", {"seat": 0})
        assert joined.status_code == 201
        assert site.get(table.path, joined.json["token"]).json["version"] == table.version
        refused(site.post(f"{table.path}/seats", {"seat": 0}), 409, "seat_taken")
        table.post("/close", {"reason": "void"}, table.director)
        refused(site.post(f"{table.path}/seats", {"seat": 0}), 409, "seat_taken")
        refused(site.post(f"{table.path}/seats", {}), 409, "no_free_seat")


class TestTheDelay:
    def test_it_has_bounds(self, site: Site) -> None:
        for delay in (-1, 24 * 3600 + 1, 1.5, "60", True):
            refused(site.post("/games", {"ruleset": "orders@1", "seats": 3, "delay": delay}), 422, "invalid_body")

    def test_it_stands_in_the_record_and_in_the_summary(self, spectated: Spectated) -> None:
        table = spectated.table
        assert spectated.site.services.ledger.read(table.game)[0].body["delay"] == SECONDS
        assert table.get().json["delay"] == SECONDS

    def test_it_is_kept_in_a_rematch(self, spectated: Spectated) -> None:
        table, site = spectated.table, spectated.site
        table.post("/close", {"reason": "void"}, table.director)
        again = table.post("/rematches", {}, table.tokens[0])
        assert again.status_code == 201, again.text
        assert site.get(f"/games/{again.json['game']}").json["delay"] == SECONDS
        assert "rematch" not in table.get().json

    def test_what_the_views_have_not_read_is_shown_to_nobody(self, spectated: Spectated) -> None:
        """Of a game that has been started before the views knew that it has a delay."""
        site = spectated.site
        site.asleep = True
        table = site.table("struggle_of_empires@1", 3, delay=SECONDS)
        for path in ("/records", "/export", "/board?version=1", "/board", "/audit", "/scores", "/timeline", "/digest"):
            refused(table.get(path), 503, "views_behind")
        assert table.get("/records", 0).json["items"][-1]["v"] == table.version
