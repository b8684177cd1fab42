"""Routes of the rulesets: schemas, texts, rules pages, data, and problem codes."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from flask import Response

from api.documents.game_help import describe_things, explain_decision
from api.documents.introductions import load_introduction
from api.documents.playing_times import list_playing_times
from api.documents.presentations import load_presentation
from api.http.i18n import request_language, translate
from api.http.json_responses import JsonResponse
from api.http.problems import CODES, REFUSAL_STATUS, Problem
from api.openapi.components import move_schema, seat_moves
from api.openapi.smorest import Blueprint
from api.response_builders import ONE_DAY, Document, etag_response
from api.schemas.history_responses import RulesetDoc, RulesetHelpDoc, RulesetLineDoc, RulesetsDoc
from api.schemas.problem_responses import CodeDoc
from api.schemas.query_args import LangArgs
from api.services import services
from domain.bots import list_levels
from domain.kernel.game.command import TABLE_CODES
from domain.kernel.rules.ruleset import COMMON_CODES, AnyRuleset
from domain.kernel.schema.json_schema import schema_of
from domain.kernel.text import package_data
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.tournaments.aggregate.basic_commands import TOURNAMENT_CODES
from domain.types import Doc, split_ruleset

bp = Blueprint("rulesets", __name__, url_prefix="/v1", description="Rulesets, and problem codes.")


def _ruleset_to_json(rules: AnyRuleset, texts: Texts) -> RulesetLineDoc:
    """Return the entry of a ruleset in the list."""
    meta = rules.meta
    return {
        "name": meta.ruleset,
        "title": texts.get("title") or meta.title,
        "prefix": meta.prefix,
        "seats": list(meta.seats),
        "bots": list_levels(rules),
    }


def _cached_response(doc: Document) -> JsonResponse[Document]:
    """Return a document with an ETag, cached for a day."""
    return etag_response(msgspec.json.encode(doc), cache=ONE_DAY)


@bp.operation(
    "GET",
    "/rulesets",
    "rulesets",
    query=LangArgs,
)
def rulesets(_: Doc) -> JsonResponse[RulesetsDoc]:
    """Return the rulesets."""
    registry, lang = services().registry, request_language()
    found = [registry.get(name) for name in registry.names()]
    return _cached_response({"items": [_ruleset_to_json(rules, load_texts(rules.package, lang)) for rules in found]})


@bp.operation(
    "GET",
    "/rulesets/<ruleset:name>",
    "ruleset",
    errors=(304, 404),
    query=LangArgs,
)
def ruleset(_: Doc, name: str) -> JsonResponse[RulesetDoc]:
    """Return a ruleset.

    It contains options, moves, facts, decisions and player views with their schemas, refusal codes with rule numbers,
    and texts.
    """
    rules = services().registry.get(name)
    meta, texts = rules.meta, load_texts(rules.package, request_language())
    options = {
        key: {"schema": o.validator.schema(), "default": o.default, "rule": o.rule, "text": texts.get(f"option.{key}")}
        for key, o in meta.options.items()
    }
    moves = {
        kind: {
            "schema": move_schema(m),
            "at": list(m.admission.at),
            "by": m.admission.by,
            "hidden": list(m.admission.hidden),
            "anonymous": m.admission.anonymous,
            "rule": m.admission.rule,
            "text": texts.get(f"move.{kind}"),
        }
        for kind, m in seat_moves(rules).items()
    }
    facts = {
        kind: {"schema": schema_of(fact), "text": texts.get(f"fact.{kind}")} for kind, fact in rules.fact_kinds.items()
    }
    kinds_of_decisions = {
        kind: {"schema": schema_of(frame), "clock": meta.clocks.get(kind, "move")}
        for kind, frame in rules.frames.items()
    }
    codes = {**dict.fromkeys([*COMMON_CODES, *TABLE_CODES], ""), **meta.codes}
    doc: RulesetDoc = {
        **_ruleset_to_json(rules, texts),
        "undo": meta.undo,
        "playing_times": list_playing_times(name),
        "clocks": dict(meta.clocks),
        "paces": {name: dict(pace) for name, pace in meta.paces.items()},
        "options": options,
        "moves": moves,
        "facts": facts,
        "decisions": kinds_of_decisions,
        "sights": {name: schema_of(kind) for name, kind in rules.view_types.items()},
        "codes": [{"code": c, "rule": rule, "text": texts.get(f"refusal.{c}")} for c, rule in codes.items()],
    }
    if (found := load_introduction(rules.package)) is not None:
        doc["minutes"] = found["minutes"]
        doc["answers"] = found["answers"]
    return _cached_response(doc)


@bp.operation(
    "GET",
    "/rulesets/<ruleset:name>/texts",
    "ruleset_texts",
    errors=(304, 404),
    query=LangArgs,
    response={"type": "object", "additionalProperties": {"type": "string"}},
)
def ruleset_texts(_: Doc, name: str) -> Response:
    """Return the texts for all ids visible to players."""
    texts = load_texts(services().registry.get(name).package, request_language())
    return _cached_response(texts.labels())


@bp.operation(
    "GET",
    "/rulesets/<ruleset:name>/rules",
    "ruleset_rules",
    errors=(304, 404),
    response={"type": "string"},
    content_type="text/markdown",
)
def ruleset_rules(name: str) -> Response:
    """Return the rules page. Refusals name its rule numbers."""
    services().registry.get(name)
    folder = services().settings.docs
    page = folder / "rules" / f"{split_ruleset(name)[0]}.md" if folder else None
    if page is None or not page.is_file():
        raise Problem("not_found", "This ruleset has no rules page.")
    return etag_response(page.read_bytes(), cache=ONE_DAY, media="text/markdown; charset=utf-8")


@bp.operation(
    "GET",
    "/rulesets/<ruleset:name>/data",
    "ruleset_data",
    errors=(304, 404),
    response={"type": "object", "additionalProperties": {}},
)
def ruleset_data(name: str) -> Response:
    """Return the game's data: map, tiles, cards."""
    if (found := _load_document(name, "data.json")) is None:
        raise Problem("not_found", "This ruleset has no data.")
    return _cached_response(found)


