"""The news of whole games, as a seat reads them at each of its decisions."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from api.documents.presentations import load_presentation
from api.pages.common.labels import Labels
from api.pages.common.presentation import is_bookkeeping
from api.pages.table.gazette import Gazette, NewsLine, find_news
from api.pages.table.table_page import TablePage
from domain.kernel.narration.battle_texts import tell_battle
from domain.kernel.narration.chapters import fold_steps
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.records.audience import ALL_KEY, may_read
from domain.kernel.rules.battles import Battle, BattleSide
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.types import DIRECTOR, Doc
from projections.documents import add_text, build_battles, build_entries
from tests.games.pages import ALL, GROUPED, Pages
from tests.games.test_stories import seeded

READ, LOOKED_AT = 160, 40
"""Records of a game that are read, and of them at each decision."""

DEEDS = {
    *("territory_conquered", "country_conquered", "marker_removed", "marker_taken", "flag_placed", "war_declared"),
    *("tile_taken", "purchase_made", "cards_bought", "bid_made", "bid_passed", "unit_built", "city_built"),
    *("turn_ended", "part_ended", "investments_ended", "war_ended", "game_turn_ended", "army_moved", "units_moved"),
}
"""Facts of which the news tell before they keep any books; attacks are told by their battles."""


@functools.cache
def entries_of(pages: Pages) -> Sequence[Doc]:
    """The entries of seat 0, with their sentences and with what these need."""
    rules, words = pages.rules, load_texts(pages.rules.package, "en")
    records = seeded(pages, "heuristic").records[:READ]
    state, steps = fold_steps(rules, records, DIRECTOR)
    found = []
    for record, after in steps:
        before, loaded = (
            cast(Any, SimpleNamespace(rules=rules, game=SimpleNamespace(state=s))) for s in (state, after)
        )
        parts = build_entries(record, before, loaded)
        own = [part for key, part in parts.items() if key != ALL_KEY and may_read(key, 0)]
        entry = {**parts[ALL_KEY], **({"own": own} if own else {})}
        names = SeatNames(words, rules.powers(after), {})
        battle_parts = {name: entry[name] for name in ("asides", "powers")}
        found.append({**add_text(rules, entry, words, names), **battle_parts})
        state = after
    return found


def read_news(pages: Pages) -> Iterator[tuple[TablePage, Sequence[Doc], Gazette]]:
    """The news at each record of seat 0, with the entries before it, from its second one on."""
    rules, entries = pages.rules, entries_of(pages)
    words = load_texts(rules.package, "en")
    own = [n for n, each in enumerate(entries) if each["kind"] == "moved" and each["seat"] == 0]
    for n in own[1:]:
        seen = entries[max(n - LOOKED_AT, 0) : n]
        names = SeatNames(words, {int(seat): power for seat, power in seen[-1]["powers"].items()}, {})
        page = TablePage("g", "0", (), {"status": "running"}, {"own": {}}, 0, Labels(rules, words, names))
        battles = build_battles(rules, seen, words, functools.partial(_same, names))
        news = find_news(page, seen, cast(Any, battles))
        assert news is not None
        yield page, seen, news


def _same(names: SeatNames, _: Doc) -> SeatNames:
    return names


@pytest.mark.parametrize("pages", GROUPED)
def test_the_own_deed_leads_and_bookkeeping_comes_last(pages: Pages) -> None:
    """At each decision: the first line is of the own last move, and each deed of the others stands before any books."""
    read = 0
    for page, entries, news in read_news(pages):
        lines = [*news.lines, *news.others]
        facts = {line: (fact, entry) for entry in entries for line, fact in page.tell_facts(entry)}
        assert len(news.lines) <= 4
        if not news.is_report:
            own = max((each["version"] for each in entries if each["seat"] == 0), default=0)
            told = page.tell(next(each for each in entries if each["version"] == news.since + 1))
            assert news.since + 1 >= own
            assert lines[0].is_own
            assert {lines[0].text, *(lines[0].battle.doc["sentences"] if lines[0].battle else ())} & {*told}
        kinds = [kind_of(page, line, facts) for line in lines[0 if news.is_report else 1 :]]
        assert 2 not in kinds or 0 not in kinds[kinds.index(2) :], [line.text for line in lines]
        read += 1
    assert read > 3 or pages.game == "egc", "its sheets are sealed"


def kind_of(page: TablePage, line: NewsLine, facts: dict[str, tuple[Doc | None, Doc]]) -> int:
    """0 for a deed, 1 for anything between, 2 for bookkeeping. What a battle's card tells may follow it."""
    fact, entry = facts.get(line.text, (None, {}))
    if line.is_against:
        return 1
    if line.battle or (fact and fact["t"] in DEEDS and "region" not in fact):
        return 0
    return 1 if fact is None or not is_bookkeeping(page.labels.rules.package, fact, entry["facts"]) else 2


