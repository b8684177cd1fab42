"""Declared facts, moves and contexts: their JSON is what it was, and what does not fit a declaration is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import msgspec
import pytest
from msgspec import field

from domain.errors import RuleError
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import check_shape
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, NoChance
from domain.kernel.rules.flow import FLOW, Ended, Frame
from domain.kernel.rules.ruleset import Ruleset, on
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.declarations import (
    UNSET,
    Admission,
    Case,
    Context,
    Count,
    Fact,
    Id,
    Listed,
    Maybe,
    Move,
    Part,
    Varies,
    among,
    by_type_name,
    declared_classes,
    doc,
    snake_case,
    type_name,
)
from domain.kernel.schema.validators import validator_of
from domain.types import Doc, Json
from tests.kernel.flows import skirmish
from tests.rulesets import FLOWS, REGISTERED, Registered


class Lot(Part, frozen=True):
    """So many of a kind."""

    unit: str
    count: int


class GoldPaid(Fact[int], frozen=True):
    """A seat has paid; `left` may be absent, and null where nobody knows."""

    seat: int
    left: Maybe[int | None] = UNSET

    def evolve(self, s: int) -> int:
        return s + 1


class Marched(Fact[int], frozen=True):
    """Units have marched."""

    from_: str = field(name="from")
    lots: Sequence[Lot]
    by_place: Mapping[str, Sequence[int]]


class Renamed(Fact[int], frozen=True, tag="has_another_name"):
    """A fact whose tag is not the class's name."""


class OfSeat(Fact[int], frozen=True, tag=False):
    """What facts of a seat have in common; no fact itself."""

    seat: int

    def evolve(self, s: int) -> int:
        return self.seat


class Moved(OfSeat, frozen=True, tag_field="t", tag=snake_case):
    """A fact that has its members from another class."""


class Bid(Move, frozen=True):
    """Bid gold."""

    admission: ClassVar = Admission(("turn",), rule="SK-1")
    gold: Count
    note: Maybe[str | None] = UNSET


class UseTile(Move, frozen=True):
    """Use a tile; what else must be said depends on the tile."""

    admission: ClassVar = Admission(("turn",), rule="SK-2")
    varies: ClassVar = Varies(
        "tile",
        {"pirates": Case(("region",)), "raiders": Case(("region",)), "banking": Case(), "bazaar": Case((), ("lots",))},
        otherwise=Case((), ("region",)),
    )
    tile: Id
    region: Maybe[Annotated[str, among(("india", "africa"))]] = UNSET
    lots: Maybe[Listed[Lot]] = UNSET
    loud: Maybe[bool] = UNSET


class Answer(Move, frozen=True):
    """Pay, or not."""

    varies: ClassVar = Varies("yes", {True: Case(("gold",)), False: Case()})
    yes: bool
    gold: Maybe[Count] = UNSET


class Bidding(Context, frozen=True):
    """Seats bid in turn."""

    lots: Sequence[Lot]
    highest: Maybe[int | None] = UNSET


class LastCall(Context, frozen=True):
    """Nothing is known of it."""


FACTS = declared_classes(__name__, Fact)
MOVES = declared_classes(__name__, Move)
FRAMES = declared_classes(__name__, Context)
RULES: Ruleset[Any] = replace(skirmish.RULESET, moves={**skirmish.RULESET.moves, **MOVES}, facts=FACTS, frames=FRAMES)


