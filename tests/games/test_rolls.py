"""Every die that is rolled in front of all is told by the sentences of its record."""

from __future__ import annotations

import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import pytest

from domain.kernel.game.game_fold import initial_game
from domain.kernel.narration.chapters import narrate
from domain.kernel.narration.template_context import public_dice
from domain.kernel.records import export
from domain.kernel.records.record import Record, facts_for
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.types import DIRECTOR, PUBLIC
from tests.games.pages import GROUPED, Pages
from tests.games.test_stories import HOW, namer_at, rewound, seeded
from tests.games.test_texts import LOGS
from tests.spec import reads_all_dice


def rolls(record: Record) -> Iterator[tuple[str, int]]:
    """Label and value of each die in the public part of a record; cards, wheels and lots are no dice."""
    for _, label, span, value, *_ in record.public.get("draws", ()):
        if isinstance(span, list):
            yield label, value


def games(pages: Pages) -> Iterator[Sequence[Record]]:
    """The records of games of bots, of one that went back, and of those that are kept as files."""
    for how in HOW:
        yield seeded(pages, how).records
    yield rewound(pages).records
    for path in LOGS:
        found = export.parse(lzma.decompress(path.read_bytes()))
        if found.ruleset == pages.rules.meta.ruleset:
            yield found.records


def numbers(words: Texts, lines: Sequence[str]) -> Counter[int]:
    """The numbers in sentences, of those that are told at once as often as they happened."""
    found: Counter[int] = Counter()
    for line in lines:
        times = next((n for n in range(2, 13) if (begin := words.get(f"line.times.{n}")) and line.startswith(begin)), 1)
        for number in re.findall(r"\d+", line):
            found[int(number)] += times
    return found


@pytest.mark.parametrize("pages", GROUPED)
def test_sentences_read_each_die_once(pages: Pages) -> None:
    """A die that is passed over would be told of another roll."""
    for records in games(pages):
        start = initial_game(pages.rules, records[0]).state
        before = {0: start, 1: start}
        for record in records:
            known = before[record.body["to"] if record.kind == "rewound" else record.version - 1]
            assert not pages.rules.roll_readers or reads_all_dice(pages.rules, known, record)
            before[record.version] = pages.rules.fold(known, facts_for(record, DIRECTOR))


@pytest.mark.parametrize("pages", GROUPED)
def test_a_die_in_a_pack_is_no_public_one(pages: Pages) -> None:
    """Of two worlds with the same public part and other packs, the sentences for all read the same dice."""
    other = [[0, "die.white", [1, 6], 5], [1, "battle.attacker", [1, 6], 6]]
    for records in games(pages):
        for record in records:
            packs = {key: {**pack, "draws": other} for key, pack in record.packs.items()}
            changed = Record(record.public, packs | {"[0]": {"draws": other}})
            assert public_dice(pages.rules, changed) == public_dice(pages.rules, record)
            assert public_dice(pages.rules, Record({**record.public, "draws": []}, packs)) in ([], ())


@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("pages", GROUPED)
def test_public_dice_can_be_read_in_sentences_of_the_record(pages: Pages, lang: str) -> None:
    words, untold = load_texts(pages.rules.package, lang), defaultdict[str, list[str]](list)
    for records in games(pages):
        lines = defaultdict[int, list[str]](list)
        for section in narrate(pages.rules, records, PUBLIC, words, namer_at(pages, words)).sections:
            lines[section.version] += section.lines
        for record in records:
            told = numbers(words, lines[record.version])
            for label, value in rolls(record):
                if not told[value]:
                    untold[f"{label} in {record.kind}"].append(f"{record.version}: {value} {lines[record.version]}")
                told[value] -= 1
    assert not untold, "\n".join(f"{kind} {len(some)}: {some[:3]}" for kind, some in untold.items())
