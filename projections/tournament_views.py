"""Views of tournaments: a summary for lists, and the documents of one tournament.

Everything about a tournament is public, so a view is a function of its fold alone, the same for all readers. Of a
sealed bid it has the entrant alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from domain.errors import VerificationError
from domain.kernel.records.record import Record
from domain.ledger import Ledger, LogEntry
from domain.tournaments.aggregate.change_commands import list_changes
from domain.tournaments.aggregate.clock_commands import ClockAct, find_clock_act, find_round_end, time_shown_limit
from domain.tournaments.aggregate.elsewhere_commands import SETTLE_MS
from domain.tournaments.aggregate.pairing import build_official
from domain.tournaments.aggregate.queue_commands import (
    MAX_TABLES,
    find_next_table,
    find_queue_end,
    list_pods,
    list_ready,
)
from domain.tournaments.aggregate.stage import REPLAY, PodTable, RulingAppeal, TablePlace
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_fold import apply_tournament_record, fold_tournament, initial_tournament
from domain.tournaments.attendance import find_absent_seats
from domain.tournaments.records import FAMILY
from domain.tournaments.results import TableResult
from domain.tournaments.terms import DECLARED, terms_to_json
from domain.types import Doc, Json
from projections import documents
from projections.tournament_documents import (
    ClockActDoc,
    EnteredScoresDoc,
    EntrantDoc,
    PlacesByRoundDoc,
    PodDoc,
    RoundDoc,
    ScheduleDoc,
    StageTimetableDoc,
    StoredTournamentDoc,
    TermAmendmentDoc,
    TournamentAppealDoc,
    TournamentDoc,
    TournamentQueueDoc,
    TournamentRulingDoc,
    TournamentStageDoc,
)

PodPlace = tuple[int, int, int]
"""Stage, round and pod of a table."""


@dataclass(frozen=True)
class TournamentLoader:
    """Loads tournaments for records read from the log."""

    ledger: Ledger

    def load(self, before: Tournament | None, entry: LogEntry) -> Tournament:
        """Return the tournament after the entry's record; `before` is a cached one, of any version."""
        if entry.version == 1:
            return initial_tournament(entry.record)
        if before is None or before.version != entry.version - 1:
            before = fold_tournament(self.ledger.read(entry.game, upto=entry.version - 1))
            if before.version != entry.version - 1:
                raise VerificationError("unreadable", before.version + 1, "it is gone")
        return apply_tournament_record(before, entry.record)


def build_tournament_row(gen: int, t: Tournament, place: int, *, archived: bool) -> Doc:
    """Return the row of a tournament's summary."""
    row = {"gen": gen, "game": t.id, "place": place, "version": t.version, "ruleset": t.terms.ruleset}
    doc = documents.encode_document(build_summary(t))
    return {**row, "status": t.status, "listing": t.terms.listing, "at": t.time, "archived": archived, "doc": doc}


def list_changed_pods(t: Tournament, record: Record) -> list[PodPlace]:
    """Return stage, round and pod of the tables that a record of the tournament may have changed."""
    kind, body = record.kind.removeprefix(FAMILY), record.body
    if kind in ("tabled", "elsewhere", "reported", "settled", "annulled", "placed"):
        return [(body["stage"], body["round"], body["pod"])]
    if kind in ("excluded", "restored"):
        return [(body["stage"], *place) for place in t.stages[body["stage"] - 1].tables]
    return []


def list_replayed(gen: int, t: Tournament, record: Record) -> list[Doc]:
    """Return the key of the row of a table that a record lets be played again."""
    body = record.body
    if record.kind != f"{FAMILY}annulled" or body["how"] != REPLAY:
        return []
    place = body["round"], body["pod"]
    attempt = t.stages[body["stage"] - 1].attempt_at(place) - 1
    key = {"in_stage": body["stage"], "in_round": place[0], "of_pod": place[1], "of_attempt": attempt}
    return [{"in_gen": gen, "of_game": t.id, **key}]


