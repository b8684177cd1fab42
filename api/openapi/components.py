"""OpenAPI components from the rulesets' declarations, for typed clients.

Components of one ruleset start with its name: `StruggleOfEmpires1GoldPaidFact`, and `StruggleOfEmpires1Fact` for all of
its facts. Responses without a ruleset, such as a timeline, use `Fact` for any game; it contains the common members of
facts with the same tag in several games.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.http.problems import CODES
from api.schemas.schema_builder import (
    array_of,
    component_name,
    component_pointer,
    describe_cases,
    object_of,
    ref,
    simplify,
    superset,
    tagged_union,
    tuple_of,
)
from domain.kernel.game.command import TABLE_CODES
from domain.kernel.proof.record_schema import (
    BODIES,
    RULED,
    AgreedBody,
    AppealTimes,
    MissLimits,
    Origin,
    Pack,
    PackOpening,
    PublicPart,
    RecordOfficer,
)
from domain.kernel.records.export import FORMAT
from domain.kernel.records.record import KINDS
from domain.kernel.rules.flow import FLOW
from domain.kernel.rules.ruleset import COMMON_CODES, AnyRuleset
from domain.kernel.schema.declarations import Context, Fact, Move, type_name
from domain.kernel.schema.json_schema import schemas_of
from domain.kernel.schema.validators import validator_of
from domain.ruleset_registry import RulesetRegistry
from domain.tournaments.aggregate.basic_commands import TOURNAMENT_CODES
from domain.tournaments.records import FAMILY
from domain.tournaments.records import KINDS as TOURNAMENT_KINDS
from domain.types import Doc

FAMILIES: Mapping[str, tuple[str, str]] = {
    "Decision": ("kind", "An open decision, by its `kind`."),
    "Fact": ("t", "A fact: one change to the game, by its tag `t`."),
    "Move": ("type", "A move of the game's ruleset, by its `type`."),
    "ShownMove": ("type", "A move without the members hidden from others, by its `type`."),
}
"""Families of tagged types: the tag's member, and a description."""

_VIEW_COMPONENTS = {"board": "Public", "own": "SeatOwn", "hidden": "Hidden", "detail": "Detail"}
_INT, _STR = {"type": "integer"}, {"type": "string"}


def move_schema(move: type[Move]) -> Doc:
    """Return the JSON Schema of a move type with its `type`. Dependent members become alternatives."""
    name, schema = type_name(move), validator_of(move).schema()
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
    """Return the move types for clients, without the engine's."""
    return {name: move for name, move in rules.moves.items() if move.admission.by != "engine"}


def build_components(registry: RulesetRegistry, base: Mapping[str, Doc]) -> dict[str, Doc]:
    """Return all components by name. Raise ValueError for a duplicate name.

    `base` contains the common parts of boards and decisions.
    """
    book = _ComponentBuilder(base)
    for name in registry.names():
        book.add_ruleset(registry.get(name))
    book.add_common(registry.names())
    return {**book.components, **_record_components(), **_stream_components(), "ProblemCode": _code_schema(registry)}


def _code_schema(registry: RulesetRegistry) -> Doc:
    games = [code for name in registry.names() for code in registry.get(name).meta.codes]
    codes = dict.fromkeys([*CODES, *COMMON_CODES, *TABLE_CODES, *TOURNAMENT_CODES, *games])
    del codes["refused"]  # a placeholder for rule codes, never sent
    return {"type": "string", "description": "Codes of the service and of the rules.", "enum": sorted(codes)}


# --- rulesets --------------------------------------------------------------------------------------------------


