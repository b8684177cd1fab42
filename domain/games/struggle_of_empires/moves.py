"""What a seat can ask for: every type of move with its fields, the decision it answers, and its rule (SOE-22)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from domain.games.struggle_of_empires.data import RAIDERS, TILES, UNITS
from domain.ids import MAX_INT, Json
from domain.kernel.ruleset import MoveType
from domain.kernel.shapes import ANY_INT, Bool, Fault, Int, ListOf, Null, Obj, Shape, Word, variants

_ID = Word()
_UNIT = Word(UNITS)

_OFFER = Obj(
    {
        "seat": ANY_INT,
        "gold": ANY_INT,
        "min_armies": Int(-MAX_INT, MAX_INT, optional=True),
        "min_navies": Int(-MAX_INT, MAX_INT, optional=True),
    }
)
"""Negative numbers have a code of their own here, `invalid_ask` (SOE-8.1.2)."""

_REQUEST: Mapping[str, Shape] = {
    "ask": ListOf(ANY_INT, optional=True),
    "offers": ListOf(_OFFER, optional=True),
}

_TARGET = variants(
    "kind",
    {
        "player": {"seat": Int(optional=True)},
        "neutral": {"marker": Word(optional=True)},
        "pirates": {},
        "slave_revolt": {},
    },
)
"""A missing field or unknown kind is `invalid_target`, so neither is required here (SOE-8.1.2)."""

_ATTACK: Mapping[str, Shape] = {
    "region": _ID,
    "target": _TARGET,
    "surprise": Bool(optional=True),
    **_REQUEST,
}

_RAID: Mapping[str, Shape] = {"region": Word(optional=True), "target_seat": Int(optional=True)}

_USES: Mapping[str, Mapping[str, Shape]] = {
    "war_office": {"attack": Obj(_ATTACK)},
    "mercenaries": {"to": _ID},
    "pressgangs": {"to": _ID},
    "trained_natives": {"region": _ID, "then_to": Null(_ID, optional=True)},
    "diplomatic_service": {"alliance_tile": _ID},
    "blockade": {"region": _ID},
    **{t.id: {"region": Word(optional=True)} for t in TILES.values() if t.group == "trade"},
}


@dataclass(frozen=True)
class _Withdrawal(Obj):
    """`save` names whose unit is saved: required with `use`, not a field without (SOE-8.10.1)."""

    def fault(self, value: Json, at: str) -> Fault | None:
        """None when the value fits."""
        using = isinstance(value, dict) and value.get("use") is True
        return Obj({"use": Bool(), "save": Int()} if using else {"use": Bool()}).fault(value, at)

    def schema(self) -> dict[str, Json]:
        """JSON Schema 2020-12."""
        yes: dict[str, Json] = {"use": {"const": True}, "save": Int().schema()}
        no: dict[str, Json] = {"use": {"const": False}}
        return {
            "oneOf": [
                {"type": "object", "properties": p, "required": list(p), "additionalProperties": False}
                for p in (yes, no)
            ]
        }


def _in_turn(rule: str, fields: Obj) -> MoveType:
    return MoveType(fields, ("turn",), rule=rule)


MOVES: dict[str, MoveType] = {
    "choose_power": MoveType(Obj({"power": _ID}), ("choose_power",), rule="SOE-3.3"),
    "place_unit": MoveType(Obj({"unit": _UNIT, "region": _ID}), ("place_units",), rule="SOE-3.6"),
    "bid": MoveType(Obj({"amount": ANY_INT, "a": Null(Int()), "b": Null(Int())}), ("auction_bid",), rule="SOE-6.3"),
    "pass_bid": MoveType(Obj(), ("auction_bid",), rule="SOE-6.3"),
    "pass": _in_turn("SOE-7.3.1", Obj()),
    "buy_tile": _in_turn("SOE-7.4.1", variants("tile", {t: _RAID if t in RAIDERS else {} for t in TILES})),
    "build": _in_turn("SOE-7.5.1", Obj({"unit": _UNIT, "to": _ID})),
    "build_militia": _in_turn("SOE-7.5.4", Obj({"to": _ID})),
    "move_unit": _in_turn("SOE-7.6.2", Obj({"unit": _UNIT, "from": _ID, "to": _ID, "new_action": Bool(optional=True)})),
    "colonize": _in_turn("SOE-7.8.1", Obj({"marker": _ID})),
    "enslave": _in_turn("SOE-7.8.2", Obj({"marker": _ID})),
    "attack": _in_turn("SOE-8.1.1", Obj(_ATTACK)),
    "use_tile": _in_turn("SOE-9.3.1", variants("tile", {t: _USES.get(t, {}) for t in TILES})),
    "support": MoveType(Obj({"armies": Int(), "navies": Int()}), ("support",), rule="SOE-8.3.2"),
    "request_support": MoveType(Obj(_REQUEST), ("request_support",), rule="SOE-8.3.4"),
    "naval_choice": MoveType(Obj({"fight": Bool()}), ("naval_choice",), rule="SOE-8.4.2"),
    "assign_alliance_tiles": MoveType(Obj({"naval": ListOf(_ID)}), ("assign_alliance_tiles",), rule="SOE-8.5.1"),
    "use_blockade": MoveType(Obj({"use": Bool()}), ("use_blockade",), rule="SOE-8.6.1"),
    "reserve": MoveType(Obj({"use": Bool()}), ("reserve",), rule="SOE-8.7.1"),
    "choose_loss": MoveType(
        Obj({"choices": ListOf(Obj({"seat": Int(), "unit": _UNIT}))}), ("choose_loss",), rule="SOE-8.9.2"
    ),
    "fighting_withdrawal": MoveType(_Withdrawal(), ("fighting_withdrawal",), rule="SOE-8.10.1"),
}
