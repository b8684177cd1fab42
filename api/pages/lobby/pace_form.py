"""The pace of a tournament's tables: the fields of a form, and its meaning in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from flask import request

from api.http import i18n
from api.pages.common.agreements import DURATIONS
from api.pages.common.labels import Labels
from api.pages.common.numbers import read_number
from domain.kernel.game.deadlines import DEFAULT_CLASS, MAX_SECONDS, MAX_VACATION_DAYS
from domain.kernel.text.message_catalog import Message
from domain.types import Doc, Json

TIMES = (60, 300, 900, 3600, 6 * 3600, 12 * 3600, 86_400, 2 * 86_400, 3 * 86_400, 7 * 86_400)
"""Seconds that the form offers for a kind of decision."""

WEEK = range(1, 8)


@dataclass(frozen=True)
class PaceForm:
    """Choices of the form for a game: its presets, times for each kind of decision, and a bank."""

    labels: Labels
    most_vacation: ClassVar[int] = MAX_VACATION_DAYS

    @property
    def presets(self) -> list[tuple[str, int]]:
        """Return the presets of the game with the seconds for the longest decision."""
        return [(name, max(seconds.values())) for name, seconds in self.labels.rules.meta.paces.items()]

    @property
    def times(self) -> list[tuple[int, str]]:
        """Return seconds for a kind of decision, with their words."""
        return [(each, self.labels.texts.grammar.duration(each)) for each in TIMES]

    @property
    def banks(self) -> list[tuple[int, str]]:
        """Return seconds of a time bank, with their words."""
        return [(each, self.labels.texts.grammar.duration(each)) for each in DURATIONS]

    def has_own_times(self, sent: Mapping[str, str]) -> bool:
        """Return True if a form has a time for a kind of decision."""
        return any(sent.get(f"seconds.{name}") for name, _ in self.classes)

    @property
    def classes(self) -> list[tuple[str, str]]:
        """Return the classes of decisions with a deadline of their own, and the names of the decisions."""
        told = [(name, _join(self.labels, [name])) for name in _list_decisions(self.labels)]
        return [(name, decisions[:1].upper() + decisions[1:]) for name, decisions in told]

    @property
    def week(self) -> list[tuple[int, str]]:
        """Return the days of the week, 1 (Monday) to 7, with their names."""
        return [(day, self.labels.texts.grammar.weekday(day)) for day in WEEK]


def read_pace(labels: Labels, default: Json) -> Json:
    """Return the pace in the submitted form as requests have it; `default`, a preset, where the form names none.

    Fields for another game are ignored. Raise Problem for a form that is not ours.
    """
    form, classes = request.form, _list_decisions(labels)
    preset = form.get("pace", "")
    preset = preset if preset in ("none", *labels.rules.meta.paces) else default
    own = {name: read_number(f"seconds.{name}", MAX_SECONDS, 1) for name in classes if form.get(f"seconds.{name}")}
    more: Doc = {}
    if form.get("bank"):
        more["bank"] = read_number("bank", MAX_SECONDS)
    if form.get("vacation"):
        more["vacation"] = read_number("vacation", MAX_VACATION_DAYS)
    days_off = [day for day in WEEK if form.get(f"off.{day}") == "yes"]
    if form.get("hour") or days_off:  # days without an hour are refused, not forgotten
        more["daily"] = {"hour": form.get("hour", "")[:5], "zone": form.get("zone", "")[:64], "days_off": days_off}
    seconds = {**labels.rules.meta.paces.get(str(preset), {}), **own}
    return {"seconds": seconds, **more} if seconds and (own or any(more.values())) else preset


def tell_pace(labels: Labels, pace: Json) -> list[str]:
    """Return a pace, or the name of a preset, as lines: the times of decisions, bank, vacation, and the daily hour."""
    doc: Doc = pace if isinstance(pace, dict) else {"seconds": labels.rules.meta.paces.get(str(pace), {})}
    seconds: Mapping[str, int] = doc["seconds"]
    if not seconds:
        return []
    told = [
        Message("{seconds:time} for: {decisions}", seconds=each, decisions=_join(labels, names))
        for each in sorted(set(seconds.values()), reverse=True)
        if (names := [name for name in seconds if seconds[name] == each and name in _list_decisions(labels)])
    ]
    if untimed := [name for name in _list_decisions(labels) if name not in seconds]:
        told.append(Message("no deadline for: {decisions}", decisions=_join(labels, untimed)))
    if grace := doc.get("grace"):
        told.append(Message("a grace of {grace:time} after each deadline", grace=grace))
    if bank := doc.get("bank"):
        told.append(Message("a time bank of {bank:time} for each seat, for the whole game", bank=bank))
    if vacation := doc.get("vacation"):
        told.append(Message("{count} {count#day|days} of vacation for each seat", count=vacation))
    if daily := doc.get("daily"):
        told.append(_tell_hour(labels, daily))
    return [i18n.translate(each, labels.texts.lang) for each in told]


def _tell_hour(labels: Labels, daily: Doc) -> Message:
    grammar, off = labels.texts.grammar, daily.get("days_off")
    if not off:
        return Message("deadlines at {hour} ({zone})", hour=daily["hour"], zone=daily["zone"])
    days = grammar.join_list([grammar.weekday(day) for day in off])
    return Message(
        "deadlines at {hour} ({zone}), and none on {days}", hour=daily["hour"], zone=daily["zone"], days=days
    )


def _list_decisions(labels: Labels) -> dict[str, list[str]]:
    """Return the kinds of decisions of each class of deadlines of the game."""
    found: dict[str, list[str]] = {}
    for kind, name in labels.rules.meta.clocks.items():
        found.setdefault(name, []).append(kind)
    return found or {DEFAULT_CLASS: []}


def _join(labels: Labels, classes: list[str]) -> str:
    """Return the names of the decisions of classes, or of any decision where the game names none."""
    kinds = [kind for name in classes for kind in _list_decisions(labels)[name]]
    names = [labels.decision_noun(kind) for kind in kinds]
    return ", ".join(dict.fromkeys(names)) or i18n.translate(Message("every decision"), labels.texts.lang)
