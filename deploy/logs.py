"""Logs: lines on standard error. What is secret is never logged, at no level."""

from __future__ import annotations

import logging
import sys

import structlog

FORM = "%(asctime)s %(levelname)s %(name)s %(message)s"


def set_up(level: str) -> None:
    """From now on this process logs from that level on."""
    number = getattr(logging, level.upper())
    logging.basicConfig(stream=sys.stderr, level=number, format=FORM)
    for noisy in ("rq.worker", "rq.job"):  # the library sets their level itself
        logging.getLogger(noisy).setLevel(max(logging.WARNING, number))


def set_up_requests(level: str) -> None:
    """The lines of the API, as JSON."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
