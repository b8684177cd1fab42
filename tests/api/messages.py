"""What the service can say to a client: found in the source, and in what libraries say for it."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from flask import Flask
from jinja2 import Environment, nodes
from marshmallow import Schema, fields, validate

from api.http.problems import CODES
from api.schemas import request_fields
from domain.kernel.game.command import TABLE_CODES
from domain.kernel.rules.ruleset import COMMON_CODES
from domain.kernel.text.message_catalog import Message
from domain.tournaments.aggregate.basic_commands import TOURNAMENT_CODES

ROOT = Path(__file__).resolve().parents[2]

SAYS = {
    "Problem": 1,
    "StrictJsonError": 1,
    "InvalidTable": 0,
    "AccountError": 1,
    "ValidationError": 0,
    "expected_message": 0,
}
"""Calls of which one argument is told to the client -> which."""

MAKES = ("Message", "expected_message", "one_of", "refusal_sentence")
"""Calls that make a message, or a text that is in the client's language already."""

KEPT = ("error.reason", "error.detail", "error.msg", "fault[1]", "self.template")
"""What holds a message that was made elsewhere; `error.msg` is that of `json`."""

OWN = {
    "api/openapi/smorest.py": ("text",),
    "api/http/problems.py": ("title",),
    "api/routes/entry_offers.py": ("line.fault", "refused.reason"),
    "domain/kernel/schema/validators.py": ("what",),
    "domain/kernel/text/message_catalog.py": ("text",),
}
"""Names of parameters or of what is looked up that hold one: they are seen where they come from."""

UNSAID = ("deploy/cli/care_commands.py", "domain/kernel/scenario/")
"""What is told at the command line alone."""


@dataclass
class Told:
    """Messages with the places of the source that say them, and what cannot be translated."""

    messages: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def told() -> Told:
    """What the source says itself."""
    found = Told()
    for room in ("api", "domain", "projections", "workers", "deploy"):
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(UNSAID):
                _Walk(name, ast.parse(path.read_text()), found).all()
    for path in sorted((ROOT / "api/pages/templates").glob("*.html")):
        read_page(path, found)
    titles = {code: title for code, (_, title) in CODES.items()}
    for codes in (titles, COMMON_CODES, TABLE_CODES, TOURNAMENT_CODES):  # two may have a code in common
        for code, text in codes.items():
            found.messages.setdefault(text, f"code {code}")
    return found


def read_page(path: Path, found: Told) -> None:
    """What a page says: `say` with a text, or with one of two."""
    for call in Environment(autoescape=True).parse(path.read_text()).find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name == "say":
            if isinstance(call.args[0], nodes.Const):
                found.messages.setdefault(call.args[0].value, f"{path.name}:{call.lineno}")
            else:
                found.faults.append(f"{path.name}:{call.lineno}: cannot be said in another language")


@dataclass
class _Walk:
    name: str
    tree: ast.Module
    found: Told

    def all(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                self._call(node)
            if isinstance(node, ast.Dict) and self.name.startswith("api/"):
                self._dict(node)

    def _call(self, node: ast.Call) -> None:
        name = _name(node.func)
        at = 0 if name == "Message" else SAYS.get(name)
        args = [*node.args, *(k.value for k in node.keywords if k.arg in ("detail", "reason"))]
        if at is not None and len(args) > at:
            self._text(args[at])

    def _dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "message":
                if isinstance(value, ast.Constant):
                    self._fault(value, "is no Message")
                self._text(value)

    def _text(self, node: ast.expr) -> None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value:
                self.found.messages.setdefault(node.value, f"{self.name}:{node.lineno}")
        elif isinstance(node, ast.IfExp):
            self._text(node.body)
            self._text(node.orelse)
        elif isinstance(node, ast.Name) and (values := self._assigned(node.id)):
            for value in values:
                self._text(value)
        elif not self._made(node):
            self._fault(node, "cannot be said in another language: make it a Message with its members")

    def _made(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            return _name(node.func) in MAKES
        return ast.unparse(node) in (*KEPT, *OWN.get(self.name, ())) or self._param(node)

    def _param(self, node: ast.expr) -> bool:
        """A parameter that is typed as a message."""
        return isinstance(node, ast.Name) and any(
            isinstance(a, ast.arg)
            and a.arg == node.id
            and a.annotation is not None
            and "Message" in ast.unparse(a.annotation)
            for a in ast.walk(self.tree)
        )

    def _assigned(self, name: str) -> list[ast.expr]:
        assigned = [n for n in ast.walk(self.tree) if isinstance(n, ast.Assign)]
        return [n.value for n in assigned if any(isinstance(t, ast.Name) and t.id == name for t in n.targets)]

    def _fault(self, node: ast.expr, said: str) -> None:
        self.found.faults.append(f"{self.name}:{node.lineno}: {ast.unparse(node)} {said}")


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


# --- what libraries say ----------------------------------------------------------------------------------------


def of_libraries(app: Flask) -> Told:
    """What marshmallow says of this application's requests, and `json` of a body that is none."""
    found = Told()
    for schema in _schemas(app):
        for text in schema.error_messages.values():
            found.messages.setdefault(text, type(schema).__name__)
        for name, member in schema.fields.items():
            _field(member, f"{type(schema).__name__}.{name}", found)
    for text in _BROKEN:
        found.messages.setdefault(_complaint(text), f"json of {text!r}")
    return found


LATER = ("Illegal trailing comma before end of object", "Illegal trailing comma before end of array")
"""What later Pythons say besides."""

_BROKEN = ("", "{1", '{"a"1', '{"a":1 1', "[1 1", '"', '"\n"', '"\\x"', '"\\u12"', "1 1", "[1,]", '{"a":1,}', "\ufeff1")


def _complaint(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.msg
    raise AssertionError(text)


def _schemas(app: Flask) -> Iterator[Schema]:
    for view in app.view_functions.values():
        for parameter in vars(view).get("_apidoc", {}).get("arguments", {}).get("parameters", ()):
            yield parameter["schema"]


def _field(member: fields.Field[object], name: str, found: Told) -> None:
    for kind, text in member.error_messages.items():
        if kind in _MET:
            found.messages.setdefault(str(text), name)
    for check in member.validators:
        said = getattr(check, "error", None)
        if isinstance(said, Message):
            found.messages.setdefault(said.template, name)
        elif isinstance(check, validate.Validator) and not isinstance(check, request_fields.FullMatch):
            found.faults.append(f"{name}: {check!r} needs a Message in `error`")
    for inner in (getattr(member, "inner", None), getattr(member, "value_field", None)):
        if inner is not None:
            _field(inner, name, found)


_MET = ("required", "null", "invalid", "too_large")
"""Of what a field could say, that which no other check says before."""
