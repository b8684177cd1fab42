"""Settings of accounts: the time zone in which people read times, and how they read the pages."""

from __future__ import annotations

import functools
import json
import zoneinfo
from collections.abc import Mapping

from domain.accounts.account_tables import AccountTable

UTC_NAME = "UTC"
"""The zone of accounts without a setting."""

_SAVE = "INSERT INTO account_settings VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET zone = excluded.zone"


_SAVE_PAGES = "INSERT INTO page_settings VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET settings = excluded.settings"


class AccountSettings(AccountTable):
    """The table of settings. Every method may raise StoreUnavailable."""

    def find_zone(self, account: str) -> str:
        """Return the time zone of an account."""
        rows = self._database.execute("SELECT zone FROM account_settings WHERE account = ?", (account,))
        return str(rows[0][0]) if rows else UTC_NAME

    def save_zone(self, account: str, zone: str) -> None:
        """Store the time zone of an account; raise AccountError if the account does not exist."""
        self._for_account(account, lambda execute: execute(_SAVE, (account, zone)))

    def find_page_settings(self, account: str) -> dict[str, str]:
        """Return the settings of an account for pages: those that it has set."""
        rows = self._database.execute("SELECT settings FROM page_settings WHERE account = ?", (account,))
        return dict(json.loads(rows[0][0])) if rows else {}

    def save_page_settings(self, account: str, settings: Mapping[str, str]) -> None:
        """Store the settings of an account for pages; raise AccountError if the account does not exist."""
        self._for_account(account, lambda execute: execute(_SAVE_PAGES, (account, json.dumps(dict(settings)))))


@functools.cache
def list_time_zones() -> frozenset[str]:
    """Return the names of all time zones (IANA): `UTC`, and those of the form `Area/City`."""
    return frozenset(name for name in zoneinfo.available_timezones() if "/" in name or name == UTC_NAME)


def load_zone(name: str) -> zoneinfo.ZoneInfo:
    """Return a time zone, or UTC for a name that this machine does not know."""
    return zoneinfo.ZoneInfo(name if name in list_time_zones() else UTC_NAME)
