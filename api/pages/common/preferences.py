"""Preferences of a visitor for pages: language, time zone, text size, motion, contrast, confirmation of each move."""

from __future__ import annotations

from dataclasses import dataclass, field

from flask import g, request

from api.services import services
from domain.accounts.account_settings import UTC_NAME, list_time_zones
from domain.accounts.credential_tables import CredentialOwner
from domain.kernel.text.message_catalog import LANGUAGES

CHOICES = {
    "language": ("", *LANGUAGES),
    "size": ("", "large", "larger"),
    "motion": ("", "none"),
    "contrast": ("", "high"),
    "confirm": ("", "always"),
}
"""Setting -> its values. The first follows the browser, or is the usual one."""


ZONE_COOKIE = "zone"
"""Cookie with the time zone of the browser, for visitors who have chosen none."""


@dataclass(frozen=True)
class Preferences:
    """Settings of an account for pages, and its time zone."""

    zone: str = UTC_NAME
    settings: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.settings.get(name, "")

    @property
    def classes(self) -> str:
        """Return the classes of the document."""
        return " ".join(f"{name}-{self[name]}" for name in ("size", "motion", "contrast") if self[name])


def load_preferences(owner: CredentialOwner | None) -> None:
    """Load the preferences of the visitor for this request."""
    g.preferences = Preferences(_browser_zone())
    if owner is not None:
        store = services().account_store.settings
        settings = read_settings(store.find_page_settings(owner.account))
        zone = store.find_zone(owner.account)
        g.preferences = Preferences(_browser_zone() if zone == UTC_NAME else zone, settings)
    g.page_language = g.preferences["language"]


def _browser_zone() -> str:
    """Return the time zone of the browser, as a script has read it, or UTC."""
    zone = request.cookies.get(ZONE_COOKIE, "")
    return zone if zone in list_time_zones() else UTC_NAME


def read_settings(sent: dict[str, str]) -> dict[str, str]:
    """Return the settings among some values, without unknown ones."""
    return {name: sent[name] for name, values in CHOICES.items() if sent.get(name) in values and sent[name]}


def current_preferences() -> Preferences:
    """Return the preferences of the visitor."""
    found: Preferences = g.get("preferences") or Preferences()
    return found
