"""Facts as they stand in records, read as the classes that are declared: from JSON text where there is one."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from operator import or_
from typing import Any, NamedTuple

import msgspec

from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.records.record import TOO_DEEP, PackHead, Record, facts_for, in_order
from domain.kernel.schema import declarations
from domain.kernel.schema.declarations import AnyFact
from domain.types import DIRECTOR, Doc


class RecordFacts(NamedTuple):
    """What a fold takes of a record besides its head."""

    facts: Sequence[Any]
    """All of them, in order."""
    packs: Mapping[str, PackHead]
    """By the keys of their audiences."""


class FactReader:
    """Reads facts of these kinds; raises ValueError for one that is none of them, or ill-formed. Safe with threads."""

    def __init__(self, kinds: Iterable[type[AnyFact]]) -> None:
        # Classes, because msgspec prepares a class once, and any other type at every call.
        fact: Any = functools.reduce(or_, kinds)
        self._form: Any = msgspec.defstruct("Facts", [("facts", list[fact], [])], gc=False)
        members: list[tuple[str, Any, Any]] = [("facts", list[tuple[int, fact]], []), ("order", list[str], [])]
        pack: Any = msgspec.defstruct("PackFacts", members, bases=(PackHead,), frozen=True, gc=False)
        declarations.prepare(self._form)
        self._public: msgspec.json.Decoder[Any] = msgspec.json.Decoder(self._form)
        self._packs: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, pack])

    def of_docs(self, docs: Sequence[Doc]) -> Sequence[Any]:
        """Facts that are JSON objects."""
        facts: Sequence[Any] = msgspec.convert({"facts": docs}, self._form).facts if docs else ()
        return facts

    def of_record(self, record: Record) -> RecordFacts:
        """Every fact of a record, and what heads its packs."""
        try:
            return self._of_record(record)
        except RecursionError:
            raise ValueError(TOO_DEEP) from None
        except (LookupError, TypeError, AttributeError) as error:  # no declaration has been held against its packs yet
            kind = type(error).__name__  # what it says may be of the packs, which are secret
            raise ValueError(f"its packs are not of the form of packs ({kind})") from None

    def _of_record(self, record: Record) -> RecordFacts:
        if record.text is None:
            return RecordFacts(self.of_docs(facts_for(record, DIRECTOR)), record.heads)
        public, packs = self._public.decode(record.text[0]), self._packs.decode(record.text[1])
        if TABLE_KEY in packs and packs[TABLE_KEY].order:
            secret = {key: pack.facts for key, pack in packs.items()}
            return RecordFacts(in_order(packs[TABLE_KEY].order, public.facts, secret), packs)
        if any(pack.facts for pack in packs.values()):
            return RecordFacts(self.of_docs(facts_for(record, DIRECTOR)), packs)
        return RecordFacts(public.facts, packs)
