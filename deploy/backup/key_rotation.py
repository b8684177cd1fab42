"""Another master key, in two steps of which each may be killed and repeated; between them both keys open the ledger.

First the new key is admitted, and takes the old one's place in the data folder. Once every process has begun with it,
the second step lets it alone open the ledger. Records are not written again: only the ring of keys is wrapped anew.
"""

from __future__ import annotations

import logging

from deploy.config.settings import Settings, SettingsError
from deploy.runtime.supervisor import alone
from domain.ledger import Ledger
from domain.service.keyring import fingerprint
from domain.service.seed_store import SeedStore

log = logging.getLogger("annals.security")

SHOWN = 16
"""Digits of a key's mark that are shown."""


def begin(settings: Settings) -> str:
    """Admit the new key; raises SettingsError, WrongKey."""
    old = settings.key()
    ledger = Ledger.open(settings.ledger_url, old)
    try:
        ledger.keys.check()
        if ledger.keys.count_master_keys() > 1 and not settings.next_key_file.exists() and not settings.new_key:
            raise SettingsError("the key is being changed: start all processes anew, then --finish")
        new = settings.next_key()
        SeedStore(ledger, ledger.keys).reseal()
        ledger.keys.add_master_key(new)
        settings.take_next_key()
    finally:
        ledger.close()
    log.warning("key_admitted: %s beside %s", fingerprint(new)[:SHOWN], fingerprint(old)[:SHOWN])
    where = "with ANNALS_KEY set to it" if settings.given_key else "which lies in the data folder"
    return f"key {fingerprint(new)[:SHOWN]} opens the ledger too; start all processes anew, {where}, then --finish"


def finish(settings: Settings) -> str:
    """Let no other key open the ledger; raises SettingsError, WrongKey."""
    if settings.next_key_file.exists():
        raise SettingsError("the new key has not taken its place: run rotate-key without --finish first")
    if _older(settings):
        raise SettingsError("the service was started before the key was changed: start it anew first")
    ledger = Ledger.open(settings.ledger_url, settings.key())
    try:
        others = ledger.keys.complete_rotation()
    finally:
        ledger.close()
    shown = fingerprint(settings.key())[:SHOWN]
    if others:
        log.warning("key_changed: %s alone opens the ledger", shown)
    return f"only key {shown} opens the ledger" + ("" if others else ", as before; there was nothing to finish")


def _older(settings: Settings) -> bool:
    """Whether a `serve` on this folder may still have the key of before."""
    lock = settings.data / "lock"
    if settings.given_key or not lock.exists() or lock.stat().st_mtime > settings.key_file.stat().st_mtime:
        return False
    try:
        with alone(lock):
            return False
    except SettingsError:
        return True