@pytest.mark.parametrize("pages", ALL, ids=lambda pages: pages.game)
def test_declared_bookkeeping_is_of_facts_with_sentences(pages: Pages) -> None:
    """No deed is among it, and no name that the game does not have."""
    declared = load_presentation(pages.rules.package)["news"]
    words = load_texts(pages.rules.package, "en")
    assert all(words.get(f"fact.{name}") for name in declared["bookkeeping"])
    assert not DEEDS & {*declared["bookkeeping"]}
    assert {*declared.get("unless", {})} <= {*declared["bookkeeping"]}
    assert all(words.get(f"fact.{name}") for name in declared.get("losses", ()))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_battle_is_one_sentence_with_its_losses(lang: str) -> None:
    words = load_texts("domain.games.struggle_of_empires", lang)
    sides = BattleSide(0, [[1, 2]]), BattleSide(1, [[3, 3]])
    sides[0].lose("army", 2)
    sides[1].lose("control_token")
    battle = Battle(4, "india", *sides, winner="attacker", is_open=False)
    told = tell_battle(words, SeatNames(words, {0: "russia", 1: "prussia"}, {}), battle)["told"]
    lost = {"en": "losing 2 armies; Prussia loses 1 control token.", "fr": "en perdant 2 armées ; la Prusse perd"}
    begun = {"en": "Russia attacks Prussia in India and wins, ", "fr": "La Russie attaque la Prusse en Inde et gagne, "}
    assert told.replace("\N{NARROW NO-BREAK SPACE}", " ").startswith(begun[lang] + lost[lang])


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_battle_says_what_decided_it(lang: str) -> None:
    """Strengths, and what the dice add to them; or forces where there are no strengths."""
    words = load_texts("domain.games.struggle_of_empires", lang)
    names = SeatNames(words, {0: "russia", 1: "prussia"}, {})
    sides = BattleSide(0, [[1, 1]], 4, [{"part": "own", "value": 4}]), BattleSide(1, [[6, 3]], 7)
    sides[1].reasons = [{"part": "spread", "value": 3}, {"part": "own", "value": 4}]
    told = tell_battle(words, names, Battle(4, "india", *sides, winner="defender", is_open=False))["told"]
    figures = {"en": "is beaten, 4 to 7 (the dice add 0 and 3).", "fr": "échoue, 4 à 7 (les dés ajoutent 0 et 3)."}
    assert told.endswith(figures[lang])
    sides = BattleSide(0, [[1]], force=Counter(army=5)), BattleSide(1, [[3]], force=Counter(army=2))
    told = tell_battle(words, names, Battle(4, "india", *sides, winner="attacker", is_open=False))["told"]
    forces = {"en": "with 5 armies against 2 armies", "fr": "avec 5 armées contre 2 armées"}
    assert forces[lang] in told


def tell_made(game: str, power: str, entries: Sequence[Doc], battles: Sequence[Doc] = ()) -> Gazette:
    """The news of seat 0 from entries made by hand."""
    rules = next(pages.rules for pages in ALL if pages.game == game)
    words = load_texts(rules.package, "en")
    labels = Labels(rules, words, SeatNames(words, {0: power}, {}))
    news = find_news(TablePage("g", "0", (), {"status": "running"}, {"own": {}}, 0, labels), entries, battles)
    assert news is not None
    return news


