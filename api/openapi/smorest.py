"""flask-smorest for this API: strict bodies, problems as errors, and documentation of every ruleset."""

from __future__ import annotations

import inspect
import threading
from calendar import timegm
from collections.abc import Callable, Sequence
from copy import deepcopy
from datetime import date
from functools import partial
from http import HTTPStatus
from typing import Any, NoReturn, TypeVar

import msgspec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from flask import Flask, Request, Response, request
from flask_smorest import Api as SmorestApi
from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import EXCLUDE, Schema, ValidationError, fields, missing
from webargs.flaskparser import FlaskParser
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date
from werkzeug.wrappers import Response as WerkzeugResponse

from api.http import problems, strict_json, url_converters
from api.http.conditional import conditional
from api.http.problems import Problem
from api.openapi.components import build_components
from api.schemas import webhooks
from api.schemas.document_schemas import SentDocument, component_of, schema_of, sends_document
from api.schemas.problem_responses import ProblemSchema
from api.schemas.schema_builder import JsonSchemaField, ref
from api.services import unwrap_proxy
from domain.kernel.text.message_catalog import Message
from domain.ruleset_registry import RulesetRegistry
from domain.types import Doc, Json

View = TypeVar("View", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]

DESCRIPTION = """Tables of historical empire games. Every accepted move is an append-only record; errors are problems
with stable codes. A client can play every game with picks from `choices` alone."""

_LOCATIONS = {"json": "invalid_body", "query": "invalid_query", "headers": "invalid_headers"}

ROLE_HEADER = "Annals-Role"
"""Header for the role of an account's request: a seat number, or `director`."""

ROLE_MARK = "x-annals-role"
"""Marks operations with this header, until the document is built."""

MEDIA_MARK = "x-annals-forms"
"""Marks operations with further media types, until the document is built."""

_ROLE_PARAMETER = {
    "in": "header",
    "name": ROLE_HEADER,
    "required": False,
    "schema": {"type": "string", "pattern": "^([0-9]{1,2}|director)$"},
    "description": "Role for an account with several roles at the table: a seat number, or `director`.",
}

REFUSED_ARGUMENTS = "UNPROCESSABLE_ENTITY"
"""Component of the document for refused arguments. The library takes the name from Python: another one since 3.13."""

MOST_ERRORS = 20
"""Most faults in one response."""


# --- what comes in ---------------------------------------------------------------------------------------------


def read_raw_body(req: Request) -> bytes:
    """Return the body of a request, not compressed and not cut. Raise Problem."""
    if req.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Problem("unsupported_encoding")
    raw = req.get_data(cache=True)
    # Chunked bodies are cut silently at the limit.
    if req.content_length is None and len(raw) >= (req.max_content_length or len(raw) + 1):
        raise Problem("body_too_large")
    return raw


def read_json_body(req: Request) -> Json:
    """Return the JSON body of a request. Raise Problem."""
    raw = read_raw_body(req)
    if not raw:
        return missing
    if req.mimetype != "application/json":
        raise Problem("unsupported_media_type", headers={"Accept": "application/json"})
    try:
        return strict_json.parse(raw)
    except strict_json.StrictJsonError as error:
        raise Problem(error.code, error.detail) from error


