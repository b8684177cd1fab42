"""All about one region, as far as a visitor may know it: owner, pieces, figures, neighbours, rules, and an own note.

It is a page of its own, and the map shows it over the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from flask import Response

from api.documents.game_help import describe_things
from api.http.problems import Problem
from api.pages.common.form_keys import new_form_key
from api.pages.common.geometry import load_geometry
from api.pages.common.in_process import ask
from api.pages.common.labels import Labels, capital
from api.pages.common.presentation import load_map
from api.pages.common.session import render_games_page, session_owner
from api.pages.map.map_view import MapView, Offers, RegionShown, show_map
from api.pages.table.table_page import TablePage, load_table_page
from api.schemas.history_responses import HelpLineDoc
from domain.kernel.game.record_builder import has_talk
from domain.kernel.text.package_data import load
from domain.types import Doc, Json

MOST_FIGURES = 24
"""Most figures on a card."""


@dataclass(frozen=True)
class RegionCard:
    """A region as its card tells it."""

    region: RegionShown
    contents: str
    figures: Sequence[tuple[str, str]]
    neighbours: Sequence[tuple[str, str, str]]
    """Id, name and contents of each."""
    owner_seat: int | None
    """Seat of its owner, if a letter can be written to it."""
    note: str | None
    """The visitor's own note about it; None without an account."""
    line: HelpLineDoc | None = None
    """A sentence about it."""


def show_region(game: str, region: str) -> Response:
    """Show the card of a region of a table's map. Raise Problem for an unknown one."""
    page = load_table_page(game)
    shown = show_map(page.labels, page.board, page.seat, Offers())
    found = next((each for each in shown.regions if each.id == region), None) if shown else None
    if shown is None or found is None:
        raise Problem("not_found")
    return render_games_page(
        "region",
        page=page,
        labels=page.labels,
        summary=page.summary,
        card=_describe(page, shown, found),
        key=new_form_key(),
    )


def _describe(page: TablePage, shown: MapView, region: RegionShown) -> RegionCard:
    labels, by_id = page.labels, {each.id: each for each in shown.regions}
    near = [by_id[each] for each in region.doc.get("neighbours", ()) if each in by_id]
    figures = [*_read_data(labels, region.id), *_read_board(labels, page.board, region.id)]
    asked = ask("GET", f"/games/{page.game}/notes", role=page.role) if session_owner() else None
    notes = asked.doc["items"] if asked and asked.status < 400 else None
    note = None if notes is None else next((each["text"] for each in notes if each.get("place") == region.id), "")
    return RegionCard(
        region,
        region.describe_contents(labels),
        list(dict.fromkeys(figures))[:MOST_FIGURES],
        [(each.id, each.name, each.describe_contents(labels)) for each in near],
        _find_addressee(page, shown, region),
        note,
        describe_things(labels.rules.package, labels.texts.lang).get(region.id),
    )


def _find_addressee(page: TablePage, shown: MapView, region: RegionShown) -> int | None:
    """Return the seat of the region's owner, or of the only owner of its pieces, if the visitor may write to it."""
    if not has_talk(page.summary) or page.seat is None or page.summary["status"] != "running":
        return None
    owners = {piece.owner for piece in region.pieces if piece.owner}
    owner = region.owner or (next(iter(owners)) if len(owners) == 1 else None)
    seats = [each["seat"] for each in page.summary["seats"] if each["player"] and each["seat"] != page.seat]
    return next((seat for seat in seats if owner and page.labels.short_seat(seat) == owner.name), None)


def _read_data(labels: Labels, region: str) -> Iterator[tuple[str, str]]:
    """Yield the declared figures of a region in the game's data, such as its value: name and value."""
    data: Json = {}
    with suppress(FileNotFoundError):
        data = load(labels.rules.package, "data.json")
    figures = load_map(labels.rules.package).get("figures", {})
    for item in _find_items(data, region) if figures else ():
        for name, value in item.items():
            if name in figures and value not in (None, False):
                yield figures[name][labels.texts.lang], labels.describe(name, value)


def _find_items(value: Json, region: str) -> Iterator[Doc]:
    if isinstance(value, dict):
        if value.get("id") == region:
            yield value
        else:
            for each in value.values():
                yield from _find_items(each, region)
    elif isinstance(value, list):
        for each in value:
            yield from _find_items(each, region)


def _read_board(labels: Labels, board: Doc, region: str) -> Iterator[tuple[str, str]]:
    """Yield entries of the board about a region, but for those on the map: name and value."""
    geometry = load_geometry(labels.rules.package)
    drawn = [layer["at"].split("/")[1:] for layer in load_map(labels.rules.package).get("layers", ()) if "at" in layer]
    for part in ("public", "own") if geometry else ():
        for path, value in _find_entries(board.get(part), region, (part,)):
            if any(_is_drawn((*path, region), pointer) for pointer in drawn):
                continue
            members = value.items() if isinstance(value, dict) else [(path[-1], value)]
            for name, each in members:
                is_drawn = any(_is_drawn((*path, region, name), pointer) for pointer in drawn)
                if not is_drawn and labels.has_name(name) and each not in (None, False, [], {}):
                    yield capital(labels.member(name)), labels.describe(name, each)


def _find_entries(value: Json, region: str, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Json]]:
    """Yield each value under the id of a region, with the path of the mapping around it."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key == region:
                yield path, each
            else:
                yield from _find_entries(each, region, (*path, key))


def _is_drawn(path: Sequence[str], pointer: Sequence[str]) -> bool:
    """Return True if a layer of the map begins along this path."""
    pairs = zip(path, pointer, strict=False)
    return len(path) <= len(pointer) and all(want in ("*", each) or want[:1] == "{" for each, want in pairs)