def build_table_rows(gen: int, t: Tournament, pods: Iterable[PodPlace]) -> list[Doc]:
    """Return the rows of tables, with the rulings on them."""
    rows, counted = list[Doc](), dict[PodPlace, TableResult]()
    for number in sorted({stage for stage, _, _ in pods}):
        counted |= {(number, table.round, table.pod): table for table in t.stage(number).tables}
    for pod in sorted(pods):
        stage, *place = pod
        table = t.stages[stage - 1].tables.get((place[0], place[1]), PodTable(()))
        result, after = table.result or {}, counted.get(pod)
        ruled = after.places if after and list(after.places) != result.get("places", []) else ()
        rows.append(
            {
                "gen": gen,
                "game": t.id,
                "stage": stage,
                "round": place[0],
                "pod": place[1],
                "attempt": t.stages[stage - 1].attempt_at((place[0], place[1])),
                "table_game": table.game,
                "reported": table.result is not None or bool(table.annulled),
                "counts": after is not None and not after.annulled,
                "places": ",".join(map(str, ruled)),
            }
        )
    return rows


def build_summary(t: Tournament) -> StoredTournamentDoc:
    """Return the summary of a tournament, for lists."""
    terms, stage = t.terms, t.stage_terms
    return {
        "tournament": t.id,
        "version": t.version,
        "status": t.status,
        "director": t.director,
        "ruleset": terms.ruleset,
        "format": stage.format,
        "entrants": sum(not each.withdrawn for each in t.entrants),
        "capacity": terms.capacity,
        "stage": len(t.stages),
        "rounds": t.play.planned or stage.rounds,
        "ranked": len(t.play.rankings),
        "whole": t.is_whole,
        "at": t.time,
    }


def list_people(t: Tournament) -> list[str]:
    """Return the player ids of the organiser, the entrants and their substitutes."""
    people = {player for each in t.entrants for player in (each.player, *each.substitutes)}
    return [t.director, *sorted(people - {t.director})]


def build_tournament(
    t: Tournament, names: Mapping[str, str], texts: Mapping[str, str] = MappingProxyType({})
) -> TournamentDoc:
    """Return the whole document of a tournament: terms, entrants, draws, and the figures of the summary.

    `names`: player -> name of the organiser, the entrants and their substitutes, if given; `texts`: hash -> reason.
    """
    terms, ready, left_out = t.terms, list_ready(t), t.list_left_out()
    queue = t.play.queue if t.has_queue else ()
    return {
        **build_summary(t),
        "names": dict(names),
        "head": t.hash,
        "seats": {"least": terms.least, "most": terms.most, "preferred": terms.preferred},
        "options": terms.options,
        "table": terms.table,
        "listing": terms.listing,
        "stages": [_stage_to_json(t, number) for number in range(1, len(terms.stages) + 1)],
        "chain": {"draws": terms.chain, "used": len(t.secrets) - 1, "secrets": list(t.secrets), "key": t.key},
        "reveal": terms.reveal,
        "division": terms.division,
        "division_of": terms.division_of,
        "divisions": [{"tournament": each, "name": name} for each, name in t.divisions.items()],
        "elsewhere": terms.elsewhere,
        "bots": terms.bots or DECLARED,
        "band": {"least": band.least, "most": band.most, "tables": band.tables} if (band := terms.band) else None,
        "takes_late": t.takes_late,
        "queue": _queue_to_json(t) if t.has_queue else None,
        "schedule": _schedule_to_json(t.schedule, t.successor) if t.schedule else None,
        "timetable": _timetable_to_json(t),
        "clock": _act_to_json(find_clock_act(t)),
        "paused_at": t.paused_at or None,
        "amendments": list_amendments(t, texts),
        "nonces_until": t.nonces_end if t.status == "drawing" else None,
        "people": [_entrant_to_json(t, entrant, queue, ready, left_out) for entrant in range(len(t.entrants))],
        "plan": t.play.plan,
        "officers": [{"player": player, "office": office} for player, office in sorted(t.officers.items())],
    }


def _queue_to_json(t: Tournament) -> TournamentQueueDoc:
    return {
        "waiting": len(t.play.queue),
        "next_at": find_next_table(t),
        "closed": t.play.queue_closed,
        "left": {"days": t.terms.chain + 1 - len(t.secrets), "tables": MAX_TABLES - len(list_pods(t))},
        "ends_at": find_queue_end(t),
    }


def _act_to_json(due: ClockAct | None) -> ClockActDoc | None:
    return {"act": due.act, "stage": due.stage, "round": due.round, "at": due.at} if due else None


