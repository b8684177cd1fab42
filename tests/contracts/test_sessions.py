"""The tables of people, on both stores: what happens at once happens once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from domain.accounts.account_store import AccountStore
from domain.accounts.account_tables import DAY
from domain.accounts.accounts import FREED, Account, AccountRegistration, no_statements
from domain.accounts.audit_log import KEPT
from domain.accounts.passwords import Passwords
from domain.accounts.sessions import MOST_SESSIONS, SessionRequest
from domain.accounts.social import DEFAULT_LIFETIME, MOST_WATCHED, Challenge
from domain.errors import AccountError, CommandReused
from domain.ledger import Ledger
from domain.service.database import Statement
from domain.service.keyring import Keyring
from domain.service.token_text import hash_secret
from tests.contracts.context import KEY

HASH = "$argon2id$kept"


class Watch:
    def __init__(self) -> None:
        self.now = 1_000 * DAY

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def people(ledger: Ledger, watch: Watch) -> AccountStore:
    people = AccountStore(ledger, Keyring(ledger, KEY), watch)
    people.migrate()
    people.migrate()
    return people


def opened(people: AccountStore, name: str = "Anne", request: tuple[str, ...] = (), **more: Any) -> Account:
    id_ = people.accounts.make_id("open", request[0]) if request else people.accounts.make_id()
    _, kept = people.recovery_codes.generate(id_)
    return people.accounts.open(id_, AccountRegistration(name, HASH, kept, request=request, **more))[0]


def at_once(work: Callable[[int], object], times: int = 4) -> list[object]:
    """What each gets, or the code that it was refused with."""

    def tried(n: int) -> object:
        try:
            return work(n)
        except AccountError as error:
            return error.code

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(tried, range(times)))


class TestAccounts:
    def test_one_is_found_by_id_name_and_player(self, people: AccountStore) -> None:
        made = opened(people)
        assert made.player == people.accounts.derive_player(made.id)
        found = (
            people.accounts.find(made.id),
            people.accounts.find_by_name("a nne"),
            people.accounts.find_by_player(made.player),
        )
        assert found == (made, made, made)
        assert people.accounts.list_players(made.id) == [made.player]
        assert (
            people.accounts.find_by_name("Bob"),
            people.accounts.find("x"),
            people.accounts.find_by_player("x"),
        ) == (None,) * 3

    def test_of_several_who_want_a_name_one_gets_it(self, people: AccountStore) -> None:
        found = at_once(lambda _: opened(people).name)
        assert sorted(map(str, found)) == ["Anne", "name_taken", "name_taken", "name_taken"]

    def test_of_one_request_sent_several_times_one_account_comes(self, people: AccountStore) -> None:
        found = at_once(lambda _: opened(people, request=("key", "said")).id)
        assert len(set(found)) == 1
        with pytest.raises(CommandReused):
            opened(people, request=("key", "said otherwise"))

    def test_what_is_refused_leaves_nothing(self, people: AccountStore, ledger: Ledger) -> None:
        opened(people)
        before = [ledger.execute(f"SELECT count(*) FROM {t}") for t in ("accounts", "factors", "account_names")]  # noqa: S608 - fixed names
        with pytest.raises(AccountError):
            opened(people, "anne")
        with pytest.raises(AccountError):
            opened(people, "Bob", invitation="none")
        assert before == [ledger.execute(f"SELECT count(*) FROM {t}") for t in ("accounts", "factors", "account_names")]  # noqa: S608 - fixed names

    def test_an_invitation_opens_as_many_as_it_says(self, people: AccountStore, watch: Watch) -> None:
        root = opened(people, "Root")
        people.accounts.set_role(root.id, "admin")
        secret = people.accounts.invite(root.id, 2, watch.now + DAY, [])
        found = at_once(lambda n: opened(people, f"Guest {'abcd'[n]}", invitation=secret).name)
        assert sorted(map(str, found))[2:] == ["not_invited", "not_invited"]
        late = people.accounts.invite(root.id, 2, watch.now + DAY, [])
        watch.now += DAY
        with pytest.raises(AccountError):
            opened(people, "Late", invitation=late)

    def test_names_come_and_go(self, people: AccountStore, watch: Watch) -> None:
        anne, bob = opened(people), opened(people, "Bob")
        people.accounts.rename(anne.id, "Zoe")
        for _ in range(2):
            with pytest.raises(AccountError):
                people.accounts.rename(bob.id, "ANNE")
        watch.now += FREED
        people.accounts.rename(bob.id, "ANNE")
        assert [name for name, _, _ in people.accounts.list_names(bob.id)] == ["Bob", "ANNE"]
        assert people.accounts.find_by_name("anne") == people.accounts.find(bob.id)

    def test_a_guest_is_claimed_by_one(self, people: AccountStore) -> None:
        two = [opened(people, name).id for name in ("Anne", "Bob")]
        found = at_once(lambda n: (people.accounts.claim(two[n % 2], "guest", []), n % 2))
        assert "not_claimable" in found
        winner = next(n for made, n in (f for f in found if isinstance(f, tuple)) if made)
        assert people.accounts.list_players(two[winner])[1:] == ["guest"]
        assert people.accounts.list_players(two[1 - winner])[1:] == []

    def test_of_two_administrators_one_stays(self, people: AccountStore) -> None:
        two = [opened(people, name).id for name in ("Anne", "Bob")]
        for id_ in two:
            people.accounts.set_role(id_, "admin")
        found = at_once(lambda n: people.accounts.set_role(two[n], "member"), 2)
        assert sorted(map(str, found)) == ["None", "last_admin"]
        assert len(people.accounts.list_by_role("admin")) == 1

    def test_a_suspension_ends_by_itself(self, people: AccountStore, watch: Watch) -> None:
        anne = opened(people)
        token = people.sessions.start(SessionRequest(anne.id), HASH, [])
        people.accounts.set_state(anne.id, "suspended", watch.now + DAY, [])
        holder = people.credentials.find_owner(token)
        assert holder is not None
        assert (holder.state, people.accounts.find(anne.id) == anne) == ("suspended", False)
        watch.now += DAY
        holder = people.credentials.find_owner(token)
        assert holder is not None
        assert (holder.state, people.accounts.find(anne.id)) == ("active", anne)

    def test_who_is_erased_is_nobody_s_any_more(self, people: AccountStore) -> None:
        anne = opened(people)
        token = people.sessions.start(SessionRequest(anne.id), HASH, [])
        _, personal = people.personal_tokens.issue(anne.id, "x", ["read"], 2_000 * DAY, [])
        people.accounts.erase(anne.id, no_statements)
        assert people.credentials.find_owner(token) is None
        assert people.credentials.find_owner(personal) is None
        assert people.accounts.find_by_name("Anne") is None
        assert people.accounts.find_by_player(anne.player) is None
        people.accounts.set_role(anne.id, "admin")
        people.accounts.set_state(anne.id, "active", 0, [])
        found = people.accounts.find(anne.id)
        assert found is not None
        assert (found.state, found.role, found.name) == ("erased", "member", "")

    def test_what_is_asked_while_one_is_erased_leaves_nothing(self, people: AccountStore, ledger: Ledger) -> None:
        """Each of these has found the account just before it was erased."""
        anne = opened(people)
        people.accounts.erase(anne.id, no_statements)
        _, kept = people.recovery_codes.generate(anne.id)
        for late in (
            lambda: people.accounts.rename(anne.id, "Zoe"),
            lambda: people.accounts.claim(anne.id, "guest", []),
            lambda: people.recovery_codes.replace(anne.id, kept, []),
            lambda: people.personal_tokens.issue(anne.id, "my bot", ["read"], 2_000 * DAY, []),
            lambda: people.reports.file(anne.id, "guest", "", "It was so."),
        ):
            with pytest.raises(AccountError) as refused:
                late()
            assert refused.value.code == "unknown_account"
        people.audit_log.record(anne.id, "login_refused", "192.0.2.0/24")
        for table in ("account_players", "factors", "personal_tokens", "reports", "account_log", "account_names"):
            assert not ledger.execute(f"SELECT 1 FROM {table} WHERE account = ?", (anne.id,)), table  # noqa: S608 - fixed names
        assert getattr(people.accounts.find(anne.id), "name", None) == ""

    def test_guest_that_was_claimed_at_last_moment_is_erased_too(self, people: AccountStore) -> None:
        anne = opened(people)
        people.accounts.claim(anne.id, "guest", [])
        seen: list[str] = []

        def beside(players: Sequence[str]) -> Sequence[Statement]:
            seen.extend(players)
            return ()

        people.accounts.erase(anne.id, beside)
        assert set(seen) == {anne.player, "guest"}

    def test_log_of_whoever_does_not_come_back_is_not_kept_longer(self, people: AccountStore, watch: Watch) -> None:
        anne, bob = opened(people), opened(people, "Bob")
        people.audit_log.record(anne.id, "login", "192.0.2.0/24")
        watch.now += KEPT + 1
        people.audit_log.record(bob.id, "login", "192.0.2.0/24")
        assert [entry.account for entry in people.audit_log.list_entries()] == [bob.id]


class TestCredentials:
    def test_a_code_lets_one_in_once(self, people: AccountStore) -> None:
        anne = opened(people)
        told, kept = people.recovery_codes.generate(anne.id)
        people.recovery_codes.replace(anne.id, kept, [])
        found = at_once(lambda n: people.recovery_codes.recover(anne.id, told[0], f"hash {n}", []))
        assert sorted(map(bool, found)) == [False, False, False, True]
        assert people.recovery_codes.count(anne.id) == 9
        assert people.credentials.find_password_hash(anne.id) == f"hash {found.index(True)}"

    def test_code_has_130_bits_and_one_of_before_still_lets_one_in(self, people: AccountStore) -> None:
        anne = opened(people)
        told, kept = people.recovery_codes.generate(anne.id)
        assert {len(code.replace("-", "")) for code in told} == {26}
        people.recovery_codes.replace(anne.id, kept, [])
        assert people.recovery_codes.find_kind(anne.id, told[0].upper())
        assert not people.recovery_codes.find_kind(anne.id, told[0].replace("-", "")[:20])
        before = [hash_secret(f"{anne.id} {code.replace('-', '')[:20]}") for code in told]
        people.recovery_codes.replace(anne.id, before, [])
        assert people.recovery_codes.recover(anne.id, told[0][:23], "hash 1", [])
        assert people.recovery_codes.recover(anne.id, told[1], "hash 2", [])  # as a repetition tells it now
        assert people.recovery_codes.count(anne.id) == 8

    def test_of_two_new_passwords_the_first_counts(self, people: AccountStore) -> None:
        anne = opened(people)
        found = at_once(lambda n: people.credentials.replace_password(anne.id, HASH, f"hash {n}", []))
        assert sorted(map(str, found)) == ["None", *["wrong_credentials"] * 3]
        with pytest.raises(AccountError):
            people.sessions.start(SessionRequest(anne.id), HASH, [])

    def test_sessions_are_bounded(self, people: AccountStore) -> None:
        anne = opened(people)
        for _ in range(MOST_SESSIONS + 2):
            people.sessions.start(SessionRequest(anne.id), HASH, [])
        assert len(people.sessions.list_sessions(anne.id)) == MOST_SESSIONS

    def test_a_token_rotates_once(self, people: AccountStore, watch: Watch) -> None:
        anne = opened(people)
        until = watch.now + DAY
        id_, old = people.personal_tokens.issue(anne.id, "bot", ["play"], until, [])
        found = at_once(lambda _: people.personal_tokens.issue(anne.id, "bot", ["play"], until, [], instead=id_)[1])
        assert sorted(map(str, found))[-3:] == ["not_found"] * 3
        assert people.credentials.find_owner(old) is None
        assert len(people.personal_tokens.list_tokens(anne.id)) == 1

    def test_a_device_is_known_to_its_account_alone(self, people: AccountStore) -> None:
        anne, bob = opened(people), opened(people, "Bob")
        device = people.sessions.make_device_token(anne.id)
        assert people.sessions.find_device(anne.id, device)
        assert not people.sessions.find_device(bob.id, device)
        assert not people.sessions.find_device(anne.id, device[:-1] + ("A" if device[-1] != "A" else "B"))

    def test_when_it_was_used_is_written_now_and_then(self, people: AccountStore, watch: Watch, ledger: Ledger) -> None:
        anne = opened(people)
        token = people.sessions.start(SessionRequest(anne.id), HASH, [])
        watch.now += 599_999
        people.credentials.find_owner(token)
        assert people.sessions.list_sessions(anne.id)[0].used == watch.now - 599_999
        watch.now += 1
        people.credentials.find_owner(token)
        assert people.sessions.list_sessions(anne.id)[0].used == watch.now


def test_a_child_does_not_wait_for_hashes_of_its_parent() -> None:
    """The places may be held by threads that are not there."""
    passwords = Passwords(at_once=1, waiting=0, patience=0.01)
    with passwords._places.acquire():
        passwords.after_fork()
        assert passwords.make_hash("a fair wind")


def test_a_hash_costs_what_is_advised() -> None:
    """19 MiB, twice, one lane: the second of OWASP's settings for argon2id."""
    assert Passwords().make_hash("a fair wind").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


