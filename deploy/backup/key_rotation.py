"""Rotation of the master key in two steps. Between them, both keys open the ledger; each step can be repeated.

The first step admits the new key and installs it in the data folder. After all processes have restarted, the second
step revokes the old key. Records are not rewritten: only the keyring is wrapped again.
"""

from __future__ import annotations

import logging

from deploy.config.settings import Settings, SettingsError
from deploy.runtime.supervisor import hold_lock
from domain.ledger import Ledger
from domain.notifications.notification_store import NotificationStore
from domain.service.keyring import fingerprint
from domain.service.seed_store import SeedStore

log = logging.getLogger("annals.security")

FINGERPRINT_DIGITS = 16
"""Digits shown of a key's fingerprint."""


def begin_rotation(settings: Settings) -> str:
    """Admit the new key; return the next step as text. Raises SettingsError, WrongKey."""
    old = settings.load_key()
    ledger = Ledger.open(settings.ledger_url, old)
    try:
        ledger.keys.check()
        if ledger.keys.count_master_keys() > 1 and not settings.next_key_file.exists() and not settings.new_key:
            raise SettingsError("the key is being changed: start all processes anew, then --finish")
        new = settings.load_next_key()
        SeedStore(ledger, ledger.keys).reseal()
        ledger.keys.add_master_key(new)
        settings.install_next_key()
    finally:
        ledger.close()
    log.warning(
        "key_admitted: %s beside %s", fingerprint(new)[:FINGERPRINT_DIGITS], fingerprint(old)[:FINGERPRINT_DIGITS]
    )
    where = "with ANNALS_KEY set to it" if settings.environment_key else "which lies in the data folder"
    admitted = fingerprint(new)[:FINGERPRINT_DIGITS]
    return f"key {admitted} opens the ledger too; start all processes anew, {where}, then --finish"


def finish_rotation(settings: Settings) -> str:
    """Revoke all keys but the current one; return the result as text. Raises SettingsError, WrongKey."""
    if settings.next_key_file.exists():
        raise SettingsError("the new key has not taken its place: run rotate-key without --finish first")
    if _is_old_service_running(settings):
        raise SettingsError("the service was started before the key was changed: start it anew first")
    ledger = Ledger.open(settings.ledger_url, settings.load_key())
    try:
        others = ledger.keys.complete_rotation()
    finally:
        ledger.close()
    shown = fingerprint(settings.load_key())[:FINGERPRINT_DIGITS]
    if others:
        log.warning("key_changed: %s alone opens the ledger", shown)
    return f"only key {shown} opens the ledger" + ("" if others else ", as before; there was nothing to finish")


def rotate_push_key(settings: Settings) -> str:
    """Make another key for web push to new browsers; return its id as text. Raises WrongKey."""
    ledger = Ledger.open(settings.ledger_url, settings.load_key())
    try:
        made = NotificationStore(ledger, ledger.keys).push_devices.rotate_key()
    finally:
        ledger.close()
    return f"new browsers get key {made}; the others are told with the key that they know"


def _is_old_service_running(settings: Settings) -> bool:
    """Return whether a `serve` on this folder may still use the old key."""
    lock = settings.data / "lock"
    if settings.environment_key or not lock.exists() or lock.stat().st_mtime > settings.key_file.stat().st_mtime:
        return False
    try:
        with hold_lock(lock):
            return False
    except SettingsError:
        return True
