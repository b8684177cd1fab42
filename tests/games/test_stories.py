"""What players read of whole games, in both languages: a line is short, says something, and says it once."""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
import pytest

from domain.bots import builder_move, deciding_seats, heuristic_move
from domain.kernel.game.in_memory_game import AnyInMemoryGame, InMemoryGame
from domain.kernel.narration.chapters import NamerAt, Section, fold_steps, narrate, turn_title
from domain.kernel.narration.outline import Figures, GameOutline, OutlineBuilder, TurnOutline, figures
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.narration.turn_digests import LEVELS, Digest, digests, render_digests, render_turn
from domain.kernel.text.grammar import parse_noun
from domain.kernel.text.message_catalog import LANGUAGES, PLACE, Texts, load_texts
from domain.types import DIRECTOR, PUBLIC
from tests.games.pages import GROUPED, Pages
from tests.games.test_texts import DOUBLED, stories
from tests.long_games import play_long_game
from tests.spec import CLUMSY

LONGEST = 350
"""Characters of a line."""
LONGEST_DIGEST = 13
"""Lines of what was won and lost in a turn, and of the result of the game."""
PLAYED = 400
"""Records of a seeded game that are read."""
HOW = {"heuristic": heuristic_move, "builder": builder_move}


@pytest.fixture(params=GROUPED)
def pages(request: pytest.FixtureRequest) -> Pages:
    found: Pages = request.param
    return found


