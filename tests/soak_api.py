"""Calls every route with what its schema allows and with what it does not: `python -m tests.soak_api [CASES]`.

Schemathesis makes the requests from the published document. Every answer must be documented, of the documented shape,
and never a fault; what the schema forbids must be refused. Afterwards the table that was tormented must prove itself.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import schemathesis
import structlog
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection

from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from tests.api.conftest import CATALOGUE, PROBLEM, Table, make_site

STREAMS = ("/stream", "/replay")
"""Such an answer is events: tests/api/test_stream.py and tests/api/test_replays.py read them."""

REFUSED = ["400", "401", "403", "404", "405", "409", "412", "413", "415", "422", "428", "429"]

CONFIG: dict[str, Any] = {
    "checks": {
        "negative_data_rejection": {"expected-statuses": REFUSED},
        # What a schema allows may still be impossible at this table.
        "positive_data_acceptance": {"enabled": False},
        # These make requests of their own, on a table that has changed since; tests/api has tests for each.
        "ignored_auth": {"enabled": False},
        "use_after_free": {"enabled": False},
        "ensure_resource_availability": {"enabled": False},
        "object_level_authorization": {"enabled": False},
    }
}


class Torment:
    """One table, and every operation of the document against it."""

    def __init__(self, folder: Path) -> None:
        self.site = make_site(folder)
        self.tables: list[Table] = [self._table()]
        config = SchemathesisConfig.from_dict(CONFIG)
        self.spec = schemathesis.openapi.from_wsgi("/v1/openapi.json", self.site.app, config=config)
        self.statuses: Counter[int] = Counter()
        self.members = itertools.count()
        self.member = self._member()

    def _member(self) -> str:
        """A session of an account that has a role of its own."""
        body = {"name": f"Member {_letters(next(self.members))}", "password": "a long word for all"}
        made = self.site.post("/accounts", body)
        assert made.status_code == 201, made.text
        self.site.services.account_store.accounts.set_role(made.json["account"], "admin")
        return str(made.json["token"])

    def _table(self) -> Table:
        return self.site.table("orders@1", 3, options={"turns": 99}, pace={"seconds": {"turn": 60}})

    def operations(self) -> list[Any]:
        """All but streams."""
        results: Iterable[Any] = self.spec.get_all_operations()
        return [o for o in (result.ok() for result in results) if not o.path.endswith(STREAMS)]

    def call(self, case: Any, who: int, known: bool) -> None:
        """Sends a case as one of the viewers, mostly to the table that there is, and checks the answer."""
        table = self.tables[-1]
        if known and isinstance((case.path_parameters or {}).get("game"), str):
            case.path_parameters["game"] = table.game
        token = [*table.tokens, table.director, "", self.member][who]
        answer = case.call(headers={"Authorization": f"Bearer {token}"} if token else {})
        self.statuses[answer.status_code] += 1
        case.validate_response(answer, excluded_checks=[negative_data_rejection] if _mended(case) else [])
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == [PROBLEM], answer.headers
        if case.operation.path.endswith(("/close", "/seats/{seat}")) and answer.status_code < 300:
            self.tables.append(self._table())
        if token == self.member and self.site.get("/me", token).status_code == 401:  # logged out, or erased
            self.member = self._member()

    def proved(self) -> None:
        """Every table is what its records say."""
        for table in self.tables:
            verify(CATALOGUE.get("orders@1"), export.parse(table.get("/export").data))
            assert table.get("/board").json["version"] <= table.version
        assert self.site.services.reader.list_quarantined() == []


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _mended(case: Any) -> bool:
    """Whether what made the request wrong was the address or the token, for which others have been put."""
    parts = case.meta.components if case.meta else {}
    broken = {place for place, part in parts.items() if part.mode is GenerationMode.NEGATIVE}
    return bool(broken & {ParameterLocation.PATH, ParameterLocation.HEADER})


def torment(folder: Path, cases: int) -> Counter[int]:
    """So many cases in all; returns how often each status came."""
    crowd = Torment(folder)
    operations = crowd.operations()
    for operation in operations:
        _fuzz(crowd, operation, -(-cases // len(operations)))
    rich = [o for o in operations if o.body]  # the others have few different requests
    while crowd.statuses.total() < cases:
        for operation in rich:
            _fuzz(crowd, operation, 20)
    crowd.proved()
    crowd.site.close()
    return crowd.statuses


def _fuzz(crowd: Torment, operation: Any, cases: int) -> None:
    allowed, forbidden = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)
    kind = allowed
    if operation.body or operation.query or operation.headers:
        kind = st.one_of(allowed, allowed, forbidden)

    @settings(
        max_examples=cases,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=kind, who=st.integers(0, 5), known=st.sampled_from([True, True, True, False]))
    def run(case: Any, who: int, known: bool) -> None:
        crowd.call(case, who, known)

    run()


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="?", type=int, default=3_000)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    with tempfile.TemporaryDirectory() as folder:
        found = torment(Path(folder), parser.parse_args(argv).cases)
    print(f"{found.total()} cases, no fault:", dict(sorted(found.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
