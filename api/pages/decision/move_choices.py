"""Questions of the move builder on a page: picks in hidden fields, forced answers, and short lists of whole moves."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock

import msgspec
from cachetools import LRUCache
from flask import request

from api.http.i18n import request_language, translate
from api.http.problems import Problem
from api.pages.common.collation import collation_key
from api.pages.common.in_process import Answer, ask
from api.pages.common.labels import Labels, capital
from api.pages.common.numbers import parse_number
from api.pages.common.presentation import load_form, load_groups, load_usual
from domain.kernel.narration.move_sentences import number_alike
from domain.kernel.text.message_catalog import Message
from domain.types import MAX_INT, Doc, Json

MOST_WHOLE_MOVES = 12
"""Most moves that are offered whole, and most options in a list without groups."""

MOST_AHEAD = 24
"""Most moves whose picks come with the first answer of the builder."""

MOST_CLOSED = 16
"""Most options of a question whose next answers are listed with it."""

MOST_OPENED = 30
"""Most options in a list with the next answers in it."""

LONG_LABEL, LONG_COST = 30, 14
"""Most characters of a label, and of a cost, in a narrow button."""

MOST_MOVES = 1000
"""Most moves in a list of all."""

MOST_PICKS = 400
"""Most picks in a form."""

MOST_AT = 4
"""Most regions and pieces that one answer is about."""

KEPT_BYTES = 4 << 20
"""Bytes of answers of the builder kept in a process."""

ENTRY_BYTES = 400
"""Bytes of an entry of a cache without its value, roughly: a note that picks were asked has little else."""

_WHAT = Message("What do you do?")

_OTHER = Message("Something else")

_FREE = Message("free of charge")

_COUNTED = re.compile(r"(\d+) (.+)")

LEAST_COUNTED = 5
"""Least options with their common unit in the question."""

_KEY = re.compile(r"[A-Za-z0-9_-]{16,64}", re.ASCII)

_answers: LRUCache[bytes, bytes] = LRUCache(KEPT_BYTES, getsizeof=lambda answer: ENTRY_BYTES + len(answer))
_lock = Lock()


@dataclass(frozen=True)
class Pick:
    """An answer to the question of a field. The rules left no choice for a forced one."""

    field: str
    value: Json
    forced: bool = False

    @classmethod
    def from_json(cls, sent: Json) -> Pick:
        """Return a pick of a form. Raise Problem for a form of others."""
        if not isinstance(sent, list) or len(sent) != 3 or not isinstance(sent[0], str):
            raise Problem("form_stale")
        return cls(sent[0][:60], sent[1], bool(sent[2]))


@dataclass(frozen=True)
class Picks:
    """Answers so far, the decision that they answer, and the key of the move to come."""

    decision: str
    key: str
    trail: tuple[Pick, ...] = ()
    replaces: int | None = None
    """Number of the order that the move takes the place of."""
    at: tuple[str, ...] = ()
    """Regions and pieces chosen on the map: the next answer is about all of them."""

    @classmethod
    def from_form(cls) -> Picks:
        """Return the picks in the submitted form with its newest answer. Raise Problem for a form that is not ours."""
        key, sent, form = request.form.get("key", ""), parse(request.form.get("picks", "[]")), request.form
        asked = form.get("field", "")[:60]
        if not isinstance(sent, list) or len(sent) > MOST_PICKS or not _KEY.fullmatch(key):
            raise Problem("form_stale")
        number = parse_number(form.get("replaces", ""), 999_999)
        at = tuple(each[:60] for each in form.get("at", "").split()[:MOST_AT])
        picks = cls(form.get("decision", "")[:40], key, tuple(map(Pick.from_json, sent)), number, at)
        if "start" in form:
            return picks.turn_to(form["start"][:60])
        if "back" in form:
            return picks.step_back()
        if "path" in form:
            path = parse(form["path"])
            if not isinstance(path, list):
                raise Problem("form_stale")
            return picks.add(*map(Pick.from_json, path))
        if "several" in form:
            return picks.add(Pick(asked, [parse(each) for each in form.getlist("some")]))
        if newest := form.get("pick"):
            return picks.add(Pick(asked, parse(newest)))
        if not (typed := form.get("number")):
            return picks
        answer = parse_number(typed, MAX_INT, -MAX_INT)  # people type 05
        if answer is None:
            raise Problem("form_stale")
        return picks.add(Pick(asked, answer))

    @property
    def values(self) -> list[Json]:
        """Return the answers for the move builder."""
        return [pick.value for pick in self.trail]

    def add(self, *picks: Pick) -> Picks:
        """Return the picks with more answers."""
        return replace(self, trail=(*self.trail, *picks), at=())

    def turn_to(self, place: str) -> Picks:
        """Return the picks with one more region or piece of the map, or without it if it was chosen before."""
        kept = self.at[: self.at.index(place)] if place in self.at else (*self.at, place)
        return replace(self, at=kept)

    def step_back(self) -> Picks:
        """Return the picks without the last answer that was chosen, and without the forced ones after it.

        What was chosen on the map comes before them.
        """
        if self.at:
            return replace(self, at=self.at[:-1])
        trail = list(self.trail)
        while trail and trail.pop().forced:
            pass
        return replace(self, trail=tuple(trail))

    def to_json(self) -> str:
        """Return the answers for a hidden field."""
        return dump([[pick.field, pick.value, pick.forced] for pick in self.trail])

    def command_key(self) -> str:
        """Return the idempotency key for the move of these answers: the same for the same answers in the same form."""
        answers = [self.values, self.replaces] if self.replaces is not None else self.values
        digest = hashlib.sha256(msgspec.json.encode(answers, order="sorted")).hexdigest()[:24]
        return f"{self.key}-{digest}"


def dump(value: Json) -> str:
    """Return a JSON value for a form."""
    return msgspec.json.encode(value).decode()


def parse(text: str) -> Json:
    """Return a JSON value of a form. Raise Problem."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Problem("form_stale") from None


