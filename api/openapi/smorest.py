"""flask-smorest as this API uses it: strict bodies, problems for errors, and every ruleset documented."""

from __future__ import annotations

import inspect
import threading
from calendar import timegm
from collections.abc import Callable
from copy import deepcopy
from datetime import date
from functools import partial
from typing import Any, NoReturn, TypeVar

import orjson
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from flask import Flask, Request, Response, request
from flask_smorest import Api as SmorestApi
from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import EXCLUDE, Schema, ValidationError, missing
from webargs.flaskparser import FlaskParser
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date

from api.http import problems, strict_json, url_converters
from api.http.conditional import conditional
from api.http.problems import Problem
from api.openapi.components import components
from api.schemas import webhooks
from api.schemas.problem_responses import ProblemSchema
from api.schemas.schema_builder import Shaped, ref
from api.services import Doc, itself
from domain.kernel.text.message_catalog import Message
from domain.ruleset_registry import Catalogue
from domain.types import Json

View = TypeVar("View", bound=Callable[..., Any])

DESCRIPTION = """Tables of historical empire games. Every accepted move is an append-only record; errors are problems
with stable codes; whoever sends nothing but picks from `choices` plays every game."""

_LOCATIONS = {"json": "invalid_body", "query": "invalid_query", "headers": "invalid_headers"}

ROLE = "Annals-Role"
"""The header by which an account says as what it acts: a seat's number, or `director`."""

ROLE_MARK = "x-annals-role"
"""Marks operations that read this header, until the document is made."""

FORMS_MARK = "x-annals-forms"
"""Marks operations that answer in other media as well, likewise."""

_ROLE_HEADER = {
    "in": "header",
    "name": ROLE,
    "required": False,
    "schema": {"type": "string", "pattern": "^([0-9]{1,2}|director)$"},
    "description": "As what an account acts that is several things at the table: a seat's number, or `director`.",
}

MOST_ERRORS = 20
"""So many places are told where a request does not fit."""


# --- what comes in ---------------------------------------------------------------------------------------------


def body_of(req: Request) -> Json:
    """The JSON of a request; raises Problem."""
    if req.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Problem("unsupported_encoding")
    raw = req.get_data(cache=True)
    # Of a body that comes in chunks no more than the limit is read, and nothing says that there was more.
    if req.content_length is None and len(raw) >= (req.max_content_length or len(raw) + 1):
        raise Problem("body_too_large")
    if not raw:
        return missing
    if req.mimetype != "application/json":
        raise Problem("unsupported_media_type", headers={"Accept": "application/json"})
    try:
        return strict_json.parse(raw)
    except strict_json.StrictJsonError as error:
        raise Problem(error.code, error.detail) from error


class StrictParser(FlaskParser):
    """Strict JSON, nothing unknown, and a problem for each fault."""

    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {  # noqa: RUF012 - as the base class has it
        "json": None,
        "query": None,
        "headers": EXCLUDE,
    }

    def load_json(self, req: Request, schema: Schema) -> Json:
        doc = body_of(req)
        if doc is missing and schema.fields:
            raise Problem("not_json", "The body is empty.")
        return _known(doc, schema) if doc is not missing else {}

    def load_querystring(self, req: Request, schema: Schema) -> Json:
        for name in req.args:
            if len(req.args.getlist(name)) > 1:
                raise Problem(
                    "invalid_query", errors=[{"at": f"/{_escaped(name)}", "message": Message("Given twice.")}]
                )
        return super().load_querystring(req, schema)

    def handle_error(
        self, error: ValidationError, req: Request, schema: Schema, *, error_status_code: object, error_headers: object
    ) -> NoReturn:
        refuse(error)


def refuse(error: ValidationError) -> NoReturn:
    """The problem that tells where a body, query or header does not fit."""
    ((location, messages),) = error.normalized_messages().items()  # type: ignore[no-untyped-call] # as the library has it
    raise unfit(messages, location) from error


def unfit(messages: object, location: str = "json") -> Problem:
    """The problem that tells where something does not fit, by the library's nested messages."""
    found = [{"at": at, "message": text} for at, text in _flat(messages, "")][:MOST_ERRORS]
    unknown = location == "json" and any(f["message"] == "Unknown field." for f in found)
    return Problem("unknown_field" if unknown else _LOCATIONS.get(location, "invalid_body"), errors=found)


def _known(doc: Json, schema: Schema) -> Json:
    """The body with no more fields that are not known than can be told."""
    if not isinstance(doc, dict):
        return doc
    names = {field.data_key or name for name, field in schema.fields.items()}
    extra = [name for name in doc if name not in names][:MOST_ERRORS]
    return {name: value for name, value in doc.items() if name in names} | {name: doc[name] for name in extra}


def _escaped(part: object) -> str:
    return str(part)[:80].replace("~", "~0").replace("/", "~1")