@dataclass
class _ComponentBuilder:
    """Components under construction."""

    base: Mapping[str, Doc]
    components: dict[str, Doc] = field(default_factory=dict)
    tags: dict[str, dict[str, list[str]]] = field(default_factory=lambda: {family: {} for family in FAMILIES})
    """Family -> tag -> names of its components in all rulesets."""

    def add_component(self, name: str, schema: Doc) -> None:
        if self.components.setdefault(name, schema) != schema:
            raise ValueError(f"two components are called {name}")

    def add_ruleset(self, rules: AnyRuleset) -> None:
        """Add all declarations of a ruleset."""
        prefix, moves = component_name(rules.meta.ruleset), seat_moves(rules)
        roots = [*moves.values(), *rules.fact_kinds.values(), *rules.frames.values(), *rules.view_types.values()]
        schemas = _class_schemas(rules, roots)
        for kind, schema in schemas.items():
            self.add_component(_component_of(rules, kind), schema)
        for role, kind in rules.view_types.items():  # two roles may share a class
            self.add_component(prefix + _VIEW_COMPONENTS[role], schemas[kind])
        families = {
            "Fact": {t: _component_of(rules, kind) for t, kind in rules.fact_kinds.items()},
            "Move": {t: _component_of(rules, kind) for t, kind in moves.items()},
            "ShownMove": {t: self._add_shown_move(rules, m) for t, m in moves.items() if "*" not in m.admission.hidden},
            "Decision": {k: self._add_decision(prefix, k) for k in rules.frames},
        }
        for family, names in families.items():
            self.add_component(prefix + family, tagged_union(*_tagged_by(family, names)))
            for t, name in names.items():
                self.tags[family].setdefault(t, []).append(name)
        self._add_board(rules.meta.ruleset, prefix)

    def _add_shown_move(self, rules: AnyRuleset, move: type[Move]) -> str:
        """Add the move without its hidden members, and return the component's name."""
        name = _component_of(rules, move)
        if not move.admission.hidden:
            return name
        schema, component = self.components[name], component_name(rules.meta.ruleset, type_name(move), "shown_move")
        members = {k: v for k, v in schema["properties"].items() if k not in move.admission.hidden}
        self.add_component(
            component, {**schema, "properties": members, "required": [k for k in schema["required"] if k in members]}
        )
        return component

    def _add_decision(self, prefix: str, kind: str) -> str:
        name = component_name(prefix, kind, "decision")
        properties = {
            "kind": {"type": "string", "const": kind},
            "context": ref(component_name(prefix, kind, "context")),
        }
        self.add_component(name, _with_properties(self.base["Decision"], properties))
        return name

    def _add_board(self, ruleset: str, prefix: str) -> None:
        seat, hidden = ref(prefix + "SeatOwn"), ref(prefix + "Hidden")
        whole = object_of("", {"seats": {"type": "object", "additionalProperties": seat}, "hidden": hidden})
        description = "Additional data of the seat. In a look, and after the close: `seats` and `hidden` instead."
        self.add_component(prefix + "Own", superset([self.components[prefix + "SeatOwn"], whole], description))
        properties = {
            "ruleset": {"type": "string", "const": ruleset},
            "decisions": array_of(ref(prefix + "Decision")),
            "public": ref(prefix + "Public"),
            "own": ref(prefix + "Own"),
        }
        self.add_component(prefix + "Board", _with_properties(self.base["Board"], properties))

    def add_common(self, rulesets: list[str]) -> None:
        """Add the types shared by all rulesets."""
        for family, tags in self.tags.items():
            self.add_component(
                family,
                tagged_union(
                    *_tagged_by(family, {t: self._add_common_part(family, t, names) for t, names in tags.items()})
                ),
            )
        boards = {name: component_name(name, "board") for name in rulesets}
        self.add_component("Board", tagged_union("ruleset", boards, "A game as a viewer sees it, by its `ruleset`."))
        details = [self.components[component_name(name, "detail")] for name in rulesets]
        self.add_component("ScoreDetail", superset(details, "Figures behind points and tie-breaks, by game."))

    def _add_common_part(self, family: str, t: str, names: list[str]) -> str:
        (first, *rest) = dict.fromkeys(names)
        if not rest:
            return first
        name = component_name(t, family)
        description = "Common members of " + ", ".join(f"`{n}`" for n in (first, *rest)) + "."
        self.add_component(name, superset([self.components[n] for n in (first, *rest)], description))
        return name


