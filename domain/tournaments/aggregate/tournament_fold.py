"""The fold of a tournament: what each kind of record changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from domain.errors import VerificationError
from domain.kernel.records.record import Record
from domain.kernel.schema.json_codec import from_json
from domain.tournaments.aggregate.stage import (
    EXCLUDED,
    OUT,
    QUEUE_PLANS,
    REPLAY,
    UNCHECKED,
    WITHDREW,
    EnteredScores,
    OfficerRuling,
    PodTable,
    RoundDraw,
    RoundPods,
    RulingAppeal,
    SealedBid,
    StagePlay,
    TablePlace,
)
from domain.tournaments.aggregate.tournament import Amendment, Entrant, Tournament
from domain.tournaments.records import FAMILY, KINDS
from domain.tournaments.terms import Terms
from domain.tournaments.timetable import Timetable
from domain.types import Doc


def initial_tournament(record: Record) -> Tournament:
    """Return the tournament after its first record; raise VerificationError `no_beginning` for any other."""
    body = record.body
    if record.kind != FAMILY + "opened" or record.version != 1:
        raise VerificationError("no_beginning", 1)
    terms = from_json(Terms, body["terms"])
    secrets = (str(body["secret"]),)
    return Tournament(body["tournament"], body["director"], terms, hash=record.hash, time=record.time, secrets=secrets)


# --- what each kind changes


def _enter(t: Tournament, record: Record) -> Tournament:
    others = _play_oneself(t, record.body["player"]).entrants
    after = replace(t, entrants=(*others, Entrant(record.body["player"])))
    return _join_stage(after, record.body["entrant"]) if t.takes_at_once else after


def _join_stage(t: Tournament, entrant: int) -> Tournament:
    """Add an entrant to the current stage, and in a running event to the next draw."""
    after = replace(t, participants=(*t.participants, entrant)) if t.status == "running" else t
    return _change_play(after, len(t.stages), members=(*t.play.members, entrant))


def _change_play(t: Tournament, stage: int, **changes: object) -> Tournament:
    """Return the tournament with members of a stage replaced."""
    play = replace(t.stages[stage - 1], **changes)  # type: ignore[arg-type] # of any of its fields
    return replace(t, stages=(*t.stages[: stage - 1], play, *t.stages[stage:]))


def _mark(t: Tournament, entrant: int, *, withdrawn: bool | None = None, excluded: bool | None = None) -> Tournament:
    person = t.entrants[entrant]
    is_withdrawn = person.withdrawn if withdrawn is None else withdrawn
    is_excluded = person.excluded if excluded is None else excluded
    marked = _replace_entrant(t, entrant, person._replace(withdrawn=is_withdrawn, excluded=is_excluded))
    return _leave_queue(marked, [entrant]) if entrant in t.play.queue else marked


def _replace_entrant(t: Tournament, entrant: int, person: Entrant) -> Tournament:
    return replace(t, entrants=(*t.entrants[:entrant], person, *t.entrants[entrant + 1 :]))


def _substitute(t: Tournament, record: Record) -> Tournament:
    person = t.entrants[record.body["entrant"]]
    named = person._replace(substitutes=(*person.substitutes, record.body["player"]))
    return _replace_entrant(t, record.body["entrant"], named)


def _unsubstitute(t: Tournament, record: Record) -> Tournament:
    entrant, player = record.body["entrant"], record.body["player"]
    return _replace_entrant(t, entrant, t.entrants[entrant].without_substitute(player))


def _play_oneself(t: Tournament, player: str) -> Tournament:
    """Return the tournament with a new entrant as nobody's substitute: the other entrant has withdrawn."""
    return replace(t, entrants=tuple(each.without_substitute(player) for each in t.entrants))


def _withdraw(t: Tournament, record: Record) -> Tournament:
    left = {(round_, record.body["entrant"]) for round_ in t.play.bidding}
    excused = _change_play(t, len(t.stages), excused=t.play.excused | left) if left else t
    marked = _mark(excused, record.body["entrant"], withdrawn=True)
    person = marked.entrants[record.body["entrant"]]
    return _replace_entrant(marked, record.body["entrant"], person._replace(left_at=record.time))


