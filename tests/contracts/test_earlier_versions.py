"""Versions of the service before, on PostgreSQL: they work beside this one, and after it, and where theirs is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from psycopg.sql import SQL

from domain.errors import StoreUnavailable
from domain.ledger import Ledger
from domain.service.heartbeat import Heartbeat
from domain.service.idempotency_keys import IdempotencyKey
from tests.contracts.context import game, record

SHORT = """
CREATE OR REPLACE FUNCTION public.annals_append(
  _game uuid, _expected bigint, _topics text[], _states bytea[], _command text, _hash text)
RETURNS TABLE (outcome text, hash text, low bigint, high bigint, positions bigint[])
LANGUAGE plpgsql SET lock_timeout = '10s' AS $$
BEGIN
  RETURN QUERY WITH stored AS (
      INSERT INTO public.records AS r (originator_id, originator_version, topic, state)
      SELECT _game, _expected + u.n, u.topic, u.state FROM unnest(_topics, _states) WITH ORDINALITY u (topic, state, n)
      ORDER BY u.n RETURNING r.notification_id)
    SELECT 'stored', NULL::text, _expected + 1, _expected + cardinality(_topics),
      (SELECT array_agg(s.notification_id) FROM stored s);
END $$"""
"""How a version made its function that did not say which log it means; without the checks."""

LONG = "DROP FUNCTION IF EXISTS public.annals_append(uuid, bigint, text[], bytea[], text, text);" + SHORT.replace(
    "_hash text)", "_hash text, _server text DEFAULT NULL)"
)
"""And one that did, if it liked."""

CALL = SQL("SELECT outcome FROM public.annals_append(%s, %s, '{{a}}', '{{b}}', NULL, NULL)").format()


@pytest.fixture
def admin(postgres_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def ours(postgres_url: str) -> Iterator[Ledger]:
    with closing(Ledger.open(postgres_url)) as ledger:
        ledger.migrate()
        yield ledger


def theirs(admin: psycopg.Connection, expected: int) -> object:
    """What such a version is told of an append."""
    (outcome,) = next(admin.execute(CALL, (game(), expected)))
    return outcome


def test_they_append_after_this_one_has_migrated(admin: psycopg.Connection, ours: Ledger) -> None:
    ours.append(game(), [record(1)], 0)
    assert theirs(admin, 1) == "stored"
    assert theirs(admin, 1) == "stale", "with the checks of this version"
    assert ours.version(game()) == 2


@pytest.mark.parametrize("made", [SHORT, LONG], ids=["short", "long"])
def test_both_append_after_they_have_migrated(admin: psycopg.Connection, ours: Ledger, made: str) -> None:
    """As after a roll-back, or a start of theirs in the middle of an upgrade."""
    admin.execute(made.encode())
    assert theirs(admin, 0) == "stored"
    assert ours.append(game(), [record(2)], 1).last == 2
    ours.migrate()
    assert theirs(admin, 2) == "stored"
    assert ours.append(game(), [record(4)], 3).last == 4


class TestWhereNothingCanBeAppended:
    """The heart, which stands for a move, does not beat, and who is asked whether it can says no."""

    AWAY = (
        "DROP FUNCTION public.annals_append(uuid, bigint, text[], bytea[], text, text, text)",
        "REVOKE INSERT ON records FROM service",
        "REVOKE INSERT ON commands FROM service",
        "REVOKE SELECT ON damages FROM service",
        "REVOKE USAGE ON ALL SEQUENCES IN SCHEMA public FROM service",
    )

    @pytest.mark.parametrize("away", AWAY)
    def test_the_heart_does_not_beat(
        self, admin: psycopg.Connection, ours: Ledger, postgres_url: str, away: str
    ) -> None:
        Heartbeat(ours).migrate()
        ours.admin.grant_service_role("postgresql://service@localhost/")
        with closing(Ledger.open(postgres_url.replace("user=postgres", "user=service"))) as ledger:
            outages = Heartbeat(ledger)
            outages.beat(1000)
            admin.execute(away.encode())
            with pytest.raises(StoreUnavailable):
                ledger.append(game(), [record(1)], 0, IdempotencyKey("a", "hash"))
            with pytest.raises(StoreUnavailable):
                outages.beat(2000)
            assert outages.last_beat() == 1000
            ours.migrate()
            ours.admin.grant_service_role("postgresql://service@localhost/")
            outages.beat(2000)
            assert outages.last_beat() == 2000
            assert ledger.append(game(), [record(1)], 0, IdempotencyKey("a", "hash")).last == 1
