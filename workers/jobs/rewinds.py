"""Rewinds: the whole game is folded, and the record is appended on the version that the request has named.

So a move that came in between has won, and nothing is changed.
"""

from __future__ import annotations

from domain.errors import StaleVersion
from domain.kernel.game.director_commands import Rewind
from domain.kernel.game.undo import agreed, motion
from domain.service.job_requests import Doc, Errand
from workers.context import Crew
from workers.jobs import runner


def rewind(id_: str) -> str:
    """A rewind that was asked for, once everybody has agreed who must."""
    return runner.settle(id_, _go_back)


def _go_back(hands: Crew, errand: Errand) -> Doc:
    args = errand.args or {}
    head = hands.ledger.version(errand.game)  # first: what another worker has done by then is found afterwards
    if hands.ledger.command(errand.game, errand.id) is None:
        if head != errand.version:
            raise StaleVersion(errand.version, head)
        if errand.declined:
            return {"refused": "declined"}
        if not errand.ready:
            return {}
        if args["seat"] is not None:
            _still_allowed(hands, errand, args)
    stored = hands.commands.do(
        errand.game,
        Rewind(
            args["to"],
            by="director" if args["seat"] is None else "seat",
            seat=args["seat"],
            consent=errand.agreed,
            reason=args["reason"],
            fresh=args["fresh"],
        ),
        expected=errand.version,
        command=errand.id,
    )
    hands.notify(stored.position)
    return {"version": stored.versions[-1], "position": stored.position}


def _still_allowed(hands: Crew, errand: Errand, args: Doc) -> None:
    """Judged on everything, while the request was judged on what the seat may read."""
    records = hands.ledger.read(errand.game, upto=errand.version)
    position = hands.commands.game(errand.game)
    rules = hands.catalogue.get(position.ruleset)
    policy = records[0].body.get("undo", "consent")
    agreed(motion(rules, position, records, args["to"], args["seat"], policy), errand.agreed)
