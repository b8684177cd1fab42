"""Tokens open one seat each, only their hashes are stored, and people can be forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from domain.errors import StoreUnavailable
from domain.ledger import Ledger
from domain.service.database import Statement
from domain.service.keyring import Keyring
from domain.service.officer_rows import OfficeOffer
from domain.service.principals import Principal
from domain.service.seat_tokens import SeatTokens
from domain.service.stream_tickets import COOKIE_SECONDS, TICKET_SECONDS
from domain.types import DIRECTOR, PUBLIC
from tests.contracts import context
from tests.contracts.context import KEY, game

Issue = Callable[..., str]
End = Callable[[str, int | str], None]


class Watch:
    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def access(ledger: Ledger, watch: Watch) -> SeatTokens:
    access = SeatTokens(ledger, Keyring(ledger, KEY), watch)
    access.migrate()
    return access


def stored(ledger: Ledger) -> str:
    """All that the tables hold, as text."""
    tables = ("tokens", "people", "tickets", "invitations", "texts")
    return json.dumps([ledger.execute(f"SELECT * FROM {t}") for t in tables], default=str)  # noqa: S608 - fixed names


def changed(token: str) -> str:
    """The token with another last letter of its secret."""
    return token[:-1] + ("A" if token[-1] != "A" else "B")


@pytest.fixture
def issue(ledger: Ledger, access: SeatTokens) -> Issue:
    """A token for a role, as a record would bring it."""
    return partial(context.issue, ledger, access)


@pytest.fixture
def end(ledger: Ledger, access: SeatTokens) -> End:
    """The token of a role is ended, as by a record."""

    def ended(name: str, role: int | str) -> None:
        for statement, params in access.revoke(name, role):
            ledger.execute(statement, params)

    return ended


class TestTokens:
    def test_a_token_tells_who_holds_it(self, access: SeatTokens, issue: Issue) -> None:
        """Seat and director, with the game and the person."""
        seat = access.authenticate(issue(game(), 2, "p2", "Anne"))
        director = access.authenticate(issue(game(), DIRECTOR, "p9"))
        assert seat is not None
        assert director is not None
        assert (seat.game, seat.role, seat.player, seat.seat, seat.viewer) == (game(), 2, "p2", 2, 2)
        assert (director.role, director.seat, director.viewer) == (DIRECTOR, None, PUBLIC)

    def test_its_secret_has_256_bits(self, access: SeatTokens, issue: Issue) -> None:
        prefix, id_, secret = issue(game(), 0, "p").split("_", 2)
        assert (prefix, len(id_), len(secret)) == ("anl", 16, 43)

    def test_only_the_whole_token_opens(self, access: SeatTokens, issue: Issue) -> None:
        token = issue(game(), 0, "p")
        wrong = ("", "anl_", token[:-1], token + "A", changed(token), token.upper(), "x" + token, token + "\n")
        assert [access.authenticate(t) for t in wrong] == [None] * len(wrong)

    def test_neither_token_nor_secret_is_stored(self, access: SeatTokens, issue: Issue, ledger: Ledger) -> None:
        """In the tables, or in what is printed by mistake."""
        token = issue(game(), 0, "p")
        holder = access.authenticate(token)
        assert holder is not None
        texts = (token, access.tickets.issue_ticket(holder), access.make_token().invitation)
        seen = stored(ledger) + repr(holder) + repr(access) + repr(vars(access))
        assert not [t for t in texts if t[-20:] in seen]

    def test_who_takes_a_seat_over_ends_the_old_token(self, access: SeatTokens, issue: Issue) -> None:
        old = issue(game(), 0, "p0")
        other = issue(game(), 1, "p1")
        new = issue(game(), 0, "p2")
        assert access.authenticate(old) is None
        assert [t and t.player for t in map(access.authenticate, (other, new))] == ["p1", "p2"]

    def test_a_token_that_was_ended_opens_nothing(self, access: SeatTokens, issue: Issue, end: End) -> None:
        token = issue(game(), 0, "p0")
        other = issue(game(), 1, "p1")
        holder = access.authenticate(token)
        assert holder is not None
        assert access.is_current(holder)
        end(game(), 0)
        assert access.authenticate(token) is None
        assert not access.is_current(holder)
        assert access.authenticate(other) is not None

    def test_what_a_person_has_is_claimed_at_all_tables(self, access: SeatTokens, issue: Issue, ledger: Ledger) -> None:
        """The tokens open nothing any more, but for claiming again; whoever shows the ids of the person is there."""
        first, second = game(1), game(2)
        tokens = [issue(first, 0, "p0"), issue(second, DIRECTOR, "p0"), issue(first, 1, "p1")]
        for statement, params in access.claim("p0"):
            ledger.execute(statement, params)
        assert [access.authenticate(t) is None for t in tokens] == [True, True, False]
        known = access.find_bearer(tokens[0])
        assert known is not None
        assert (known.claimed, known.player, access.is_current(known)) == (True, "p0", False)
        assert access.list_roles("p0", "p1") == {first: [0, 1], second: [DIRECTOR]}
        found = access.list_principals(first, ["p0", "p1"], "account", "session")
        assert [(who.role, who.account, access.is_current(who)) for who in found] == [
            (0, "account", True),
            (1, "account", True),
        ]
        assert access.list_principals(second, ["p1"], "account", "session") == []

    def test_a_ticket_tells_by_which_credential_it_was_asked_for(self, access: SeatTokens, issue: Issue) -> None:
        table = game()
        issue(table, 0, "p0")
        (who,) = access.list_principals(table, ["p0"], "account", "session")
        for shown in (
            access.tickets.redeem(access.tickets.issue_ticket(who)),
            access.tickets.find_cookie_owner(access.tickets.issue_cookie(who)),
        ):
            assert shown is not None
            assert (shown.role, shown.account, shown.credential) == (0, "account", "session")
        cookie = access.tickets.issue_cookie(who)
        access.tickets.revoke(who)
        assert access.tickets.find_cookie_owner(cookie) is None

    def test_what_is_stored_and_published_does_not_lead_to_a_token(self, access: SeatTokens) -> None:
        """Ids of commands are shown when a game is closed: they depend on a key that nobody has."""
        request = ("", "join", game(), "K" * 32)
        fresh = Ledger.open("sqlite://")
        fresh.migrate()
        stranger = SeatTokens(fresh, Keyring(fresh, bytes(32)))
        assert access.command_id(*request) != stranger.command_id(*request)
        assert access.make_token(*request).token != stranger.make_token(*request).token

    def test_request_is_given_same_again_and_another_something_else(self, access: SeatTokens) -> None:
        requests = [
            ("", "join", "a", "K"),
            ("", "join", "b", "K"),
            ("", "open", "aK"),
            ("", "open", "a", "K"),
            ("x", "K"),
        ]
        given = [access.make_token(*r) for r in requests]
        assert given == [access.make_token(*r) for r in requests]
        for part in ("game", "player", "token", "invitation"):
            assert len({getattr(g, part) for g in given}) == len(given)
        assert access.make_token() != access.make_token()
        assert given[0].token not in repr(given[0])
        assert given[0].invitation not in repr(given[0])

    def test_tables_can_be_made_by_several_at_once(self, ledger: Ledger) -> None:
        access = SeatTokens(ledger, Keyring(ledger, KEY))
        with ThreadPoolExecutor(6) as pool:
            for done in [pool.submit(access.migrate) for _ in range(6)]:
                done.result()
        assert context.issue(ledger, access, game(), 0, "p")

    def test_a_store_that_stays_away_is_said(self) -> None:
        class Gone:
            log_id = replication_query = ""

            def execute(self, statement: str, params: object = ()) -> list[tuple[object, ...]]:
                raise StoreUnavailable("gone")

            def run_in_append_order(self, work: object) -> None:
                raise StoreUnavailable("gone")

            def scrub_deleted_pages(self) -> None:
                raise StoreUnavailable("gone")

        with pytest.raises(StoreUnavailable):
            SeatTokens(Gone(), Keyring(Gone(), KEY)).migrate()


class TestTickets:
    @pytest.fixture
    def holder(self, access: SeatTokens, issue: Issue) -> Principal:
        holder = access.authenticate(issue(game(), 1, "p1"))
        assert holder is not None
        return holder

    def test_a_ticket_opens_once(self, access: SeatTokens, issue: Issue, holder: Principal) -> None:
        ticket = access.tickets.issue_ticket(holder)
        assert access.tickets.redeem(ticket) == holder
        assert access.tickets.redeem(ticket) is None

    def test_the_browser_that_used_it_comes_back_for_a_while(
        self, access: SeatTokens, holder: Principal, watch: Watch, end: End
    ) -> None:
        ticket = access.tickets.issue_ticket(holder)
        assert access.tickets.redeem(ticket, "here", again=True) == holder
        assert access.tickets.redeem(ticket, "here", again=True) == holder
        assert access.tickets.redeem(ticket, "here") is None
        assert access.tickets.redeem(ticket, "there", again=True) is None
        assert access.tickets.redeem(changed(ticket), "here", again=True) is None
        watch.now += COOKIE_SECONDS
        assert access.tickets.redeem(ticket, "here", again=True) == holder
        end(holder.game, holder.role)
        assert access.tickets.redeem(ticket, "here", again=True) is None

    def test_a_ticket_is_no_token_and_a_token_no_ticket(
        self, access: SeatTokens, issue: Issue, holder: Principal
    ) -> None:
        assert access.authenticate(access.tickets.issue_ticket(holder)) is None
        assert access.tickets.redeem(issue(game(), 1, "p1")) is None

    @pytest.mark.parametrize(("passed", "opens"), [(TICKET_SECONDS, True), (TICKET_SECONDS + 1, False)])
    def test_a_ticket_lasts_a_minute(
        self, access: SeatTokens, issue: Issue, holder: Principal, watch: Watch, passed: int, opens: bool
    ) -> None:
        ticket = access.tickets.issue_ticket(holder)
        watch.now += passed
        assert (access.tickets.redeem(ticket) is not None) == opens

    def test_a_wrong_secret_uses_the_ticket_up(self, access: SeatTokens, issue: Issue, holder: Principal) -> None:
        """Nobody tries twice."""
        ticket = access.tickets.issue_ticket(holder)
        assert access.tickets.redeem(changed(ticket)) is None
        assert access.tickets.redeem(ticket) is None

    def test_it_opens_nothing_after_its_token(self, access: SeatTokens, end: End, holder: Principal) -> None:
        ticket = access.tickets.issue_ticket(holder)
        end(holder.game, holder.role)
        assert access.tickets.redeem(ticket) is None

    def test_old_tickets_are_swept(
        self, access: SeatTokens, issue: Issue, holder: Principal, ledger: Ledger, watch: Watch
    ) -> None:
        for _ in range(5):
            access.tickets.issue_ticket(holder)
        watch.now += 1_000
        access.tickets.issue_ticket(holder)
        assert len(ledger.execute("SELECT id FROM tickets")) == 1


class TestPeople:
    def test_names_are_found_by_player(self, access: SeatTokens, issue: Issue) -> None:
        issue(game(), 0, "p0", "Anne")
        issue(game(), 1, "p1")
        assert access.texts.list_names(["p0", "p1", "nobody"]) == {"p0": "Anne"}
        assert access.texts.list_names([]) == {}

    def test_a_person_can_be_forgotten(self, access: SeatTokens, issue: Issue, ledger: Ledger) -> None:
        """Name and texts go, the token and the hash stay."""
        token = issue(game(), 0, "p0", "Anne")
        hashed = access.texts.store_text("p0", "I misread the card")
        assert access.texts.find_text(hashed) == "I misread the card"
        access.texts.erase_now("p0")
        assert access.texts.list_names(["p0"]) == {}
        assert access.texts.find_text(hashed) is None
        assert not [t for t in ("Anne", "misread") if t in stored(ledger)]
        assert access.authenticate(token) is not None

    def test_equal_texts_have_different_hashes(self, access: SeatTokens, issue: Issue) -> None:
        """Or the hash in a record would tell a short text."""
        assert access.texts.store_text("p0", "yes") != access.texts.store_text("p0", "yes")


class TestInvitations:
    def test_only_the_newest_secret_of_the_game_lets_in(self, access: SeatTokens, ledger: Ledger) -> None:
        old, new = (access.make_token().invitation for _ in range(2))
        for secret in (old, new):
            for statement, params in access.set_invitation(game(1), secret):
                ledger.execute(statement, params)
        assert [access.is_invitation(game(1), s) for s in (old, new, "", "x")] == [False, True, False, False]
        assert not access.is_invitation(game(2), new)


class TestOfficers:
    def give(self, ledger: Ledger, statements: list[Statement]) -> None:
        for statement, params in statements:
            ledger.execute(statement, params)

    def test_an_officer_has_the_directors_role_without_a_token(
        self, ledger: Ledger, access: SeatTokens, issue: Issue
    ) -> None:
        """Of several roles of a person the highest counts; ended roles open nothing."""
        name = game(1)
        issue(name, DIRECTOR, "olga")
        issue(name, 0, "dora")
        self.give(ledger, access.officers.appoint(name, "dora", "deputy"))
        self.give(ledger, access.officers.appoint(name, "olga", "arbiter"))
        assert access.list_roles("dora") == {name: [0, DIRECTOR]}
        found = access.list_principals(name, ["dora", "olga"], "account", "session")
        assert [(p.role, p.player, p.office) for p in found] == [(0, "dora", ""), (DIRECTOR, "olga", "owner")]
        (deputy,) = (p for p in access.list_principals(name, ["dora"], "account", "") if p.role == DIRECTOR)
        assert (deputy.office, access.is_current(deputy)) == ("deputy", True)
        self.give(ledger, access.officers.dismiss(name, "dora"))
        assert not access.is_current(deputy)
        assert access.list_roles("dora") == {name: [0]}

    def test_a_table_that_is_handed_over_has_another_owner(
        self, ledger: Ledger, access: SeatTokens, issue: Issue
    ) -> None:
        name = game(1)
        token = issue(name, DIRECTOR, "olga")
        offer = OfficeOffer(name, "heir", "owner", "olga", "", 1)
        access.officers.offer([offer])
        assert access.officers.list_offers(["heir"]) == [offer]
        self.give(ledger, access.hand_over(name, "heir"))
        assert access.authenticate(token) is None
        assert (access.find_director(name), access.is_owned_by_account(name)) == ("heir", True)
        assert access.officers.list_offers(["heir"]) == []
