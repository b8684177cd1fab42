"""How far work in the background has come, and who alone does it."""

from __future__ import annotations

import json

from sqlalchemy import Connection, bindparam, select

from domain.types import Doc
from projections import schema
from projections.view_store import Prepared, Views, upsert

LEASE = 10_000
"""How long a lease is held without being renewed, ms."""

_L = schema.leases.c
_HELD = Prepared(select(_L.owner, _L.until).where(_L.name == bindparam("lease")).with_for_update())
_DONE = select(schema.progress.c.doc).where(schema.progress.c.name == bindparam("work"))


class LeaseLostError(Exception):
    """Somebody else does this work."""


def hold(db: Connection, name: str, owner: str, now: int) -> bool:
    """Take or renew a lease; whether it was the owner's before. Raises LeaseLostError."""
    ((before, until),) = _HELD.rows(db, lease=name) or [("", 0)]
    if before not in ("", owner) and until > now:
        raise LeaseLostError(before)
    if before != owner or not now <= until - LEASE // 2 <= now + LEASE:
        upsert(db, schema.leases, [{"name": name, "owner": owner, "until": now + LEASE}])
    return bool(before == owner)


def keep(db: Connection, work: str, doc: Doc) -> None:
    """Write down how far that work has come."""
    upsert(db, schema.progress, [{"name": work, "doc": json.dumps(doc).encode()}])


def kept(views: Views, work: str) -> Doc:
    """What was written down last; nothing if the work was never begun, or the views are new."""
    with views.reading() as db:
        row = db.execute(_DONE, {"work": work}).first()
    return dict(json.loads(row.doc)) if row else {}
