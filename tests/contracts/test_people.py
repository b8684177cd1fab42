"""The tables of people, on both stores: what happens at once happens once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from domain.accounts.account_store import People
from domain.accounts.account_tables import DAY, digest
from domain.accounts.accounts import FREED, Account, Opening, nothing
from domain.accounts.audit_log import KEPT
from domain.accounts.credentials import MOST_SESSIONS, Start
from domain.accounts.passwords import Passwords
from domain.accounts.social import LASTS, MOST_WATCHED, Challenge
from domain.errors import AccountError, CommandReused
from domain.ledger import Ledger
from domain.service.database import Statement
from domain.service.keyring import Keyring
from tests.contracts.crew import KEY

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
def people(ledger: Ledger, watch: Watch) -> People:
    people = People(ledger, Keyring(ledger, KEY), watch)
    people.migrate()
    people.migrate()
    return people


def opened(people: People, name: str = "Anne", request: tuple[str, ...] = (), **more: Any) -> Account:
    id_ = people.accounts.id_of("open", request[0]) if request else people.accounts.id_of()
    _, kept = people.credentials.codes(id_)
    return people.accounts.open(id_, Opening(name, HASH, kept, request=request, **more))[0]


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
    def test_one_is_found_by_id_name_and_player(self, people: People) -> None:
        made = opened(people)
        assert made.player == people.accounts.player_of(made.id)
        found = (people.accounts.find(made.id), people.accounts.named("a nne"), people.accounts.playing(made.player))
        assert found == (made, made, made)
        assert people.accounts.players(made.id) == [made.player]
        assert (people.accounts.named("Bob"), people.accounts.find("x"), people.accounts.playing("x")) == (None,) * 3

    def test_of_several_who_want_a_name_one_gets_it(self, people: People) -> None:
        found = at_once(lambda _: opened(people).name)
        assert sorted(map(str, found)) == ["Anne", "name_taken", "name_taken", "name_taken"]

    def test_of_one_request_sent_several_times_one_account_comes(self, people: People) -> None:
        found = at_once(lambda _: opened(people, request=("key", "said")).id)
        assert len(set(found)) == 1
        with pytest.raises(CommandReused):
            opened(people, request=("key", "said otherwise"))

    def test_what_is_refused_leaves_nothing(self, people: People, ledger: Ledger) -> None:
        opened(people)
        before = [ledger.execute(f"SELECT count(*) FROM {t}") for t in ("accounts", "factors", "account_names")]  # noqa: S608 - fixed names
        with pytest.raises(AccountError):
            opened(people, "anne")
        with pytest.raises(AccountError):
            opened(people, "Bob", invitation="none")
        assert before == [ledger.execute(f"SELECT count(*) FROM {t}") for t in ("accounts", "factors", "account_names")]  # noqa: S608 - fixed names

    def test_an_invitation_opens_as_many_as_it_says(self, people: People, watch: Watch) -> None:
        root = opened(people, "Root")
        people.accounts.promote(root.id, "admin")
        secret = people.accounts.invite(root.id, 2, watch.now + DAY, [])
        found = at_once(lambda n: opened(people, f"Guest {'abcd'[n]}", invitation=secret).name)
        assert sorted(map(str, found))[2:] == ["not_invited", "not_invited"]
        late = people.accounts.invite(root.id, 2, watch.now + DAY, [])
        watch.now += DAY
        with pytest.raises(AccountError):
            opened(people, "Late", invitation=late)

    def test_names_come_and_go(self, people: People, watch: Watch) -> None:
        anne, bob = opened(people), opened(people, "Bob")
        people.accounts.rename(anne.id, "Zoe")
        for _ in range(2):
            with pytest.raises(AccountError):
                people.accounts.rename(bob.id, "ANNE")
        watch.now += FREED
        people.accounts.rename(bob.id, "ANNE")
        assert [name for name, _, _ in people.accounts.names(bob.id)] == ["Bob", "ANNE"]
        assert people.accounts.named("anne") == people.accounts.find(bob.id)

    def test_a_guest_is_claimed_by_one(self, people: People) -> None:
        two = [opened(people, name).id for name in ("Anne", "Bob")]
        found = at_once(lambda n: (people.accounts.claim(two[n % 2], "guest", []), n % 2))
        assert "not_claimable" in found
        winner = next(n for made, n in (f for f in found if isinstance(f, tuple)) if made)
        assert people.accounts.players(two[winner])[1:] == ["guest"]
        assert people.accounts.players(two[1 - winner])[1:] == []

    def test_of_two_administrators_one_stays(self, people: People) -> None:
        two = [opened(people, name).id for name in ("Anne", "Bob")]
        for id_ in two:
            people.accounts.promote(id_, "admin")
        found = at_once(lambda n: people.accounts.promote(two[n], "member"), 2)
        assert sorted(map(str, found)) == ["None", "last_admin"]
        assert len(people.accounts.staff("admin")) == 1

    def test_a_suspension_ends_by_itself(self, people: People, watch: Watch) -> None:
        anne = opened(people)
        token = people.credentials.start(Start(anne.id), HASH, [])
        people.accounts.judge(anne.id, "suspended", watch.now + DAY, [])
        holder = people.credentials.holder(token)
        assert holder is not None
        assert (holder.state, people.accounts.find(anne.id) == anne) == ("suspended", False)
        watch.now += DAY
        holder = people.credentials.holder(token)
        assert holder is not None
        assert (holder.state, people.accounts.find(anne.id)) == ("active", anne)

    def test_who_is_erased_is_nobody_s_any_more(self, people: People) -> None:
        anne = opened(people)
        token = people.credentials.start(Start(anne.id), HASH, [])
        _, personal = people.credentials.issue(anne.id, "x", ["read"], 2_000 * DAY, [])
        people.accounts.erase(anne.id, nothing)
        assert people.credentials.holder(token) is None
        assert people.credentials.holder(personal) is None
        assert people.accounts.named("Anne") is None
        assert people.accounts.playing(anne.player) is None
        people.accounts.promote(anne.id, "admin")
        people.accounts.judge(anne.id, "active", 0, [])
        found = people.accounts.find(anne.id)
        assert found is not None
        assert (found.state, found.role, found.name) == ("erased", "member", "")

    def test_what_is_asked_while_one_is_erased_leaves_nothing(self, people: People, ledger: Ledger) -> None:
        """Each of these has found the account just before it was erased."""
        anne = opened(people)
        people.accounts.erase(anne.id, nothing)
        _, kept = people.credentials.codes(anne.id)
        for late in (
            lambda: people.accounts.rename(anne.id, "Zoe"),
            lambda: people.accounts.claim(anne.id, "guest", []),
            lambda: people.credentials.recode(anne.id, kept, []),
            lambda: people.credentials.issue(anne.id, "my bot", ["read"], 2_000 * DAY, []),
            lambda: people.reports.file(anne.id, "guest", "", "It was so."),
        ):
            with pytest.raises(AccountError) as refused:
                late()
            assert refused.value.code == "unknown_account"
        people.journal.write(anne.id, "login_refused", "192.0.2.0/24")
        for table in ("account_players", "factors", "personal_tokens", "reports", "account_log", "account_names"):
            assert not ledger.execute(f"SELECT 1 FROM {table} WHERE account = ?", (anne.id,)), table  # noqa: S608 - fixed names
        assert getattr(people.accounts.find(anne.id), "name", None) == ""

    def test_a_guest_that_was_claimed_at_the_last_moment_is_erased_too(self, people: People) -> None:
        anne = opened(people)
        people.accounts.claim(anne.id, "guest", [])
        seen: list[str] = []

        def beside(players: Sequence[str]) -> Sequence[Statement]:
            seen.extend(players)
            return ()

        people.accounts.erase(anne.id, beside)
        assert set(seen) == {anne.player, "guest"}

    def test_the_log_of_whoever_does_not_come_back_is_not_kept_longer(self, people: People, watch: Watch) -> None:
        anne, bob = opened(people), opened(people, "Bob")
        people.journal.write(anne.id, "login", "192.0.2.0/24")
        watch.now += KEPT + 1
        people.journal.write(bob.id, "login", "192.0.2.0/24")
        assert [entry.account for entry in people.journal.read()] == [bob.id]


class TestCredentials:
    def test_a_code_lets_one_in_once(self, people: People) -> None:
        anne = opened(people)
        told, kept = people.credentials.codes(anne.id)
        people.credentials.recode(anne.id, kept, [])
        found = at_once(lambda n: people.credentials.recover(anne.id, told[0], f"hash {n}", []))
        assert sorted(map(bool, found)) == [False, False, False, True]
        assert people.credentials.left(anne.id) == 9
        assert people.credentials.password(anne.id) == f"hash {found.index(True)}"

    def test_a_code_has_130_bits_and_one_of_before_still_lets_one_in(self, people: People) -> None:
        anne = opened(people)
        told, kept = people.credentials.codes(anne.id)
        assert {len(code.replace("-", "")) for code in told} == {26}
        people.credentials.recode(anne.id, kept, [])
        assert people.credentials.recoverable(anne.id, told[0].upper())
        assert not people.credentials.recoverable(anne.id, told[0].replace("-", "")[:20])
        before = [digest(f"{anne.id} {code.replace('-', '')[:20]}") for code in told]
        people.credentials.recode(anne.id, before, [])
        assert people.credentials.recover(anne.id, told[0][:23], "hash 1", [])
        assert people.credentials.recover(anne.id, told[1], "hash 2", [])  # as a repetition tells it now
        assert people.credentials.left(anne.id) == 8

    def test_of_two_new_passwords_the_first_counts(self, people: People) -> None:
        anne = opened(people)
        found = at_once(lambda n: people.credentials.replace(anne.id, HASH, f"hash {n}", []))
        assert sorted(map(str, found)) == ["None", *["wrong_credentials"] * 3]
        with pytest.raises(AccountError):
            people.credentials.start(Start(anne.id), HASH, [])

    def test_sessions_are_bounded(self, people: People) -> None:
        anne = opened(people)
        for _ in range(MOST_SESSIONS + 2):
            people.credentials.start(Start(anne.id), HASH, [])
        assert len(people.credentials.sessions(anne.id)) == MOST_SESSIONS

    def test_a_token_rotates_once(self, people: People, watch: Watch) -> None:
        anne = opened(people)
        until = watch.now + DAY
        id_, old = people.credentials.issue(anne.id, "bot", ["play"], until, [])
        found = at_once(lambda _: people.credentials.issue(anne.id, "bot", ["play"], until, [], instead=id_)[1])
        assert sorted(map(str, found))[-3:] == ["not_found"] * 3
        assert people.credentials.holder(old) is None
        assert len(people.credentials.tokens(anne.id)) == 1

    def test_a_device_is_known_to_its_account_alone(self, people: People) -> None:
        anne, bob = opened(people), opened(people, "Bob")
        device = people.credentials.device(anne.id)
        assert people.credentials.knows(anne.id, device)
        assert not people.credentials.knows(bob.id, device)
        assert not people.credentials.knows(anne.id, device[:-1] + ("A" if device[-1] != "A" else "B"))

    def test_when_it_was_used_is_written_now_and_then(self, people: People, watch: Watch, ledger: Ledger) -> None:
        anne = opened(people)
        token = people.credentials.start(Start(anne.id), HASH, [])
        watch.now += 599_999
        people.credentials.holder(token)
        assert people.credentials.sessions(anne.id)[0].used == watch.now - 599_999
        watch.now += 1
        people.credentials.holder(token)
        assert people.credentials.sessions(anne.id)[0].used == watch.now


def test_a_child_does_not_wait_for_hashes_of_its_parent() -> None:
    """The places may be held by threads that are not there."""
    passwords = Passwords(at_once=1, waiting=0, patience=0.01)
    with passwords._places.one():
        passwords.after_fork()
        assert passwords.hashed("a fair wind")


def test_a_hash_costs_what_is_advised() -> None:
    """19 MiB, twice, one lane: the second of OWASP's settings for argon2id."""
    assert Passwords().hashed("a fair wind").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


