"""All tables of accounts, over one database."""

from __future__ import annotations

from collections.abc import Callable

from domain.accounts import account_tables, oauth_clients, oauth_devices, oauth_grants, passkeys
from domain.accounts.abuse_reports import AbuseReports
from domain.accounts.account_settings import AccountSettings
from domain.accounts.accounts import Accounts
from domain.accounts.audit_log import AuditLog
from domain.accounts.calendar_keys import CalendarKeys
from domain.accounts.credentials import Credentials
from domain.accounts.oauth_clients import OAuthClients
from domain.accounts.oauth_devices import DeviceLogins
from domain.accounts.oauth_grants import OAuthGrants
from domain.accounts.page_visits import PageVisits
from domain.accounts.passkeys import Passkeys
from domain.accounts.passwords import Passwords
from domain.accounts.personal_tokens import PersonalTokens
from domain.accounts.recovery_codes import RecoveryCodes
from domain.accounts.second_factors import SecondFactors
from domain.accounts.session_links import SessionLinks
from domain.accounts.sessions import Sessions
from domain.accounts.signed_forms import SignedForms
from domain.accounts.social import SocialGraph
from domain.service.database import Database, create_tables
from domain.service.keyring import Keyring


class AccountStore:
    """Facade over the tables of accounts, and the hasher of passwords.

    `keys` derive ids and secrets of requests, `clock` returns ms since 1970.
    """

    def __init__(self, database: Database, keys: Keyring, clock: Callable[[], int] = account_tables.now) -> None:
        self._database, self.clock = database, clock
        self.settings = AccountSettings(database, keys, clock)
        self.page_visits = PageVisits(database, keys, clock)
        self.calendar_keys = CalendarKeys(database, keys, clock)
        self.accounts = Accounts(database, keys, clock)
        self.credentials = Credentials(database, keys, clock)
        self.sessions = Sessions(database, keys, clock)
        self.session_links = SessionLinks(database, keys, clock)
        self.personal_tokens = PersonalTokens(database, keys, clock)
        self.recovery_codes = RecoveryCodes(database, keys, clock)
        self.audit_log = AuditLog(database, keys, clock)
        self.reports = AbuseReports(database, keys, clock)
        self.social_graph = SocialGraph(database, keys, clock)
        self.oauth_clients = OAuthClients(database, keys, clock)
        self.oauth_grants = OAuthGrants(database, keys, clock)
        self.device_logins = DeviceLogins(database, keys, clock)
        self.second_factors = SecondFactors(database, keys, clock)
        self.passkeys = Passkeys(database, keys, clock)
        self.signed_forms = SignedForms(database, keys, clock)
        self.passwords = Passwords()

    def migrate(self) -> None:
        """Create missing tables. Safe to repeat, and to run in several processes at once."""
        account_tables.migrate(self._database)
        create_tables(
            self._database, [*oauth_clients.TABLES, *oauth_grants.TABLES, *oauth_devices.TABLES, *passkeys.TABLES]
        )

    def is_credential_alive(self, credential: str) -> bool:
        """Return whether a session, personal token or grant is still valid; long streams check it now and then."""
        return self.credentials.is_alive(credential) or self.oauth_grants.is_alive(credential)
