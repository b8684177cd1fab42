"""The TLS certificate of nginx: certificate and key in one file, installed only if they match."""

from __future__ import annotations

import logging
import os
import ssl
from pathlib import Path

from deploy.config.settings import Settings, SettingsError

log = logging.getLogger("annals.front")

_reported_errors: set[str] = set()
"""Errors that were logged, so that each is logged once."""


FILE_NAME = "certificate"
"""File name in the folder of nginx."""


def certificate_path(folder: Path) -> Path:
    """Return the path of the certificate file that nginx reads."""
    return folder / FILE_NAME


def install(settings: Settings, folder: Path) -> None:
    """Install the certificate and key of the settings, if set. Raises SettingsError if they are invalid."""
    if settings.tls_cert is None or settings.tls_key is None:
        return
    try:
        text = settings.tls_cert.read_text("utf-8") + "\n" + settings.tls_key.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise SettingsError(f"the certificate cannot be read: {error}") from None
    draft = certificate_path(folder).with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(draft, password=_refuse_password)
    except (ssl.SSLError, ValueError):
        draft.unlink()
        raise SettingsError(f"{settings.tls_cert} and {settings.tls_key} are no certificate with its key") from None
    draft.replace(certificate_path(folder))


def install_if_changed(settings: Settings, folder: Path) -> None:
    """Install the certificate again if its files changed. Log each error once and keep the installed one."""
    if settings.tls_cert is None or settings.tls_key is None:
        return
    try:
        changed = max(path.stat().st_mtime_ns for path in (settings.tls_cert, settings.tls_key))
        if changed <= certificate_path(folder).stat().st_mtime_ns:
            return
        install(settings, folder)
        _reported_errors.clear()
        log.warning("the certificate was renewed")
    except (SettingsError, OSError) as error:
        if str(error) not in _reported_errors:
            _reported_errors.add(str(error))
            log.warning("the certificate stays as it was: %s", error)


def unverified_context() -> ssl.SSLContext:
    """Return a TLS context for requests to our own port, without certificate checks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _refuse_password() -> str:
    raise ValueError("a key with a password cannot be read by a service")
