"""The desk of an event: everything that waits for its officers, from the fold, the tables' summaries, and questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import msgspec

from api.schemas.tournament_responses import (
    EventAppealDoc,
    EventBidsDoc,
    EventByeDoc,
    EventDeskDoc,
    EventHallDoc,
    EventOfferDoc,
    EventQuestionDoc,
    EventStepDoc,
    EventTableDoc,
    EventWithdrawalDoc,
)
from api.services import ApiServices
from domain.errors import RuleError
from domain.tournaments.aggregate.basic_commands import require_ranked
from domain.tournaments.aggregate.pairing import build_official, find_nearest_numbers
from domain.tournaments.aggregate.result_commands import check_round_may_begin
from domain.tournaments.aggregate.stage import PodTable
from domain.tournaments.aggregate.tournament import Tournament
from projections.game_documents import PauseDoc, RulingDoc
from projections.tournament_views import scores_to_json

UNMADE, PLAYING, PAUSED, RULED, CLOSED, ELSEWHERE = EVENT_TABLE_STATES = (
    *("unmade", "playing", "paused", "ruled", "closed", "elsewhere"),
)
"""States of a table without a reported result; a closed one waits for its report."""


class _EventSeat(msgspec.Struct):
    seat: int
    player: str | None = None
    vacant: bool = False
    absent: bool = False


class _EventSummary(msgspec.Struct):
    """Members of a table's summary for the desk of its event."""

    game: str
    seats: list[_EventSeat]
    at: int
    due: int | None = None
    pause: PauseDoc | None = None
    ruling: RulingDoc | None = None
    limit_end: int | None = None


_DECODE = msgspec.json.Decoder(_EventSummary).decode


def build_event_desk(s: ApiServices, t: Tournament, answerable: frozenset[int]) -> EventDeskDoc:
    """Return the desk of a tournament for an officer; `answerable`: appeals against these rulings are the officer's."""
    now, tables = s.clock(), [] if t.is_over else _list_tables(s, t)
    missing = t.list_missing() if t.status == "checking" else sorted(t.list_left_out())
    unclaimed = {*s.seat_tokens.event_people.list_unclaimed(t.id)}
    return {
        "tournament": t.id,
        "version": t.version,
        "now": now,
        "status": t.status,
        "steps": [] if t.is_over or t.paused_at else list(_list_steps(t, tables, now)),
        "check_in": {
            "open": t.status == "checking",
            "since": t.checkin_opened_at or None,
            "present": sum(t.entrants[e].is_active for e in t.commitments),
            "missing": [] if t.is_over else missing,
            "works": not (nearest := find_numbers(t)),
            "nearest": nearest,
        },
        "nonces": {"until": t.nonces_end, "missing": t.awaited_nonces} if t.status == "drawing" else None,
        "bids": _list_bids(t),
        "tables": tables,
        "appeals": list(_list_appeals(t, answerable)),
        "byes": _list_byes(t),
        "substitutes": _list_substitutes(s, t),
        "withdrawals": _list_withdrawals(t, tables),
        "offers": _list_offers(s, t),
        "unclaimed": [e for e, each in enumerate(t.entrants) if each.player in unclaimed],
        "code": _find_code(s, t),
    }


def _list_bids(t: Tournament) -> list[EventBidsDoc]:
    stage = len(t.stages)
    return [
        {"round": round_, "until": until, "missing": t.list_waiting_bids(stage, round_)}
        for round_, until in t.play.bidding.items()
        if t.list_unfiled(stage, round_)
    ]


def _list_substitutes(s: ApiServices, t: Tournament) -> list[EventQuestionDoc]:
    """Return the open questions to substitutes, by entrants of the tournament."""
    asked = [] if t.is_over else s.seat_tokens.substitutes.list_in(t.id)
    entrants = [(t.find_entrant([each.by]), each) for each in asked]
    return [{"entrant": e, "player": each.player, "at": each.at} for e, each in entrants if e is not None]


def find_numbers(t: Tournament) -> list[int]:
    """Return the nearest numbers of entrants for a first draw, or none if it makes tables of those present."""
    if t.status not in ("checking", "drawing") or t.play.rounds:
        return []
    present = t.list_checked_in() if t.status == "checking" else t.participants
    number = sum(t.entrants[entrant].is_active for entrant in present)
    nearest = find_nearest_numbers(t, number)
    return [] if nearest == [number] else nearest


def _list_offers(s: ApiServices, t: Tournament) -> list[EventOfferDoc]:
    found = [] if t.is_over else s.seat_tokens.event_people.list_offers_in(t.id)
    names = s.seat_tokens.texts.list_names([each.player for each in found])
    return [
        {"tournament": t.id, "player": each.player, "part": each.part, "at": each.at, "name": names.get(each.player)}
        for each in found
    ]


def _find_code(s: ApiServices, t: Tournament) -> EventHallDoc | None:
    found = s.seat_tokens.event_people.find_code(t.id, s.clock())
    return {"people": found.people, "until": found.until} if found else None


def _list_tables(s: ApiServices, t: Tournament) -> list[EventTableDoc]:
    """Return the tables of the rounds that have begun, or may begin, without a result."""
    found = list(_list_open_pods(t))
    games = [table.game for _, _, _, table in found if table.game]
    summaries = {each.game: each for each in map(_DECODE, s.reader.list_unfinished_summaries(games))}
    docs = list[EventTableDoc]()
    for stage, round_, pod, table in found:
        summary = summaries.get(table.game)
        empty = (
            [each.seat for each in summary.seats if not each.player or each.vacant or each.absent] if summary else []
        )
        docs.append(
            {
                "stage": stage,
                "round": round_,
                "table": f"{round_}.{pod}",
                "entrants": list(table.entrants),
                "game": table.game or None,
                "state": _find_state(s, table, summary),
                "scores": scores_to_json(table),
                "ends_at": summary.limit_end if summary else None,
                "moved_at": summary.at if summary else None,
                "due": summary.due if summary else None,
                "empty": empty,
            }
        )
    return docs


