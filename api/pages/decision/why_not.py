"""Reasons for values missing from a question: the seat's own dry runs of moves with such a value.

One answer decides if every tried move is refused for the same reason. A page then tells it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from api.http import i18n
from api.http.problems import CODES
from api.pages.common.collation import collation_key
from api.pages.common.geometry import load_geometry
from api.pages.common.in_process import Answer
from api.pages.common.labels import Labels
from api.pages.common.owners import find_values
from api.pages.common.presentation import load_lists, load_widgets
from api.pages.decision.move_choices import MOST_WHOLE_MOVES, Builder, BuilderState, Pick, WholeMove, dump, parse
from api.pages.decision.order_sheet import list_moves
from domain.kernel.schema.json_schema import schema_of
from domain.kernel.text.message_catalog import Message
from domain.types import Doc, Json

_MOST_ANSWERS = 40
"""Most answers given to complete a move."""

_NO_REASONS = ("malformed_move", "unknown_move", "not_offered")
"""Refusals for the form of a move."""

_ALLOWED = Message("The rules allow this now, but it is no answer to this question.")
_IMPOSSIBLE = Message("Nothing of this kind is possible now.")
_DEPENDS = Message("No single answer decides this: it depends on your other answers.")

_HELD = ""
"""Field of the things in the hand: no question has asked for them yet."""

_IN_HAND = Message("What you hold")
_USED = "You can use this now, in these moves: {kinds}."
_UNUSED = Message("None of your moves uses this now.")

_WORDS = ("-", "--")
"""Words without meaning in samples of moves."""

Missing = Sequence[tuple[str, Sequence[tuple[str, str]]]]
"""Name of each kind, with its values: as sent by a form, and in words."""


@dataclass(frozen=True)
class Reason:
    """The answer to a person: a refusal by the rules, or a sentence if no single answer decides."""

    label: str
    refusal: Doc | None = None
    sentence: str = ""


def list_missing(
    labels: Labels,
    board: Doc,
    step: BuilderState,
    whole: Sequence[WholeMove] = (),
    opened: Sequence[BuilderState] = (),
) -> Missing:
    """Return the values missing from the open question: those of its field, kinds of moves, and things in the hand.

    `whole`: the moves offered in its place; `opened`: the next questions on the same page. Things in the hand are of
    the first question alone.
    """
    choice = step.choice
    if choice is None or choice["kind"] == "range":
        return []
    field, offered = choice["field"], [option["value"] for option in choice["options"]]
    found = {field: _list_alike(labels, board, field, offered)}
    for name, values in _list_further(opened).items():
        found.setdefault(name, _list_alike(labels, board, name, values))
    kinds = [pick for pick in step.picks.trail if pick.field == "type"]
    if not kinds and field != "type":  # the decision has one kind of move
        found["type"] = _list_types(labels, _list_admitted(labels, board))
    elif kinds and kinds[0].forced:
        found["type"] = _list_types(labels, [kinds[0].value])
    shown = []
    for name, values in found.items():
        words = [(dump([name, value]), labels.option(name, value)) for value in values]
        words.sort(key=lambda word: collation_key(word[1]))
        shown += [(labels.question(name, values[0]), words)] if words else []
    if all(pick.forced for pick in step.picks.trail):
        known = {*find_words(offered), *find_words([parse(move.path) for move in whole])}
        known.update(value for values in found.values() for value in values if isinstance(value, str))
        held = [(dump([_HELD, value]), labels.option("", value)) for value in _list_held(labels, board, known)]
        shown += [(_say(_IN_HAND), held)] if held else []
    return shown


def _list_further(opened: Sequence[BuilderState]) -> Mapping[str, list[Json]]:
    """Return field -> offered values of the next questions."""
    found: dict[str, list[Json]] = {}
    for step in opened:
        choice = step.choice or {}
        found.setdefault(choice["field"], []).extend(option["value"] for option in choice["options"])
    return found


def _list_held(labels: Labels, board: Doc, known: Container[str]) -> list[str]:
    """Return the things in the visitor's hand, apart from known ones."""
    return [word for word in _find_hand(labels, board) if word not in known]


def _find_hand(labels: Labels, board: Doc) -> Mapping[str, None]:
    """Return the things in the visitor's hand, in their order. A game without hands has none."""
    own = {"own": board.get("own")}
    places = [doc["at"] for doc in load_widgets(labels.rules.package) if doc["widget"] == "hand"]
    hands = [hand for at in places for _, hand in find_values(own, at)]
    items = {value for values in load_lists(labels.rules.package) for value in values}
    return {word: None for word in find_words(hands) if word in items}


