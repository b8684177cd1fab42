"""Exports of a tournament as JSON lines, and their proof without a service.

Header: `{"annals": 1, "records", "tournament"}`; then a line for each record, its public part; the last line repeats
the number of records and names the hash of the last one: `{"head", "records"}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from domain.errors import AnnalsError, VerificationError
from domain.kernel.records.record import Record
from domain.kernel.schema.canonical_json import canonical
from domain.tournaments.draw import commit_nonce, follows_in_chain
from domain.tournaments.event import Tournament
from domain.tournaments.event_appeal_commands import is_sound_appeal
from domain.tournaments.event_fold import apply_tournament_record, initial_tournament
from domain.tournaments.event_pairing import build_advance, build_official, draw_key_of, pair_rounds, read_input
from domain.tournaments.event_queue_commands import (
    build_queue_pairing,
    choose_pod,
    count_tables,
    is_draw_due,
    may_wait,
)
from domain.tournaments.event_result_commands import settle_small_pod
from domain.tournaments.event_ruling_commands import is_sound_ruling
from domain.tournaments.event_schedule_commands import is_successor_due
from domain.tournaments.event_seating import build_seated, find_pod, is_bidding_over, may_file, open_bids
from domain.tournaments.event_stage import QUEUE_PLAN
from domain.tournaments.record_forms import check_form
from domain.types import Doc, Json

FORMAT = 1


def export_lines(first: Record, last: Record, records: Iterable[Record]) -> Iterator[bytes]:
    """Yield the export of a tournament line by line; `records` are all from the first to the last."""
    header = {"annals": FORMAT, "tournament": first.body["tournament"], "records": last.version}
    yield canonical(header) + b"\n"
    for record in records:
        yield canonical(record.public) + b"\n"
    yield canonical({"head": last.hash, "records": last.version}) + b"\n"


def parse_export(data: bytes) -> list[Record]:
    """Return the records of an export; raise VerificationError for another form."""
    raw = data.split(b"\n")
    if raw.pop() != b"" or len(raw) < 3:
        raise VerificationError("cut_off", max(len(raw) - 2, 0), "the file does not end with a whole record")
    header, *docs, trailer = (_parse_line(text, number) for number, text in enumerate(raw))
    records = [Record(doc, {}) for doc in docs]
    for number, record in enumerate(records, 1):
        if record.version != number:
            raise VerificationError("version_gap", number, "a record with this version is expected here")
    body = records[0].body
    if canonical(header) != canonical(
        {"annals": FORMAT, "tournament": body.get("tournament"), "records": len(records)}
    ):
        raise VerificationError("header_mismatch", 0, "the header does not fit the records")
    if canonical(trailer) != canonical({"head": records[-1].hash, "records": len(records)}):
        raise VerificationError("cut_off", len(records), "the last line does not fit the records before it")
    return records


def _parse_line(raw: bytes, number: int) -> Json:
    try:
        doc = json.loads(raw)
        is_sound = isinstance(doc, dict) and canonical(doc) == raw
    except (ValueError, RecursionError, TypeError):
        doc, is_sound = None, False
    if not is_sound:
        raise VerificationError("unreadable", max(number - 1, 0), "not a canonical JSON object")
    return doc


def verify_tournament(records: Sequence[Record]) -> Tournament:
    """Return the tournament of these records, with everything recomputed: hashes, chain, keys, pods and standings.

    Raise VerificationError for the first difference: `chain_broken` (hashes), `secret_mismatch`, `key_mismatch`,
    `nonce_mismatch`, `pairing_mismatch`, `seating_mismatch`, `table_mismatch`, `ranking_mismatch`, `ruling_mismatch`,
    or `unreadable`.
    """
    with _name_record(1):
        t = initial_tournament(records[0])
        _require(records[0].public.get("prev") == "", "chain_broken", records[0], "the first record follows none")
        check_form(records[0])
    key = b""
    for record in records[1:]:
        with _name_record(t.version + 1):
            _require(record.public.get("prev") == t.hash, "chain_broken", record, "it names another record before it")
            check_form(record)
            _require(record.time >= t.time, "chain_broken", record, "it goes back in time")
            key = _check_record(replace(t, time=record.time), record, key)
            t = apply_tournament_record(t, record)
    return t


@contextmanager
def _name_record(version: int) -> Iterator[None]:
    """Raise VerificationError with the record's version for any error of its form."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        detail = f"a member is missing or of another form: {error}"
        raise VerificationError("unreadable", version, detail) from error
    except VerificationError:
        raise
    except AnnalsError as error:
        raise VerificationError("unreadable", version, str(error)) from error


