"""Settings: from flags, then from the environment, then for one machine with nothing but a data folder.

docs/operations.md lists them.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy.config import environment
from deploy.config.environment import STORES, SettingsError
from deploy.config.key_files import key_in, make_file, make_key, sync_folder
from deploy.config.setting_values import (
    HSTS,
    MOST_PARTS,
    MOST_WORKERS,
    NO_ORIGIN,
    NODE,
    PLAIN,
    REGISTRATION,
    SECOND_FACTOR,
    WEBHOOKS,
    is_loopback,
    parse_archive_days,
    parse_backup,
    parse_choice,
    parse_file,
    parse_key,
    parse_log_level,
    parse_mail,
    parse_networks,
    parse_number,
    parse_origins,
    parse_plain,
    parse_public_url,
    parse_pumps,
    parse_rate,
    read_text,
)

__all__ = ["Settings", "SettingsError", "key_in", "load"]


@dataclass(frozen=True)
class Settings:
    """What a process of the service must know. Addresses may hold passwords, so they are not shown."""

    data: Path
    """Absolute. Keeps the databases of SQLite, the key, the lock and the embedded server's files."""
    ledger_url: str = field(repr=False)
    views_url: str = field(repr=False)
    migrate_url: str = field(repr=False, default="")
    """Of the role that owns the tables; empty: that of the service owns them."""
    redis_url: str = field(repr=False, default="")
    """Empty: a server of our own is to be started."""
    given_key: str = field(repr=False, default="")
    """Hex, from the environment; empty: the file in the data folder."""
    new_key: str = field(repr=False, default="")
    """Hex, from the environment, where that gives the key: the one that is to take its place."""
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    """Processes that do turns and deadlines; one more does audits and rebuilds."""
    pumps: int = 1
    """Processes that make the views; with SQLite one."""
    parts: int = 0
    """Into how many parts the games of new views are divided; 0 for what suits the database."""
    log_level: str = "warning"
    rate: float = 50.0
    """Costly requests a second for each caller of the API; 0 for no limit."""
    tables: int = 120
    """Tables that one address may open in an hour."""
    registration: str = "open"
    """Who may open an account."""
    public_url: str = ""
    """By which scheme, host and port people find the service; empty: it is for this machine."""
    second_factor: str = "none"
    """Who must have a second factor to use a role: nobody, administrators, or moderators too."""
    webhooks: str = "https"
    """Where webhooks may lead: to the network by TLS, also to this machine in plain form, or nowhere."""
    smtp: str = field(repr=False, default="")
    """The server to which mail is handed over, `smtps://user:password@host`; empty: none is sent."""
    mail_from: str = ""
    """In whose name mail is sent: an address."""
    origins: tuple[str, ...] = ("*",)
    """Other origins whose pages may use the API with tokens; `*` for all: no cookie counts there."""
    metrics_token: str = field(repr=False, default="")
    """What a scraper of /metrics sends; without it they are for this machine alone."""
    scrub: int = 200
    """Records that are read against the tree in a second; 0 for none."""
    backup: Path | None = None
    """Absolute: the folder of the running backup; only with SQLite."""
    backup_days: int = 7
    """For how many days the running backup can be put back."""
    archive_days: int = 0
    """How many days after its end a game is archived by the keeper; 0 for never. Only with SQLite."""
    trusted_proxies: tuple[str, ...] = ()
    """Networks of proxies in front, which are believed when they tell for whom they ask."""

    tls_cert: Path | None = None
    """The certificate with its chain, and beside it the key: the port speaks TLS then."""
    tls_key: Path | None = None

    stores: str = STORES[0]
    """How PostgreSQL and Redis are spoken to: as their addresses say, or by TLS with checked certificates alone."""
    stores_ca: Path | None = None
    """Absolute: the authority that must have signed those certificates."""
    hsts: str = HSTS[0]
    """For which hosts browsers remember TLS: this one, or its subdomains too."""

    plain: bool = False
    """Whether it may listen to a network without TLS, since somebody else sees to that."""

    def check_transport(self) -> None:
        """Raises SettingsError where tokens and passwords would go over a network as they are."""
        if not (self.tls_cert or self.trusted_proxies or self.plain or is_loopback(self.host)):
            raise SettingsError(
                f"{self.host} is no address of this machine alone, and tokens would be sent in the clear: give a"
                " certificate (ANNALS_TLS_CERT), name the proxy that speaks TLS (ANNALS_TRUSTED_PROXIES), or set"
                " ANNALS_PLAIN_HTTP=yes where the network itself is safe"
            )

    @property
    def url(self) -> str:
        """Where the service is spoken to."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls_cert else 'http'}://{host}:{self.port}"

    @property
    def owner_url(self) -> str:
        """Where tables are made, and the log is repaired."""
        return self.migrate_url or self.ledger_url

    @property
    def sqlite(self) -> bool:
        """Whether everything is kept in files of the data folder."""
        return self.ledger_url.startswith("sqlite:")

    @property
    def ledger_file(self) -> Path:
        """Only with SQLite."""
        return self.data / "ledger.sqlite"

    @property
    def views_file(self) -> Path:
        """Only with SQLite."""
        return self.data / "views.sqlite"

    @property
    def key_file(self) -> Path:
        """Where the master key is unless the environment gives it."""
        return self.data / "key"

    def prepare(self) -> None:
        """Make the data folder, for its owner alone: secrets of games rest in it."""
        try:
            self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(f"the data folder {self.data} cannot be made: {error.strerror}") from error
        if not os.access(self.data, os.W_OK | os.X_OK):
            raise SettingsError(f"the data folder {self.data} cannot be written")

    def held(self) -> None:
        """Raises SettingsError for a folder in which there is no service, and makes nothing in it."""
        lost = self.sqlite and self.ledger_file.exists()  # of which `key` tells
        if not self.given_key and not self.key_file.exists() and not lost:
            raise SettingsError(f"{self.data} holds no service; `annals serve` makes one")

    def key(self) -> bytes:
        """The master key (32 bytes). The file is made on first use, and never again once there is a ledger."""
        if self.given_key:
            return bytes.fromhex(self.given_key)
        if not self.key_file.exists():
            if self.sqlite and self.ledger_file.exists():
                raise SettingsError(f"{self.key_file} is missing, and the ledger's seeds open with no other key")
            make_key(self.key_file)
        return key_in(self.key_file)

    @property
    def next_key_file(self) -> Path:
        """The key that is to take the place of the one in the data folder."""
        return self.data / "key.next"

    def next_key(self) -> bytes:
        """The new key: the environment's if the old one is, else one that is made, once, until it is taken."""
        if self.given_key:
            if not self.new_key or self.new_key == self.given_key:
                raise SettingsError("ANNALS_NEW_KEY must give the key that is to take the place of ANNALS_KEY")
            return bytes.fromhex(self.new_key)
        if not self.next_key_file.exists():
            make_key(self.next_key_file)
        return key_in(self.next_key_file)

    def take_next_key(self) -> None:
        """Put the new key in the old one's place, in the data folder if the key is there."""
        if not self.given_key:
            self.next_key_file.replace(self.key_file)
            sync_folder(self.data)

    def node(self) -> str:
        """The name of this data folder's processes in leases: they are not kept from each other's by a restart."""
        path = self.data / "node"
        if not path.exists():
            make_file(path, f"{socket.gethostname()[:40]}-{secrets.token_hex(8)}\n")
        name = read_text(path)
        if not NODE.fullmatch(name):
            raise SettingsError(f"{path} does not hold a name; it can be deleted, and is made anew")
        return name

    def environ(self) -> dict[str, str]:
        """The same settings for a child process."""
        told = {
            "ANNALS_DATA": str(self.data),
            "ANNALS_DATABASE_URL": "" if self.sqlite else self.ledger_url,
            "ANNALS_REDIS_URL": self.redis_url,
            "ANNALS_KEY": self.given_key,
            "ANNALS_HOST": self.host,
            "ANNALS_PORT": str(self.port),
            "ANNALS_WORKERS": str(self.workers),
            "ANNALS_PUMPS": str(self.pumps),
            "ANNALS_PARTS": str(self.parts),
            "ANNALS_LOG_LEVEL": self.log_level,
            "ANNALS_RATE": str(self.rate),
            "ANNALS_TABLES": str(self.tables),
            "ANNALS_REGISTRATION": self.registration,
            "ANNALS_PUBLIC_URL": self.public_url,
            "ANNALS_SECOND_FACTOR": self.second_factor,
            "ANNALS_WEBHOOKS": self.webhooks,
            "ANNALS_SMTP": self.smtp,
            "ANNALS_MAIL_FROM": self.mail_from,
            "ANNALS_ORIGINS": ",".join(self.origins) or NO_ORIGIN,
            "ANNALS_SCRUB": str(self.scrub),
            "ANNALS_BACKUP": str(self.backup or ""),
            "ANNALS_BACKUP_DAYS": str(self.backup_days),
            "ANNALS_ARCHIVE_DAYS": str(self.archive_days),
            "ANNALS_METRICS_TOKEN": self.metrics_token,
            "ANNALS_TRUSTED_PROXIES": ",".join(self.trusted_proxies),
            "ANNALS_STORES": self.stores,
            "ANNALS_STORES_CA": str(self.stores_ca or ""),
            "ANNALS_HSTS": self.hsts,
            "ANNALS_PLAIN_HTTP": PLAIN[self.plain],
            "ANNALS_TLS_CERT": str(self.tls_cert or ""),
            "ANNALS_TLS_KEY": str(self.tls_key or ""),
        }
        return {name: value for name, value in told.items() if value}