class TestNames:
    @pytest.mark.parametrize(
        ("name", "word"),
        [("GoldPaid", "gold_paid"), ("Ended", "ended"), ("Outer.GoldPaid", "gold_paid"), ("f.<locals>.End", "end")],
    )
    def test_snake_case(self, name: str, word: str) -> None:
        assert snake_case(name) == word

    def test_the_class_names_its_objects(self) -> None:
        assert [type_name(k) for k in (GoldPaid, Bid, Renamed, Ended)] == [
            "gold_paid",
            "bid",
            "has_another_name",
            "ended",
        ]
        assert (doc(Renamed()), doc(Bid(3))) == ({"t": "has_another_name"}, {"type": "bid", "gold": 3})

    def test_a_module_declares_its_own_in_order(self) -> None:
        """Neither what it imports nor what only lends members to others, nor parts."""
        assert list(FACTS) == ["gold_paid", "marched", "has_another_name", "moved"]
        assert list(MOVES) == ["bid", "use_tile", "answer"]
        assert by_type_name(Bid, UseTile, Answer) == MOVES
        assert declared_classes("domain.kernel.rules.flow", Fact) == FLOW

    def test_members_of_another_class(self) -> None:
        assert doc(Moved(3)) == {"t": "moved", "seat": 3}
        assert RULES.fold(0, [{"t": "moved", "seat": 3}]) == 3

    @pytest.mark.parametrize("entry", FLOWS, ids=lambda e: e.name)
    def test_a_ruleset_lists_what_its_modules_declare(self, entry: Registered) -> None:
        rules, module = entry.rules, entry.rules.state.__module__
        assert rules.facts == declared_classes(module, Fact)
        assert rules.moves == declared_classes(module, Move)
        assert set(rules.handlers) == set(rules.moves)
        kinds = (rules.facts, rules.moves, rules.frames, rules.view_types)
        assert all(kind.__doc__ for of in kinds for kind in of.values())

    @pytest.mark.parametrize("entry", REGISTERED, ids=lambda e: e.name)
    def test_a_ruleset_declares_every_frame_that_it_knows(self, entry: Registered) -> None:
        rules = entry.rules
        admitted = {kind for move in rules.moves.values() for kind in move.admission.at}
        assert {*rules.continuations, *rules.meta.clocks, *admitted} <= set(rules.frames)


class TestContexts:
    def asked(self, about: Context) -> Draft[Any]:
        """Nothing but a frame."""
        draft = Draft(RULES, skirmish.Skirmish(3), Draws(NoChance()))
        draft.ask(about, 1)
        return draft

    def test_the_class_names_the_kind(self) -> None:
        assert list(FRAMES.items()) == [("bidding", Bidding), ("last_call", LastCall)]
        assert type_name(LastCall) == "last_call"

    @pytest.mark.parametrize(
        ("about", "form"),
        [
            (LastCall(), {}),
            (Bidding((Lot("army", 2),)), {"lots": [{"unit": "army", "count": 2}]}),
            (Bidding((), None), {"lots": [], "highest": None}),
        ],
        ids=["no member", "absent", "null"],
    )
    def test_a_frame_keeps_it_as_json(self, about: Context, form: Doc) -> None:
        frame = self.asked(about).state.top
        assert (frame.kind, frame.asked, frame.data) == (type_name(type(about)), (1,), form)
        assert doc(frame.context(type(about))) == form

    def test_a_frame_of_another_kind(self) -> None:
        with pytest.raises(AssertionError, match="the frame last_call is no bidding"):
            self.asked(LastCall()).state.top.context(Bidding)

    def test_it_is_read_once_and_anew_after_a_change(self) -> None:
        draft = self.asked(Bidding(()))
        frame = draft.state.top
        assert frame.context(Bidding) is frame.context(Bidding)
        draft.note(highest=3)
        assert (frame.context(Bidding).highest, draft.state.top.context(Bidding).highest) == (UNSET, 3)

    @pytest.mark.parametrize("change", [{"highest": "3"}, {"lowest": 3}, {"lots": [{"unit": "army"}]}])
    def test_a_change_that_does_not_fit(self, change: Doc) -> None:
        with pytest.raises(msgspec.ValidationError):
            self.asked(Bidding(())).note(**change)

    def test_a_frame_of_a_patch_that_does_not_fit(self) -> None:
        with pytest.raises(msgspec.ValidationError, match="missing required field `lots`"):
            Frame(1, "bidding").context(Bidding)


class TestDocuments:
    @pytest.mark.parametrize(
        ("fact", "form"),
        [
            (GoldPaid(1), {"t": "gold_paid", "seat": 1}),
            (GoldPaid(1, None), {"t": "gold_paid", "seat": 1, "left": None}),
            (GoldPaid(1, 0), {"t": "gold_paid", "seat": 1, "left": 0}),
        ],
        ids=["absent", "null", "nought"],
    )
    def test_absent_is_not_null(self, fact: GoldPaid, form: Doc) -> None:
        """Each stays what it was, there and back."""
        assert doc(fact) == form
        assert RULES.decode_facts([form]) == [fact]

    def test_a_move_keeps_what_was_sent(self) -> None:
        for more in ({}, {"note": None}, {"note": "x"}):
            sent: Doc = {"type": "bid", "gold": 3, **more}
            assert doc(check_shape(RULES, 0, sent)) == sent

    def test_a_document_has_json_types_alone(self) -> None:
        """Tuples are lists, parts are objects, and a member may be named as Python cannot."""
        fact = Marched("baltic", (Lot("army", 2),), {"india": (1, 2)})
        form = doc(fact)
        assert form == {
            "t": "marched",
            "from": "baltic",
            "lots": [{"unit": "army", "count": 2}],
            "by_place": {"india": [1, 2]},
        }
        assert form == json.loads(canonical(form))
        assert (type(form["lots"]), type(form["by_place"]["india"])) == (list, list)
        assert doc(RULES.decode_facts([form])[0]) == form

    def test_a_document_is_a_fresh_one(self) -> None:
        """Whoever changes it does not change the fact."""
        fact = Marched("baltic", [Lot("army", 2)], {"india": [1]})
        doc(fact)["by_place"]["india"].append(2)
        assert doc(fact)["by_place"] == {"india": [1]}