def _list_open_pods(t: Tournament) -> Iterator[tuple[int, int, int, PodTable]]:
    """Yield stage, round, pod and table of the pods without a result, of rounds in play or ready for it."""
    for stage, play in enumerate(t.stages, 1):
        for round_, drawn in enumerate(play.rounds, 1):
            may_begin = _may_begin(t, stage, round_)
            for pod in range(1, len(drawn.pods) + 1):
                table = play.tables.get((round_, pod))
                if table is None and may_begin:
                    yield stage, round_, pod, PodTable(tuple(play.list_pod((round_, pod))))
                elif table is not None and not table.annulled and table.result is None:
                    yield stage, round_, pod, table


def _may_begin(t: Tournament, stage: int, round_: int) -> bool:
    with suppress(RuleError):
        check_round_may_begin(t, stage, round_)
        return True
    return False


def _find_state(s: ApiServices, table: PodTable, summary: _EventSummary | None) -> str:
    """Return the state of a table; without a summary its end may be shown, or its beginning be on the way."""
    if not table.game:
        return ELSEWHERE if table.elsewhere else UNMADE
    if summary is None:
        return PLAYING if s.reader.list_places(table.game) is None else CLOSED
    if summary.ruling:
        return RULED
    is_paused = summary.pause and (summary.pause["until"] is None or s.clock() < summary.pause["until"])
    return PAUSED if is_paused else PLAYING


def _list_steps(t: Tournament, tables: Sequence[EventTableDoc], now: int) -> Iterator[EventStepDoc]:
    """Yield the possible steps of officers now, in the order of an event."""
    stage = len(t.stages)
    if t.status == "registering" and not t.has_queue:
        yield {"step": "open_checkin", "stage": stage, "round": None}
    if t.status == "drawing" and find_numbers(t):
        yield {"step": "open_checkin", "stage": stage, "round": None}
        return
    if t.status == "checking":
        yield {"step": "close_checkin", "stage": stage, "round": None}
    yield from _list_table_steps(t, tables)
    unranked = _find_unranked(t)
    if unranked is not None:
        yield {"step": "rank", "stage": stage, "round": unranked}
    if (drawn := t.next_draw) and _may_draw(t, *drawn, now):
        yield {"step": "draw", "stage": drawn[0], "round": drawn[1]}
    if t.is_whole and unranked is None:
        yield {"step": "finish", "stage": stage, "round": None}


def _list_table_steps(t: Tournament, tables: Sequence[EventTableDoc]) -> Iterator[EventStepDoc]:
    """Yield the steps for tables over or not made yet."""
    rounds = sorted({(each["stage"], each["round"], each["state"]) for each in tables})
    for in_stage, round_, state in rounds:
        if state == CLOSED:
            yield {"step": "report", "stage": in_stage, "round": round_}
        if state == UNMADE:
            is_open = round_ in t.stages[in_stage - 1].bidding
            wants = not is_open and t.wants_seats(in_stage, (round_, 1))
            yield {"step": "open_bids" if wants else "make_tables", "stage": in_stage, "round": round_}


def _find_unranked(t: Tournament) -> int | None:
    """Return the first round after its end without official standings, or with other standings since, or None."""
    play, stage = t.play, len(t.stages)
    for round_ in range(1, len(play.rounds) + 1):
        if not play.has_round_ended(round_):
            return None
        if round_ > len(play.rankings):
            return round_
        if round_ == len(play.rankings) and "replaces" in build_official(t, stage, round_):
            return round_
    return None


def _may_draw(t: Tournament, stage: int, round_: int, now: int) -> bool:
    """Return whether the next draw waits for nothing."""
    if t.status not in ("drawing", "running") or (t.awaited_nonces and now <= t.nonces_end):
        return False
    with suppress(RuleError):
        if round_ > 1:
            require_ranked(t, stage, round_ - 1)
        return True
    return False


def _list_appeals(t: Tournament, answerable: frozenset[int]) -> Iterator[EventAppealDoc]:
    for ruling in t.rulings:
        for appeal in ruling.appeals:
            if not appeal.outcome and not ruling.restored:
                yield {
                    "ruling": ruling.version,
                    "entrant": appeal.entrant,
                    "at": appeal.at,
                    "may_answer": ruling.version in answerable,
                }


def _list_byes(t: Tournament) -> list[EventByeDoc]:
    """Return the byes wanted for rounds before their draw."""
    stage, last = len(t.stages), len(t.play.rounds)
    wanted = sorted((where, e) for number, where, e in t.volunteers if number == stage and where > last)
    return [{"round": where, "entrant": e} for where, e in wanted if t.entrants[e].is_active and not t.is_over]


def _list_withdrawals(t: Tournament, tables: Sequence[EventTableDoc]) -> list[EventWithdrawalDoc]:
    """Return the withdrawals since the last draw, and those of entrants with a table in play, with its game."""
    since = max((draw.at for play in t.stages for draw in play.draws.values()), default=0)
    seats = {entrant: each for each in tables for entrant in each["entrants"] if each["game"]}
    gone = [(each.left_at, e) for e, each in enumerate(t.entrants) if each.withdrawn]
    return [
        {"entrant": e, "at": at, "game": seats[e]["game"] if e in seats else None}
        for at, e in sorted(gone)
        if not t.is_over and (at > since or e in seats)
    ]