@dataclass(frozen=True)
class WholeMove:
    """A finished move, and the picks that lead to it."""

    label: str
    path: str
    ends: bool = False
    kind: str = ""
    """Name of the move, or the question that it answers."""
    rest: str = ""
    """Its sentence, or the answer to that question."""
    line: str = ""
    """The effect of the thing in it."""
    is_answer: bool = False
    """True if it is told as the answer to a question."""


@dataclass(frozen=True)
class OptionShown:
    """An option of a question."""

    label: str
    value: str
    cost: str = ""
    ends: bool = False
    line: str = ""
    """The effect of a thing among several."""

    @property
    def is_long(self) -> bool:
        """Return True for an option with more words than a narrow button holds."""
        return len(self.label) > LONG_LABEL or len(self.cost) > LONG_COST


OptionGroup = tuple[str, list[OptionShown]]
"""The heading of options, or an empty text, and the options."""


@dataclass(frozen=True)
class BuilderState:
    """The builder's answer to picks: a `choice`, a finished `move`, or the refusal of the last pick."""

    picks: Picks
    answer: Answer

    @property
    def choice(self) -> Doc | None:
        """Return the open question."""
        return self.answer.doc.get("choice")

    @property
    def move(self) -> Doc | None:
        """Return the finished move."""
        return self.answer.doc.get("move")

    @property
    def loan(self) -> str:
        """Return the sentence about the loan of the finished move, or an empty text."""
        return str(self.answer.doc.get("loan", ""))

    def move_to_json(self) -> str:
        """Return the finished move for a form."""
        return dump(self.move)