def _readmit(t: Tournament, record: Record) -> Tournament:
    entrant = record.body["entrant"]
    after = _mark(_play_oneself(t, t.entrants[entrant].player), entrant, withdrawn=False)
    return _join_stage(after, entrant) if "joins" in record.body else after


def _open_checkin(t: Tournament, record: Record) -> Tournament:
    return replace(t, status="checking", commitments={}, nonces={}, checkin_opened_at=record.time)


def _check_in(t: Tournament, record: Record) -> Tournament:
    entrant = record.body["entrant"]
    checked = replace(t, commitments={**t.commitments, entrant: record.body.get("nonce_hash", "")})
    if t.status != "running":
        return checked
    back = replace(checked, participants=tuple(sorted((*t.participants, entrant))))
    members = t.play.members if entrant in t.play.members else (*t.play.members, entrant)
    return _change_play(back, len(t.stages), members=members)


def _close_checkin(t: Tournament, record: Record) -> Tournament:
    participants = tuple(record.body["entrants"])
    closed = replace(t, status="drawing", participants=participants, checkin_closed_at=record.time)
    known = t.play.members
    members = (*known, *(e for e in participants if e not in known)) if len(t.stages) == 1 else known
    return _change_play(closed, len(t.stages), members=members)


def _reveal(t: Tournament, record: Record) -> Tournament:
    return replace(t, nonces={**t.nonces, record.body["entrant"]: record.body["nonce"]})


def _draw(t: Tournament, record: Record) -> Tournament:
    drawn = replace(t, secrets=(*t.secrets, record.body["secret"]))
    body = record.body
    draws = {**t.stages[body["stage"] - 1].draws, body["round"]: RoundDraw(body["draw"], body["key"], record.time)}
    return _change_play(drawn, body["stage"], draws=draws)


def _pair(t: Tournament, record: Record) -> Tournament:
    body = record.body
    if body["plan"] in QUEUE_PLANS:
        return _seat_from_queue(t, body)
    before = t.play.rounds[: body["round"] - 1] if "round" in body else ()
    related = tuple((one, other, how) for one, other, how in body.get("relations", ()))
    drawn = tuple(RoundPods(tuple(map(tuple, each["pods"])), tuple(each["byes"]), related) for each in body["rounds"])
    play, kept = t.play, len(before)
    absences = {n: _list_absences(t, each) for n, each in enumerate(drawn, kept + 1)}
    return _change_play(
        replace(_forget_later_rounds(t, body["stage"], kept), status="running"),
        body["stage"],
        plan=body["plan"],
        rounds=(*before, *drawn),
        planned=body.get("of", kept + len(drawn)),
        absences={n: found for n, found in play.absences.items() if n <= kept} | absences,
    )


def _forget_later_rounds(t: Tournament, stage: int, kept: int) -> Tournament:
    """Return the tournament without the bids and seats of rounds after these: they are drawn anew."""
    play = t.play
    return _change_play(
        t,
        stage,
        bidding={round_: until for round_, until in play.bidding.items() if round_ <= kept},
        excused=frozenset((round_, entrant) for round_, entrant in play.excused if round_ <= kept),
        bids={place: bid for place, bid in play.bids.items() if place[0] <= kept},
        seatings={place: seated for place, seated in play.seatings.items() if place[0] <= kept},
    )


def _list_absences(t: Tournament, drawn: RoundPods) -> Mapping[int, str]:
    """Return the entrants that a draw has left out, with the cause."""
    present = {*drawn.byes}.union(*drawn.pods)
    return {e: _find_absence(t, e) for e in range(len(t.entrants)) if e not in present}


def _find_absence(t: Tournament, entrant: int) -> str:
    person = t.entrants[entrant]
    if person.excluded:
        return EXCLUDED
    if person.withdrawn:
        return WITHDREW
    return OUT if entrant in t.participants else UNCHECKED


def _seat_from_queue(t: Tournament, body: Doc) -> Tournament:
    """Add a pod to the one round of a ladder or arena; its entrants no longer wait."""
    pods = t.play.rounds[0].pods if t.play.rounds else ()
    drawn = (RoundPods((*pods, tuple(body["entrants"])), ()),)
    running = replace(t, status="running")
    made = _change_play(running, body["stage"], plan=body["plan"], rounds=drawn, planned=1)
    return _leave_queue(made, body["entrants"])


