"""The command that a stored record came from."""

from __future__ import annotations

from collections.abc import Mapping

from domain.kernel.game.command import Act
from domain.kernel.game.director_commands import Extend, Hold, Look, Reissue, Rewind, Shift
from domain.kernel.game.game import AnyGame
from domain.kernel.game.play_commands import Lapse, Play, Resolve, Rest
from domain.kernel.game.table_commands import Close, Join, Leave, Reveal, Start, Vacate
from domain.kernel.records.record import Record

_BY_KIND: Mapping[str, type[Act]] = {
    "joined": Join,
    "revealed": Reveal,
    "left": Leave,
    "started": Start,
    "moved": Play,
    "lapsed": Lapse,
    "resolved": Resolve,
    "rested": Rest,
    "rewound": Rewind,
    "closed": Close,
}

_RULED: Mapping[str, type[Act]] = {"extend": Extend, "hold": Hold, "reissue": Reissue, "shift": Shift, "vacate": Vacate}


def act_of(record: Record, game: AnyGame) -> Act:
    """What made a record that is not the first, done to the game as it was before."""
    if record.kind != "ruled":
        return _BY_KIND[record.kind].of(record, game)
    if record.acts():
        return Play.of(record, game)
    if "act" in record.body:
        return _RULED[record.body["act"]].of(record, game)
    return Look.of(record, game)
