"""Parsers of single settings. Each raises SettingsError with the name of the variable."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from deploy.config import environment
from deploy.config.environment import SettingsError
from domain.errors import NoteError
from domain.notifications.email_subscriptions import is_deliverable
from domain.notifications.ip_ranges import is_loopback_ip
from domain.transparency.policy_file import MAX_FILE
from workers.notifications.smtp_settings import parse_smtp_url

LOG_LEVELS = ("debug", "info", "warning", "error")

MAX_WORKERS = 64

MAX_PARTS = 1024

MAX_DAYS = 36_500

MAX_STREAMS = 2000
"""Streams of one process, of which one address may have a part."""

REGISTRATION = ("open", "invitation", "closed")

NO_YES = ("no", "yes")

WEBHOOKS = ("https", "loopback", "none")

SECOND_FACTOR = ("none", "admin", "moderator")

HSTS = ("host", "subdomains")

SIGNING = ("confirmed", "always")

KEY_PATTERN = re.compile(r"[0-9a-fA-F]{64}")

NO_ORIGIN = "none"
"""ANNALS_ORIGINS: no pages of other origins may use the API."""

ORIGIN_PATTERN = re.compile(r"https?://(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")

ORIGIN_NAME = re.compile(r"[!-*,-~]{1,200}")
"""Names of logs: ASCII without spaces and `+`."""

NODE_PATTERN = re.compile(r"[^\s\ufffd]{1,80}")

Parsed = TypeVar("Parsed")


def parse_file(name: str, path: str | None) -> Path | None:
    return environment.absolute_path(name, path) if path else None


def parse_backup(text: str, data: Path, ledger_url: str) -> Path | None:
    if not text:
        return None
    if not ledger_url.startswith("sqlite:"):
        raise SettingsError("ANNALS_BACKUP: with PostgreSQL use its own tools (base backups with archived WAL)")
    path = environment.absolute_path("ANNALS_BACKUP", text)
    real, data_folder = path.resolve(), data.resolve()
    if real.is_relative_to(data_folder) or data_folder.is_relative_to(real):
        raise SettingsError("ANNALS_BACKUP: a folder apart from the data is expected, best on another disk")
    return path


def parse_archive_days(text: str, ledger_url: str) -> int:
    days = parse_number("ANNALS_ARCHIVE_DAYS", text, 0, MAX_DAYS)
    if days and not ledger_url.startswith("sqlite:"):
        raise SettingsError("ANNALS_ARCHIVE_DAYS: with PostgreSQL its owner runs `annals archive DAYS` now and then")
    return days


def parse_key(name: str, text: str) -> str:
    if text and not KEY_PATTERN.fullmatch(text.strip()):
        raise SettingsError(f"{name} is not 64 hex digits")
    return text.strip()


def parse_pumps(text: str, ledger_url: str) -> int:
    pumps = parse_number("ANNALS_PUMPS", text, 1, MAX_WORKERS)
    if pumps > 1 and ledger_url.startswith("sqlite:"):
        raise SettingsError("ANNALS_PUMPS must be 1 with SQLite, which has one writer")
    return pumps


def parse_number(name: str, value: Any, lowest: int, highest: int) -> int:
    try:
        number = int(value)
    except ValueError:
        number = lowest - 1
    if not lowest <= number <= highest:
        raise SettingsError(f"{name}: a whole number from {lowest} to {highest} is expected")
    return number


def parse_rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = -1
    if not 0 <= rate <= 1_000_000:
        raise SettingsError("ANNALS_RATE: requests a second are expected, or 0 for no limit")
    return rate


def parse_list(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def parse_origins(text: str) -> tuple[str, ...]:
    origins = () if text.strip() == NO_ORIGIN else parse_list(text)
    if not all(origin == "*" or ORIGIN_PATTERN.fullmatch(origin) for origin in origins) or (
        "*" in origins and len(origins) > 1
    ):
        raise SettingsError(
            "ANNALS_ORIGINS: `*`, `none`, or origins such as https://play.example:8443 with commas between are"
            " expected, in small letters and without a path"
        )
    return origins


def parse_choice(name: str, text: str, known: tuple[str, ...]) -> str:
    if text.strip() not in known:
        raise SettingsError(f"{name}: one of {', '.join(known)} is expected")
    return text.strip()


def parse_plain_http(text: str) -> bool:
    if text.strip() not in NO_YES:
        raise SettingsError(f"ANNALS_PLAIN_HTTP: one of {', '.join(NO_YES)} is expected")
    return text.strip() == "yes"


def is_loopback(host: str) -> bool:
    """Return whether only this machine can connect to the host. The only accepted name is `localhost`."""
    return host == "localhost" or is_loopback_ip(host)


def parse_public_url(text: str) -> str:
    url = text.strip().rstrip("/")
    url = url.removesuffix(":443") if url.startswith("https:") else url.removesuffix(":80")
    parts = urlsplit(url)
    # Passkeys belong to host names, and third-party programs send secrets: both need TLS, except on one machine.
    fits = parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.netloc and parts.path:
        raise SettingsError(
            "ANNALS_PUBLIC_URL: a URL without a path is expected. The service cannot lie below one, since its pages,"
            " cookies and passkeys belong to a whole host: give it a host such as play.example.org, or a port, of its"
            " own"
        )
    if url and not (fits and ORIGIN_PATTERN.fullmatch(url)):
        raise SettingsError("ANNALS_PUBLIC_URL: https://, a host in small letters and at most a port are expected")
    return url


def parse_log_origin(text: str) -> str:
    """Return the name of the log; raise SettingsError."""
    if text and not ORIGIN_NAME.fullmatch(text):
        raise SettingsError("ANNALS_LOG_ORIGIN: a name such as example.org/annals, without spaces and +, is expected")
    return text


def parse_policy(name: str, path: Path | None, parse: Callable[[str], Parsed]) -> Parsed:
    """Return the content of a file with lines of a policy; raise SettingsError."""
    try:
        with path.open("rb") if path else BytesIO() as file:
            data = file.read(MAX_FILE + 1)
        return parse(data.decode() if len(data) <= MAX_FILE else "too long")
    except (OSError, ValueError) as error:
        raise SettingsError(f"{name}: {path} cannot be read: {getattr(error, 'strerror', None) or 'no text'}") from None
    except NoteError as error:
        raise SettingsError(f"{name}: {path}: {error.detail} is not as expected") from None


def parse_mail(smtp: str, sender: str, public_url: str) -> tuple[str, str]:
    if not smtp:
        return "", ""
    try:
        parse_smtp_url(smtp)
    except ValueError:  # its message would repeat parts of the URL
        raise SettingsError(
            "ANNALS_SMTP: smtp://user:password@host:port or smtps://... is expected, signs of the password escaped, and"
            " of smtp:// at most ?starttls=no after it"
        ) from None
    if not is_deliverable(sender):
        raise SettingsError("ANNALS_MAIL_FROM: the address in whose name mail is sent is expected with ANNALS_SMTP")
    if not public_url:
        raise SettingsError("ANNALS_PUBLIC_URL is expected with ANNALS_SMTP: mails hold links to the service")
    return smtp, sender


def parse_networks(name: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(str(ipaddress.ip_network(part)) for part in parse_list(text))
    except ValueError:
        raise SettingsError(
            f"{name}: addresses or networks (192.0.2.0/24, 2001:db8::1) with commas between are expected"
        ) from None


def parse_log_level(level: str) -> str:
    if level.lower() not in LOG_LEVELS:
        raise SettingsError(f"log level: one of {', '.join(LOG_LEVELS)} is expected")
    return level.lower()


def read_text(path: Path) -> str:
    """Read a small text file. Invalid bytes become U+FFFD, a character that no valid file contains."""
    return path.read_text(encoding="utf-8", errors="replace").strip()
