"""How far work in the background has come, and who alone does it."""

from __future__ import annotations

import json

from sqlalchemy import Connection, bindparam, select

from domain.types import Doc
from projections import schema
from projections.view_store import PreparedStatement, ViewStore, upsert

LEASE = 10_000
"""How long a lease is held without being renewed, ms."""

_L = schema.leases.c
_FIND_LEASE = PreparedStatement(select(_L.owner, _L.until).where(_L.name == bindparam("lease")).with_for_update())
_FIND_PROGRESS = select(schema.progress.c.doc).where(schema.progress.c.name == bindparam("work"))


class LeaseLostError(Exception):
    """Somebody else does this work."""


def acquire_lease(db: Connection, name: str, owner: str, now: int) -> bool:
    """Take or renew a lease; whether it was the owner's before. Raises LeaseLostError."""
    ((previous_owner, until),) = _FIND_LEASE.fetch_all(db, lease=name) or [("", 0)]
    if previous_owner not in ("", owner) and until > now:
        raise LeaseLostError(previous_owner)
    if previous_owner != owner or not now <= until - LEASE // 2 <= now + LEASE:
        upsert(db, schema.leases, [{"name": name, "owner": owner, "until": now + LEASE}])
    return bool(previous_owner == owner)


def save_progress(db: Connection, work: str, doc: Doc) -> None:
    """Write down how far that work has come."""
    upsert(db, schema.progress, [{"name": work, "doc": json.dumps(doc).encode()}])


def load_progress(views: ViewStore, work: str) -> Doc:
    """What was written down last; nothing if the work was never begun, or the views are new."""
    with views.reading() as db:
        row = db.execute(_FIND_PROGRESS, {"work": work}).first()
    return dict(json.loads(row.doc)) if row else {}