class TestCircle:
    def asked(self, called: str, seat: int | None = None, game: str = "g") -> Challenge:
        return Challenge(game, called, f"player of {called}", seat, "me", 0, 1_000 * DAY + DEFAULT_LIFETIME)

    def test_a_seat_is_kept_for_one_of_many_who_are_asked_at_once(self, people: AccountStore) -> None:
        told = at_once(lambda n: people.social_graph.send_challenge(self.asked(str(n), 2)))
        assert sorted(map(str, told)) == ["None", *["seat_reserved"] * 3]
        ((seat, player),) = people.social_graph.list_reserved_seats("g").items()
        assert (seat, player) == (2, f"player of {told.index(None)}")

    def test_it_stands_until_it_is_answered_replaced_or_past(self, people: AccountStore, watch: Watch) -> None:
        for seat in (1, 2):
            people.social_graph.send_challenge(self.asked("anne", seat))
        assert people.social_graph.list_reserved_seats("g") == {2: "player of anne"}
        assert [c.seat for c in people.social_graph.list_challenges(["nobody", "player of anne"])] == [2]
        watch.now += DEFAULT_LIFETIME
        assert not people.social_graph.list_reserved_seats("g")
        assert not people.social_graph.list_challenges(["player of anne"])
        watch.now -= 1
        assert people.social_graph.decline("g", ["player of anne"])
        assert not people.social_graph.decline("g", ["player of anne"])
        assert not people.social_graph.list_reserved_seats("g")
        assert [c.answer for c in people.social_graph.list_by_table("g")] == ["declined"]
        assert people.social_graph.withdraw("g", "anne")
        assert not people.social_graph.withdraw("g", "anne")

    def test_lists_have_an_end_and_hold_each_once(self, people: AccountStore) -> None:
        at_once(lambda _: people.social_graph.watch("anne", "g"))
        assert people.social_graph.list_watched("anne") == ["g"]
        people.social_graph.watch("bert", "g")
        for n in range(MOST_WATCHED - 1):
            people.social_graph.watch("anne", str(n))
        with pytest.raises(AccountError, match="500 entries"):
            people.social_graph.watch("anne", "one more")
        people.social_graph.watch("anne", "g")
        people.social_graph.unwatch("anne", "g")
        assert "g" not in people.social_graph.list_watched("anne")
        assert people.social_graph.list_watched("bert") == ["g"]
