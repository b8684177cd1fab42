"""Views of tournaments: a summary for lists, and the documents of one tournament.

Everything about a tournament is public, so a view is a function of its fold alone, the same for all readers.
"""

from __future__ import annotations

from dataclasses import dataclass

from domain.errors import VerificationError
from domain.ledger import Ledger, LogEntry
from domain.tournaments.event import PodTable, Tournament, apply_tournament_record, fold_tournament, initial_tournament
from domain.types import Doc, Json
from projections import documents


@dataclass(frozen=True)
class TournamentLoader:
    """Loads tournaments for records read from the log."""

    ledger: Ledger

    def load(self, before: Tournament | None, entry: LogEntry) -> Tournament:
        """Return the tournament after the entry's record; `before` is a cached one, of any version."""
        if entry.version == 1:
            return initial_tournament(entry.record)
        if before is None or before.version != entry.version - 1:
            before = fold_tournament(self.ledger.read(entry.game, upto=entry.version - 1))
            if before.version != entry.version - 1:
                raise VerificationError("unreadable", before.version + 1, "it is gone")
        return apply_tournament_record(before, entry.record)


def build_tournament_row(gen: int, t: Tournament, place: int, *, archived: bool) -> Doc:
    """Return the row of a tournament's summary."""
    row = {"gen": gen, "game": t.id, "place": place, "version": t.version, "ruleset": t.terms.ruleset}
    doc = documents.encode_document(build_summary(t))
    return {**row, "status": t.status, "listing": t.terms.listing, "at": t.time, "archived": archived, "doc": doc}


def build_summary(t: Tournament) -> Doc:
    """Return the summary of a tournament, for lists."""
    terms, stage = t.terms, t.stage_terms
    return {
        "tournament": t.id,
        "version": t.version,
        "status": t.status,
        "director": t.director,
        "ruleset": terms.ruleset,
        "format": stage.format,
        "entrants": sum(not each.withdrawn for each in t.entrants),
        "capacity": terms.capacity,
        "rounds": len(t.rounds) or stage.rounds,
        "ranked": len(t.rankings),
        "at": t.time,
    }


def build_tournament(t: Tournament) -> Doc:
    """Return the whole document of a tournament: terms, entrants, draws, and the figures of the summary."""
    terms = t.terms
    return {
        **build_summary(t),
        "head": t.hash,
        "seats": {"least": terms.least, "most": terms.most, "preferred": terms.preferred},
        "options": terms.options,
        "table": terms.table,
        "listing": terms.listing,
        "stages": [_stage_to_json(t)],
        "chain": {"draws": terms.chain, "used": len(t.secrets) - 1, "secrets": list(t.secrets), "key": t.key},
        "reveal": terms.reveal,
        "nonces_until": t.nonces_end if t.status == "drawing" else None,
        "people": [_entrant_to_json(t, entrant) for entrant in range(len(t.entrants))],
        "plan": t.plan,
    }


def _stage_to_json(t: Tournament) -> Doc:
    stage = t.stage_terms
    return {
        "format": stage.format,
        "rounds": stage.rounds,
        "concurrent": stage.concurrent,
        "scoring": stage.scoring,
        "unit": stage.unit,
        "lists": {seats: list(points) for seats, points in stage.lists.items()},
        "total": stage.total,
        "ties": list(stage.ties),
    }


def _entrant_to_json(t: Tournament, entrant: int) -> Doc:
    person = t.entrants[entrant]
    return {
        "entrant": entrant,
        "player": person.player,
        "withdrawn": person.withdrawn,
        "waiting": t.is_waiting(entrant),
        "checked_in": entrant in t.commitments,
        "takes_part": entrant in t.participants,
        "nonce_hash": t.commitments.get(entrant, ""),
        "nonce": t.nonces.get(entrant, ""),
    }


def build_round(t: Tournament, round_: int) -> Doc:
    """Return a round: its pods with their tables and results, its byes, and whether it has been ranked."""
    drawn = t.rounds[round_ - 1]
    return {
        "stage": 1,
        "round": round_,
        "pods": [_pod_to_json(t, round_, pod + 1, list(entrants)) for pod, entrants in enumerate(drawn.pods)],
        "byes": list(drawn.byes),
        "ended": t.has_ended(round_),
        "ranked": len(t.rankings) >= round_,
    }


def _pod_to_json(t: Tournament, round_: int, pod: int, entrants: list[int]) -> Doc:
    table = t.tables.get((round_, pod), PodTable(tuple(entrants)))
    result: Json = table.result or {}
    return {
        "table": f"{round_}.{pod}",
        "entrants": list(table.entrants),
        "game": table.game or None,
        "annulled": table.annulled,
        "reported": table.result is not None,
        "places": result.get("places", []),
        "points": result.get("points", []),
    }
