"""Login checks: a password plus the account's second factor, or a passkey alone."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from api.http import login_throttle, public_url, rate_limits, security_log
from api.http.problems import Problem
from api.services import services
from domain.accounts.accounts import Account
from domain.accounts.sessions import SessionRequest
from domain.types import Doc

RECOVERY = "recovery"
"""Kind of a recovery code, accepted in place of any second factor."""


@dataclass(frozen=True)
class SecondFactorProof:
    """The second factor sent with a password: an authenticator code, a recovery code or a passkey response."""

    code: str = field(default="", repr=False)
    passkey: Doc | None = field(default=None, repr=False)

    @classmethod
    def from_body(cls, body: Doc) -> SecondFactorProof:
        """Return the proof in a request body."""
        return cls(body["factor"], body["passkey"])


class SecondFactorRequired(Problem):
    """The password was right, but the account also needs a second factor."""

    def __init__(self, account: Account, password_hash: str, kinds: list[str]) -> None:
        super().__init__("second_factor_required", factors=[*kinds, RECOVERY])
        self.account, self.password_hash = account, password_hash


@dataclass(frozen=True)
class VerifiedLogin:
    """An account with verified credentials, ready for a new session."""

    account: Account
    password_hash: str = field(repr=False)
    """The stored hash at the time of the check. A session starts only while it is unchanged."""
    factors: tuple[str, ...]


def verify_password_login(name: str, password: str, device: str, second_factor: SecondFactorProof) -> VerifiedLogin:
    """Verify name, password and second factor. Raise Problem if one of them is wrong.

    The answer does not reveal if the name exists. Failed guesses are throttled: a device known to the account has its
    own count; other requests count for the name, the address and the account's refusals of the last day.
    """
    store = services().account_store
    account = store.accounts.find_by_name(name)
    with _throttled(name, account, device):
        password_hash = store.credentials.find_password_hash(account.id if account else "")
        fits = store.passwords.matches(password_hash, password)
        if account is None or not fits:
            store.audit_log.record(account.id if account else "", "login_refused", rate_limits.client_network())
            raise Problem("wrong_credentials")
        return VerifiedLogin(
            account, password_hash, ("password", *check_second_factor(account, password_hash, second_factor))
        )


def verify_pending_login(
    account: Account, password_hash: str, device: str, second_factor: SecondFactorProof
) -> VerifiedLogin:
    """Verify the second factor of a login with an already verified password. Raise Problem."""
    with _throttled(account.name, account, device):
        return VerifiedLogin(
            account, password_hash, ("password", *check_second_factor(account, password_hash, second_factor))
        )


def verify_passkey_login(answer: Doc) -> VerifiedLogin:
    """Verify a passkey response with user verification, equal to two factors. Raise Problem."""
    store = services().account_store
    with login_throttle.throttled(address=rate_limits.client_address()):
        passkey = store.passkeys.verify(answer, public_url.base_url())
        account = store.accounts.find(passkey.account) if passkey else None
        if passkey is None or account is None or account.state == "erased" or not passkey.verified:
            store.audit_log.record(passkey.account if passkey else "", "login_refused", rate_limits.client_network())
            raise Problem("wrong_credentials")
        return VerifiedLogin(account, store.credentials.find_password_hash(account.id), ("passkey",))


def _throttled(name: str, account: Account | None, device: str) -> AbstractContextManager[None]:
    store = services().account_store
    device_id = store.sessions.find_device(account.id, device) if account else ""
    key = f"device {device_id}" if device_id else f"name {store.accounts.name_key(name)}"
    if not device_id:  # unknown names take the same steps
        rate_limits.refuse_for(store.audit_log.guess_delay(account.id if account else "nobody"))
    return login_throttle.throttled(key, address="" if device_id else rate_limits.client_address())


def check_second_factor(account: Account, password_hash: str, second_factor: SecondFactorProof) -> tuple[str, ...]:
    """Return the kind of second factor used, or nothing for an account without one. Raise Problem.

    Call it inside `login_throttle.throttled`.
    """
    store = services().account_store
    kinds = store.second_factors.list_kinds(account.id)
    if not kinds:
        return ()
    if not second_factor.code and second_factor.passkey is None:
        raise SecondFactorRequired(account, password_hash, kinds)
    kind = _matching_factor(account.id, second_factor)
    if not kind:
        store.audit_log.record(account.id, "factor_refused", rate_limits.client_network())
        raise Problem("wrong_credentials", "Wrong second factor.")
    return (kind,)


def _matching_factor(account: str, second_factor: SecondFactorProof) -> str:
    store, code = services().account_store, "".join(second_factor.code.split())
    if second_factor.passkey is not None:
        passkey = store.passkeys.verify(second_factor.passkey, public_url.base_url())
        return "passkey" if passkey and passkey.account == account else ""
    if code.isdigit():
        return "totp" if store.second_factors.use_code(account, code) else ""
    return RECOVERY if store.recovery_codes.use(account, code) else ""


def start_session(login: VerifiedLogin, label: str) -> str:
    """Start a session and return its token."""
    account = login.account
    logged = security_log.audit_statements(account.id, "login", rate_limits.client_network(), label)
    start = SessionRequest(account.id, label, login.factors, rate_limits.address_family())
    # Fails like a wrong password if the password has just changed.
    return services().account_store.sessions.start(start, login.password_hash, logged)
