"""The command behind a stored record."""

from __future__ import annotations

from collections.abc import Mapping

from domain.kernel.game.appeal_commands import AnswerAppeals, AppealAct
from domain.kernel.game.command import Command
from domain.kernel.game.director_commands import Depute, Extend, Hold, Look, Reissue, Rewind, SetPace, Shift
from domain.kernel.game.game import AnyGame
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.play_commands import Lapse, Play, Resolve, Rest
from domain.kernel.game.ruling_commands import RuleEnding, WithdrawRuling
from domain.kernel.game.table_commands import Close, Join, Leave, Reveal, Start, Vacate
from domain.kernel.records.record import Record

_BY_KIND: Mapping[str, type[Command]] = {
    "joined": Join,
    "revealed": Reveal,
    "left": Leave,
    "started": Start,
    "moved": Play,
    "lapsed": Lapse,
    "resolved": Resolve,
    "rested": Rest,
    "rewound": Rewind,
    "deputed": Depute,
    "closed": Close,
}

_RULED: Mapping[str, type[Command]] = {
    "answer": AnswerAppeals,
    "appeal": AppealAct,
    "end": RuleEnding,
    "extend": Extend,
    "hold": Hold,
    "pace": SetPace,
    "pause": PauseGame,
    "reissue": Reissue,
    "resume": ResumeGame,
    "shift": Shift,
    "vacate": Vacate,
    "withdraw": WithdrawRuling,
}


def command_of(record: Record, game: AnyGame) -> Command:
    """Return the command behind a record, except the first; `game` is the game before it."""
    if record.kind != "ruled":
        return _BY_KIND[record.kind].from_record(record, game)
    if record.moves():
        return Play.from_record(record, game)
    if "act" in record.body:
        return _RULED[record.body["act"]].from_record(record, game)
    return Look.from_record(record, game)
