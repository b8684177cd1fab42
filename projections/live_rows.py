"""Conditions and expressions that queries of the live generation share."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Table, func, select

from projections import schema


def is_live(table: Table) -> ColumnElement[bool]:
    """Return the condition that a row belongs to the live generation."""
    live = select(schema.generations.c.gen).where(schema.generations.c.live).scalar_subquery()
    return table.c.gen == live


def hidden_from(inside: bool) -> str:
    """Return the `shown_to` of summaries to leave out: those of spectators for a reader `inside`, else the table's."""
    return schema.SPECTATORS if inside else schema.AT_THE_TABLE


READ_POSITION = select(func.min(schema.parts.c.position)).where(is_live(schema.parts))
"""The log position up to which all partitions of the live generation have read."""
