"""Decoder of the facts in records into declared classes, directly from JSON text if available."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from operator import or_
from typing import Any, NamedTuple

import msgspec

from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.records.record import TOO_DEEP, PackHead, Record, facts_for, restore_order
from domain.kernel.schema import declarations
from domain.kernel.schema.declarations import AnyFact
from domain.types import DIRECTOR, Doc


class DecodedFacts(NamedTuple):
    """Parts of a record needed by a fold besides its head."""

    facts: Sequence[Any]
    """All of them, in order."""
    packs: Mapping[str, PackHead]
    """By the keys of their audiences."""


class FactDecoder:
    """Decodes facts of these kinds; raises ValueError for unknown or ill-formed ones. Thread-safe."""

    def __init__(self, kinds: Iterable[type[AnyFact]]) -> None:
        # Classes, because msgspec prepares a class once but any other type at every call.
        fact: Any = functools.reduce(or_, kinds)
        self._form: Any = msgspec.defstruct("Facts", [("facts", list[fact], [])], gc=False)
        members: list[tuple[str, Any, Any]] = [("facts", list[tuple[int, fact]], []), ("order", list[str], [])]
        pack: Any = msgspec.defstruct("PackFacts", members, bases=(PackHead,), frozen=True, gc=False)
        declarations.prepare(self._form)
        self._public: msgspec.json.Decoder[Any] = msgspec.json.Decoder(self._form)
        self._packs: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, pack])

    def decode_docs(self, docs: Sequence[Doc]) -> Sequence[Any]:
        """Decode facts given as JSON objects."""
        facts: Sequence[Any] = msgspec.convert({"facts": docs}, self._form).facts if docs else ()
        return facts

    def decode_record(self, record: Record) -> DecodedFacts:
        """Decode every fact of a record, and the heads of its packs."""
        try:
            return self._decode_record(record)
        except RecursionError:
            raise ValueError(TOO_DEEP) from None
        except (LookupError, TypeError, AttributeError) as error:  # its packs are not validated yet
            kind = type(error).__name__  # its text may quote the packs, which are secret
            raise ValueError(f"its packs are not of the form of packs ({kind})") from None

    def _decode_record(self, record: Record) -> DecodedFacts:
        if record.text is None:
            return DecodedFacts(self.decode_docs(facts_for(record, DIRECTOR)), record.pack_heads)
        public, packs = self._public.decode(record.text[0]), self._packs.decode(record.text[1])
        if TABLE_KEY in packs and packs[TABLE_KEY].order:
            secret = {key: pack.facts for key, pack in packs.items()}
            return DecodedFacts(restore_order(packs[TABLE_KEY].order, public.facts, secret), packs)
        if any(pack.facts for pack in packs.values()):
            return DecodedFacts(self.decode_docs(facts_for(record, DIRECTOR)), packs)
        return DecodedFacts(public.facts, packs)
