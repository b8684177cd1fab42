"""Timeline entries in one language, and the names and reasons in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from api.http import rate_limits
from api.services import ApiServices, Doc
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import SeatNamer, Texts, load_texts
from domain.types import Seat, Viewer
from projections.documents import add_text


@dataclass(frozen=True)
class Chronicler:
    """Names of people and reasons of officers, for any version of a game.

    A version is told with the people and powers of its own time, so its text stays the same after any later record.
    """

    summary: Doc
    words: Texts
    names: Mapping[str, str]
    """Player id -> name."""
    reasons: Mapping[str, str]
    """Hash -> text."""

    @classmethod
    def prepare(cls, s: ApiServices, summary: Doc, words: Texts, bodies: Iterable[Doc]) -> Chronicler:
        """Return the chronicler of records with these bodies."""
        told = list(bodies)
        found = [officer for body in told if (officer := body.get("officer"))]
        players = {seat["player"] for seat in summary["seats"]} | {p for _, _, p in summary.get("seatings", ())}
        players |= {officer["player"] for officer in found} | {body.get("player") for body in told}
        names = s.seat_tokens.texts.list_names(players - {None, ""})
        hashes = [officer["reason"] for officer in found if "reason" in officer]
        return cls(summary, words, names, s.seat_tokens.texts.find_texts(hashes))

    def namer(self, version: int, powers: Mapping[Seat, str]) -> SeatNamer:
        """Return the namer of a version: each seat by its player of that time, or its last one."""
        people = {seat["seat"]: seat["player"] for seat in self.summary["seats"]}
        if changes := self.summary.get("seatings"):
            people = {seat: player for at, seat, player in changes if at <= version and player}
        persons = {seat: self.names.get(player, "") for seat, player in people.items()}
        return SeatNames(self.words, powers, persons, self.names, self.reasons)

    def officer(self, officer: Doc) -> Doc:
        """Return the officer behind a record with name and reason, null where erased or never given."""
        player = officer["player"]
        reason = self.reasons.get(officer.get("reason", ""))
        return {"player": player, "name": self.names.get(player), "office": officer["office"], "reason": reason}


def build_entries(
    s: ApiServices, summary: Doc, viewer: Viewer, after: int, limit: int, lang: str, gate: rate_limits.GateContext
) -> list[Doc]:
    """Return timeline entries in one language, with officers and their reasons, up to the summary's version."""
    limit = min(limit, max(summary["version"] - after, 0))
    rules, game = s.registry.get(summary["ruleset"]), summary["game"]
    entries = s.reader.read_timeline(game, viewer, after, limit, gate=gate)
    chronicler = Chronicler.prepare(s, summary, load_texts(rules.package, lang), [e.get("body") or {} for e in entries])
    return [_tell(s, rules, chronicler, entry) for entry in entries]


def _tell(s: ApiServices, rules: AnyRuleset, chronicler: Chronicler, entry: Doc) -> Doc:
    version, powers = entry["version"], {int(seat): power for seat, power in entry.get("powers", {}).items()}
    told = add_text(rules, entry, chronicler.words, chronicler.namer(version, powers))
    if any(to < version < rewind for to, rewind in chronicler.summary.get("undone", ())):
        told["undone"] = True
    body = told.get("body") or {}
    if officer := body.get("officer"):
        told["body"] = {name: value for name, value in body.items() if name != "officer"}
        told["officer"] = chronicler.officer(officer)
    if told.get("kind") == "rewound":
        told["reason"] = _rewind_reason(s, chronicler.summary["game"], version)
        if officer:
            told["officer"]["reason"] = told["reason"]
    return told


def version_namer(
    s: ApiServices, summary: Doc, words: Texts, rules: AnyRuleset, records: Sequence[Record]
) -> Callable[[int, State], SeatNamer]:
    """Return the function from a version and the state after it to its names."""
    chronicler = Chronicler.prepare(
        s, summary, words, [{**r.body, "officer": r.public.get("officer")} for r in records]
    )
    return lambda version, state: chronicler.namer(version, rules.powers(state))


def _rewind_reason(s: ApiServices, game: str, version: int) -> str | None:
    hashed = [r.body.get("reason", "") for r in s.ledger.read(game, version - 1, version)]
    return s.seat_tokens.texts.find_text(hashed[0]) if hashed and hashed[0] else None
