"""What digests say of tournaments, and what followers of a series are told."""

from __future__ import annotations

import pytest

from domain.accounts.account_tables import DAY
from domain.accounts.accounts import Account
from domain.notifications.email_subscriptions import EmailPreferences
from domain.notifications.followed_series import FollowedSeries, pass_on
from domain.notifications.webhooks import OPENED, WebhookRequest
from domain.service.recurrence import Recurrence
from domain.tournament_handler import TournamentConditions
from domain.tournament_series import plan_schedule
from domain.tournaments.aggregate.basic_commands import CloseTournament, Withdraw
from domain.tournaments.aggregate.result_commands import Rank
from domain.tournaments.aggregate.schedule_commands import Succeed
from domain.tournaments.aggregate.tournament_ruling_commands import PlaceTable, RulingEffect
from tests.notifications.conftest import Office
from tests.notifications.desk import Desk, desk, server
from tests.notifications.mailserver import text
from tests.notifications.test_event_notices import EVENT, Club
from tests.notifications.test_owing import URL, bodies
from tests.tournaments.aggregates import TERMS, tournament_id

__all__ = ["desk", "server"]

NEXT, LAST = tournament_id(2), tournament_id(3)
PAGE = f"https://play.example/tournaments/{EVENT}"
TITLE = f"the tournament {EVENT[:8]}"


def with_digest(desk: Desk, who: Account, language: str = "en") -> None:
    """A person with a digest a day, and no mail at once."""
    mail = f"{who.name.replace(' ', '')}@example.org"
    desk.confirmed(who, mail, digest="daily", language=language)
    wish = EmailPreferences(mail, (), "daily", 0, language)
    desk.office.notices.email_subscriptions.save(who.id, wish, desk.office.head(), [])


def digests(desk: Desk, who: Account) -> list[list[str]]:
    """The lines about tournaments of each digest that has some, the next day."""
    desk.pump()
    desk.office.owing.produce()
    desk.office.time[0] = desk.box(who).next
    desk.server.got.clear()
    desk.send()
    address = desk.box(who).preferences.address
    mails = [mail for mail, (_, to, _) in zip(desk.server.mails, desk.server.got, strict=True) if to == address]
    told = [[line for line in text(mail).splitlines() if "/tournaments/" in line] for mail in mails]
    return [lines for lines in told if lines]


@pytest.fixture
def club(desk: Desk) -> Club:
    club = Club(desk.office)
    desk.office.context.ledger.execute("DELETE FROM webhooks")  # mail alone
    return club


class TestDigests:
    def test_they_tell_each_thing_of_own_events_once_in_one_line(self, desk: Desk, club: Club) -> None:
        anne = club.people[0]
        for who in (club.host, anne):
            with_digest(desk, who)
        club.enter()
        assert digests(desk, anne) == []  # an act that waits is no news
        t = club.begin()
        club.report()
        t = club.act(Rank(1, 1))
        command = PlaceTable(club.host.player, (), (), "", 1, 1, 1, (3, 2, 1))
        club.act(PlaceTable(club.host.player, (), (), RulingEffect(t, command).digest, 1, 1, 1, (3, 2, 1)))
        club.act(CloseTournament())
        (own,) = digests(desk, anne)
        entrant = t.find_entrant((anne.player,))
        place = t.play.tables[1, 1].entrants.index(entrant) + 1
        wanted = [
            f"- You have a table at {TITLE}. (Round: 1, Table: 1.1) {PAGE}",
            f"- A result of {TITLE} is on the list. (Round: 1, Table: 1.1, Your place: {place}) {PAGE}",
            f"- The standings of {TITLE} are official. (Round: 1, Your place: {place}) {PAGE}",
        ]
        assert own[:3] == wanted
        ruled = f"- An officer of {TITLE} has ruled on the places of a table."
        assert [line.startswith(ruled) for line in own[3:-1]] == [True] * (len(own) - 4)
        assert own[-1].startswith(f"- {TITLE} is cancelled.")
        assert own[-1].endswith(PAGE)
        assert digests(desk, anne) == []

    def test_officers_learn_of_draws_and_end_strangers_of_nothing(self, desk: Desk, club: Club) -> None:
        stranger = desk.office.person("Stranger")
        for who in (club.host, stranger):
            with_digest(desk, who)
        club.enter()
        club.begin()
        club.act(CloseTournament())
        (lines,) = digests(desk, club.host)
        assert lines == [f"- A round of {TITLE} has been drawn. (Round: 1) {PAGE}", f"- {TITLE} is cancelled. {PAGE}"]
        assert digests(desk, stranger) == []

    def test_a_log_that_is_read_again_tells_nothing_twice(self, desk: Desk, club: Club) -> None:
        with_digest(desk, club.host)
        club.enter()
        club.begin()
        assert len(digests(desk, club.host)) == 1
        desk.office.context.ledger.execute("DELETE FROM notice_position")
        assert digests(desk, club.host) == []

    def test_who_leaves_or_ends_digests_is_told_nothing_more(self, desk: Desk, club: Club) -> None:
        anne, bob, *_ = club.people
        for who in (anne, bob):
            with_digest(desk, who)
        club.enter()
        club.begin()
        club.report()
        desk.office.owing.produce()
        club.act(Withdraw((anne.player,)))
        assert digests(desk, anne) == []
        club.act(Rank(1, 1))
        desk.office.owing.produce()
        address = desk.box(bob).preferences.address
        for often in ("none", "daily"):
            wish = EmailPreferences(address, (), often)
            desk.office.notices.email_subscriptions.save(bob.id, wish, desk.office.head(), [])
        assert digests(desk, bob) == []

    def test_who_has_left_is_not_told_of_result_of_the_own_table(self, desk: Desk, club: Club) -> None:
        anne = club.people[0]
        with_digest(desk, anne)
        club.enter()
        club.begin()
        desk.office.owing.produce()
        club.act(Withdraw((anne.player,)))
        club.report()
        assert digests(desk, anne) == []

    def test_news_of_long_ago_and_damaged_ones_are_left_out(self, desk: Desk, club: Club) -> None:
        with_digest(desk, club.host)
        club.enter()
        club.begin()
        desk.office.owing.produce()
        desk.office.context.ledger.execute("UPDATE deliveries SET box = '00' WHERE type = 'event.drawn'")
        club.act(CloseTournament())
        assert digests(desk, club.host) == [[f"- {TITLE} is cancelled. {PAGE}"]]
        club.handler.open(NEXT, club.host.player, TERMS)
        club.handler.handle(NEXT, CloseTournament())
        desk.office.owing.produce()
        desk.office.context.ledger.execute("UPDATE mailboxes SET next = next + ?", (9 * DAY,))
        assert digests(desk, club.host) == []

    def test_they_are_french_for_the_french(self, desk: Desk, club: Club) -> None:
        with_digest(desk, club.host, "fr")
        club.act(CloseTournament())
        (lines,) = digests(desk, club.host)
        assert lines[0].endswith(PAGE)
        assert "cancelled" not in lines[0]