@dataclass(frozen=True)
class Builder:
    """The move builder of a table for the visitor's role."""

    game: str
    role: str
    labels: Labels

    def advance(self, picks: Picks) -> BuilderState:
        """Return the next question with more than one answer, or the finished move. Forced answers are given."""
        step = self._give_forced(self._ask_first(replace(picks, at=())))
        return replace(step, picks=replace(step.picks, at=picks.at))

    def _ask(self, decision: str, picks: Sequence[Json], query: str = "") -> Answer:
        """Return the answer of the API to picks."""
        body = {"decision": decision, "picks": list(picks)}
        return ask("POST", f"/games/{self.game}/choices{query}", body, role=self.role)

    def _ask_first(self, picks: Picks) -> BuilderState:
        """Return the answer to the first picks of a page, and keep those to further picks.

        They come with it if nothing is known of these picks in this decision, or else only if they are missing.
        """
        if self._is_known(picks):
            step = BuilderState(picks, self._ask(picks.decision, picks.values))
            nearest = _find_nearest_pick(step)
            if nearest is None or self._find_kept(step, nearest):
                return step
        answer = self._ask(picks.decision, picks.values, f"?ahead={MOST_AHEAD}")
        further = answer.doc.pop("ahead", ())
        if answer.status < 400:
            self._keep_all(picks, answer.doc, further)
        return BuilderState(picks, answer)

    def _is_known(self, picks: Picks) -> bool:
        with _lock:
            return self._key(None, picks.decision, picks.values) in _answers

    def _keep_all(self, picks: Picks, first: Doc, further: Sequence[Doc]) -> None:
        """Keep the answers to further picks, and note all of these picks as asked."""
        answers = {dump(picks.values): first}
        self._keep(None, picks.decision, picks.values, None)
        for each in further:
            own = {name: each[name] for name in ("choice", "move", "text", "loan") if name in each}
            made, doc = each["picks"], first | own
            self._keep(answers[dump(made[:-1])], picks.decision, made, doc)
            self._keep(None, picks.decision, made, None)
            answers[dump(made)] = doc

    def go_on(self, before: BuilderState, pick: Pick) -> BuilderState:
        """Return the question after one more answer, as `advance`. The visitor may try many without another request."""
        return self._give_forced(self.follow(before, pick))

    def _give_forced(self, step: BuilderState) -> BuilderState:
        while step.choice and len(step.picks.trail) < MOST_PICKS and (forced := _forced_answer(step.choice)):
            step = self.follow(step, Pick(step.choice["field"], forced[0], forced=True))
        return step

    def follow(self, before: BuilderState, pick: Pick) -> BuilderState:
        """Return the answer to one more pick alone: not even a forced one after it is given."""
        if kept := self._find_kept(before, pick):
            return kept
        after = before.picks.add(pick)
        answer = self._ask(after.decision, after.values)
        if answer.status == 200 and answer.doc["version"] == before.answer.doc.get("version"):
            self._keep(before.answer.doc, after.decision, after.values, answer.doc)
        return BuilderState(after, answer)

    def _find_kept(self, before: BuilderState, pick: Pick) -> BuilderState | None:
        """Return the kept answer to one more pick, by the answer before and its version of the game, or None.

        The API has given the visitor that answer in the same request, so the kept one is the visitor's own too.
        """
        after = before.picks.add(pick)
        with _lock:
            kept = _answers.get(self._key(before.answer.doc, after.decision, after.values))
        return BuilderState(after, Answer(200, msgspec.json.decode(kept))) if kept else None

    def _keep(self, before: Doc | None, decision: str, picks: Sequence[Json], answer: Doc | None) -> None:
        """Keep the answer to picks. `before`: the answer to the picks without the last one, of the same version.

        Without both, note the picks as asked.
        """
        with _lock, contextlib.suppress(ValueError):  # larger than all that is kept
            _answers[self._key(before, decision, picks)] = msgspec.json.encode(answer)

    def _key(self, before: Doc | None, decision: str, picks: Sequence[Json]) -> bytes:
        asked = (self.game, self.role, request_language(), before, decision, picks)
        return hashlib.sha256(msgspec.json.encode(asked)).digest()

    def preview(self, decision: str, moves: Sequence[Json]) -> Answer:
        """Return the dry run of moves: their consequences, as far as the seat may know them, or a refusal."""
        body = {"moves": list(moves), "decision": decision}
        return ask("POST", f"/games/{self.game}/moves?dry_run=1", body, role=self.role)

    def list_moves(self, picks: Picks) -> Answer:
        """Return the answer of the API with all moves after the picks. It costs ten writes."""
        return self._ask(picks.decision, picks.values, f"?all=1&limit={MOST_MOVES}")

    def list_whole_moves(self, step: BuilderState) -> list[WholeMove]:
        """Return all moves that begin with the picks if they are few, or nothing.

        If the visitor has answered already and this is the last question, they are called as its options.
        """
        found: list[tuple[WholeMove, BuilderState]] = []
        waiting, questions, least = [(step, False)], 0, _count_ways(step)
        while waiting and least <= MOST_WHOLE_MOVES:
            before, ends = waiting.pop(0)
            choice = before.choice or {}
            for option in choice["options"]:
                questions += 1
                if questions > 2 * MOST_WHOLE_MOVES:
                    return []
                after = self.go_on(before, Pick(choice["field"], option["value"]))
                if after.answer.status >= 400:
                    return []
                last = bool(option.get("ends")) if before is step else ends  # a later one ends a sentence alone
                if after.move is None:
                    waiting.append((after, last))
                    least += _count_ways(after) - 1
                    if least > MOST_WHOLE_MOVES:  # before more is asked
                        return []
                    continue
                trail = _new_picks(step, after)
                answered = name_option(self.labels, choice["field"], option)
                found.append((WholeMove(answered, replace(after.picks, trail=trail).to_json(), last), after))
        if least > MOST_WHOLE_MOVES:
            return []
        is_begun = any(not pick.forced for pick in step.picks.trail)
        is_last = all(sum(not pick.forced for pick in _new_picks(step, after)) == 1 for _, after in found)
        asked = name_question(self.labels, step.choice or {}) if is_begun and is_last and step.choice else ""
        moves = [
            replace(move, kind=asked, is_answer=True) if asked else self._name_move(move, after)
            for move, after in found
        ]
        return sorted(_tell_apart(moves), key=lambda move: move.ends)

    def next_questions(self, step: BuilderState) -> Sequence[tuple[Doc, BuilderState]]:
        """Return the options with a next question on the same page, each with its step.

        Those with the fewest further answers come first. An option with a next question of another kind, or
        with a form of its own, stays closed.
        """
        choice = step.choice
        if choice is None or choice["kind"] != "one" or len(choice["options"]) > MOST_CLOSED:
            return ()
        steps = [(each, self.go_on(step, Pick(choice["field"], each["value"]))) for each in choice["options"]]
        if any(after.answer.status >= 400 for _, after in steps):
            return ()
        count, opened = len(steps), set[int]()
        shut = self._list_shut(choice)
        ways = [0 if option["value"] in shut else _count_ways(after) for option, after in steps]
        for place in sorted(range(len(steps)), key=ways.__getitem__):
            if 1 < ways[place] <= MOST_WHOLE_MOVES and count + ways[place] - 1 <= MOST_OPENED:
                opened.add(place)
                count += ways[place] - 1
        order = [option["value"] for option in rank_kinds(self.labels, choice)]
        return sorted((steps[place] for place in opened), key=lambda each: order.index(each[0]["value"]))

    def _list_shut(self, choice: Doc) -> list[Json]:
        """Return the options with a form of their own, and rare kinds of moves."""
        package, values = self.labels.rules.package, [option["value"] for option in choice["options"]]
        groups = load_groups(package, choice["field"])
        rare = {value for value, group in groups.items() if group.is_closed}
        return [each for each in values if load_form(package, str(each)) or (isinstance(each, str) and each in rare)]

    def open_options(self, step: BuilderState) -> Question | None:
        """Return the question with the answers to the next one in it, each under its option, or None without any."""
        choice, opened = step.choice, self.next_questions(step)
        if choice is None or not opened:
            return None
        groups: list[OptionGroup] = []
        headings: list[Opened] = []
        for option, after in opened:
            asked = after.choice or {}
            shown = [
                replace(each, value=self._path(step, after, Pick(asked["field"], parse(each.value))), ends=False)
                for _, options in show_question(self.labels, asked).groups
                for each in options
            ]
            cost = self.labels.cost(option.get("cost", {}))
            name = name_option(self.labels, choice["field"], option)
            heading = name_opened(self.labels, f"{name} ({cost})" if cost else name, asked)
            headings.append(Opened(heading, name, cost, name_question(self.labels, asked)))
            groups.append((heading, shown))
        known = [option["value"] for option, _ in opened]
        closed = [each for each in choice["options"] if each["value"] not in known]
        rest: list[OptionGroup] = []
        for name, options in show_question(self.labels, choice | {"options": closed}).groups:
            steps = [(each, self.go_on(step, Pick(choice["field"], parse(each.value)))) for each in options]
            told = [(self._tell(each, step, after), after) for each, after in steps]
            rest.append((name, [replace(each, value=self._path(step, after)) for each, after in told]))
        ordered = _order_groups(choice, groups, rest)
        return Question(choice["field"], name_question(self.labels, choice), "paths", groups=ordered, opened=headings)

    def tell_kinds(self, step: BuilderState, question: Question) -> Question:
        """Return the question; a kind of move with one choice of the rest is told as that whole move."""
        if question.kind != "one" or question.field != "type" or len((step.choice or {})["options"]) > MOST_CLOSED:
            return question
        groups = [
            (name, [self._tell(each, step, self.go_on(step, Pick("type", parse(each.value)))) for each in options])
            for name, options in question.groups
        ]
        return replace(question, groups=groups)

    def _tell(self, shown: OptionShown, before: BuilderState, after: BuilderState) -> OptionShown:
        """Return an option; with the sentence and the cost of its move if forced answers alone come after it."""
        if after.move is None or shown.ends or len(_new_picks(before, after)) < 2:
            return shown
        said, cost = str(after.answer.doc.get("text") or self.labels.move(after.move)), self.name_cost(before, after)
        is_told = any(part in said for part in cost.split(", "))  # the sentence of the move may say it
        return replace(shown, label=said, cost="" if is_told else cost)

    def name_cost(self, before: BuilderState, after: BuilderState) -> str:
        """Return the last cost of the answers since a step, in words."""
        at, cost = before, dict[str, Json]()
        for pick in _new_picks(before, after):
            options = (at.choice or {}).get("options", ())
            cost = next((each["cost"] for each in options if each["value"] == pick.value and "cost" in each), cost)
            at = self.follow(at, pick)
        return self.labels.cost(cost)

    def _path(self, step: BuilderState, after: BuilderState, *more: Pick) -> str:
        """Return the picks since a step, as JSON."""
        return replace(after.picks, trail=(*_new_picks(step, after), *more)).to_json()

    def _name_move(self, shown: WholeMove, step: BuilderState) -> WholeMove:
        """Return a move with its name and its sentence."""
        move = step.move or {}
        label = str(step.answer.doc.get("text") or self.labels.move(move))
        return replace(shown, label=label, kind=self.labels.option("type", move.get("type")))