@pytest.fixture(params=LANGUAGES)
def lang(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@functools.cache
def seeded(pages: Pages, how: str) -> AnyInMemoryGame:
    """A game by the heuristic, with few at the table, or a random one of many."""
    rules, rng = pages.rules, random.Random(11)
    match: AnyInMemoryGame = InMemoryGame(rules, rules.meta.seats[-(how == "builder")], rng.randbytes(32))
    while not match.state.over and len(match.records) < PLAYED:
        if match.state.top.engine:
            match.resolve()
            continue
        seat = rng.choice(deciding_seats(match))
        if (move := HOW[how](match, seat, rng)) is not None:
            match.play(seat, move)
    return match


@functools.cache
def rewound(pages: Pages) -> AnyInMemoryGame:
    """The first part of a game that went back now and then, once to before its last turn."""
    rules = pages.rules
    match = play_long_game(rules, rules.meta.seats[0], PLAYED // 2, rewinds=0.03)
    active = match.active_versions()
    match.rewind(active[len(active) // 2])
    return match


@functools.cache
def told(pages: Pages, lang: str, how: str) -> tuple[tuple[Section, ...], tuple[Digest, ...]]:
    """The passages and digests of one game, to whoever may read all."""
    words, match = load_texts(pages.rules.package, lang), seeded(pages, how)
    names = namer_at(pages, words)
    tale = narrate(pages.rules, match.records, DIRECTOR, words, names)
    return tuple(tale.sections), tuple(digests(pages.rules, words, names, tale))


def namer_at(_: Pages, words: Texts) -> NamerAt:
    return lambda _, powers: SeatNames(words, powers, {})


def read(pages: Pages, lang: str) -> tuple[tuple[Section, ...], tuple[Digest, ...]]:
    """Those of both games."""
    one, other = (told(pages, lang, how) for how in HOW)
    return one[0] + other[0], one[1] + other[1]


def lines(pages: Pages, lang: str) -> Iterator[str]:
    passages, short = read(pages, lang)
    for passage in passages:
        yield from passage.lines
    for digest in short:
        yield from (*digest.lines, *digest.standings)


def things(words: Texts) -> tuple[str, str]:
    """Alternatives of what is counted: in the singular, where the plural is another word, and in the plural."""
    nouns = [parse_noun(text) for key, text in words.own.items() if key.startswith("word.")]
    some = [n for n in nouns if n.plural and n.plural != n.bare]
    return "|".join(re.escape(n.bare) for n in some), "|".join(re.escape(n.plural) for n in some)


def test_a_line_is_whole_and_can_be_read_at_a_glance(pages: Pages, lang: str) -> None:
    for line in lines(pages, lang):
        assert len(line) <= LONGEST, line
        assert line == line.strip()
        assert line[-1] in ".!?", line
        assert not CLUMSY.search(line), line
        assert not DOUBLED.search(line), line
        assert not re.search(r"\( | \)|\(\W*\)|\(\d+\)| [:;!?]", line), line


def test_what_there_is_none_of_is_not_counted(pages: Pages, lang: str) -> None:
    """`0 points` are said in words, or left out."""
    one, many = things(load_texts(pages.rules.package, lang))
    none = re.compile(rf"(?<![\d.,\u00a0\u202f])0 (?:{one}|{many})\b")
    for line in lines(pages, lang):
        assert not none.search(line), line


BOUNDS = {
    "due",
    "offered",
    "excess",
    "highest",
    "limit",
    "lowest",
    "most",
    "needed",
    "wanted",
    "used",
    "missing",
    "armies",
    "divisions",
}
"""Members of refusals that are never 0: what a rule allows or asks for, and what there is too much of."""


def test_a_refusal_counts_no_nothing(pages: Pages, lang: str) -> None:
    """Where there is no piece, coin or card at all, it says so in words."""
    words = load_texts(pages.rules.package, lang)
    one, many = things(words)
    none = re.compile(rf"\b0 (?:{one}|{many})\b")
    for key, text in words.own.items():
        if key.startswith("refusal."):
            counted = {p["member"] for p in PLACE.finditer(text) if (p["form"] or "").startswith("n.")} - BOUNDS
            said = words.render(key, dict.fromkeys(counted, 0)) or ""
            assert not none.search(said), (key, said)


def test_numbers_and_what_they_count_agree(pages: Pages, lang: str) -> None:
    """One of a thing stands in the singular, two and more in the plural."""
    one, many = things(load_texts(pages.rules.package, lang))
    several = re.compile(rf"(?<![\d.,\u00a0\u202f\w-])(?!1 )[1-9]\d* (?:{one})(?![\w-])(?! [a-z]+s\b)")
    single = re.compile(rf"(?<![\d.,\u00a0\u202f\w-])1 (?:{many})(?![\w-])")
    for line in lines(pages, lang):
        assert not single.search(line), line
        assert not several.search(line), line


def test_nothing_is_told_twice_of_a_record(pages: Pages, lang: str) -> None:
    for passage in read(pages, lang)[0]:
        assert len(set(passage.lines)) == len(passage.lines), passage.lines


def test_what_spectators_may_know_is_told_in_sentences_too(pages: Pages, lang: str) -> None:
    """Of a move whose facts are hidden from them they read what was done, not the label of a button."""
    words = load_texts(pages.rules.package, lang)
    labels = tuple(f"{words.get(f'move.{move}')}." for move in pages.rules.moves)
    for how in HOW:
        match = seeded(pages, how)
        tale = narrate(pages.rules, match.records, PUBLIC, words, namer_at(pages, words))
        for line in (line for passage in tale.sections for line in passage.lines):
            assert not line.endswith(labels), line
            assert not CLUMSY.search(line), line


def test_no_line_repeats_its_heading(pages: Pages, lang: str) -> None:
    """That a turn begins is told where it stands; a line says more, such as the year."""
    words = load_texts(pages.rules.package, lang)
    for passage in read(pages, lang)[0]:
        head = turn_title(words, passage.chapter).lower()
        for line in passage.lines if head else ():
            more = re.findall(r"\w+", line.lower().replace(head, ""))
            assert head not in line.lower() or len(more) > 2, line


def test_a_digest_has_a_line_for_each_seat(pages: Pages, lang: str) -> None:
    """Also for a seat with which nothing has changed: it may be the winner's. After the first, changes are marked."""
    digests, seats = read(pages, lang)[1], 0
    for digest in digests:
        seats = len(digest.standings) if digest.chapter.turn == 1 else seats
        assert len(digest.standings) == seats
    later = [line for digest in digests if digest.chapter.turn > 1 for line in digest.standings]
    assert not later or any(re.search(r"\([+\N{MINUS SIGN}]\d", line) for line in later)


def test_a_whole_game_has_no_longer_line(pages: Pages, lang: str) -> None:
    """Of the real games of which there are logs, to their end."""
    for told in stories(pages.game, lang):
        for _, some in (section for turn in told.turns for section in turn.sections):
            for line in (line for passage in some for line in passage.lines):
                assert len(line) <= LONGEST, line


def test_a_list_names_no_ten(pages: Pages, lang: str) -> None:
    """Where all are meant, it says so; where so many are, it tells how many, or whose."""
    last = {"en": " and ", "fr": " et "}[lang]
    for line in lines(pages, lang):
        for part in re.split(r"[.;:()]", line):
            assert len(re.findall(r", (?!\d)", part)) < 9 or last not in part, line


ADDED = ("struggle_of_empires", "age_of_reason")
"""Games in which a strength is a sum."""
BY_BATTLE = ("egc",)
"""Games in which one record holds all battles of a turn, of which there may be many."""


def test_nobody_has_0_of_anything_left(pages: Pages, lang: str) -> None:
    """What is used up is said in words."""
    left = {"en": r"\b(?:has|have|with) 0\b(?! \w+ points)", "fr": r"\ben (?:reste|possède|possèdent) 0\b"}[lang]
    for line in lines(pages, lang):
        assert not re.search(left, line), line


@pytest.mark.parametrize("pages", [p for p in GROUPED if p.id not in BY_BATTLE])
def test_what_all_get_is_told_of_all_at_once(pages: Pages, lang: str) -> None:
    """A record tells no more lines of one form, names and numbers apart, than there are seats."""
    known = load_texts(pages.rules.package, lang).own
    names = sorted(
        {parse_noun(text).bare for key, text in known.items() if key.startswith("word.")}, key=len, reverse=True
    )
    name = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b|\d+")
    for passage in read(pages, lang)[0]:
        forms = Counter(name.sub("#", line) for line in passage.lines)
        assert max(forms.values(), default=0) <= pages.rules.meta.seats[-1], forms.most_common(1)


@pytest.mark.parametrize("pages", [p for p in GROUPED if p.id in ADDED])
def test_a_strength_is_the_sum_of_its_parts(pages: Pages, lang: str) -> None:
    """Who reads what decided a battle can add it up."""
    made = re.compile({"en": r"strength of (\d+): (.+)", "fr": r"force de (\d+)\s: (.+)"}[lang])
    found = [each for line in lines(pages, lang) if (each := made.search(line))]
    assert len(found) > 20
    for each in found:
        assert int(each[1]) == sum(map(int, re.findall(r"\d+", each[2]))), each[0]


def test_a_digest_can_be_read_in_a_minute(pages: Pages, lang: str) -> None:
    """Nothing that came several times is told several times."""
    for digest in read(pages, lang)[1]:
        assert len(digest.lines) <= LONGEST_DIGEST
        assert len(set(digest.lines)) == len(digest.lines)


def _render(pages: Pages, words: Texts, level: str, turn: TurnOutline, after: int, before: Sequence[Figures]) -> Digest:
    namer = namer_at(pages, words)(turn.last, turn.powers)
    return render_turn(pages.rules, words, namer, turn, level, after, before)


@pytest.mark.parametrize("after", [0, 7, 150])
def test_a_digest_from_an_outline_says_the_same(pages: Pages, after: int) -> None:
    """Also across rewinds, and for an outline that was stored on the way and then continued."""
    rules, match = pages.rules, rewound(pages)
    words = load_texts(rules.package, "fr")
    namer = namer_at(pages, words)
    for viewer in (PUBLIC, 0, DIRECTOR):
        start, steps = fold_steps(rules, match.records, viewer)
        outline, state = GameOutline(), start
        for begin in range(0, len(steps), 60):
            builder = OutlineBuilder(rules, load_texts(rules.package, "en"), viewer, outline, state)
            for record, state in steps[begin : begin + 60]:
                builder.add(record, state)
            outline = msgspec.msgpack.decode(msgspec.msgpack.encode(builder.build()), type=GameOutline)
        before = figures(rules, steps[after - 1][1]) if after else ()
        whole = narrate(rules, match.records, viewer, words, namer, after)
        for level in LEVELS:
            once = functools.partial(_render, pages, words, level)
            assert render_digests(words, namer, outline, once, after, before) == digests(
                rules, words, namer, whole, level
            ), viewer
