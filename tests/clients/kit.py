"""What the tests of clients share: the folders, the types made from the document, and a service that dies in a game."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.api.played import once, published
from tests.api.test_clients import generated, imported
from tests.deploy.harness import ROOT, SHIPPED, Service

CLIENTS = ROOT / "clients"
PYTHON, TYPESCRIPT = CLIENTS / "python", CLIENTS / "typescript"


def python_types(factory: pytest.TempPathFactory) -> Path:
    """The folder with `annals_types.py`, made as clients/README.md says."""
    document = published(factory)

    def make(folder: Path) -> None:
        options = {
            "--input": str(document),
            "--input-file-type": "openapi",
            "--output": str(folder / "annals_types.py"),
            "--output-model-type": "typing.TypedDict",
            "--target-python-version": "3.11",
            "--enum-field-as-literal": "all",
            "--formatters": "builtin",
        }
        assert generated("datamodel_code_generator", *(part for option in options.items() for part in option)) == ""

    return once(factory, "types", make)


def python_client() -> object:
    """The module, as whoever has only its folder imports it."""
    return sys.modules.get("annals_client") or imported(PYTHON, "annals_client")


class Phoenix:
    """A service that is killed, and comes back at the same address with what it had stored."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.service = Service(data, program=SHIPPED, ANNALS_RATE="50")
        self.url = self.service.url

    def die(self) -> None:
        self.service.kill_group()
        self.service.process.stdout.close() if self.service.process.stdout else None

    def rise(self) -> None:
        self.service = Service(self.data, "--port", str(urlsplit(self.url).port), program=SHIPPED, ANNALS_RATE="50")

    def end(self) -> None:
        self.die() if self.service.process.poll() is None else None
