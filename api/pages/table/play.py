"""Moves by forms: each answers one question, the last one makes the move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flask import Response, g, request

from api.http import i18n
from api.http.problems import Problem
from api.pages.account.login import show_login
from api.pages.common.in_process import Answer, ask
from api.pages.common.numbers import parse_number
from api.pages.common.preferences import current_preferences
from api.pages.common.session import is_stranger, redirect
from api.pages.decision.help_shown import mark_read
from api.pages.decision.map_starts import find_next_piece, find_only_path, give_usual
from api.pages.decision.move_choices import MOST_PICKS, BuilderState, Pick, Picks, parse
from api.pages.decision.number_forms import Numbers, build_several, read_numbers
from api.pages.decision.order_sheet import list_moves
from api.pages.decision.why_not import find_reason
from api.pages.table.picks_cookie import forget_picks, keep_picks
from api.pages.table.prompt import Prompt, ask_first, ask_next, find_begun, new_picks, preview_move, suggest
from api.pages.table.table import render_table
from api.pages.table.table_page import TablePage, load_page, load_table_page
from domain.kernel.text.message_catalog import Message
from domain.types import MAX_INT, Doc, Json

_MOVED_ON = ("decision_closed", "stale_version", "already_answered", "not_your_decision", "wrong_phase")
"""Refusals of a form that is older than the game."""

_NEWEST, _TRIES = 100, 3
"""Versions and own moves in which the move of a repeated form is looked for."""

_TOLD = 3
"""Newest sentences that a page tells of what has happened since its form."""


class PlayedTable(TablePage):
    """A table whose forms are answered: what a lesson does in another way than a game of the service."""

    def render(self, asked: Prompt, status: int = 200) -> Response:
        """Return the page with a question."""
        return render_table(self, asked, status)

    def keep(self, picks: Picks, position: int = 0) -> Response | None:
        """Return the way to the next question with the answers so far kept, or None if they do not fit."""
        return keep_picks(self, picks, position)

    def forget(self, response: Response) -> Response:
        """Forget the answers so far."""
        return forget_picks(response, self)

    def make(self, picks: Picks, moves: Sequence[Json]) -> Answer:
        """Make moves as one. The same answers in the same form make them once."""
        body, key = {"moves": list(moves), "decision": picks.decision}, picks.command_key()
        return ask("POST", f"/games/{self.game}/moves", body, role=self.role, Idempotency_Key=key)

    def lead_on(self, made: Answer) -> Response:
        """Lead to the table after a move, where the next question is if there is one."""
        response = redirect(f"{self.address}?wait={made.doc['position']}#move")
        return self.forget(mark_read(response, self.labels, (self.decision or {}).get("kind", "")))

    def catch_up(self, picks: Picks, refusal: Answer) -> Response:
        """Show what is asked after a change of the game."""
        return _catch_up(self, picks, refusal)

    def find_repeat(self, picks: Picks, count: int = 1) -> Answer | None:
        """Return the answer to the move that this form has made already, or to its `count` moves, or None."""
        return _find_repeat(self, picks, count)


def reopen_answer(game: str) -> Response:
    """Lead to the table from the address of a form's answer, such as one that a browser opens anew."""
    return redirect(f"/games/{game}#move")


def play(game: str) -> Response:
    """Take an answer to a question of the move builder, and lead to the next question, or make the move."""
    if is_stranger(game):
        return show_login(f"/games/{game}")
    return take_answer(load_page(PlayedTable, game))


def take_answer(page: PlayedTable) -> Response:
    """Take the answer in the submitted form."""
    if "again" in request.form:
        return page.forget(redirect(page.question_address))
    picks = _read_picks()
    if page.summary["status"] != "running" or page.seat is None:
        return page.render(Prompt(note=_say(Message("The game does not wait for you."))), 409)
    if direct := _take_direct(page, picks):
        return direct
    state = page.builder.advance(picks)
    if request.form.get("at") and "path" in request.form:
        state = give_usual(page.builder, state)
    if state.answer.status >= 400:
        return _refuse(page, picks, state.answer)
    if "start" in request.form:
        return _begin_at(page, state)
    if missing := request.form.get("thing") or request.form.get("why"):  # a button on the board, or the list
        return _explain(page, state, missing)
    return _go_on(page, picks, state)


def _take_direct(page: PlayedTable, picks: Picks) -> Response | None:
    """Return the answer to a form that asks for a suggestion, or has a whole move or numbers; else None."""
    if "suggest" in request.form:
        return page.render(suggest(page))
    if "send" in request.form:
        return _send(page, picks, parse(request.form["send"]))
    return _take_numbers(page, picks, read_numbers()) if "amount" in request.form else None


