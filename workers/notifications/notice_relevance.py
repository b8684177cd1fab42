"""Checks of notices before they are sent: one can wait hours for its server."""

from __future__ import annotations

from dataclasses import dataclass

from domain.notifications.unread_messages import MESSAGE, UnreadMessageFinder
from domain.tournaments.aggregate.tournament import ENDED
from domain.types import Doc
from projections.reader import Reader
from projections.table_describer import list_owed


@dataclass(frozen=True)
class NoticeRelevance:
    """Compares notices with the views and with read letters."""

    reader: Reader
    unread_messages: UnreadMessageFinder

    def is_event_current(self, data: Doc) -> bool:
        """Return False if a tournament no longer waits for an act, by the views."""
        summary = self.reader.find_tournament_summary(data["tournament"])
        if summary is None or summary["version"] < data["version"]:
            return True
        match data.get("act"):
            case "check_in":
                return bool(summary["status"] == "checking")
            case "nonce":
                return bool(summary["status"] == "drawing")
            case "rank":
                is_ranked = (summary["stage"], summary["ranked"]) >= (data["stage"], data["round"])
                return summary["status"] not in ENDED and (data.get("again", False) or not is_ranked)
            case "bid" | "answer" | "come_back":
                return bool(summary["status"] not in ENDED)
            case _:
                return True

    def waits(self, account: str, doc: Doc) -> bool:
        """Return False if the person has read the letters, or owes the decision no longer."""
        data = doc["data"]
        if doc["type"] == MESSAGE:
            return self.unread_messages.has_waiting(account, data["game"], data["seat"])
        return not self._is_answered(data)

    def _is_answered(self, data: Doc) -> bool:
        """Return True if the views show that the decision is no longer owed."""
        if "decision" not in data:
            return False
        summary = self.reader.find_summary(data["game"], inside=True)
        if summary is None or summary["version"] < data["version"]:
            return False
        return data["decision"] not in [d["id"] for d in list_owed(self.reader, summary, data["seat"])]
