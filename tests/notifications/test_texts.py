"""What people read in notices: the game, their power, what has happened, what is asked, and by when."""

from __future__ import annotations

import random
import re

import pytest

from domain.accounts.account_settings import load_zone
from domain.accounts.accounts import Account
from domain.kernel.game.play_commands import Play, Resolve
from domain.kernel.rules.decide import decisions
from domain.kernel.text.message_catalog import LANGUAGES
from domain.kernel.text.package_data import load
from domain.rollouts import random_move
from domain.ruleset_registry import RulesetRegistry, load_shipped
from tests.notifications.conftest import CATALOGUE
from tests.notifications.desk import ADDRESS, Desk, anne, desk, server
from tests.notifications.mailserver import text
from tests.notifications.test_owing import submit
from workers.notifications.zone_times import format_time

__all__ = ["anne", "desk", "server"]


@pytest.fixture
def catalogue() -> RulesetRegistry:
    shipped = load_shipped()
    return RulesetRegistry([*map(CATALOGUE.get, CATALOGUE.names()), *map(shipped.get, shipped.names())])


def play(desk: Desk, game: str, moves: int, rng: random.Random) -> None:
    """Play so many moves, then go on until seat 0 has moved and owes again."""
    commands, moved = desk.office.context.commands, False
    while True:
        p = commands.game(game)
        rules = desk.catalogue.get(p.ruleset)
        (top, *_) = decisions(rules, p.state, p.lasting.rewinds.count)
        if moves <= 0 and moved and 0 in top.must:
            return
        moves -= 1
        if top.engine:
            commands.handle(game, Resolve(top.id))
            continue
        seat = rng.choice([s for s in top.must if s in decisions(rules, p.state, p.lasting.rewinds.count, s)[0].must])
        moved = moved or (moves < 0 and seat == 0)
        commands.handle(game, Play(seat, [random_move(rules, p.state, seat, rng)]))


def turn_mail(desk: Desk, who: Account, ruleset: str, language: str, moves: int = 40) -> tuple[str, str]:
    """Subject and text of a mail in the middle of a game."""
    rules = desk.catalogue.get(ruleset)
    desk.office.people.settings.save_zone(who.id, "Europe/Paris")
    game = desk.office.table(
        who, ruleset=ruleset, seats=rules.meta.seats[-1], pace={"seconds": rules.meta.paces["correspondence"]}
    )
    desk.office.access.texts.set_card(game, who.player, "Sunday", "")
    play(desk, game, moves, random.Random(5))
    desk.office.owing.produce()
    desk.office.context.ledger.execute("DELETE FROM deliveries")
    desk.confirmed(who, ADDRESS, "turn.due", language=language)
    play(desk, game, 0, random.Random(7))
    desk.pump()
    desk.send()
    (mail,) = desk.server.mails[-1:]
    return str(mail["Subject"]), text(mail)


EXPECTED = {
    "en": (
        ["It is your turn at Sunday.", "Game: Struggle of Empires", "You play: [A-Z][A-Za-z ]+", "To decide: [a-z, ]+"],
        ["Until: Friday 29 September 1972, 01:00 \\(Europe/Paris\\)", "Since your last move:", "- .+\\."],
    ),
    "fr": (
        ["C'est à vous de jouer à Sunday.", "Jeu : Luttes impériales", "Vous jouez : .+", "À décider : .+"],
        ["Avant : vendredi 29 septembre 1972 à 01:00 \\(Europe/Paris\\)", "Depuis votre dernier coup :", "- .+"],
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_turn_names_game_power_task_time_and_news(desk: Desk, anne: Account, language: str) -> None:
    subject, body = turn_mail(desk, anne, "struggle_of_empires@1", language)
    assert subject.endswith("Sunday")
    for line in (line for part in EXPECTED[language] for line in part):
        assert re.search(f"^{line}$", body, re.MULTILINE), (line, body)
    assert not re.search("(seat|siège)[ :]+0", body)


def test_a_seat_without_a_power_is_counted_from_one(desk: Desk, anne: Account) -> None:
    desk.confirmed(anne)
    desk.office.table(anne)
    desk.pump()
    desk.send()
    body = text(desk.server.mails[0])
    assert "\nYour seat: 1\n" in body
    assert "You play" not in body


def test_what_is_new_begins_after_the_own_move(desk: Desk, anne: Account) -> None:
    """Servers on its way read a mail."""
    game = desk.office.table(anne)
    submit(desk.office, game, 0)
    desk.pump()
    summary = desk.describer.find_summary(game)
    assert summary
    own, others = (desk.describer.read_news(summary, seat, "en") for seat in (0, 1))
    assert (own.has_moved, own.lines, others.has_moved) == (True, [], False)


def test_a_zone_that_is_unknown_by_now_is_utc() -> None:
    assert load_zone("Mars/Olympus").key == load_zone("../etc/passwd").key == "UTC"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (1_774_746_000_000, "Sunday 29 March 2026, 03:00 (Europe/Paris)"),
        (1_792_886_400_000, "Sunday 25 October 2026, 02:00 (Europe/Paris)"),
        (1_792_890_000_000, "Sunday 25 October 2026, 02:00 (Europe/Paris)"),
    ],
)
def test_times_follow_summer_time(at: int, said: str) -> None:
    assert format_time(at, "Europe/Paris", "en", load("workers.notifications", "texts/en.json")) == said
