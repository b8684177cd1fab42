"""Logs on standard error. Secrets are never logged, at any level, and no text can forge a log line."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import parse_qsl

import structlog

LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"

_SECRET_PATTERN = re.compile(
    r"\b(an[a-z]_[0-9a-f]{16}_)[A-Za-z0-9_-]+"  # tokens, tickets, cookies
    r"|(\b[a-z][a-z0-9+.-]{0,30}://)[^\s'\"]{0,300}@"  # user name and password in the address of a store
    r"|(\b(?:sentinel_)?password\s{0,9}=\s{0,9})(?:'[^']{0,300}'|\S+)",
    re.ASCII | re.IGNORECASE,
)
_MIN_SECRET_LENGTH = 4
"""Characters. Shorter parts of a password occur in ordinary text."""

# Characters that move a cursor, end a line or change the writing direction.
_CONTROL = re.compile("[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def configure_logging(level: str) -> None:
    """Log from `level` upwards in this process."""
    number = getattr(logging, level.upper())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(LOG_FORMAT))
    logging.basicConfig(level=number, handlers=[handler])
    for noisy in ("rq.worker", "rq.job"):  # the library sets their level itself
        logging.getLogger(noisy).setLevel(max(logging.WARNING, number))


def configure_request_log(level: str) -> None:
    """Write the API's log as JSON lines, from `level` upwards."""
    structlog.configure(
        processors=PROCESSORS,
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def _list_secrets() -> list[str]:
    """Return the master keys, the metrics token, and passwords in URLs, whole or in parts if a URL is misspelt."""
    secrets = [os.environ.get(name, "") for name in ("ANNALS_KEY", "ANNALS_NEW_KEY", "ANNALS_METRICS_TOKEN")]
    for name in ("ANNALS_DATABASE_URL", "ANNALS_MIGRATE_URL", "ANNALS_REDIS_URL", "ANNALS_SMTP"):
        address = os.environ.get(name, "").partition("://")[2]
        secrets += re.split(r"[:/?#%@\s]", address.rpartition("@")[0])[1:]
        options = parse_qsl(address.partition("?")[2])
        secrets += [value for option, value in options if option.endswith("password")]
    return sorted((secret for secret in secrets if len(secret) >= _MIN_SECRET_LENGTH), key=len, reverse=True)


def redact(text: str) -> str:
    """Return the text without tokens and passwords."""
    for secret in _list_secrets():
        text = text.replace(secret, "...")
    return _SECRET_PATTERN.sub(lambda found: f"{found[1] or found[2] or found[3]}...{'@' if found[2] else ''}", text)


def to_safe_line(text: str) -> str:
    """Return the text as one line, without secrets and terminal control characters."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], redact(text))


class LineFormatter(logging.Formatter):
    """Formats each message as one line with a UTC time; lines of a traceback are indented."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base class's name
        return to_safe_line(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the base class's name
        return self._indent_trace(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - the base class's name
        return self._indent_trace(super().formatStack(stack_info))

    @staticmethod
    def _indent_trace(trace: str) -> str:
        return "\n".join("    " + to_safe_line(line) for line in trace.splitlines())


def _redact_values(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Redact string values. The renderer escapes all other values."""
    return {name: redact(value) if isinstance(value, str) else value for name, value in line.items()}


PROCESSORS = (
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _redact_values,
    structlog.processors.JSONRenderer(),
)
"""Processors of the API's log lines, in order."""
