"""What it takes to be let in: a password, and beside it the second factor of who has one; or a passkey by itself."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from api.http import login_throttle, public_url, rate_limits, security_log
from api.http.problems import Problem
from api.services import Doc, services
from domain.accounts.accounts import Account
from domain.accounts.credentials import Start

SPARE = "recovery"
"""What stands in for any second factor."""


@dataclass(frozen=True)
class Second:
    """What is shown beside the password: a code of an authenticator, a recovery code, or a passkey's answer."""

    code: str = field(default="", repr=False)
    passkey: Doc | None = field(default=None, repr=False)

    @classmethod
    def of(cls, body: Doc) -> Second:
        """As a request has it."""
        return cls(body["factor"], body["passkey"])


class SecondMissing(Problem):
    """The password was right, and more is asked for."""

    def __init__(self, account: Account, kept: str, kinds: list[str]) -> None:
        super().__init__("second_factor_required", factors=[*kinds, SPARE])
        self.account, self.kept = account, kept


@dataclass(frozen=True)
class Entry:
    """Somebody who may come in."""

    account: Account
    kept: str = field(repr=False)
    """Of the password as it is now."""
    factors: tuple[str, ...]


def by_password(name: str, password: str, device: str, second: Second) -> Entry:
    """Who has that name and password, and shows the second factor if there is one; raises Problem.

    Whether the name or the password was wrong is not told. Who guesses waits longer and longer; a device that the
    account knows is counted by itself, others by the name, by the address, and by what was refused in the last day.
    """
    people = services().people
    found = people.accounts.named(name)
    with _guessing(name, found, device):
        kept = people.credentials.password(found.id if found else "")
        fits = people.passwords.fits(kept, password)
        if found is None or not fits:
            people.journal.write(found.id if found else "", "login_refused", rate_limits.network())
            raise Problem("wrong_credentials")
        return Entry(found, kept, ("password", *shown(found, kept, second)))


def by_second(account: Account, kept: str, device: str, second: Second) -> Entry:
    """Who has shown the password a moment ago, and now the second factor; raises Problem."""
    with _guessing(account.name, account, device):
        return Entry(account, kept, ("password", *shown(account, kept, second)))


def by_passkey(answer: Doc) -> Entry:
    """Whose passkey has answered, with its user verified: that is two factors in one. Raises Problem."""
    people = services().people
    with login_throttle.guessing(at=rate_limits.address()):
        found = people.passkeys.shown(answer, public_url.address())
        account = people.accounts.find(found.account) if found else None
        if found is None or account is None or account.state == "erased" or not found.verified:
            people.journal.write(found.account if found else "", "login_refused", rate_limits.network())
            raise Problem("wrong_credentials")
        return Entry(account, people.credentials.password(account.id), ("passkey",))


def _guessing(name: str, account: Account | None, device: str) -> AbstractContextManager[None]:
    people = services().people
    known = people.credentials.knows(account.id, device) if account else ""
    counted = f"device {known}" if known else f"name {people.accounts.key(name)}"
    if not known:  # as much is done for a name that is none
        rate_limits.later(people.journal.wait(account.id if account else "nobody"))
    return login_throttle.guessing(counted, at="" if known else rate_limits.address())


def shown(account: Account, kept: str, second: Second) -> tuple[str, ...]:
    """By which second factor somebody has proved themselves: none if the account has none. Raises Problem.

    Stands within `attempts.guessing`.
    """
    people = services().people
    kinds = people.factors.kinds(account.id)
    if not kinds:
        return ()
    if not second.code and second.passkey is None:
        raise SecondMissing(account, kept, kinds)
    kind = _fitting(account.id, second)
    if not kind:
        people.journal.write(account.id, "factor_refused", rate_limits.network())
        raise Problem("wrong_credentials", "That is not the second factor.")
    return (kind,)


def _fitting(account: str, second: Second) -> str:
    people, code = services().people, "".join(second.code.split())
    if second.passkey is not None:
        found = people.passkeys.shown(second.passkey, public_url.address())
        return "passkey" if found and found.account == account else ""
    if code.isdigit():
        return "totp" if people.factors.fits(account, code) else ""
    return SPARE if people.credentials.use_code(account, code) else ""


def begin(entry: Entry, label: str) -> str:
    """The token of a new session."""
    account = entry.account
    logged = security_log.journaled(account.id, "login", rate_limits.network(), label)
    start = Start(account.id, label, entry.factors, rate_limits.family())
    # Refused, as any wrong password, if that has changed just now.
    return services().people.credentials.start(start, entry.kept, logged)
