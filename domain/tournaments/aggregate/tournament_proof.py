"""Exports of a tournament as JSON lines, and their proof without a service.

Header: `{"annals": 1, "records", "tournament"}`; then a line for each record, its public part; the last line repeats
the number of records and names the hash of the last one: `{"head", "records"}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from domain.errors import AnnalsError, RuleError, VerificationError
from domain.kernel.records.record import Record
from domain.kernel.schema.canonical_json import canonical
from domain.tournaments.aggregate.pairing import build_advance, draw_key_of, pair_rounds, read_input
from domain.tournaments.aggregate.pod_seating import build_seated, open_bids
from domain.tournaments.aggregate.queue_commands import build_queue_pairing
from domain.tournaments.aggregate.record_forms import check_form
from domain.tournaments.aggregate.stage import FIRST_QUEUE_PLAN, QUEUE_PLAN
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_fold import apply_tournament_record, initial_tournament
from domain.tournaments.aggregate.tournament_replay import check_again, draft_again, is_ruling
from domain.tournaments.draw import follows_in_chain
from domain.tournaments.records import FAMILY, RecordDraft
from domain.types import Doc, Json

FORMAT = 1

_BEGIN = b'{"annals":'
_HEADER = re.compile(rb'^{"annals":', re.MULTILINE)
"""Begin of the first line of an export: no record begins so, for its members are sorted."""

_CODES = {
    "secret_mismatch": ("drawn",),
    "nonce_mismatch": ("revealed",),
    "pairing_mismatch": ("paired", "checkin_closed", "queued", "left", "queue_closed", "queue_opened"),
    "seating_mismatch": ("bidding_opened", "bid", "seated"),
    "table_mismatch": (
        *("tabled", "reported", "annulled", "scheduled", "unscheduled", "succeeded", "divided"),
        *("elsewhere", "scored", "confirmed", "settled"),
    ),
    "ranking_mismatch": ("ranked", "advanced", "closed", "cancelled"),
    "ruling_mismatch": ("placed", "penalised", "excluded", "restored", "appealed", "answered", "deputed", "recused"),
}
_CODE_OF = {kind: code for code, kinds in _CODES.items() for kind in kinds}
"""Kind without its family -> code of its differences; `entry_mismatch` for the others, of entrants and check-ins."""


def export_lines(first: Record, last: Record, records: Iterable[Record]) -> Iterator[bytes]:
    """Yield the export of a tournament line by line; `records` are all from the first to the last."""
    header = {"annals": FORMAT, "tournament": first.body["tournament"], "records": last.version}
    yield canonical(header) + b"\n"
    for record in records:
        yield canonical(record.public) + b"\n"
    yield canonical({"head": last.hash, "records": last.version}) + b"\n"


def split_export(data: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Return the export of a tournament without those of its games after it, and each of these by the game's id."""
    first, *games = _HEADER.split(data)[1:] or [data]
    if not games:
        return data, {}
    files = {_parse_line(header, 0)["game"]: header + rest for header, rest in map(_cut_header, games)}
    return _BEGIN + first, files


