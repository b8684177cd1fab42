"""The row of players, always in sight: shield, name, points, money, and a sign for an answer due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api.http import i18n
from api.pages.common.labels import Labels
from api.pages.common.owners import TINTS, Owner, Owners, find_values
from api.pages.common.presentation import load_map, load_players
from api.pages.table.table_page import TablePage
from domain.kernel.text.message_catalog import Message
from domain.types import Doc, Json, Seat


@dataclass(frozen=True)
class PlayerShown:
    """A player in the row."""

    seat: Seat
    shields: Sequence[Owner]
    """The power of the seat, or the powers in its control now; else one with the number of the seat."""
    is_power: bool
    """True if the shield says as much as the name."""
    name: str
    person: str
    figures: Sequence[tuple[str, str]]
    """Value and unit, in words."""
    must: bool
    has_answered: bool
    is_own: bool
    href: str


def list_players(page: TablePage) -> list[PlayerShown]:
    """Return the players with their figures, as far as the visitor may know them; the visitor first."""
    labels, board = page.labels, page.board
    if not board:
        return []
    doc = load_players(labels.rules.package)
    owners = Owners(labels, board, load_map(labels.rules.package).get("owners", ()))
    figures = [(figure, _load_figure(page, figure)) for figure in doc.get("figures", ())]
    held = _list_held(board, owners, doc)
    shown = []
    for seat in (each["seat"] for each in page.summary["seats"]):
        values = [_tell(page, figure, values[seat]) for figure, values in figures if seat in values]
        shown.append(_show_player(page, doc, seat, owners.find(seat), held.get(seat, ()), values))
    return sorted(shown, key=lambda each: not each.is_own)


def _show_player(
    page: TablePage, doc: Doc, seat: Seat, owner: Owner | None, held: Sequence[Owner], values: Sequence[tuple[str, str]]
) -> PlayerShown:
    labels, panel = page.labels, doc.get("panel", "")
    decision = page.decision or {"must": (), "done": ()}
    name, person = labels.short_seat(seat), labels.names.people.get(seat, "")
    if seat == page.seat and seat not in labels.names.powers and not person:
        name = i18n.translate(Message("You"), labels.texts.lang)
    anchor = f"empire-{owner.tint}" if owner else f"panel-public-{panel}"
    return PlayerShown(
        seat,
        [owner] if owner else held or [Owner(name, str(seat + 1), TINTS - 1)],
        seat in labels.names.powers,
        name,
        person if person != name else "",
        values,
        seat in decision["must"],
        seat in decision["done"],
        seat == page.seat,
        f"#{anchor}" if panel else "#seats",
    )


def _list_held(board: Doc, owners: Owners, doc: Doc) -> Mapping[Seat, list[Owner]]:
    """Return the powers in the control of each seat now, in a game with other seats than powers."""
    held: dict[Seat, list[Owner]] = {}
    for taken, seat in find_values(board, doc["holds"]) if "holds" in doc else ():
        owner = owners.find(taken["owner"])
        if owner is not None and isinstance(seat, int):
            held.setdefault(seat, []).append(owner)
    return held


def _load_figure(page: TablePage, figure: Doc) -> Mapping[Seat, int]:
    """Return a figure by seat: from the board, or the points of the standings."""
    if figure.get("scores"):
        return {each["seat"]: each["points"] for each in page.load_scores()}
    return read_figure(page.labels, page.board, figure, page.seat)


def read_figure(labels: Labels, board: Doc, figure: Doc, own: Seat | None) -> Mapping[Seat, int]:
    """Return a figure of a board by seat. One in the own part of the board belongs to the visitor, `own`."""
    powers = {power: seat for seat, power in labels.names.powers.items()}
    found = {}
    for taken, value in find_values(board, figure["at"]) if "at" in figure else ():
        key: Json = taken.get("owner", own)
        seat = powers.get(str(key), int(key) if str(key).isdecimal() else None)
        if seat is not None and isinstance(value, int) and not isinstance(value, bool):
            found[seat] = value
    return found


def _tell(page: TablePage, figure: Doc, value: int) -> tuple[str, str]:
    texts = page.labels.texts
    return texts.grammar.number(value), str(figure["unit"][texts.lang])
