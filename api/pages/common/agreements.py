"""Proposals and undo requests on pages: their acts in words, and the members that a form gives."""

from __future__ import annotations

from collections.abc import Callable

from flask import request

from api.http import i18n
from api.http.problems import Problem
from api.pages.common.labels import Labels
from api.pages.common.numbers import read_number
from domain.kernel.text.message_catalog import Message
from domain.types import Doc, Json

DURATIONS = (3600, 6 * 3600, 86_400, 3 * 86_400, 7 * 86_400)
"""Seconds that a form offers for a deadline that moves, or for a hold."""

OFFICES = {"arbiter": Message("arbiter"), "deputy": Message("deputy"), "director": Message("director")}


def longest_seconds(labels: Labels, pace: Json) -> int:
    """Return the time for the longest decision of a pace or preset, in seconds, or 0 without deadlines."""
    seconds = pace.get("seconds") if isinstance(pace, dict) else labels.rules.meta.paces.get(str(pace))
    return max(seconds.values()) if seconds else 0


def tell_act(labels: Labels, act: Doc, names: Doc, point: Callable[[int], str]) -> str:
    """Return what a proposal would do, as a sentence. `names`: player id -> name; `point` tells a time in words."""
    seat, said = (tell(act["seat"]) if act.get("seat") is not None else "" for tell in (labels.seat, labels.said_seat))
    seconds, until = act.get("seconds"), act.get("until")
    told: dict[str, Message] = {
        "close": Message("End the game now, without a result."),
        "remove": Message("Remove {seat} from the game.", seat=said),
        "seat_bot": Message("Let a bot play {seat}.", seat=said),
        "resume": Message("End the pause."),
        "pause": Message("Pause the game until somebody resumes it."),
        "pace": Message("Play without deadlines from now on."),
        "appoint": Message(
            "Make {name} an officer of the table: {role}.",
            name=names.get(str(act.get("player")), act.get("player")),
            role=OFFICES.get(str(act.get("role")), act.get("role")),
        ),
    }
    if until and act["act"] in ("extend", "hold", "pause"):
        told["extend"] = Message("Move the deadline of this decision to {until}.", until=point(until))
        told["hold"] = Message("Stop the time of {seat} until {until}.", seat=seat, until=point(until))
        told["pause"] = Message("Pause the game until {until}.", until=point(until))
    elif seconds is not None:
        later = Message("Move the deadline of this decision {seconds:time} later.", seconds=seconds)
        earlier = Message("Move the deadline of this decision {seconds:time} earlier.", seconds=-seconds)
        told["extend"] = later if seconds >= 0 else earlier
        told["hold"] = Message("Stop the time of {seat} for {seconds:time}.", seat=seat, seconds=seconds)
    if longest := longest_seconds(labels, act.get("pace")):
        told["pace"] = Message(
            "Start every clock again, with {longest:time} for the longest decision.", longest=longest
        )
    return i18n.translate(told[act["act"]], labels.texts.lang)


def read_act(decision: Doc | None) -> Doc:
    """Return the act in the submitted form. Raise Problem for a form that is not ours."""
    form = request.form
    act = form.get("proposal", "")

    def seat() -> Doc:
        return {"seat": read_number("seat", 99)}

    readers: dict[str, Callable[[], Doc]] = {
        "close": dict,
        "pause": dict,
        "resume": dict,
        "extend": lambda: {
            "decision": (decision or {}).get("id", ""),
            "seconds": read_number("seconds", DURATIONS[-1]),
        },
        "hold": lambda: {**seat(), "seconds": read_number("seconds", DURATIONS[-1])},
        "remove": seat,
        "seat_bot": lambda: {**seat(), "bot": "heuristic"},
        "pace": lambda: {"pace": form.get("pace", "")[:60]},
    }
    if act not in readers:
        raise Problem("form_stale")
    return {"act": act, **readers[act]()}
