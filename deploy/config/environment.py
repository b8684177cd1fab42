"""What the environment gives: secrets, also from files, and the addresses of stores, whose certificates are checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

SECRETS = (
    "ANNALS_DATABASE_URL",
    "ANNALS_MIGRATE_URL",
    "ANNALS_REDIS_URL",
    "ANNALS_KEY",
    "ANNALS_NEW_KEY",
    "ANNALS_METRICS_TOKEN",
    "ANNALS_SMTP",
)
"""Settings that are secret, or may hold a password: each may be given as `NAME_FILE` as well."""

LONGEST = 16 * 1024
"""Bytes of a file with a secret."""

STORES = ("given", "verified")
"""How stores are spoken to: as their addresses say, or by TLS with certificates that are checked alone."""


class SettingsError(Exception):
    """A setting is missing or makes no sense; the message says which, and never repeats a secret."""


def opened(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with each secret in place of the name of its file, and without what is empty.

    Raises SettingsError for a file that cannot be read, holds no single line of text, or stands beside the secret.
    """
    found = {name: value for name, value in environ.items() if value}
    for name in SECRETS:
        if path := found.pop(f"{name}_FILE", ""):
            if name in found:
                raise SettingsError(f"{name} and {name}_FILE are both given: one of them is expected")
            found[name] = _line_of(name, path)
    return found


def located(name: str, path: str) -> Path:
    """The absolute path that a setting names; raises SettingsError for the home of somebody who is unknown."""
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError:
        raise SettingsError(f"{name} names a file that cannot be read: there is no such home") from None


def _line_of(name: str, path: str) -> str:
    # The path is not repeated: where somebody has mistaken the setting, it is the secret itself.
    try:
        with located(f"{name}_FILE", path).open("rb") as file:
            held = file.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "that is no path"
        raise SettingsError(f"{name}_FILE names a file that cannot be read: {why}") from None
    try:
        text = held.decode().strip()
    except UnicodeDecodeError:
        text = ""
    if len(held) > LONGEST or not text.isprintable() or not text:
        raise SettingsError(f"{name}_FILE names a file that does not hold a single line of text")
    return text


# --- addresses of stores ---------------------------------------------------------------------------------------


def databases(data: Path, url: str, authority: Path | None = None, *, verified: bool = False) -> tuple[str, str]:
    """Where log and views are: that PostgreSQL, or without an address files of the data folder."""
    if not url:
        # The path is an address's: what an address would read as something else is written in its escaped form.
        ledger, views = (f"sqlite:///{quote(str(data / f'{name}.sqlite'))}" for name in ("ledger", "views"))
        return ledger, views
    if urlsplit(url).scheme not in ("postgresql", "postgres"):
        raise SettingsError("ANNALS_DATABASE_URL is postgresql://..., or is left out for SQLite in the data folder")
    url = url.replace("postgres://", "postgresql://", 1)
    url = _checking("ANNALS_DATABASE_URL", url, authority) if verified else url
    return url, url


def owner(url: str, ledger_url: str, authority: Path | None = None, *, verified: bool = False) -> str:
    """Where the owner of the tables speaks to the same database; nothing if that is the service."""
    scheme, _, rest = url.partition("://")
    if url and (scheme not in ("postgresql", "postgres") or ledger_url.startswith("sqlite:")):
        raise SettingsError("ANNALS_MIGRATE_URL is postgresql://..., and goes with an ANNALS_DATABASE_URL of that kind")
    url = url and f"postgresql://{rest}"
    return _checking("ANNALS_MIGRATE_URL", url, authority) if url and verified else url


def redis(url: str, authority: Path | None = None, *, verified: bool = False) -> str:
    """Where Redis is; nothing for a server of our own."""
    scheme = urlsplit(url).scheme
    if url and scheme not in ("redis", "rediss", "unix"):
        raise SettingsError("ANNALS_REDIS_URL is redis://, rediss:// or unix://..., or is left out for our own server")
    if not verified or scheme in ("", "unix"):  # a socket does not leave this machine
        return url
    asked = parse_qs(urlsplit(url).query, keep_blank_values=True)
    checks = {"ssl_cert_reqs": "required", "ssl_check_hostname": "true"}
    lax = any(value.lower() != checks[name] for name in checks for value in asked.get(name, ()))
    if scheme != "rediss" or lax:
        raise SettingsError(
            "ANNALS_STORES=verified: ANNALS_REDIS_URL must be rediss://..., and its certificate be checked"
        )
    own = {} if authority is None or "ssl_ca_certs" in asked else {"ssl_ca_certs": str(authority)}
    return _with(url, {"ssl_cert_reqs": "required"} if "ssl_cert_reqs" not in asked else {}, own)


_FULL = {"sslmode": "verify-full", "gssencmode": "disable"}
"""What an address of PostgreSQL must ask for: with GSSAPI the driver would encrypt and look at no certificate."""


def _checking(name: str, url: str, authority: Path | None) -> str:
    """The address with what it must ask for and an authority; raises SettingsError for one that asks for less."""
    # The driver's own reader: it knows what the last of two says, and older words for the same.
    from psycopg import ProgrammingError  # noqa: PLC0415 - SQLite's users need no driver
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    try:
        asked = conninfo_to_dict(url)
    except ProgrammingError:  # its message quotes the address, in which a password stands
        raise SettingsError(f"{name} cannot be read as an address") from None
    if any(asked.get(part, full) != full for part, full in _FULL.items()):
        raise SettingsError(f"ANNALS_STORES=verified: {name} asks for less than sslmode=verify-full, or for GSSAPI")
    own = {} if authority is None or "sslrootcert" in asked else {"sslrootcert": str(authority)}
    local = all(host.startswith(("/", "@")) for host in str(asked.get("host", "")).split(","))  # sockets: no TLS there
    if not own and "sslrootcert" not in asked and not local:
        raise SettingsError("ANNALS_STORES=verified: ANNALS_STORES_CA must name the authority of PostgreSQL")
    return _with(url, {part: full for part, full in _FULL.items() if part not in asked}, own)


def _with(url: str, *more: Mapping[str, str]) -> str:
    added = "&".join(f"{name}={quote(value, safe='/')}" for each in more for name, value in each.items())
    return url if not added else f"{url}{'&' if urlsplit(url).query else '?'}{added}"


def authority(path: str, *, verified: bool) -> Path | None:
    """The file with the authority that must have signed the certificates of stores."""
    if not path:
        return None
    found = located("ANNALS_STORES_CA", path)
    if not verified:
        raise SettingsError("ANNALS_STORES_CA goes with ANNALS_STORES=verified")
    if not found.is_file():
        raise SettingsError(f"ANNALS_STORES_CA: there is no file {found}")
    return found
