"""Settings: from flags, then the environment, then defaults for one machine with only a data folder.

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
from deploy.config.environment import STORE_MODES, SettingsError
from deploy.config.key_files import make_file, make_key, read_key, sync_folder
from deploy.config.setting_values import (
    HSTS,
    MAX_PARTS,
    MAX_STREAMS,
    MAX_WORKERS,
    NO_ORIGIN,
    NO_YES,
    NODE_PATTERN,
    REGISTRATION,
    SECOND_FACTOR,
    SIGNING,
    WEBHOOKS,
    is_loopback,
    parse_archive_days,
    parse_backup,
    parse_choice,
    parse_file,
    parse_key,
    parse_log_level,
    parse_log_origin,
    parse_mail,
    parse_networks,
    parse_number,
    parse_origins,
    parse_plain_http,
    parse_policy,
    parse_public_url,
    parse_pumps,
    parse_rate,
    read_text,
)
from domain.transparency.policy_file import KnownWitness, LogKeys, parse_logs, parse_witnesses

__all__ = ["Settings", "SettingsError", "load_settings", "read_key"]


@dataclass(frozen=True)
class Settings:
    """Settings of a process. URLs are left out of the repr, since they can contain passwords."""

    data: Path
    """Absolute path of the data folder: SQLite databases, key, lock, files of the embedded Redis."""
    ledger_url: str = field(repr=False)
    views_url: str = field(repr=False)
    migrate_url: str = field(repr=False, default="")
    """URL with the role that owns the tables; empty: the service's role owns them."""
    redis_url: str = field(repr=False, default="")
    """Empty: `serve` starts the embedded server."""
    environment_key: str = field(repr=False, default="")
    """Master key as hex, from the environment; empty: the key is in the data folder."""
    new_key: str = field(repr=False, default="")
    """Next master key as hex, if the environment gives the key."""
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    """Processes for turns and deadlines; one more does audits and rebuilds."""
    pumps: int = 1
    """Projector processes; 1 with SQLite."""
    parts: int = 0
    """Partitions of the games in new views; 0: a default that suits the database."""
    log_level: str = "warning"
    rate: float = 50.0
    """Costly requests per second and caller of the API; 0 for no limit."""
    tables: int = 120
    """Tables that one address may open per hour."""
    accounts: int = 30
    """Account names that one address may try per hour."""
    streams: int = 40
    """Streams of one address, without those of seats at running games."""
    shared_networks: tuple[str, ...] = ()
    """Networks of many people, such as a club's: no limit per address applies to them."""
    registration: str = "open"
    """Registration of accounts: open, by invitation or closed."""
    public_url: str = ""
    """Scheme, host and port for browsers and links; empty: the service is for this machine."""
    log_origin: str = ""
    """Name of the log in its checkpoints; empty: made from the public URL."""
    signing_key: str = field(repr=False, default="")
    """Secret of the key that signs checkpoints, as hex; empty: it is sealed in the database."""
    signing: str = "confirmed"
    """With standbys: sign checkpoints that a synchronous one confirms, or always."""
    witness_file: Path | None = None
    """File with the witnesses that cosign checkpoints."""
    witnesses: tuple[KnownWitness, ...] = ()
    """Content of that file."""
    witnessed_log_file: Path | None = None
    """File with the logs of others that this service cosigns."""
    witnessed_logs: LogKeys = field(default_factory=dict)
    """Content of that file."""
    second_factor: str = "none"
    """Roles that need a second factor: none, administrators, or moderators too."""
    webhooks: str = "https"
    """Allowed webhooks: to the network over TLS, also to this machine without TLS, or none."""
    smtp: str = field(repr=False, default="")
    """Mail server, `smtps://user:password@host`; empty: no mail is sent."""
    mail_from: str = ""
    """Sender address of mail."""
    origins: tuple[str, ...] = ("*",)
    """Other origins with access to the API by tokens, never by cookies; `*` for all."""
    metrics_token: str = field(repr=False, default="")
    """Token for /metrics; empty: only this machine may read them."""
    scrub: int = 200
    """Records per second that are checked against the Merkle tree; 0 for none."""
    backup: Path | None = None
    """Absolute path of the running backup's folder; only with SQLite."""
    backup_days: int = 7
    """Days for which the running backup can be restored."""
    archive_days: int = 0
    """Days after its close until the maintenance process archives a game; 0 for never. Only with SQLite."""
    talk_days: int = 365
    """Days after the close of a game until the maintenance process erases its messages; 0 for never."""
    trusted_proxies: tuple[str, ...] = ()
    """Networks of trusted proxies: their headers name the client."""

    tls_cert: Path | None = None
    """Certificate with its chain. With it and the key, the port serves TLS."""
    tls_key: Path | None = None

    stores: str = STORE_MODES[0]
    """Connections to PostgreSQL and Redis: as in their URLs, or only over TLS with checked certificates."""
    stores_ca: Path | None = None
    """Absolute path of the authority for those certificates."""
    hsts: str = HSTS[0]
    """HSTS: for this host, or for its subdomains too."""

    worker: bool = True
    """Browsers keep pages by a service worker. Without it, each browser removes its own."""

    plain: bool = False
    """Allows a network address without TLS, if the network itself is safe."""

    def check_transport(self) -> None:
        """Raise SettingsError if tokens and passwords would cross a network without TLS."""
        if not (self.tls_cert or self.trusted_proxies or self.plain or is_loopback(self.host)):
            raise SettingsError(
                f"{self.host} is no address of this machine alone, and tokens would be sent in the clear: give a"
                " certificate (ANNALS_TLS_CERT), name the proxy that speaks TLS (ANNALS_TRUSTED_PROXIES), or set"
                " ANNALS_PLAIN_HTTP=yes where the network itself is safe"
            )

    @property
    def url(self) -> str:
        """URL of the service."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls_cert else 'http'}://{host}:{self.port}"

    @property
    def origin_of_log(self) -> str:
        """Name of the log in its checkpoints; empty without a public URL."""
        host = self.public_url.partition("://")[2]
        return self.log_origin or (f"{host}/v1/log" if host else "")

    @property
    def name_of_witness(self) -> str:
        """Name of this service as a witness; empty without a public URL."""
        host = self.public_url.partition("://")[2]
        return f"{host}/v1/witness" if host else ""

    @property
    def owner_url(self) -> str:
        """Database URL for creating tables and repairing the log."""
        return self.migrate_url or self.ledger_url

    @property
    def sqlite(self) -> bool:
        """Tells that all data are SQLite files in the data folder."""
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
        """Path of the master key, unless the environment gives the key."""
        return self.data / "key"

    def make_data_folder(self) -> None:
        """Create the data folder, accessible to its owner only: it holds secrets of games. Raises SettingsError."""
        try:
            self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(f"the data folder {self.data} cannot be made: {error.strerror}") from error
        if not os.access(self.data, os.W_OK | os.X_OK):
            raise SettingsError(f"the data folder {self.data} cannot be written")

    def require_service(self) -> None:
        """Raise SettingsError if the data folder has no service. Creates nothing."""
        has_lost_key = self.sqlite and self.ledger_file.exists()  # `load_key` reports it
        if not self.environment_key and not self.key_file.exists() and not has_lost_key:
            raise SettingsError(f"{self.data} holds no service; `annals serve` makes one")

    def load_key(self) -> bytes:
        """Return the master key, 32 bytes. Create its file at the first use, unless there is a ledger."""
        if self.environment_key:
            return bytes.fromhex(self.environment_key)
        if not self.key_file.exists():
            if self.sqlite and self.ledger_file.exists():
                raise SettingsError(f"{self.key_file} is missing, and the ledger's seeds open with no other key")
            make_key(self.key_file)
        return read_key(self.key_file)

    @property
    def next_key_file(self) -> Path:
        """Path of the next key in a rotation."""
        return self.data / "key.next"

    def load_next_key(self) -> bytes:
        """Return the next key: from the environment if the old key is, else from its file, created on demand."""
        if self.environment_key:
            if not self.new_key or self.new_key == self.environment_key:
                raise SettingsError("ANNALS_NEW_KEY must give the key that is to take the place of ANNALS_KEY")
            return bytes.fromhex(self.new_key)
        if not self.next_key_file.exists():
            make_key(self.next_key_file)
        return read_key(self.next_key_file)

    def install_next_key(self) -> None:
        """Replace the key file by the next key's file, unless the environment gives the key."""
        if not self.environment_key:
            self.next_key_file.replace(self.key_file)
            sync_folder(self.data)

    def load_node_name(self) -> str:
        """Return the name of this data folder in leases. It survives restarts, so that leases are resumed."""
        path = self.data / "node"
        if not path.exists():
            make_file(path, f"{socket.gethostname()[:40]}-{secrets.token_hex(8)}\n")
        name = read_text(path)
        if not NODE_PATTERN.fullmatch(name):
            raise SettingsError(f"{path} does not hold a name; it can be deleted, and is made anew")
        return name

    def to_environ(self) -> dict[str, str]:
        """Return the settings as environment variables for a child process."""
        variables = {
            "ANNALS_DATA": str(self.data),
            "ANNALS_DATABASE_URL": "" if self.sqlite else self.ledger_url,
            "ANNALS_REDIS_URL": self.redis_url,
            "ANNALS_KEY": self.environment_key,
            "ANNALS_HOST": self.host,
            "ANNALS_PORT": str(self.port),
            "ANNALS_WORKERS": str(self.workers),
            "ANNALS_PUMPS": str(self.pumps),
            "ANNALS_PARTS": str(self.parts),
            "ANNALS_LOG_LEVEL": self.log_level,
            "ANNALS_RATE": str(self.rate),
            "ANNALS_TABLES": str(self.tables),
            "ANNALS_ACCOUNTS": str(self.accounts),
            "ANNALS_STREAMS": str(self.streams),
            "ANNALS_SHARED_NETWORKS": ",".join(self.shared_networks),
            "ANNALS_REGISTRATION": self.registration,
            "ANNALS_PUBLIC_URL": self.public_url,
            "ANNALS_LOG_ORIGIN": self.log_origin,
            "ANNALS_SIGNING_KEY": self.signing_key,
            "ANNALS_SIGNING": self.signing,
            "ANNALS_WITNESSES": str(self.witness_file or ""),
            "ANNALS_WITNESSED_LOGS": str(self.witnessed_log_file or ""),
            "ANNALS_SECOND_FACTOR": self.second_factor,
            "ANNALS_WEBHOOKS": self.webhooks,
            "ANNALS_SMTP": self.smtp,
            "ANNALS_MAIL_FROM": self.mail_from,
            "ANNALS_ORIGINS": ",".join(self.origins) or NO_ORIGIN,
            "ANNALS_SCRUB": str(self.scrub),
            "ANNALS_BACKUP": str(self.backup or ""),
            "ANNALS_BACKUP_DAYS": str(self.backup_days),
            "ANNALS_ARCHIVE_DAYS": str(self.archive_days),
            "ANNALS_TALK_DAYS": str(self.talk_days),
            "ANNALS_METRICS_TOKEN": self.metrics_token,
            "ANNALS_TRUSTED_PROXIES": ",".join(self.trusted_proxies),
            "ANNALS_STORES": self.stores,
            "ANNALS_STORES_CA": str(self.stores_ca or ""),
            "ANNALS_HSTS": self.hsts,
            "ANNALS_WORKER": NO_YES[self.worker],
            "ANNALS_PLAIN_HTTP": NO_YES[self.plain],
            "ANNALS_TLS_CERT": str(self.tls_cert or ""),
            "ANNALS_TLS_KEY": str(self.tls_key or ""),
        }
        return {name: value for name, value in variables.items() if value}


