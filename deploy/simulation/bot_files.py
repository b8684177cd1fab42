"""Bots in files of their own: the same `choose(board, choice)` that plays over HTTP with the Python client."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from domain.bots import BOTS, BotPlayer, PlayableGame
from domain.errors import AnnalsError
from domain.kernel.rules.decide import build_move
from domain.types import PUBLIC, Doc, Json, Seat

Choose = Callable[[Json, Json], Json]
"""(board, question) -> the pick, both as the API gives them."""


class BotError(AnnalsError):
    """The file is no bot."""


def is_file(name: str) -> bool:
    """Whether a bot is named by its file."""
    return name.endswith(".py")


@cache
def player(name: str) -> BotPlayer:
    """One of BOTS, or the bot of a file. Raises BotError."""
    if not is_file(name):
        return BOTS[name]
    choose = _loaded(Path(name))

    def play(match: PlayableGame, seat: Seat, rng: random.Random) -> Doc:
        # What the file draws from the module's own generator then depends on the game alone, as for our bots.
        random.seed(rng.getrandbits(64))
        return _built(match, seat, choose)

    return play


def _loaded(file: Path) -> Choose:
    """What the file, which the caller has named, defines; it finds the modules beside it, as a script does."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise BotError(f"{file}: there is no such file")
    if (folder := str(file.resolve().parent)) not in sys.path:
        sys.path.append(folder)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(file.stem, module)  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    choose: Choose | None = getattr(module, "choose", None)
    if not callable(choose):
        raise BotError(f"{file}: it defines no function choose(board, choice)")
    return choose


def _built(match: PlayableGame, seat: Seat, choose: Choose) -> Doc:
    """A move of the builder, by the file's picks; a pick that was not offered is refused as it is over HTTP."""
    rules, state = match.rules, match.state
    board = {
        "ruleset": rules.meta.ruleset,
        "viewer": seat,
        "version": match.game.version,
        "status": "running",
        "public": rules.player_view(state, PUBLIC),
        "own": rules.player_view(state, seat),
    }
    return build_move(rules, state, seat, lambda question: choose(board, question.to_json()))
