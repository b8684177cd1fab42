"""What tests of texts must know of this game's words."""

from __future__ import annotations

from domain.games.age_of_reason.data import CARDS, MARKERS, POWERS, REGIONS, SPACES

IDS = [
    *REGIONS,
    *POWERS,
    *MARKERS,
    *SPACES,
    *CARDS,
    *"""upper lower attacker defender tie setup coalitions actions finished
    choose random fixed auction table examples
    first_player power marker opener coalition battle.attacker battle.defender unrest""".split(),  # noqa: SIM905
]
"""Every id that players see: pieces, coalitions, sides, phases, options and what is drawn."""

ALIKE = set(
    """af_angola ba_holstein ca_bahamas ca_cuba ca_curacao ca_saint_domingue ei_java ei_philippines ei_sumatra
    fact.auction_opened fact.battle_rolled fact.discard_counted finance france gauchos
    gs_brunswick gs_cologne gs_hesse_cassel in_hyderabad in_mysore item.part na_iroquois naples ot_belgrade
    ottomans portugal sa_bahia sa_la_plata
    item.tally fact.token_removed""".split()  # noqa: SIM905 (a list of words)
)
"""Texts that are the same in English and French."""

SILENT: set[str] = {"game_turn_started", "opener_drawn", "card_taken_up", "hire_taken_back", "battle_ended"}
"""Facts that are not told: the heading stands where a turn begins; who opens the first auction is told as it is opened.

What a battle has brought says that it is over. That an answer was taken back is told of the move, to its seat
as to all others.
"""

QUIET = {"turn_ended", "commit_closed", "discard_counted", "gold_received", "region_scored"}
"""Facts that say nothing where another tells the same: of all seats at once, or what comes next."""

UNSAID: dict[str, set[str]] = {
    "markers_drawn": {"markers"},
    "commit_closed": {"laid"},
    "empire_drawn": {"markers"},
    "bid_passed": {"passes"},
    "region_scored": {"seat", "vp", "total"},
    "battle_revealed": {"cards"},
    "battle_rolled": {"attacker", "defender", "strength"},
    "loan_taken": {"left"},
    "marker_converted": {"attacks"},
    "attack_declared": {"defender", "asked"},
    "battle_resolved": {"difference"},
}
"""Fact -> members that its sentence leaves out: counts for the flow, the seat that the power tells,

what asides hold in another form, gold that the payment for which it was borrowed tells at once, and the difference of
the strengths told just before.
"""

TERMS = {
    "round": "phase",
    "game turn": "tour de jeu",
    "space": "case",
    "coalition": "coalitions?",
    "discard": "défausse",
    "battle": "bataille",
    "marker": "marqueur",
    "auction": "enchère",
    "action board": "tableau des actions",
    "control tokens?": "jetons? de contrôle",
}
"""English term of the game -> its only French one, both as patterns; a text has both or none."""

FOREIGN = {
    "en": [],
    "fr": ["round"],
}
"""Language -> words for a thing that has another name here; the names of pieces and cards may hold them."""

APART = {"word.coalitions"}
"""Labels and names that hold a word of TERMS in one language alone: another thing, or a place."""

TWINS = [r"[a-z_]+_\d+s\d+n(?:_[ab])?", r"[a-z_]+_bluff", r"[a-z_]+_alliance"]
"""Patterns of ids, all of which may have one name: the same card of each power, or a tile named after a region."""

LEFT_UNSAID = {
    "action_board.*": "all tokens come back at the end of a game turn, which is told in a sentence for all spaces",
    "auction.*": "the bids and passes are told",
    "bag_size": "the markers that are drawn are told",
    "battle.*": "the attack, its cards and its dice are told as they come",
    "coalitions.*": "the end of the game turn dissolves them, in a sentence",
    "empires.*.action_tokens": "all tokens come back at the end of a game turn, in a sentence for all spaces",
    "empires.*.hand_size": "the set-up gives all cards, and discards are told with their numbers",
    "empires.*.reserve": "the tokens placed and removed are told",
    "phase": "the heading tells it",
    "turn.attacks_made": "the second attack of a round is told as such",
}
"""Changes on the board that no sentence tells, as patterns of their places -> why."""

UNMET: set[str] = set()
"""The bots come to every kind of move and question."""