class StrictParser(FlaskParser):
    """Strict JSON, no unknown members, and a problem for each fault."""

    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {  # noqa: RUF012 - as the base class has it
        "json": None,
        "query": None,
        "headers": EXCLUDE,
    }

    def __init__(self) -> None:
        super().__init__()
        self._of_empty_query: dict[Schema, Doc] = {}
        """The arguments of an empty query, for each schema."""

    def parse(  # type: ignore[override] # its arguments are schemas alone
        self, argmap: Schema, req: Request | None = None, *, location: str | None = None, **kwargs: Any
    ) -> Doc:
        """Return the arguments. An empty query, as most are, is read once for each schema. Raise Problem."""
        if location != "query" or (req or request).query_string:
            found: Doc = super().parse(argmap, req, location=location, **kwargs)
            return found
        if argmap not in self._of_empty_query:
            self._of_empty_query[argmap] = super().parse(argmap, req, location=location, **kwargs)
        return dict(self._of_empty_query[argmap])

    def load_json(self, req: Request, schema: Schema) -> Json:
        doc = read_json_body(req)
        if doc is missing and schema.fields and not getattr(schema, "may_be_left_out", False):
            raise Problem("not_json", "The body is empty.")
        return _limit_unknown_fields(doc, schema) if doc is not missing else {}

    def load_querystring(self, req: Request, schema: Schema) -> Json:
        for name in req.args:
            if len(req.args.getlist(name)) > 1:
                raise Problem(
                    "invalid_query", errors=[{"at": f"/{_escape_pointer(name)}", "message": Message("Repeated.")}]
                )
        return super().load_querystring(req, schema)

    def handle_error(
        self, error: ValidationError, req: Request, schema: Schema, *, error_status_code: object, error_headers: object
    ) -> NoReturn:
        raise_invalid(error)


def raise_invalid(error: ValidationError) -> NoReturn:
    """Raise the problem for a library's validation error."""
    ((location, messages),) = error.normalized_messages().items()  # type: ignore[no-untyped-call] # as the library has it
    raise validation_problem(messages, location) from error


def validation_problem(messages: object, location: str = "json") -> Problem:
    """Return the problem for the library's nested error messages."""
    errors = [{"at": pointer, "message": text} for pointer, text in _flatten_messages(messages, "")][:MOST_ERRORS]
    unknown = location == "json" and any(f["message"] == "Unknown field." for f in errors)
    return Problem("unknown_field" if unknown else _LOCATIONS.get(location, "invalid_body"), errors=errors)


def _limit_unknown_fields(doc: Json, schema: Schema) -> Json:
    """Return the body with a limited number of unknown fields, enough for the error response."""
    if not isinstance(doc, dict):
        return doc
    names = {field.data_key or name for name, field in schema.fields.items()}
    extra = [name for name in doc if name not in names][:MOST_ERRORS]
    return {name: value for name, value in doc.items() if name in names} | {name: doc[name] for name in extra}


def _escape_pointer(part: object) -> str:
    return str(part)[:80].replace("~", "~0").replace("/", "~1")


def _flatten_messages(messages: object, pointer: str) -> list[tuple[str, Message]]:
    """Return nested messages as pairs of JSON pointer and text."""
    if isinstance(messages, dict):
        below = [(pointer if k == "_schema" else f"{pointer}/{_escape_pointer(k)}", m) for k, m in messages.items()]
        return [pair for pointer, m in below for pair in _flatten_messages(m, pointer)]
    return [(pointer, Message.from_text(m)) for m in (messages if isinstance(messages, list) else [messages])]


