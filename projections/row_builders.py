"""What stands in the tables of the read side: rows made of games, of one generation."""

from __future__ import annotations

from collections.abc import Mapping

from domain.kernel.game.game import bot_of
from domain.kernel.game.table_commands import UNSTARTED_LIMIT_MS
from domain.kernel.records.record import Record
from domain.types import PUBLIC, Doc, Viewer
from projections import documents, schema
from projections.delayed_views import DelayedGame
from projections.loaded_game import LoadedGame
from projections.view_store import ViewStore

NO_DECISION = "0-0"
"""Of work that is due to a game in which nothing is to be decided."""


def build_timeline_rows(record: Record, before: LoadedGame | None, loaded: LoadedGame, views: ViewStore) -> list[Doc]:
    """What a record says to each audience."""
    row = {"game": loaded.game.id, "version": record.version}
    return [
        {
            **row,
            "audience": audience,
            "doc": views.seal_document(loaded.game.id, audience, documents.encode_document(doc)),
        }
        for audience, doc in documents.build_entries(record, before, loaded).items()
    ]


def build_board_rows(gen: int, affected: Mapping[Viewer, LoadedGame], views: ViewStore) -> list[Doc]:
    """Of the boards of these viewers; at a table with a delay that of the public is for those at the table."""
    by: dict[int, tuple[LoadedGame, list[Viewer]]] = {}
    for viewer, known in affected.items():
        by.setdefault(known.game.version, (known, []))[1].append(viewer)
    rows = []
    for known, viewers in by.values():
        for viewer, doc in documents.build_boards(known, viewers).items():
            reader = schema.AT_THE_TABLE if viewer == PUBLIC and known.game.delay else str(viewer)
            rows.append(build_board_row(gen, known, reader, doc, views))
    return rows


def build_board_row(gen: int, loaded: LoadedGame, reader: str, doc: bytes, views: ViewStore) -> Doc:
    """Of a board that is rendered."""
    p = loaded.game
    return {
        "gen": gen,
        "game": p.id,
        "viewer": reader,
        "version": p.version,
        "doc": views.seal_document(p.id, reader, doc),
    }


def build_delay_row(gen: int, delayed: DelayedGame) -> Doc:
    """Of how far spectators see."""
    return {
        "gen": gen,
        "game": delayed.game,
        "shown": delayed.shown_version,
        "head": delayed.head_version,
        "at": delayed.due_at,
    }


def build_game_row(gen: int, loaded: LoadedGame, place: int, shown_to: str) -> Doc:
    """Of a summary."""
    p = loaded.game
    row = {"gen": gen, "game": p.id, "place": place, "version": p.version, "ruleset": p.ruleset, "shown_to": shown_to}
    doc = documents.encode_document(documents.build_summary(loaded))
    occupied = sum(bool(player.id) for player in p.players.values())
    free = p.table.seats - occupied if p.status in ("open", "running") else 0
    return {**row, "status": p.status, "listing": loaded.listing, "free": free, "at": p.time, "doc": doc}


def build_due_rows(gen: int, loaded: LoadedGame) -> list[Doc]:
    """The engine's work and bots' moves are due at once, deadlines when they pass, vacant seats once none is held."""
    rows = []
    base = {"gen": gen, "game": loaded.game.id, "deadline": None, "last": None}
    if loaded.game.status == "open":
        rows.append({**base, "decision": NO_DECISION, "work": "sweep", "at": loaded.game.time + UNSTARTED_LIMIT_MS})
    for d in loaded.open_decisions("director"):
        if d.engine:
            rows.append({**base, "decision": d.id, "work": "resolve", "at": loaded.game.time})
        if dues := loaded.game.due_times(d.must).values():
            late = {"at": min(dues), "deadline": min(loaded.game.seat_deadlines(d.must)), "last": max(dues)}
            rows.append({**base, "decision": d.id, "work": "lapse", **late})
        if vacant := (set(d.must) & set(loaded.game.state.vacant)) | set(loaded.game.unvacated_seats):
            free = min(loaded.game.time_banks[seat].hold_end for seat in vacant)
            rows.append({**base, "decision": d.id, "work": "vacant", "at": max(free, loaded.game.time)})
        if any(bot_of(loaded.game.players[seat]) for seat in d.must if seat in loaded.game.players):
            rows.append({**base, "decision": d.id, "work": "bot", "at": loaded.game.time})
    return rows


def build_seat_rows(gen: int, loaded: LoadedGame) -> list[Doc]:
    """Who sits there."""
    p = loaded.game
    people = [p.players[seat].id if seat in p.players else "" for seat in range(p.table.seats)]
    return [{"gen": gen, "game": p.id, "seat": seat, "player": player} for seat, player in enumerate(people)]


def build_result_rows(gen: int, loaded: LoadedGame) -> list[Doc]:
    """Of a game that is closed."""
    p = loaded.game
    ending = p.ending or {}
    base = {"gen": gen, "game": p.id, "ruleset": p.ruleset, "at": p.time}
    base |= {"place": None, "points": None, "reason": ending["reason"], "by": ending["by"]}
    people = {seat: {"seat": seat, "player": player.id} for seat, player in p.players.items()}
    if not ending["finished"]:
        return [base | sat for sat in people.values() if sat["player"]]
    return [
        base | people.get(s.seat, {"seat": s.seat, "player": ""}) | {"place": s.place, "points": s.points}
        for s in loaded.rules.scores(p.state)
    ]