class TestSeries:
    def go_on(self, office: Office, club: Club, tournament: str, following: str) -> None:
        """The next event of a series, opened in its time."""
        rule = Recurrence("FREQ=DAILY;COUNT=9", "UTC", "2060-01-02T10:00")
        if club.handler.load(tournament).schedule is None:
            club.handler.handle(tournament, plan_schedule(rule))
        schedule = club.handler.load(tournament).schedule or {}
        office.time[0] = schedule["at"]
        club.handler.open(following, club.host.player, TERMS)
        club.handler.handle(following, plan_schedule(rule, schedule["number"] + 1, tournament))
        club.handler.handle(
            tournament,
            Succeed(following),
            TournamentConditions(extra_statements=lambda _: pass_on(tournament, following)),
        )

    def test_followers_are_told_of_events_until_they_unfollow(self, office: Office) -> None:
        club = Club(office)
        anne, bob, _ = club.people
        followed: FollowedSeries = office.notices.followed_series
        wanted = WebhookRequest(URL, "mine", events=(OPENED,))
        hook = office.notices.webhooks.create(anne.id, wanted, "loopback", office.head(), [])[0]
        followed.follow(anne.id, EVENT)
        office.owing.produce()
        self.go_on(office, club, EVENT, NEXT)
        followed.follow(bob.id, NEXT)  # too late for this one
        office.owing.produce()
        self.go_on(office, club, NEXT, LAST)
        office.owing.produce()
        told = [(doc["type"], doc["data"]["tournament"], doc["data"]["next"]) for doc in bodies(office, hook)]
        assert sorted(told) == sorted([(OPENED, EVENT, NEXT), (OPENED, NEXT, LAST)])
        assert followed.list_by_account(anne.id) == [LAST]
        assert OPENED not in [doc["type"] for doc in bodies(office, club.hooks[anne.player])]  # it did not ask for it
        assert followed.list_by_account(bob.id) == [LAST]
        followed.unfollow(anne.id, LAST)
        self.go_on(office, club, LAST, tournament_id(4))
        office.owing.produce()
        assert len(bodies(office, hook)) == 2

    def test_mail_tells_who_follows_whatever_else_it_tells(self, desk: Desk, club: Club) -> None:
        office, (anne, bob, carl) = desk.office, club.people
        for who in (anne, bob):
            desk.confirmed(who, f"{who.name.replace(' ', '')}@example.org", "game.over")
        with_digest(desk, carl)
        for who in (anne, carl):
            office.notices.followed_series.follow(who.id, EVENT)
        self.go_on(office, club, EVENT, NEXT)
        desk.send()
        (mail,) = desk.server.mails
        assert f"The next event of {TITLE} takes entrants." in text(mail)
        assert f"https://play.example/tournaments/{NEXT}" in text(mail)
        assert digests(desk, carl) == [
            [f"- The next event of {TITLE} takes entrants. https://play.example/tournaments/{NEXT}"]
        ]

    def test_who_gets_mail_at_once_is_not_told_again_by_a_digest(self, desk: Desk, club: Club) -> None:
        anne = club.people[0]
        desk.confirmed(anne, "anne@example.org", "game.over", digest="daily")
        desk.office.notices.followed_series.follow(anne.id, EVENT)
        self.go_on(desk.office, club, EVENT, NEXT)
        desk.send()
        assert len(desk.server.mails) == 1
        assert digests(desk, anne) == []

    @pytest.mark.parametrize("is_read", [True, False])
    def test_who_leaves_an_event_is_told_of_the_next_one(self, desk: Desk, club: Club, is_read: bool) -> None:
        office, (anne, bob, _) = desk.office, club.people
        with_digest(desk, anne)
        desk.confirmed(bob, "bob@example.org", "game.over")
        club.enter()
        desk.send()
        desk.server.got.clear()
        for who in (anne, bob):
            office.notices.followed_series.follow(who.id, EVENT)
        self.go_on(office, club, EVENT, NEXT)
        if is_read:
            office.owing.produce()
        club.act(*(Withdraw((who.player,)) for who in (anne, bob)))
        desk.send()
        (mail,) = desk.server.mails
        assert f"The next event of {TITLE} takes entrants." in text(mail)
        assert len(digests(desk, anne)) == 1
