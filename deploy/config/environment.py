"""Environment variables: secrets, also from files, and store URLs with certificate checks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from workers.redis_address import SCHEMES, parse_sentinel_url, scheme_of

SECRETS = (
    "ANNALS_DATABASE_URL",
    "ANNALS_MIGRATE_URL",
    "ANNALS_REDIS_URL",
    "ANNALS_KEY",
    "ANNALS_NEW_KEY",
    "ANNALS_SIGNING_KEY",
    "ANNALS_METRICS_TOKEN",
    "ANNALS_SMTP",
)
"""Variables that are secret or can contain a password. Each can also be set as `NAME_FILE`."""

MAX_SECRET_BYTES = 16 * 1024
"""Largest file with a secret, bytes."""

STORE_MODES = ("given", "verified")
"""Connections to stores: as in their URLs, or only over TLS with checked certificates."""


class SettingsError(Exception):
    """A setting is missing or invalid. The message names it, and never repeats a secret."""


def read_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with secrets read from their files, and without empty variables.

    Raises SettingsError for a file that is unreadable or not a single line of text, or if the secret is set as well.
    """
    variables = {name: value for name, value in environ.items() if value}
    for name in SECRETS:
        if path := variables.pop(f"{name}_FILE", ""):
            if name in variables:
                raise SettingsError(f"{name} and {name}_FILE are both given: one of them is expected")
            variables[name] = _read_secret(name, path)
    return variables


def absolute_path(name: str, path: str) -> Path:
    """Return the absolute path of a setting. Raises SettingsError for `~` of an unknown user."""
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError:
        raise SettingsError(f"{name} names a file that cannot be read: there is no such home") from None