def load_settings(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Return settings from flags (by field, None if absent), then the environment, then defaults.

    Empty variables count as absent. Secrets from files are written into this process's environment: so logs redact
    them, and children need no file. Raises SettingsError.
    """
    flag = {name: value for name, value in (flags or {}).items() if value is not None}
    env = environment.read_environment(os.environ if environ is None else environ)
    if environ is None:
        _export_secrets(env)
    data = environment.absolute_path("ANNALS_DATA", str(flag.get("data") or env.get("ANNALS_DATA") or "var"))
    stores = parse_choice("ANNALS_STORES", env.get("ANNALS_STORES", STORE_MODES[0]), STORE_MODES)
    verified = stores == "verified"
    authority = environment.parse_authority(env.get("ANNALS_STORES_CA", ""), verified=verified)
    database = flag.get("database") or env.get("ANNALS_DATABASE_URL", "")
    ledger_url, views_url = environment.parse_database_url(data, database, authority, verified=verified)
    tls = {name: f"ANNALS_TLS_{name.upper()}" for name in ("cert", "key")}
    tls_cert, tls_key = (parse_file(name, flag.get(f"tls_{n}") or env.get(name)) for n, name in tls.items())
    public_url = parse_public_url(env.get("ANNALS_PUBLIC_URL", ""))
    smtp, mail_from = parse_mail(
        env.get("ANNALS_SMTP", "").strip(), env.get("ANNALS_MAIL_FROM", "").strip(), public_url
    )
    files = {name: parse_file(name, env.get(name)) for name in ("ANNALS_WITNESSES", "ANNALS_WITNESSED_LOGS")}
    if (tls_cert is None) != (tls_key is None):
        raise SettingsError("ANNALS_TLS_CERT and ANNALS_TLS_KEY belong together")
    return Settings(
        data,
        ledger_url,
        views_url,
        environment.parse_owner_url(env.get("ANNALS_MIGRATE_URL", ""), ledger_url, authority, verified=verified),
        environment.parse_redis_url(env.get("ANNALS_REDIS_URL", ""), authority, verified=verified),
        parse_key("ANNALS_KEY", env.get("ANNALS_KEY", "")),
        parse_key("ANNALS_NEW_KEY", env.get("ANNALS_NEW_KEY", "")),
        host=flag.get("host") or env.get("ANNALS_HOST", "127.0.0.1"),
        port=parse_number("port", flag.get("port", env.get("ANNALS_PORT", "8000")), 0, 65535),
        workers=parse_number("workers", flag.get("workers", env.get("ANNALS_WORKERS", "1")), 1, MAX_WORKERS),
        pumps=parse_pumps(env.get("ANNALS_PUMPS", "1"), ledger_url),
        parts=parse_number("ANNALS_PARTS", env.get("ANNALS_PARTS", "0"), 0, MAX_PARTS),
        log_level=parse_log_level(str(flag.get("log_level") or env.get("ANNALS_LOG_LEVEL", "warning"))),
        rate=parse_rate(env.get("ANNALS_RATE", "50")),
        tables=parse_number("ANNALS_TABLES", env.get("ANNALS_TABLES", "120"), 1, 1_000_000),
        accounts=parse_number("ANNALS_ACCOUNTS", env.get("ANNALS_ACCOUNTS", "30"), 1, 1_000_000),
        streams=parse_number("ANNALS_STREAMS", env.get("ANNALS_STREAMS", "40"), 1, MAX_STREAMS),
        shared_networks=parse_networks("ANNALS_SHARED_NETWORKS", env.get("ANNALS_SHARED_NETWORKS", "")),
        registration=parse_choice("ANNALS_REGISTRATION", env.get("ANNALS_REGISTRATION", "open"), REGISTRATION),
        public_url=public_url,
        log_origin=parse_log_origin(env.get("ANNALS_LOG_ORIGIN", "")),
        signing_key=parse_key("ANNALS_SIGNING_KEY", env.get("ANNALS_SIGNING_KEY", "")),
        signing=parse_choice("ANNALS_SIGNING", env.get("ANNALS_SIGNING", SIGNING[0]), SIGNING),
        witness_file=files["ANNALS_WITNESSES"],
        witnesses=parse_policy("ANNALS_WITNESSES", files["ANNALS_WITNESSES"], parse_witnesses),
        witnessed_log_file=files["ANNALS_WITNESSED_LOGS"],
        witnessed_logs=parse_policy("ANNALS_WITNESSED_LOGS", files["ANNALS_WITNESSED_LOGS"], parse_logs),
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
        talk_days=parse_number("ANNALS_TALK_DAYS", env.get("ANNALS_TALK_DAYS", "365"), 0, 36_500),
        trusted_proxies=parse_networks("ANNALS_TRUSTED_PROXIES", env.get("ANNALS_TRUSTED_PROXIES", "")),
        tls_cert=tls_cert,
        tls_key=tls_key,
        stores=stores,
        stores_ca=authority,
        hsts=parse_choice("ANNALS_HSTS", env.get("ANNALS_HSTS", HSTS[0]), HSTS),
        worker=parse_choice("ANNALS_WORKER", env.get("ANNALS_WORKER", NO_YES[1]), NO_YES) == NO_YES[1],
        plain=parse_plain_http(env.get("ANNALS_PLAIN_HTTP", NO_YES[0])),
    )


def _export_secrets(env: Mapping[str, str]) -> None:
    for name in environment.SECRETS:
        if os.environ.pop(f"{name}_FILE", ""):
            os.environ[name] = env[name]
