"""The games that can be played: what a client must know before it shows one."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from flask import Response

from api.http.i18n import language, say
from api.http.problems import CODES, Problem
from api.openapi.components import move_schema, seat_moves
from api.openapi.smorest import Blueprint, fails
from api.response_builders import OPEN, tagged
from api.schemas.history_responses import RulesetSchema, RulesetsSchema
from api.schemas.problem_responses import CodeSchema
from api.schemas.query_args import LangArgs
from api.services import Doc, services
from domain.kernel.game.command import TABLE_CODES
from domain.kernel.rules.ruleset import COMMON_CODES, AnyRuleset
from domain.kernel.schema.json_schema import schema_of
from domain.kernel.text import package_data
from domain.kernel.text.message_catalog import Texts, texts
from domain.types import split_ruleset

room = Blueprint("rulesets", __name__, url_prefix="/v1", description="The games that can be played.")


def _line(rules: AnyRuleset, said: Texts) -> Doc:
    meta = rules.meta
    return {
        "name": meta.ruleset,
        "title": said.get("title") or meta.title,
        "prefix": meta.prefix,
        "seats": list(meta.seats),
    }


def _page(doc: Doc) -> Response:
    return tagged(orjson.dumps(doc), cache=OPEN)


@room.route("/rulesets", methods=["GET"])
@room.arguments(LangArgs, location="query")
@room.response(200, RulesetsSchema)
@room.doc(operationId="rulesets")
def rulesets(_: Doc) -> Response:
    """List the rulesets."""
    catalogue, lang = services().catalogue, language()
    found = [catalogue.get(name) for name in catalogue.names()]
    return _page({"items": [_line(rules, texts(rules.package, lang)) for rules in found]})


@room.route("/rulesets/<ruleset:name>", methods=["GET"])
@fails(304, 404)
@room.arguments(LangArgs, location="query")
@room.response(200, RulesetSchema)
@room.doc(operationId="ruleset")
def ruleset(_: Doc, name: str) -> Response:
    """Read a ruleset.

    Options, moves, facts, decisions and sights with their schemas; refusal codes with rule numbers; texts.
    """
    rules = services().catalogue.get(name)
    meta, said = rules.meta, texts(rules.package, language())
    doc = _line(rules, said)
    doc |= {"undo": meta.undo, "clocks": dict(meta.clocks), "paces": {k: dict(v) for k, v in meta.paces.items()}}
    doc["options"] = {
        key: {"schema": o.shape.schema(), "default": o.default, "rule": o.rule, "text": said.get(f"option.{key}")}
        for key, o in meta.options.items()
    }
    doc["moves"] = {
        kind: {
            "schema": move_schema(m),
            "at": list(m.admission.at),
            "by": m.admission.by,
            "hidden": list(m.admission.hidden),
            "anonymous": m.admission.anonymous,
            "rule": m.admission.rule,
            "text": said.get(f"move.{kind}"),
        }
        for kind, m in seat_moves(rules).items()
    }
    doc["facts"] = {
        kind: {"schema": schema_of(fact), "text": said.get(f"fact.{kind}")} for kind, fact in rules.fact_kinds.items()
    }
    doc["decisions"] = {
        kind: {"schema": schema_of(frame), "clock": meta.clocks.get(kind, "move")}
        for kind, frame in rules.frames.items()
    }
    doc["sights"] = {name: schema_of(kind) for name, kind in rules.documents.items()}
    codes = {**dict.fromkeys([*COMMON_CODES, *TABLE_CODES], ""), **meta.codes}
    doc["codes"] = [{"code": c, "rule": rule, "text": said.get(f"refusal.{c}")} for c, rule in codes.items()]
    return _page(doc)


@room.route("/rulesets/<ruleset:name>/texts", methods=["GET"])
@fails(304, 404)
@room.arguments(LangArgs, location="query")
@room.response(200, {"type": "object", "additionalProperties": {"type": "string"}})
@room.doc(operationId="ruleset_texts")
def ruleset_texts(_: Doc, name: str) -> Response:
    """Read the words for every id that players see."""
    said = texts(services().catalogue.get(name).package, language())
    return _page(said.labels())


@room.route("/rulesets/<ruleset:name>/rules", methods=["GET"])
@fails(304, 404)
@room.response(200, {"type": "string"}, content_type="text/markdown")
@room.doc(operationId="ruleset_rules")
def ruleset_rules(name: str) -> Response:
    """Read the rules page, whose numbers the refusals name."""
    services().catalogue.get(name)
    folder = services().settings.docs
    page = folder / "rules" / f"{split_ruleset(name)[0]}.md" if folder else None
    if page is None or not page.is_file():
        raise Problem("not_found", "This ruleset has no rules page.")
    return tagged(page.read_bytes(), cache=OPEN, media="text/markdown; charset=utf-8")


@room.route("/rulesets/<ruleset:name>/data", methods=["GET"])
@fails(304, 404)
@room.response(200, {"type": "object", "additionalProperties": {}})
@room.doc(operationId="ruleset_data")
def ruleset_data(name: str) -> Response:
    """Read the game's data: the map, tiles, cards."""
    rules = services().catalogue.get(name)
    try:
        found = package_data.load(rules.package or "api", "data.json")
    except OSError:
        raise Problem("not_found", "This ruleset has no data.") from None
    return _page(found)


@room.route("/problems/<code:code>", methods=["GET"])
@fails(304, 404)
@room.arguments(LangArgs, location="query")
@room.response(200, CodeSchema)
@room.doc(operationId="problem")
def problem(_: Doc, code: str) -> Response:
    """Read what a problem's code means."""
    status, title = CODES.get(code, (0, ""))
    rules: Mapping[str, str] = {}
    if not status:
        status, title, rules = _refusal(code)
    doc = {"code": code, "status": status, "title": say(title, language())}
    return _page(doc | ({"rules": dict(rules)} if rules else {}))


def _refusal(code: str) -> tuple[int, str, Mapping[str, str]]:
    """Status and title of what rules refuse with that code, and its number in those rulesets that have it."""
    status = 422 if code == "malformed_move" else 409
    if known := {**COMMON_CODES, **TABLE_CODES}.get(code):
        return status, known, {}
    catalogue = services().catalogue
    found = {n: number for n in catalogue.names() if (number := catalogue.get(n).meta.codes.get(code)) is not None}
    if not found:
        raise Problem("not_found")
    return status, CODES["refused"][1], found
