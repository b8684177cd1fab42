"""What the rulesets declare, as components of the document from which tools make typed clients.

What is one ruleset's begins with its name: `StruggleOfEmpires1GoldPaidFact`, and `StruggleOfEmpires1Fact` for any of
its facts. Answers that name no ruleset (a timeline, say) hold a `Fact` of whichever game: where several games have
facts of one tag, it knows what these have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.http.problems import CODES
from api.schemas.schema_builder import at, camel, listed, obj, plain, ref, row, superset, tell_cases, union
from domain.kernel.game.command import TABLE_CODES
from domain.kernel.proof.record_schema import BODIES, RULED, Opening, Pack, Public
from domain.kernel.records.export import FORMAT
from domain.kernel.records.record import KINDS
from domain.kernel.rules.flow import FLOW
from domain.kernel.rules.ruleset import COMMON_CODES, AnyRuleset
from domain.kernel.schema.declarations import Context, Fact, Move, tag
from domain.kernel.schema.json_schema import schemas_of
from domain.kernel.schema.validators import shape_of
from domain.ruleset_registry import Catalogue
from domain.types import Doc

FAMILIES: Mapping[str, tuple[str, str]] = {
    "Decision": ("kind", "What is to be decided, by its `kind`."),
    "Fact": ("t", "One thing that is true after a move, by its tag `t`."),
    "Move": ("type", "A move of the game's ruleset, by its `type`."),
    "ShownMove": ("type", "A move as everybody sees it: without what only the mover may see."),
}
"""What is declared by tag: the member that holds the tag, and a description."""

_SIGHTS = {"board": "Public", "own": "SeatOwn", "hidden": "Hidden", "detail": "Detail"}
_INT, _STR = {"type": "integer"}, {"type": "string"}


def move_schema(move: type[Move]) -> Doc:
    """JSON Schema of one type of move, with its `type`; members that depend on others in alternatives."""
    name, schema = tag(move), shape_of(move).schema()
    members = schema.get("oneOf", [schema])
    typed = [
        {
            **m,
            "properties": {"type": {"type": "string", "const": name}, **m["properties"]},
            "required": ["type", *m["required"]],
        }
        for m in members
    ]
    return {"oneOf": typed} if "oneOf" in schema else typed[0]


def seat_moves(rules: AnyRuleset) -> dict[str, type[Move]]:
    """The types of moves that clients may send; the engine's are not among them."""
    return {name: move for name, move in rules.moves.items() if move.admission.by != "engine"}


def components(catalogue: Catalogue, base: Mapping[str, Doc]) -> dict[str, Doc]:
    """Name -> schema; `base` has what all boards and decisions share. Raises ValueError for a name that comes twice."""
    book = _Book(base)
    for name in catalogue.names():
        book.add(catalogue.get(name))
    book.join(catalogue.names())
    return {**book.made, **_records(), **_events(), "ProblemCode": _codes(catalogue)}


def _codes(catalogue: Catalogue) -> Doc:
    games = [code for name in catalogue.names() for code in catalogue.get(name).meta.codes]
    known = dict.fromkeys([*CODES, *COMMON_CODES, *TABLE_CODES, *games])
    del known["refused"]  # stands for the codes of rules, and is sent by nobody
    return {"type": "string", "description": "Of the service, and of the rules.", "enum": sorted(known)}


# --- rulesets --------------------------------------------------------------------------------------------------