class Blueprint(SmorestBlueprint):
    """A group of routes under /v1."""

    ARGUMENTS_PARSER = StrictParser()

    def arguments(self, schema: type[Schema], **kwargs: object) -> Callable[[View], View]:
        """Add arguments as flask-smorest does, with one schema instance: creating one costs more than using it."""
        decorator: Callable[[View], View] = super().arguments(schema(), **kwargs)

        def documented(view: View) -> View:
            view = decorator(view)
            responses: Doc = vars(view)["_apidoc"]["arguments"]["responses"]
            responses.update(dict.fromkeys(responses, REFUSED_ARGUMENTS))
            return view

        return documented

    def operation(
        self,
        method: str,
        path: str,
        operation_id: str,
        *,
        access: Decorator | None = None,
        errors: Sequence[int] = (),
        body: type[Schema] | None = None,
        body_required: bool = True,
        headers: type[Schema] | None = None,
        query: type[Schema] | None = None,
        response: Doc | None = None,
        status: int = 200,
        description: str | None = None,
        content_type: str | None = None,
        response_headers: Doc | None = None,
        security: list[Doc] | None = None,
    ) -> Callable[[View], View]:
        """Route requests to a view, and document the view as one operation of the API.

        The view's positional arguments are the loaded body, headers and query, as far as schemas are given. `access`
        is a decorator of `api.authorization`; it runs first. `errors` are statuses of problems. `status` to
        `response_headers` describe the success response. `response` is for views without a `JsonResponse`: of
        these the declared document is taken. `security` replaces the security documented by `access`.
        """
        manual: Doc = {"operationId": operation_id} | ({} if security is None else {"security": security})
        innermost_first: list[Decorator | None] = [
            self.doc(**manual),
            lambda view: self.response(
                status,
                SentDocument(view) if response is None and sends_document(view) else response,
                content_type=content_type,
                description=description,
                headers=response_headers,
            )(view),
            self.arguments(query, location="query") if query else None,
            self.arguments(headers, location="headers") if headers else None,
            self.arguments(body, required=body_required) if body else None,
            error_responses(*errors) if errors else None,
            access,
            self.route(path, methods=[method]),
        ]

        def decorate(view: View) -> View:
            for decorator in innermost_first:
                view = decorator(view) if decorator else view
            return view

        return decorate

    def alt_response(self, status: int, **kwargs: object) -> Callable[[View], View]:
        """Document a further response of a route, with the last of the view's documents."""

        def documented(view: View) -> View:
            found: View = super(Blueprint, self).alt_response(status, schema=SentDocument(view, -1), **kwargs)(view)
            return found

        return documented

    def register_views_in_doc(self, api: Api, *args: object, **kwargs: object) -> None:
        """Defer the description of routes: it takes long, and most processes never need it."""
        api.undescribed.append(partial(super().register_views_in_doc, api, *args, **kwargs))


def string_headers(*names: str) -> Doc:
    """Return the documentation of response headers with any text as value."""
    return {name: {"schema": {"type": "string"}} for name in names}


def error_responses(*codes: int) -> Callable[[View], View]:
    """Document the problem statuses of a route, besides those of all routes."""

    def documented(view: View) -> View:
        found: Doc = deepcopy(getattr(view, "_apidoc", {}))
        responses = found.setdefault("response", {}).setdefault("responses", {})
        for code in (*codes, *((412,) if 304 in codes else ())):  # documents with an ETag support If-Match
            responses[code] = [dict(_PROBLEM)] if code >= 400 else [dict(_NOT_MODIFIED)]
        vars(view)["_apidoc"] = found  # flask-smorest keeps its documentation there
        return view

    return documented


def deprecated(since: date, until: date, instead: str) -> Callable[[View], View]:
    """Mark a route as deprecated since one date and available until another.

    `instead` is the URL of its replacement. Place it directly under the operation.
    """

    def marked(view: View) -> View:
        found: Doc = deepcopy(getattr(view, "_apidoc", {}))
        found.setdefault("manual_doc", {})["deprecated"] = True
        vars(view)["_apidoc"] = found
        vars(view)["deprecated"] = {
            "Deprecation": f"@{timegm(since.timetuple())}",
            "Sunset": http_date(until),
            "Link": f'<{instead}>; rel="successor-version"',
        }
        return view

    return marked


def _add_deprecation_headers(app: Flask) -> None:
    """Add deprecation headers to all responses of deprecated routes (RFC 9745, RFC 8594)."""
    found = {name: vars(view).get("deprecated") for name, view in app.view_functions.items()}

    @app.after_request
    def tell(answer: Response) -> Response:
        for name, value in (found.get(request.endpoint or "") or {}).items():
            answer.headers.add(name, value)
        return answer


def also_media_types(schemas: Doc) -> Callable[[View], View]:
    """Document further media types of a route, each with its schema."""

    def documented(view: View) -> View:
        found: Doc = deepcopy(getattr(view, "_apidoc", {}))
        found.setdefault("manual_doc", {})[MEDIA_MARK] = schemas
        vars(view)["_apidoc"] = found
        return view

    return documented