def _tagged_by(family: str, names: Mapping[str, str]) -> tuple[str, Mapping[str, str], str]:
    member, description = FAMILIES[family]
    return member, names, description


def _with_properties(base: Doc, members: Mapping[str, Doc]) -> Doc:
    return {**base, "properties": {**base["properties"], **members}}


def _class_schemas(rules: AnyRuleset, kinds: list[type]) -> dict[type, Doc]:
    """Return the schemas of these classes and of their parts."""
    found = {
        kind: simplify(doc)
        for kind, doc in schemas_of(kinds, lambda kind: component_pointer(_component_of(rules, kind))).items()
    }
    for kind, schema in found.items():
        describe_cases(schema, getattr(kind, "varies", None))
        if issubclass(kind, Move):
            schema["additionalProperties"] = False
    return found


def _component_of(rules: AnyRuleset, kind: type) -> str:
    """Return a class's component name. Kernel facts have one name for all rulesets."""
    prefix = component_name(rules.meta.ruleset)
    if kind in FLOW.values():
        return component_name(type_name(kind), "fact")
    for role, document in rules.view_types.items():
        if document is kind:
            return prefix + _VIEW_COMPONENTS[role]
    for base, suffix in ((Context, "Context"), (Fact, "Fact"), (Move, "Move")):
        if issubclass(kind, base):
            return component_name(prefix, type_name(kind), suffix)
    return component_name(prefix, kind.__name__)


# --- records and exports ---------------------------------------------------------------------------------------


def _record_components() -> dict[str, Doc]:
    """Return components of records by kind, of packs, and of export lines."""
    bodies = {kind: component_name(kind, "body") for kind in BODIES} | {"ruled": "RuledBody"}
    names: dict[type, str] = {BODIES[kind]: name for kind, name in bodies.items() if kind in BODIES}
    ruled = {str(kind.__struct_config__.tag): kind for kind in RULED}
    names |= {kind: component_name(act, "body") for act, kind in ruled.items()}
    names |= {
        Pack: "Pack",
        PackOpening: "Opening",
        PublicPart: "Record",
        RecordOfficer: "RecordOfficer",
        MissLimits: "MissLimitsBody",
        AppealTimes: "AppealTimesBody",
        Origin: "OriginBody",
        AgreedBody: "AgreedBody",
    }
    schemas = {
        names[kind]: simplify(doc)
        for kind, doc in schemas_of(names, lambda kind: component_pointer(names[kind])).items()
    }
    acts = {act: names[kind] for act, kind in ruled.items()}
    schemas["RuledBody"] = tagged_union("act", acts, "A director's command, by its `act`.")
    public = schemas["Record"]
    del public["properties"]["body"]
    tagged = {"facts": array_of(ref("Fact")), "acts": array_of(tuple_of(_INT, ref("ShownMove")))}
    for kind in KINDS:
        properties = {"kind": {"type": "string", "const": kind}} | (
            {"body": ref(bodies[kind])} if kind in bodies else {}
        )
        schemas[component_name(kind, "record")] = _with_properties(public, {**tagged, **properties})
    description = "The public part of a record in its hashed form, by its `kind`."
    schemas["Record"] = tagged_union("kind", {kind: component_name(kind, "record") for kind in KINDS}, description)
    hidden = {"facts": array_of(tuple_of(_INT, ref("Fact"))), "acts": array_of(tuple_of(_INT, _INT, ref("Move")))}
    schemas["Pack"] = _with_properties(schemas["Pack"], hidden)
    schemas["Opening"] = _with_properties(schemas["Opening"], {"pack": ref("Pack")})
    header: dict[str, Doc] = {"annals": {"type": "integer", "const": FORMAT}, "records": _INT}
    header |= dict.fromkeys(("game", "ruleset", "viewer"), _STR)
    schemas["ExportHeader"] = object_of("The first line of an export.", header, damaged=_INT)
    packs = {"type": "object", "additionalProperties": ref("Pack")}
    line_description = (
        "Each line of an export but the first and the last: a record, and the packs for the viewer, by audience."
    )
    schemas["ExportRecord"] = object_of(line_description, {"public": ref("Record"), "packs": packs})
    last_description = "The last line of an export: the hash of its last record, and the number of records."
    schemas["ExportTrailer"] = object_of(last_description, {"head": _STR, "records": _INT})
    return schemas


