"""What a seat can ask for: every type of move with its fields, the decision it answers, and its rule (IMP-16)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from domain.games.imperunde.data import UNITS, WARSHIPS
from domain.games.imperunde.state import WINDOWS
from domain.ids import Json
from domain.kernel.ruleset import MoveType
from domain.kernel.shapes import ANY_INT, Bool, Fault, Int, ListOf, Null, Obj, Shape, Word, variants

FOREVER = "game_end"
UNTIL = ("phase_end", "turn_end", FOREVER)
"""How long a standing pass lasts (IMP-11.8)."""
SAFE = ("diplomacy", "open_window", "investment", "movement", "embarkation")
"""Frames at which any seat may send a safe card (IMP-11.2)."""
WINDOW_FRAMES = tuple(f"{kind}_window" for kind in WINDOWS)

_ID = Word()
_COUNT = Int()
_LOT: Mapping[str, Shape] = {"unit": _ID, "count": _COUNT, "moves_left": Int(optional=True)}
_LOTS = ListOf(Obj(_LOT))
_ARMIES = ListOf(Obj({"unit": _ID, "count": _COUNT}))
_PATH = ListOf(_ID, 2)
_GROUPS = ListOf(Obj({**_LOT, "path": _PATH}))


@dataclass(frozen=True)
class _Purchase(Obj):
    """`zone` is given for warships and only for them; an item that does not exist may have it or not (IMP-6.4.2)."""

    def fault(self, value: Json, at: str) -> Fault | None:
        """None when the value fits."""
        fields = dict(self.fields)
        item = value.get("item") if isinstance(value, dict) else None
        if item in WARSHIPS:
            fields["zone"] = _ID
        elif not isinstance(item, str) or item not in UNITS:
            fields["zone"] = Word(optional=True)
        return Obj(fields).fault(value, at)

    def schema(self) -> dict[str, Json]:
        """JSON Schema 2020-12."""
        afloat = Obj({**self.fields, "item": Word(WARSHIPS), "zone": _ID})
        ashore = Obj({**self.fields, "item": Word(tuple(u for u in UNITS if u not in WARSHIPS))})
        return {"oneOf": [afloat.schema(), ashore.schema()]}


CARD_FIELDS: Mapping[str, Mapping[str, Shape]] = {
    "armistice": {"target_seat": ANY_INT},
    "treason": {},
    "filibuster": {"zone": _ID},
    "pirates": {"zone": _ID},
    "coup_de_main": {},
    "declaration_of_war": {"target_seat": ANY_INT},
    "ambush": {},
    "surprise_attack": {},
    "forged_naval_orders": {"target_seat": ANY_INT, "from": _ID, "to": _ID},
    "forged_march_orders": {"target_seat": ANY_INT, "from": _ID, "to": _ID, "units": _LOTS},
    "smuggling": {"country": _ID, "purchases": ListOf(_Purchase({"item": _ID, "quantity": _COUNT}), 1)},
    "sabotage": {"target_seat": ANY_INT, "zone": _ID, "unit": _ID},
    "peace_treaty": {"seats": ListOf(ANY_INT, 2, 2)},
    "plunder": {"country": _ID},
    "rebellion": {"country": _ID},
    "unmask_spies": {"target_seat": ANY_INT, "reveal": Bool(optional=True)},
    "counter_espionage": {},
    "capture": {"target_seat": Int(-(2**31), 2**31, optional=True)},
}
"""Card -> its parameters (IMP-9.4)."""

_EQUIP = variants("choice", {"frigate": {"zone": _ID}, "armies": {"units": _ARMIES}})
_AT_SEA_OR_LAND = ("movement", "fair_wind")

MOVES: dict[str, MoveType] = {
    "place_home_fleet": MoveType(Obj({"frigate": _ID, "ship_of_the_line": _ID}), ("setup_fleet",), rule="IMP-5.3"),
    "equip_colony": MoveType(_EQUIP, ("setup_colony",), rule="IMP-5.4"),
    "set_stance": MoveType(
        Obj({"target": ANY_INT, "stance": Word(("peace", "war"))}), ("diplomacy",), "both", rule="IMP-6.2.2"
    ),
    "propose_goal": MoveType(Obj({"goal": ANY_INT}), ("diplomacy",), "both", rule="IMP-6.2.4"),
    "vote_goal": MoveType(Obj({"approve": Bool()}), ("goal_vote",), rule="IMP-6.2.4"),
    "ready": MoveType(Obj(), ("diplomacy",), "both", rule="IMP-6.2.5"),
    "unready": MoveType(Obj(), ("diplomacy",), "both", rule="IMP-6.2.5"),
    "set_budget": MoveType(
        Obj({"repay": _COUNT, "borrow": _COUNT}), ("budget",), "both", ("repay", "borrow"), rule="IMP-6.3.3"
    ),
    "buy": MoveType(_Purchase({"item": _ID, "quantity": _COUNT, "country": _ID}), ("investment",), rule="IMP-6.4.2"),
    "build_canal": MoveType(Obj({"canal": _ID}), ("investment",), rule="IMP-6.4.4"),
    "buy_cards": MoveType(Obj({"quantity": _COUNT}), ("investment",), rule="IMP-6.4.5"),
    "end_investments": MoveType(Obj(), ("investment",), rule="IMP-6.4.1"),
    "move": MoveType(Obj({"units": _LOTS, "path": _PATH}), _AT_SEA_OR_LAND, rule="IMP-7.2"),
    "attack": MoveType(
        Obj({"target": _ID, "groups": _GROUPS, "pass_window": Bool(optional=True)}), _AT_SEA_OR_LAND, rule="IMP-8.1.1"
    ),
    "choose_units": MoveType(Obj({"units": _LOTS}), ("choose_units",), rule="IMP-8.2.1"),
    "reinforce": MoveType(Obj({"groups": _GROUPS}), ("reinforce",), rule="IMP-8.3.1"),
    "end_movement": MoveType(Obj(), ("movement",), rule="IMP-6.6.3"),
    "embark": MoveType(Obj({"from": _ID, "zone": _ID, "units": _LOTS}), ("embarkation",), rule="IMP-6.7.1"),
    "end_embarkation": MoveType(Obj(), ("embarkation",), rule="IMP-6.7.1"),
    "end_fair_wind": MoveType(Obj(), ("fair_wind",), rule="IMP-10.7"),
    "play_card": MoveType(variants("card", CARD_FIELDS), by="any", rule="IMP-9.1"),
    "choose_stolen_card": MoveType(
        Obj({"card": Null(_ID)}), ("theft",), hidden=("card",), undo=False, rule="IMP-9.4.16"
    ),
    "pass": MoveType(
        Obj({"until": Word(UNTIL, optional=True), "for_combat": Bool(optional=True)}),
        WINDOW_FRAMES,
        hidden=("*",),
        anonymous=True,
        rule="IMP-11.3",
    ),
    "set_auto_pass": MoveType(
        Obj({"windows": ListOf(Word(WINDOWS), 1), "until": Word((*UNTIL, "off"))}),
        by="any",
        hidden=("*",),
        anonymous=True,
        rule="IMP-11.8",
    ),
}
