"""What can become true in a game (EGC-16), and what each fact assigns.

Dumb on purpose: a fact carries new values, the formulas are in `rules`. What is public, what is one seat's own and what
is nobody's are facts of their own, so that each viewer's state can be folded from what it may read. Facts of a resolved
turn carry their `step`, P1 to P15; those of one seat are kept in its report, those for all in the news.
"""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.egc.facts import armies, opening, realm, relations, sheets
from domain.games.egc.state import Egc
from domain.kernel.schema.declarations import Fact

FACTS: Mapping[str, type[Fact[Egc]]] = {
    **opening.FACTS,
    **sheets.FACTS,
    **armies.FACTS,
    **realm.FACTS,
    **relations.FACTS,
}