@dataclass
class _Book:
    """Components while they are made."""

    base: Mapping[str, Doc]
    made: dict[str, Doc] = field(default_factory=dict)
    tags: dict[str, dict[str, list[str]]] = field(default_factory=lambda: {family: {} for family in FAMILIES})
    """Family -> tag -> the components that have it, of all rulesets."""

    def put(self, name: str, schema: Doc) -> None:
        if self.made.setdefault(name, schema) != schema:
            raise ValueError(f"two components are called {name}")

    def add(self, rules: AnyRuleset) -> None:
        """All that one ruleset declares."""
        prefix, moves = camel(rules.meta.ruleset), seat_moves(rules)
        roots = [*moves.values(), *rules.fact_kinds.values(), *rules.frames.values(), *rules.documents.values()]
        schemas = _schemas(rules, roots)
        for kind, schema in schemas.items():
            self.put(_name(rules, kind), schema)
        for role, kind in rules.documents.items():  # two of them may be of one class
            self.put(prefix + _SIGHTS[role], schemas[kind])
        families = {
            "Fact": {t: _name(rules, kind) for t, kind in rules.fact_kinds.items()},
            "Move": {t: _name(rules, kind) for t, kind in moves.items()},
            "ShownMove": {t: self._shown(rules, m) for t, m in moves.items() if "*" not in m.admission.hidden},
            "Decision": {k: self._decision(prefix, k) for k in rules.frames},
        }
        for family, names in families.items():
            self.put(prefix + family, union(*_told(family, names)))
            for t, name in names.items():
                self.tags[family].setdefault(t, []).append(name)
        self._board(rules.meta.ruleset, prefix)

    def _shown(self, rules: AnyRuleset, move: type[Move]) -> str:
        """A move without the members that only its mover may see."""
        name = _name(rules, move)
        if not move.admission.hidden:
            return name
        schema, shown = self.made[name], camel(rules.meta.ruleset, tag(move), "shown_move")
        members = {k: v for k, v in schema["properties"].items() if k not in move.admission.hidden}
        self.put(shown, {**schema, "properties": members, "required": [k for k in schema["required"] if k in members]})
        return shown

    def _decision(self, prefix: str, kind: str) -> str:
        name = camel(prefix, kind, "decision")
        own = {"kind": {"type": "string", "const": kind}, "context": ref(camel(prefix, kind, "context"))}
        self.put(name, _with(self.base["Decision"], own))
        return name

    def _board(self, ruleset: str, prefix: str) -> None:
        seat, hidden = ref(prefix + "SeatOwn"), ref(prefix + "Hidden")
        whole = obj("", {"seats": {"type": "object", "additionalProperties": seat}, "hidden": hidden})
        said = "What the seat sees besides; in a look, and once the game is closed, `seats` and `hidden` instead."
        self.put(prefix + "Own", superset([self.made[prefix + "SeatOwn"], whole], said))
        own = {
            "ruleset": {"type": "string", "const": ruleset},
            "decisions": listed(ref(prefix + "Decision")),
            "public": ref(prefix + "Public"),
            "own": ref(prefix + "Own"),
        }
        self.put(prefix + "Board", _with(self.base["Board"], own))

    def join(self, rulesets: list[str]) -> None:
        """What may be any ruleset's."""
        for family, tags in self.tags.items():
            self.put(family, union(*_told(family, {t: self._common(family, t, names) for t, names in tags.items()})))
        boards = {name: camel(name, "board") for name in rulesets}
        self.put("Board", union("ruleset", boards, "All that a viewer may see of a game, by its `ruleset`."))
        details = [self.made[camel(name, "detail")] for name in rulesets]
        self.put("ScoreDetail", superset(details, "The figures behind the points and the tie-breaks, by game."))

    def _common(self, family: str, t: str, names: list[str]) -> str:
        (first, *others) = dict.fromkeys(names)
        if not others:
            return first
        name = camel(t, family)
        said = "What is common to " + ", ".join(f"`{n}`" for n in (first, *others)) + "."
        self.put(name, superset([self.made[n] for n in (first, *others)], said))
        return name


def _told(family: str, names: Mapping[str, str]) -> tuple[str, Mapping[str, str], str]:
    member, said = FAMILIES[family]
    return member, names, said


def _with(base: Doc, members: Mapping[str, Doc]) -> Doc:
    return {**base, "properties": {**base["properties"], **members}}


def _schemas(rules: AnyRuleset, kinds: list[type]) -> dict[type, Doc]:
    """Of these classes and of what they are made of."""
    found = {kind: plain(doc) for kind, doc in schemas_of(kinds, lambda kind: at(_name(rules, kind))).items()}
    for kind, schema in found.items():
        tell_cases(schema, getattr(kind, "varies", None))
        if issubclass(kind, Move):
            schema["additionalProperties"] = False
    return found


def _name(rules: AnyRuleset, kind: type) -> str:
    """The component of a class; the kernel's facts are the same in all rulesets."""
    prefix = camel(rules.meta.ruleset)
    if kind in FLOW.values():
        return camel(tag(kind), "fact")
    for role, shown in rules.documents.items():
        if shown is kind:
            return prefix + _SIGHTS[role]
    for base, suffix in ((Context, "Context"), (Fact, "Fact"), (Move, "Move")):
        if issubclass(kind, base):
            return camel(prefix, tag(kind), suffix)
    return camel(prefix, kind.__name__)