def refusal(move: Json) -> tuple[str, str, Json] | None:
    """Code, rule and detail of the refusal, None for a move that is well-formed."""
    try:
        check_shape(RULES, 0, move)
    except RuleError as error:
        return error.code, error.rule, error.detail
    return None


class TestMembersThatVary:
    @pytest.mark.parametrize(
        "more",
        [
            {"tile": "pirates", "region": "india"},
            {"tile": "banking"},
            {"tile": "banking", "loud": True},
            {"tile": "bazaar"},
            {"tile": "bazaar", "lots": [{"unit": "army", "count": 2}]},
            {"tile": "unheard_of"},
            {"tile": "unheard_of", "region": "africa"},
        ],
        ids=str,
    )
    def test_what_fits(self, more: Doc) -> None:
        """A tile without a case is for the rules to refuse."""
        sent = {"type": "use_tile", **more}
        assert doc(check_shape(RULES, 0, sent)) == sent

    @pytest.mark.parametrize(
        ("more", "at", "expected"),
        [
            ({"tile": "pirates"}, "/region", "a field that is required"),
            ({"tile": "pirates", "region": "asia"}, "/region", "one of india, africa"),
            ({"tile": "pirates", "region": None}, "/region", "a string of 1 to 80 characters"),
            ({"tile": "banking", "region": "india"}, "/region", "no such field"),
            ({"tile": "raiders", "region": "india", "lots": []}, "/lots", "no such field"),
            ({"tile": "bazaar", "lots": [{"unit": "army"}]}, "/lots/0/count", "a field that is required"),
            ({"tile": "bazaar", "lots": [{"unit": "army", "count": 1, "of": 1}]}, "/lots/0/of", "no such field"),
            ({"tile": "banking", "loud": 1}, "/loud", "true or false"),
            ({"tile": "unheard_of", "lots": []}, "/lots", "no such field"),
            ({"tile": 3}, "/tile", "a string of 1 to 80 characters"),
            ({}, "/tile", "a field that is required"),
        ],
        ids=str,
    )
    def test_the_first_fault_is_named(self, more: Doc, at: str, expected: str) -> None:
        assert refusal({"type": "use_tile", **more}) == ("malformed_move", "SK-2", {"at": at, "expected": expected})

    def test_the_published_schema_has_one_object_per_case(self) -> None:
        """Tiles that are used alike stand together."""
        cases = validator_of(UseTile).schema()["oneOf"]
        said = [(c["properties"]["tile"]["enum"], sorted(c["properties"]), c["required"]) for c in cases]
        assert said == [
            (["pirates", "raiders"], ["loud", "region", "tile"], ["tile", "region"]),
            (["banking"], ["loud", "tile"], ["tile"]),
            (["bazaar"], ["lots", "loud", "tile"], ["tile"]),
        ]
        assert all(c["additionalProperties"] is False for c in cases)
        assert cases[0]["properties"]["region"] == {"type": "string", "enum": ["india", "africa"]}

    def test_a_tag_that_is_true_or_false(self) -> None:
        """A tag that is neither has the members that belong to no case."""
        assert refusal({"type": "answer", "yes": True, "gold": 1}) is None
        assert refusal({"type": "answer", "yes": False}) is None
        for more, at in (({"yes": True}, "/gold"), ({"yes": False, "gold": 1}, "/gold"), ({"yes": 1}, "/yes")):
            said = refusal({"type": "answer", **more})
            assert said is not None
            assert said[2]["at"] == at
        cases = validator_of(Answer).schema()["oneOf"]
        assert [c["properties"]["yes"] for c in cases] == [{"type": "boolean", "enum": [b]} for b in (True, False)]

    def test_every_member_that_some_case_has(self) -> None:
        assert UseTile.varies.names == {"region", "lots"}


