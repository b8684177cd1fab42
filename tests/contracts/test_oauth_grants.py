"""Clients, grants, devices and factors, on both stores: what happens at once happens once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from domain.accounts.account_store import AccountStore
from domain.accounts.account_tables import DAY
from domain.accounts.accounts import no_statements
from domain.accounts.oauth_clients import ClientRegistration
from domain.accounts.oauth_devices import SECONDS, DeviceLogin
from domain.accounts.oauth_grants import (
    CODE_MS,
    REPEAT_MS,
    AuthorizationCode,
    RefreshToken,
    RenewedTokens,
    ReusedCredential,
    TokenPair,
    revoke_all,
)
from domain.accounts.sessions import SessionRequest
from domain.errors import AccountError, CommandReused
from domain.ledger import Ledger
from domain.service.keyring import Keyring
from tests.contracts.context import KEY
from tests.contracts.test_sessions import Watch, opened

REDIRECT = "https://client.example/answer"
BOARD = ClientRegistration(name="A board", redirects=[REDIRECT])


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def people(ledger: Ledger, watch: Watch) -> AccountStore:
    people = AccountStore(ledger, Keyring(ledger, KEY), watch)
    people.migrate()
    people.migrate()
    return people


@pytest.fixture
def anne(people: AccountStore) -> str:
    return opened(people).id


@pytest.fixture
def client(people: AccountStore, anne: str) -> str:
    return people.oauth_clients.register(anne, BOARD, [], confidential=False)[0]


def at_once(work: Callable[[int], object], times: int = 4) -> list[object]:
    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(work, range(times)))


def offered(people: AccountStore, anne: str, client: str) -> AuthorizationCode:
    code = people.oauth_grants.make_code()
    people.oauth_grants.store_code(code, anne, client, ["read", "play"], REDIRECT, "x" * 43)
    found = people.oauth_grants.find_code(code, client)
    assert isinstance(found, AuthorizationCode)
    return found


def test_of_one_request_sent_several_times_one_client_comes(people: AccountStore, anne: str) -> None:
    request = ("client", f"{anne} key", "said")
    found = at_once(lambda _: people.oauth_clients.register(anne, BOARD, [], *request, confidential=True))
    assert len(set(found)) == 1
    assert len(people.oauth_clients.list_by_account(anne)) == 1
    with pytest.raises(CommandReused):
        people.oauth_clients.register(anne, BOARD, [], *request[:2], "other", confidential=True)


def test_code_that_comes_twice_at_once_gives_nothing_that_stays(people: AccountStore, anne: str, client: str) -> None:
    offer, made = offered(people, anne, client), [people.oauth_grants.make_tokens() for _ in range(4)]
    found = at_once(lambda n: people.oauth_grants.exchange_code(offer, made[n], []))
    assert sorted(map(bool, found)) == [False, False, False, True]
    assert [people.oauth_grants.find_owner(each.access) for each in made] == [None] * 4
    assert people.oauth_grants.list_by_account(anne) == []


def test_a_code_once_exchanged_is_known_again(people: AccountStore, anne: str, client: str, watch: Watch) -> None:
    code, made = people.oauth_grants.make_code(), people.oauth_grants.make_tokens()
    people.oauth_grants.store_code(code, anne, client, ["read"], REDIRECT, "x" * 43)
    offer = people.oauth_grants.find_code(code, client)
    assert isinstance(offer, AuthorizationCode)
    assert people.oauth_grants.exchange_code(offer, made, [])
    assert people.oauth_grants.find_code(code, client) == ReusedCredential(anne, made.grant)
    assert people.oauth_grants.find_code(code, "another") is None
    watch.now += CODE_MS
    assert people.oauth_grants.find_code(code, client) == ReusedCredential(anne, made.grant)


def test_codes_that_nobody_exchanged_are_forgotten_first(
    people: AccountStore, anne: str, client: str, watch: Watch, ledger: Ledger
) -> None:
    spent, _ = (offered(people, anne, client) for _ in range(2))
    assert people.oauth_grants.exchange_code(spent, people.oauth_grants.make_tokens(), [])
    for later, left in ((CODE_MS + 1, 2), (DAY - CODE_MS, 2), (CODE_MS + 1, 1)):
        watch.now += later
        offered(people, anne, client)
        assert len(ledger.execute("SELECT hash FROM oauth_codes")) == left, later


def granted(people: AccountStore, anne: str, client: str) -> TokenPair:
    """The tokens of a new grant."""
    tokens = people.oauth_grants.make_tokens()
    assert people.oauth_grants.exchange_code(offered(people, anne, client), tokens, [])
    return tokens


def turned(people: AccountStore, client: str, tokens: TokenPair) -> RefreshToken:
    """The refresh token of a pair, as the store finds it."""
    found = people.oauth_grants.find_refresh_token(tokens.refresh, client)
    assert isinstance(found, RefreshToken)
    return found


def test_refresh_token_sent_twice_at_once_gives_same_tokens(people: AccountStore, anne: str, client: str) -> None:
    """Also two requests that both found it unused, and one that found it used."""
    turn = turned(people, client, granted(people, anne, client))
    found = at_once(lambda n: people.oauth_grants.exchange_refresh_token(turn, ["read"] if n else ["play"]))
    renewed = found[0]
    assert isinstance(renewed, RenewedTokens)
    assert set(found) == {renewed}
    assert people.oauth_grants.find_owner(renewed.tokens.access) is not None
    assert len(people.oauth_grants.list_by_account(anne)) == 1
    assert people.oauth_grants.exchange_refresh_token(turned(people, client, renewed.tokens), ["read"])


def test_a_refresh_token_that_comes_again_later_ends_the_grant(
    people: AccountStore, anne: str, client: str, watch: Watch
) -> None:
    first = granted(people, anne, client)
    turn = turned(people, client, first)
    renewed = people.oauth_grants.exchange_refresh_token(turn, ["read"])
    assert renewed
    watch.now += REPEAT_MS - 1
    again = people.oauth_grants.exchange_refresh_token(turned(people, client, first), ["read"])
    assert again
    assert (again.tokens, again.seconds) == (renewed.tokens, renewed.seconds - REPEAT_MS // 1000)
    assert people.oauth_grants.find_refresh_token(first.refresh, "another") == ReusedCredential(anne, first.grant)
    watch.now += 1
    assert people.oauth_grants.find_refresh_token(first.refresh, client) == ReusedCredential(anne, first.grant)
    assert people.oauth_grants.exchange_refresh_token(turn, ["read"]) is None
    assert people.oauth_grants.list_by_account(anne) == []
    assert people.oauth_grants.find_refresh_token(renewed.tokens.refresh, client) is None


def test_use_of_access_token_does_not_prolong_time_to_repeat(
    people: AccountStore, anne: str, client: str, watch: Watch
) -> None:
    first = granted(people, anne, client)
    renewed = people.oauth_grants.exchange_refresh_token(turned(people, client, first), ["read"])
    assert renewed
    watch.now += 1_800_000
    assert people.oauth_grants.find_owner(renewed.tokens.access)
    assert people.oauth_grants.find_refresh_token(first.refresh, client) == ReusedCredential(anne, first.grant)


def test_a_repetition_does_not_revive_an_ended_grant(people: AccountStore, anne: str, client: str) -> None:
    first = granted(people, anne, client)
    turn = turned(people, client, first)
    assert people.oauth_grants.exchange_refresh_token(turn, ["read"])
    assert people.oauth_grants.revoke_grant(anne, first.grant)
    assert people.oauth_grants.exchange_refresh_token(turn, ["read"]) is None
    assert people.oauth_grants.find_refresh_token(first.refresh, client) is None


def test_an_older_refresh_token_is_known_without_being_kept(
    people: AccountStore, anne: str, client: str, ledger: Ledger
) -> None:
    made = [granted(people, anne, client)]
    for _ in range(3):
        renewed = people.oauth_grants.exchange_refresh_token(turned(people, client, made[-1]), ["read"])
        assert renewed
        made.append(renewed.tokens)
    rows = ledger.execute("SELECT * FROM oauth_grants")
    assert len(rows) == 1
    assert not [text for pair in made for text in (pair.access, pair.refresh) if text in str((rows, pair))]
    for old in made[:2]:
        assert people.oauth_grants.find_refresh_token(old.refresh, client) == ReusedCredential(anne, old.grant)
    assert people.oauth_grants.find_owner(made[3].access) is not None
    assert people.is_credential_alive(made[0].grant)
    assert made[2].refresh not in repr(turned(people, client, made[2]))


def test_what_one_account_was_given_another_cannot_end(people: AccountStore, anne: str, client: str) -> None:
    bob, made = opened(people, "Bob").id, people.oauth_grants.make_tokens()
    assert people.oauth_grants.exchange_code(offered(people, anne, client), made, [])
    assert not people.oauth_grants.revoke_grant(bob, made.grant)
    assert people.oauth_grants.revoke_grant(anne, made.grant)
    assert not people.oauth_grants.revoke_grant(anne, made.grant)


def test_a_device_is_answered_once_and_lets_in_once(people: AccountStore, anne: str, client: str) -> None:
    text, code = people.device_logins.start(client, ["read"])
    device = people.device_logins.find_by_code(code)
    assert device is not None
    found = at_once(lambda n: people.device_logins.answer(device, anne, ["read"], [], allowed=n % 2 == 0))
    assert sorted(map(bool, found)) == [False, False, False, True]
    if found.index(True) % 2:
        return
    polled = people.device_logins.poll(text)
    assert isinstance(polled, DeviceLogin)
    made = [people.oauth_grants.make_tokens() for _ in range(4)]
    given = at_once(lambda n: people.device_logins.exchange(polled, made[n], people.oauth_grants, []))
    assert sorted(map(bool, given)) == [False, False, False, True]
    assert len(people.oauth_grants.list_by_account(anne)) == 1


def test_devices_that_nobody_answers_are_forgotten(
    people: AccountStore, client: str, watch: Watch, ledger: Ledger
) -> None:
    for _ in range(3):
        people.device_logins.start(client, [])
    watch.now += 2 * SECONDS * 1000 + 1
    people.device_logins.start(client, [])
    assert len(ledger.execute("SELECT hash FROM oauth_devices")) == 1


def test_a_code_of_an_authenticator_counts_once(people: AccountStore, anne: str, watch: Watch) -> None:
    from base64 import b32decode

    key = b32decode(people.second_factors.propose(anne, "Anne", "Annals").secret)
    totp = TOTP(key, 6, SHA1(), 30)  # noqa: S303 - what authenticators use
    code = totp.generate(watch.now // 1000).decode()
    found = at_once(lambda _: people.second_factors.confirm(anne, code, "", []))
    assert sorted(map(bool, found)) == [False, False, False, True]
    assert not people.second_factors.use_code(anne, code)
    watch.now += 30_000
    later = totp.generate(watch.now // 1000).decode()
    assert sorted(map(bool, at_once(lambda _: people.second_factors.use_code(anne, later)))) == [
        False,
        False,
        False,
        True,
    ]
    people.second_factors.remove(anne, "totp", "", [])
    with pytest.raises(AccountError):
        people.second_factors.remove(anne, "totp", "", [])


def test_login_that_was_begun_before_a_factor_was_added_is_none(people: AccountStore, anne: str, watch: Watch) -> None:
    from base64 import b32decode

    kept = people.credentials.find_password_hash(anne)
    totp = TOTP(b32decode(people.second_factors.propose(anne, "Anne", "Annals").secret), 6, SHA1(), 30)  # noqa: S303 - as above
    assert people.sessions.start(SessionRequest(anne), kept, [])
    assert people.second_factors.confirm(anne, totp.generate(watch.now // 1000).decode(), "", [])
    for factors in (("password",), ("recovery",)):
        with pytest.raises(AccountError) as refused:
            people.sessions.start(SessionRequest(anne, "", factors), kept, [])
        assert refused.value.code == "second_factor_required"
    assert people.sessions.start(SessionRequest(anne, "", ("password", "totp")), kept, [])


def test_what_outlasts_a_session_is_not_made_in_an_ended_one(people: AccountStore, anne: str, client: str) -> None:
    """As after a theft: each of these was asked for just before all sessions ended, and is stored just after."""
    from base64 import b32decode

    session = people.sessions.start(SessionRequest(anne), people.credentials.find_password_hash(anne), []).split("_")[1]
    device = people.device_logins.find_by_code(people.device_logins.start(client, ["read"])[1])
    assert device is not None
    told, kept = people.recovery_codes.generate(anne)
    totp = TOTP(b32decode(people.second_factors.propose(anne, "Anne", "Annals").secret), 6, SHA1(), 30)  # noqa: S303 - as above
    code = totp.generate(people.clock() // 1000).decode()
    offer = people.oauth_grants.make_code()
    late: list[Callable[[], object]] = [
        lambda: people.personal_tokens.issue(anne, "bot", ["play"], 2_000 * DAY, [], session=session),
        lambda: people.recovery_codes.replace(anne, kept, [], session),
        lambda: people.second_factors.confirm(anne, code, session, []),
        lambda: people.oauth_grants.store_code(offer, anne, client, ["read"], REDIRECT, "x" * 43, session=session),
        lambda: people.device_logins.answer(device, anne, ["read"], [], allowed=True, session=session),
    ]
    people.credentials.end_all(anne, revoke_all(anne))
    for each in late:
        with pytest.raises(AccountError) as refused:
            each()
        assert refused.value.code == "unauthenticated"
    assert (people.personal_tokens.list_tokens(anne), people.second_factors.list_factors(anne)) == ([], [])
    assert not people.recovery_codes.find_kind(anne, told[0])
    assert people.oauth_grants.find_code(offer, client) is None


def test_what_device_was_allowed_ends_with_all_that_was_allowed(people: AccountStore, anne: str, client: str) -> None:
    """Also before it has fetched what it was given."""
    text, code = people.device_logins.start(client, ["read"])
    device = people.device_logins.find_by_code(code)
    assert device is not None
    assert people.device_logins.answer(device, anne, ["read"], [], allowed=True)
    polled = people.device_logins.poll(text)
    people.credentials.end_all(anne, revoke_all(anne))
    assert people.device_logins.poll(text) is None
    assert polled is not None
    assert not people.device_logins.exchange(polled, people.oauth_grants.make_tokens(), people.oauth_grants, [])
    assert people.oauth_grants.list_by_account(anne) == []


def test_with_an_account_goes_all_that_it_allowed(people: AccountStore, anne: str, client: str, ledger: Ledger) -> None:
    bob = opened(people, "Bob").id
    for who in (anne, bob):
        assert people.oauth_grants.exchange_code(offered(people, who, client), people.oauth_grants.make_tokens(), [])
        offered(people, who, client)
        people.device_logins.start(client, [])
    people.second_factors.propose(anne, "Anne", "Annals")
    people.accounts.erase(anne, no_statements)
    for table in ("oauth_clients", "oauth_grants", "oauth_codes", "oauth_devices"):
        assert ledger.execute(f"SELECT * FROM {table}") == [], table  # noqa: S608 - fixed names
    assert ledger.execute("SELECT kind FROM factors WHERE account = ?", (anne,)) == []


def test_what_is_asked_while_account_is_erased_leaves_nothing(people: AccountStore, anne: str, ledger: Ledger) -> None:
    bob = opened(people, "Bob").id
    client = people.oauth_clients.register(bob, BOARD, [], confidential=False)[0]
    device = people.device_logins.find_by_code(people.device_logins.start(client, ["read"])[1])
    assert device is not None
    people.accounts.erase(anne, no_statements)
    asked: list[Callable[[], object]] = [
        lambda: people.oauth_clients.register(anne, BOARD, [], confidential=False),
        lambda: people.oauth_grants.store_code(
            people.oauth_grants.make_code(), anne, client, ["read"], REDIRECT, "x" * 43
        ),
        lambda: people.device_logins.answer(device, anne, ["read"], [], allowed=True),
        lambda: people.second_factors.propose(anne, "Anne", "Annals"),
    ]
    for each in asked:
        with pytest.raises(AccountError) as refused:
            each()
        assert refused.value.code == "unknown_account"
    for table in ("oauth_clients", "oauth_codes", "oauth_devices", "factors"):
        assert ledger.execute(f"SELECT * FROM {table} WHERE account = ?", (anne,)) == [], table  # noqa: S608 - fixed names


def test_a_sealed_half_opens_for_whom_it_was_given_to(people: AccountStore, watch: Watch) -> None:
    text = people.signed_forms.seal("visit x", "factor", {"account": "a"})
    assert people.signed_forms.open("visit x", "factor", text) == {"account": "a"}
    for holder, about, shown in (("visit y", "factor", text), ("visit x", "other", text), ("visit x", "factor", "x")):
        assert people.signed_forms.open(holder, about, shown) is None
    assert people.signed_forms.open("visit x", "factor", "\u00e9") is None
    watch.now += DAY
    assert people.signed_forms.open("visit x", "factor", text) is None


def test_what_no_store_can_hold_is_nobody_s(people: AccountStore, anne: str) -> None:
    """PostgreSQL refuses texts with a zero in them."""
    from tests.api.oauth.authenticator import ORIGIN, Authenticator

    key = Authenticator()
    key.user = b"0\x00"
    assert people.passkeys.verify(key.get(people.passkeys.request_options(ORIGIN)), ORIGIN) is None
    assert people.device_logins.find_by_code("\x00") is None
    assert people.device_logins.poll("\x00") is None
    assert people.oauth_grants.find_refresh_token("\x00", "x") is None
    assert people.oauth_grants.find_code("\x00", "x") is None
    assert not people.second_factors.use_code(anne, "\x00")
