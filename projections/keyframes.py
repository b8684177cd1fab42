"""Keyframes: past versions of a game as stored, from which the versions after them are folded.

They stand at every `SPACING`-th version and at rewinds to before the last of these, so a fold from the newest keyframe
seldom needs an earlier version. A keyframe has the hash of its record, and with it of all records before: it is valid
for the log that has this record. Any of them may be missing: then a board of any version of 3,000 takes some 200 times
as long to load (`python -m tests.perf.history`).
"""

from __future__ import annotations

import functools
import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields

import msgspec
from msgspec.inspect import type_info
from sqlalchemy import Connection, Integer, bindparam, delete, func, literal_column, select

from domain import game_history
from domain.kernel.game.game import Game
from domain.kernel.game.past import Past
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset, share_memo
from domain.types import DIRECTOR, Doc, Viewer
from projections import schema
from projections.live_rows import is_live
from projections.view_store import PreparedStatement, ViewStore, upsert

ANCHORS = 16
"""Of so many keyframes in a row the first is compressed alone, the others with its document as dictionary.

Without dictionaries they take 4.1 times the bytes (`python -m tests.perf.history`), and with one for all of a game 1.6
times.
"""

FORMAT = 3
"""Format of the documents. Raise it when an unchanged state class gets another meaning."""

GAME = "game"
"""Reader of the row with the game without its board."""

_K = schema.keyframes.c
_NEWEST = (
    select(func.max(_K.version))
    .where(is_live(schema.keyframes), _K.game == bindparam("of_game"), _K.version <= bindparam("upto"))
    .where(_K.reader == bindparam("by"), _K.form == bindparam("of_form"))
    .scalar_subquery()
)
FIND = PreparedStatement(
    select(_K.version, _K.reader, _K.form, _K.hash, _K.doc).where(
        is_live(schema.keyframes),
        _K.game == bindparam("of_game"),
        _K.version.in_([_NEWEST, _NEWEST - (_NEWEST - bindparam("first", type_=Integer)) % bindparam("distance")]),
        _K.reader.in_([literal_column(f"'{GAME}'"), bindparam("by")]),
    )
)
_ANCHOR = select(_K.doc).where(
    _K.gen == bindparam("in_gen"),
    _K.game == bindparam("of_game"),
    _K.version == bindparam("at"),
    _K.reader == bindparam("by"),
    _K.form == bindparam("of_form"),
)
_READERS = select(_K.version, _K.reader).where(is_live(schema.keyframes), _K.game == bindparam("of_game"))
_OF_OTHER_FORMS = delete(schema.keyframes).where(
    _K.gen == bindparam("in_gen"), _K.game == bindparam("of_game"), _K.form != bindparam("of_form")
)
_LIVE = select(schema.generations.c.gen).where(schema.generations.c.live)


def is_keyframe(record: Record) -> bool:
    """Return whether a keyframe stands at the version of this record."""
    border = (record.version - 1) // game_history.SPACING * game_history.SPACING
    return record.version % game_history.SPACING == 0 or (record.kind == "rewound" and record.body["to"] < border)


