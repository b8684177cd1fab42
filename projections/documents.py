"""The documents of the views: data for programs, with seats and clocks. Sentences are added to timelines on reading."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, TypeVar, cast

import msgspec
from msgspec import convert

from domain.bots import may_suggest
from domain.kernel.game.appeals import Appeal
from domain.kernel.game.deadlines import TimeControl
from domain.kernel.game.game import AnyGame, private_view
from domain.kernel.game.officers import OFFICES
from domain.kernel.narration.battle_texts import BattleDoc, tell_battle
from domain.kernel.narration.chapters import public_chapter_starts, section_title, split_by_chapter
from domain.kernel.narration.sentences import SeatNames, record_members, record_sentences, told_facts
from domain.kernel.narration.template_context import TemplateContext, record_template_context, with_context
from domain.kernel.records.audience import ALL_KEY, seats_of
from domain.kernel.records.record import Record
from domain.kernel.rules.battles import ToldFact
from domain.kernel.rules.ruleset import AnyRuleset, Chapter
from domain.kernel.schema import declarations
from domain.kernel.text.message_catalog import SeatNamer, Texts
from domain.types import PUBLIC, Doc, Json, Seat, Viewer
from projections.game_documents import (
    AccountDoc,
    AppealDoc,
    BoardDoc,
    ChapterDoc,
    EndingDoc,
    EntryDoc,
    HeadingDoc,
    OfficeHolderDoc,
    OwnEntryDoc,
    PaceDoc,
    PauseDoc,
    ProvenanceDoc,
    RulingDoc,
    SeatDoc,
    StoredSummaryDoc,
)
from projections.loaded_game import LoadedGame

Part = TypeVar("Part")

MAX_APPEALS = 50
"""Most appeals of one document."""


def encode_document(doc: Json) -> bytes:
    """Encode a document as stored and served."""
    return msgspec.json.encode(doc)


def build_seats(loaded: LoadedGame) -> list[SeatDoc]:
    """Return the seats with their players' opaque ids."""
    p = loaded.game
    rows: list[SeatDoc] = []
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


def build_offices(loaded: LoadedGame) -> list[OfficeHolderDoc]:
    """Return the officers named by records, by role."""
    staff = loaded.game.lasting.staff
    held = {**({staff.owner: "owner"} if staff.owner else {}), **staff.offices}
    order = sorted(held.items(), key=lambda item: (-OFFICES.index(item[1]), item[0]))
    return [{"player": player, "office": office} for player, office in order]


def build_time_banks(loaded: LoadedGame) -> list[AccountDoc]:
    """Return each seat's time bank and vacation at the last record; empty if the time control has neither."""
    g, now = loaded.game, loaded.game.playing_time(loaded.game.time)
    if not (g.timing.control.bank or g.timing.control.vacation):
        return []
    return [
        {"seat": seat, "bank": a.bank, "vacation": a.days, "back": a.vacation_end if a.vacation_end > now else None}
        for seat, a in enumerate(g.timing.banks)
    ]


def build_appeals(loaded: LoadedGame) -> list[AppealDoc]:
    """Return the newest appeals without an answer, until the game is closed."""
    found = loaded.game.lasting.appeals.unanswered if loaded.game.status != "closed" else ()
    return [appeal_to_json(appeal) for appeal in found[-MAX_APPEALS:]]


def appeal_to_json(appeal: Appeal) -> AppealDoc:
    """Return an appeal without its reason and answer."""
    return {
        "version": appeal.version,
        "appeal": appeal.made_in,
        "seat": appeal.seat,
        "at": appeal.at,
        "answer_by": appeal.answer_by,
    }


def build_pause(loaded: LoadedGame) -> PauseDoc | None:
    """Return the pause on after the last record, or None."""
    pause = loaded.game.current_pause
    return {"since": pause.since, "until": pause.until, "moves": pause.moves} if pause else None


def build_ruling(loaded: LoadedGame) -> RulingDoc | None:
    """Return the ruling at the end of play, as long as it can be withdrawn, or None."""
    ruling = loaded.game.pending_ruling
    if ruling is None:
        return None
    return {
        "version": ruling.version,
        "at": ruling.at,
        "final_at": ruling.final_at,
        "reason": ruling.reason,
        "places": list(ruling.places),
        "forfeits": list(ruling.forfeits),
        "penalties": ruling.penalties_to_json(),
    }