def _join_queue(t: Tournament, record: Record) -> Tournament:
    return _change_play(t, record.body["stage"], queue={**t.play.queue, record.body["entrant"]: record.time})


def _leave(t: Tournament, record: Record) -> Tournament:
    return _leave_queue(t, [record.body["entrant"]])


def _leave_queue(t: Tournament, entrants: Sequence[int]) -> Tournament:
    queue = {entrant: since for entrant, since in t.play.queue.items() if entrant not in entrants}
    return _change_play(t, len(t.stages), queue=queue)


def _close_queue(t: Tournament, record: Record) -> Tournament:
    return _change_play(t, record.body["stage"], queue={}, queue_closed=True)


def _open_queue(t: Tournament, record: Record) -> Tournament:
    return _change_play(t, record.body["stage"], queue_closed=False)


def _schedule(t: Tournament, record: Record) -> Tournament:
    return replace(t, schedule=record.body, scheduled_at=record.time)


def _unschedule(t: Tournament, _: Record) -> Tournament:
    return replace(t, schedule=None)


def _succeed(t: Tournament, record: Record) -> Tournament:
    return replace(t, successor=record.body["tournament"])


def _open_bids(t: Tournament, record: Record) -> Tournament:
    body = record.body
    terms, play = t.terms.stages[body["stage"] - 1], t.stages[body["stage"] - 1]
    until = record.time + terms.bidding * 1000
    return _change_play(t, body["stage"], bidding={**play.bidding, body["round"]: until})


def _file_bid(t: Tournament, record: Record) -> Tournament:
    body, (seal,) = record.body, record.public["seals"]
    made = SealedBid(record.version, seal, record.packs.get(str(body["entrant"])))
    bids = {**t.stages[body["stage"] - 1].bids, (body["round"], body["entrant"]): made}
    return _change_play(t, body["stage"], bids=bids)


def _seat_pod(t: Tournament, record: Record) -> Tournament:
    """Put the entrants of a pod in order of their seats; those who have withdrawn follow."""
    body = record.body
    play, place = t.stages[body["stage"] - 1], (body["round"], body["pod"])
    drawn = play.rounds[place[0] - 1]
    seated = tuple(body["entrants"])
    pods = list(drawn.pods)
    pods[place[1] - 1] = (*seated, *(entrant for entrant in pods[place[1] - 1] if entrant not in seated))
    rounds = (*play.rounds[: place[0] - 1], drawn._replace(pods=tuple(pods)), *play.rounds[place[0] :])
    return _change_play(t, body["stage"], rounds=rounds, seatings={**play.seatings, place: body})


def _set_table(t: Tournament, record: Record, table: PodTable) -> Tournament:
    body = record.body
    tables = t.stages[body["stage"] - 1].tables
    return _change_play(t, body["stage"], tables={**tables, (body["round"], body["pod"]): table})


def _find_table(t: Tournament, record: Record) -> PodTable | None:
    body, stages = record.body, t.stages
    tables: Mapping[TablePlace, PodTable] = stages[body["stage"] - 1].tables
    return tables.get((body["round"], body["pod"]))


def _add_table(t: Tournament, record: Record) -> Tournament:
    return _set_table(t, record, PodTable(tuple(record.body["entrants"]), record.body["game"], made_at=record.time))


def _annul(t: Tournament, record: Record) -> Tournament:
    body = record.body
    if body["how"] == REPLAY:
        return _play_again(_note_ruling(t, record), body["stage"], (body["round"], body["pod"]))
    if "attempt" in body:
        return _note_ruling(t, record)
    table = _find_table(t, record) or PodTable(t.list_present(body["stage"], body["round"], body["pod"]))
    return _set_table(t, record, replace(table, annulled=body["how"]))


def _play_again(t: Tournament, stage: int, place: TablePlace) -> Tournament:
    """Return the tournament without a table, to be made once more."""
    play = t.stages[stage - 1]
    tables = {other: table for other, table in play.tables.items() if other != place}
    return _change_play(t, stage, tables=tables, attempts={**play.attempts, place: play.attempt_at(place)})


def _note_ruling(t: Tournament, record: Record) -> Tournament:
    kind, reason = record.kind.removeprefix(FAMILY), record.public.get("reason", "")
    return replace(t, rulings=(*t.rulings, OfficerRuling(record.version, kind, record.body, record.time, reason)))