@bp.operation(
    "GET",
    "/rulesets/<ruleset:name>/geometry",
    "ruleset_geometry",
    errors=(304, 404),
    response={"type": "object", "additionalProperties": {}},
)
def ruleset_geometry(name: str) -> Response:
    """Return the drawing of the game's map: borders, labels, places of pieces, links."""
    if (found := _load_document(name, "geometry.json")) is None:
        raise Problem("not_found", "This ruleset has no geometry.")
    return _cached_response(found)


@bp.operation(
    "GET",
    "/rulesets/<ruleset:name>/presentation",
    "ruleset_presentation",
    errors=(304, 404),
    response={"type": "object", "additionalProperties": {}},
)
def ruleset_presentation(name: str) -> Response:
    """Return how the game's documents are drawn: layers of the map, widgets, groups, names of members."""
    return _cached_response(load_presentation(services().registry.get(name).package))


@bp.operation(
    "GET",
    "/rulesets/<ruleset:name>/help",
    "ruleset_help",
    errors=(304, 404),
    query=LangArgs,
)
def ruleset_help(_: Doc, name: str) -> JsonResponse[RulesetHelpDoc]:
    """Return help for people: what each decision is for, and a sentence about each thing of the game."""
    rules, lang = services().registry.get(name), request_language()
    kinds = {kind: lines for kind in rules.frames if (lines := explain_decision(rules.package, kind, lang))}
    doc: RulesetHelpDoc = {"decisions": kinds, "things": describe_things(rules.package, lang)}
    return _cached_response(doc)


def _load_document(name: str, file: str) -> Doc | None:
    """Return a document of a ruleset's folder, or None."""
    rules = services().registry.get(name)
    try:
        return dict(package_data.load(rules.package or "api", file))
    except OSError:
        return None


@bp.operation(
    "GET",
    "/problems/<code:code>",
    "problem",
    errors=(304, 404),
    query=LangArgs,
)
def problem(_: Doc, code: str) -> JsonResponse[CodeDoc]:
    """Return the meaning of a problem code."""
    status, title = CODES.get(code, (0, ""))
    rules: Mapping[str, str] = {}
    if not status:
        status, title, rules = _describe_refusal(code)
    doc: CodeDoc = {"code": code, "status": status, "title": translate(title, request_language())}
    if rules:
        doc["rules"] = dict(rules)
    return _cached_response(doc)


def _describe_refusal(code: str) -> tuple[int, str, Mapping[str, str]]:
    """Return status, title, and rule number by ruleset for a refusal code. Raise Problem."""
    status = REFUSAL_STATUS.get(code, 409)
    if title := {**COMMON_CODES, **TABLE_CODES, **TOURNAMENT_CODES}.get(code):
        return status, title, {}
    registry = services().registry
    found = {n: number for n in registry.names() if (number := registry.get(n).meta.codes.get(code)) is not None}
    if not found:
        raise Problem("not_found")
    return status, CODES["refused"][1], found
