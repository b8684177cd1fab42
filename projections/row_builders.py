"""What stands in the tables of the read side: rows made of games, of one generation."""

from __future__ import annotations

from collections.abc import Mapping

from domain.kernel.game.game import bot_of
from domain.kernel.game.table_commands import UNSTARTED
from domain.kernel.records.record import Record
from domain.types import PUBLIC, Doc, Viewer
from projections import documents, schema
from projections.delayed_views import Late
from projections.loaded_game import Known
from projections.view_store import Views

NO_DECISION = "0-0"
"""Of work that is due to a game in which nothing is to be decided."""


def lines_of(record: Record, before: Known | None, known: Known, views: Views) -> list[Doc]:
    """What a record says to each audience."""
    row = {"game": known.game.id, "version": record.version}
    return [
        {**row, "audience": audience, "doc": views.kept(known.game.id, audience, documents.rendered(doc))}
        for audience, doc in documents.entries(record, before, known).items()
    ]


def boards_of(gen: int, touched: Mapping[Viewer, Known], views: Views) -> list[Doc]:
    """Of the boards of these viewers; at a table with a delay that of the public is for those at the table."""
    by: dict[int, tuple[Known, list[Viewer]]] = {}
    for viewer, known in touched.items():
        by.setdefault(known.game.version, (known, []))[1].append(viewer)
    rows = []
    for known, viewers in by.values():
        for viewer, doc in documents.boards(known, viewers).items():
            reader = schema.AT_THE_TABLE if viewer == PUBLIC and known.game.delay else str(viewer)
            rows.append(board_of(gen, known, reader, doc, views))
    return rows


def board_of(gen: int, known: Known, reader: str, doc: bytes, views: Views) -> Doc:
    """Of a board that is rendered."""
    p = known.game
    return {"gen": gen, "game": p.id, "viewer": reader, "version": p.version, "doc": views.kept(p.id, reader, doc)}


def held_of(gen: int, held: Late) -> Doc:
    """Of how far spectators see."""
    return {"gen": gen, "game": held.game, "shown": held.shown, "head": held.head, "at": held.at}


def game_of(gen: int, known: Known, place: int, shown_to: str) -> Doc:
    """Of a summary."""
    p = known.game
    row = {"gen": gen, "game": p.id, "place": place, "version": p.version, "ruleset": p.ruleset, "shown_to": shown_to}
    doc = documents.rendered(documents.summary(known))
    taken = sum(bool(player.id) for player in p.players.values())
    free = p.table.seats - taken if p.status in ("open", "running") else 0
    return {**row, "status": p.status, "listing": known.listing, "free": free, "at": p.at, "doc": doc}


def due_of(gen: int, known: Known) -> list[Doc]:
    """The engine's work and bots' moves are due at once, deadlines when they pass, vacant seats once none is held."""
    rows = []
    base = {"gen": gen, "game": known.game.id, "deadline": None, "last": None}
    if known.game.status == "open":
        rows.append({**base, "decision": NO_DECISION, "work": "sweep", "at": known.game.at + UNSTARTED})
    for d in known.open("director"):
        if d.engine:
            rows.append({**base, "decision": d.id, "work": "resolve", "at": known.game.at})
        if dues := known.game.dues(d.must).values():
            late = {"at": min(dues), "deadline": min(known.game.deadlines(d.must)), "last": max(dues)}
            rows.append({**base, "decision": d.id, "work": "lapse", **late})
        if vacant := (set(d.must) & set(known.game.state.vacant)) | set(known.game.kept):
            free = min(known.game.accounts[seat].held for seat in vacant)
            rows.append({**base, "decision": d.id, "work": "vacant", "at": max(free, known.game.at)})
        if any(bot_of(known.game.players[seat]) for seat in d.must if seat in known.game.players):
            rows.append({**base, "decision": d.id, "work": "bot", "at": known.game.at})
    return rows


def seated_of(gen: int, known: Known) -> list[Doc]:
    """Who sits there."""
    p = known.game
    people = [p.players[seat].id if seat in p.players else "" for seat in range(p.table.seats)]
    return [{"gen": gen, "game": p.id, "seat": seat, "player": player} for seat, player in enumerate(people)]


def results_of(gen: int, known: Known) -> list[Doc]:
    """Of a game that is closed."""
    p = known.game
    ending = p.ending or {}
    base = {"gen": gen, "game": p.id, "ruleset": p.ruleset, "at": p.at}
    base |= {"place": None, "points": None, "reason": ending["reason"], "by": ending["by"]}
    people = {seat: {"seat": seat, "player": player.id} for seat, player in p.players.items()}
    if not ending["finished"]:
        return [base | sat for sat in people.values() if sat["player"]]
    return [
        base | people.get(s.seat, {"seat": s.seat, "player": ""}) | {"place": s.place, "points": s.points}
        for s in known.rules.scores(p.state)
    ]
