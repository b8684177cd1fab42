"""A tournament as an aggregate: a value, folded from its records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.tournaments.aggregate.stage import (
    UNCHECKED,
    OfficerRuling,
    StagePlay,
    TablePlace,
    apply_rulings,
    read_result,
)
from domain.tournaments.formats import last_late_round
from domain.tournaments.results import ZERO, CountingWindow, Stage
from domain.tournaments.terms import BY_DRAW, QUEUED, ROUND_BY_ROUND, StageTerms, Terms
from domain.tournaments.timetable import Timetable
from domain.types import Doc

LADDER_TABLES, LEAST_TABLES = 12, 5
"""Number of an entrant's last tables to count in a ladder; tables needed for a place in a ladder or arena."""

ENDED = ("finished", "cancelled")
STATUSES = ("registering", "checking", "drawing", "running", *ENDED)

MAX_NUMBER = 999_999
"""Largest number of an entrant in a request: more people may enter than take part."""


class Entrant(NamedTuple):
    """A person who entered; the number is the place in the list of entrants, from 0."""

    player: str
    withdrawn: bool = False
    excluded: bool = False
    substitutes: tuple[str, ...] = ()
    """Player ids of the people deciding in the entrant's name."""
    former_substitutes: tuple[str, ...] = ()
    """Ids of others, no longer substitutes: their decisions stay the entrant's."""
    left_at: int = 0
    """Time of the last withdrawal, ms."""

    @property
    def is_active(self) -> bool:
        """Return whether the entrant gets further tables."""
        return not self.withdrawn and not self.excluded

    @property
    def deciders(self) -> tuple[str, ...]:
        """Player ids of all deciding in the entrant's name now or earlier, the own one first."""
        return (self.player, *self.substitutes, *self.former_substitutes)

    def without_substitute(self, player: str) -> Entrant:
        """Return the entrant after the end of a substitution; the same one if there is none."""
        if player not in self.substitutes:
            return self
        left = tuple(other for other in self.substitutes if other != player)
        return self._replace(substitutes=left, former_substitutes=(*self.former_substitutes, player))