_NOT_MODIFIED = {"description": "Not modified", "content_type": None}
_PROBLEM = {"schema": ProblemSchema, "description": "A problem", "content_type": problems.MEDIA}


class Api(SmorestApi):
    """flask-smorest's Api with problems as errors, in the document and in responses."""

    ERROR_SCHEMA = ProblemSchema

    def __init__(self, *args: object, **kwargs: object) -> None:
        self.undescribed: list[Callable[[], None]] = []
        super().__init__(*args, **kwargs)

    def describe(self) -> Doc:
        """Return the library's document of all routes. Call it once."""
        for describe in self.undescribed:
            describe()
        found: Doc = self.spec.to_dict()
        return found

    def handle_http_exception(self, error: HTTPException) -> WerkzeugResponse:
        if error.code is None or error.code < 400:
            return error.get_response()
        return problems.problem_of_http_error(error).response()

    def _register_responses(self) -> None:
        self.undescribed.append(self._describe_responses)

    def _describe_responses(self) -> None:
        # Errors documented by flask-smorest itself are problems as well.
        self.DEFAULT_RESPONSE_CONTENT_TYPE = problems.MEDIA
        super()._register_responses()
        del self.DEFAULT_RESPONSE_CONTENT_TYPE
        if HTTPStatus(422).name != REFUSED_ARGUMENTS:
            content = {problems.MEDIA: {"schema": ProblemSchema}}
            described = {"description": "Unprocessable Entity", "content": content}
            self.spec.components.response(REFUSED_ARGUMENTS, described, lazy=True)


# --- what is documented ----------------------------------------------------------------------------------------


class _Converter(OpenAPIConverter):
    """Adds class docstrings and field schemas to the document, and puts defaults into descriptions."""

    def resolve_nested_schema(self, schema: object) -> Doc:
        known = schema.to_marshmallow() if isinstance(schema, SentDocument) else schema
        found: Doc = super().resolve_nested_schema(known)  # type: ignore[no-untyped-call] # as the library has it
        return found

    def schema2jsonschema(self, schema: Schema) -> Doc:
        schema_doc: Doc = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call] # as the library has it
        description = inspect.cleandoc(vars(type(schema)).get("__doc__") or "")
        for member in schema_doc["properties"].values():
            if "default" in member:  # some generators treat a member with a default as always present
                default = msgspec.json.encode(member.pop("default")).decode()
                member["description"] = f"{member.get('description', '')} Default: `{default}`.".strip()
        return schema_doc | ({"description": description} if description else {})

    def field2property(self, field: fields.Field[Json]) -> Doc:
        found = super().field2property(field)
        if not isinstance(field, JsonSchemaField):
            return found
        found.pop("type", None)
        return found | ({"anyOf": [field.schema, {"type": "null"}]} if field.allow_none else field.schema)

    def field2default(self, field: fields.Field[Json], **kwargs: object) -> Doc:
        """Omit a default that no client could send."""
        found = super().field2default(field, **kwargs)
        return {k: v for k, v in found.items() if v not in ("", None)}


class _Plugin(MarshmallowPlugin):
    Converter = _Converter


def _schema_component(schema: object) -> str:
    cls = schema if isinstance(schema, type) else type(schema)
    return cls.__name__.removesuffix("Schema")


_WEBHOOK_EVENTS = webhooks.DATA.items()