def _cut_header(part: bytes) -> tuple[bytes, bytes]:
    """Return the header of a part of an export, and the rest with its line end; raise VerificationError without one."""
    header, end, rest = (_BEGIN + part).partition(b"\n")
    if not isinstance(_parse_line(header, 0).get("game"), str):
        raise VerificationError("header_mismatch", 0, "an export of a game is expected after that of the tournament")
    return header, end + rest


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
    `nonce_mismatch`, `entry_mismatch`, `pairing_mismatch`, `seating_mismatch`, `table_mismatch`, `ranking_mismatch`,
    `ruling_mismatch`, or `unreadable`. A record is also a difference if the service would have refused its command.
    """
    with _name_record(1):
        t = initial_tournament(records[0])
        _require(records[0].public.get("prev") == "", "chain_broken", records[0], "the first record follows none")
        check_form(records[0])
    key, before, due = b"", records[0], list[RecordDraft]()
    for record in records[1:]:
        with _name_record(t.version + 1):
            _require(record.public.get("prev") == t.hash, "chain_broken", record, "it names another record before it")
            check_form(record)
            _require(record.time >= t.time, "chain_broken", record, "it goes back in time")
            now = replace(t, time=record.time)
            due = _check_command(now, before, record, due)
            key = _check_record(now, record, key)
            t, before = apply_tournament_record(t, record), record
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


def _kind_of(record: Record) -> str:
    return record.kind.removeprefix(FAMILY)


def _check_command(t: Tournament, before: Record, record: Record, due: Sequence[RecordDraft]) -> list[RecordDraft]:
    """Decide the command of a record again; return the drafts that must follow. `due` has those of the record before.

    An `advanced` without any is compared later: it may be of a time when fewer entrants sufficed.
    """
    code = _CODE_OF.get(_kind_of(record), "entry_mismatch")
    if due:
        _compare_draft(record, due[0], code)
        return [*due[1:]]
    _check_order(t, before, record, code)
    try:
        check_again(t, record)
        drafts = draft_again(t, record)
    except RuleError as error:
        raise VerificationError(code, record.version, f"refused: {error.code}") from error
    if drafts:
        _compare_draft(record, drafts[0], code)
    return [*drafts[1:]]


def _compare_draft(record: Record, draft: RecordDraft, code: str) -> None:
    _require(_kind_of(record) == draft.kind, code, record, f"{draft.kind} is expected here")
    _compare(record.body, draft.body, code, record)


def _check_order(t: Tournament, before: Record, record: Record, code: str) -> None:
    """Check that a pairing follows its draw at once, a table the seats of its pod, and an advancement its cause."""
    kind, previous = _kind_of(record), _kind_of(before)
    if previous == "drawn" or (kind == "paired" and not t.has_queue):
        is_same = (previous, kind) == ("drawn", "paired") and record.body["stage"] == before.body["stage"]
        is_same = is_same and record.body.get("round", 1) == before.body["round"]
        is_same = is_same and record.public["by"] == before.public["by"]
        _require(is_same, code, record, "a pairing follows its draw")
    if previous == "seated":
        is_made = kind in ("tabled", "elsewhere")
        is_same = is_made and all(record.body[name] == before.body[name] for name in ("stage", "round", "pod"))
        _require(is_same, code, record, "a table follows its seats")
    if kind == "advanced":
        is_caused = previous == "ranked" or is_ruling(previous, before.body)
        is_next = 2 <= record.body["stage"] <= len(t.stages) + 1
        _require(is_caused and is_next, code, record, "an advancement follows a ranking or a ruling")


def _check_record(t: Tournament, record: Record, key: bytes) -> bytes:
    """Recompute a draw, a pairing, seats or an advancement; return the key of the last draw."""
    match _kind_of(record):
        case "drawn":
            return _check_draw(t, record)
        case "paired" | "advanced":
            _recompute(t, record, key)
        case "seated":
            _check_seats(t, record)
    return key


def _recompute(t: Tournament, record: Record, key: bytes) -> None:
    """Compare a pairing or an advancement with the tournament before it."""
    body = record.body
    if _kind_of(record) == "advanced":
        _compare(body, build_advance(t, body["stage"] - 1) or {}, "ranking_mismatch", record)
    elif t.has_queue:
        _require(bool(body["entrants"]), "pairing_mismatch", record, "no table is due")
        is_known = body["plan"] == QUEUE_PLAN or (body["plan"] == FIRST_QUEUE_PLAN and t.play.plan != QUEUE_PLAN)
        _require(is_known, "pairing_mismatch", record, "another rule of the queue")
        _compare(body, build_queue_pairing(t, key, record.time, body["plan"]), "pairing_mismatch", record)
    else:
        paired = pair_rounds(t, body["stage"], body.get("round", 1), key, read_input(body))
        _compare(body, paired, "pairing_mismatch", record)


def _check_seats(t: Tournament, record: Record) -> None:
    """Recompute the seats of a pod from its opened bids."""
    body = record.body
    stage, place, entrants = body["stage"], (body["round"], body["pod"]), body["entrants"]
    _compare(body, build_seated(open_bids(t, record), stage, place, entrants), "seating_mismatch", record)


def _check_draw(t: Tournament, record: Record) -> bytes:
    body = record.body
    secret = bytes.fromhex(body["secret"])
    _require(body["draw"] == len(t.secrets), "secret_mismatch", record, "draws are numbered along the chain")
    is_next = follows_in_chain(secret, bytes.fromhex(t.secrets[-1]))
    _require(is_next, "secret_mismatch", record, "the secret does not prove the one before it")
    key = draw_key_of(t, secret, body["round"], body["draw"])
    _require(body["key"] == key.hex(), "key_mismatch", record, f"the key is {key.hex()}")
    silent = t.hidden_nonces == body["silent"] if "silent" in body else not t.hidden_nonces
    _require(silent, "nonce_mismatch", record, "others have shown no nonce")
    is_known = record.public["by"] == "service" or not t.has_queue
    _require(is_known, "unreadable", record, "a false author")
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
