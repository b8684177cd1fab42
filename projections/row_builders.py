"""Rows of the view tables, built from games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from domain.bots import THINKING
from domain.kernel.game.game import AnyGame
from domain.kernel.game.last_turn import find_adjournment
from domain.kernel.game.rulings import final_scores
from domain.kernel.game.seat_players import bot_of
from domain.kernel.game.table_commands import UNSTARTED_LIMIT_MS
from domain.kernel.records.record import Record
from domain.ratings import LEAVERS_LAST
from domain.tournaments.aggregate.clock_commands import find_clock_act
from domain.tournaments.aggregate.queue_commands import find_next_table
from domain.tournaments.aggregate.schedule_commands import find_next_opening
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.attendance import PRESENT, GameAttendance
from domain.types import MAX_INT, PUBLIC, Doc, Seat, Viewer
from projections import documents, schema
from projections.delayed_views import DelayedGame
from projections.loaded_game import LoadedGame
from projections.view_store import ViewStore

NO_DECISION = "0-0"
"""Decision id of due work in a game without an open decision."""


def build_timeline_rows(record: Record, before: LoadedGame | None, loaded: LoadedGame, views: ViewStore) -> list[Doc]:
    """Return the timeline rows of a record, one for each audience."""
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
    """Return the board rows of these viewers. At a delayed table, the public board is for its players."""
    by_version: dict[int, tuple[LoadedGame, list[Viewer]]] = {}
    for viewer, loaded in affected.items():
        by_version.setdefault(loaded.game.version, (loaded, []))[1].append(viewer)
    rows = []
    for loaded, viewers in by_version.values():
        for viewer, doc in documents.build_boards(loaded, viewers).items():
            reader = schema.AT_THE_TABLE if viewer == PUBLIC and loaded.game.delay else str(viewer)
            rows.append(build_board_row(gen, loaded, reader, doc, views))
    return rows


def build_board_row(gen: int, loaded: LoadedGame, reader: str, doc: bytes, views: ViewStore) -> Doc:
    """Return the row of an encoded board."""
    p = loaded.game
    return {
        "gen": gen,
        "game": p.id,
        "viewer": reader,
        "version": p.version,
        "doc": views.seal_document(p.id, reader, doc),
    }


def build_delay_row(gen: int, delayed: DelayedGame) -> Doc:
    """Return the row with the spectators' progress."""
    return {
        "gen": gen,
        "game": delayed.game,
        "shown": delayed.shown_version,
        "head": delayed.head_version,
        "at": delayed.due_at,
    }


def build_game_row(gen: int, loaded: LoadedGame, place: int, shown_to: str) -> Doc:
    """Return the row of a game's summary."""
    p = loaded.game
    row = {"gen": gen, "game": p.id, "place": place, "version": p.version, "ruleset": p.ruleset, "shown_to": shown_to}
    doc = documents.encode_document(documents.build_summary(loaded))
    occupied = sum(bool(player.id) for player in p.players.values()) - len(p.absent_seats)
    free = p.table.seats - occupied if p.status in ("open", "running") else 0
    return {**row, "status": p.status, "listing": loaded.listing, "free": free, "at": p.time, "doc": doc}