class Amendment(NamedTuple):
    """A change of the terms: the version of its record, and the terms before."""

    version: int
    officer: str
    """Player id."""
    at: int
    """ms since 1970 UTC."""
    reason: str
    """Salted hash of the reason."""
    before: Terms


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
    checkin_opened_at: int = 0
    checkin_closed_at: int = 0
    nonces: Mapping[int, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    """Published secrets of the chain, hex: s_0, then one for each draw."""
    stages: tuple[StagePlay, ...] = (StagePlay(),)
    """Stages so far; the last one is current."""
    rulings: tuple[OfficerRuling, ...] = ()
    volunteers: frozenset[tuple[int, int, int]] = frozenset()
    early_volunteers: frozenset[tuple[int, int, int]] = frozenset()
    """Those before the first draw of their stage."""
    """Stage, round, entrant: wanted byes."""
    schedule: Doc | None = None
    """Body of the last `scheduled`: the rule of a repeating event, and its times."""
    scheduled_at: int = 0
    """Time of the last `scheduled`, ms; it stays when the repetition ends."""
    successor: str = ""
    """The next event, once opened."""
    timetables: Mapping[int, Timetable] = field(default_factory=dict)
    """Stage -> its timetable."""
    paused_at: int = 0
    """Beginning of the pause, ms; 0 without one."""
    amendments: tuple[Amendment, ...] = ()
    divisions: Mapping[str, str] = field(default_factory=dict)
    """Further divisions -> their names."""

    @property
    def play(self) -> StagePlay:
        """The current stage."""
        return self.stages[-1]

    @property
    def stage_terms(self) -> StageTerms:
        """Options of the current stage."""
        return self.terms.stages[len(self.stages) - 1]

    @property
    def has_queue(self) -> bool:
        """Return whether the current stage makes its tables from a queue."""
        return self.stage_terms.format in QUEUED

    @property
    def key(self) -> str:
        """Key of the last draw, hex, or an empty string."""
        return next((play.key for play in reversed(self.stages) if play.key), "")

    @property
    def is_over(self) -> bool:
        """Return whether it takes no further record."""
        return self.status in ENDED

    @property
    def is_whole(self) -> bool:
        """Return whether every round of every stage has been ranked."""
        return len(self.stages) == len(self.terms.stages) and self.play.has_ended

    @property
    def nonces_end(self) -> int:
        """Time until which nonces may be shown, ms; by a timetable the draw does not wait longer than to the start."""
        table, seconds = self.timetables.get(len(self.stages)), self.terms.reveal
        return self.checkin_closed_at + (min(seconds, table.reveal) if table else seconds) * 1000

    @property
    def hidden_nonces(self) -> list[int]:
        """Participants with a commitment and no nonce shown."""
        return [e for e in self.participants if self.commitments.get(e) and e not in self.nonces]

    @property
    def awaited_nonces(self) -> list[int]:
        """Those of them still in the event: a draw waits for nobody else."""
        return [e for e in self.hidden_nonces if self.entrants[e].is_active]

    @property
    def next_draw(self) -> tuple[int, int] | None:
        """Stage and round of the next draw, or None once all rounds of the current stage are drawn, or of a queue."""
        play = self.play
        if self.has_queue:
            return None
        if not play.rounds:
            return len(self.stages), 1
        is_open = self.stage_terms.format in ROUND_BY_ROUND and len(play.rounds) < play.planned
        return (len(self.stages), len(play.rounds) + 1) if is_open else None

    @property
    def takes_late(self) -> bool:
        """Return whether the next draw, or the queue, takes entrants without a table so far."""
        if self.has_queue:
            return len(self.stages) == 1 and not self.play.queue_closed
        play, following = self.play, self.next_draw
        if len(self.stages) > 1 or following is None:
            return False
        is_early = self.stage_terms.format == "swiss" and following[1] <= last_late_round(play.planned)
        return not play.rounds or is_early

    @property
    def takes_at_once(self) -> bool:
        """Return whether an entrant has a part in the current stage from the entry on: the next draw, or a queue."""
        return self.status == "running" or self.has_queue

    def find_entrant(self, players: Sequence[str]) -> int | None:
        """Return the number under which a person with these player ids has entered and not withdrawn, or None."""
        found = (n for n, each in enumerate(self.entrants) if each.player in players and not each.withdrawn)
        return next(found, None)

    def find_all_entries(self, players: Sequence[str]) -> list[int]:
        """Return all numbers of a person with these player ids, withdrawn ones too."""
        return [n for n, each in enumerate(self.entrants) if each.player in players]

    def has_stake(self, stage: int, people: Collection[str]) -> bool:
        """Return whether one of these people has a place in a stage, may get one there, or decides for an entrant.

        A place stays after a withdrawal or an exclusion.
        """
        members = self.stages[stage - 1].members if stage <= len(self.stages) else ()
        takes_all = stage == len(self.stages) == 1
        return any(
            number in members or (takes_all and each.is_active)
            for number, each in enumerate(self.entrants)
            if not {*each.deciders}.isdisjoint(people)
        )

    def is_substitute(self, players: Collection[str]) -> bool:
        """Return whether a person with these player ids decides for an entrant still in the event."""
        return any(not each.withdrawn and not {*each.substitutes}.isdisjoint(players) for each in self.entrants)

    def is_waiting(self, entrant: int) -> bool:
        """Return whether an entrant is on the waiting list: those before have taken all places."""
        if self.participants or self.has_queue or entrant < self.terms.capacity:
            return False
        return sum(not each.withdrawn for each in self.entrants[:entrant]) >= self.terms.capacity

    def may_check_in(self, entrant: int) -> bool:
        """Return whether an entrant may have a part in the next draw."""
        is_inside = entrant in self.play.members or self.takes_late or entrant in self._list_unchecked()
        return not self.entrants[entrant].excluded and is_inside

    def _list_unchecked(self) -> list[int]:
        """Return the entrants of a Swiss event without a check-in before its first draw: that cost them one round."""
        is_open = len(self.stages) == 1 and self.stage_terms.format == "swiss" and self.next_draw is not None
        return [e for e, cause in self.play.absences.get(1, {}).items() if cause == UNCHECKED] if is_open else []

    def list_left_out(self) -> frozenset[int]:
        """Return the entrants left out by the next draw; they may come back without a check-in."""
        present = {e for e in self.participants if self.entrants[e].is_active}
        is_open = self.status == "running" and self.stage_terms.format == "swiss" and self.next_draw is not None
        if not is_open or len(present) >= self.terms.capacity:
            return frozenset()
        known = range(len(self.entrants)) if self.takes_late else (*self.play.members, *self._list_unchecked())
        others = {*known} - {*self.participants}
        return frozenset(e for e in others if self.entrants[e].is_active)

    def list_missing(self) -> list[int]:
        """Return the entrants who may check in and have not."""
        some = (number for number, each in enumerate(self.entrants) if each.is_active and self.may_check_in(number))
        return [number for number in some if number not in self.commitments]

    def list_checked_in(self) -> list[int]:
        """Return the participants if the check-in closes now: members of the stage first, then by entry."""
        members = set(self.play.members)
        present = [e for e in self.commitments if self.entrants[e].is_active and self.may_check_in(e)]
        return sorted(sorted(present, key=lambda e: (e not in members, e))[: self.terms.capacity])

    def list_present(self, stage: int, round_: int, pod: int) -> tuple[int, ...]:
        """Return the entrants of a pod with a right to a table, by seat."""
        return tuple(e for e in self.stages[stage - 1].list_pod((round_, pod)) if self.entrants[e].is_active)

    def fits_pod(self, stage: int, round_: int, pod: int, entrants: Sequence[int]) -> bool:
        """Return whether these are entrants of a pod by seat: all who are present, and nobody else.

        Somebody who withdraws while the table is made may be among them.
        """
        drawn = self.stages[stage - 1].list_pod((round_, pod))
        in_order = [entrant for entrant in drawn if entrant in entrants]
        return in_order == [*entrants] and self.has_all_present(stage, round_, pod, entrants)

    def has_all_present(self, stage: int, round_: int, pod: int, entrants: Sequence[int]) -> bool:
        """Return whether these are different entrants of a pod, with all who are present."""
        drawn = self.stages[stage - 1].list_pod((round_, pod))
        found = set(entrants)
        return len(found) == len(entrants) and set(self.list_present(stage, round_, pod)) <= found <= set(drawn)

    def list_waiting_bids(self, stage: int, round_: int) -> list[int]:
        """Return the entrants of a round's pods, still present, without a bid; none once a pod is seated.

        Whoever leaves and comes back thus opens no bids again, and is not waited for.
        """
        excused = self.stages[stage - 1].excused
        return [e for e in self.list_unfiled(stage, round_) if (round_, e) not in excused]

    def list_unfiled(self, stage: int, round_: int) -> list[int]:
        """Return the same, and entrants after a return: they may file until the time ends."""
        play = self.stages[stage - 1]
        if any(seated == round_ for seated, _ in play.seatings):
            return []
        drawn = [entrant for pod in play.rounds[round_ - 1].pods for entrant in pod]
        return [e for e in drawn if self.entrants[e].is_active and (round_, e) not in play.bids]

    def wants_seats(self, stage: int, place: TablePlace) -> bool:
        """Return whether the seats of a pod go by bids or lists, and have not been given."""
        return self.terms.stages[stage - 1].seating != BY_DRAW and place not in self.stages[stage - 1].seatings

    def stage(self, number: int, upto: int | None = None) -> Stage:
        """Return results and options of a stage up to a round, or all of them, for totals and ties."""
        play, terms = self.stages[number - 1], self.terms.stages[number - 1]
        last = len(play.rounds) if upto is None else upto
        begun = min(last, max((round_ for round_, _ in play.tables), default=0))
        counted = Stage(
            len(self.entrants),
            tuple(
                read_result(place, table, play.list_handicaps(place, table.entrants))
                for place, table in sorted(play.tables.items())
                if place[0] <= last
            ),
            begun,
            frozenset((n, e) for n, each in enumerate(play.rounds[:begun], 1) for e in each.byes),
            {},
            terms.scoring,
            terms.parameters,
            terms.total,
            terms.ties,
            bytes.fromhex(play.find_draw(last).key),
            frozenset(range(len(self.entrants))) - set(play.members),
            self._find_window(terms, play),
            self._list_wanted(number, begun),
            terms.wanted_bye is not None,
        )
        return apply_rulings(counted, number, play, self.rulings)

    def _list_wanted(self, number: int, begun: int) -> dict[tuple[int, int], str]:
        """Return round and entrant of the wanted byes of a stage -> their worth.

        More than nothing have those of before the first draw alone, and none in the last round.
        """
        play, worth = self.stages[number - 1], self.terms.stages[number - 1].wanted_bye
        if worth is None:
            return {}
        byes = [(round_, e) for round_, each in enumerate(play.rounds[:begun], 1) for e in each.byes]
        wanted = [(round_, e) for round_, e in byes if (number, round_, e) in self.volunteers]
        paid = {(round_, e) for stage, round_, e in self.early_volunteers if stage == number and round_ < play.planned}
        return {place: worth if place in paid else ZERO for place in wanted}

    def _find_window(self, terms: StageTerms, play: StagePlay) -> CountingWindow | None:
        """Return the window of a ladder or arena, up to the time of the last record; None for other formats."""
        if terms.format not in QUEUED:
            return None
        last = LADDER_TABLES if terms.format == "ladder" else len(play.tables)
        ended = {place: table.ended_at for place, table in play.tables.items()}
        return CountingWindow(ended, self.time - terms.window * 1000, last, LEAST_TABLES)