def _check_record(t: Tournament, record: Record, key: bytes) -> bytes:
    """Check a record against the tournament before it; return the key of the last draw."""
    body = record.body
    match record.kind.partition(".")[2]:
        case "entered":
            _require(body["entrant"] == len(t.entrants), "unreadable", record, "entrants are numbered in order")
        case "checkin_closed":
            _require(body["entrants"] == t.list_checked_in(), "pairing_mismatch", record, "others have checked in")
        case "revealed":
            is_own = commit_nonce(body["nonce"]) == t.commitments[body["entrant"]]
            _require(is_own, "nonce_mismatch", record, "the nonce is not that of the check-in")
        case "drawn":
            return _check_draw(t, record)
        case "paired" | "ranked" | "advanced":
            _recompute(t, record, key)
        case "bidding_opened" | "bid" | "seated" as kind:
            _check_seating(t, record, kind)
        case "queued" | "left" | "scheduled" | "unscheduled" | "succeeded" as kind:
            check = _check_queue if kind in ("queued", "left") else _check_schedule
            check(t, record, kind)
        case "tabled" | "reported":
            _check_table(t, record)
        case "annulled" | "placed" | "penalised" | "excluded" | "restored" | "appealed" | "answered" as kind:
            _check_ruling(t, record, kind)
    return key


def _check_ruling(t: Tournament, record: Record, kind: str) -> None:
    """Check a ruling, an appeal or an answer, or the end of a pod with too few people."""
    if kind == "annulled" and "attempt" not in record.body:
        is_due = record.body["how"] == settle_small_pod(t, record.body["stage"])
        _require(is_due, "table_mismatch", record, "a pod without a table has a credit, from a queue none")
        return
    is_sound = is_sound_appeal if kind in ("appealed", "answered") else is_sound_ruling
    _require(is_sound(t, record), "ruling_mismatch", record, "nobody may act so")


def _check_table(t: Tournament, record: Record) -> None:
    """Check that a new table has its pod's entrants at the seats given, and a report the pod's game."""
    body = record.body
    stage, place = body["stage"], (body["round"], body["pod"])
    if record.kind.endswith(".reported"):
        is_own = body["game"] == t.stages[stage - 1].tables[place].game
        _require(is_own, "table_mismatch", record, "the pod plays another game")
        return
    _require_pod(t, record)
    fits = t.fits_pod(stage, *place, body["entrants"]) and not t.wants_seats(stage, place)
    _require(fits, "table_mismatch", record, "the pod has others at its seats")


def _recompute(t: Tournament, record: Record, key: bytes) -> None:
    """Compare a pairing, a list or an advancement with the tournament before it."""
    body = record.body
    match record.kind.partition(".")[2]:
        case "paired" if body["plan"] == QUEUE_PLAN or t.has_queue:
            _require(t.has_queue and bool(body["entrants"]), "pairing_mismatch", record, "no table is due")
            _compare(body, build_queue_pairing(t, key, record.time), "pairing_mismatch", record)
        case "paired":
            paired = pair_rounds(t, body["stage"], body.get("round", 1), key, read_input(body))
            _compare(body, paired, "pairing_mismatch", record)
        case "ranked":
            _compare(body, build_official(t, body["stage"], body["round"]), "ranking_mismatch", record)
        case _:
            _compare(body, build_advance(t, body["stage"] - 1) or {}, "ranking_mismatch", record)


def _check_seating(t: Tournament, record: Record, kind: str) -> None:
    """Check that a bid is in time, or recompute the seats of a pod from its opened bids."""
    body = record.body
    stage, round_ = body["stage"], body["round"]
    play = t.stages[stage - 1]
    _require(1 <= round_ <= len(play.rounds), "seating_mismatch", record, "the round has not been drawn")
    if kind == "bidding_opened":
        _require(round_ not in play.bidding, "seating_mismatch", record, "the bids are open")
    elif kind == "bid":
        is_open = may_file(t, stage, round_, body["entrant"], record.time)
        is_own = find_pod(t, stage, round_, body["entrant"]) is not None
        _require(is_open and is_own, "seating_mismatch", record, "the round takes no such bid")
    else:
        _require_pod(t, record)
        place, entrants = (round_, body["pod"]), body["entrants"]
        is_due = t.wants_seats(stage, place) and is_bidding_over(t, stage, round_, record.time)
        is_pod = t.has_all_present(stage, *place, entrants)
        _require(is_due and is_pod, "seating_mismatch", record, "these seats are not given now")
        _compare(body, build_seated(open_bids(t, record), stage, place, entrants), "seating_mismatch", record)