def _timetable_to_json(t: Tournament) -> StageTimetableDoc | None:
    stage, table = len(t.stages), t.timetables.get(len(t.stages))
    if table is None:
        return None
    return {
        "stage": stage,
        "starts": list(table.starts),
        "opens": table.opens,
        "closes": table.closes,
        "each": table.each,
        "warning": table.warning,
        "extension": table.extension,
    }


def list_amendments(t: Tournament, texts: Mapping[str, str]) -> list[TermAmendmentDoc]:
    """Return the changes of the terms, with both values of each."""
    later = [each.before for each in t.amendments[1:]] + [t.terms]
    return [
        {
            "version": each.version,
            "at": each.at,
            "officer": each.officer,
            "reason": texts.get(each.reason),
            "changes": [
                {"at": pointer, "before": before, "after": after}
                for pointer, (before, after) in list_changes(terms_to_json(each.before), terms_to_json(terms))
            ],
        }
        for each, terms in zip(t.amendments, later, strict=False)
    ]


def _schedule_to_json(schedule: Doc, successor: str) -> ScheduleDoc:
    """Return the body of the last `scheduled`, and the next event once it is opened."""
    return {
        "rule": schedule["rule"],
        "zone": schedule["zone"],
        "start": schedule["start"],
        "number": schedule["number"],
        "at": schedule["at"],
        "next_at": schedule.get("next_at"),
        "follows": schedule.get("follows"),
        "next": successor or None,
    }


def _stage_to_json(t: Tournament, number: int) -> TournamentStageDoc:
    stage = t.terms.stages[number - 1]
    doc: TournamentStageDoc = {
        "format": stage.format,
        "rounds": stage.rounds,
        "concurrent": stage.concurrent,
        "scoring": stage.scoring,
        "unit": stage.unit,
        "lists": {seats: list(points) for seats, points in stage.lists.items()},
        "total": stage.total,
        "ties": list(stage.ties),
        "advance": [{"first": step.first, "wild_cards": step.wild_cards} for step in stage.advance],
        "entrants": stage.entrants,
        "seating": stage.seating,
        "bidding": stage.bidding,
        "bid_rate": stage.bid_rate,
        "relations": stage.relations,
        "seeds": stage.seeds,
        "patience": stage.patience,
        "window": stage.window,
    }
    if stage.wanted_bye is not None:
        doc["wanted_bye"] = stage.wanted_bye
    return doc


def _entrant_to_json(
    t: Tournament, entrant: int, queue: Collection[int], ready: Collection[int], left_out: Collection[int]
) -> EntrantDoc:
    person = t.entrants[entrant]
    return {
        "entrant": entrant,
        "player": person.player,
        "withdrawn": person.withdrawn,
        "excluded": person.excluded,
        "substitutes": list(person.substitutes),
        "waiting": t.is_waiting(entrant),
        "queued": entrant in queue,
        "may_queue": entrant in ready,
        "checked_in": entrant in t.commitments,
        "takes_part": entrant in t.participants,
        "left_out": entrant in left_out,
        "nonce_hash": t.commitments.get(entrant, ""),
        "nonce": t.nonces.get(entrant, ""),
    }


def has_round(t: Tournament, stage: int, round_: int) -> bool:
    """Return whether a round has been drawn."""
    return 1 <= stage <= len(t.stages) and 1 <= round_ <= len(t.stages[stage - 1].rounds)


def build_round(t: Tournament, stage: int, round_: int) -> RoundDoc:
    """Return a round: its pods with their tables and results by the rulings, its byes, and whether it is ranked."""
    play = t.stages[stage - 1]
    drawn = play.rounds[round_ - 1]
    counted = {(table.round, table.pod): table for table in t.stage(stage).tables}
    return {
        "stage": stage,
        "round": round_,
        "pods": [
            _pod_to_json(t, stage, (round_, pod), counted.get((round_, pod))) for pod in range(1, len(drawn.pods) + 1)
        ],
        "byes": list(drawn.byes),
        "relations": list(drawn.relations),
        "together": list(drawn.list_together()),
        "starts_at": table.find_start(round_) if (table := t.timetables.get(stage)) else None,
        "ends_at": find_round_end(t, stage, round_) or None,
        "extended": (round_, True) in play.warnings,
        "bids_until": play.bidding.get(round_),
        "filed": sorted(entrant for number, entrant in play.bids if number == round_),
        "ended": play.has_round_ended(round_),
        "ranked": len(play.rankings) >= round_,
        "outdated": round_ == len(play.rankings) and "replaces" in build_official(t, stage, round_),
    }


