"""Logs: lines on standard error. What is secret is never logged, at no level, and no text can pass for a line."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from collections.abc import MutableMapping
from typing import Any

import structlog

FORM = "%(asctime)s %(levelname)s %(name)s %(message)s"

_HIDDEN = re.compile(
    r"\b(an[a-z]_[0-9a-f]{16}_)[A-Za-z0-9_-]+"  # tokens, tickets, cookies
    r"|(\b[a-z][a-z0-9+.-]{0,30}://)[^\s'\"]{0,300}@"  # who asks, and the password, in the address of a store
    r"|(\bpassword\s{0,9}=\s{0,9})(?:'[^']{0,300}'|\S+)",
    re.ASCII | re.IGNORECASE,
)
_GUESSED = 4
"""A shorter part of a password stands everywhere."""

# What moves a cursor, ends a line, or turns the direction of what follows.
_CONTROL = re.compile("[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def set_up(level: str) -> None:
    """From now on this process logs from that level on."""
    number = getattr(logging, level.upper())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(FORM))
    logging.basicConfig(level=number, handlers=[handler])
    for noisy in ("rq.worker", "rq.job"):  # the library sets their level itself
        logging.getLogger(noisy).setLevel(max(logging.WARNING, number))


def set_up_requests(level: str) -> None:
    """The lines of the API, as JSON."""
    structlog.configure(
        processors=PROCESSORS,
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def _own_secrets() -> list[str]:
    """Passwords in addresses of stores and of mail, whole or, where one is misspelt, in parts; the key, the token."""
    found = [os.environ.get(name, "") for name in ("ANNALS_KEY", "ANNALS_NEW_KEY", "ANNALS_METRICS_TOKEN")]
    for name in ("ANNALS_DATABASE_URL", "ANNALS_MIGRATE_URL", "ANNALS_REDIS_URL", "ANNALS_SMTP"):
        asking = os.environ.get(name, "").partition("://")[2].rpartition("@")[0]
        found += re.split(r"[:/?#%@\s]", asking)[1:]
    return sorted((secret for secret in found if len(secret) >= _GUESSED), key=len, reverse=True)


def hidden(text: str) -> str:
    """The text without tokens and passwords."""
    for secret in _own_secrets():
        text = text.replace(secret, "...")
    return _HIDDEN.sub(lambda found: f"{found[1] or found[2] or found[3]}...{'@' if found[2] else ''}", text)


def plain(text: str) -> str:
    """The text as one line, without secrets, and with nothing that a terminal would obey."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], hidden(text))


class Lines(logging.Formatter):
    """One line for each message, at a time in UTC; the lines of a trace are indented."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - as the base class has it
        return plain(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - as the base class has it
        return self._indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - as the base class has it
        return self._indented(super().formatStack(stack_info))

    @staticmethod
    def _indented(trace: str) -> str:
        return "\n".join("    " + plain(line) for line in trace.splitlines())


def _without_secrets(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The renderer escapes what is no text."""
    return {name: hidden(value) if isinstance(value, str) else value for name, value in line.items()}


PROCESSORS = (
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _without_secrets,
    structlog.processors.JSONRenderer(),
)
"""What a line of the API goes through."""
