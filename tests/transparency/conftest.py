"""Stores with a key ring: signing keys are sealed."""

from collections.abc import Iterator

import pytest

from domain.ledger import Ledger
from tests.contracts.conftest import far_url, line, postgres_server, postgres_url, url

__all__ = ["far_url", "line", "postgres_server", "postgres_url", "url"]


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """A ledger, ready to use."""
    ledger = Ledger.open(url, bytes(32))
    ledger.migrate()
    yield ledger
    ledger.close()
