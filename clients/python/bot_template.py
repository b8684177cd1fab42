"""A template for bots. It plays any ruleset with the move builder; replace `choose`.

    ANNALS_TOKEN=anp_... python bot_template.py http://127.0.0.1:8000 GAME --seat 2

takes the seat, or continues in it, and plays to the end. With Annals installed, the same file also plays hundreds of
games in process, without HTTP:

    ./run annals simulate struggle_of_empires --seats 2 --games 200 --bots clients/python/bot_template.py,heuristic
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
    """Return the pick for one question. `board["public"]` and `board["own"]` show this seat's view of the game.

    The pick depends on `choice["kind"]`: one value of `choice["options"]` for `one`, a list of `lo` to `hi` values for
    `some`, a number from `lo` to `hi` for `range`. `field` names the subject. In process, boards have no names and
    clocks.
    """
    return at_random(board, choice)


def decide(treaty: t.Treaty) -> str:
    """Return the answer to a treaty: `accept` or `decline`. A bot that keeps no promises makes none."""
    return "decline"


class TreatyAnswers:
    """Answers the treaties proposed to a seat. Without the scope `talk:write` its token reads none."""

    def __init__(self, table: Table) -> None:
        self.table, self.heard = table, 0

    def answer(self) -> None:
        """Answer the treaties among the messages since the last look."""
        try:
            while found := self.table.messages(self.heard)["items"]:
                for message in found:
                    self.heard, treaty = message["entry"], message["treaty"]
                    if treaty and treaty["may_answer"]:
                        self.table.say("", answer={"entry": self.heard, "answer": decide(treaty)})
        except Refused as refusal:
            if refusal.code != "scope_missing":  # it is not the time for letters, or the game is over
                print(f"bot: {refusal}", file=sys.stderr)


def take_seat(annals: Annals, game: str, seat: int) -> Table:
    """Take the seat, or return it if the account already has it."""
    try:
        return annals.table(game).join(seat)
    except Refused as refusal:
        if refusal.code not in ("already_seated", "seat_taken"):
            raise
    table = annals.table(game, role=str(seat))
    table.seat = seat
    return table


def main() -> int:
    """Play one seat to the end. The token comes from the environment, hidden from process lists."""
    parser = argparse.ArgumentParser(description="Play a seat to the end.")
    parser.add_argument("address")
    parser.add_argument("game")
    parser.add_argument("--seat", type=int, required=True)
    args = parser.parse_args()
    try:
        table = take_seat(Annals(args.address, os.environ["ANNALS_TOKEN"]), args.game, args.seat)
        answers = TreatyAnswers(table)
        answers.answer()
        table.play(choose, answers.answer)
        for line in table.scores()["scores"]:
            print(line["place"], line["seat"], line["points"])
    except AnnalsError as error:
        print(f"bot: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
