"""Seats of a pod by the bids or lists of its entrants: bodies of `seated` records."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from domain.errors import TournamentError, VerificationError
from domain.kernel.records.record import Record
from domain.kernel.schema.canonical_json import digest
from domain.tournaments.aggregate.stage import TablePlace
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.bids import BidResult, check_bid, settle_bids
from domain.tournaments.draw import draw_order
from domain.tournaments.seats import SeatHistory, assign_seats, choose_seats
from domain.tournaments.terms import BY_BIDS, BY_CHOICE
from domain.types import Doc


def find_pod(t: Tournament, stage: int, round_: int, entrant: int) -> int | None:
    """Return the pod of a present entrant in a drawn round, or None."""
    pods = range(1, len(t.stages[stage - 1].rounds[round_ - 1].pods) + 1)
    return next((pod for pod in pods if entrant in t.list_present(stage, round_, pod)), None)


def is_bidding_over(t: Tournament, stage: int, round_: int, now: int) -> bool:
    """Return whether a round takes no further bids: its time is over, or no bid is waited for."""
    return now > t.stages[stage - 1].bidding[round_] or not t.list_waiting_bids(stage, round_)


def may_file(t: Tournament, stage: int, round_: int, entrant: int, now: int) -> bool:
    """Return whether an entrant may file a bid, or another one; `now` in ms since 1970 UTC."""
    play = t.stages[stage - 1]
    if round_ not in play.bidding or now > play.bidding[round_]:
        return False
    return not is_bidding_over(t, stage, round_, now) or entrant in t.list_unfiled(stage, round_)


def check_wish(seating: str, wish: Sequence[int], seats: int) -> tuple[int, ...]:
    """Return a bid, or a list of seats, for a table of so many seats; raise TournamentError `bid_invalid`."""
    if seating == BY_BIDS:
        return check_bid(wish, seats)
    if not wish or len(set(wish)) < len(wish) or not all(0 <= seat < seats for seat in wish):
        raise TournamentError("bid_invalid", f"different seats from 0 to {seats - 1} are expected")
    return tuple(wish)


def build_seated(t: Tournament, stage: int, place: TablePlace, members: Collection[int]) -> Doc:
    """Return the body of the `seated` record of a pod, for these of its entrants; it opens their bids or lists.

    A bid for another number of seats counts as none. Raise VerificationError `seating_mismatch` for a sealed one.
    """
    play, terms, round_ = t.stages[stage - 1], t.terms.stages[stage - 1], place[0]
    key = bytes.fromhex(play.find_draw(round_).key)
    filed = {entrant: play.bids[round_, entrant] for entrant in sorted(members) if (round_, entrant) in play.bids}
    wishes = {entrant: tuple(sealed.open()["bid"]) for entrant, sealed in filed.items()}
    body: Doc = {"stage": stage, "round": round_, "pod": place[1]}
    if terms.seating == BY_BIDS:
        fitting = tuple((entrant, bid) for entrant, bid in wishes.items() if len(bid) == len(members))
        seats, handicaps, _ = _settle(key, tuple(sorted(members)), fitting, terms.bid_rate)
        body["handicaps"] = [handicaps[entrant] for entrant in sorted(seats, key=seats.__getitem__)]
    else:
        seats = _seat_by_lists(t, stage, round_, draw_order(key, members), wishes)
    body["entrants"] = sorted(seats, key=seats.__getitem__)
    body["opened"] = [{"entrant": entrant, "v": sealed.version, **sealed.open()} for entrant, sealed in filed.items()]
    return body


@functools.lru_cache(256)
def _settle(key: bytes, pod: tuple[int, ...], bids: tuple[tuple[int, tuple[int, ...]], ...], rate: int) -> BidResult:
    return settle_bids(key, pod, dict(bids), rate)


def _seat_by_lists(
    t: Tournament, stage: int, round_: int, order: Sequence[int], lists: Mapping[int, Sequence[int]]
) -> dict[int, int]:
    """Return seats by preference, or by choice: in the order of the official standings, or before of seeds or draw."""
    play, history = t.stages[stage - 1], SeatHistory()
    for (earlier, _), table in play.tables.items():
        if earlier < round_:
            history.add({entrant: seat for seat, entrant in enumerate(table.entrants)})
    if t.terms.stages[stage - 1].seating != BY_CHOICE:
        return assign_seats(order, order, history.counts, preferences=lists)
    official = play.rankings[: round_ - 1]
    rank = {row["entrant"]: row["place"] for row in official[-1]["standings"]} if official else {}
    if stage > 1 and not official:
        rank = {entrant: seed for seed, entrant in enumerate(play.members)}
    last = len(t.entrants)
    return choose_seats(sorted(order, key=lambda entrant: rank.get(entrant, last)), history.counts, lists)


def open_bids(t: Tournament, record: Record) -> Tournament:
    """Return the tournament with the bids of a `seated` record opened.

    Raise VerificationError unless each was sealed so.
    """
    body = record.body
    play = t.stages[body["stage"] - 1]
    bids = dict(play.bids)
    for opened in body["opened"]:
        place, pack = (body["round"], opened["entrant"]), {name: opened[name] for name in ("bid", "salt")}
        sealed = bids.get(place)
        if sealed is None or sealed.version != opened["v"] or sealed.seal != digest(pack):
            detail = f"entrant {opened['entrant']} has sealed something else"
            raise VerificationError("seating_mismatch", record.version, detail)
        bids[place] = replace(sealed, pack=pack)
    stages = list(t.stages)
    stages[body["stage"] - 1] = replace(play, bids=bids)
    return replace(t, stages=tuple(stages))