def _order_groups(choice: Doc, opened: Sequence[OptionGroup], closed: Sequence[OptionGroup]) -> list[OptionGroup]:
    """Return the groups of a question in the order of the page.

    Plain answers stand below the question itself, so that none seems to belong to the group above it. Among kinds of
    moves they are the rarer ones: they come last, under a heading, and what ends the turn without one.
    """
    split = [(name, *_split_ends(some)) for name, some in closed]
    if choice["field"] != "type":
        plain, ends = [(name, some) for name, some, _ in split], [(name, some) for name, _, some in split]
        return [group for group in (*plain, *opened, *ends) if group[1]]
    other = translate(_OTHER, request_language())
    found = list(opened)
    for name, some, ending in split:
        found += [(name or other, some), ("", ending)]
    return [group for group in found if group[1]]


def _split_ends(options: Sequence[OptionShown]) -> tuple[list[OptionShown], list[OptionShown]]:
    """Return the options without those that end something, and these."""
    return [each for each in options if not each.ends], [each for each in options if each.ends]


def _new_picks(before: BuilderState, after: BuilderState) -> tuple[Pick, ...]:
    """Return the picks that have come since."""
    return after.picks.trail[len(before.picks.trail) :]


def _tell_apart(moves: Sequence[WholeMove]) -> list[WholeMove]:
    """Return the moves with different labels."""
    labels = number_alike([move.label for move in moves])
    return [replace(move, label=label, rest=label) for move, label in zip(moves, labels, strict=True)]