def build_ending(game: AnyGame) -> EndingDoc | None:
    """Return the closing of a game, or None before it."""
    ending = game.ending
    if ending is None:
        return None
    doc: EndingDoc = {"reason": ending.reason, "by": ending.by, "finished": ending.finished}
    if (ruling := ending.ruling) is not None:
        doc["ruling"] = ruling.version
        doc["ranked"] = ruling.is_ranked
        doc["forfeits"] = list(ruling.forfeits)
        doc["penalties"] = ruling.penalties_to_json()
    return doc


def build_pace(control: TimeControl) -> PaceDoc:
    """Return the time control of a game."""
    doc: PaceDoc = {"seconds": dict(control.seconds), "grace": control.grace}
    if control.bank:
        doc["bank"] = control.bank
    if control.vacation:
        doc["vacation"] = control.vacation
    if (daily := control.daily) is not None:
        doc["daily"] = {"hour": daily.hour, "zone": daily.zone, "days_off": list(daily.days_off)}
    return doc


def is_paused(summary: Mapping[str, Json], at: int) -> bool:
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
        _encode_part(loaded.rules.board(p.state)),
        _encode_part(build_seats(loaded)),
        _encode_part(loaded.decisions_to_json(PUBLIC)),
    )
    closed = _encode_part(private_view(loaded.rules, p, PUBLIC)) if p.status == "closed" else None
    out = {}
    for viewer in viewers:
        public, sitting, decisions = common
        doc: BoardDoc = {
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


def _encode_part(part: Part) -> Part:
    """Return a part of a document, encoded already, in its place."""
    return cast(Part, msgspec.Raw(msgspec.json.encode(part)))


def describe_analysis(loaded: LoadedGame) -> ProvenanceDoc:
    """Return the members `origin` of a fork and `imported` of a game from a file; empty for any other game."""
    terms = loaded.game.terms
    doc: ProvenanceDoc = {}
    if "origin" in terms:
        doc["origin"] = terms["origin"]
    if "imported" in terms:
        doc["imported"] = terms["imported"]
    return doc


def build_summary(loaded: LoadedGame) -> StoredSummaryDoc:
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
        "pace": build_pace(p.timing.control),
        "seats": build_seats(loaded),
        "seatings": list(p.seating.changes),
        "undone": list(p.lasting.rewinds.undone_spans),
        "powers": build_powers(loaded),
        "waiting_for": list(open_now[0].must) if open_now else [],
        "waiting_engine": bool(open_now and open_now[0].engine),
        "waiting_since": p.reversible.waiting_since,
        "deadline": min(p.seat_deadlines(open_now[0].must), default=None) if open_now else None,
        "due": min(p.due_times(open_now[0].must).values(), default=None) if open_now else None,
        "accounts": build_time_banks(loaded),
        "pause": build_pause(loaded),
        "ruling": build_ruling(loaded),
        "hold": p.terms.get("hold", 0),
        "several": p.terms.get("several", True),
        "misses": p.terms.get("misses"),
        "appeals": build_appeals(loaded),
        "appeal_times": p.terms.get("appeals"),
        "officers": p.terms.get("officers", "any"),
        "offices": build_offices(loaded),
        "delay": p.terms.get("delay", 0),
        "ending": build_ending(p),
        **_build_talk_terms(p),
        **_build_time_limit(p),
        **_build_suggestions(p),
        **_build_order_terms(p),
        **describe_analysis(loaded),
    }


class TalkTermsDoc(TypedDict):
    talk: NotRequired[Literal["free", "public", "by_phase", "none"]]
    papers: NotRequired[Literal["own", "pass_on"]]
    after: NotRequired[Literal["kept", "published"]]
    names_hidden: NotRequired[bool]


def _build_talk_terms(p: AnyGame) -> TalkTermsDoc:
    """Return the terms of talk at a table; absent ones are the defaults."""
    hidden = {"names_hidden": True} if p.terms.get("names") == "hidden" else {}
    return cast(TalkTermsDoc, {name: p.terms[name] for name in ("talk", "papers", "after") if name in p.terms} | hidden)


class TimeLimitDoc(TypedDict):
    time_limit: NotRequired[int]
    limit_end: NotRequired[int | None]
    last_turn: NotRequired[int]


def _build_time_limit(p: AnyGame) -> TimeLimitDoc:
    """Return the time limit of a table with its end and the time for its last turn, or nothing."""
    if "time_limit" not in p.terms:
        return {}
    last_turn: TimeLimitDoc = {"last_turn": p.terms["last_turn"]} if "last_turn" in p.terms else {}
    return {"time_limit": p.terms["time_limit"], "limit_end": p.limit_end, **last_turn}


