"""Departures: the others at a table, and the officers of an event, are told once that somebody has left."""

from __future__ import annotations

from typing import Any

import pytest

from domain.accounts.accounts import Account
from domain.command_handler import GameConditions
from domain.kernel.game.officers import Officer
from domain.kernel.game.table_commands import Join, Leave, Vacate
from domain.kernel.text.message_catalog import LANGUAGES
from domain.tournaments.aggregate.basic_commands import Draw, Withdraw
from tests.notifications.conftest import Office, Receiver, receiver
from tests.notifications.desk import ADDRESS, Desk, anne, desk, server
from tests.notifications.mailserver import text
from tests.notifications.test_chats import join_chat, told
from tests.notifications.test_event_notices import EVENT, Club
from tests.notifications.test_owing import PACE, URL, bodies

__all__ = ["anne", "desk", "receiver", "server"]

WAYS: dict[str, dict[str, Any]] = {
    "left": {},
    "held": {"hold": 3600},
    "conceded": {"concedes": True},
    "removed": {"by": "director"},
}


def direct(office: Office, game: str, who: Account) -> Officer:
    token = office.access.make_token().token
    for statement, row in office.access.issue(game, "director", who.player, token, account=True):
        office.context.ledger.execute(statement, row)
    return Officer(who.player, "owner")


class TestTables:
    @pytest.mark.parametrize("way", WAYS)
    def test_the_others_and_the_officers_learn_who_has_left_once(self, office: Office, way: str) -> None:
        anne, bob, olga = (office.person(name) for name in ("Anne", "Bob", "Olga"))
        hooks = {who.name: office.hook(who, URL, "mine", "", "seat.left") for who in (anne, bob, olga)}
        game = office.table(anne, bob, **PACE)
        owner = direct(office, game, olga)
        author = owner if way == "removed" else None
        office.context.commands.handle(game, Leave(1, **WAYS[way]), GameConditions(author=author))
        for _ in range(2):
            office.owing.produce()
        version = office.context.ledger.version(game)
        until = office.time[0] + 3_600_000 if way == "held" else None
        for name in ("Anne", "Olga"):
            (data,) = (doc["data"] for doc in bodies(office, hooks[name]))
            assert (data["leaver"], data["version"], data["until"]) == (1, version, until)
            assert data["how"] == ("left" if way == "held" else way)
        assert bodies(office, hooks["Bob"]) == []

    def test_a_hold_that_ends_without_a_substitute_is_told(self, office: Office) -> None:
        anne, bob = office.person("Anne"), office.person("Bob")
        game = office.table(anne, bob, **PACE)
        hook = office.hook(anne, URL, "mine", "", "seat.left")
        office.context.commands.handle(game, Leave(1, 60))
        office.time[0] += 61_000
        office.context.commands.handle(game, Vacate(1))
        office.owing.produce()
        assert sorted(doc["data"]["how"] for doc in bodies(office, hook)) == ["left", "vacated"]

    def test_before_the_start_it_is_told_as_well(self, office: Office) -> None:
        anne, bob = office.person("Anne"), office.person("Bob")
        hook = office.hook(anne, URL, "mine", "", "seat.left")
        game = office.table(anne, bob, start=False)
        office.context.commands.handle(game, Leave(1))
        office.context.commands.handle(game, Join(1, "guest"))
        office.owing.produce()
        (data,) = (doc["data"] for doc in bodies(office, hook))
        assert (data["status"], data["leaver"], data["until"]) == ("open", 1, None)

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_a_mail_names_the_seat_and_the_time(self, desk: Desk, anne: Account, language: str) -> None:
        game = desk.office.table(anne, **PACE)
        desk.confirmed(anne, ADDRESS, "seat.left", language=language)
        desk.office.context.commands.handle(game, Leave(1, 3600))
        desk.pump()
        desk.send()
        (mail,) = desk.server.mails[-1:]
        said = {
            "en": ("A player has left the table", "Seat: seat 2", "Held for a substitute until: "),
            "fr": ("Quelqu'un a quitté la table", "Siège : joueur 2", "Réservé à qui le reprend jusqu'au : "),
        }[language]
        assert all(line in text(mail) for line in said), text(mail)

    def test_the_chat_is_told(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        game = desk.office.table(anne, **PACE)
        join_chat(desk, anne, game, receiver)
        desk.office.context.commands.handle(game, Leave(2, 3600))
        (message,) = (each for each in told(desk, receiver) if "has left" in each)
        assert "A player has left: seat 3\nHeld for a substitute until: " in message


class TestEvents:
    def test_the_organiser_learns_whom_a_round_has_lost(self, office: Office) -> None:
        club = Club(office, 4)
        club.enter()
        club.act(Draw(1, 1))
        club.hush()
        t = club.handler.load(EVENT)
        pod = t.play.rounds[0].pods[0]
        gone, other = (t.entrants[entrant].player for entrant in pod[:2])
        club.act(Withdraw((gone,)))
        ((type_, data),) = club.told(club.host)
        assert (type_, data["player"], data["how"]) == ("event.left", gone, "withdrew")
        assert (data["stage"], data["round"], data["table"]) == (1, 1, "1.1")
        people = {who.player: who for who in club.people}
        assert [type_ for type_, _ in club.told(people[other])] == ["event.left"]
        assert club.told(people[gone]) == []

    def test_before_a_draw_nobody_but_officers_is_concerned(self, office: Office) -> None:
        club = Club(office, 4)
        club.enter()
        club.hush()
        club.act(Withdraw((club.people[0].player,)))
        ((type_, data),) = club.told(club.host)
        assert (type_, data["table"], data["round"]) == ("event.left", None, None)
        assert club.told(club.people[1]) == []