def _find_nearest_pick(step: BuilderState) -> Pick | None:
    """Return the forced or first answer to a question with few answers, or None."""
    choice = step.choice
    if choice is None:
        return None
    if forced := _forced_answer(choice):
        return Pick(choice["field"], forced[0])
    return Pick(choice["field"], choice["options"][0]["value"]) if _count_ways(step) <= MOST_WHOLE_MOVES else None


def _count_ways(step: BuilderState) -> int:
    """Return the least number of moves from a question on; too many to list for one with another form."""
    choice = step.choice
    return len(choice["options"]) if choice and choice["kind"] == "one" else MOST_WHOLE_MOVES + 1


def _forced_answer(choice: Doc) -> tuple[Json] | None:
    """Return the only possible answer of a question, or None if there are several."""
    if choice["kind"] == "range":
        return (choice["lo"],) if choice["lo"] == choice["hi"] else None
    options = choice["options"]
    if choice["kind"] == "one":
        return (options[0]["value"],) if len(options) == 1 else None
    return ([o["value"] for o in options],) if choice["lo"] == choice["hi"] == len(options) else None


@dataclass(frozen=True)
class Opened:
    """An option with its next question on the same page: the heading of its answers, and its parts."""

    heading: str
    name: str
    cost: str
    ask: str
    """The next question."""


