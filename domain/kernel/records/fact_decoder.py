"""Decoder of the facts in records into declared classes, directly from JSON text if available."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import or_
from typing import Any, NamedTuple, TypeVar

import msgspec

from domain.kernel.records.audience import TABLE_KEY, may_read
from domain.kernel.records.record import TOO_DEEP, PackHead, Record, facts_for, merge_facts, restore_order
from domain.kernel.schema import declarations
from domain.kernel.schema.declarations import AnyFact
from domain.types import DIRECTOR, Doc, Viewer

T = TypeVar("T")


class DecodedFacts(NamedTuple):
    """Parts of a record needed by a fold besides its head."""

    facts: Sequence[Any]
    """All of them, in order."""
    packs: Mapping[str, PackHead]
    """By the keys of their audiences."""


class ReadableFacts(NamedTuple):
    """Facts of a record, decoded once for several viewers."""

    facts: Sequence[AnyFact]
    """All of them, in order."""
    public: Sequence[AnyFact]
    secret: Sequence[tuple[str, Sequence[tuple[int, AnyFact]]]]
    """Of each pack with facts: its key, and the facts with the numbers of public facts before them."""

    def readable_by(self, viewer: Viewer) -> Sequence[AnyFact]:
        """Return the facts readable by a viewer, in order, like `facts_for`."""
        if viewer == DIRECTOR:
            return self.facts
        secret = [item for key, facts in self.secret if may_read(key, viewer) for item in facts]
        return merge_facts(self.public, secret) if secret else self.public


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
        return self._decode_checked(self._decode_record, record)

    def decode_readable(self, record: Record) -> ReadableFacts:
        """Decode every fact of a record, so that those of each viewer can be told apart."""
        return self._decode_checked(self._decode_readable, record)

    @staticmethod
    def _decode_checked(decode: Callable[[Record], T], record: Record) -> T:
        try:
            return decode(record)
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

    def _decode_readable(self, record: Record) -> ReadableFacts:
        if record.text is not None:
            public = self._public.decode(record.text[0]).facts
            packs = self._packs.decode(record.text[1])
            order = packs[TABLE_KEY].order if TABLE_KEY in packs else ()
            secret = [(key, pack.facts) for key, pack in packs.items() if pack.facts]
        else:
            public = self.decode_docs(record.public.get("facts", ()))
            order = record.packs.get(TABLE_KEY, {}).get("order", ())
            secret = [
                (key, [(n, *self.decode_docs([fact])) for n, fact in pack["facts"]])
                for key, pack in record.packs.items()
                if pack.get("facts")
            ]
        if order:
            facts: Sequence[AnyFact] = restore_order(order, public, dict(secret))
        else:
            facts = merge_facts(public, [item for _, items in secret for item in items]) if secret else public
        return ReadableFacts(facts, public, secret)