def build_due_rows(gen: int, loaded: LoadedGame) -> list[Doc]:
    """Return rows of due work: engine and bots at once, deadlines at their time, vacant seats after any hold.

    A pause puts off all of it, unless it allows moves: then engine and bots go on. A lapse during a pause without end
    is never due; its row only serves the recovery of an outage.
    """
    rows = []
    base = {"gen": gen, "game": loaded.game.id, "deadline": None, "last": None}
    pause, stands = loaded.game.current_pause, loaded.game.as_at_standstill
    after_pause = MAX_INT if loaded.game.has_stopped else loaded.game.playing_time(loaded.game.time)
    at_once = loaded.game.time if pause is None or pause.moves else after_pause
    if loaded.game.status == "open":
        rows.append({**base, "decision": NO_DECISION, "work": "sweep", "at": loaded.game.time + UNSTARTED_LIMIT_MS})
    if (ruling := loaded.game.pending_ruling) is not None:
        rows.append({**base, "decision": NO_DECISION, "work": "ruling", "at": ruling.final_at})
    if (limit := find_adjournment(loaded.rules, loaded.game)) is not None:
        rows.append({**base, "decision": NO_DECISION, "work": "limit", "at": limit})
    for d in loaded.open_decisions("director"):
        if d.engine:
            rows.append({**base, "decision": d.id, "work": "resolve", "at": at_once})
        if dues := stands.due_times(d.must).values():
            first = MAX_INT if loaded.game.has_stopped else min(dues)
            late = {"at": first, "deadline": min(stands.seat_deadlines(d.must)), "last": max(dues)}
            rows.append({**base, "decision": d.id, "work": "lapse", **late})
        if vacant := (set(d.must) & set(loaded.game.state.vacant)) | set(loaded.game.unvacated_seats):
            free = min(loaded.game.timing.banks[seat].hold_end for seat in vacant)
            rows.append({**base, "decision": d.id, "work": "vacant", "at": max(free, after_pause)})
        rows += [
            {**base, "decision": d.id, "work": work, "at": at_once} for work in _list_bot_works(loaded.game, d.must)
        ]
    return rows


def _list_bot_works(game: AnyGame, owing: Iterable[Seat]) -> list[str]:
    """Return the kinds of work of the bots that owe an answer: `bot` at once, `think` by the worker of long jobs."""
    bots = {bot_of(game.players[seat]) for seat in owing if seat in game.players} - {""}
    return [work for work, some in (("bot", bots - THINKING), ("think", bots & THINKING)) if some]


def build_tournament_due_rows(gen: int, t: Tournament) -> list[Doc]:
    """Return the rows of a tournament's due work: a table from a queue, the next event by a rule, a timetable's act."""
    base = {"gen": gen, "game": t.id, "decision": NO_DECISION, "deadline": None, "last": None}
    act = find_clock_act(t)
    due = {"queue": find_next_table(t), "series": find_next_opening(t), "clock": act.at if act else None}
    return [{**base, "work": work, "at": at} for work, at in due.items() if at is not None]


def build_seat_rows(gen: int, loaded: LoadedGame) -> list[Doc]:
    """Return a row for each seat."""
    p = loaded.game
    people = [p.players[seat].id if seat in p.players else "" for seat in range(p.table.seats)]
    return [{"gen": gen, "game": p.id, "seat": seat, "player": player} for seat, player in enumerate(people)]


def build_result_rows(gen: int, loaded: LoadedGame, attendance: GameAttendance = PRESENT) -> list[Doc]:
    """Return the rows of a closed game's results: of the players at its end, and of concessions. Forks have none.

    Where the terms say so, giving a seat back counts as a concession, and whoever has given one up holds no other.
    """
    p = loaded.game
    ending = p.ending
    if "origin" in p.terms or ending is None:
        return []
    base = {"gen": gen, "game": p.id, "ruleset": p.ruleset, "at": p.time}
    base |= {"place": None, "points": None, "reason": ending.reason, "by": ending.by, "conceded": False}
    base |= {"forfeited": False, "penalty": 0, "held": True, "adopted": False}
    seated = {(seat, player.id) for seat, player in p.players.items()}
    given_up = dict.fromkeys([*p.seating.concessions, *attendance.leavers])
    conceded = [base | {"seat": seat, "player": player, "conceded": True} for seat, player in given_up]
    is_strict = p.terms.get("leavers") == LEAVERS_LAST
    quitters = {player for seat, player in given_up if is_strict and (seat, player) not in seated}
    ruling = p.reversible.ruling
    forfeits, penalties = (ruling.forfeits, ruling.penalties) if ruling else ((), {})
    players = [p.players[seat].id if seat in p.players else "" for seat in range(p.table.seats)]
    people = {
        seat: {
            "seat": seat,
            "player": player,
            "forfeited": seat in forfeits,
            "penalty": penalties.get(seat, 0),
            "held": seat not in attendance.unheld and player not in quitters,
            "adopted": seat in attendance.adopted or player in quitters,
        }
        for seat, player in enumerate(players)
    }
    scores = final_scores(loaded.rules, p)
    if not scores:
        return [base | sat for sat in people.values() if sat["player"]] + conceded
    return conceded + [base | people[s.seat] | {"place": s.place, "points": s.points} for s in scores]
