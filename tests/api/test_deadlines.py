"""A director may bring a deadline forward, but takes nobody's turn by it."""

from __future__ import annotations

import pytest

from domain.command_handler import CommandHandler
from domain.errors import RuleError
from domain.kernel.game.director_commands import MIN_REMAINING_MS, Extend
from domain.kernel.game.record_builder import CommandContext
from domain.service.seed_store import SeedStore
from tests.api.conftest import Reply, Site, Table, refused
from workers.context import set_context
from workers.jobs import deadlines


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3, pace={"seconds": {"turn": 3600}})


def deadline(table: Table) -> int:
    found: int = table.get("/decisions").json["decisions"][0]["deadline"]
    return found


def extend(table: Table, seconds: int, **headers: str) -> Reply:
    return table.post("/extensions", {"decision": table.decision, "seconds": seconds}, table.director, **headers)


@pytest.mark.parametrize("seconds", [-3600, -3590, -100 * 24 * 3600])
def test_nobodys_turn_is_over_at_once(orders: Table, seconds: int) -> None:
    """No default is played, and nothing is stored."""
    before, version = deadline(orders), orders.version
    found = refused(extend(orders, seconds), 409, "deadline_too_soon")["figures"]
    assert found["deadline"] == before
    assert orders.version == version
    set_context(orders.site.context)
    assert deadlines.lapse(orders.game, orders.decision) != "done"
    assert orders.version == version


def test_it_may_be_brought_forward_to_a_minute_from_now(orders: Table) -> None:
    """In as many steps as one likes, but never nearer."""
    while extend(orders, -600).status_code == 201:
        pass
    assert deadline(orders) >= orders.site.services.clock() + MIN_REMAINING_MS - 10_000
    assert deadline(orders) <= orders.site.services.clock() + MIN_REMAINING_MS + 600_000


def test_a_deadline_that_is_near_is_not_brought_nearer(site: Site) -> None:
    table = site.table("orders@1", 3, pace={"seconds": {"turn": 50}})
    refused(extend(table, -1), 409, "deadline_too_soon")
    assert extend(table, 1).status_code == 201


def test_a_repetition_is_answered_as_before(orders: Table) -> None:
    """Also where the same step would be one too many by now."""
    answers = [extend(orders, -2000, Idempotency_Key="extension-1") for _ in range(2)]
    assert answers[0].data == answers[1].data
    refused(extend(orders, -2000), 409, "deadline_too_soon")


def test_who_decides_on_an_old_position_decides_anew(orders: Table) -> None:
    """Two steps at once, each of which would do: the second is judged on what the first has left."""
    s, decision = orders.site.services, orders.decision
    other = CommandHandler(s.ledger, s.registry, SeedStore(s.ledger, s.ledger.keys), s.clock)
    other.handle(orders.game, Extend(decision, -2_000_000))
    with pytest.raises(RuleError, match="deadline_too_soon"):
        s.commands.handle(orders.game, Extend(decision, -2_000_000))


def test_a_log_that_holds_such_a_step_still_proves_itself(orders: Table) -> None:
    """Records of before are what they are."""
    s = orders.site.services
    game, seed = s.commands.game(orders.game), SeedStore(s.ledger, s.ledger.keys).seed(orders.game)
    rules, moment = s.registry.get(game.ruleset), CommandContext(seed, s.clock(), replaying=True)
    step = Extend(orders.decision, -7_200_000).execute(rules, game, moment)
    s.ledger.append(orders.game, [step.record], game.version)
    assert orders.post("/close", {"reason": "void"}, orders.director).status_code == 201
    assert orders.get("/audit").json["proved"] is True


def test_without_a_clock_there_is_nothing_to_bring_forward(site: Site) -> None:
    table = site.table("orders@1", 3)
    assert extend(table, -3600).status_code == 201
