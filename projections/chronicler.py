"""Names of people and reasons of officers in the chronicle of a table."""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from domain.compat import cached_property
from domain.kernel.narration.battle_texts import BattleDoc
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Texts
from domain.service.player_texts import PlayerTexts
from domain.types import Doc, Seat
from projections.documents import add_text, build_battles
from projections.game_documents import EntryDoc, EntryOfficerDoc, StoredSummaryDoc


@dataclass(frozen=True)
class Chronicler:
    """Names of people and reasons of officers, for any version of a game.

    A version is told with the people and powers of its own time, so its text stays the same after any later record.
    """

    summary: StoredSummaryDoc
    words: Texts
    names: Mapping[str, str]
    """Player id -> name."""
    reasons: Mapping[str, str]
    """Hash -> text."""

    @classmethod
    def prepare(cls, texts: PlayerTexts, summary: StoredSummaryDoc, words: Texts, bodies: Iterable[Doc]) -> Chronicler:
        """Return the chronicler of records with these bodies."""
        told = list(bodies)
        found = [officer for body in told if (officer := body.get("officer"))]
        players = {seat["player"] for seat in summary["seats"]} | {p for _, _, p in summary.get("seatings", ())}
        players |= {officer["player"] for officer in found} | {body.get("player") for body in told}
        names = texts.list_names(filter(None, players))
        hashes = [officer["reason"] for officer in found if "reason" in officer]
        hashes += [body["reason"] for body in told if body.get("act") == "appeal" and body.get("reason")]
        return cls(summary, words, names, texts.find_texts(hashes))

    def namer(self, version: int, powers: Mapping[Seat, str]) -> SeatNames:
        """Return the namer of a version: each seat by its player of that time, or its last one."""
        begins, people = self._people
        persons = people[bisect_right(begins, version)]
        return SeatNames(self.words, powers, persons, self.names, self.reasons)

    @cached_property
    def _people(self) -> tuple[list[int], list[dict[Seat, str]]]:
        """Return the versions of changes of seats, and the names of people by seat before the first and after each."""
        if not (changes := self.summary.get("seatings")):
            return [], [{seat["seat"]: self.names.get(seat["player"] or "", "") for seat in self.summary["seats"]}]
        people: list[dict[Seat, str]] = [{}]
        for _, seat, player in changes:
            people.append(people[-1] | ({seat: self.names.get(player, "")} if player else {}))
        return [at for at, *_ in changes], people

    def officer(self, officer: Doc) -> EntryOfficerDoc:
        """Return the officer behind a record with name and reason, null where erased or never given."""
        player = officer["player"]
        reason = self.reasons.get(officer.get("reason", ""))
        return {"player": player, "name": self.names.get(player), "office": officer["office"], "reason": reason}

    def is_undone(self, version: int) -> bool:
        """Return whether a rewind has undone that version."""
        targets, ends = self._undone
        return version < ends[bisect_left(targets, version)]

    @cached_property
    def _undone(self) -> tuple[list[int], list[int]]:
        """Return the targets of rewinds in order, and the last of the rewinds to before each target, or to the end."""
        spans = sorted(self.summary.get("undone", ()))
        return [to for to, _ in spans], list(accumulate((rewind for _, rewind in spans), max, initial=0))

    def tell(self, rules: AnyRuleset, entry: Doc) -> EntryDoc:
        """Return a timeline entry with its sentences."""
        return add_text(rules, entry, self.words, self._namer_of(entry))

    def tell_battles(self, rules: AnyRuleset, entries: Iterable[Doc]) -> list[BattleDoc]:
        """Return the battles in timeline entries, without undone ones."""
        standing = [entry for entry in entries if not self.is_undone(entry["version"])]
        return build_battles(rules, standing, self.words, self._namer_of)

    def _namer_of(self, entry: Doc) -> SeatNames:
        return self.namer(entry["version"], _powers_by_seat(tuple(entry.get("powers", {}).items())))


@functools.lru_cache(512)
def _powers_by_seat(powers: tuple[tuple[str, str], ...]) -> Mapping[Seat, str]:
    """Return the powers as an entry has them, by seat: they change seldom."""
    return {int(seat): power for seat, power in powers}
