"""Tokens open one seat each, only their hashes are stored, and people can be forgotten."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from domain.access import TICKET_SECONDS, Access, Principal, new_player
from domain.errors import StoreUnavailable
from domain.ids import DIRECTOR, PUBLIC
from domain.ledger import Ledger
from tests.contracts.crew import game


class Watch:
    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def access(ledger: Ledger, watch: Watch) -> Access:
    access = Access(ledger, watch)
    access.migrate()
    return access


def stored(ledger: Ledger) -> str:
    """All that the tables hold, as text."""
    tables = ("tokens", "people", "tickets", "invitations", "texts")
    return json.dumps([ledger.execute(f"SELECT * FROM {t}") for t in tables], default=str)  # noqa: S608 - fixed names


def changed(token: str) -> str:
    """The token with another last letter of its secret."""
    return token[:-1] + ("A" if token[-1] != "A" else "B")


class TestTokens:
    def test_a_token_tells_who_holds_it(self, access: Access) -> None:
        """Seat and director, with the game and the person."""
        seat = access.authenticate(access.issue(game(), 2, "p2", "Anne"))
        director = access.authenticate(access.issue(game(), DIRECTOR, "p9"))
        assert seat is not None
        assert director is not None
        assert (seat.game, seat.role, seat.player, seat.seat, seat.viewer) == (game(), 2, "p2", 2, 2)
        assert (director.role, director.seat, director.viewer) == (DIRECTOR, None, PUBLIC)

    def test_its_secret_has_256_bits(self, access: Access) -> None:
        prefix, id_, secret = access.issue(game(), 0, "p").split("_", 2)
        assert (prefix, len(id_), len(secret)) == ("anl", 16, 43)

    def test_only_the_whole_token_opens(self, access: Access) -> None:
        token = access.issue(game(), 0, "p")
        wrong = ("", "anl_", token[:-1], token + "A", changed(token), token.upper(), "x" + token, token + "\n")
        assert [access.authenticate(t) for t in wrong] == [None] * len(wrong)

    def test_neither_token_nor_secret_is_stored(self, access: Access, ledger: Ledger) -> None:
        """In the tables, or in what is printed by mistake."""
        token = access.issue(game(), 0, "p")
        holder = access.authenticate(token)
        assert holder is not None
        texts = (token, access.ticket(holder), access.invite(game()))
        seen = stored(ledger) + repr(holder) + repr(access) + repr(vars(access))
        assert not [t for t in texts if t.rsplit("_", 1)[-1][-20:] in seen]

    def test_who_takes_a_seat_over_ends_the_old_token(self, access: Access) -> None:
        old = access.issue(game(), 0, "p0")
        other = access.issue(game(), 1, "p1")
        new = access.issue(game(), 0, "p2")
        assert access.authenticate(old) is None
        assert [t and t.player for t in map(access.authenticate, (other, new))] == ["p1", "p2"]

    def test_a_revoked_token_opens_nothing(self, access: Access) -> None:
        token = access.issue(game(), 0, "p0")
        holder = access.authenticate(token)
        assert holder is not None
        assert access.current(holder)
        assert access.holder(game(), 0) == holder.token
        access.revoke(holder.token)
        assert access.authenticate(token) is None
        assert not access.current(holder)

    def test_revoking_reaches_that_token_alone(self, access: Access) -> None:
        """Somebody may have taken the seat over in between."""
        access.issue(game(), 0, "p0")
        old = access.holder(game(), 0)
        token = access.issue(game(), 0, "p1")
        access.revoke(old)
        assert access.authenticate(token) is not None
        assert access.holder(game(), 9) == ""

    def test_tables_can_be_made_by_several_at_once(self, ledger: Ledger) -> None:
        with ThreadPoolExecutor(6) as crew:
            for done in [crew.submit(Access(ledger).migrate) for _ in range(6)]:
                done.result()
        assert Access(ledger).issue(game(), 0, "p")

    def test_a_store_that_stays_away_is_said(self) -> None:
        class Gone:
            def execute(self, statement: str, params: object = ()) -> list[tuple[object, ...]]:
                raise StoreUnavailable("gone")

        with pytest.raises(StoreUnavailable):
            Access(Gone()).migrate()


class TestTickets:
    @pytest.fixture
    def holder(self, access: Access) -> Principal:
        holder = access.authenticate(access.issue(game(), 1, "p1"))
        assert holder is not None
        return holder

    def test_a_ticket_opens_once(self, access: Access, holder: Principal) -> None:
        ticket = access.ticket(holder)
        assert access.redeem(ticket) == holder
        assert access.redeem(ticket) is None

    def test_a_ticket_is_no_token_and_a_token_no_ticket(self, access: Access, holder: Principal) -> None:
        assert access.authenticate(access.ticket(holder)) is None
        assert access.redeem(access.issue(game(), 1, "p1")) is None

    @pytest.mark.parametrize(("passed", "opens"), [(TICKET_SECONDS, True), (TICKET_SECONDS + 1, False)])
    def test_a_ticket_lasts_a_minute(
        self, access: Access, holder: Principal, watch: Watch, passed: int, opens: bool
    ) -> None:
        ticket = access.ticket(holder)
        watch.now += passed
        assert (access.redeem(ticket) is not None) == opens

    def test_a_wrong_secret_uses_the_ticket_up(self, access: Access, holder: Principal) -> None:
        """Nobody tries twice."""
        ticket = access.ticket(holder)
        assert access.redeem(changed(ticket)) is None
        assert access.redeem(ticket) is None

    def test_it_opens_nothing_after_its_token(self, access: Access, holder: Principal) -> None:
        ticket = access.ticket(holder)
        access.revoke(holder.token)
        assert access.redeem(ticket) is None

    def test_old_tickets_are_swept(self, access: Access, holder: Principal, ledger: Ledger, watch: Watch) -> None:
        for _ in range(5):
            access.ticket(holder)
        watch.now += 1_000
        access.ticket(holder)
        assert len(ledger.execute("SELECT id FROM tickets")) == 1


class TestPeople:
    def test_names_are_found_by_player(self, access: Access) -> None:
        access.issue(game(), 0, "p0", "Anne")
        access.issue(game(), 1, "p1")
        assert access.names(["p0", "p1", "nobody"]) == {"p0": "Anne"}
        assert access.names([]) == {}

    def test_a_person_can_be_forgotten(self, access: Access, ledger: Ledger) -> None:
        """Name and texts go, the token and the hash stay."""
        token = access.issue(game(), 0, "p0", "Anne")
        hashed = access.keep("p0", "I misread the card")
        assert access.said(hashed) == "I misread the card"
        access.forget("p0")
        assert access.names(["p0"]) == {}
        assert access.said(hashed) is None
        assert not [t for t in ("Anne", "misread") if t in stored(ledger)]
        assert access.authenticate(token) is not None

    def test_equal_texts_have_different_hashes(self, access: Access) -> None:
        """Or the hash in a record would tell a short text."""
        assert access.keep("p0", "yes") != access.keep("p0", "yes")

    def test_people_get_different_ids(self) -> None:
        assert len({new_player() for _ in range(100)}) == 100


class TestInvitations:
    def test_only_the_newest_secret_of_the_game_lets_in(self, access: Access) -> None:
        old = access.invite(game(1))
        new = access.invite(game(1))
        assert [access.invited(game(1), s) for s in (old, new, "", "x")] == [False, True, False, False]
        assert not access.invited(game(2), new)