@dataclass(frozen=True)
class Keyframes:
    """The stored keyframes of games. Documents are encrypted, each for its reader and version alone."""

    views: ViewStore

    def find(self, rules: AnyRuleset, game: str, upto: int, viewer: Viewer) -> Past | None:
        """Return the newest stored past up to a version for this viewer; None without a readable one."""
        form, by = form_of(rules), str(viewer)
        rows = self.views.fetch_all(FIND, of_game=game, upto=upto, by=by, of_form=form, **_anchor_grid())
        version = max((row[0] for row in rows), default=0)
        sealed = {(row[0], row[1]): row[4] for row in rows if row[2] == form}
        hashes = {row[3] for row in rows if row[0] == version}
        try:
            docs = [self._open_row(game, version, reader, sealed) for reader in (GAME, by)]
            found = Past(_GAME.decode(docs[0]), {viewer: _state_decoder(rules).decode(docs[1])}, *hashes)
        except (KeyError, TypeError, ValueError, zlib.error):  # missing or altered: a fold replaces it
            return None
        share_memo(found.known[viewer])
        return found if found.version == version else None

    def _open_row(self, game: str, version: int, reader: str, sealed: Mapping[tuple[int, str], bytes]) -> bytes:
        anchor = _anchor_of(version)
        zipped = self._open(game, version, reader, sealed[version, reader])
        if anchor == version or (anchor, reader) not in sealed:
            return zlib.decompress(zipped)
        return _unzip(zipped, zlib.decompress(self._open(game, anchor, reader, sealed[anchor, reader])))

    def save(self, rules: AnyRuleset, game: str, pasts: Iterable[Past]) -> None:
        """Store pasts, assigned as whole rows. May raise StoreUnavailable."""
        docs = [(past, reader, doc) for past in pasts for reader, doc in _encode(past).items()]
        if not docs:
            return
        form, anchors = form_of(rules), dict[tuple[int, str], bytes]()
        rows: list[Doc] = []
        with self.views.transaction() as db:
            gen = db.execute(_LIVE).scalar_one()
            db.execute(_OF_OTHER_FORMS, {"in_gen": gen, "of_game": game, "of_form": form})
            for past, reader, doc in docs:
                anchor = _anchor_of(past.version)
                if anchor == past.version:
                    anchors[anchor, reader] = doc
                elif (anchor, reader) not in anchors:
                    anchors[anchor, reader] = self._load_anchor(db, gen, game, anchor, reader, form)
                zipped = _zip(doc, b"" if anchor == past.version else anchors[anchor, reader])
                row = {"gen": gen, "game": game, "version": past.version, "reader": reader, "form": form}
                rows.append(row | {"hash": past.hash, "doc": self._seal(game, past.version, reader, zipped)})
            upsert(db, schema.keyframes, rows)

    def _load_anchor(self, db: Connection, gen: int, game: str, version: int, reader: str, form: str) -> bytes:
        """Return the document of an anchor, empty without a readable one."""
        values = {"in_gen": gen, "of_game": game, "at": version, "by": reader, "of_form": form}
        sealed = db.execute(_ANCHOR, values).scalar()
        with suppress(ValueError, zlib.error):
            return b"" if sealed is None else zlib.decompress(self._open(game, version, reader, sealed))
        return b""

    def list_viewers(self, game: str) -> dict[int, set[Viewer]]:
        """Return version -> viewers with a stored state."""
        found: dict[int, set[Viewer]] = {}
        with self.views.reading() as db:
            for version, reader in db.execute(_READERS, {"of_game": game}):
                viewers = found.setdefault(version, set())
                if reader != GAME:
                    viewers.add(int(reader) if reader.isdecimal() else reader)
        return found

    def drop(self, game: str) -> None:
        """Drop the keyframes of a game; readers make them again."""
        with self.views.transaction() as db:
            db.execute(delete(schema.keyframes).filter_by(game=game))

    def _seal(self, game: str, version: int, reader: str, doc: bytes) -> bytes:
        return self.views.seal_document(game, f"keyframe|{version}|{reader}", doc)

    def _open(self, game: str, version: int, reader: str, sealed: bytes) -> bytes:
        return self.views.open_document(game, f"keyframe|{version}|{reader}", sealed)


# --- documents -------------------------------------------------------------------------------------------------


def _encode(past: Past) -> dict[str, bytes]:
    """Return reader -> document: equal pasts give equal ones, since others are compressed with them."""
    game = past.stored_game
    members = {f.name: getattr(game, f.name) for f in fields(game)}
    docs = {GAME: msgspec.msgpack.encode(members | {"stakeholders": sorted(game.seating.stakeholders)})}
    for viewer, state in past.known.items():
        if viewer != DIRECTOR or past.version == _anchor_of(past.version):  # wanted at the end alone, and large
            docs[str(viewer)] = msgspec.msgpack.encode(state)
    return docs


def _anchor_grid() -> dict[str, int]:
    """Return the version of the first anchor, and the distance of the others."""
    return {"first": game_history.SPACING, "distance": game_history.SPACING * ANCHORS}


def _anchor_of(version: int) -> int:
    """Return the version of the anchor of a keyframe."""
    return version - (version - game_history.SPACING) % (game_history.SPACING * ANCHORS)


def _zip(doc: bytes, dictionary: bytes) -> bytes:
    if not dictionary:
        return zlib.compress(doc)
    zipper = zlib.compressobj(zdict=dictionary)
    return zipper.compress(doc) + zipper.flush()


def _unzip(zipped: bytes, dictionary: bytes) -> bytes:
    unzipper = zlib.decompressobj(zdict=dictionary)
    return unzipper.decompress(zipped) + unzipper.flush()


_GAME: msgspec.msgpack.Decoder[Game[State]] = msgspec.msgpack.Decoder(Game[State])


@functools.cache
def _state_decoder(rules: AnyRuleset) -> msgspec.msgpack.Decoder[State]:
    return msgspec.msgpack.Decoder(rules.state)


@functools.cache
def form_of(rules: AnyRuleset) -> str:
    """Return the name of the form of a ruleset's keyframes: it changes with the classes of state and game."""
    told = re.sub(" at 0x[0-9a-f]+", "", f"{FORMAT} {type_info(rules.state)!r} {type_info(Game[State])!r}")
    return hashlib.sha256(told.encode()).hexdigest()[:16]