@dataclass(frozen=True)
class Question:
    """A question as the page shows it."""

    field: str
    title: str
    kind: str
    lo: int = 0
    hi: int = 0
    groups: Sequence[tuple[str, Sequence[OptionShown]]] = ()
    opened: Sequence[Opened] = ()

    @property
    def ending(self) -> list[OptionShown]:
        """Return the options with `ends`: they stay in sight below the others."""
        return [each for _, options in self.groups for each in options if each.ends]


def share_cost(question: Question) -> Question:
    """Return a question; a cost of all its options stands in its title alone."""
    options = [each for _, some in question.groups for each in some if not each.ends]
    costs = {each.cost for each in options}
    if question.kind != "one" or question.field == "type" or len(options) < 2 or len(costs) > 1 or not all(costs):
        return question
    groups = [
        (name, [each if each.ends else replace(each, cost="") for each in some]) for name, some in question.groups
    ]
    return replace(question, title=f"{question.title} ({costs.pop()})", groups=groups)


def share_unit(question: Question) -> Question:
    """Return a question; numbers of one thing are options without its name: the question has it."""
    options = [each for _, some in question.groups for each in some]
    found = {each.value: _COUNTED.fullmatch(each.label) for each in options}
    units = {match[2] if match else "" for match in found.values()}
    if question.kind != "one" or len(options) < LEAST_COUNTED or len(units) > 1 or "" in units:
        return question
    groups = [(name, [replace(each, label=found[each.value][1]) for each in some]) for name, some in question.groups]  # type: ignore[index]
    return replace(question, groups=groups)


def name_question(labels: Labels, choice: Doc) -> str:
    """Return the title of a question: that of the API, or the name of its field; a sentence for kinds of moves."""
    options = choice.get("options", ())
    if choice["field"] == "type" and len(options) > 1 and not choice.get("text"):
        return translate(_WHAT, request_language())
    return str(choice.get("text") or labels.question(choice["field"], options[0]["value"] if options else None))


def name_option(labels: Labels, field: str, option: Doc) -> str:
    """Return the label of an option: the text of the API, or its value in words."""
    return capital(str(option.get("text") or "")) or labels.option(field, option["value"])


def name_answers(labels: Labels, trail: Sequence[Pick]) -> list[tuple[str, str, bool]]:
    """Return answers in words: question, answer, and True for a forced one."""
    found, before = [], dict[str, Json]()
    for pick in trail:
        said = labels.option(pick.field, pick.value, str(before.get("type", "")), before)
        found.append((labels.holder(pick.field, pick.value), said, pick.forced))
        before[pick.field] = pick.value
    return found