def _exclude(t: Tournament, record: Record) -> Tournament:
    return _mark(_note_ruling(t, record), record.body["entrant"], excluded=True)


def _restore(t: Tournament, record: Record) -> Tournament:
    version = record.body["ruling"]
    restored = _replace_ruling(t, version, restored=True)
    rulings = restored.rulings
    (ruling,) = (each for each in rulings if each.version == version)
    if ruling.kind != "excluded":
        return restored
    entrant = ruling.body["entrant"]
    is_out = any(e.kind == "excluded" and not e.restored and e.body["entrant"] == entrant for e in rulings)
    return _mark(restored, entrant, excluded=is_out)


def _report(t: Tournament, record: Record) -> Tournament:
    table = _find_table(t, record) or PodTable(())
    return _set_table(t, record, replace(table, result=record.body, ended_at=table.ended_at or record.time))


def _add_elsewhere(t: Tournament, record: Record) -> Tournament:
    return _set_table(t, record, PodTable(tuple(record.body["entrants"]), made_at=record.time, elsewhere=True))


def _enter_scores(t: Tournament, record: Record) -> Tournament:
    table, body = _find_table(t, record) or PodTable(()), record.body
    confirmed = frozenset({body["entrant"]} if "entrant" in body else ())
    figures = tuple(body["places"]), tuple(body["points"])
    first = table.scores.at if table.scores else record.time  # no later entry keeps an officer waiting
    scores = EnteredScores(record.version, *figures, first, confirmed, body.get("officer", ""))
    return _set_table(t, record, replace(table, scores=scores))


def _confirm_scores(t: Tournament, record: Record) -> Tournament:
    table = _find_table(t, record) or PodTable(())
    confirmed = (table.scores.confirmed if table.scores else frozenset[int]()) | {record.body["entrant"]}
    return _set_table(t, record, replace(table, scores=table.scores and table.scores._replace(confirmed=confirmed)))


def _settle_scores(t: Tournament, record: Record) -> Tournament:
    table = _find_table(t, record) or PodTable(())
    places, points = (list(table.scores.places), list(table.scores.points)) if table.scores else ([], [])
    result = {**record.body, "places": places, "points": points}
    return _set_table(t, record, replace(table, result=result, ended_at=record.time))


def _rank(t: Tournament, record: Record) -> Tournament:
    body = record.body
    rankings = t.stages[body["stage"] - 1].rankings
    return _change_play(t, body["stage"], rankings=(*rankings[: body["round"] - 1], body, *rankings[body["round"] :]))


def _advance(t: Tournament, record: Record) -> Tournament:
    """Begin a stage with its members; once more, if a ruling changes them before it has tables.

    A check-in goes on, with those who are still members.
    """
    members = tuple(record.body["entrants"])
    begun = replace(t, stages=(*t.stages[: record.body["stage"] - 1], StagePlay(members)), participants=members)
    if t.status != "checking":
        return replace(begun, status="running")
    return replace(begun, commitments={e: found for e, found in t.commitments.items() if e in members})


def _volunteer(t: Tournament, record: Record) -> Tournament:
    body = record.body
    bye = (body["stage"], body["round"], body["entrant"])
    is_early = len(t.stages) < body["stage"] or not t.stages[body["stage"] - 1].draws
    early = t.early_volunteers | {bye} if is_early else t.early_volunteers
    return replace(t, volunteers=t.volunteers | {bye}, early_volunteers=early)


def _appeal(t: Tournament, record: Record) -> Tournament:
    body = record.body
    made = RulingAppeal(record.version, body["entrant"], record.time, record.public.get("reason", ""))
    return _replace_ruling(t, body["ruling"], appeals=(*_find_ruling(t, body["ruling"]).appeals, made))


def _answer(t: Tournament, record: Record) -> Tournament:
    body = record.body
    ruling = _find_ruling(t, body["ruling"])
    appeal = ruling.find_appeal(body.get("entrant"))
    said = {"outcome": body["outcome"], "officer": body["officer"], "answered_at": record.time}
    answer = record.public.get("reason", "")
    appeals = tuple(replace(each, **said, answer=answer) if each is appeal else each for each in ruling.appeals)
    return _replace_ruling(t, body["ruling"], appeals=appeals)