def _build_document(spec: Doc, registry: RulesetRegistry) -> Doc:
    """Return the library's document with the components of all rulesets."""
    schemas = spec["components"]["schemas"]
    schemas.pop("PaginationMetadata", None)  # from the library, unused here
    for path in spec["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                _complete_operation(operation)
    webhook_docs = {
        type_: webhooks.webhook_document(ref(component_of(declaration)), type_, summary)
        for type_, (declaration, summary) in _WEBHOOK_EVENTS
    }
    return {
        **spec,
        "webhooks": webhook_docs,
        "components": {**spec["components"], "schemas": schemas | build_components(registry, schemas)},
    }


def _complete_operation(operation: Doc) -> None:
    """Add an operation's defaults: no token needed, and 422 for unknown query parameters."""
    operation.setdefault("security", [])
    if operation.pop(ROLE_MARK, False):
        operation.setdefault("parameters", []).append(_ROLE_PARAMETER)
    for media, schema in operation.pop(MEDIA_MARK, {}).items():
        operation["responses"]["200"]["content"][media] = {"schema": schema}
    operation.setdefault("description", operation["summary"])
    problem = {problems.MEDIA: {"schema": ref("Problem")}}
    operation["responses"].setdefault("422", {"description": _PROBLEM["description"], "content": problem})


def register(app: Flask, registry: RulesetRegistry, *blueprints: Blueprint) -> Api:
    """Register the blueprints under /v1, and their OpenAPI document."""
    app.config.update(API_TITLE="Annals", API_VERSION="1", OPENAPI_VERSION="3.1.0")
    info = {"description": DESCRIPTION, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}}
    info["contact"] = {"name": "Whoever operates this service"}
    plugin = _Plugin(schema_name_resolver=_schema_component)
    api = Api(app, spec_kwargs={"marshmallow_plugin": plugin, "info": info, "servers": [{"url": "/"}]})
    bearer = {
        "type": "http",
        "scheme": "bearer",
        "description": "Token of a seat, a director or an account.",
    }
    api.spec.components.security_scheme("token", bearer)
    cookie = {
        "type": "apiKey",
        "in": "cookie",
        "name": "annals_stream",
        "description": "For streams only. Over TLS, its name begins with `__Secure-`.",
    }
    api.spec.components.security_scheme("cookie", cookie)
    for converter in url_converters.CONVERTERS.values():
        api.register_converter(converter, lambda found, **_: url_converters.converter_schema(found))
    api.undescribed.insert(0, partial(_describe_webhook_data, api))
    for blueprint in blueprints:
        api.register_blueprint(blueprint)
    _serve_document(app, api, registry)
    _refuse_unknown_queries(app)
    _add_deprecation_headers(app)
    return api


def _describe_webhook_data(api: Api) -> None:
    for declaration in dict.fromkeys(declaration for _, (declaration, _) in _WEBHOOK_EVENTS):
        api.spec.components.schema(component_of(declaration), schema=schema_of(declaration))


def _refuse_unknown_queries(app: Flask) -> None:
    """Refuse unknown query parameters, also on routes without any. Pages check their own."""
    arguments = {name: vars(view).get("_apidoc", {}).get("arguments", {}) for name, view in app.view_functions.items()}
    free = {name for name, view in app.view_functions.items() if vars(view).get("any_query")}
    known = {
        name: {
            field.data_key or attribute
            for p in found.get("parameters", ())
            if p["in"] == "query"
            for attribute, field in p["schema"].fields.items()
        }
        for name, found in arguments.items()
    }

    @app.before_request
    def check() -> None:
        req = unwrap_proxy(request)
        if not req.args or not req.endpoint or req.endpoint in free:
            return
        unknown = sorted(req.args.keys() - known.get(req.endpoint, set()))
        if unknown:
            errors = [{"at": f"/{_escape_pointer(n)}", "message": Message("Unknown.")} for n in unknown[:MOST_ERRORS]]
            raise Problem("invalid_query", errors=errors)


def _serve_document(app: Flask, api: Api, registry: RulesetRegistry) -> None:
    rendered: list[bytes] = []
    guard = threading.Lock()

    @app.get("/v1/openapi.json")
    def openapi_json() -> Response:
        """Get this OpenAPI document."""
        with guard:  # built once per process: it is slow
            if not rendered:
                rendered.append(msgspec.json.encode(_build_document(api.describe(), registry)))
        answer = Response(rendered[0], content_type="application/json")
        answer.cache_control.max_age = 300
        answer.add_etag()
        return conditional(answer)