def _read_secret(name: str, path: str) -> str:
    # The message omits the path: if the two variables were mixed up, it is the secret itself.
    try:
        with absolute_path(f"{name}_FILE", path).open("rb") as file:
            content = file.read(MAX_SECRET_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "that is no path"
        raise SettingsError(f"{name}_FILE names a file that cannot be read: {why}") from None
    try:
        text = content.decode().strip()
    except UnicodeDecodeError:
        text = ""
    if len(content) > MAX_SECRET_BYTES or not text.isprintable() or not text:
        raise SettingsError(f"{name}_FILE names a file that does not hold a single line of text")
    return text


# --- URLs of stores --------------------------------------------------------------------------------------------


def parse_database_url(
    data: Path, url: str, authority: Path | None = None, *, verified: bool = False
) -> tuple[str, str]:
    """Return the URLs of ledger and views: PostgreSQL, or without a URL, SQLite files in the data folder."""
    if not url:
        # Characters of the path with a meaning in URLs are escaped.
        ledger, views = (f"sqlite:///{quote(str(data / f'{name}.sqlite'))}" for name in ("ledger", "views"))
        return ledger, views
    if urlsplit(url).scheme not in ("postgresql", "postgres"):
        raise SettingsError("ANNALS_DATABASE_URL is postgresql://..., or is left out for SQLite in the data folder")
    url = url.replace("postgres://", "postgresql://", 1)
    url = _require_verification("ANNALS_DATABASE_URL", url, authority) if verified else url
    return url, url


def parse_owner_url(url: str, ledger_url: str, authority: Path | None = None, *, verified: bool = False) -> str:
    """Return the URL for the owner of the tables; empty if the service owns them."""
    scheme, _, rest = url.partition("://")
    if url and (scheme not in ("postgresql", "postgres") or ledger_url.startswith("sqlite:")):
        raise SettingsError("ANNALS_MIGRATE_URL is postgresql://..., and goes with an ANNALS_DATABASE_URL of that kind")
    url = url and f"postgresql://{rest}"
    return _require_verification("ANNALS_MIGRATE_URL", url, authority) if url and verified else url


def parse_redis_url(url: str, authority: Path | None = None, *, verified: bool = False) -> str:
    """Return the URL of Redis; empty for the embedded server."""
    scheme = scheme_of(url)
    if url and scheme not in ("redis", "rediss", "unix", *SCHEMES):
        raise SettingsError(
            "ANNALS_REDIS_URL is redis://, rediss://, unix:// or redis+sentinel://..., or is left out for our own"
            " server"
        )
    try:
        parse_sentinel_url(url)
    except ValueError as error:
        raise SettingsError(f"ANNALS_REDIS_URL: {error}") from None
    if scheme in ("redis", "rediss") and "," in url.partition("://")[2].partition("/")[0].rpartition("@")[2]:
        raise SettingsError(
            "ANNALS_REDIS_URL: several hosts are those of Sentinels, redis+sentinel://HOST,HOST/SERVICE"
        )
    if not verified or scheme in ("", "unix"):  # a socket stays on this machine
        return url
    return _require_redis_verification(url, authority)


def _require_redis_verification(url: str, authority: Path | None) -> str:
    """Return the URL with required parameters and certificate authority. Raises SettingsError if it asks for less."""
    parameters = parse_qs(url.partition("?")[2], keep_blank_values=True)
    checks = {"ssl_cert_reqs": "required", "ssl_check_hostname": "true"}
    lax = any(value.lower() != checks[name] for name in checks for value in parameters.get(name, ()))
    if not scheme_of(url).startswith("rediss") or lax:
        raise SettingsError(
            "ANNALS_STORES=verified: ANNALS_REDIS_URL must be rediss://... or rediss+sentinel://..., and its"
            " certificate be checked"
        )
    own = {} if authority is None or "ssl_ca_certs" in parameters else {"ssl_ca_certs": str(authority)}
    return _add_query(url, {"ssl_cert_reqs": "required"} if "ssl_cert_reqs" not in parameters else {}, own)


_VERIFY_FULL = {"sslmode": "verify-full", "gssencmode": "disable"}
"""Required parameters of a PostgreSQL URL. With GSSAPI the driver would encrypt without a certificate check."""


def _require_verification(name: str, url: str, authority: Path | None) -> str:
    """Return the URL with required parameters and certificate authority. Raises SettingsError if it asks for less."""
    # The driver's own parser: it handles repeated parameters and older names.
    from psycopg import ProgrammingError  # noqa: PLC0415 - SQLite needs no driver
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    try:
        parameters = conninfo_to_dict(url)
    except ProgrammingError:  # its message quotes the URL with its password
        raise SettingsError(f"{name} cannot be read as an address") from None
    if any(parameters.get(part, full) != full for part, full in _VERIFY_FULL.items()):
        raise SettingsError(f"ANNALS_STORES=verified: {name} asks for less than sslmode=verify-full, or for GSSAPI")
    own = {} if authority is None or "sslrootcert" in parameters else {"sslrootcert": str(authority)}
    hosts = str(parameters.get("host", "")).split(",")
    local = all(host.startswith(("/", "@")) for host in hosts)  # sockets without TLS
    if not own and "sslrootcert" not in parameters and not local:
        raise SettingsError("ANNALS_STORES=verified: ANNALS_STORES_CA must name the authority of PostgreSQL")
    return _add_query(url, {part: full for part, full in _VERIFY_FULL.items() if part not in parameters}, own)


def _add_query(url: str, *more: Mapping[str, str]) -> str:
    added = "&".join(f"{name}={quote(value, safe='/')}" for each in more for name, value in each.items())
    return url if not added else f"{url}{'&' if url.partition('?')[2] else '?'}{added}"


def parse_authority(path: str, *, verified: bool) -> Path | None:
    """Return the file with the certificate authority of stores, if set. Raises SettingsError."""
    if not path:
        return None
    file = absolute_path("ANNALS_STORES_CA", path)
    if not verified:
        raise SettingsError("ANNALS_STORES_CA goes with ANNALS_STORES=verified")
    if not file.is_file():
        raise SettingsError(f"ANNALS_STORES_CA: there is no file {file}")
    return file