def load(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Flags (by field, None for one that was not given) before the environment before defaults; raises SettingsError.

    An empty variable counts as none. Secrets may come from files; those of this process' own environment stand in it
    from now on, so that its logs hide them and its children need no file.
    """
    flag = {name: value for name, value in (flags or {}).items() if value is not None}
    env = environment.opened(os.environ if environ is None else environ)
    if environ is None:
        _take(env)
    data = environment.located("ANNALS_DATA", str(flag.get("data") or env.get("ANNALS_DATA") or "var"))
    stores = parse_choice("ANNALS_STORES", env.get("ANNALS_STORES", STORES[0]), STORES)
    verified = stores == "verified"
    authority = environment.authority(env.get("ANNALS_STORES_CA", ""), verified=verified)
    database = flag.get("database") or env.get("ANNALS_DATABASE_URL", "")
    ledger_url, views_url = environment.databases(data, database, authority, verified=verified)
    tls = {name: f"ANNALS_TLS_{name.upper()}" for name in ("cert", "key")}
    tls_cert, tls_key = (parse_file(name, flag.get(f"tls_{n}") or env.get(name)) for n, name in tls.items())
    public_url = parse_public_url(env.get("ANNALS_PUBLIC_URL", ""))
    smtp, mail_from = parse_mail(
        env.get("ANNALS_SMTP", "").strip(), env.get("ANNALS_MAIL_FROM", "").strip(), public_url
    )
    if (tls_cert is None) != (tls_key is None):
        raise SettingsError("ANNALS_TLS_CERT and ANNALS_TLS_KEY belong together")
    return Settings(
        data,
        ledger_url,
        views_url,
        environment.owner(env.get("ANNALS_MIGRATE_URL", ""), ledger_url, authority, verified=verified),
        environment.redis(env.get("ANNALS_REDIS_URL", ""), authority, verified=verified),
        parse_key("ANNALS_KEY", env.get("ANNALS_KEY", "")),
        parse_key("ANNALS_NEW_KEY", env.get("ANNALS_NEW_KEY", "")),
        host=flag.get("host") or env.get("ANNALS_HOST", "127.0.0.1"),
        port=parse_number("port", flag.get("port", env.get("ANNALS_PORT", "8000")), 0, 65535),
        workers=parse_number("workers", flag.get("workers", env.get("ANNALS_WORKERS", "1")), 1, MOST_WORKERS),
        pumps=parse_pumps(env.get("ANNALS_PUMPS", "1"), ledger_url),
        parts=parse_number("ANNALS_PARTS", env.get("ANNALS_PARTS", "0"), 0, MOST_PARTS),
        log_level=parse_log_level(str(flag.get("log_level") or env.get("ANNALS_LOG_LEVEL", "warning"))),
        rate=parse_rate(env.get("ANNALS_RATE", "50")),
        tables=parse_number("ANNALS_TABLES", env.get("ANNALS_TABLES", "120"), 1, 1_000_000),
        registration=parse_choice("ANNALS_REGISTRATION", env.get("ANNALS_REGISTRATION", "open"), REGISTRATION),
        public_url=public_url,
        second_factor=parse_choice("ANNALS_SECOND_FACTOR", env.get("ANNALS_SECOND_FACTOR", "none"), SECOND_FACTOR),
        webhooks=parse_choice("ANNALS_WEBHOOKS", env.get("ANNALS_WEBHOOKS", "https"), WEBHOOKS),
        smtp=smtp,
        mail_from=mail_from,
        origins=parse_origins(env.get("ANNALS_ORIGINS", "*")),
        metrics_token=env.get("ANNALS_METRICS_TOKEN", ""),
        scrub=parse_number("ANNALS_SCRUB", env.get("ANNALS_SCRUB", "200"), 0, 1_000_000),
        backup=parse_backup(str(flag.get("backup") or env.get("ANNALS_BACKUP", "")), data, ledger_url),
        backup_days=parse_number("ANNALS_BACKUP_DAYS", env.get("ANNALS_BACKUP_DAYS", "7"), 1, 3650),
        archive_days=parse_archive_days(env.get("ANNALS_ARCHIVE_DAYS", "0"), ledger_url),
        trusted_proxies=parse_networks(env.get("ANNALS_TRUSTED_PROXIES", "")),
        tls_cert=tls_cert,
        tls_key=tls_key,
        stores=stores,
        stores_ca=authority,
        hsts=parse_choice("ANNALS_HSTS", env.get("ANNALS_HSTS", HSTS[0]), HSTS),
        plain=parse_plain(env.get("ANNALS_PLAIN_HTTP", PLAIN[0])),
    )


def _take(env: Mapping[str, str]) -> None:
    for name in environment.SECRETS:
        if os.environ.pop(f"{name}_FILE", ""):
            os.environ[name] = env[name]
