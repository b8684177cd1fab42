"""Arguments that several commands of `annals` share, and the settings made from them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from deploy.config.setting_values import LOG_LEVELS, MOST_DAYS
from deploy.config.settings import Settings, load
from deploy.runtime import logging_setup

if TYPE_CHECKING:
    pass


FLAGS = ("data", "host", "port", "workers", "log_level", "backup", "tls_cert", "tls_key")

Add = Callable[..., argparse.ArgumentParser]

DONE, FAILED = 0, 1

QUEUES = {"turns": "annals-turns", "batch": "annals-batch"}


def days(text: str) -> int:
    if not text.isdecimal() or int(text) > MOST_DAYS:
        raise argparse.ArgumentTypeError(f"{text!r}: a number of days is expected")
    return int(text)


def add_settings(one: argparse.ArgumentParser) -> None:
    one.add_argument("--data", metavar="DIR", help="data folder (var unless given)")
    one.add_argument("--log-level", choices=LOG_LEVELS, dest="log_level")


def add_backup(one: argparse.ArgumentParser) -> None:
    one.add_argument("--backup-to", metavar="DIR", dest="backup", help="folder of a running backup (none unless given)")


def add_port(one: argparse.ArgumentParser) -> None:
    one.add_argument("--host", help="address to listen on (127.0.0.1 unless given)")
    one.add_argument("--port", type=int, metavar="P", help="8000 unless given; 0 takes a free one")
    one.add_argument("--tls-cert", metavar="FILE", dest="tls_cert", help="certificate with its chain: speak TLS")
    one.add_argument("--tls-key", metavar="FILE", dest="tls_key", help="the certificate's key")


def settings_of(args: argparse.Namespace) -> Settings:
    """Flags before the environment; and from now on this process logs."""
    settings = load({name: getattr(args, name, None) for name in FLAGS})
    logging_setup.set_up(settings.log_level)
    return settings


def with_redis(settings: Settings) -> Settings:
    """If none is named, with that of a `serve` on the same data folder."""
    from deploy.runtime import embedded_redis  # noqa: PLC0415

    return settings if settings.redis_url else replace(settings, redis_url=embedded_redis.url_of(settings.data))
