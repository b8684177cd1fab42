"""The documents of the views: data for programs, with seats and clocks. Sentences are added to timelines on reading."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import msgspec
from msgspec import convert
from msgspec.structs import asdict

from domain.kernel.game.game import private_view
from domain.kernel.game.officers import OFFICES
from domain.kernel.narration.chapters import public_chapter_starts, section_title, split_by_chapter
from domain.kernel.narration.sentences import record_members, record_sentences
from domain.kernel.narration.template_context import TemplateContext, record_template_context, with_context
from domain.kernel.records.audience import ALL_KEY, seats_of
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset, Chapter
from domain.kernel.schema import declarations
from domain.kernel.text.message_catalog import SeatNamer, Texts
from domain.types import PUBLIC, Doc, Json, Seat, Viewer
from projections.loaded_game import LoadedGame

MAX_APPEALS = 50
"""Most appeals of one document."""


def encode_document(doc: Json) -> bytes:
    """Encode a document as stored and served."""
    return msgspec.json.encode(doc)


def build_seats(loaded: LoadedGame) -> list[dict[str, Json]]:
    """Return the seats with their players' opaque ids."""
    p = loaded.game
    rows: list[dict[str, Json]] = []
    for seat in range(p.table.seats):
        player = p.players.get(seat)
        rows.append(
            {
                "seat": seat,
                "player": player.id if player and player.id else None,
                "nonce_hash": player.nonce_hash if player else "",
                "nonce": player.nonce if player else "",
                "vacant": seat in p.state.vacant,
                "absent": seat in p.absent_seats,
                "held": hold_end
                if (hold_end := p.timing.banks[seat].hold_end) > p.playing_time(p.time) and p.status == "running"
                else None,
            }
        )
    return rows


def build_powers(loaded: LoadedGame) -> dict[str, str]:
    """Return seat -> id of the power that it plays."""
    return {str(seat): power for seat, power in loaded.rules.powers(loaded.game.state).items()}


def build_offices(loaded: LoadedGame) -> list[dict[str, Json]]:
    """Return the officers named by records, by role."""
    staff = loaded.game.lasting.staff
    held = {**({staff.owner: "owner"} if staff.owner else {}), **staff.offices}
    order = sorted(held.items(), key=lambda item: (-OFFICES.index(item[1]), item[0]))
    return [{"player": player, "office": office} for player, office in order]


def build_time_banks(loaded: LoadedGame) -> list[dict[str, Json]]:
    """Return each seat's time bank and vacation at the last record; empty if the time control has neither."""
    g, now = loaded.game, loaded.game.playing_time(loaded.game.time)
    if not (g.timing.control.bank or g.timing.control.vacation):
        return []
    return [
        {"seat": seat, "bank": a.bank, "vacation": a.days, "back": a.vacation_end if a.vacation_end > now else None}
        for seat, a in enumerate(g.timing.banks)
    ]


def build_appeals(loaded: LoadedGame) -> list[dict[str, Json]]:
    """Return the newest appeals without an answer, until the game is closed."""
    found = loaded.game.lasting.appeals.unanswered if loaded.game.status != "closed" else ()
    return [appeal.to_json() for appeal in found[-MAX_APPEALS:]]


def build_pause(loaded: LoadedGame) -> dict[str, Json] | None:
    """Return the pause on after the last record, or None."""
    pause = loaded.game.current_pause
    return pause.to_json() if pause else None


def is_paused(summary: Doc, at: int) -> bool:
    """Return whether the game of a summary pauses at a time, ms."""
    pause = summary.get("pause")
    return pause is not None and (pause["until"] is None or at < pause["until"])


def build_board(loaded: LoadedGame, viewer: Viewer) -> bytes:
    """Return the encoded board of one viewer, with `own` separate from `public`."""
    return build_boards(loaded, [viewer])[viewer]


def build_boards(loaded: LoadedGame, viewers: Iterable[Viewer]) -> dict[Viewer, bytes]:
    """Return the encoded boards of these viewers; the parts common to all are encoded once."""
    p = loaded.game
    secret, pause = any(f.secret for f in p.frames[-1:]), build_pause(loaded)
    common = (
        _encode_raw(loaded.rules.board(p.state)),
        _encode_raw(build_seats(loaded)),
        _encode_raw(loaded.decisions_to_json(PUBLIC)),
    )
    closed = _encode_raw(private_view(loaded.rules, p, PUBLIC)) if p.status == "closed" else None
    out = {}
    for viewer in viewers:
        public, sitting, decisions = common
        doc: dict[str, object] = {
            "game": p.id,
            "ruleset": p.ruleset,
            "viewer": viewer,
            "version": p.version,
            "head": p.hash,
            "status": p.status,
            "at": p.time,
            "seats": sitting,
            "pause": pause,
            "appeals": build_appeals(loaded),
            "decisions": loaded.decisions_to_json(viewer) if secret else decisions,
            "public": public,
            **describe_analysis(loaded),
        }
        if closed is not None or viewer != PUBLIC:
            doc["own"] = private_view(loaded.rules, p, viewer) if closed is None else closed
        out[viewer] = encode_document(doc)
    return out


def _encode_raw(doc: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(doc))


def describe_analysis(loaded: LoadedGame) -> dict[str, Json]:
    """Return the members `origin` of a fork and `imported` of a game from a file; empty for any other game."""
    terms = loaded.game.terms
    return {name: terms[name] for name in ("origin", "imported") if name in terms}


