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
    item.gain item.removed kiev konigsberg konya liverpool lyon madrid marseille naples paris portugal position_1
    position_2 position_3 position_4 position_5 position_6 prague strasbourg title trieste york""".split()  # noqa: SIM905 (a list of words)
)
"""Texts that are the same in English and French."""

SILENT = {"movement_begun", "fleets_done", "turn_ended", "markers_shifted"}
"""Facts that are not told: what can be moved stands there already, or has just been deployed; an army that moves

tells that no ship does any more; the next turn is told as it begins; markers change alike after each decade.
"""

QUIET = {"monarchs_assigned", "movement_ended"}
"""Facts that tell what has changed, and say nothing where nothing has."""

UNSAID: dict[str, set[str]] = {
    "marker_placed": {"mode"},
    "starting_units_placed": {"units"},
    "units_deployed": {"units"},
    "monarchs_assigned": {"monarchs"},
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
