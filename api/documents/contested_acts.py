"""Appeals as clients read them: with reasons, answers and what has lapsed by now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from api.schemas.table_responses import AppealOfficerDoc, FullAppealDoc
from api.services import ApiServices
from domain.kernel.game.appeals import Appeal, answering_role
from domain.kernel.game.game import AnyGame
from domain.kernel.game.officers import Officer
from domain.types import Seat
from projections.documents import appeal_to_json


def appeals_to_json(s: ApiServices, game: AnyGame) -> list[FullAppealDoc]:
    """Return all appeals of a game, the newest first."""
    found = game.lasting.appeals.appeals[::-1]
    officers = [each.answer.officer for each in found if each.answer is not None and each.answer.officer is not None]
    names = s.seat_tokens.texts.list_names({officer.player for officer in officers})
    hashes = [each.reason for each in found] + [officer.reason for officer in officers]
    reasons = s.seat_tokens.texts.find_texts([hashed for hashed in hashes if hashed])
    items: list[FullAppealDoc] = []
    for appeal in found:
        doc: FullAppealDoc = {
            **appeal_to_json(appeal),
            "status": appeal_status(appeal.answer_by, s.clock()),
            "reason": reasons.get(appeal.reason),
            "answered_by": None,
            "answer": None,
        }
        if (answer := appeal.answer) is not None:
            doc["status"] = answer.outcome
            doc["answered_by"] = "owner" if answer.by_owner else "officer"
            officer = _officer_to_json(answer.officer, names, reasons) if answer.officer else None
            doc["answer"] = {"version": answer.version, "at": answer.at, "officer": officer}
        elif doc["status"] == "open":
            doc["answered_by"] = _answering_role(game, appeal)
        items.append(doc)
    return items


def _officer_to_json(officer: Officer, names: Mapping[str, str], reasons: Mapping[str, str]) -> AppealOfficerDoc:
    return {
        "player": officer.player,
        "name": names.get(officer.player),
        "office": officer.office,
        "reason": reasons.get(officer.reason),
    }


def list_appealable(s: ApiServices, game: str, seat: Seat) -> list[int]:
    """Return the versions of officers' decisions still open to an appeal of a seat. Raise UnknownGame."""
    found = s.commands.game(game).lasting.appeals
    now = s.clock()
    own = {each.version for each in found.appeals if each.seat == seat}
    return [act.version for act in found.acts if now < act.appeal_by and act.version not in own]


def appeal_status(answer_by: int, now: int) -> Literal["open", "lapsed"]:
    """Return whether an appeal without an answer is `open` or has `lapsed`."""
    return "open" if now < answer_by else "lapsed"


def _answering_role(game: AnyGame, appeal: Appeal) -> str | None:
    act = game.lasting.appeals.find_act(appeal.version)
    return None if act is None or game.status == "closed" else answering_role(game, act)