def name_opened(labels: Labels, answer: str, asked: Doc) -> str:
    """Return the heading of the answers to a question: the answer before it in words, and the question itself."""
    return f"{answer} \u00b7 {name_question(labels, asked)}"


def show_question(labels: Labels, choice: Doc, owners: Mapping[str, int] | None = None) -> Question:
    """Return a question with its options in words. Many options come in groups; `owners`: place -> its seat."""
    field, options = choice["field"], choice.get("options", ())
    groups: dict[str, list[OptionShown]] = {}
    is_long = len(options) > MOST_WHOLE_MOVES
    prices = {dump(each["value"]): _sum_cost(each) for each in options}
    free = translate(_FREE, request_language()) if any(prices.values()) and field != "type" else ""
    for each in sorted(options, key=lambda option: bool(option.get("ends"))):
        shown = _show_option(labels, field, each, free)
        is_apart = not is_long or shown.ends or each["value"] is None
        groups.setdefault("" if is_apart else _group_of(labels, field, each["value"], owners or {}), []).append(shown)
    if is_long and field != "type":
        groups = {
            name: sorted(some, key=lambda option: (option.ends, prices[option.value], collation_key(option.label)))
            for name, some in groups.items()
        }
    lo, hi = int(choice.get("lo", 0)), int(choice.get("hi", 0))
    ordered = sorted(groups.items(), key=lambda group: _group_order(labels, field, group[0], owners or {}))
    title = name_question(labels, choice)
    if (usual := load_usual(labels.rules.package).get(field)) is not None:
        told = translate(Message("The usual answer is {value}.", value=labels.option(field, usual)), request_language())
        title = f"{title} {told}"
    return Question(field, title, choice["kind"], lo, hi, ordered)


def _show_option(labels: Labels, field: str, option: Doc, free: str) -> OptionShown:
    """Return an option in words. `free`: the words for one without a price, among those with one."""
    ends, cost = bool(option.get("ends")), labels.cost(option.get("cost", {}))
    is_free = not cost and not ends and option["value"] is not None
    return OptionShown(name_option(labels, field, option), dump(option["value"]), free if is_free else cost, ends)


def _sum_cost(option: Doc) -> int:
    """Return the figures of a cost together: a loan is one of them, so what the purse can pay comes first."""
    return sum(amount for amount in option.get("cost", {}).values() if isinstance(amount, int))


def rank_kinds(labels: Labels, choice: Doc) -> list[Doc]:
    """Return the options of a question: kinds of moves in the order of their groups, the usual ones first."""
    kinds = list(load_groups(labels.rules.package, "type")) if choice["field"] == "type" else []
    rank = {value: place for place, value in enumerate(kinds)}
    return sorted(choice["options"], key=lambda option: rank.get(str(option["value"]), 0))


def _group_of(labels: Labels, field: str, value: Json, owners: Mapping[str, int]) -> str:
    """Return the group of an option: its owner, its kind, or the first word of an object."""
    if isinstance(value, dict):
        return capital(labels.value("", next((word for word in value.values() if isinstance(word, str)), "")))
    if isinstance(value, str) and value in owners:
        return labels.short_seat(owners[value])
    return labels.group(field, value)


def _group_order(labels: Labels, field: str, name: str, owners: Mapping[str, int]) -> tuple[int, int, tuple[str, str]]:
    """Return the place of a group: owners by seat, then kinds, at the end the options apart."""
    seats = [seat for seat in set(owners.values()) if labels.short_seat(seat) == name]
    groups = load_groups(labels.rules.package, field)
    named = list(dict.fromkeys(labels.group(field, value) for value, group in groups.items() if group.names))
    is_ordered = name in named
    number = seats[0] if seats else named.index(name) if is_ordered else 0
    return (0 if seats else 2 if not name else 1, number, collation_key(name))


def find_owners(part: Mapping[str, Json]) -> dict[str, int]:
    """Return place -> seat for the entries of a sight's mappings that have an `owner`."""
    mappings = [value for value in part.values() if isinstance(value, dict)]
    return {
        place: entry["owner"]
        for mapping in mappings
        for place, entry in mapping.items()
        if isinstance(entry, dict) and isinstance(entry.get("owner"), int)
    }