class TestMistakes:
    """mypy names each of them: an ignore that none needs is an error of its own."""

    def test_a_misspelt_member_of_a_fact(self) -> None:
        with pytest.raises(AttributeError):
            _ = GoldPaid(1).laft  # type: ignore[attr-defined]
        with pytest.raises(TypeError):
            GoldPaid(seat=1, laft=2)  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            GoldPaid()  # type: ignore[call-arg]

    def test_a_misspelt_member_of_a_move(self) -> None:
        with pytest.raises(AttributeError):
            _ = Bid(1).gild  # type: ignore[attr-defined]
        with pytest.raises(TypeError):
            Bid(gild=1)  # type: ignore[call-arg]

    def test_what_is_made_stays_as_it_is(self) -> None:
        kinds: list[type[msgspec.Struct]] = [*FACTS.values(), *MOVES.values(), *FLOW.values(), Lot]
        assert all(kind.__struct_config__.frozen for kind in kinds)
        fact, move = GoldPaid(1), Bid(1)
        with pytest.raises(AttributeError):
            fact.seat = 2  # type: ignore[misc]
        with pytest.raises(AttributeError):
            move.gold = 2  # type: ignore[misc]
        with pytest.raises(AttributeError):
            fact.more = 2  # type: ignore[attr-defined]
        assert (fact, move) == (GoldPaid(1), Bid(1))

    def test_another_games_fact(self) -> None:
        def pay(d: Draft[skirmish.Skirmish]) -> None:
            d.add(GoldPaid(1))  # type: ignore[arg-type]

        assert callable(pay)

    def test_a_handler_of_another_move(self) -> None:
        def do_bid(d: Draft[Any], frame: Any, seat: int, move: Bid) -> None:
            """Nothing."""

        assert on(Bid, do_bid) == ("bid", do_bid)
        assert on(UseTile, do_bid)  # type: ignore[arg-type]


WRONG: Mapping[str, Doc] = {
    "another type": {"t": "gold_set", "seat": 0, "gold": "4"},
    "true for a number": {"t": "gold_set", "seat": 0, "gold": True},
    "a float": {"t": "gold_set", "seat": 0, "gold": 4.0},
    "null": {"t": "gold_set", "seat": 0, "gold": None},
    "an unknown member": {"t": "gold_set", "seat": 0, "gold": 4, "silver": 1},
    "a missing member": {"t": "gold_set", "seat": 0},
    "an unknown kind": {"t": "gold_st", "seat": 0, "gold": 4},
    "no kind": {"seat": 0, "gold": 4},
    "a fact of the flow": {"t": "answered", "seat": "0"},
}


@pytest.mark.parametrize("fact", WRONG.values(), ids=WRONG)
def test_a_log_with_an_ill_formed_fact_does_not_fold(fact: Doc) -> None:
    """Nothing is guessed, whatever the fact would have assigned."""
    match = InMemoryGame(skirmish.RULESET, 3, bytes(32))
    match.play(0, {"type": "pass"})
    *before, last = match.records
    assert fold(match.rules, match.records) == match.game
    bad = Record({**last.public, "facts": [*last.public["facts"], fact]}, last.packs)
    with pytest.raises(ValueError, match=r"\$\.facts\[\d\]") as caught:
        fold(match.rules, [*before, bad])
    assert isinstance(caught.value, msgspec.ValidationError)


FIRST_USE = """
import sys, threading
from contextlib import suppress

from msgspec import ValidationError

from domain.ruleset_registry import load_shipped
from domain.errors import RuleError
from domain.kernel.schema.declarations import doc
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.decide import check_shape
from tests.rulesets import FLOWS

sys.setswitchinterval(1e-6)
catalogue = load_shipped()
rulesets = [entry.rules for entry in FLOWS] + [catalogue.get(name) for name in catalogue.names()]
together = threading.Barrier(12)


def use():
    together.wait()
    for rules in rulesets:
        answered = {"t": "answered", "seat": 1}
        assert [doc(fact) for fact in rules.decode_facts([answered])] == [answered]
        for name, kind in rules.moves.items():
            with suppress(RuleError):
                check_shape(rules, None if kind.admission.by == "engine" else 0, {"type": name})
        for name, kind in rules.frames.items():
            with suppress(ValidationError):
                Frame(1, name).context(kind)


threads = [threading.Thread(target=use) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_that_first_use_a_ruleset_end_no_process() -> None:
    """As the first requests of a server that has just begun do."""
    found = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
