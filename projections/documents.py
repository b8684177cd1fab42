"""The documents of the read side: data, not presentation, but with seats and clocks, and sentences in the timeline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import convert

from domain.kernel.game.game import shown
from domain.kernel.narration.chapters import heading, split, turned_publicly
from domain.kernel.narration.sentences import told
from domain.kernel.narration.template_context import Asides, as_told, asides_whole
from domain.kernel.records.audience import ALL_KEY, seats_of
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset, Chapter
from domain.kernel.schema import declarations
from domain.kernel.text.message_catalog import Name, Texts
from domain.types import PUBLIC, Doc, Json, Viewer
from projections.loaded_game import Known


def rendered(doc: Json) -> bytes:
    """A document as it is stored and served."""
    return msgspec.json.encode(doc)


def seats(known: Known) -> list[dict[str, Json]]:
    """Who sits where; opaque ids."""
    p = known.game
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
                "held": held if (held := p.accounts[seat].held) > p.at and p.status == "running" else None,
            }
        )
    return rows


def powers(known: Known) -> dict[str, str]:
    """Seat -> id of the power that it plays."""
    return {str(seat): power for seat, power in known.rules.powers(known.game.state).items()}


def accounts(known: Known) -> list[dict[str, Json]]:
    """What each seat had left of its own at the last record, where the pace gives it anything."""
    g = known.game
    if not (g.pace.bank or g.pace.vacation):
        return []
    return [
        {"seat": seat, "bank": a.bank, "vacation": a.days, "back": a.back if a.back > g.at else None}
        for seat, a in enumerate(g.accounts)
    ]


def board(known: Known, viewer: Viewer) -> bytes:
    """All that one viewer may see now, `own` apart from `public`; rendered."""
    return boards(known, [viewer])[viewer]


def boards(known: Known, viewers: Iterable[Viewer]) -> dict[Viewer, bytes]:
    """The boards of these viewers; what is the same for all is rendered once."""
    p = known.game
    secret = any(f.secret for f in p.frames[-1:])
    common = _raw(known.rules.board(p.state)), _raw(seats(known)), _raw(known.decisions(PUBLIC))
    closed = _raw(shown(known.rules, p, PUBLIC)) if p.status == "closed" else None
    out = {}
    for viewer in viewers:
        public, sitting, decisions = common
        doc: dict[str, object] = {
            "game": p.id,
            "ruleset": p.ruleset,
            "viewer": viewer,
            "version": p.version,
            "status": p.status,
            "at": p.at,
            "seats": sitting,
            "decisions": known.decisions(viewer) if secret else decisions,
            "public": public,
        }
        if closed is not None or viewer != PUBLIC:
            doc["own"] = shown(known.rules, p, viewer) if closed is None else closed
        out[viewer] = rendered(doc)
    return out


def _raw(doc: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(doc))


def summary(known: Known) -> dict[str, Json]:
    """A line of the lobby: who plays what, and for whom it waits since when. Public facts only."""
    p = known.game
    open_now = known.open(PUBLIC)
    return {
        "game": p.id,
        "ruleset": p.ruleset,
        "options": dict(p.table.options),
        "listing": known.listing,
        "status": p.status,
        "version": p.version,
        "opened": p.opened,
        "at": p.at,
        "seed_hash": p.seed_hash,
        "pace": p.pace.to_json(),
        "seats": seats(known),
        "powers": powers(known),
        "waiting_for": list(open_now[0].must) if open_now else [],
        "waiting_engine": bool(open_now and open_now[0].engine),
        "waiting_since": p.waiting,
        "due": min(p.dues(open_now[0].must).values(), default=None) if open_now else None,
        "accounts": accounts(known),
        "hold": p.terms.get("hold", 0),
        "several": p.terms.get("several", True),
        "delay": p.terms.get("delay", 0),
        "ending": p.ending,
    }


def entries(record: Record, before: Known | None, known: Known) -> dict[str, dict[str, Json]]:
    """The record in the timeline, between the games before and after it: an entry for all, one for each audience."""
    rules, after = known.rules, known.game.state
    turns = turned_publicly(rules, before.game.state, after, record) if before else ()
    besides = asides_whole(rules, before.game.state, record) if before else _nothing
    public: dict[str, Json] = {
        "version": record.version,
        "kind": record.kind,
        "at": record.public["at"],
        "seat": record.public.get("seat"),
        "by": record.public.get("by"),
        "body": {k: v for k, v in record.body.items() if k in _BODY},
        "acts": record.public.get("acts", []),
        "facts": record.public.get("facts", []),
        "chapter": declarations.doc(rules.chapter(after)),
        "turns": [[i, declarations.doc(chapter)] for i, chapter in turns],
        "asides": _kept(besides(record.public.get("facts", []))),
    }
    if record.kind == "closed":
        public["body"] = {"reason": record.body["reason"]}
    if record.kind == "rewound":
        public |= {"to": record.body["to"], "consent": record.body.get("consent", [])}
    out = {ALL_KEY: public}
    for key, pack in record.packs.items():
        facts = [fact for _, fact in pack.get("facts", ())]
        if seats_of(key) and (facts or pack.get("acts")):
            acts = [[seat, move] for _, seat, move in pack.get("acts", ())]
            own = {"version": record.version, "at": record.public["at"], "acts": acts, "facts": facts}
            out[key] = {**own, "asides": _kept(besides(facts))}
    return out


def _nothing(_: Sequence[Doc]) -> Asides:
    return {}


def _kept(found: Asides) -> dict[str, Json]:
    return {str(i): dict(more) for i, more in found.items()}


def _as_told(rules: AnyRuleset, part: Doc) -> Sequence[Doc]:
    """The facts of an entry or of a viewer's part of it, as their sentences take them."""
    return as_told(rules, part["facts"], {int(i): more for i, more in (part.get("asides") or {}).items()})


def chapter_told(words: Texts, chapter: Chapter) -> dict[str, Json]:
    """Where in the game something is, with the heading of that place."""
    return {**declarations.doc(chapter), "title": heading(words, chapter)}


def with_text(rules: AnyRuleset, entry: Doc, words: Texts, name: Name) -> Doc:
    """An entry with its sentences and headings; those of the viewer's own part stand there."""
    kept = {member: value for member, value in entry.items() if member not in ("turns", "asides")}
    turns = [(i, convert(chapter, Chapter)) for i, chapter in entry["turns"]]
    about = entry["kind"], entry["seat"], entry.get("body") or {}, entry["acts"], _as_told(rules, entry)
    public: list[str] = []
    headings: list[dict[str, Json]] = []
    for chapter, lines, _ in split(words, name, *about, turns):
        if chapter and (text := heading(words, chapter)):
            headings.append({"line": len(public), "text": text})
        public += lines
    kept["chapter"] = chapter_told(words, convert(entry["chapter"], Chapter))
    own = [_own_with_text(rules, part, words, name) for part in entry.get("own", ())]
    return {**kept, "text": public, "headings": headings} | ({"own": own} if own else {})


def _own_with_text(rules: AnyRuleset, part: Doc, words: Texts, name: Name) -> Doc:
    text = told(words, name, "", acts=part["acts"], facts=_as_told(rules, part))
    return {**{member: value for member, value in part.items() if member != "asides"}, "text": text}


_BODY = ("act", "ms", "days", "to", "hold")
"""What sentences say of a record besides its facts."""
