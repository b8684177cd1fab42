"""What tests of texts must know of this game's words."""

from __future__ import annotations

from domain.games.seven_empires.data import ACTIONS, CARDS, DEALS, EMPIRES, REGIONS, SETUPS, SLOTS, TILES, UNITS
from domain.games.seven_empires.moves import DEPLOY_MODES
from domain.games.seven_empires.state import MODES

IDS = [
    *REGIONS,
    *EMPIRES,
    *UNITS,
    *ACTIONS,
    *CARDS,
    *DEALS,
    *SETUPS,
    *TILES,
    *MODES,
    *SLOTS,
    *DEPLOY_MODES,
    *"random tray A B C city land sea flags crowns unit crown border power_point".split(),  # noqa: SIM905
]
"""Every id that players see: regions, empires, pieces, cards, tiles, modes, slots, options, letters, counted things."""

ALIKE = set(
    """azov berlin bilbao bordeaux breslau budapest constantinople empire fact.palace_built france
    fact.city_built item.gain kiev konigsberg konya liverpool lyon madrid marseille naples paris
    portugal position_1 position_2
    position_3 position_4 position_5 position_6 prague strasbourg title trieste york
    fact.markers_shifted""".split()  # noqa: SIM905 (a list of words)
)
"""Texts that are the same in English and French."""

SILENT = {"movement_begun", "fleets_done", "turn_ended"}
"""Facts that are not told: what can be moved stands there already, or has just been deployed; an army that moves

tells that no ship does any more; the next turn is told as it begins.
"""

QUIET = {"monarchs_assigned", "movement_ended", "markers_shifted"}
"""Facts that tell what has changed, and say nothing where nothing has."""

UNSAID: dict[str, set[str]] = {
    "marker_placed": {"mode"},
    "starting_units_placed": {"units"},
    "units_deployed": {"units"},
    "units_reduced": {"units"},
    "monarchs_assigned": {"monarchs"},
    "markers_shifted": {"markers"},
    "power_scored": {"points", "why"},
    "game_scored": {"ranking", "points"},
    "flag_placed": {"region", "replaced"},
    "ship_moved": {"to"},
    "army_moved": {"to"},
}
"""Fact -> members that its sentence leaves out.

They are the mode, which the beginning of the turn has told; the end of a path or of steps that are told one by one;
what asides and gathered facts tell in another form, or the final table.
"""

TERMS = {
    "decade": "décennie",
    "flags?": "drapeaux?",
    "influence": "influence",
    "hourglass tiles?": "tuiles? sablier",
    "crown": "couronne",
    "palace": "palais",
    "monarch": "monarque",
    "pile": "pile",
    "supply": "réserve",
    "worker": "ouvrier",
    "cit(?:y|ies)": "villes?|urbaine",
    "turn": "tour",
    "neutral": "neutre",
    "position": "position",
    "marker": "marqueur",
}
"""English term of the game -> its only French one, both as patterns; a text has both or none."""

FOREIGN = {
    "en": ["stock"],
    "fr": [],
}
"""Language -> words for a thing that has another name here; the names of pieces and cards may hold them."""

APART = {"label.discard"}
"""Labels and names that hold a word of TERMS in one language alone: another thing, or a place."""

TWINS: list[str] = []
"""Patterns of ids, all of which may have one name: the same card of each power, or a tile named after a region."""

LEFT_UNSAID = {
    "empires.*.acted": "each empire can act again in the next decade",
    "empires.*.flags_left": "the flags on the map tell how many are left",
    "empires.*.markers.*": "the slots follow from the decade; that a marker lies or is back is told",
    "empires.*.supply.*": "the units on the map tell how many are left",
    "influence.*": "the cards taken are told, and their numbers are on the table of influence",
    "movement.*": "what can still move is a matter of the action, and the moves are told",
    "turn.actor": "who acts is told with the action",
}
"""Changes on the board that no sentence tells, as patterns of their places -> why."""

UNMET = set(
    """whole.choose_defender""".split()  # noqa: SIM905 (a list of words)
)
"""A unit is chosen only where artillery meets several kinds."""