def _go_on(page: PlayedTable, picks: Picks, state: BuilderState) -> Response:
    """Ask the next question, or make a finished move: before what cannot be taken back, show it and ask once."""
    if state.move is None:
        return page.keep(state.picks) or page.render(ask_next(page, state))
    preview = preview_move(page, state)
    if preview.status >= 400:
        return _refuse(page, picks, preview)
    if state.loan or _is_empty_sheet(page, state.move) or _needs_confirmation(page, preview.doc):
        return page.keep(state.picks) or page.render(Prompt(state, preview=preview.doc))
    return _send(page, picks, state.move)


def _begin_at(page: PlayedTable, state: BuilderState) -> Response:
    """List the moves from the places chosen on the map. The only answer is given at once.

    If nothing names all of them, the last one is a new beginning.
    """
    picks, found = state.picks, None
    for at in (picks.at, picks.at[-1:]):
        state = replace(state, picks=replace(picks, at=at))
        if found := find_begun(page, state) if at else None:
            break
    if found is None:
        asked = ask_next(page, replace(state, picks=replace(picks, at=())))
        asked.note = _say(Message("None of your answers begins there.")) if picks.at else ""
        shown = page.render(asked)
        return shown if picks.trail else page.forget(shown)
    if only := find_only_path(found):
        made = state.picks.add(*map(Pick.from_json, parse(only)))
        return _go_on(page, made, give_usual(page.builder, page.builder.advance(made)))
    return page.keep(state.picks) or page.render(ask_next(page, state))


def _take_numbers(page: PlayedTable, picks: Picks, numbers: Numbers) -> Response:
    """Make what a form with several numbers says, or show it again, filled in: with a preset, or with a refusal."""
    before, done = page.builder.advance(picks), numbers.complete(picks)
    if before.answer.code in _MOVED_ON and (repeat := page.find_repeat(done, sum(n > 0 for _, n in numbers.rows))):
        return page.lead_on(repeat)
    if before.answer.status >= 400 or before.move is not None:
        return _refuse(page, done if before.answer.code in _MOVED_ON else picks, before.answer)
    asked = ask_next(page, before, numbers)
    form = asked.form or asked.beside
    if form is None:
        raise Problem("form_stale")
    if "preset" in request.form:
        return page.render(asked)
    if form.several:
        made = _make_several(page, before.picks, numbers)
        return page.lead_on(made) if made.status < 400 else _refuse_numbers(page, asked, done, made)
    state = page.builder.advance(before.picks.add(*numbers.picks))
    if state.answer.status >= 400:
        return _refuse_numbers(page, asked, done, state.answer)
    is_shown = form.submits and current_preferences()["confirm"] != "always"  # the form says what it ends
    return _send(page, state.picks, state.move) if is_shown else _go_on(page, state.picks, state)


def _make_several(page: PlayedTable, picks: Picks, numbers: Numbers) -> Answer:
    """Make the moves of all rows with a number at once."""
    moves = build_several(page.builder, picks, numbers)
    if isinstance(moves, Answer):
        return moves
    if not moves:
        return Answer(422, {"title": _say(Message("Enter a number in at least one row."))})
    return page.make(numbers.complete(picks), moves)


def _refuse_numbers(page: PlayedTable, asked: Prompt, picks: Picks, refusal: Answer) -> Response:
    """Show a form with its numbers again, and why they were refused. After a change of the game, catch up."""
    if refusal.code in _MOVED_ON:
        return page.catch_up(picks, refusal)
    g.problem, asked.refusal = refusal.code, refusal.doc
    if asked.form and asked.form.purse is not None and asked.form.remainder < 0:
        told = Message("These numbers take {count} more than there is.", count=-asked.form.remainder)
        asked.refusal = refusal.doc | {"detail": _say(told)}
    return page.render(asked, refusal.status)


def _read_picks() -> Picks:
    """Return the answers of the form: with `keep` only the first ones, to answer from there on anew."""
    picks = Picks.from_form()
    count = parse_number(request.form.get("keep", ""), MOST_PICKS)
    return picks if count is None else replace(picks, trail=picks.trail[:count])


def _explain(page: PlayedTable, state: BuilderState, missing: str) -> Response:
    """Show the question again, with the reason for a missing value as a form sends it."""
    found = find_reason(page.builder, page.board, state, parse(missing))
    if found is None:
        raise Problem("form_stale")
    if isinstance(found, Answer) and found.code in _MOVED_ON:
        return page.catch_up(state.picks, found)
    asked = ask_next(page, state)
    if isinstance(found, Answer):
        asked.refusal = found.doc
        return page.render(asked, found.status)
    asked.reason = found
    return page.render(asked)


def _needs_confirmation(page: PlayedTable, preview: Doc) -> bool:
    """Return True for a move that its seat cannot take back alone. An order of a sheet can be cancelled."""
    if current_preferences()["confirm"] == "always":
        return True
    if preview.get("undo") == "alone" and not preview.get("depends"):
        return False
    is_order = "facts" in preview and page.show_sheet() is not None
    return bool(preview.get("depends") or (preview.get("barrier") and not is_order))


