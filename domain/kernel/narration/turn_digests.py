"""Digests of turns: their outlines in a language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from domain.kernel.narration.chapters import NamerAt, Narration, OfficerCommand
from domain.kernel.narration.outline import Figures, GameOutline, TurnEnd, TurnOutline, figures, outline_narration
from domain.kernel.narration.sentences import fact_sentences, record_sentences, with_count
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import AnyRuleset, Chapter, Ruleset
from domain.kernel.text.message_catalog import SeatNamer, Texts
from domain.types import Doc

MINUS = "\N{MINUS SIGN}"

LEVELS = ("brief", "full")
"""Levels of detail of a digest."""

MOST_LINES = 12
"""Most lines of gains and losses in a brief digest of a turn; the result of the game is one more."""


@dataclass(frozen=True)
class Digest:
    """Result of a turn, or of its narrated part."""

    chapter: Chapter
    first: int
    last: int
    """Version of the last record."""
    lines: tuple[str, ...]
    """Gains and losses."""
    standings: tuple[str, ...]
    """Figures of each seat at the end, with the difference to the previous turn."""
    rulings: tuple[str, ...] = ()
    """Commands of officers, with their author and reason."""
    figures: tuple[Figures, ...] = ()
    """Figures of each seat at the end, as numbers: `points` and the ruleset's own."""


def digests(
    rules: Ruleset[S], texts: Texts, namer_at: NamerAt, narration: Narration[S], level: str = LEVELS[0]
) -> list[Digest]:
    """Return one digest for each narrated turn, as `render_digests` does."""
    before = figures(rules, narration.states[narration.first]) if narration.first else ()
    return outline_digests(rules, texts, namer_at, outline_narration(rules, narration), before, level)


def outline_digests(
    rules: AnyRuleset,
    texts: Texts,
    namer_at: NamerAt,
    outline: GameOutline,
    before: Sequence[Figures] = (),
    level: str = LEVELS[0],
) -> list[Digest]:
    """Return one digest for each turn of an outline; `before` are the figures before its first version."""

    def render(turn: TurnOutline, after: int, earlier: Sequence[Figures]) -> Digest:
        return render_turn(rules, texts, namer_at(turn.last, turn.powers), turn, level, after, earlier)

    return render_digests(texts, namer_at, outline, render, before=before)


RenderTurn = Callable[[TurnOutline, int, Sequence[Figures]], Digest]
"""Function from a turn, the version before its first one to show and the figures then to its digest (`render_turn`)."""


def render_digests(
    texts: Texts,
    namer_at: NamerAt,
    outline: GameOutline,
    render: RenderTurn,
    after: int = 0,
    before: Sequence[Figures] = (),
) -> list[Digest]:
    """Return one digest for each turn after a version with these figures, without undone records.

    Commands of officers are told although they were undone: moved deadlines and removed players stay.
    """
    commands = [
        (command.chapter, command.version, _command_lines(texts, namer_at, command))
        for command in outline.commands
        if command.version > after
    ]
    out = []
    for turn in outline.turns:
        if turn.number and turn.last > after:
            rulings = tuple(line for chapter, _, lines in commands if chapter.turn == turn.number for line in lines)
            digest = render(turn, after, before)
            out.append(replace(digest, rulings=rulings) if rulings else digest)
            before = digest.figures
    return _with_other_rulings(out, commands)


def _command_lines(texts: Texts, namer_at: NamerAt, command: OfficerCommand) -> tuple[str, ...]:
    """Return the lines about an officer's command, without its effects."""
    namer = namer_at(command.version, command.powers)
    return tuple(record_sentences(texts, namer, command.kind, command.seat, command.members))


def render_turn(
    rules: AnyRuleset,
    texts: Texts,
    namer: SeatNamer,
    turn: TurnOutline,
    level: str,
    after: int,
    before: Sequence[Figures],
) -> Digest:
    """Return the digest of a turn after a version, without commands of officers; `namer` is that of its last version.

    `brief`: at most MOST_LINES gains and losses, without weightless ones. `full`: all.
    """
    end = turn.end or TurnEnd((), {}, is_over=False, result=None)
    result = texts.render("line.result", end.result, namer) if end.result else None
    facts = [fact for part in turn.parts if part.version > after for fact in part.headlines]
    lines = _digest_lines(rules, texts, result, list(_render_headlines(rules, texts, namer, facts)), level)
    seats = range(len(end.figures))
    told = (_standing(texts, namer, seat, end.figures, before, end.is_over) for seat in seats)
    first, chapter = turn.find_first(after)
    return Digest(chapter, first, turn.last, lines, tuple(filter(None, told)), (), end.figures)


def _with_other_rulings(found: list[Digest], commands: Sequence[tuple[Chapter, int, tuple[str, ...]]]) -> list[Digest]:
    """Return the digests with the commands of officers of turns without one: of undone turns, and of the set-up."""
    turns = {each.chapter.turn for each in found}
    others = [command for command in commands if command[0].turn not in turns and command[2]]
    if not others:
        return found
    lines = tuple(line for *_, some in others for line in some)
    if found:
        return [*found[:-1], replace(found[-1], rulings=(*lines, *found[-1].rulings))]
    (chapter, first, _), (_, last, _) = others[0], others[-1]
    return [Digest(chapter, first, last, (), (), lines)]


@dataclass(frozen=True)
class Headline:
    """Line for a digest, with the kind of its fact."""

    kind: str
    text: str


def _render_headlines(rules: AnyRuleset, texts: Texts, namer: SeatNamer, facts: Sequence[Doc]) -> Iterator[Headline]:
    """Yield the lines of a turn for a digest: `headline.<kind>` if there is such a text, else the sentences."""
    for fact in rules.gather_headlines(facts):
        kind = str(fact["t"])
        key = f"headline.{kind}"
        own = texts.get(key) is not None
        said = (texts.render(key, fact, namer) or "").split("\n") if own else fact_sentences(texts, namer, [fact])
        yield from (Headline(kind, line) for line in said if line)


def _digest_lines(
    rules: AnyRuleset, texts: Texts, result: str | None, headlines: Sequence[Headline], level: str
) -> tuple[str, ...]:
    """Return the result and the headlines as lines, repeated ones counted.

    In brief, these are the most important headlines, in the order of the game.
    """
    kinds = {line.text: line.kind for line in headlines if level == "full" or line.kind not in rules.meta.weightless}
    counts = Counter(line.text for line in headlines if line.text in kinds)
    kept = list(counts)
    if level == "brief" and len(kept) > MOST_LINES:
        order = rules.meta.headlines.index
        important = set(sorted(kept, key=lambda text: order(kinds[text]))[: MOST_LINES - 1])
        kept = [text for text in kept if text in important]
    lines = [with_count(texts, text, counts[text]) for text in kept]
    rest = len(counts) - len(kept)
    more = texts.render("line.more", {"rest": rest}) if rest else None
    return tuple(filter(None, [result, *lines, more]))


def _standing(
    texts: Texts, namer: SeatNamer, seat: int, now: Sequence[Figures], before: Sequence[Figures], over: bool
) -> str | None:
    old = before[seat] if before else {}
    more = {key: _signed(value - old[key]) for key, value in now[seat].items() if value != old.get(key, value)}
    return texts.render("standing", {"seat": seat, **now[seat], "more": more, "over": over}, namer)


def _signed(number: int) -> str:
    return f"+{number}" if number > 0 else f"{MINUS}{-number}"
