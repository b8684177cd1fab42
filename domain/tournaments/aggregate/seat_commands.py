"""Commands for seats by bids or lists: open the bids of a round, and file one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from domain.errors import RuleError, TournamentError
from domain.tournaments.aggregate.basic_commands import (
    EventOfficerCommand,
    TournamentCommand,
    TournamentContext,
    refuse_unless,
    require_entrant,
)
from domain.tournaments.aggregate.pod_seating import check_wish, find_pod, may_file
from domain.tournaments.aggregate.result_commands import check_round_may_begin, require_round
from domain.tournaments.aggregate.stage import StagePlay
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.records import By, RecordDraft
from domain.tournaments.terms import BY_DRAW


@dataclass(frozen=True)
class OpenBids(EventOfficerCommand):
    """The bids of a round are open for the time of its stage, or until everybody has filed one."""

    verb: ClassVar[str] = "OpenBids"
    stage: int
    round: int

    def find_moved_stage(self, t: Tournament) -> int | None:
        return None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        play = require_bids(t, self.stage, self.round)
        check_round_may_begin(t, self.stage, self.round)
        refuse_unless(self.round not in play.bidding, "bids_open", until=play.bidding.get(self.round))
        return [RecordDraft("bidding_opened", {"stage": self.stage, "round": self.round})]


@dataclass(frozen=True)
class FileBid(TournamentCommand):
    """An entrant files a sealed bid, or a list of seats, in place of the one before."""

    verb: ClassVar[str] = "FileBid"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]
    stage: int
    round: int
    bid: tuple[int, ...]
    """A number for each seat, or the wanted seats, the best first."""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_bids(t, self.stage, self.round)
        entrant = require_entrant(t, self.players)
        pod = find_pod(t, self.stage, self.round, entrant)
        refuse_unless(pod is not None, "not_eligible")
        refuse_unless(may_file(t, self.stage, self.round, entrant, context.now), "bids_closed")
        seats = len(t.list_present(self.stage, self.round, pod or 0))
        try:
            bid = check_wish(t.terms.stages[self.stage - 1].seating, self.bid, seats)
        except TournamentError as error:
            raise RuleError(error.code, "", {"seats": seats, "last": seats - 1}) from error
        sealed = {"bid": list(bid), "salt": context.make_salt()}
        return [RecordDraft("bid", {"stage": self.stage, "round": self.round, "entrant": entrant}, sealed)]


def require_bids(t: Tournament, stage: int, round_: int) -> StagePlay:
    """Return the stage of a drawn round; raise RuleError unless its seats go by bids or lists."""
    play = require_round(t, stage, round_)
    refuse_unless(t.terms.stages[stage - 1].seating != BY_DRAW, "seats_drawn")
    return play