class SuggestionsDoc(TypedDict):
    suggestions: NotRequired[bool]


class OrderTermsDoc(TypedDict):
    standing_orders: NotRequired[Literal["allowed", "refused", "shown"]]


def _build_order_terms(p: AnyGame) -> OrderTermsDoc:
    """Return the term of standing orders, if the table has one."""
    return cast(OrderTermsDoc, {name: p.terms[name] for name in ("standing_orders",) if name in p.terms})


def _build_suggestions(p: AnyGame) -> SuggestionsDoc:
    """Return that a seat may ask the bot for a move, or nothing."""
    return {"suggestions": True} if may_suggest(p) else {}


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


def build_battles(
    rules: AnyRuleset, entries: Iterable[Doc], words: Texts, name: Callable[[Doc], SeatNames]
) -> list[BattleDoc]:
    """Return the battles in a viewer's entries. `name`: entry -> namer of its version."""
    facts: list[ToldFact] = []
    namers: dict[int, SeatNames] = {}
    for entry in entries:
        for part in (entry, *entry.get("own", ())):
            asides = part.get("asides") or {}
            facts += ((entry["version"], {**asides.get(str(i), {}), **fact}) for i, fact in enumerate(part["facts"]))
        namers[entry["version"]] = name(entry)
    return [tell_battle(words, namers[each.version], each) for each in rules.read_battles(facts)]


def chapter_to_json(words: Texts, chapter: Chapter) -> ChapterDoc:
    """Return a chapter with its heading."""
    return {
        "turn": chapter.turn,
        "round": chapter.round,
        "phase": chapter.phase,
        "title": section_title(words, chapter),
    }


def add_text(rules: AnyRuleset, entry: Doc, words: Texts, name: SeatNamer) -> EntryDoc:
    """Return an entry with sentences and headings, also in the viewer's own part."""
    members = cast(EntryDoc, {k: value for k, value in entry.items() if k not in ("turns", "asides", "powers")})
    turns = [(i, convert(chapter, Chapter)) for i, chapter in entry["turns"]]
    facts = _facts_with_context(rules, entry)
    subject = entry["kind"], entry["seat"], entry.get("body") or {}, entry["acts"], facts
    teller = _Teller(facts)
    public: list[str] = []
    headings: list[HeadingDoc] = []
    for chapter, lines, _ in split_by_chapter(words, name, *subject, turns, teller.say):
        if chapter and (text := section_title(words, chapter)):
            headings.append({"line": len(public), "text": text})
        public += lines
    members["chapter"] = chapter_to_json(words, convert(entry["chapter"], Chapter))
    members["text"] = public
    members["tells"] = teller.find_facts(public)
    members["headings"] = headings
    if parts := entry.get("own"):
        hidden = {seat for seat, move in entry["acts"] if "type" not in move}
        told = {seat for seat, _ in entry["acts"] if public and seat not in hidden}
        members["own"] = [_add_own_text(rules, part, words, name, told) for part in parts]
    return members


def _add_own_text(rules: AnyRuleset, part: Doc, words: Texts, name: SeatNamer, told: Container[Seat]) -> OwnEntryDoc:
    """Return the viewer's own part with its sentences. `told`: seats with a public sentence about their moves."""
    moves = [(seat, move) for seat, move in part["acts"] if seat not in told]  # its name again would tell nothing
    facts = _facts_with_context(rules, part)
    teller = _Teller(facts)
    text = record_sentences(words, name, "", moves=moves, facts=facts, say=teller.say)
    return {
        "version": part["version"],
        "at": part["at"],
        "acts": part["acts"],
        "facts": part["facts"],
        "text": text,
        "tells": teller.find_facts(text),
    }


class _Teller:
    """Says facts in sentences, and notes the fact of each line."""

    def __init__(self, facts: Sequence[Doc]) -> None:
        self._places = {id(fact): place for place, fact in reversed([*enumerate(facts)])}
        self._told: dict[str, int] = {}

    def say(self, texts: Texts, namer: SeatNamer, facts: Sequence[Doc]) -> list[str]:
        """Return the sentences of facts, as `fact_sentences`."""
        lines = told_facts(texts, namer, facts)
        for line, fact in lines:
            self._told.setdefault(line, self._places[id(fact)])
        return [line for line, _ in lines]

    def find_facts(self, lines: Iterable[str]) -> list[int | None]:
        """Return for each line the index of the first fact that it tells, or None."""
        return [self._told.get(line) for line in lines]
