"""Leases and progress of background work."""

from __future__ import annotations

import json

from sqlalchemy import Connection, bindparam, delete, select

from domain.types import Doc
from projections import schema
from projections.view_store import PreparedStatement, ViewStore, upsert

LEASE = 10_000
"""Lifetime of a lease without renewal, ms."""

_L = schema.leases.c
_FIND_LEASE = PreparedStatement(select(_L.owner, _L.until).where(_L.name == bindparam("lease")).with_for_update())
_FIND_PROGRESS = PreparedStatement(select(schema.progress.c.doc).where(schema.progress.c.name == bindparam("work")))


class LeaseLostError(Exception):
    """Another process holds the lease."""


def acquire_lease(db: Connection, name: str, owner: str, now: int, lifetime: int = LEASE) -> bool:
    """Take or renew a lease for `lifetime` ms; return True if `owner` held it before. Raises LeaseLostError."""
    ((previous_owner, until),) = _FIND_LEASE.fetch_all(db, lease=name) or [("", 0)]
    if previous_owner not in ("", owner) and until > now:
        raise LeaseLostError(previous_owner)
    if previous_owner != owner or not now <= until - lifetime // 2 <= now + lifetime:
        upsert(db, schema.leases, [{"name": name, "owner": owner, "until": now + lifetime}])
    return bool(previous_owner == owner)


def release_lease(db: Connection, name: str, owner: str) -> None:
    """End a lease if `owner` holds it."""
    db.execute(delete(schema.leases).where(_L.name == name, _L.owner == owner))


def save_progress(db: Connection, work: str, doc: Doc) -> None:
    """Store the progress document of `work`."""
    upsert(db, schema.progress, [{"name": work, "doc": json.dumps(doc).encode()}])


def load_progress(views: ViewStore, work: str) -> Doc:
    """Return the stored progress of `work`; empty if it never began or the views are new."""
    with views.reading() as db:
        rows = _FIND_PROGRESS.fetch_all(db, work=work)
    return dict(json.loads(rows[0][0])) if rows else {}
