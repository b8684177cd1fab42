"""People with accounts, for tests: a site whose clock of accounts is turned by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from domain.accounts.account_store import AccountStore
from tests.api.conftest import Doc, Site

PASSWORD = "a fair wind to Genoa"
OTHER = "seven ships and a map"


class Watch:
    """ms since 1970."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        self.now += 1
        return self.now


@dataclass
class Member:
    """An account, and the token of its first session."""

    site: Site
    doc: Doc

    @property
    def id(self) -> str:
        return str(self.doc["account"])

    @property
    def token(self) -> str:
        return str(self.doc["token"])

    def get(self, path: str, **headers: str) -> Any:
        return self.site.get(path, self.token, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.site.post(path, body, self.token, **headers)

    def put(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.site.put(path, body, self.token, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.site.delete(path, self.token, **headers)

    def prove(self, **more: Any) -> Any:
        """Show the password; from then on with the token that the answer holds."""
        proven = self.post("/me/proofs", {"password": PASSWORD, **more})
        assert proven.status_code == 201, proven.text
        self.doc = self.doc | {"token": proven.json["token"]}
        return proven

    def personal(self, *scopes: str, **more: Any) -> str:
        """A personal token."""
        made = self.post("/me/tokens", {"label": "a bot", "scopes": list(scopes), **more})
        assert made.status_code == 201, made.text
        return str(made.json["token"])


def timed(site: Site) -> Watch:
    """From now on accounts of this site live by that watch."""
    watch = Watch()
    site.services = replace(
        site.services, account_store=AccountStore(site.services.ledger, site.services.ledger.keys, watch)
    )
    site.remake()
    return watch


def register(site: Site, name: str = "Anne", password: str = PASSWORD, **more: Any) -> Member:
    made = site.post("/accounts", {"name": name, "password": password, **more})
    assert made.status_code == 201, made.text
    return Member(site, made.json)


def promoted(site: Site, name: str, role: str) -> Member:
    """Somebody with a role, as by the command line."""
    member = register(site, name)
    site.services.account_store.accounts.set_role(member.id, role)
    return member


def log_in(site: Site, name: str = "Anne", password: str = PASSWORD, **more: Any) -> Any:
    return site.post("/sessions", {"name": name, "password": password, **more})