class TestCircle:
    def asked(self, called: str, seat: int | None = None, game: str = "g") -> Challenge:
        return Challenge(game, called, f"player of {called}", seat, "me", 0, 1_000 * DAY + LASTS)

    def test_a_seat_is_kept_for_one_of_many_who_are_asked_at_once(self, people: People) -> None:
        told = at_once(lambda n: people.circle.ask(self.asked(str(n), 2)))
        assert sorted(map(str, told)) == ["None", *["seat_reserved"] * 3]
        ((seat, player),) = people.circle.kept("g").items()
        assert (seat, player) == (2, f"player of {told.index(None)}")

    def test_it_stands_until_it_is_answered_replaced_or_past(self, people: People, watch: Watch) -> None:
        for seat in (1, 2):
            people.circle.ask(self.asked("anne", seat))
        assert people.circle.kept("g") == {2: "player of anne"}
        assert [c.seat for c in people.circle.challenges(["nobody", "player of anne"])] == [2]
        watch.now += LASTS
        assert not people.circle.kept("g")
        assert not people.circle.challenges(["player of anne"])
        watch.now -= 1
        assert people.circle.decline("g", ["player of anne"])
        assert not people.circle.decline("g", ["player of anne"])
        assert not people.circle.kept("g")
        assert [c.answer for c in people.circle.at_table("g")] == ["declined"]
        assert people.circle.withdraw("g", "anne")
        assert not people.circle.withdraw("g", "anne")

    def test_lists_have_an_end_and_hold_each_once(self, people: People) -> None:
        at_once(lambda _: people.circle.watch("anne", "g"))
        assert people.circle.watched("anne") == ["g"]
        people.circle.watch("bert", "g")
        for n in range(MOST_WATCHED - 1):
            people.circle.watch("anne", str(n))
        with pytest.raises(AccountError, match="500 entries"):
            people.circle.watch("anne", "one more")
        people.circle.watch("anne", "g")
        people.circle.unwatch("anne", "g")
        assert "g" not in people.circle.watched("anne")
        assert people.circle.watched("bert") == ["g"]
