"""A bot to begin with: it plays any ruleset by the builder's questions. Replace `choose`.

    ANNALS_TOKEN=anp_... python bot_template.py http://127.0.0.1:8000 GAME --seat 2

takes that seat and plays to the end; a seat that the account has already is played on. The same file plays hundreds of
games in process, without HTTP, where Annals is installed:

    ./run annals simulate struggle_of_empires --seats 3 --games 200 --bots bot_template.py,heuristic,heuristic
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from annals_client import Annals, AnnalsError, Refused, Table, at_random

if TYPE_CHECKING:
    import annals_types as t


def choose(board: t.Board, choice: t.Choice) -> Any:
    """The pick for one question, of what this seat may see: `board["public"]`, and `board["own"]`.

    A value of one of `choice["options"]` where the `kind` is `one`, a list of `lo` to `hi` of them where it is `some`,
    a number from `lo` to `hi` where it is `range`; `field` says what is asked. In process a board has no names and no
    clocks.
    """
    return at_random(board, choice)


def seated(annals: Annals, game: str, seat: int) -> Table:
    """The seat, taken now or before."""
    try:
        return annals.table(game).join(seat)
    except Refused as refusal:
        if refusal.code not in ("already_seated", "seat_taken"):
            raise
    table = annals.table(game, role=str(seat))
    table.seat = seat
    return table


def main() -> int:
    """Play one seat to the end; the token stands in the environment, where no list of processes shows it."""
    parser = argparse.ArgumentParser(description="Play a seat to the end.")
    parser.add_argument("address")
    parser.add_argument("game")
    parser.add_argument("--seat", type=int, required=True)
    args = parser.parse_args()
    try:
        table = seated(Annals(args.address, os.environ["ANNALS_TOKEN"]), args.game, args.seat)
        table.play(choose)
        for line in table.scores()["scores"]:
            print(line["place"], line["seat"], line["points"])
    except AnnalsError as error:
        print(f"bot: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
