"""Descriptions of tables for notices and feeds: power, task and news, in the words of the chronicle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from domain.errors import UnknownRuleset
from domain.kernel.rules.flow import DecisionDoc
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.ruleset_registry import RulesetRegistry
from domain.service.player_texts import PlayerTexts
from domain.types import PUBLIC, Doc, Seat
from projections.chronicler import Chronicler
from projections.game_documents import StoredSummaryDoc
from projections.reader import Reader

MAX_TITLE = 120
"""Longest title, characters."""

MAX_LINES = 8
"""Newest lines of the chronicle in a notice; earlier ones are only counted."""

MAX_RECORDS = 100
"""Newest records that are searched for news."""


@dataclass(frozen=True)
class News:
    """Public lines of the chronicle since the reader's last move."""

    lines: Sequence[str] = ()
    earlier: int = 0
    """Number of omitted lines between that move and these."""
    has_moved: bool = False
    """False if no move of the reader is among the newest records: the lines are simply the latest."""


@dataclass(frozen=True)
class TableDescriber:
    """Describes tables, as far as the views and the names are there. May raise StoreUnavailable."""

    registry: RulesetRegistry
    texts: PlayerTexts
    reader: Reader

    def find_titles(self, games: Sequence[str]) -> Mapping[str, str]:
        """Return the titles of titled tables, each in one line."""
        titles = {
            game: " ".join(title.split())[:MAX_TITLE] for game, (title, _) in self.texts.list_cards(games).items()
        }
        return {game: title for game, title in titles.items() if title}

    def name_event_tables(self, games: Sequence[str], untitled: str = "") -> Mapping[str, str]:
        """Return the title of the tournament and the number of the table, for tables of tournaments.

        Those without a title have `untitled`, and are left out without it. Spectators of an unlisted table do not know
        its tournament.
        """
        found = {game: place for game in games if (place := self.reader.find_tournament(game))}
        titles = self.find_titles(sorted({place.tournament for place in found.values()}))
        names = ((game, titles.get(place.tournament) or untitled, place) for game, place in found.items())
        return {game: f"{title}, {place.round}.{place.pod}" for game, title, place in names if title}

    def name_ruleset(self, ruleset: str, lang: str) -> str:
        """Return the title of a ruleset."""
        rules = self._find_rules(ruleset)
        return load_texts(rules.package, lang).render("title", {}) or rules.meta.title if rules else ruleset

    def find_summary(self, game: str) -> StoredSummaryDoc | None:
        """Return the summary as the table's players have it; None if the views or rules are missing."""
        summary = self.reader.find_summary(game, inside=True)
        return summary if summary and self._find_rules(summary["ruleset"]) else None

    def name_power(self, summary: StoredSummaryDoc | None, seat: Seat, lang: str) -> str:
        """Return the power of a seat; empty before it has one."""
        power = summary.get("powers", {}).get(str(seat)) if summary else None
        return self._load_words(summary, lang).noun(power).bare if summary and power else ""

    def name_seats(
        self, summary: StoredSummaryDoc | None, seats: Sequence[Seat], lang: str, *, with_people: bool = False
    ) -> str:
        """Return the powers of several seats as a list, or seats counted from 1, with their players if wanted."""
        words = self._load_words(summary, lang) if summary else load_texts("", lang)
        names = [self.name_power(summary, seat, lang) or words.seat(seat).bare for seat in seats]
        people = self._name_people(summary, seats) if summary and with_people else {}
        labels = [f"{name} ({people[s]})" if s in people else name for s, name in zip(seats, names, strict=True)]
        return words.grammar.join_list(labels)

    def _name_people(self, summary: StoredSummaryDoc, seats: Sequence[Seat]) -> Mapping[Seat, str]:
        players = {each["seat"]: each["player"] for each in summary["seats"] if each["seat"] in seats}
        names = self.texts.list_names(player for player in players.values() if player)
        return {seat: names[player] for seat, player in players.items() if player in names}

    def name_task(self, summary: StoredSummaryDoc | None, seat: Seat, decision: str, lang: str) -> str:
        """Return the text of an owed decision; empty if the views lack it."""
        owed = list_owed(self.reader, summary, seat) if summary else []
        kind = next((each["kind"] for each in owed if each["id"] == decision), "")
        return self.name_decision(summary, kind, lang) if summary and kind else ""

    def name_decision(self, summary: StoredSummaryDoc, kind: str, lang: str) -> str:
        """Return the text of a kind of decision; empty without one."""
        return self._load_words(summary, lang).get(f"decision.{kind}") or ""

    def read_news(self, summary: StoredSummaryDoc, seat: Seat | None, lang: str) -> News:
        """Return the public lines of the chronicle since the last move of a seat."""
        game, version = summary["game"], summary["version"]
        after = max(version - MAX_RECORDS, 0)
        entries = self.reader.read_timeline(game, PUBLIC if seat is None else seat, after, version - after)
        own = [n for n, entry in enumerate(entries) if seat is not None and _is_mover(entry, seat)]
        rules, bodies = self.registry.get(summary["ruleset"]), [entry.get("body") or {} for entry in entries]
        chronicler = Chronicler.prepare(self.texts, summary, self._load_words(summary, lang), bodies)
        lines = [
            line
            for entry in entries[own[-1] + 1 if own else 0 :]
            if "kind" in entry and not chronicler.is_undone(entry["version"])
            for line in chronicler.tell(rules, entry)["text"]
        ]
        return News(lines[-MAX_LINES:], max(len(lines) - MAX_LINES, 0) if own else 0, bool(own))

    def _find_rules(self, ruleset: str) -> AnyRuleset | None:
        try:
            return self.registry.get(ruleset)
        except UnknownRuleset:
            return None

    def _load_words(self, summary: StoredSummaryDoc, lang: str) -> Texts:
        return load_texts(self.registry.get(summary["ruleset"]).package, lang)


def list_owed(reader: Reader, summary: StoredSummaryDoc, seat: Seat) -> list[DecisionDoc]:
    """Return the decisions that a seat owes, in its own view."""
    board = reader.find_board(summary["game"], seat, inside=True) if seat in summary["waiting_for"] else None
    decisions: list[DecisionDoc] = msgspec.json.decode(board.doc)["decisions"] if board else []
    return [decision for decision in decisions if seat in decision["must"]]


def _is_mover(entry: Doc, seat: Seat) -> bool:
    """Return True if the seat made a move of that entry, also a secret one."""
    parts = [entry, *entry.get("own", ())]
    return any(mover == seat for part in parts for mover, _ in part.get("acts", ()))
