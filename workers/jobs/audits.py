"""Audits: everything in a game's stream is proved again, also while the game is being played."""

from __future__ import annotations

from domain.errors import StoreDamaged, UnknownGame, VerificationError
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.service.job_requests import Doc, Errand
from domain.types import DIRECTOR, Json
from workers.context import Crew
from workers.jobs import parallel_audit, runner


def audit(id_: str) -> str:
    """An audit that was asked for; its outcome is the report."""
    return runner.settle(id_, _audit)


def _audit(hands: Crew, errand: Errand) -> Doc:
    return proved(hands, errand.game)


def proved(hands: Crew, game: str) -> dict[str, Json]:
    """What was proved, in numbers, or where the first fault is.

    Of a running game too every die is rolled again and every record decided again, with the seed from the vault. A
    fault is named by code and version alone: its details could tell what is still secret.
    """
    try:
        records = hands.ledger.read(game)
        if not records:
            raise UnknownGame(game)
        rules = hands.catalogue.get(records[0].body["ruleset"])
        found = export.parse(export.dump(records, DIRECTOR))
        seed = b"" if records[-1].kind == "closed" else hands.vault.seed(game)
        report = verify.verify(rules, found, seed=seed, again=parallel_audit.play_again).to_json()
    except VerificationError as error:
        hands.inspector.inspect(game)
        return {"verified": False, "game": game, "code": error.code, "version": error.version}
    except StoreDamaged:
        return {"verified": False, "game": game, "code": "unreadable", "version": hands.inspector.inspect(game) or 0}
    return {"verified": True, **report}
