"""How far work in the background has come, and who alone does it."""

from __future__ import annotations

import json

from sqlalchemy import Connection, bindparam, select

from domain.ids import Doc
from projections import schema
from projections.store import Views, upsert

LEASE = 10_000
"""How long a lease is held without being renewed, ms."""

_HELD = select(schema.leases).where(schema.leases.c.name == bindparam("lease")).with_for_update()
_DONE = select(schema.progress.c.doc).where(schema.progress.c.name == bindparam("work"))


class LeaseLostError(Exception):
    """Somebody else does this work."""


def hold(db: Connection, name: str, owner: str, now: int) -> bool:
    """Take or renew a lease; whether it was the owner's before. Raises LeaseLostError."""
    held = db.execute(_HELD, {"lease": name}).first()
    if held and held.owner != owner and held.until > now:
        raise LeaseLostError(held.owner)
    upsert(db, schema.leases, [{"name": name, "owner": owner, "until": now + LEASE}])
    return held is not None and held.owner == owner


def keep(db: Connection, work: str, doc: Doc) -> None:
    """Write down how far that work has come."""
    upsert(db, schema.progress, [{"name": work, "doc": json.dumps(doc).encode()}])


def kept(views: Views, work: str) -> Doc:
    """What was written down last; nothing if the work was never begun, or the views are new."""
    with views.reading() as db:
        row = db.execute(_DONE, {"work": work}).first()
    return dict(json.loads(row.doc)) if row else {}
