"""Every test here runs against every store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.ledger import Ledger
from tests.postgres import far_url, line, postgres_server, postgres_url

__all__ = ["far_url", "line", "postgres_server", "postgres_url"]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    address: str = request.getfixturevalue("postgres_url")
    return address


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """A ledger, ready to use."""
    ledger = Ledger.open(url)
    ledger.migrate()
    yield ledger
    ledger.close()
