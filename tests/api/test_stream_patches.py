"""Boards told by what has changed: whoever applies the patches has the very documents."""

from __future__ import annotations

import functools
import itertools
import json
import lzma
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from api.streams.json_patches import SentBoard
from domain.kernel.game.game_fold import apply_record
from domain.kernel.records import export
from domain.kernel.records.record import Record
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.json_codec import make_merge_patch, merge_patch
from domain.ruleset_registry import load_shipped
from domain.types import DIRECTOR, Json
from projections import documents
from projections.loaded_game import LoadedGame, load_game
from tests.api.conftest import Doc, Site
from tests.api.test_stream_sharing import LINES, lines
from tests.test_logs import LOGS

LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=2))
DOCS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), DOCS, max_size=4)


def applied(before: Doc, told: Doc | None, after: bytes) -> Json:
    """What a client has: by the patch, or the document itself where there is none."""
    return json.loads(after) if told is None else merge_patch(before, told["patch"])


@given(OBJECTS, OBJECTS)
def test_a_patch_makes_the_document_or_there_is_none(before: Doc, after: Doc) -> None:
    raw = canonical(after)
    told = SentBoard.pack(1, canonical(before)).patch(2, raw)
    assert canonical(applied(before, told, raw)) == raw


@given(OBJECTS, OBJECTS)
def test_without_nulls_there_is_always_a_difference_that_does(before: Doc, after: Doc) -> None:
    assume("null" not in json.dumps(after))
    assert canonical(merge_patch(before, make_merge_patch(before, after))) == canonical(after)


@functools.cache
def _records(name: str) -> tuple[Record, ...]:
    path = next(each for each in LOGS if each.name == name)
    return tuple(export.parse(lzma.decompress(path.read_bytes())).records)


def _boards(records: Sequence[Record], seat: int, first: int, steps: Sequence[int]) -> list[bytes]:
    """A seat's boards after some versions of a recorded game."""
    known, out, at = load_game(load_shipped(), records[:first]), [], first
    for step in (0, *steps):
        game = functools.reduce(lambda g, r: apply_record(known.rules, g, r), records[at : at + step], known.game)
        known, at = LoadedGame(known.rules, game), min(at + step, len(records))
        out.append(documents.build_board(known, DIRECTOR if seat < 0 else seat % known.game.table.seats))
    return out


@pytest.mark.parametrize("name", [path.name for path in LOGS if not path.name.startswith(("aor7", "se7-6"))])
@given(data=st.data())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_who_applies_patches_of_recorded_game_has_its_boards(name: str, data: st.DataObject) -> None:
    records = _records(name)
    first = data.draw(st.integers(1, min(len(records), 400)))
    steps = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    boards = _boards(records, data.draw(st.integers(0, 9)), first, steps)
    held: Doc = json.loads(boards[0])
    for before, after in itertools.pairwise(boards):
        told = SentBoard.pack(1, before).patch(2, after)
        held = applied(held, told, after)
        assert canonical(held) == canonical(json.loads(after))


def test_a_stream_of_patches_is_one_of_boards(site: Site) -> None:
    """For each viewer; the first message is complete, and each patch goes on from the one before."""
    table = site.table("orders@1", 3)
    with site.get(f"{table.path}/stream?deltas=1", table.tokens[0], Accept=LINES) as answer:
        (first,) = lines(answer.until("\n"))
        held, version, patches = first["data"], first["data"]["version"], 0
        for n in range(4):
            table.move(0, {"type": "order", "to": f"t{n:02}", "units": 1})
            for event in lines(answer.until(f'"id":{table.version}')):
                if event["event"] == "patch":
                    assert event["data"]["from"] == version
                    held, patches = merge_patch(held, event["data"]["patch"]), patches + 1
                    version = event["data"]["version"]
                elif event["event"] == "board":
                    held, version = event["data"], event["data"]["version"]
            assert held == table.get("/board", 0).json
    assert patches


def test_who_does_not_ask_gets_boards(site: Site) -> None:
    """Beside one who does."""
    table = site.table("orders@1", 3)
    with (
        site.get(f"{table.path}/stream?deltas=1", table.tokens[0], Accept=LINES) as patched,
        site.get(f"{table.path}/stream", table.tokens[0], Accept=LINES) as whole,
    ):
        for each in (patched, whole):
            each.until('"board"')
        table.move(0, {"type": "order", "to": "t01", "units": 1})
        assert '"patch"' in patched.until(f'"id":{table.version}')
        assert '"patch"' not in whole.until(f'"id":{table.version}')