# --- streams ---------------------------------------------------------------------------------------------------


STREAMS = {
    "StreamEvent": ("", "of a game's stream", "version"),
    "ReplayEvent": ("replay", "of a replay", "version"),
    "TablesEvent": ("tables", "of the stream of own tables", "position"),
    "LobbyEvent": ("lobby", "of the lobby's stream", "position"),
    "TournamentEvent": ("tournament", "of a tournament's stream", "version"),
}
"""Component -> prefix of its event names, description of its stream, and kind of its ids."""


def _stream_components() -> dict[str, Doc]:
    """Return components of stream events. On the wire, `data` is one line of JSON."""
    left_table = object_of("A table without own roles, after leaving.", {"game": _STR})
    description = "Changes since the previous board: a JSON merge patch (RFC 7396)."
    patch = object_of(
        description, {"from": _INT, "version": _INT, "patch": {"type": "object", "additionalProperties": {}}}
    )
    changes = {"board": ref("Board"), "patch": {"type": "object", "additionalProperties": {}}}
    texts = array_of({"type": "string"})
    members: dict[str, Doc] = {"version": _INT, "kind": {"type": "string", "enum": list(KINDS)}, "at": _INT}
    members |= {"chapter": ref("Chapter"), "text": texts, "headings": array_of(ref("Heading"))}
    members |= {"undone": {"type": "boolean"}, "own": texts}
    step_description = "A version: its changes as a JSON merge patch (RFC 7396), or the board, and what happened."
    place: dict[str, Doc] = dict.fromkeys(("stage", "round", "pod"), _INT)
    kinds = [kind.removeprefix(FAMILY) for kind in TOURNAMENT_KINDS]
    named: dict[str, Doc] = {"version": _INT, "kind": {"type": "string", "enum": kinds}, "at": _INT}
    data = {
        "TournamentEvent": {
            "tournament": ref("Tournament"),
            "record": object_of("A record of a tournament, and its place.", named, **place),
        },
        "ReplayEvent": {"board": ref("Board"), "step": object_of(step_description, members, **changes)},
        "StreamEvent": {
            "board": ref("Board"),
            "patch": patch,
            "timeline": ref("Entry"),
            "motion": ref("Motion"),
            "proposal": ref("Proposal"),
        },
        "TablesEvent": {
            "tables": ref("MyGames"),
            "table": ref("Mine"),
            "gone": left_table,
            "motion": ref("Motion"),
            "proposal": ref("Proposal"),
            "challenges": ref("MyChallenges"),
        },
        "LobbyEvent": {"tables": ref("Lobby"), "table": ref("Summary")},
    }
    data["StreamEvent"]["message"] = ref("Message")
    place_of_message: dict[str, Doc] = {"game": _STR, "seat": _INT, "entry": _INT}
    data["TablesEvent"]["message"] = object_of("The place of a new message in your mailbox.", place_of_message)
    schemas: dict[str, Doc] = {}
    for component, (prefix, stream, counts) in STREAMS.items():
        mark = object_of(f"All events up to this {counts} are sent.", {counts: _INT})
        last = {"end": mark, "bye": mark} if "board" in data[component] else {"bye": mark}
        names = {name: component_name(*filter(None, (prefix, name)), "event") for name in (*data[component], *last)}
        schemas |= {names[name]: _event_schema(name, stream, doc) for name, doc in {**data[component], **last}.items()}
        summary = f"An event {stream}, by its name `event`. All events up to {counts} `id` are sent."
        schemas[component] = tagged_union("event", names, summary)
    return schemas


def _event_schema(name: str, stream: str, doc: Doc) -> Doc:
    members = {"event": {"type": "string", "const": name}, "data": doc}
    return object_of(f"The event `{name}` {stream}.", members, id=_INT)