def _flat(messages: object, at: str) -> list[tuple[str, Message]]:
    """Nested messages as pairs of JSON pointer and text."""
    if isinstance(messages, dict):
        below = [(at if k == "_schema" else f"{at}/{_escaped(k)}", m) for k, m in messages.items()]
        return [pair for pointer, m in below for pair in _flat(m, pointer)]
    return [(at, Message.of(m)) for m in (messages if isinstance(messages, list) else [messages])]


class Blueprint(SmorestBlueprint):
    """A group of routes under /v1."""

    ARGUMENTS_PARSER = StrictParser()

    def arguments(self, schema: type[Schema], **more: Any) -> Any:
        """As in flask-smorest, with a schema that is made once: making one costs more than using it."""
        return super().arguments(schema(), **more)

    def register_views_in_doc(self, api: Api, *given: Any, **named: Any) -> None:
        """Later: describing all routes takes longer than registering them, and most processes are never asked."""
        api.undescribed.append(partial(super().register_views_in_doc, api, *given, **named))


def fails(*codes: int) -> Callable[[View], View]:
    """Documents which problems a route may answer, beside those that every route may."""

    def documented(view: View) -> View:
        found: Doc = deepcopy(getattr(view, "_apidoc", {}))
        responses = found.setdefault("response", {}).setdefault("responses", {})
        for code in (*codes, *((412,) if 304 in codes else ())):  # what has a tag can be asked for by it
            responses[code] = [dict(_PROBLEM)] if code >= 400 else [dict(_UNCHANGED)]
        vars(view)["_apidoc"] = found  # flask-smorest keeps its documentation there
        return view

    return documented


def leaving(since: date, until: date, instead: str) -> Callable[[View], View]:
    """Marks a route that is going away: since when nobody should begin to use it, until when it answers as it does.

    `instead` is the address of what takes its place. Stands directly under the route.
    """

    def marked(view: View) -> View:
        found: Doc = deepcopy(getattr(view, "_apidoc", {}))
        found.setdefault("manual_doc", {})["deprecated"] = True
        vars(view)["_apidoc"] = found
        vars(view)["leaving"] = {
            "Deprecation": f"@{timegm(since.timetuple())}",
            "Sunset": http_date(until),
            "Link": f'<{instead}>; rel="successor-version"',
        }
        return view

    return marked


def _say_goodbye(app: Flask) -> None:
    """Every answer of a route that is going away says so, refusals too (RFC 9745, RFC 8594)."""
    found = {name: vars(view).get("leaving") for name, view in app.view_functions.items()}

    @app.after_request
    def tell(answer: Response) -> Response:
        for name, value in (found.get(request.endpoint or "") or {}).items():
            answer.headers.add(name, value)
        return answer


def also(forms: Doc) -> Callable[[View], View]:
    """Documents in which other media a route answers, each with its schema."""

    def documented(view: View) -> View:
        found: Doc = deepcopy(getattr(view, "_apidoc", {}))
        found.setdefault("manual_doc", {})[FORMS_MARK] = forms
        vars(view)["_apidoc"] = found
        return view

    return documented


_UNCHANGED = {"description": "Not modified", "content_type": None}
_PROBLEM = {"schema": ProblemSchema, "description": "A problem", "content_type": problems.MEDIA}


class Api(SmorestApi):
    """Errors are problems, in the document as on the wire."""

    ERROR_SCHEMA = ProblemSchema

    def __init__(self, *given: Any, **named: Any) -> None:
        self.undescribed: list[Callable[[], None]] = []
        super().__init__(*given, **named)

    def describe(self) -> Doc:
        """The library's document of all routes; to be called once."""
        for describe in self.undescribed:
            describe()
        found: Doc = self.spec.to_dict()
        return found

    def handle_http_exception(self, error: HTTPException) -> Any:
        if error.code is None or error.code < 400:
            return error.get_response()
        return problems.of_http(error).response()

    def _register_responses(self) -> None:
        self.undescribed.append(self._describe_responses)

    def _describe_responses(self) -> None:
        # The errors that flask-smorest documents by itself are problems as well.
        self.DEFAULT_RESPONSE_CONTENT_TYPE = problems.MEDIA
        super()._register_responses()
        del self.DEFAULT_RESPONSE_CONTENT_TYPE


# --- what is documented ----------------------------------------------------------------------------------------


class _Converter(OpenAPIConverter):
    """A class says what it is for; of a member its own schema may tell; a default is told, not stated."""

    def schema2jsonschema(self, schema: Schema) -> Doc:
        found: Doc = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call] # as the library has it
        said = inspect.cleandoc(vars(type(schema)).get("__doc__") or "")
        for member in found["properties"].values():
            if "default" in member:  # some generators take what has a default for a member that is always there
                default = orjson.dumps(member.pop("default")).decode()
                member["description"] = f"{member.get('description', '')} `{default}` where it is not given.".strip()
        return found | ({"description": said} if said else {})

    def field2property(self, field: Any) -> Doc:
        found = super().field2property(field)
        if not isinstance(field, Shaped):
            return found
        found.pop("type", None)
        return found | ({"anyOf": [field.schema, {"type": "null"}]} if field.allow_none else field.schema)

    def field2default(self, field: Any, **more: Any) -> Doc:
        """What stands for a field that is not given is no value that could be given."""
        found = super().field2default(field, **more)
        return {k: v for k, v in found.items() if v not in ("", None)}