def make_entry(version: int, seat: int | None, *told: tuple[str, Doc]) -> Doc:
    """An entry: its sentences, each with its fact."""
    text, facts = [line for line, _ in told], [fact for _, fact in told]
    made = {"version": version, "kind": "resolved" if seat is None else "moved", "seat": seat, "facts": facts}
    return {**made, "text": text, "tells": [*range(len(told))], "chapter": {"turn": 1}}


def test_deeds_of_others_against_the_visitor_are_in_sight() -> None:
    """Among many others: what it lost, and a proposal to it, in order of time and with a mark."""
    far = [(f"Portugal conquers {n}.", {"t": "territory_conquered", "seat": 3}) for n in range(9)]
    against = [
        ("Spain conquers Korea from Japan.", {"t": "territory_conquered", "seat": 2, "loser": 0}),
        ("Japan loses 298,500 to usury.", {"t": "finance_settled", "seat": 0, "usury": 298_500}),
        ("Spain proposes a better relation to Japan.", {"t": "proposal_made", "sender": 2, "target": 0}),
    ]
    told = (*far[:5], *against, *far[5:], ("Japan receives 4.", {"t": "finance_settled", "seat": 0, "usury": 0}))
    news = tell_made("egc", "japan", [make_entry(1, 0, ("Japan moves.", {"t": "x"})), make_entry(2, None, *told)])
    short = "Usury \N{MINUS SIGN}298,500: unspent money wears away."
    assert [(line.text, line.is_against, line.is_own) for line in news.lines][:3] == [
        (line, True, False) for line in (against[0][0], short, against[2][0])
    ]
    assert against[1][0] in [line.text for line in news.others], "the account itself is folded"


def test_own_battles_lead_the_report_of_a_turn() -> None:
    """Before the money lost, with its reason, and before deeds of others."""
    fight = "Japan attacks the neutrals in Korea and fails.", {"t": "combat_fought", "territory": "korea"}
    usury = "Japan loses 298,500 to usury.", {"t": "finance_settled", "seat": 0, "usury": 298_500}
    far = "Portugal conquers Kenya.", {"t": "territory_conquered", "seat": 3}
    sides = [{"seat": 0, "who": None, "dice": []}, {"seat": None, "who": "neutral", "dice": []}]
    card = {"version": 2, "region": "korea", "winner": None, "open": False, "told": fight[0], "sides": sides}
    entries = [make_entry(1, 0, ("Japan moves.", {"t": "x"})), make_entry(2, None, far, usury, fight)]
    news = tell_made("egc", "japan", entries, [{**card, "sentences": [fight[0]]}])
    assert news.is_report
    assert [line.text for line in news.lines][:2] == [
        fight[0],
        "Usury \N{MINUS SIGN}298,500: unspent money wears away.",
    ]


def test_the_own_battle_stands_before_the_answer_to_it() -> None:
    """Also where both cost the same in the same region: their sentences are equal."""
    loss = "Britain loses 1 army.", {"t": "unit_lost", "seat": 0, "unit": "army", "region": "german_states"}
    own = "Britain attacks Baden.", {"t": "attack_declared", "seat": 0}
    answer = "Prussia attacks Britain.", {"t": "attack_declared", "seat": 1}
    sides: list[Doc] = [{"seat": seat, "who": None, "dice": []} for seat in (0, None, 1, 0)]
    fought = [
        {"version": n, "region": "german_states", "winner": None, "open": False, "told": told[0], **part}
        for n, told, part in (
            (1, own, {"sides": sides[:2], "sentences": [own[0], loss[0]]}),
            (2, answer, {"sides": sides[2:], "sentences": [answer[0], loss[0]]}),
        )
    ]
    entries = [make_entry(1, 0, own, loss), make_entry(2, 1, answer, loss)]
    news = tell_made("struggle_of_empires", "britain", entries, fought)
    assert [(line.text, line.is_against) for line in news.lines] == [(own[0], False), (answer[0], True)]
