"""Facts of a game (EGC-16), and their assignments to the state.

Simple on purpose: a fact carries new values, the formulas are in `rules`. Public, private and hidden knowledge are
separate facts, so each viewer's state can be folded from the facts readable to it. Facts of a resolved turn carry their
`step`, P1 to P15; those of one seat are kept in its report, those for all in the news.
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
