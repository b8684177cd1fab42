"""Bots from files: the same `choose(board, choice)` function also plays over HTTP with the Python client."""

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
"""(board, question) -> the pick; arguments as in the API."""


class BotError(AnnalsError):
    """The file contains no bot."""


def is_bot_file(name: str) -> bool:
    """Return whether the name is a bot file."""
    return name.endswith(".py")


@cache
def load_bot(name: str) -> BotPlayer:
    """Return one of BOTS, or load a bot file. Raises BotError."""
    if not is_bot_file(name):
        return BOTS[name]
    choose = _load_choose(Path(name))

    def play(match: PlayableGame, seat: Seat, rng: random.Random) -> Doc:
        # Draws from the `random` module then depend on the game alone, as for our bots.
        random.seed(rng.getrandbits(64))
        return _build_move(match, seat, choose)

    return play


def _load_choose(file: Path) -> Choose:
    """Execute the caller's file and return its `choose`. It can import modules of its folder. Raises BotError."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise BotError(f"{file}: there is no such file")
    if (folder := str(file.resolve().parent)) not in sys.path:
        sys.path.append(folder)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(file.stem, module)  # dataclasses look up their module there
    spec.loader.exec_module(module)
    choose: Choose | None = getattr(module, "choose", None)
    if not callable(choose):
        raise BotError(f"{file}: it defines no function choose(board, choice)")
    return choose


def _build_move(match: PlayableGame, seat: Seat, choose: Choose) -> Doc:
    """Build a move by the file's picks. A pick outside the offered options is refused, as over HTTP."""
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
