"""Treaties in messages: what may be proposed, who answers, and what becomes of a promise."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from domain.games import struggle_of_empires
from domain.kernel.game.director_commands import Rewind
from domain.rollouts import random_move
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.test_table_talk import WORD, say, texts, walk

RULESET = "struggle_of_empires@1"


def propose(table: Table, seat: int, kind: str, *to: int, hours: int = 24, **values: Any) -> Doc:
    """A message with a treaty."""
    return say(table, seat, "", *to, treaty={"kind": kind, "values": values, "hours": hours})


def answer(table: Table, seat: int, entry: int, word: str, text: str = "", **more: Any) -> Doc:
    """A message that answers a treaty."""
    return say(table, seat, text, answer={"entry": entry, "answer": word}, **more)


def read(table: Table, seat: int, entry: int, lang: str = "en") -> Doc:
    """A message as a seat reads it."""
    (found,) = table.get(f"/talk/messages?after={entry - 1}&limit=1&lang={lang}", seat).json["items"]
    doc: Doc = found
    return doc


@pytest.fixture
def table(site: Site) -> Table:
    """A table of three with talk by default."""
    return site.table(RULESET, 3)


class TestProposing:
    def test_each_reads_it_in_the_own_language(self, table: Table) -> None:
        made = propose(table, 0, "keep_out_of", 1, who=1, region="baltic", turn=2)
        assert (
            made["treaty"]["text"] == "Player 0 proposes that Player 1 keeps out of the Baltic until the end of War 2."
        )
        assert made["treaty"]["values"] == {"who": 1, "region": "baltic", "turn": 2}
        french = read(table, 1, 1, "fr")["treaty"]
        assert french["text"] == (
            "Player 0 propose que Player 1 reste hors de la Baltique jusqu'à la fin de la guerre 2."
        )
        assert (french["may_answer"], made["treaty"]["may_answer"]) == (True, False)

    def test_the_list_has_what_these_seats_can_promise_each_other(self, table: Table) -> None:
        doc = table.get("/talk/treaties?to=1", 0).json
        kinds = {each["kind"]: each for each in doc["kinds"]}
        assert doc["seats"] == [0, 1]
        assert [*kinds] == [kind.name for kind in struggle_of_empires.RULESET.treaties.kinds]
        fields = {each["field"]: each for each in kinds["attack_together"]["fields"]}
        assert fields["target"]["options"] == [{"value": 2, "text": "Player 2"}]
        assert (fields["turn"]["lo"], fields["turn"]["hi"]) == (1, 3)
        assert {each["value"] for each in kinds["give"]["fields"][0]["options"]} == {0, 1}
        assert kinds["peace"] == {"kind": "peace", "text": "Peace", "followed": True, "fields": []}
        alone = table.get("/talk/treaties?to=1,2", 0).json["kinds"]
        assert "attack_together" in [each["kind"] for each in alone]

    def test_each_refusal_names_the_place(self, table: Table) -> None:
        def send(to: tuple[int, ...] = (1,), **treaty: Any) -> Any:
            body = {"to": list(to), "text": "", "treaty": {"kind": "truce_until", "values": {"turn": 1}, **treaty}}
            return table.post("/talk/messages", body, table.tokens[0])

        def faults(**treaty: Any) -> list[str]:
            return [each["at"] for each in refused(send(**treaty), 422, "invalid_body")["errors"]]

        assert refused(send(kind="marriage"), 409, "unknown_treaty")["figures"]["kinds"][0] == "peace"
        assert faults(values={}) == ["/treaty/values/turn"]
        assert faults(values={"turn": 1, "gold": 2}) == ["/treaty/values/gold"]
        assert faults(values={"turn": 0}) == faults(values={"turn": True}) == ["/treaty/values/turn"]
        assert faults(kind="keep_out_of", values={"who": 2, "region": "baltic", "turn": 1}) == ["/treaty/values/who"]
        assert faults(kind="keep_out_of", values={"who": 1, "region": "atlantis", "turn": 1}) == [
            "/treaty/values/region"
        ]
        assert faults(kind="give", values={"who": 1, "to": 1, "amount": 1, "turn": 1}) == ["/treaty/values/to"]
        assert faults(hours=0) == faults(hours=721) == ["/treaty/hours"]
        assert send(hours=720).status_code == 201

    def test_none_is_made_before_the_game_or_after_its_close(self, site: Site) -> None:
        table = site.table(RULESET, 3, start=False)
        body = {"to": [], "text": "", "treaty": {"kind": "peace", "values": {}}}
        refused(table.post("/talk/messages", body, table.tokens[0]), 409, "not_now")


class TestAnswering:
    def test_answer_goes_where_treaty_is_and_each_seat_gives_one(self, table: Table) -> None:
        made = propose(table, 0, "peace", 1, 2)
        accepted = answer(table, 1, 1, "accept")
        assert accepted["answer"] == {"entry": 1, "answer": "accept"}
        assert accepted["seats"] == [0, 1, 2]
        answer(table, 2, 1, "decline", text="Never.")
        doc = read(table, 0, made["entry"])["treaty"]
        assert doc["answers"] == [{"seat": 1, "answer": "accept"}, {"seat": 2, "answer": "decline"}]
        assert [(each["seat"], each["state"]) for each in doc["promises"]] == [(1, "holds")]
        assert read(table, 2, 1)["treaty"]["promises"] == []
        assert not read(table, 1, 1)["treaty"]["may_answer"]
        again = {"to": [], "text": "", "answer": {"entry": 1, "answer": "decline"}}
        refused(table.post("/talk/messages", again, table.tokens[1]), 409, "treaty_answered")

    def test_a_counter_proposes_another_treaty(self, table: Table) -> None:
        propose(table, 0, "peace", 1)
        other = {"kind": "truce_until", "values": {"turn": 1}}
        made = answer(table, 1, 1, "counter", treaty=other)
        assert read(table, 0, 1)["treaty"]["answers"] == [{"seat": 1, "answer": "counter"}]
        assert read(table, 0, made["entry"])["treaty"]["may_answer"]
        answer(table, 0, made["entry"], "accept")

        def send(word: str, treaty: Doc | None = None, to: tuple[int, ...] = ()) -> Any:
            body = {"to": list(to), "text": "", "answer": {"entry": made["entry"], "answer": word}, "treaty": treaty}
            return table.post("/talk/messages", body, table.tokens[0])

        assert refused(send("counter"), 422, "invalid_body")["errors"][0]["at"] == "/treaty"
        assert refused(send("accept", other), 422, "invalid_body")["errors"][0]["at"] == "/treaty"
        assert refused(send("accept", to=(1,)), 422, "invalid_body")["errors"][0]["at"] == "/to"
        assert refused(send("perhaps"), 422, "invalid_body")["errors"][0]["at"] == "/answer/answer"

    def test_only_an_open_treaty_of_others_is_answered(self, table: Table) -> None:
        def send(seat: int, entry: int) -> Any:
            body = {"to": [], "text": "", "answer": {"entry": entry, "answer": "accept"}}
            return table.post("/talk/messages", body, table.tokens[seat])

        say(table, 0, "Hello.")
        propose(table, 0, "peace", 1, hours=1)
        refused(send(1, 1), 409, "no_treaty")
        refused(send(1, 9), 409, "no_treaty")
        refused(send(0, 2), 409, "no_treaty")
        refused(send(2, 2), 409, "no_treaty")
        clock = table.site.services.clock() + 3_600_000
        table.site.services.talk._clock = lambda: clock
        assert refused(send(1, 2), 409, "treaty_expired")["figures"]["ended"] < clock

    def test_a_key_stands_for_one_answer(self, table: Table) -> None:
        propose(table, 0, "peace", 1)
        key = {"Idempotency_Key": "evening-answer"}
        first = answer(table, 1, 1, "accept", **key)
        assert answer(table, 1, 1, "accept", **key) == first
        assert len(texts(table, 0)) == 2

    def test_spectators_read_a_treaty_and_not_its_outcome(self, table: Table) -> None:
        propose(table, 0, "peace")
        answer(table, 1, 1, "accept")
        (made, said) = table.get("/talk/messages", None).json["items"]
        assert made["treaty"]["text"] == "Player 0 proposes peace."
        assert (made["treaty"]["promises"], made["treaty"]["may_answer"]) == ([], False)
        assert said["answer"] == {"entry": 1, "answer": "accept"}
        assert [each["state"] for each in read(table, 0, 1)["treaty"]["promises"]] == ["holds"]


class TestNobodyElseLearns:
    def test_treaty_and_its_answer_change_no_byte_for_anybody_else(self, site: Site) -> None:
        """While the game runs; after its close nobody else reads that there was one."""
        table, quiet = (site.table(RULESET, 4, talk="free") for _ in range(2))
        site.services = replace(site.services, clock=lambda: 9_000_000)
        site.remake()
        tokens = {"nobody": "", "seat 2": table.tokens[2], "director": table.director}
        walk(site, table, tokens)  # what is made at a first look is made now
        before = walk(site, table, tokens)
        propose(table, 0, "keep_out_of", 1, who=1, region="baltic", turn=1)
        answer(table, 1, 1, "accept", text=WORD)
        now = walk(site, table, tokens)
        assert [place for place in before if before[place] != now[place]] == []
        for each in (table, quiet):
            assert each.post("/close", {"reason": "abandoned"}, each.director).status_code == 201
        after = walk(site, table, tokens)
        assert [place for place, (*_, data) in after.items() if WORD.encode() in data] == []
        for who in (None, 2, "director"):
            assert table.get("/talk", who).json == quiet.get("/talk", who).json
            assert table.get("/talk/messages", who).json["items"] == []


class TestPromises:
    def test_bid_above_limit_breaks_it_and_rewind_takes_that_back(self, site: Site) -> None:
        table = site.table(RULESET, 3)
        play_upto_the_auction(table)
        entry = propose(table, 0, "bid_limit", 1, 2, amount=1, turn=1)["entry"]
        for seat in (1, 2):
            answer(table, seat, 1, "accept")
        before = table.version

        def promises(seat: int) -> list[tuple[str, int | None]]:
            found = read(table, seat, entry if seat == 0 else 1)["treaty"]["promises"]
            return [(each["state"], each["version"]) for each in found]

        assert promises(0) == [("holds", None)] * 2
        bidder = table.site.services.commands.game(table.game).state.top.owing[0]
        made = table.move(bidder, {"type": "bid", "amount": 2, "a": 0, "b": 1})
        assert made.status_code == 201, made.text
        assert promises(0).count(("broken", before + 1)) == (2 if bidder == 0 else 1)
        assert promises(bidder)[0] == ("broken", before + 1)
        site.services.commands.handle(table.game, Rewind(before))
        assert promises(0) == [("holds", None)] * 2
        assert promises(1) == promises(2) == [("holds", None)]


def play_upto_the_auction(table: Table) -> None:
    """Random moves until the first auction."""
    dice, s = random.Random(1), table.site.services
    while (now := s.commands.game(table.game)).state.top.kind != "auction_bid":
        seat = now.state.top.owing[0]
        move = random_move(s.registry.get(now.ruleset), now.state, seat, dice)
        assert table.move(seat, move).status_code == 201


class TestReferences:
    """Regions and quoted messages, beside treaties: the ruleset of this file has a map."""

    def test_each_reader_finds_quoted_message_in_the_own_mailbox(self, table: Table) -> None:
        say(table, 2, "Hello.", 1)  # so that the mailboxes count differently
        asked = say(table, 0, "Where?", 1)
        say(table, 1, "Here.", 0, quotes=[2], regions=["baltic", "baltic"])
        for seat in (0, 1):
            (*_, found) = table.get("/talk/messages", seat).json["items"]
            assert (found["text"], found["quotes"], found["regions"]) == ("Here.", [asked["entry"] + seat], ["baltic"])
        file = [json.loads(line) for line in table.get("/talk/mailbox", 0).text.splitlines()]
        messages = [each["message"] for each in file if each.get("message")]
        assert messages[-1]["quotes"] == [asked["commitment"]]  # so it is proved which message was meant

    def test_what_a_reader_may_not_know_is_not_quoted(self, table: Table) -> None:
        letter, public = say(table, 0, "Only you.", 1), say(table, 0, "All of you.")

        def fault(*to: int, **more: Any) -> Doc:
            made = table.post("/talk/messages", {"to": list(to), "text": "Hm.", **more}, table.tokens[0])
            problem: Doc = refused(made, 409, "unknown_reference")["figures"]
            return problem

        assert fault(quotes=[public["entry"], letter["entry"]]) == {"at": "/quotes/1"}
        assert fault(2, quotes=[letter["entry"]]) == {"at": "/quotes/0"}
        assert fault(1, quotes=[99]) == {"at": "/quotes/0"}
        assert fault(1, regions=["baltic", "atlantis"]) == {"at": "/regions/1"}
        say(table, 0, "As I said.", 1, quotes=[public["entry"], letter["entry"]])
        assert table.get("/talk/messages").json["items"][-1]["quotes"] == []

    def test_an_erased_message_stays_quoted_without_words(self, table: Table) -> None:
        say(table, 1, "Mine.", 0)
        say(table, 0, "Yours.", 1, quotes=[1])
        player = table.get().json["seats"][1]["player"]
        assert table.site.delete(f"/players/{player}/name", table.tokens[1]).status_code == 204
        first, second = table.get("/talk/messages", 0).json["items"]
        assert (first["text"], second["quotes"]) == (None, [first["entry"]])
