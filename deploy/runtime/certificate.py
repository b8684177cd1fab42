"""The certificate that the front shows: certificate and key in one file, taken over only if they fit each other."""

from __future__ import annotations

import logging
import os
import ssl
from pathlib import Path

from deploy.config.settings import Settings, SettingsError

log = logging.getLogger("annals.front")

_refused: set[str] = set()
"""What was said of files that are no use, so that it is said once."""


NAME = "certificate"
"""Of the file in the front's folder."""


def kept(folder: Path) -> Path:
    """Where the front reads it."""
    return folder / NAME


def take(settings: Settings, folder: Path) -> None:
    """Put what the settings name in its place, if they name any; raises SettingsError for what is no certificate."""
    if settings.tls_cert is None or settings.tls_key is None:
        return
    try:
        text = settings.tls_cert.read_text() + "\n" + settings.tls_key.read_text()
    except (OSError, ValueError) as error:
        raise SettingsError(f"the certificate cannot be read: {error}") from None
    draft = kept(folder).with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(draft, password=_no_password)
    except (ssl.SSLError, ValueError):
        draft.unlink()
        raise SettingsError(f"{settings.tls_cert} and {settings.tls_key} are no certificate with its key") from None
    draft.replace(kept(folder))


def renew(settings: Settings, folder: Path) -> None:
    """Take it again if it was changed since; what is no use is told of once, and the one before stays."""
    if settings.tls_cert is None or settings.tls_key is None:
        return
    try:
        changed = max(path.stat().st_mtime_ns for path in (settings.tls_cert, settings.tls_key))
        if changed <= kept(folder).stat().st_mtime_ns:
            return
        take(settings, folder)
        _refused.clear()
        log.warning("the certificate was renewed")
    except (SettingsError, OSError) as error:
        if str(error) not in _refused:
            _refused.add(str(error))
            log.warning("the certificate stays as it was: %s", error)


def unchecked() -> ssl.SSLContext:
    """For asking our own port, whoever its certificate is for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _no_password() -> str:
    raise ValueError("a key with a password cannot be read by a service")