class _Plugin(MarshmallowPlugin):
    Converter = _Converter


def _named(schema: object) -> str:
    cls = schema if isinstance(schema, type) else type(schema)
    return cls.__name__.removesuffix("Schema")


_SENT = webhooks.DATA.items()


def _document(spec: Doc, catalogue: Catalogue) -> Doc:
    """The library's document with what the rulesets declare."""
    schemas = spec["components"]["schemas"]
    schemas.pop("PaginationMetadata", None)  # the library's, and used by no route
    for path in spec["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                _complete(operation)
    sent = {type_: webhooks.documented(ref(_named(schema)), type_, said) for type_, (schema, said) in _SENT}
    return {
        **spec,
        "webhooks": sent,
        "components": {**spec["components"], "schemas": schemas | components(catalogue, schemas)},
    }


def _complete(operation: Doc) -> None:
    """What holds unless an operation says otherwise: no token is needed, and a query that is not known is refused."""
    operation.setdefault("security", [])
    if operation.pop(ROLE_MARK, False):
        operation.setdefault("parameters", []).append(_ROLE_HEADER)
    for media, schema in operation.pop(FORMS_MARK, {}).items():
        operation["responses"]["200"]["content"][media] = {"schema": schema}
    operation.setdefault("description", operation["summary"])
    problem = {problems.MEDIA: {"schema": ref("Problem")}}
    operation["responses"].setdefault("422", {"description": _PROBLEM["description"], "content": problem})


def install(app: Flask, catalogue: Catalogue, *rooms: Blueprint) -> Api:
    """Register the rooms under /v1, with the document that describes them."""
    app.config.update(API_TITLE="Annals", API_VERSION="1", OPENAPI_VERSION="3.1.0")
    info = {"description": DESCRIPTION, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}}
    info["contact"] = {"name": "Whoever operates this service"}
    plugin = _Plugin(schema_name_resolver=_named)
    api = Api(app, spec_kwargs={"marshmallow_plugin": plugin, "info": info, "servers": [{"url": "/"}]})
    bearer = {
        "type": "http",
        "scheme": "bearer",
        "description": "The token of a seat or of a director, or an account's.",
    }
    api.spec.components.security_scheme("token", bearer)
    cookie = {
        "type": "apiKey",
        "in": "cookie",
        "name": "annals_stream",
        "description": "For streams alone; over TLS its name begins with `__Secure-`.",
    }
    api.spec.components.security_scheme("cookie", cookie)
    for converter in url_converters.CONVERTERS.values():
        api.register_converter(converter, lambda found, **_: url_converters.documented(found))
    for schema in dict.fromkeys(schema for _, (schema, _) in _SENT):
        api.spec.components.schema(_named(schema), schema=schema)
    for room in rooms:
        api.register_blueprint(room)
    _serve(app, api, catalogue)
    _refuse_unknown_queries(app)
    _say_goodbye(app)
    return api


def _refuse_unknown_queries(app: Flask) -> None:
    """Also where a route has no query at all: nothing is dropped without a word. Pages look for themselves."""
    asked = {name: vars(view).get("_apidoc", {}).get("arguments", {}) for name, view in app.view_functions.items()}
    free = {name for name, view in app.view_functions.items() if vars(view).get("any_query")}
    known = {
        name: {
            field.data_key or attribute
            for p in found.get("parameters", ())
            if p["in"] == "query"
            for attribute, field in p["schema"].fields.items()
        }
        for name, found in asked.items()
    }

    @app.before_request
    def check() -> None:
        asked = itself(request)
        if not asked.args or not asked.endpoint or asked.endpoint in free:
            return
        unknown = sorted(asked.args.keys() - known.get(asked.endpoint, set()))
        if unknown:
            told = [{"at": f"/{_escaped(n)}", "message": Message("Unknown.")} for n in unknown[:MOST_ERRORS]]
            raise Problem("invalid_query", errors=told)


def _serve(app: Flask, api: Api, catalogue: Catalogue) -> None:
    rendered: list[bytes] = []
    guard = threading.Lock()

    @app.get("/v1/openapi.json")
    def openapi_json() -> Any:
        """This document."""
        with guard:  # it is made once in each process, and takes a while
            if not rendered:
                rendered.append(orjson.dumps(_document(api.describe(), catalogue)))
        answer = Response(rendered[0], content_type="application/json")
        answer.cache_control.max_age = 300
        answer.add_etag()
        return conditional(answer)