def list_closed_kinds(labels: Labels, board: Doc, missing: Missing) -> Sequence[tuple[str, str]]:
    """Return the missing kinds of moves of the open decision, unless there are many."""
    admitted = [dump(["type", name]) for name in _list_admitted(labels, board)]
    found = [(sent, label) for _, values in missing for sent, label in values if sent in admitted]
    return found if len(found) <= MOST_WHOLE_MOVES else []


def _list_admitted(labels: Labels, board: Doc) -> list[str]:
    """Return all kinds of moves of the open decisions."""
    deciding = {decision["kind"] for decision in board.get("decisions", ())}
    moves = labels.rules.moves.items()
    return [name for name, kind in moves if not kind.admission.at or deciding.intersection(kind.admission.at)]


def _list_alike(labels: Labels, board: Doc, field: str, offered: Sequence[Json]) -> list[Json]:
    """Return the missing values of the same kind as the offered ones."""
    if field == "type":
        return _list_types(labels, offered)
    if labels.is_seat(field) and all(isinstance(value, int) for value in offered):
        return [seat for seat in {**labels.names.powers, **labels.names.people} if seat not in offered]
    words = {value for value in offered if isinstance(value, str)}
    geometry = load_geometry(labels.rules.package)
    lists = [tuple(geometry.regions)] if geometry else []
    lists += load_lists(labels.rules.package)
    alike = next((values for values in lists if words.issubset(values)), ()) if words else ()
    for some in (_find_hand(labels, board), set(find_words(board.get("own")))):
        if words.issubset(some):  # the cards of a hand, not those of the game
            return [value for value in alike if value in some and value not in words]
    return [value for value in alike if value not in words]


def _list_types(labels: Labels, offered: Sequence[Json]) -> list[Json]:
    moves = labels.rules.moves.items()
    return [name for name, kind in moves if kind.admission.by != "engine" and name not in offered]


