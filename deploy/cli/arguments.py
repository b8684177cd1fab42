"""Shared arguments of commands, and settings from them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

from deploy.config.setting_values import LOG_LEVELS, MAX_DAYS
from deploy.config.settings import Settings, load_settings
from deploy.runtime import logging_setup

FLAGS = ("data", "host", "port", "workers", "log_level", "backup", "tls_cert", "tls_key")

AddParser = Callable[..., argparse.ArgumentParser]

DONE, FAILED = 0, 1

QUEUES = {"turns": "annals-turns", "batch": "annals-batch"}


def parse_days(text: str) -> int:
    if not text.isdecimal() or int(text) > MAX_DAYS:
        raise argparse.ArgumentTypeError(f"{text!r}: a number of days is expected")
    return int(text)


def add_settings_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", metavar="DIR", help="data folder (default: var)")
    parser.add_argument("--log-level", choices=LOG_LEVELS, dest="log_level")


def add_backup_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backup-to", metavar="DIR", dest="backup", help="folder of a running backup (default: none)")


def add_port_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, metavar="P", help="port to listen on, 0 for a free one (default: 8000)")
    parser.add_argument(
        "--tls-cert", metavar="FILE", dest="tls_cert", help="serve TLS with this certificate and its chain"
    )
    parser.add_argument("--tls-key", metavar="FILE", dest="tls_key", help="private key of the certificate")


def load_settings_of(args: argparse.Namespace) -> Settings:
    """Return settings from the flags, then the environment, and set up the logs of this process."""
    settings = load_settings({name: getattr(args, name, None) for name in FLAGS})
    logging_setup.configure_logging(settings.log_level)
    return settings


def with_redis_url(settings: Settings) -> Settings:
    """Return settings with a Redis URL: without one, of the embedded server of the data folder."""
    from deploy.runtime import embedded_redis  # noqa: PLC0415

    return settings if settings.redis_url else replace(settings, redis_url=embedded_redis.server_url(settings.data))