def build_summary(loaded: LoadedGame) -> dict[str, Json]:
    """Return the lobby entry of a game, made of public facts only."""
    p = loaded.game
    open_now = loaded.open_decisions(PUBLIC)
    return {
        "game": p.id,
        "ruleset": p.ruleset,
        "options": dict(p.table.options),
        "listing": loaded.listing,
        "status": p.status,
        "version": p.version,
        "opened": p.lasting.opening.opened_at,
        "at": p.time,
        "seed_hash": p.lasting.opening.seed_hash,
        "pace": p.timing.control.to_json(offsets=False),
        "seats": build_seats(loaded),
        "seatings": [list(seating) for seating in p.seating.changes],
        "undone": [list(span) for span in p.lasting.rewinds.undone_spans],
        "powers": build_powers(loaded),
        "waiting_for": list(open_now[0].must) if open_now else [],
        "waiting_engine": bool(open_now and open_now[0].engine),
        "waiting_since": p.reversible.waiting_since,
        "deadline": min(p.seat_deadlines(open_now[0].must), default=None) if open_now else None,
        "due": min(p.due_times(open_now[0].must).values(), default=None) if open_now else None,
        "accounts": build_time_banks(loaded),
        "pause": build_pause(loaded),
        "ruling": p.pending_ruling.to_json() if p.pending_ruling else None,
        "hold": p.terms.get("hold", 0),
        "several": p.terms.get("several", True),
        "misses": p.terms.get("misses"),
        "appeals": build_appeals(loaded),
        "appeal_times": p.terms.get("appeals"),
        "officers": p.terms.get("officers", "any"),
        "offices": build_offices(loaded),
        "delay": p.terms.get("delay", 0),
        "ending": p.ending,
        **{name: p.terms[name] for name in ("talk", "papers", "after") if name in p.terms},
        **describe_analysis(loaded),
    }


def build_entries(record: Record, before: LoadedGame | None, loaded: LoadedGame) -> dict[str, dict[str, Json]]:
    """Return the timeline entries of a record by audience; `before` and `loaded` are the games around it."""
    rules, after = loaded.rules, loaded.game.state
    turns = public_chapter_starts(rules, before.game.state, after, record) if before else ()
    besides = record_template_context(rules, before.game.state, record) if before else _no_context
    public: dict[str, Json] = {
        "version": record.version,
        "kind": record.kind,
        "at": record.public["at"],
        "head": record.hash,
        "seat": record.public.get("seat"),
        "by": record.public.get("by"),
        "body": record_members(record, before.game.state if before else after),
        "powers": build_powers(loaded),
        "acts": record.public.get("acts", []),
        "facts": record.public.get("facts", []),
        "chapter": declarations.doc(rules.chapter(after)),
        "turns": [[i, declarations.doc(chapter)] for i, chapter in turns],
        "asides": _context_to_json(besides(record.public.get("facts", []))),
    }
    if record.kind == "rewound":
        public["body"].pop("reason", None)  # a hash
        public |= {"to": record.body["to"], "consent": record.body.get("consent", [])}
    out = {ALL_KEY: public}
    for key, pack in record.packs.items():
        facts = [fact for _, fact in pack.get("facts", ())]
        if seats_of(key) and (facts or pack.get("acts")):
            acts = [[seat, move] for _, seat, move in pack.get("acts", ())]
            own = {"version": record.version, "at": record.public["at"], "acts": acts, "facts": facts}
            out[key] = {**own, "asides": _context_to_json(besides(facts))}
    return out


def _no_context(_: Sequence[Doc]) -> TemplateContext:
    return {}


def _context_to_json(context: TemplateContext) -> dict[str, Json]:
    return {str(i): dict(more) for i, more in context.items()}


def _facts_with_context(rules: AnyRuleset, part: Doc) -> Sequence[Doc]:
    """Return the facts of an entry, or of a viewer's part of it, with the context that sentences need."""
    return with_context(rules, part["facts"], {int(i): more for i, more in (part.get("asides") or {}).items()})


def chapter_to_json(words: Texts, chapter: Chapter) -> dict[str, Json]:
    """Return a chapter with its heading."""
    return {**asdict(chapter), "title": section_title(words, chapter)}


def add_text(rules: AnyRuleset, entry: Doc, words: Texts, name: SeatNamer) -> Doc:
    """Return an entry with sentences and headings, also in the viewer's own part."""
    members = {member: value for member, value in entry.items() if member not in ("turns", "asides", "powers")}
    turns = [(i, convert(chapter, Chapter)) for i, chapter in entry["turns"]]
    subject = entry["kind"], entry["seat"], entry.get("body") or {}, entry["acts"], _facts_with_context(rules, entry)
    public: list[str] = []
    headings: list[dict[str, Json]] = []
    for chapter, lines, _ in split_by_chapter(words, name, *subject, turns):
        if chapter and (text := section_title(words, chapter)):
            headings.append({"line": len(public), "text": text})
        public += lines
    members["chapter"] = chapter_to_json(words, convert(entry["chapter"], Chapter))
    members |= {"text": public, "headings": headings}
    if parts := entry.get("own"):
        hidden = {seat for seat, move in entry["acts"] if "type" not in move}
        told = {seat for seat, _ in entry["acts"] if public and seat not in hidden}
        members["own"] = [_add_own_text(rules, part, words, name, told) for part in parts]
    return members


def _add_own_text(rules: AnyRuleset, part: Doc, words: Texts, name: SeatNamer, told: Container[Seat]) -> Doc:
    """Return the viewer's own part with its sentences. `told`: seats with a public sentence about their moves."""
    moves = [(seat, move) for seat, move in part["acts"] if seat not in told]  # its name again would tell nothing
    text = record_sentences(words, name, "", moves=moves, facts=_facts_with_context(rules, part))
    return {**{member: value for member, value in part.items() if member != "asides"}, "text": text}
