"""What tests of texts must know of this game's words."""

from __future__ import annotations

from domain.games.imperunde.data import CANALS, CARDS, COUNTRIES, LAND_EVENTS, SEA_EVENTS, UNITS, ZONES

IDS = [
    *COUNTRIES,
    *ZONES,
    *UNITS,
    *CARDS,
    *LAND_EVENTS,
    *SEA_EVENTS,
    *CANALS,
    *"""antarctica natives insurgents peace war attacker defender armies
    combat won held called_off lost_in_storm goal turn_limit
    open counter round phase_end turn_end game_end combat_end off sprint normal long
    surplus home_tax peace_dividend colonial_tax maritime_tax interest repay borrow
    die.white die.yellow die.green die.red
    wheel.country wheel.sea wheel.land_event wheel.sea_event shuffle.deck pick.card""".split(),  # noqa: SIM905
]
"""Every id that players see: regions, pieces, cards, events, parties, outcomes, windows, options, budgets, draws."""

ALIKE = set(
    """afghanistan alaska angola annam armistice capture combat congo coup_de_main cuba fact.auto_pass_set
    fact.bonus_won fact.combat_ended fact.combat_started fact.game_won fact.land_event fact.pirates_lost
    fact.sea_event fact.sea_event.idle fact.stance_set fact.units_lost fact.units_moved.storm headline.land_event
    headline.sea_event fact.units_moved famine fort france
    item.die item.duel item.lot item.tax item.window java la_plata madagascar mozambique oregon
    panama philippines pirates portugal queensland sabotage sahara siam sprint suez sumatra tibet title tripoli
    turkestan venezuela victoria
    item.tally fact.overrides_ended""".split()  # noqa: SIM905 (a list of words)
)
"""Texts that are the same in English and French."""

SILENT = set(
    """deck_ordered hand_dealt turn_started phase_started attackers_entered attack_called_off
    weather_marked""".split()  # noqa: SIM905 (a list of words)
)
"""Facts that are not told: the heading, the rounds, the outcome or the event says it."""

QUIET = set(
    """overrides_ended posts_settled pins_removed combat_started reinforced combat_ended pirates_placed
    markers_removed units_lost pirates_lost""".split()  # noqa: SIM905 (a list of words)
)
"""Facts that say nothing where nothing has changed, or where another fact of the same act tells it."""

UNSAID: dict[str, set[str]] = {
    "attack_declared": {"units"},
    "auto_pass_set": {"windows"},
    "deck_shuffled": {"discard"},
    "relations_fixed": {"wars"},
    "hand_shown": {"cards"},
    "income_computed": {"lines"},
    "budget_applied": {"income"},
    "stance_set": {"pair", "change"},
    "relation_overridden": {"pair", "card", "by"},
    "purchase_made": {"budget"},
    "cards_bought": {"bought"},
    "part_started": {"land", "sea"},
    "units_moved": {"left", "units"},
    "armies_embarked": {"left"},
    "combat_started": {"supported", "staged", "enemies"},
    "units_chosen": {"side"},
    "round_fought": {"attacker_lost", "attacker", "defender"},
}
"""Fact -> members that its sentence leaves out: the pair of named seats, what only limits later changes and purchases,

moves that every unit of a kind has, what is told beside it, and what asides tell in another form.
"""

TERMS = {
    "stance": "position",
    "round": "manche",
    "turn": "tour",
    "phase": "phase",
    "reinforcements": "renforts?",
    "(?:the|this) combat": "(?:le|au|du|ce) combat",
    "marker": "disque",
    "goal": "objectif",
    "trading posts?": "comptoir commercial|comptoirs commerciaux",
    "draw pile": "pioche",
    "discard pile": "défausse",
    "surplus": "excédent",
    "debt": "dette",
    "colon(?:y|ies)": "colonies?",
    "storms?": "tempêtes?",
    "event": "événement",
    "tax": "impôt",
}
"""English term of the game -> its only French one, both as patterns; a text has both or none."""

FOREIGN = {
    "en": ["window"],
    "fr": ["fenêtre", "round"],
}
"""Language -> words for a thing that has another name here; the names of pieces and cards may hold them."""

APART = {"label.for_combat", "word.combat", "label.bag_size"}
"""Labels and names that hold a word of TERMS in one language alone: another thing, or a place."""

TWINS: list[str] = []
"""Patterns of ids, all of which may have one name: the same card of each power, or a tile named after a region."""

LEFT_UNSAID = {
    "active": "the heading and the move tell who is at turn",
    "combat.*": "the attack tells its forces, and each round what is left of them",
    "countries.*.fresh_posts": "new posts are established together, in one sentence",
    "countries.*.owner": "colonies of the set-up are told as received",
    "countries.*.units*": "the board splits units by moves left and by capture; what comes and goes is told",
    "zones.*.fleets.*": "the board splits units by moves left and by capture; what comes and goes is told",
    "discard": "the cards played are told, and so is a new draw pile",
    "nations.*.ledger.*": "the income tells its parts, and the interest without its sign",
    "nations.*.received": "the income of each turn is told",
    "nations.*.spent.*": "the limits of a turn end with it",
    "pairs.*.override.by": "the card is told with its player",
    "pairs.*.stances": "a stance is told as it is set, and by the talks",
    "phase": "the heading tells it",
    "struck": "the events are told, and so is where they end",
}
"""Changes on the board that no sentence tells, as patterns of their places -> why."""

UNMET = set(
    """pick.seats whole.choose_units whole.unready""".split()  # noqa: SIM905 (a list of words)
)
"""A treaty of others, large combats, and a flag taken back are seldom."""