def _check_queue(t: Tournament, record: Record, kind: str) -> None:
    """Check the entrant's right to wait for a table, or to leave."""
    entrant, is_current = record.body["entrant"], t.has_queue and record.body["stage"] == len(t.stages)
    if kind == "left":
        _require(is_current and entrant in t.play.queue, "pairing_mismatch", record, "the entrant does not wait")
        return
    may_join = is_current and may_wait(t, entrant) and entrant not in t.play.queue
    has_time = may_join and count_tables(t, entrant) < t.stage_terms.concurrent
    _require(has_time, "pairing_mismatch", record, "the entrant may not wait")


def _check_schedule(t: Tournament, record: Record, kind: str) -> None:
    """Check that the rule of a repeating event may change, or the next event is due."""
    is_open = not t.successor and (kind == "scheduled" or t.schedule is not None)
    is_due = kind != "succeeded" or is_successor_due(t, record.time)
    _require(is_open and is_due, "table_mismatch", record, "no event follows by a rule")


def _require_pod(t: Tournament, record: Record) -> None:
    rounds, place = t.stages[record.body["stage"] - 1].rounds, (record.body["round"], record.body["pod"])
    is_drawn = 1 <= place[0] <= len(rounds) and 1 <= place[1] <= len(rounds[place[0] - 1].pods)
    _require(is_drawn, "table_mismatch", record, "there is no such pod")


def _check_draw(t: Tournament, record: Record) -> bytes:
    body = record.body
    secret = bytes.fromhex(body["secret"])
    _require(body["draw"] == len(t.secrets), "secret_mismatch", record, "draws are numbered along the chain")
    is_next = follows_in_chain(secret, bytes.fromhex(t.secrets[-1]))
    _require(is_next, "secret_mismatch", record, "the secret does not prove the one before it")
    is_due = not t.has_queue or (is_draw_due(t, record.time) and choose_pod(t, record.time) is not None)
    _require(is_due, "secret_mismatch", record, "a queue has one draw a day, for a table")
    key = draw_key_of(t, secret, body["round"], body["draw"])
    _require(body["key"] == key.hex(), "key_mismatch", record, f"the key is {key.hex()}")
    silent = t.hidden_nonces == body["silent"] if "silent" in body else not t.hidden_nonces
    _require(silent, "nonce_mismatch", record, "others have shown no nonce")
    _require(record.public["by"] == ("service" if t.has_queue else "director"), "unreadable", record, "a false author")
    return key


def _compare(stored: Doc, computed: Doc, code: str, record: Record) -> None:
    """Raise VerificationError with the place of the first difference between two documents."""
    if canonical(stored) != canonical(computed):
        raise VerificationError(code, record.version, find_difference(stored, computed))


def find_difference(stored: Json, computed: Json, pointer: str = "") -> str:
    """Return the JSON pointer of the first difference, with both values."""
    if isinstance(stored, dict) and isinstance(computed, dict) and stored.keys() == computed.keys():
        parts = [(str(name), stored[name], computed[name]) for name in sorted(stored)]
    elif isinstance(stored, list) and isinstance(computed, list) and len(stored) == len(computed):
        parts = [(str(i), one, other) for i, (one, other) in enumerate(zip(stored, computed, strict=True))]
    else:
        return f"{pointer or '/'} is {_shorten(stored)}, computed is {_shorten(computed)}"
    name, one, other = next(part for part in parts if canonical(part[1]) != canonical(part[2]))
    return find_difference(one, other, f"{pointer}/{name}")


def _shorten(value: Json) -> str:
    text = canonical(value).decode()
    return text if len(text) <= 80 else text[:77] + "..."


def _require(ok: bool, code: str, record: Record, detail: str) -> None:
    if not ok:
        raise VerificationError(code, record.version, detail)
