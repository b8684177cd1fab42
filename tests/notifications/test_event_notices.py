"""What tournaments tell: entrants, officers and subscribers, of each thing once, and nobody who has left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from api.schemas.webhooks import DATA
from domain.accounts.accounts import Account
from domain.kernel.text.message_catalog import LANGUAGES
from domain.kernel.text.package_data import load
from domain.notifications.chats import ChatRequest
from domain.notifications.webhooks import EVENTS, FEED_TYPES, OWN_EVENT_TYPES, Webhook, WebhookRequest
from domain.tournament_handler import TournamentConditions, TournamentHandler
from domain.tournament_tables import TournamentTables
from domain.tournaments.aggregate.basic_commands import (
    CheckIn,
    CloseCheckIn,
    CloseTournament,
    Draw,
    Enter,
    OpenCheckIn,
    TournamentCommand,
    Withdraw,
)
from domain.tournaments.aggregate.change_commands import AmendTerms, PauseEvent
from domain.tournaments.aggregate.clock_commands import SetTimetable
from domain.tournaments.aggregate.queue_commands import CloseQueue, JoinQueue
from domain.tournaments.aggregate.result_commands import Rank, Report
from domain.tournaments.aggregate.seat_commands import OpenBids
from domain.tournaments.aggregate.tournament import ENDED, Tournament
from domain.tournaments.aggregate.tournament_appeal_commands import AnswerAppeal, ContestRuling
from domain.tournaments.aggregate.tournament_ruling_commands import (
    DeputeOfficer,
    Penalise,
    PlaceTable,
    RecuseOfficer,
    RulingEffect,
)
from domain.tournaments.draw import commit_nonce
from domain.tournaments.terms import terms_to_json
from projections.notice_documents import EVENT_ACTS, EVENT_CHANGES, EVENT_DEPARTURES, RULING_ACTS
from tests.notifications.conftest import Office, Receiver, receiver
from tests.notifications.desk import ADDRESS, Desk, desk, server
from tests.notifications.mailserver import text
from tests.notifications.test_owing import URL, bodies
from tests.tournaments.aggregates import TERMS, tournament_id

__all__ = ["desk", "receiver", "server"]

EVENT = tournament_id()


class Club:
    """A tournament with people who want to be told everything."""

    def __init__(self, office: Office, people: int = 3, **terms: Any) -> None:
        self.office, context = office, office.context
        self.handler = TournamentHandler(context.ledger, context.registry, context.seed_store, context.clock)
        self.tables = TournamentTables(context.ledger, self.handler, context.commands, office.access, lambda _: set())
        self.host = office.person("Host")
        self.people = [office.person(f"Anne {n}") for n in range(people)]
        self.hooks = {who.player: self.hook(who) for who in (self.host, *self.people)}
        terms = {"stages": [{"format": "swiss", "rounds": 2}], **terms}
        self.handler.open(EVENT, self.host.player, {**TERMS, **terms})

    def hook(self, who: Account, about: str = "mine", game: str = "") -> Webhook:
        types = OWN_EVENT_TYPES if about == "mine" else ()
        wanted = WebhookRequest(URL, about, game, types)
        return self.office.notices.webhooks.create(who.id, wanted, "loopback", self.office.head(), [])[0]

    def act(self, *commands: TournamentCommand) -> Tournament:
        for command in commands:
            self.handler.handle(
                EVENT, command, TournamentConditions(reason="0" * 8 if command.by == "director" else "")
            )
        return self.handler.load(EVENT)

    def enter(self) -> None:
        self.act(*(Enter(who.player) for who in self.people), OpenCheckIn())
        self.act(*(CheckIn((who.player,)) for who in self.people), CloseCheckIn())

    def begin(self, round_: int = 1) -> Tournament:
        self.act(Draw(1, round_))
        self.tables.make_tables(EVENT, 1, round_, 50)
        return self.handler.load(EVENT)

    def report(self, pod: int = 1, round_: int = 1, places: Sequence[int] = (1, 2, 3)) -> Tournament:
        table = self.handler.load(EVENT).play.tables[round_, pod]
        return self.act(Report(1, round_, pod, table.game, 9, "0" * 64, tuple(places), tuple(places)))

    def told(self, who: Account) -> list[tuple[str, dict[str, Any]]]:
        """Types and data of the new notices of a person, after the producer has come twice."""
        self.office.owing.produce()
        self.office.owing.produce()
        return self.read(self.hooks[who.player])

    def read(self, hook: Webhook) -> list[tuple[str, dict[str, Any]]]:
        found = [(doc["type"], doc["data"]) for doc in bodies(self.office, hook)]
        self.office.context.ledger.execute("DELETE FROM deliveries WHERE webhook = ?", (hook.id,))
        of_event = [(type_, data) for type_, data in found if data["tournament"] == EVENT]
        return sorted(of_event, key=lambda each: each[1]["version"])

    def hush(self) -> None:
        """Drop what everybody has been told so far."""
        self.office.owing.produce()
        self.office.context.ledger.execute("DELETE FROM deliveries")


def names(told: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    return [type_ for type_, _ in told]


class TestEntrants:
    def test_they_learn_of_check_in_table_and_official_place_once(self, office: Office) -> None:
        club = Club(office, 4)
        club.enter()
        anne = club.people[0]
        ((type_, due),) = club.told(anne)
        assert (type_, due["act"], due["round"], due["until"]) == ("event.due", "check_in", 1, None)
        club.hush()
        t = club.begin()
        table = t.play.tables[1, 1]
        for who in club.people:
            ((type_, own),) = club.told(who)
            entrant = t.find_entrant((who.player,))
            assert type_ == "event.round"
            if entrant in t.play.rounds[0].byes:
                assert (own["table"], own["game"], own["seat"], own["opponents"]) == (None, None, None, [])
                continue
            others = [t.entrants[e].player for e in table.entrants if e != entrant]
            assert (own["game"], own["seat"]) == (table.game, table.entrants.index(entrant))
            assert (own["table"], own["opponents"], own["round"]) == ("1.1", others, 1)
        club.report()
        club.act(Rank(1, 1))
        assert names(club.told(anne)) == ["event.ranked"]
        t = club.act(CloseTournament())
        ((type_, over),) = club.told(anne)
        places = {row["entrant"]: row["place"] for row in t.play.rankings[-1]["standings"]}
        assert (type_, over["status"], over["place"]) == ("event.over", "cancelled", places[0])
        (*_, (type_, over)) = club.told(club.host)
        assert (type_, over["place"]) == ("event.over", None)

    def test_nonce_and_bid_are_asked_for_with_time_and_no_seat(self, office: Office) -> None:
        club = Club(office, stages=[{"format": "swiss", "rounds": 2, "seating": "bid", "bidding": 600}])
        anne, bob, _ = club.people
        club.act(*(Enter(who.player) for who in club.people), OpenCheckIn())
        club.act(CheckIn((anne.player,), commit_nonce("wind over sea 11")))
        club.act(*(CheckIn((who.player,)) for who in club.people[1:]), CloseCheckIn())
        found = {data["act"]: data for _, data in club.told(anne)}
        assert found["nonce"]["until"] == club.handler.load(EVENT).nonces_end
        assert [data["act"] for _, data in club.told(bob)] == ["check_in"]
        office.time[0] += 61_000
        t = club.act(Draw(1, 1), OpenBids(1, 1))
        ((_, due),) = club.told(bob)
        assert (due["act"], due["table"], due["until"]) == ("bid", "1.1", t.play.bidding[1])
        assert not {"seat", "opponents", "game"} & due.keys()

    def test_other_times_and_terms_are_told_to_all_but_their_author(self, office: Office) -> None:
        club = Club(office)
        club.act(*(Enter(who.player) for who in club.people))
        start = office.context.clock() + 3 * 3_600_000
        club.act(SetTimetable(club.host.player, 1, (start,)))
        t = club.handler.load(EVENT)
        club.act(AmendTerms(club.host.player, terms_to_json(t.terms) | {"reveal": 30}), PauseEvent(club.host.player))
        for who in club.people:
            acts = [(data["act"], data["until"]) for _, data in club.told(who) if "until" in data and "round" in data]
            assert acts == [("timetable", start), ("amended", None), ("paused", None)]
        assert club.told(club.host) == []

    def test_who_leaves_is_told_no_more_and_small_pod_tells_others(self, office: Office) -> None:
        club = Club(office)
        club.enter()
        anne, bob, _ = club.people
        office.owing.produce()  # the check-in waits to be told
        club.act(Draw(1, 1), Withdraw((anne.player,)))
        club.tables.make_tables(EVENT, 1, 1, 50)
        assert club.told(anne) == []
        (_, (left, _), (type_, voided)) = club.told(bob)
        assert left == "event.left"
        assert (type_, voided["table"], voided["how"]) == ("event.voided", "1.1", "average")
        assert set(names(club.told(club.host))) == {"event.left", "event.voided", "event.due"}
        club.act(CloseTournament())
        assert club.told(anne) == []

    def test_ruling_tells_whom_it_moves_and_an_answer_who_appealed(self, office: Office) -> None:
        club = Club(office)
        club.enter()
        t = club.begin()
        club.report()
        t = club.act(Rank(1, 1))
        club.hush()
        command = PlaceTable(club.host.player, (), (), "", 1, 1, 1, (3, 2, 1))
        preview = RulingEffect(t, command).digest
        t = club.act(PlaceTable(club.host.player, (), (), preview, 1, 1, 1, (3, 2, 1)))
        ruling = t.rulings[0].version
        first = next(who for who in club.people if t.find_entrant((who.player,)) == t.play.tables[1, 1].entrants[0])
        ((type_, ruled),) = club.told(first)  # and no standings beside it
        assert (type_, ruled["act"], ruled["ruling"]) == ("event.ruled", "placed", ruling)
        assert (ruled["former"], ruled["place"]) == (1, 3)
        assert (ruled["table"], ruled["places"], ruled["ticks"]) == ("1.1", [3, 2, 1], None)
        judge = office.person("Judge")
        club.hooks[judge.player] = club.hook(judge)
        club.act(DeputeOfficer(judge.player, "arbiter"), ContestRuling((first.player,), ruling))
        for officer in (judge, club.host):
            ((type_, due),) = club.told(officer)
            assert (type_, due["act"], due["ruling"]) == ("event.due", "answer", ruling)
        club.act(AnswerAppeal(judge.player, (), (), ruling, "upheld"))
        ((type_, answered),) = club.told(first)
        assert (type_, answered["act"], answered["outcome"]) == ("event.ruled", "answered", "upheld")


def test_an_organiser_learns_that_a_round_is_complete_once(office: Office) -> None:
    club = Club(office, 6)
    club.enter()
    club.begin()
    club.report(1)
    assert club.told(club.host) == []
    club.report(2)
    ((type_, due),) = club.told(club.host)
    assert (type_, due["act"], due["stage"], due["round"]) == ("event.due", "rank", 1, 1)
    club.report(2, places=(2, 1, 3))
    assert club.told(club.host) == []
    club.act(Rank(1, 1))
    club.hush()
    for places in ((1, 2, 3), (3, 2, 1)):  # the first correction alone is news
        club.report(2, places=places)
    ((type_, due),) = club.told(club.host)
    assert (type_, due["act"], due["round"], due["again"]) == ("event.due", "rank", 1, True)


def test_organiser_learns_when_closed_ladder_has_ended(office: Office) -> None:
    club = Club(office, 5, stages=[{"format": "ladder", "total": "best:8", "patience": 60, "concurrent": 9}])
    club.act(*(Enter(who.player) for who in club.people))
    for number, three in enumerate(combinations(club.people, 3), 1):
        club.act(*([Rank(1, 1)] if number == 10 else []), *(JoinQueue((who.player,)) for who in three))
        club.tables.serve_queue(EVENT)
        if number < 10:
            club.report(number)
    club.act(CloseQueue())
    assert "event.due" not in names(club.told(club.host))
    club.report(10, places=(3, 2, 1))
    ((type_, due),) = club.told(club.host)
    assert (type_, due["act"], due["round"], due["again"]) == ("event.due", "rank", 1, True)
    club.act(Rank(1, 1))
    assert "event.due" not in names(club.told(club.host))


def test_a_feed_is_told_of_draws_results_and_standings(office: Office) -> None:
    club = Club(office)
    stranger = office.person("Stranger")
    feed, lobby = club.hook(stranger, "event", EVENT), club.hook(stranger, "lobby")
    club.handler.open(tournament_id(2), club.host.player, TERMS)
    club.handler.open(tournament_id(3), club.host.player, {**TERMS, "listing": "unlisted"})
    club.enter()
    t = club.begin()
    club.report(places=(2, 1, 3))
    club.act(Rank(1, 1), CloseTournament())
    office.owing.produce()
    found = club.read(feed)
    assert names(found) == ["event.drawn", "event.reported", "event.ranked", "event.over"]
    by_type = dict(found)
    people = [t.entrants[entrant].player for entrant in t.play.tables[1, 1].entrants]
    assert (by_type["event.reported"]["players"], by_type["event.reported"]["places"]) == (people, [2, 1, 3])
    assert [each["place"] for each in by_type["event.ranked"]["leaders"]] == [1, 2, 3]
    assert not any("game" in data for _, data in found)
    opened = [doc for doc in bodies(office, lobby) if doc["type"] == "event.opened"]
    assert [doc["data"]["tournament"] for doc in opened] == [tournament_id(2)]


def test_a_kill_between_rows_and_position_doubles_nothing(office: Office) -> None:
    club = Club(office)
    club.enter()
    club.begin()
    office.owing.produce()
    before = office.rows()
    office.context.ledger.execute("DELETE FROM notice_position")
    office.again()
    office.owing.produce()
    assert before
    assert office.rows() == before


class TestMail:
    def test_a_table_whose_turn_mail_comes_has_no_second_one(self, desk: Desk) -> None:
        """Everybody owes a decision at the start of this game."""
        club = Club(desk.office)
        anne, bob, _ = club.people
        desk.confirmed(anne, ADDRESS, "turn.due", "event.round")
        desk.confirmed(bob, "bob@example.org", "event.round", "event.due", language="fr")
        club.enter()
        desk.office.access.texts.set_card(EVENT, club.host.player, "Genoa Open", "")
        club.begin()
        desk.pump()
        desk.office.owing.produce()
        assert [each.type for each in desk.deliveries(anne)] == ["turn.due"]
        assert sorted(each.type for each in desk.deliveries(bob)) == ["event.due", "event.round"]
        desk.office.deliver()
        mails = {str(mail["To"]): (str(mail["Subject"]), text(mail)) for mail in desk.server.mails}
        assert mails[ADDRESS][0] == "Your turn: Genoa Open, 1.1"
        subject, body = mails["bob@example.org"]  # the check-in is over by now
        assert len(desk.server.mails) == 2
        assert subject == "Votre ronde : Genoa Open"
        assert "Table : 1.1" in body
        assert f"Page : https://play.example/tournaments/{EVENT}" in body

    def test_ruling_is_told_with_table_effect_and_reason(self, desk: Desk) -> None:
        club = Club(desk.office)
        anne = club.people[0]
        desk.confirmed(anne, ADDRESS, "event.ruled")
        club.enter()
        club.begin()
        club.report()
        t = club.act(Rank(1, 1))
        for statement in desk.office.access.texts.set_name(anne.player, "Anne"):
            desk.office.context.ledger.execute(*statement)
        hashed, rows = desk.office.access.texts.insert_text(club.host.player, "A move too late.")
        for command in (
            PlaceTable(club.host.player, (), (), "", 1, 1, 1, (3, 2, 1)),
            Penalise(club.host.player, (), (), "", 1, t.find_entrant((anne.player,)) or 0, 2520),
        ):
            seen = replace(command, preview=RulingEffect(club.handler.load(EVENT), command).digest)
            club.handler.handle(EVENT, seen, TournamentConditions(reason=hashed, extra_statements=lambda _: rows))
            desk.pump()
            desk.office.owing.produce()
            desk.office.deliver()
        placed, penalised = (text(mail) for mail in desk.server.mails)
        assert "Table: 1.1" in placed
        assert re.search(r"New places: [123]\. Anne", placed)
        assert "Reason: A move too late." in placed
        assert "Points subtracted: 0.5" in penalised

    def test_standings_are_asked_for_unless_official_and_right(self, desk: Desk) -> None:
        club = Club(desk.office)
        desk.confirmed(club.host, ADDRESS, "event.due")
        club.enter()
        club.begin()
        for places, mails in (((1, 2, 3), 0), ((3, 2, 1), 1)):
            club.report(places=places)
            club.act(*([] if mails else [Rank(1, 1)]))
            desk.pump()
            desk.office.owing.produce()
            desk.office.deliver()
            assert len(desk.server.mails) == mails

    def test_the_chat_of_a_tournament_ends_with_the_office(self, desk: Desk, receiver: Receiver) -> None:
        club = Club(desk.office)
        stranger = desk.office.person("Stranger")
        for statement in desk.office.access.texts.set_name(club.people[0].player, "Anne"):
            desk.office.context.ledger.execute(*statement)
        wish = ChatRequest(EVENT, "orders@1", receiver.url, "en")
        club.act(DeputeOfficer(stranger.player, "deputy"))
        desk.office.notices.chats.save(stranger.id, wish, "loopback", desk.office.head(), [])
        club.enter()
        club.begin()
        club.report()
        desk.send()
        messages = [str(doc["text"]) for doc in receiver.docs]
        assert len(messages) == 3  # the first one, the draw, the result
        assert re.search(r"^\d\. Anne$", "\n".join(messages), re.MULTILINE)
        club.act(Rank(1, 1))
        desk.send()
        assert len(receiver.docs) == 4
        club.act(RecuseOfficer(stranger.player), CloseTournament())
        desk.send()
        assert len(receiver.docs) == 4
        assert desk.office.notices.chats.remove(EVENT, [])


_ACTS = {
    "event.changed": EVENT_CHANGES,
    "event.due": EVENT_ACTS,
    "event.left": EVENT_DEPARTURES,
    "event.over": ENDED,
    "event.ruled": (*RULING_ACTS, "answered"),
}


@pytest.mark.parametrize("type_", sorted({*OWN_EVENT_TYPES, *FEED_TYPES, *EVENTS["lobby"]} & {*DATA}))
def test_every_type_has_texts_a_description_and_a_page(type_: str) -> None:
    declaration, summary = DATA[type_]
    assert summary.endswith(".")
    docs = (Path(__file__).parents[2] / "docs/api/notices.md").read_text()
    assert f"`{type_}`" in docs
    if not type_.startswith("event."):
        return
    assert {"tournament", "version"} <= declaration.__annotations__.keys()  # of its page
    assert f'{{"type":"{type_}"' in docs.replace(" ", "")
    for language in LANGUAGES:
        texts = load("workers.notifications", f"texts/{language}.json")
        assert f"{type_}.subject" in texts
        acts = _ACTS.get(type_)
        assert {f"{type_}.{act}" for act in acts} <= texts.keys() if acts else type_ in texts
