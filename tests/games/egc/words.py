"""What tests of texts must know of this game's words."""

from __future__ import annotations

from domain.games.egc.data import DOC, LINKS, SEAS, STRAITS, TECHNOLOGIES, TERRITORIES
from domain.games.egc.facts import FACTS
from domain.games.egc.moves import ACTIONS, ARMY_ORDERS
from domain.kernel.schema.declarations import member_names

IDS = [
    *[*TERRITORIES, *SEAS, *STRAITS, *LINKS, *TECHNOLOGIES, *ACTIONS, *ARMY_ORDERS],
    *(f"N-{t.id}" for t in TERRITORIES.values() if t.home_of is None),
    *(x["id"] for s in ("empires", "infrastructure", "casus_belli") for x in DOC[s]["items"]),
    *[*DOC["relations"]["ladder"], *DOC["relations"]["special"]],
    *"""neutral active dormant eliminated
    setup turn_zero turn_zero_timed orders resolving finished
    count tie_order neutral_morale neutral_training neutral_naval neutral_siege neutral_infra
    defender_order retreat""".split(),  # noqa: SIM905 (a list of words)
]
"""Every id that players see: places, armies, kinds, levels, actions, states of an empire, phases and what is drawn."""

ALIKE = set(
    """administration afghanistan alaska alliance angola bechuanaland brz congo cuba deccan deccan_malacca
    division exploration fact.proposal_answered fact.proposal_made fact.protection_ended fact.protectorate_ended
    fortification france gabon gabon_mozambique guatemala item.built java kazakhstan kenya madagascar malacca
    mozambique nicaragua niger nigeria nunavut oman ontario order.order_army oregon panama paraguay philippines
    point port portugal prairies queensland siam sumatra tahiti tanganyika texas texas_panama tibet turkestan
    ukraine ukraine_turkestan venezuela fact.game_ended fact.armies_marched fact.armies_drilled item.level
    item.strength""".split()  # noqa: SIM905 (a list of words)
)
"""Texts that are the same in English and French."""

SILENT = {"neutrals_set", "resolution_started", "turn_started"}
"""Facts that are not told: battles have told what becomes of neutral armies; the heading stands where it begins."""

QUIET = {"sheet_opened", "armies_marched", "armies_drilled", "technology_settled", "manned_set"}
"""Facts that tell what has changed, and say nothing where nothing has."""

_UNSAID: dict[str, set[str]] = {
    "neutrals_dealt": {"garrisons", "ranks", "levels"},
    "game_set_up": {"ports"},
    "sheet_opened": {"controls"},
    "order_filed": {"order"},
    "armies_marched": {"armies", "seat"},
    "victory_counted": {"points", "realised", "failed", "vp"},
    "supply_lost": {"left"},
    "finance_settled": {"left"},
    "game_ended": {"treasuries", "tie_order"},
    "technology_settled": {"points", "ranks", "investments"},
    "manned_set": {"manned"},
    "empire_founded": {"points", "next_army", "ranks"},
    "sheet_carried_out": {"armies", "levels", "links", "investments"},
    "combat_fought": {"seat", "winning", "goes", "significant"},
    "army_turned_back": {"seat"},
    "territory_conquered": {"turn"},
    "armies_drilled": {"seat", "trained", "rested"},
    "protectorate_given": {"turn"},
    "protectorate_installed": {"turn"},
    "territory_protected": {"turn"},
    "proposal_made": {"seat", "proposal"},
    "proposal_answered": {"seat", "proposal"},
    "casus_belli_gained": {"seat"},
}

UNSAID = {kind: {"step"} & member_names(fact) | _UNSAID.get(kind, set()) for kind, fact in FACTS.items()}
"""Fact -> members that its sentence leaves out: the step of the resolution, which the order of the facts shows.

The turn that is being resolved; the reader of a copy, where armies and empires are named; the name of a proposal, which
its two empires tell; what follows from it tells, or the final table; what orders said when they were filed, and points
that the allotment tells.
"""

TERMS = {
    "connections?": "liaisons?",
    "round": "manche",
    "turn": "tour",
    "casus belli": "casus belli",
    "sheet": "feuille",
    "rank": "rang",
    "revenue": "revenu",
    "strait": "détroit",
    "proposal": "proposition",
    "protectorate": "protectorat",
    "morale": "moral",
    "quality": "qualité",
    "protection": "protection",
    "count": "décompte",
    "dormant": "endormis?",
    "upkeep": "entretien",
    "relation": "relation",
}
"""English term of the game -> its only French one, both as patterns; a text has both or none."""

FOREIGN = {
    "en": ["link"],
    "fr": ["round", "tirage"],
}
"""Language -> words for a thing that has another name here; the names of pieces and cards may hold them."""

APART = {"word.english_channel", "word.bosphorus"}
"""Labels and names that hold a word of TERMS in one language alone: another thing, or a place."""

TWINS: list[str] = []
"""Patterns of ids, all of which may have one name: the same card of each power, or a tile named after a region."""

LEFT_UNSAID = {
    "armies.*": "the set-up fills the map; later a list that is too long tells the number of territories alone",
    "lands.*.port": "the set-up tells the number of ports",
    "news.*": "they are the sentences of the turn in another form",
    "phase": "the heading tells it",
    "relations.*": "a broken relation is told in other words than its level has on the board",
}
"""Changes on the board that no sentence tells, as patterns of their places -> why."""

UNMET = set(
    """pick.links.none whole.choose_links whole.resign""".split()  # noqa: SIM905 (a list of words)
)
"""Connections are chosen after a count, late in a game, and nobody is offered to resign."""