def _find_ruling(t: Tournament, version: int) -> OfficerRuling:
    return next(each for each in t.rulings if each.version == version)


def _replace_ruling(t: Tournament, version: int, **changes: object) -> Tournament:
    """Return the tournament with members of a ruling replaced."""
    rulings = [replace(each, **changes) if each.version == version else each for each in t.rulings]  # type: ignore[arg-type] # of any of its fields
    return replace(t, rulings=tuple(rulings))


def _depute(t: Tournament, record: Record) -> Tournament:
    return replace(t, officers={**t.officers, record.body["player"]: record.body["office"]})


def _recuse(t: Tournament, record: Record) -> Tournament:
    officers = {player: office for player, office in t.officers.items() if player != record.body["player"]}
    return replace(t, officers=officers)


def _set_timetable(t: Tournament, record: Record) -> Tournament:
    body = record.body
    others = {stage: table for stage, table in t.timetables.items() if stage != body["stage"]}
    times = {name: body[name] for name in ("opens", "closes", "each", "warning", "extension")}
    own = {body["stage"]: Timetable(tuple(body["starts"]), **times)} if body["starts"] else {}
    return replace(t, timetables=others | own)


def _warn(t: Tournament, record: Record) -> Tournament:
    body = record.body
    told = (body["round"], body.get("extended", False))
    return _change_play(t, body["stage"], warnings=t.stages[body["stage"] - 1].warnings | {told})


def _pause(t: Tournament, record: Record) -> Tournament:
    return replace(t, paused_at=record.time)


def _resume(t: Tournament, record: Record) -> Tournament:
    """End the pause: spans running at its beginning end as much later."""
    length = record.time - t.paused_at
    bidding = {round_: until + length if until >= t.paused_at else until for round_, until in t.play.bidding.items()}
    opened = t.checkin_opened_at + (length if t.status == "checking" else 0)
    closed = t.checkin_closed_at + (length if t.status == "drawing" else 0)
    resumed = replace(t, paused_at=0, checkin_opened_at=opened, checkin_closed_at=closed)
    return _change_play(resumed, len(t.stages), bidding=bidding)


def _amend(t: Tournament, record: Record) -> Tournament:
    made = Amendment(record.version, record.body["officer"], record.time, record.public.get("reason", ""), t.terms)
    return replace(t, terms=from_json(Terms, record.body["terms"]), amendments=(*t.amendments, made))


def _divide(t: Tournament, record: Record) -> Tournament:
    return replace(t, divisions={**t.divisions, record.body["tournament"]: record.body["name"]})


def _close(t: Tournament, _: Record) -> Tournament:
    return replace(t, status="finished")


def _cancel(t: Tournament, _: Record) -> Tournament:
    return replace(t, status="cancelled")


_CHANGES: Mapping[str, Callable[[Tournament, Record], Tournament]] = dict(
    zip(
        KINDS[1:],
        (
            _enter,
            _withdraw,
            _open_checkin,
            _check_in,
            _close_checkin,
            _reveal,
            _draw,
            _pair,
            _add_table,
            _annul,
            _report,
            _rank,
            _close,
            _cancel,
            _readmit,
            _advance,
            _note_ruling,
            _note_ruling,
            _exclude,
            _restore,
            _depute,
            _recuse,
            _substitute,
            _volunteer,
            _appeal,
            _answer,
            _open_bids,
            _file_bid,
            _seat_pod,
            _join_queue,
            _leave,
            _schedule,
            _unschedule,
            _succeed,
            _close_queue,
            _open_queue,
            _unsubstitute,
            _set_timetable,
            _warn,
            _pause,
            _resume,
            _amend,
            _add_elsewhere,
            _enter_scores,
            _confirm_scores,
            _settle_scores,
            _divide,
        ),
        strict=True,
    )
)


def apply_tournament_record(t: Tournament, record: Record) -> Tournament:
    """Return the tournament after one more record."""
    changed = _CHANGES[record.kind](t, record)
    return replace(changed, version=record.version, hash=record.hash, time=record.time)


def fold_tournament(records: Sequence[Record]) -> Tournament:
    """Return the tournament after its records; raise VerificationError without a beginning."""
    if not records:
        raise VerificationError("no_beginning", 1)
    t = initial_tournament(records[0])
    for record in records[1:]:
        t = apply_tournament_record(t, record)
    return t