def _is_empty_sheet(page: PlayedTable, move: Doc) -> bool:
    """Return True for the submission of a sheet without an order."""
    sheet = page.show_sheet()
    return sheet is not None and not sheet.orders and move["type"] == sheet.submit


def _send(page: PlayedTable, picks: Picks, move: Json) -> Response:
    """Make a move, and lead to the table as it is then. The same form makes it once."""
    made = page.make(picks, list_moves(page.labels, picks, move))
    if made.status >= 400:
        return _refuse(page, picks, made)
    further = find_next_piece(page.labels.rules.package, page.board, move) if picks.replaces is None else None
    if further and (led := page.keep(replace(new_picks(page), at=(further,)), made.doc["position"])):
        return led
    return page.lead_on(made)


def _find_repeat(page: PlayedTable, picks: Picks, count: int) -> Answer | None:
    """Return the answer to the move that this form has made already, or to its `count` moves, or None.

    A second click on an option comes when the decision is closed, and its move is among the newest of the seat. The
    same key and moves get the same answer; other answers have another key, with which nothing can be stored any more.
    """
    after = max(page.summary["version"] - _NEWEST, 0)
    newest = ask("GET", f"/games/{page.game}/timeline?limit={_NEWEST}&after={after}", role=page.role).doc
    parts = [part for entry in newest.get("items", ()) for part in (entry, *entry.get("own", ()))]  # orders are own
    own = [move for part in parts for seat, move in part.get("acts", ()) if seat == page.seat and "type" in move]
    ends = range(len(own), max(len(own) - _TRIES, 0), -1)
    answers = (page.make(picks, own[end - count : end]) for end in ends if 1 < count <= end)
    found = next((answer for answer in answers if answer.status < 400), None)
    answers = (page.make(picks, list_moves(page.labels, picks, own[end - 1])) for end in ends)
    return found or next((answer for answer in answers if answer.status < 400), None)


def _refuse(page: PlayedTable, picks: Picks, refusal: Answer) -> Response:
    """Show a refusal, and the question before the refused answer again. After a change of the game, catch up."""
    g.problem = refusal.code
    if refusal.code in _MOVED_ON or picks.decision != (page.decision or {}).get("id"):
        return page.catch_up(picks, refusal)
    before = page.builder.advance(picks.step_back())
    asked = ask_next(page, before) if before.answer.status < 400 and before.move is None else ask_first(page)
    asked.refusal = refusal.doc | _count_answers(asked, picks, refusal)
    return page.render(asked, refusal.status)


def _count_answers(asked: Prompt, picks: Picks, refusal: Answer) -> Doc:
    """Return the sentence for too few or too many answers to a question of several, or nothing."""
    question, newest = asked.question, picks.values[-1:]
    if refusal.code != "not_offered" or question is None or question.kind != "some" or "several" not in request.form:
        return {}
    number = len(newest[0]) if newest and isinstance(newest[0], list) else 0
    if number < question.lo:
        return {"detail": _say(Message("Choose at least {lo}.", lo=question.lo))}
    return {"detail": _say(Message("Choose at most {hi}.", hi=question.hi))} if number > question.hi else {}


def _catch_up(page: PlayedTable, picks: Picks, refusal: Answer) -> Response:
    """Show what is asked now, with the answers so far if they still fit, and what has happened meanwhile."""
    if repeat := page.find_repeat(picks):
        return page.lead_on(repeat)
    current = load_table_page(page.game)
    decision = current.decision
    asked = Prompt(refusal=refusal.doc)
    note = Message("The game has moved on: your answers were not sent, and nothing is asked of you now.")
    if decision is not None and (current.must_decide or current.may_decide):
        step = current.builder.advance(replace(new_picks(current), trail=picks.trail))
        if step.answer.status < 400 and picks.values:
            asked = ask_next(current, step)
            note = Message("The game has moved on. Your answers are kept: check them, and send them again.")
        else:
            asked = ask_first(current)
            asked.refusal = refusal.doc
            note = Message("The game has moved on: your answers no longer fit.")
    is_closed = picks.decision != (decision or {}).get("id")
    asked.note = _say(note)
    asked.cause = "decision_closed" if is_closed else refusal.code
    asked.since = _tell_since(current)
    return render_table(current, asked, refusal.status)


def _tell_since(page: TablePage) -> list[str]:
    """Return the newest sentences of the chronicle since the version of the submitted form."""
    seen = parse_number(request.form.get("version", ""), MAX_INT)
    if seen is None:
        return []
    after = max(seen, page.summary["version"] - _NEWEST)
    found = ask("GET", f"/games/{page.game}/timeline?limit={_NEWEST}&after={after}", role=page.role).doc
    return [line for entry in found.get("items", ()) for line in page.tell(entry)][-_TOLD:]


def _say(message: str) -> str:
    return i18n.translate(message, i18n.request_language())
