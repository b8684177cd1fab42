"""Proposals: commands that players may agree on in place of an officer, as they are stored and sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from domain.kernel.game.command import Command, seat_of_record
from domain.kernel.game.deadlines import DAY, SECOND
from domain.kernel.game.director_commands import Depute, Extend, Hold, SetPace
from domain.kernel.game.game import AnyGame
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.playing_time import moved_time
from domain.kernel.game.table_commands import Close, Join, Leave
from domain.kernel.records.record import Record
from domain.types import MAX_INT, Doc, Seat

SILENCE_MS = 7 * DAY
"""Time after which a seat that neither answers nor plays has no vote, ms."""

ACTS: Mapping[str, Callable[[Doc], Command]] = MappingProxyType(
    {
        "close": lambda act: Close("agreed"),
        "extend": lambda act: Extend(act["decision"], act.get("seconds", 0) * SECOND, until=act.get("until")),
        "hold": lambda act: Hold(act["seat"], act.get("seconds", 0), act.get("until")),
        "remove": lambda act: Leave(act["seat"]),
        "seat_bot": lambda act: Join(act["seat"], f"bot-{act['bot']}-{act['seat']}"),
        "appoint": lambda act: Depute(act["player"], act["role"]),
        "pace": lambda act: SetPace(act["pace"]),
        "pause": lambda act: PauseGame(act.get("until"), act.get("moves", False)),
        "resume": lambda _: ResumeGame(),
    }
)
"""Act of a proposal -> its command, made from the members of the act."""


def command_of_proposal(act: Doc) -> Command:
    """Return the command that a proposal's act stands for."""
    return ACTS[act["act"]](act)


def list_silent_seats(
    game: AnyGame, command: Command, later: Sequence[Record], unanswered: Sequence[Seat], since: int, now: int
) -> list[Seat]:
    """Return the unanswered seats that have done nothing in `later`, the records since a proposal at time `since`.

    A seat on vacation or held in that time is not silent, but away, and one with time left at `now` may be thinking.
    Neither counts against the end of a pause without end: it uses up none of that time, and would last for ever.
    After an anonymous move no seat is silent, or the outcome would tell which one has moved in secret.
    """
    if any(record.kind == "moved" and record.head.seat is None for record in later):
        return []
    active = {seat for record in later if record.kind == "moved" for seat, _ in record.moves()}
    came = {seat_of_record(record) for record in later if record.kind in ("rested", "joined")}
    if isinstance(command, ResumeGame) and game.has_stopped:
        return [seat for seat in unanswered if seat not in active | came]
    begin = moved_time(game.timing.pauses, since)
    away = {seat for seat, bank in enumerate(game.timing.banks) if bank.paused_ms(begin, MAX_INT)}
    return [seat for seat in unanswered if seat not in active | away | came | _thinking_seats(game, later, now)]


def _thinking_seats(game: AnyGame, later: Sequence[Record], now: int) -> set[Seat]:
    """Return the seats with time left for the open decision, except those with a default in `later` for all to see.

    In a secret decision all seats asked count, answered or not.
    """
    if not game.frames:
        return set()
    top = game.frames[-1]
    due = game.as_at_standstill.due_times(top.asked if top.secret else top.owing)
    missed = {act[0] for record in later if record.kind == "lapsed" for act in record.public.get("acts", ())}
    return {seat for seat, at in due.items() if at > game.playing_time(now)} - missed
