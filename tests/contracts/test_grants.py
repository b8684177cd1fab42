"""Clients, grants, devices and factors, on both stores: what happens at once happens once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from domain.accounts.account_store import People
from domain.accounts.account_tables import DAY
from domain.accounts.accounts import nothing
from domain.accounts.credentials import Start
from domain.accounts.oauth_clients import Registration
from domain.accounts.oauth_devices import SECONDS, Device
from domain.accounts.oauth_grants import CODE_MS, Offer, Reused, Turn, ended
from domain.errors import AccountError, CommandReused
from domain.ledger import Ledger
from domain.service.keyring import Keyring
from tests.contracts.crew import KEY
from tests.contracts.test_people import Watch, opened

REDIRECT = "https://client.example/answer"
BOARD = Registration(name="A board", redirects=[REDIRECT])


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def people(ledger: Ledger, watch: Watch) -> People:
    people = People(ledger, Keyring(ledger, KEY), watch)
    people.migrate()
    people.migrate()
    return people


@pytest.fixture
def anne(people: People) -> str:
    return opened(people).id


@pytest.fixture
def client(people: People, anne: str) -> str:
    return people.clients.register(anne, BOARD, [], confidential=False)[0]


def at_once(work: Callable[[int], object], times: int = 4) -> list[object]:
    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(work, range(times)))


def offered(people: People, anne: str, client: str) -> Offer:
    code = people.grants.code()
    people.grants.offer(code, anne, client, ["read", "play"], REDIRECT, "x" * 43)
    found = people.grants.offered(code, client)
    assert isinstance(found, Offer)
    return found


def test_of_one_request_sent_several_times_one_client_comes(people: People, anne: str) -> None:
    request = ("client", f"{anne} key", "said")
    found = at_once(lambda _: people.clients.register(anne, BOARD, [], *request, confidential=True))
    assert len(set(found)) == 1
    assert len(people.clients.of(anne)) == 1
    with pytest.raises(CommandReused):
        people.clients.register(anne, BOARD, [], *request[:2], "other", confidential=True)


def test_a_code_that_comes_twice_at_once_gives_nothing_that_stays(people: People, anne: str, client: str) -> None:
    offer, made = offered(people, anne, client), [people.grants.tokens() for _ in range(4)]
    found = at_once(lambda n: people.grants.exchange(offer, made[n], []))
    assert sorted(map(bool, found)) == [False, False, False, True]
    assert [people.grants.holder(each.access) for each in made] == [None] * 4
    assert people.grants.of(anne) == []


def test_a_code_once_exchanged_is_known_again(people: People, anne: str, client: str, watch: Watch) -> None:
    code, made = people.grants.code(), people.grants.tokens()
    people.grants.offer(code, anne, client, ["read"], REDIRECT, "x" * 43)
    offer = people.grants.offered(code, client)
    assert isinstance(offer, Offer)
    assert people.grants.exchange(offer, made, [])
    assert people.grants.offered(code, client) == Reused(anne, made.grant)
    assert people.grants.offered(code, "another") is None
    watch.now += CODE_MS
    assert people.grants.offered(code, client) == Reused(anne, made.grant)


def test_codes_that_nobody_exchanged_are_forgotten_first(
    people: People, anne: str, client: str, watch: Watch, ledger: Ledger
) -> None:
    spent, _ = (offered(people, anne, client) for _ in range(2))
    assert people.grants.exchange(spent, people.grants.tokens(), [])
    for later, left in ((CODE_MS + 1, 2), (DAY - CODE_MS, 2), (CODE_MS + 1, 1)):
        watch.now += later
        offered(people, anne, client)
        assert len(ledger.execute("SELECT hash FROM oauth_codes")) == left, later


def test_a_refresh_token_that_comes_twice_at_once_ends_the_grant(people: People, anne: str, client: str) -> None:
    first = people.grants.tokens()
    assert people.grants.exchange(offered(people, anne, client), first, [])
    turn = people.grants.turn(first.refresh)
    assert isinstance(turn, Turn)
    next_ = [people.grants.tokens(turn.grant) for _ in range(4)]
    found = at_once(lambda n: people.grants.exchange_turn(turn, next_[n], ["read"]))
    assert sorted(map(bool, found)) == [False, False, False, True]
    assert people.grants.of(anne) == []
    assert people.grants.turn(next_[found.index(True)].refresh) is None


def test_an_older_refresh_token_is_known_without_being_kept(
    people: People, anne: str, client: str, ledger: Ledger
) -> None:
    made = [people.grants.tokens()]
    assert people.grants.exchange(offered(people, anne, client), made[0], [])
    for _ in range(3):
        turn = people.grants.turn(made[-1].refresh)
        assert isinstance(turn, Turn)
        made.append(people.grants.tokens(turn.grant))
        assert people.grants.exchange_turn(turn, made[-1], ["read"])
    assert len(ledger.execute("SELECT id FROM oauth_grants")) == 1
    for old in made[:3]:
        assert people.grants.turn(old.refresh) == Reused(anne, made[0].grant)
    assert people.grants.holder(made[3].access) is not None
    assert people.alive(made[0].grant)


def test_what_one_account_was_given_another_cannot_end(people: People, anne: str, client: str) -> None:
    bob, made = opened(people, "Bob").id, people.grants.tokens()
    assert people.grants.exchange(offered(people, anne, client), made, [])
    assert not people.grants.end(bob, made.grant)
    assert people.grants.end(anne, made.grant)
    assert not people.grants.end(anne, made.grant)


def test_a_device_is_answered_once_and_lets_in_once(people: People, anne: str, client: str) -> None:
    text, code = people.devices.ask(client, ["read"])
    device = people.devices.typed(code)
    assert device is not None
    found = at_once(lambda n: people.devices.answer(device, anne, ["read"], [], allowed=n % 2 == 0))
    assert sorted(map(bool, found)) == [False, False, False, True]
    if found.index(True) % 2:
        return
    polled = people.devices.poll(text)
    assert isinstance(polled, Device)
    made = [people.grants.tokens() for _ in range(4)]
    given = at_once(lambda n: people.devices.exchange(polled, made[n], people.grants, []))
    assert sorted(map(bool, given)) == [False, False, False, True]
    assert len(people.grants.of(anne)) == 1


def test_devices_that_nobody_answers_are_forgotten(people: People, client: str, watch: Watch, ledger: Ledger) -> None:
    for _ in range(3):
        people.devices.ask(client, [])
    watch.now += 2 * SECONDS * 1000 + 1
    people.devices.ask(client, [])
    assert len(ledger.execute("SELECT hash FROM oauth_devices")) == 1


def test_a_code_of_an_authenticator_counts_once(people: People, anne: str, watch: Watch) -> None:
    from base64 import b32decode

    key = b32decode(people.factors.propose(anne, "Anne", "Annals").secret)
    totp = TOTP(key, 6, SHA1(), 30)  # noqa: S303 - what authenticators use
    code = totp.generate(watch.now // 1000).decode()
    found = at_once(lambda _: people.factors.confirm(anne, code, "", []))
    assert sorted(map(bool, found)) == [False, False, False, True]
    assert not people.factors.fits(anne, code)
    watch.now += 30_000
    later = totp.generate(watch.now // 1000).decode()
    assert sorted(map(bool, at_once(lambda _: people.factors.fits(anne, later)))) == [False, False, False, True]
    people.factors.drop(anne, "totp", "", [])
    with pytest.raises(AccountError):
        people.factors.drop(anne, "totp", "", [])


def test_a_login_that_was_begun_before_a_factor_was_added_is_none(people: People, anne: str, watch: Watch) -> None:
    from base64 import b32decode

    kept = people.credentials.password(anne)
    totp = TOTP(b32decode(people.factors.propose(anne, "Anne", "Annals").secret), 6, SHA1(), 30)  # noqa: S303 - as above
    assert people.credentials.start(Start(anne), kept, [])
    assert people.factors.confirm(anne, totp.generate(watch.now // 1000).decode(), "", [])
    for factors in (("password",), ("recovery",)):
        with pytest.raises(AccountError) as refused:
            people.credentials.start(Start(anne, "", factors), kept, [])
        assert refused.value.code == "second_factor_required"
    assert people.credentials.start(Start(anne, "", ("password", "totp")), kept, [])


def test_what_outlasts_a_session_is_not_made_in_one_that_has_ended(people: People, anne: str, client: str) -> None:
    """As after a theft: each of these was asked for just before all sessions ended, and is stored just after."""
    from base64 import b32decode

    session = people.credentials.start(Start(anne), people.credentials.password(anne), []).split("_")[1]
    device = people.devices.typed(people.devices.ask(client, ["read"])[1])
    assert device is not None
    told, kept = people.credentials.codes(anne)
    totp = TOTP(b32decode(people.factors.propose(anne, "Anne", "Annals").secret), 6, SHA1(), 30)  # noqa: S303 - as above
    code = totp.generate(people.clock() // 1000).decode()
    offer = people.grants.code()
    late: list[Callable[[], object]] = [
        lambda: people.credentials.issue(anne, "bot", ["play"], 2_000 * DAY, [], session=session),
        lambda: people.credentials.recode(anne, kept, [], session),
        lambda: people.factors.confirm(anne, code, session, []),
        lambda: people.grants.offer(offer, anne, client, ["read"], REDIRECT, "x" * 43, session=session),
        lambda: people.devices.answer(device, anne, ["read"], [], allowed=True, session=session),
    ]
    people.credentials.end_all(anne, ended(anne))
    for each in late:
        with pytest.raises(AccountError) as refused:
            each()
        assert refused.value.code == "unauthenticated"
    assert (people.credentials.tokens(anne), people.factors.of(anne)) == ([], [])
    assert not people.credentials.recoverable(anne, told[0])
    assert people.grants.offered(offer, client) is None


def test_what_a_device_was_allowed_ends_with_all_that_was_allowed(people: People, anne: str, client: str) -> None:
    """Also before it has fetched what it was given."""
    text, code = people.devices.ask(client, ["read"])
    device = people.devices.typed(code)
    assert device is not None
    assert people.devices.answer(device, anne, ["read"], [], allowed=True)
    polled = people.devices.poll(text)
    people.credentials.end_all(anne, ended(anne))
    assert people.devices.poll(text) is None
    assert polled is not None
    assert not people.devices.exchange(polled, people.grants.tokens(), people.grants, [])
    assert people.grants.of(anne) == []


def test_with_an_account_goes_all_that_it_allowed_and_all_that_was_allowed_to_it(
    people: People, anne: str, client: str, ledger: Ledger
) -> None:
    bob = opened(people, "Bob").id
    for who in (anne, bob):
        assert people.grants.exchange(offered(people, who, client), people.grants.tokens(), [])
        offered(people, who, client)
        people.devices.ask(client, [])
    people.factors.propose(anne, "Anne", "Annals")
    people.accounts.erase(anne, nothing)
    for table in ("oauth_clients", "oauth_grants", "oauth_codes", "oauth_devices"):
        assert ledger.execute(f"SELECT * FROM {table}") == [], table  # noqa: S608 - fixed names
    assert ledger.execute("SELECT kind FROM factors WHERE account = ?", (anne,)) == []


def test_what_is_asked_while_an_account_is_erased_leaves_nothing(people: People, anne: str, ledger: Ledger) -> None:
    bob = opened(people, "Bob").id
    client = people.clients.register(bob, BOARD, [], confidential=False)[0]
    device = people.devices.typed(people.devices.ask(client, ["read"])[1])
    assert device is not None
    people.accounts.erase(anne, nothing)
    asked: list[Callable[[], object]] = [
        lambda: people.clients.register(anne, BOARD, [], confidential=False),
        lambda: people.grants.offer(people.grants.code(), anne, client, ["read"], REDIRECT, "x" * 43),
        lambda: people.devices.answer(device, anne, ["read"], [], allowed=True),
        lambda: people.factors.propose(anne, "Anne", "Annals"),
    ]
    for each in asked:
        with pytest.raises(AccountError) as refused:
            each()
        assert refused.value.code == "unknown_account"
    for table in ("oauth_clients", "oauth_codes", "oauth_devices", "factors"):
        assert ledger.execute(f"SELECT * FROM {table} WHERE account = ?", (anne,)) == [], table  # noqa: S608 - fixed names


def test_a_sealed_half_opens_for_whom_it_was_given_to(people: People, watch: Watch) -> None:
    text = people.forms.seal("visit x", "factor", {"account": "a"})
    assert people.forms.open("visit x", "factor", text) == {"account": "a"}
    for holder, about, shown in (("visit y", "factor", text), ("visit x", "other", text), ("visit x", "factor", "x")):
        assert people.forms.open(holder, about, shown) is None
    assert people.forms.open("visit x", "factor", "\u00e9") is None
    watch.now += DAY
    assert people.forms.open("visit x", "factor", text) is None


def test_what_no_store_can_hold_is_nobody_s(people: People, anne: str) -> None:
    """PostgreSQL refuses texts with a zero in them."""
    from tests.api.oauth.authenticator import ORIGIN, Authenticator

    key = Authenticator()
    key.user = b"0\x00"
    assert people.passkeys.shown(key.get(people.passkeys.ask(ORIGIN)), ORIGIN) is None
    assert people.devices.typed("\x00") is None
    assert people.devices.poll("\x00") is None
    assert people.grants.turn("\x00") is None
    assert people.grants.offered("\x00", "x") is None
    assert not people.factors.fits(anne, "\x00")