def find_words(value: Json) -> Iterator[str]:
    """Yield every word in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from find_words(each)


def find_reason(builder: Builder, board: Doc, step: BuilderState, asked: Json) -> Reason | Answer | None:
    """Return the reason for a missing value, a refusal by the service itself, or None.

    `asked`: a value as `list_missing` sends it; None for any other.
    """
    opened = [] if builder.list_whole_moves(step) else [after for _, after in builder.next_questions(step)]
    known = [sent for _, values in list_missing(builder.labels, board, step, (), opened) for sent, _ in values]
    if not isinstance(asked, list) or dump(asked) not in known:
        return None
    field, value = asked
    label = builder.labels.option(field, value)
    if field == _HELD:
        return _find_use(builder, step, label, value)
    starts = [each for each in opened if (each.choice or {}).get("field") == field] or [step]
    completed = (move for start in starts for move in _complete_moves(builder, start, field, value))
    moves = _sample_moves(builder.labels, value) if field == "type" else list(completed)
    return _try_moves(builder, step, label, moves, is_type=field == "type")


def _find_use(builder: Builder, step: BuilderState, label: str, value: str) -> Reason | Answer:
    """Return the kinds of moves with a thing in the hand, or the reason why all moves go without it."""
    told = builder.list_moves(step.picks)
    if told.status >= 400:
        return told
    moves = told.doc["moves"]
    if kinds := dict.fromkeys(builder.labels.option("type", move["type"]) for move in moves if _has(move, {value})):
        return Reason(label, sentence=_say(Message(_USED, kinds="; ".join(kinds))))
    alike = {each for values in load_lists(builder.labels.rules.package) if value in values for each in values}
    with_others = [move for move in moves if _has(move, alike)]
    changed = [_put_alike(move, alike, value) for move in [*with_others[:1], *with_others[1:][-1:]]]
    tried = [move for move in changed if move]
    if tried:
        return _try_moves(builder, step, label, tried)
    is_sure = told.doc["count"] == len(moves) and not with_others
    return Reason(label, sentence=_say(_UNUSED if is_sure else _DEPENDS))


def _has(move: Doc, words: Container[str]) -> bool:
    return any(word in words for name, value in move.items() if name != "type" for word in find_words(value))


def _put_alike(move: Doc, alike: Container[str], value: str) -> Doc | None:
    """Return the move with a thing in place of the only one alike, or None."""
    others = {word for name, part in move.items() if name != "type" for word in find_words(part) if word in alike}
    return _put_value(move, "", others.pop(), value) if len(others) == 1 else None


def _try_moves(
    builder: Builder, step: BuilderState, label: str, moves: Sequence[Doc], is_type: bool = False
) -> Reason | Answer:
    """Return the reason from dry runs of moves. `is_type`: their kind is in question, and all else is a sample."""
    answers = [builder.preview(step.picks.decision, list_moves(builder.labels, step.picks, move)) for move in moves]
    if faulty := next((each for each in answers if each.code in CODES), None):
        return faulty
    causes = {dump([each.code, each.doc.get("figures") if is_type else None]) for each in answers}
    if any(each.status < 400 for each in answers):
        return Reason(label, sentence=_say(_ALLOWED))
    if len(causes) == 1 and answers[0].code not in _NO_REASONS:
        return Reason(label, answers[0].doc)
    return Reason(label, sentence=_say(_IMPOSSIBLE if is_type else _DEPENDS))


def _say(message: Message) -> str:
    return i18n.translate(message, i18n.request_language())


def _complete_moves(builder: Builder, step: BuilderState, field: str, value: Json) -> list[Doc]:
    """Return legal moves, completed from the first and the last option, with the value in its place."""
    found: list[Doc] = []
    options = [option["value"] for option in (step.choice or {}).get("options", ()) if option["value"] is not None]
    for picked in [*options[:1], *options[1:][-1:]]:
        move = _complete_move(builder, step, picked)
        changed = _put_value(move, field, picked, value) if move else None
        found += [changed] if changed and changed not in found else []
    return found


def _complete_move(builder: Builder, step: BuilderState, picked: Json) -> Doc | None:
    """Return a move after the picks and this one, or None. It ends as early as it may."""
    for number in range(_MOST_ANSWERS):
        choice = step.choice
        if choice is None:
            break
        options = choice.get("options", ())
        early = sorted(options, key=lambda option: not option.get("ends") and option["value"] is not None)
        answers = [each["value"] for each in early]
        if number == 0:
            answers = [picked, *[each for each in answers if each != picked]]
        if choice["kind"] == "range":
            answer = choice["lo"]
        else:
            answer = answers[0] if choice["kind"] == "one" else answers[: max(choice["lo"], number == 0)]
        step = builder.go_on(step, Pick(choice["field"], answer))
    return step.move


def _put_value(move: Doc, field: str, picked: Json, value: Json) -> Doc | None:
    """Return the move with a value in place of the picked one, or None if its place is not plain."""
    if move.get(field) == picked:
        return move | {field: value}
    places = list(_find_places(move, picked))
    return _replace_at(move, places[0], value) if len(places) == 1 else None


def _find_places(doc: Json, picked: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of a value in a move, apart from its type."""
    if isinstance(doc, dict | list):
        for key, each in doc.items() if isinstance(doc, dict) else enumerate(doc):
            yield from _find_places(each, picked, (*path, key))
    elif doc == picked and path != ("type",):
        yield path


def _replace_at(doc: Json, path: tuple[str | int, ...], value: Json) -> Json:
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(doc, dict):
        return {name: _replace_at(each, rest, value) if name == step else each for name, each in doc.items()}
    return [_replace_at(each, rest, value) if place == step else each for place, each in enumerate(doc)]


def _sample_moves(labels: Labels, name: str) -> list[Doc]:
    """Return two moves of a kind with nothing else in common: a refusal of both alike is one of the kind."""
    schema = schema_of(labels.rules.moves[name])
    samples = [_sample(schema, schema.get("$defs", {}), n) | {"type": name} for n in range(2)]
    return samples[:1] if samples[0] == samples[1] else samples


def _sample(schema: Doc, parts: Mapping[str, Doc], n: int) -> Json:
    """Return the `n`-th value of the form of a schema, 0 or 1, with the required members alone."""
    if "$ref" in schema:
        return _sample(parts[schema["$ref"].rpartition("/")[2]], parts, n)
    if "enum" in schema:
        return schema["enum"][-n]
    if "anyOf" in schema:
        return _sample(schema["anyOf"][0], parts, n)
    kind = schema.get("type")
    if kind == "object":
        members = schema.get("properties", {})
        return {name: _sample(members[name], parts, n) for name in schema.get("required", ())}
    if kind == "array":
        least = int(schema.get("minItems", 0))
        return [_sample(schema["items"], parts, each % 2) for each in range(max(least, 2 * n))]
    numbers = {"integer": max(int(schema.get("minimum", 0)), 0) + n, "boolean": bool(n)}
    return numbers.get(str(kind), _WORDS[n])