# --- records and exports ---------------------------------------------------------------------------------------


def _records() -> dict[str, Doc]:
    """The public part of a record of each kind; packs; the lines of an export."""
    bodies = {kind: camel(kind, "body") for kind in BODIES} | {"ruled": "RuledBody"}
    names: dict[type, str] = {BODIES[kind]: name for kind, name in bodies.items() if kind in BODIES}
    ruled = {str(kind.__struct_config__.tag): kind for kind in RULED}
    names |= {kind: camel(act, "body") for act, kind in ruled.items()}
    names |= {Pack: "Pack", Opening: "Opening", Public: "Record"}
    made = {names[kind]: plain(doc) for kind, doc in schemas_of(names, lambda kind: at(names[kind])).items()}
    acts = {act: names[kind] for act, kind in ruled.items()}
    made["RuledBody"] = union("act", acts, "What a ruling is, by its `act`.")
    public = made["Record"]
    del public["properties"]["body"]
    shown = {"facts": listed(ref("Fact")), "acts": listed(row(_INT, ref("ShownMove")))}
    for kind in KINDS:
        own = {"kind": {"type": "string", "const": kind}} | ({"body": ref(bodies[kind])} if kind in bodies else {})
        made[camel(kind, "record")] = _with(public, {**shown, **own})
    told = "The public part of a record, as it is hashed, by its `kind`."
    made["Record"] = union("kind", {kind: camel(kind, "record") for kind in KINDS}, told)
    hidden = {"facts": listed(row(_INT, ref("Fact"))), "acts": listed(row(_INT, _INT, ref("Move")))}
    made["Pack"] = _with(made["Pack"], hidden)
    made["Opening"] = _with(made["Opening"], {"pack": ref("Pack")})
    header: dict[str, Doc] = {"annals": {"type": "integer", "const": FORMAT}, "records": _INT}
    header |= dict.fromkeys(("game", "ruleset", "viewer"), _STR)
    made["ExportHeader"] = obj("The first line of an export.", header, damaged=_INT)
    packs = {"type": "object", "additionalProperties": ref("Pack")}
    said = "Each further line of an export: a record, and the packs that the viewer may read, by audience."
    made["ExportRecord"] = obj(said, {"public": ref("Record"), "packs": packs})
    return made


# --- streams ---------------------------------------------------------------------------------------------------


STREAMS = {
    "StreamEvent": ("", "of a game's stream", "version"),
    "TablesEvent": ("tables", "of the stream of one's own tables", "position"),
    "LobbyEvent": ("lobby", "of the lobby's stream", "position"),
}
"""Component -> what its members are called by, of which stream it is, what ids of that are."""


def _events() -> dict[str, Doc]:
    """The events of streams; `event` and `id` stand in lines of their own, `data` is one line of JSON."""
    gone = obj("A table that one has left.", {"game": _STR})
    about = "What has changed of a board since the one that was told before it: a JSON merge patch (RFC 7396)."
    patch = obj(about, {"from": _INT, "version": _INT, "patch": {"type": "object", "additionalProperties": {}}})
    data = {
        "StreamEvent": {"board": ref("Board"), "patch": patch, "timeline": ref("Entry"), "motion": ref("Motion")},
        "TablesEvent": {
            "tables": ref("MyGames"),
            "table": ref("Mine"),
            "gone": gone,
            "motion": ref("Motion"),
            "challenges": ref("MyChallenges"),
        },
        "LobbyEvent": {"tables": ref("Lobby"), "table": ref("Summary")},
    }
    made: dict[str, Doc] = {}
    for component, (prefix, of, counts) in STREAMS.items():
        mark = obj(f"Up to which {counts} everything was sent.", {counts: _INT})
        last = {"end": mark, "bye": mark} if component == "StreamEvent" else {"bye": mark}
        names = {name: camel(*filter(None, (prefix, name)), "event") for name in (*data[component], *last)}
        made |= {names[name]: _event(name, of, doc) for name, doc in {**data[component], **last}.items()}
        said = f"An event {of}, by its name `event`; `id` is the {counts} up to which everything was sent."
        made[component] = union("event", names, said)
    return made


def _event(name: str, of: str, doc: Doc) -> Doc:
    members = {"event": {"type": "string", "const": name}, "data": doc}
    return obj(f"The event `{name}` {of}.", members, id=_INT)
