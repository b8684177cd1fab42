"""What version 1 of the API has promised: the document as it was, and whether a later one still keeps it.

Clients may rely on every path, parameter, member and value that it names. More may come: paths, parameters and members
that need not be sent, members and codes in answers. `python -m tests.api.promise` promises what there is now.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from domain.ruleset_registry import load_shipped
from tests.api.conftest import make_site

FILE = Path(__file__).with_name("promised.json.xz")

Doc = dict[str, Any]

_METHODS = ("get", "post", "put", "delete")
_SAME = ("type", "const", "format", "contentMediaType")
_BOUNDS = (("minimum", 1), ("minLength", 1), ("minItems", 1), ("maximum", -1), ("maxLength", -1), ("maxItems", -1))
"""A bound, and in which direction a request is refused more."""


def document() -> Doc:
    """The document of the rulesets that ship, as it is."""
    with TemporaryDirectory() as folder, closing(make_site(Path(folder), load_shipped())) as site:
        found: Doc = site.get("/openapi.json").json
        return found


def promised() -> Doc:
    """The document whose every part must stay."""
    found: Doc = msgspec.json.decode(lzma.decompress(FILE.read_bytes()))
    return found


_SAID = ("description", "summary", "examples")
_NAMES = ("headers", "mapping", "parameters", "paths", "properties", "responses", "schemas")
"""Members whose values are objects with names as keys."""


def bare(part: Any, *, names: bool = False) -> Any:
    """Return the document, or a part of it, without descriptions, summaries and examples."""
    if isinstance(part, dict):
        kept = part if names else {key: value for key, value in part.items() if key not in _SAID}
        return {key: bare(value, names=not names and key in _NAMES) for key, value in kept.items()}
    return [bare(each) for each in part] if isinstance(part, list) else part


def differing(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Yield the places at which two documents differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differing(old.get(key), new.get(key), f"{at}/{key}")
    elif old != new:
        yield at


class Comparison:
    """What an old document has promised and a new one does not keep, told as places."""

    def __init__(self, old: Doc, new: Doc) -> None:
        self.old, self.new = old, new
        self._seen: set[tuple[str, str, bool]] = set()

    def broken(self) -> Iterator[str]:
        for path, item in self.old["paths"].items():
            for method in _METHODS:
                if method in item:
                    now = self.new["paths"].get(path, {}).get(method)
                    where = f"{method.upper()} {path}"
                    yield from self._operation(where, item[method], now) if now else [f"{where}: gone"]

    def _operation(self, where: str, old: Doc, new: Doc) -> Iterator[str]:
        if old["operationId"] != new["operationId"]:
            yield f"{where}: another operationId"
        if {} in old["security"] and {} not in new["security"]:
            yield f"{where}: needs a token"
        yield from self._parameters(where, *({(p["in"], p["name"]): p for p in _given(d)} for d in (old, new)))
        yield from self._bodies(where, old.get("requestBody"), new.get("requestBody"))
        for status, answer in old["responses"].items():
            told = new["responses"].get(status)
            if told is None:
                if status.startswith("2"):
                    yield f"{where} {status}: gone"
                continue
            for media, content in self._at(answer, self.old).get("content", {}).items():
                now = self._at(told, self.new).get("content", {}).get(media)
                if now is None:
                    yield f"{where} {status}: no {media}"
                else:
                    yield from self._schema(f"{where} {status}", content.get("schema", {}), now["schema"], sent=False)

    def _parameters(self, where: str, old: dict[Any, Doc], new: dict[Any, Doc]) -> Iterator[str]:
        for key, parameter in old.items():
            if key not in new:
                yield f"{where}: no parameter {key[1]}"
            else:
                yield from self._schema(f"{where} {key[1]}", parameter["schema"], new[key]["schema"], sent=True)
        for key, parameter in new.items():
            if parameter.get("required") and not old.get(key, {}).get("required"):
                yield f"{where}: needs parameter {key[1]}"

    def _bodies(self, where: str, old: Doc | None, new: Doc | None) -> Iterator[str]:
        if new and new.get("required") and not (old and old.get("required")):
            yield f"{where}: needs a body"
        for media, content in (old or {}).get("content", {}).items():
            now = (new or {}).get("content", {}).get(media)
            yield from (
                self._schema(f"{where} body", content["schema"], now["schema"], sent=True)
                if now
                else [f"{where}: no body of {media}"]
            )

    def _schema(self, where: str, old: Any, new: Any, *, sent: bool) -> Iterator[str]:
        """`sent`: by clients, and nothing more may be asked of it; else of an answer, and nothing may be gone."""
        if not (isinstance(old, dict) and isinstance(new, dict)):
            if old != new and new is not True:
                yield f"{where}: {old!r} is {new!r}"
            return
        if "$ref" in old or "$ref" in new:
            key = (old.get("$ref", str(old)), new.get("$ref", str(new)), sent)
            if key in self._seen:
                return
            self._seen.add(key)
            old, new = self._at(old, self.old), self._at(new, self.new)
            where = f"{where} {key[0].rsplit('/', 1)[-1]}"
        yield from self._values(where, old, new, sent=sent)
        yield from self._members(where, old, new, sent=sent)
        for name in ("items", "additionalProperties", "contentSchema"):
            if name in old:
                yield from self._schema(f"{where}/{name}", old[name], new.get(name, {}), sent=sent)
        yield from self._alternatives(where, old, new, sent=sent)

    def _values(self, where: str, old: Doc, new: Doc, *, sent: bool) -> Iterator[str]:
        for name in _SAME:
            if old.get(name) != new.get(name) and not (sent and name not in new):
                yield f"{where}: {name} {old.get(name)!r} is {new.get(name)!r}"
        if "enum" in old and "enum" in new and (gone := [v for v in old["enum"] if v not in new["enum"]]):
            yield f"{where}: no value {gone!r}"
        for name, way in _BOUNDS if sent else ():
            if name in new and (name not in old or (new[name] - old[name]) * way > 0):
                yield f"{where}: {name} {old.get(name)} is {new[name]}"
        if sent and "pattern" in new and new["pattern"] != old.get("pattern"):
            yield f"{where}: pattern {old.get('pattern')} is {new['pattern']}"

    def _members(self, where: str, old: Doc, new: Doc, *, sent: bool) -> Iterator[str]:
        for name, schema in old.get("properties", {}).items():
            if name in new.get("properties", {}):
                yield from self._schema(f"{where}/{name}", schema, new["properties"][name], sent=sent)
            else:
                yield f"{where}/{name}: gone"
        had, has = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted(has - had if sent else had - has):
            yield f"{where}/{name}: {'needed' if sent else 'may be missing'}"

    def _alternatives(self, where: str, old: Doc, new: Doc, *, sent: bool) -> Iterator[str]:
        chosen = old.get("discriminator", {}).get("mapping")
        if chosen:
            now = new.get("discriminator", {}).get("mapping", {})
            for value, ref in chosen.items():
                if value in now:
                    yield from self._schema(f"{where}", {"$ref": ref}, {"$ref": now[value]}, sent=sent)
                else:
                    yield f"{where}: no alternative {value}"
            return
        for name in ("anyOf", "oneOf"):
            ways = new.get(name, [new])
            for one in old.get(name, ()):
                kept = [list(Comparison(self.old, self.new)._schema(where, one, other, sent=sent)) for other in ways]
                if all(kept):
                    yield f"{where}: no alternative {str(one)[:80]}"

    def _at(self, part: Doc, spec: Doc) -> Doc:
        while "$ref" in part:
            kind, name = part["$ref"].split("/")[-2:]
            part = spec["components"][kind][name]
        return part


def _given(operation: Doc) -> list[Doc]:
    return [p for p in operation.get("parameters", ()) if "$ref" not in p]


if __name__ == "__main__":
    FILE.write_bytes(lzma.compress(msgspec.json.encode(document(), order="sorted"), preset=9))
