"""What tests of texts must know of this game's words."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import MARKERS, POWERS, REGIONS, TILES, UNITS

IDS = [
    *REGIONS,
    *POWERS,
    *MARKERS,
    *TILES,
    *UNITS,
    *"""grey white state pop slaves player neutral development trade alliance europe colony home
    attacker defender tie naval land support defeat seven arrives lost turned_back
    bid income upkeep attack buy_tile build move_unit colonize enslave setup alliances actions over
    choose random fixed hidden open
    first_player marker power sea sea.second battle.attacker battle.defender""".split(),  # noqa: SIM905
]
"""Every id that players see: pieces, sides, kinds, stages, causes, results, phases, options and what is drawn."""

ALIKE = set(
    """action actions af_angola alliances attacked.player ba_holstein ca_bahamas ca_cuba ca_curacao
    ca_saint_domingue ei_java ei_philippines ei_sumatra fact.battle_rolled fact.turn_ended fact.unit_moved
    fact.war_ended fort france gauchos gs_brunswick gs_cologne gs_hesse_cassel in_hyderabad in_mysore
    item.part na_iroquois naples navigation ot_belgrade pirates pop portugal principal.attacker
    principal.defender sa_bahia sa_la_plata
    item.tally fact.token_removed""".split()  # noqa: SIM905 (a list of words)
)
"""Texts that are the same in English and French."""

SILENT = {"combat_ended", "unrest_revealed"}
"""Facts that are not told: what a combat has brought says that it is over, and the final table tells all unrest."""

QUIET = {"turn_ended", "round_ended", "gold_received", "population_grown", "region_scored", "losses_chosen"}
"""Facts that say nothing where another tells the same: of all seats at once, or what comes next."""

UNSAID: dict[str, set[str]] = {
    "markers_drawn": {"markers"},
    "empire_drawn": {"markers"},
    "bid_passed": {"passes"},
    "action_taken": {"action"},
    "gold_given": {"side"},
    "region_scored": {"seat", "vp", "total"},
    "battle_rolled": {"stage", "attacker", "defender", "totals"},
    "battle_resolved": {"losses"},
    "loan_taken": {"left"},
    "unit_moved": {"moves"},
    "alliance_tiles_assigned": {"side"},
    "losses_chosen": {"side"},
    "withdrawal_answered": {"item"},
}
"""Fact -> members that its sentence leaves out: counts for the flow, sides and items that the seat or unit tells,

what an action is used for, which the next fact tells, what asides hold in another form,
and gold that the payment for which it was borrowed tells at once.
"""

TERMS = {
    "nav(?:y|ies)": "navires?",
    "round": "manche",
    "war": "guerre",
    "tiles?": "tuiles?",
    "control token": "jetons? de contrôle",
    "unrest": "insatisfaction",
    "stock": "réserve commune",
    "supply": "réserve(?! commune)",
    "auction": "enchère",
    "marker": "marqueur",
    "battle": "combat",
    "loss(?:es)?": "pertes?",
    "home country": "pays de départ",
    "alliance": "alliance",
}
"""English term of the game -> its only French one, both as patterns; a text has both or none."""

FOREIGN = {
    "en": ["natural"],
    "fr": ["round"],
}
"""Language -> words for a thing that has another name here; the names of pieces and cards may hold them."""

APART = {"label.combat"}
"""Labels and names that hold a word of TERMS in one language alone: another thing, or a place."""

TWINS = ["ottoman_empire|ottoman_alliance", "slave_trade|slaves"]
"""Patterns of ids, all of which may have one name: the same card of each power, or a tile named after a region."""

LEFT_UNSAID = {
    "alliances.*": "those of a War end with it",
    "auction.*": "the bids and passes are told",
    "bag_size": "the markers that are drawn are told",
    "boxed.*": "a tile that leaves the game is told without a number",
    "empires.*.reserve": "the tokens placed and removed are told",
    "empires.*.tokens.*": "the set-up tells the markers by region, and a marker is a token",
    "opener": "the end of a War tells it by the turn order",
    "phase": "the heading tells it",
    "stock.*": "tiles taken and returned are told without their numbers in the stock",
    "turn.moved.*": "the moves are told",
}
"""Changes on the board that no sentence tells, as patterns of their places -> why."""

UNMET = set(
    """ask.alliance_tile ask.build_militia.to ask.choices ask.naval ask.use_blockade.use ask.save
    ask.fighting_withdrawal.use ask.then_to
    pick.choices pick.save pick.then_to.none whole.assign_alliance_tiles whole.build_militia whole.choose_loss
    whole.enslave whole.fighting_withdrawal whole.use_blockade""".split()  # noqa: SIM905 (a list of words)
)
"""Combats with allies, and tiles that bots seldom own: texts of moves, questions and options that few games come to."""