def build_progress(t: Tournament, stage: int) -> PlacesByRoundDoc:
    """Return the official standings of a stage after each round, by entrant: the last first place comes first."""
    rankings = t.stages[stage - 1].rankings
    listed = [{row["entrant"]: row for row in ranking["standings"]} for ranking in rankings]
    order = dict.fromkeys(entrant for rows in reversed(listed) for entrant in rows)
    return {
        "tournament": t.id,
        "version": t.version,
        "stage": stage,
        "rounds": list(range(1, len(rankings) + 1)),
        "entrants": [
            {
                "entrant": entrant,
                "places": [rows[entrant]["place"] if entrant in rows else None for rows in listed],
                "ticks": [rows[entrant]["ticks"] if entrant in rows else None for rows in listed],
            }
            for entrant in order
        ],
    }


def _pod_to_json(t: Tournament, stage: int, place: TablePlace, counted: TableResult | None) -> PodDoc:
    """Return a pod with its result, and whether its seats are given, with the opened bids or lists and handicaps."""
    play = t.stages[stage - 1]
    opened = {each["entrant"]: each["bid"] for each in play.seatings.get(place, {}).get("opened", ())}
    table = play.tables.get(place, PodTable(tuple(play.list_pod(place))))
    result: Json = table.result or {}
    limit = time_shown_limit(t, stage, place[0])
    is_void = counted is None or (table.result is not None and not result["places"] and not counted.places)
    return {
        "table": f"{place[0]}.{place[1]}",
        "entrants": list(table.entrants),
        "game": table.game or None,
        "elsewhere": table.elsewhere,
        "scores": scores_to_json(table),
        "attempt": play.attempt_at(place),
        "annulled": table.annulled if counted is None or is_void else counted.annulled,
        "reported": table.result is not None,
        "ends_at": table.made_at + limit * 1000 if limit and table.is_open else None,
        "places": list(counted.places) if counted else [],
        "points": result.get("points", []),
        "decisions": result.get("decisions", []),
        "absent": sorted(find_absent_seats(result.get("decisions", []))),
        "lapses": result.get("lapses", []),
        "seated": not t.wants_seats(stage, place),
        "bids": [opened.get(entrant) for entrant in table.entrants] if opened else [],
        "handicaps": list(play.list_handicaps(place, table.entrants)),
    }


def scores_to_json(table: PodTable) -> EnteredScoresDoc | None:
    """Return the entered scores of a table elsewhere, before they are its result."""
    scores = table.scores if table.is_open else None
    if scores is None:
        return None
    return {
        "scores": scores.version,
        "at": scores.at,
        "places": list(scores.places),
        "points": list(scores.points),
        "confirmed": sorted(scores.confirmed),
        "missing": [entrant for entrant in table.entrants if entrant not in scores.confirmed],
        "settles_at": scores.at + SETTLE_MS,
    }


def build_rulings(t: Tournament, texts: Mapping[str, str]) -> list[TournamentRulingDoc]:
    """Return the rulings, the first one first: version, kind, author, stage, and the members of their records.

    `texts`: hash -> reason or answer.
    """
    rulings: list[TournamentRulingDoc] = []
    for each in t.rulings:
        ruling: TournamentRulingDoc = {
            "ruling": each.version,
            "act": each.kind,
            "at": each.at,
            "officer": each.body["officer"],
            "reason": texts.get(each.reason),
            "restored": each.restored,
            "appeal": _appeal_to_json(each.appeal, texts) if each.appeal else None,
            "appeals": [_appeal_to_json(appeal, texts) for appeal in each.appeals],
            "stage": each.body["stage"],
        }
        members: Json = each.body
        rulings.append({**ruling, **members})
    return rulings


def _appeal_to_json(appeal: RulingAppeal, texts: Mapping[str, str]) -> TournamentAppealDoc:
    return {
        "version": appeal.version,
        "entrant": appeal.entrant,
        "at": appeal.at,
        "reason": texts.get(appeal.reason),
        "outcome": appeal.outcome or None,
        "officer": appeal.officer or None,
        "answered_at": appeal.answered_at or None,
        "answer": texts.get(appeal.answer),
    }
