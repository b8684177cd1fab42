"""A tournament as an aggregate: a value, folded from its records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from domain.errors import VerificationError
from domain.kernel.records.record import Record
from domain.kernel.schema.json_codec import from_json
from domain.tournaments.event_stage import (
    REPLAY,
    OfficerRuling,
    PodTable,
    RoundDraw,
    RoundPods,
    RulingAppeal,
    StagePlay,
    TablePlace,
    apply_rulings,
    read_result,
)
from domain.tournaments.formats import last_late_round
from domain.tournaments.records import FAMILY, KINDS
from domain.tournaments.results import Stage
from domain.tournaments.terms import ROUND_BY_ROUND, StageTerms, Terms

STATUSES = ("registering", "checking", "drawing", "running", "finished", "cancelled")


class Entrant(NamedTuple):
    """A person who entered; the number is the place in the list of entrants, from 0."""

    player: str
    withdrawn: bool = False
    excluded: bool = False
    substitutes: tuple[str, ...] = ()
    """Player ids of the people deciding in the entrant's name."""

    @property
    def is_active(self) -> bool:
        """Return whether the entrant gets further tables."""
        return not self.withdrawn and not self.excluded


@dataclass(frozen=True)
class Tournament:
    """A tournament after its last record."""

    id: str
    director: str
    """Player id of the organiser."""
    terms: Terms
    status: str = "registering"
    version: int = 1
    hash: str = ""
    """Hash of the last record."""
    time: int = 0
    """Time of the last record, ms."""
    officers: Mapping[str, str] = field(default_factory=dict)
    """Player id -> role of further officers."""
    entrants: tuple[Entrant, ...] = ()
    commitments: Mapping[int, str] = field(default_factory=dict)
    """Checked-in entrant -> commitment to a nonce, or an empty string."""
    participants: tuple[int, ...] = ()
    """Entrants of the next draw: those at the last close of the check-in, within the capacity, and late ones."""
    checkin_closed_at: int = 0
    nonces: Mapping[int, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    """Published secrets of the chain, hex: s_0, then one for each draw."""
    stages: tuple[StagePlay, ...] = (StagePlay(),)
    """Stages so far; the last one is current."""
    rulings: tuple[OfficerRuling, ...] = ()
    volunteers: frozenset[tuple[int, int, int]] = frozenset()
    """Stage, round, entrant: wanted byes."""

    @property
    def play(self) -> StagePlay:
        """The current stage."""
        return self.stages[-1]

    @property
    def stage_terms(self) -> StageTerms:
        """Options of the current stage."""
        return self.terms.stages[len(self.stages) - 1]

    @property
    def key(self) -> str:
        """Key of the last draw, hex, or an empty string."""
        return next((play.key for play in reversed(self.stages) if play.key), "")

    @property
    def is_over(self) -> bool:
        """Return whether it takes no further record."""
        return self.status in ("finished", "cancelled")

    @property
    def is_whole(self) -> bool:
        """Return whether every round of every stage has been ranked."""
        return len(self.stages) == len(self.terms.stages) and self.play.has_ended

    @property
    def nonces_end(self) -> int:
        """Time until which nonces may be shown, ms."""
        return self.checkin_closed_at + self.terms.reveal * 1000

    @property
    def hidden_nonces(self) -> list[int]:
        """Participants with a commitment and no nonce shown."""
        return [e for e in self.participants if self.commitments.get(e) and e not in self.nonces]

    @property
    def next_draw(self) -> tuple[int, int] | None:
        """Stage and round of the next draw, or None once all rounds of the current stage are drawn."""
        play = self.play
        if not play.rounds:
            return len(self.stages), 1
        is_open = self.stage_terms.format in ROUND_BY_ROUND and len(play.rounds) < play.planned
        return (len(self.stages), len(play.rounds) + 1) if is_open else None

    @property
    def takes_late(self) -> bool:
        """Return whether the next draw takes entrants without a table so far."""
        play, following = self.play, self.next_draw
        if len(self.stages) > 1 or following is None:
            return False
        is_early = self.stage_terms.format == "swiss" and following[1] <= last_late_round(play.planned)
        return not play.rounds or is_early

    def find_entrant(self, players: Sequence[str]) -> int | None:
        """Return the number under which a person with these player ids has entered and not withdrawn, or None."""
        found = (n for n, each in enumerate(self.entrants) if each.player in players and not each.withdrawn)
        return next(found, None)

    def find_all_entries(self, players: Sequence[str]) -> list[int]:
        """Return all numbers of a person with these player ids, withdrawn ones too."""
        return [n for n, each in enumerate(self.entrants) if each.player in players]

    def is_waiting(self, entrant: int) -> bool:
        """Return whether an entrant is on the waiting list: those before have taken all places."""
        before = sum(not each.withdrawn for each in self.entrants[:entrant])
        return not self.participants and before >= self.terms.capacity

    def may_check_in(self, entrant: int) -> bool:
        """Return whether an entrant may have a part in the next draw."""
        return not self.entrants[entrant].excluded and (entrant in self.play.members or self.takes_late)

    def list_checked_in(self) -> list[int]:
        """Return the participants if the check-in closes now: members of the stage first, then by entry."""
        members = set(self.play.members)
        present = [e for e in self.commitments if self.entrants[e].is_active and self.may_check_in(e)]
        return sorted(sorted(present, key=lambda e: (e not in members, e))[: self.terms.capacity])

    def list_present(self, stage: int, round_: int, pod: int) -> tuple[int, ...]:
        """Return the entrants of a pod with a right to a table, by seat."""
        pods = self.stages[stage - 1].rounds[round_ - 1].pods
        return tuple(e for e in pods[pod - 1] if self.entrants[e].is_active)

    def fits_pod(self, stage: int, round_: int, pod: int, entrants: Sequence[int]) -> bool:
        """Return whether these are entrants of a pod by seat: all who are present, and nobody else.

        Somebody who withdraws while the table is made may be among them.
        """
        drawn = self.stages[stage - 1].rounds[round_ - 1].pods[pod - 1]
        in_order = [entrant for entrant in drawn if entrant in entrants]
        return in_order == [*entrants] and set(self.list_present(stage, round_, pod)) <= set(entrants)

    def stage(self, number: int, upto: int | None = None) -> Stage:
        """Return results and options of a stage up to a round, or all of them, for totals and ties."""
        play, terms = self.stages[number - 1], self.terms.stages[number - 1]
        last = len(play.rounds) if upto is None else upto
        begun = min(last, max((round_ for round_, _ in play.tables), default=0))
        counted = Stage(
            len(self.entrants),
            tuple(read_result(place, table) for place, table in sorted(play.tables.items()) if place[0] <= last),
            begun,
            frozenset((n, e) for n, each in enumerate(play.rounds[:begun], 1) for e in each.byes),
            {},
            terms.scoring,
            terms.parameters,
            terms.total,
            terms.ties,
            bytes.fromhex(play.find_draw(last).key),
            frozenset(range(len(self.entrants))) - set(play.members),
        )
        return apply_rulings(counted, number, play, self.rulings)


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
    after = replace(t, entrants=(*t.entrants, Entrant(record.body["player"])))
    return _join_late(after, record.body["entrant"]) if t.status == "running" else after


def _join_late(t: Tournament, entrant: int) -> Tournament:
    """Return the tournament with a late entrant in the next draw."""
    after = replace(t, participants=(*t.participants, entrant))
    return _change_play(after, len(t.stages), members=(*t.play.members, entrant))


def _change_play(t: Tournament, stage: int, **changes: object) -> Tournament:
    """Return the tournament with members of a stage replaced."""
    play = replace(t.stages[stage - 1], **changes)  # type: ignore[arg-type] # of any of its fields
    return replace(t, stages=(*t.stages[: stage - 1], play, *t.stages[stage:]))


def _mark(t: Tournament, entrant: int, *, withdrawn: bool | None = None, excluded: bool | None = None) -> Tournament:
    person = t.entrants[entrant]
    is_withdrawn = person.withdrawn if withdrawn is None else withdrawn
    is_excluded = person.excluded if excluded is None else excluded
    return _replace_entrant(t, entrant, person._replace(withdrawn=is_withdrawn, excluded=is_excluded))


def _replace_entrant(t: Tournament, entrant: int, person: Entrant) -> Tournament:
    return replace(t, entrants=(*t.entrants[:entrant], person, *t.entrants[entrant + 1 :]))


def _substitute(t: Tournament, record: Record) -> Tournament:
    person = t.entrants[record.body["entrant"]]
    named = person._replace(substitutes=(*person.substitutes, record.body["player"]))
    return _replace_entrant(t, record.body["entrant"], named)


def _withdraw(t: Tournament, record: Record) -> Tournament:
    return _mark(t, record.body["entrant"], withdrawn=True)


def _readmit(t: Tournament, record: Record) -> Tournament:
    return _mark(t, record.body["entrant"], withdrawn=False)


def _open_checkin(t: Tournament, _: Record) -> Tournament:
    return replace(t, status="checking", commitments={}, nonces={})


def _check_in(t: Tournament, record: Record) -> Tournament:
    return replace(t, commitments={**t.commitments, record.body["entrant"]: record.body.get("nonce_hash", "")})


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
    draws = {**t.stages[body["stage"] - 1].draws, body["round"]: RoundDraw(body["draw"], body["key"])}
    return _change_play(drawn, body["stage"], draws=draws)


def _pair(t: Tournament, record: Record) -> Tournament:
    body = record.body
    before = t.play.rounds[: body["round"] - 1] if "round" in body else ()
    drawn = tuple(RoundPods(tuple(map(tuple, each["pods"])), tuple(each["byes"])) for each in body["rounds"])
    rounds = (*before, *drawn)
    running = replace(t, status="running")
    return _change_play(running, body["stage"], plan=body["plan"], rounds=rounds, planned=body.get("of", len(rounds)))


def _set_table(t: Tournament, record: Record, table: PodTable) -> Tournament:
    body = record.body
    tables = t.stages[body["stage"] - 1].tables
    return _change_play(t, body["stage"], tables={**tables, (body["round"], body["pod"]): table})


def _find_table(t: Tournament, record: Record) -> PodTable | None:
    body, stages = record.body, t.stages
    tables: Mapping[TablePlace, PodTable] = stages[body["stage"] - 1].tables
    return tables.get((body["round"], body["pod"]))


def _add_table(t: Tournament, record: Record) -> Tournament:
    return _set_table(t, record, PodTable(tuple(record.body["entrants"]), record.body["game"]))


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
    return _set_table(t, record, replace(table, result=record.body))


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
    return replace(t, volunteers=t.volunteers | {(body["stage"], body["round"], body["entrant"])})


def _appeal(t: Tournament, record: Record) -> Tournament:
    body = record.body
    made = RulingAppeal(record.version, body["entrant"], record.time, record.public.get("reason", ""))
    return _replace_ruling(t, body["ruling"], appeal=made)


def _answer(t: Tournament, record: Record) -> Tournament:
    body = record.body
    appeal = next(each.appeal for each in t.rulings if each.version == body["ruling"])
    said = {"outcome": body["outcome"], "officer": body["officer"], "answered_at": record.time}
    answered = replace(appeal, **said, answer=record.public.get("reason", "")) if appeal else None
    return _replace_ruling(t, body["ruling"], appeal=answered)


def _replace_ruling(t: Tournament, version: int, **changes: object) -> Tournament:
    """Return the tournament with members of a ruling replaced."""
    rulings = [replace(each, **changes) if each.version == version else each for each in t.rulings]  # type: ignore[arg-type] # of any of its fields
    return replace(t, rulings=tuple(rulings))


def _depute(t: Tournament, record: Record) -> Tournament:
    return replace(t, officers={**t.officers, record.body["player"]: record.body["office"]})


def _recuse(t: Tournament, record: Record) -> Tournament:
    officers = {player: office for player, office in t.officers.items() if player != record.body["player"]}
    return replace(t, officers=officers)


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
