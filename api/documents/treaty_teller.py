"""Documents of treaties: what a table lets its players propose, and what became of a treaty in a message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from api.documents.table_teller import TableTeller
from api.schemas.talk_responses import (
    PromiseDoc,
    TreatyAnswerDoc,
    TreatyChoiceDoc,
    TreatyDoc,
    TreatyFieldDoc,
    TreatyKindsDoc,
)
from api.services import ApiServices
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.treaties import Promise, TreatyField, TreatyKind
from domain.talk.talk_store import TABLE, Entry, MailboxReader, TreatyAnswer
from domain.talk.treaty_rules import list_kinds, list_options
from domain.types import Doc, Json, Seat


class TreatyTeller(TableTeller):
    """Tells the treaties of a table to one reader."""

    def __init__(self, s: ApiServices, now: AnyGame, reader: MailboxReader, lang: str) -> None:
        super().__init__(s, now, lang)
        self._reader = reader

    def to_json(self, entry: Entry, seats: Sequence[Seat], treaty: Doc, answers: Sequence[TreatyAnswer]) -> TreatyDoc:
        """Return a treaty between seats, with its answers, and for both sides what public facts say of it."""
        own, is_open = self._reader.mailbox, self._services.clock() <= treaty["ends"]
        answered = {each.seat for each in answers}
        may_answer = own in seats and own != entry.seat and own not in answered
        given: list[TreatyAnswerDoc] = [{"seat": each.seat, "answer": each.answer} for each in answers]  # type: ignore[typeddict-item] # one of ANSWERS
        return {
            "kind": treaty["kind"],
            "values": treaty["values"],
            "text": self.tell(entry.seat, [] if entry.conversation == TABLE else seats, treaty),
            "ends": treaty["ends"],
            "may_answer": bool(may_answer and is_open and self._now.status == "running"),
            "answers": given,
            "promises": [
                self._follow(entry.seat, treaty, each)
                for each in answers
                if each.answer == "accept" and own in (entry.seat, each.seat)
            ],
        }

    def _follow(self, by: Seat, treaty: Doc, accepted: TreatyAnswer) -> PromiseDoc:
        promise = Promise(by, accepted.seat, treaty["values"])
        verdict = self._services.promises.judge(self._rules, self._now, treaty["kind"], promise, accepted.version)
        return {"seat": accepted.seat, "state": verdict.state, "version": verdict.version}

    def tell(self, by: Seat, seats: Sequence[Seat], treaty: Doc) -> str:
        """Return the sentence of a treaty in a letter of these seats; without seats, to the table."""
        others = [seat for seat in seats if seat != by]
        values: Mapping[str, Json] = treaty["values"]
        turn = {"turn": values["turn"]} if "turn" in values else None
        members = {**values, "seat": by, "others": others, "until": turn}
        return self._texts.render(f"treaty.{treaty['kind']}", members, self._names) or str(treaty["kind"])

    # --- what may be proposed

    def list_kinds(self, writer: Seat, seats: Sequence[Seat]) -> TreatyKindsDoc:
        """Return the kinds of treaties offered to a seat, with the values of their fields."""
        found = list_kinds(self._rules, self._now, writer, seats)
        return {"seats": list(seats), "kinds": [self._kind_to_json(kind, writer, seats) for kind in found]}

    def _kind_to_json(self, kind: TreatyKind, writer: Seat, seats: Sequence[Seat]) -> TreatyChoiceDoc:
        return {
            "kind": kind.name,
            "text": self._texts.label(f"treaty.{kind.name}.name") or kind.name,
            "followed": kind.judge is not None,
            "fields": [self._field_to_json(name, each, writer, seats) for name, each in kind.fields.items()],
        }

    def _field_to_json(self, name: str, found: TreatyField, writer: Seat, seats: Sequence[Seat]) -> TreatyFieldDoc:
        values = list_options(self._rules, self._now, found, writer, seats)
        doc: TreatyFieldDoc = {
            "field": name,
            "kind": found.kind,
            "text": self._texts.label(f"ask.treaty.{name}") or name,
            "options": [],
            "lo": None,
            "hi": None,
        }
        if isinstance(values, range):
            doc["lo"], doc["hi"] = values[0], values[-1]
        else:
            doc["options"] = [{"value": value, "text": self._word(found.kind, value)} for value in values]
        return doc
