"""What is owed to webhooks: read from the log, record by record, and written down with how far it was read.

So whatever is killed, each record is read once as far as the rows know; and what is made of it has the same id if it is
read again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from domain.errors import StoreUnavailable, WrongKey
from domain.kernel.records.record import Record
from domain.ledger import LogEntry
from domain.notifications.outbox import Company, Listener, Notice, Outbox, signals
from domain.types import DIRECTOR, Doc, Seat
from projections.loaded_game import Follower, Known
from workers.context import Crew
from workers.notifications.digests import Digests

SLICE = 100
"""Log entries that are read at once."""

SLICES = 5
"""Slices of one look: whoever waits for the views does not wait for notices."""

KEEP = 256
"""Games that are remembered from one record to the next."""

NEAR = 3_600_000
"""ms before a deadline at which it is near; where less is left, half of that."""

REST = 600.0
"""Seconds between two looks for what is too old."""

log = logging.getLogger("annals.notices")

_TABLE = {"opened": "table.opened", "started": "table.started", "closed": "table.closed"}
"""Kind of record -> what the lobby is told."""


def outsiders_know(known: Known) -> bool:
    """Whether somebody who neither sits at the table nor directs it may know of its newest record already.

    Of a table that is shown with a delay they are told nothing: what they see of it passes later.
    """
    return not known.game.delay


@dataclass(frozen=True)
class _Step:
    """A record with the game before and after it."""

    record: Record
    before: Known | None
    known: Known

    @property
    def data(self) -> Doc:
        """What everybody may know of it."""
        game = self.known.game
        return {"game": game.id, "ruleset": game.ruleset, "version": self.record.version, "status": game.status}


@dataclass(frozen=True)
class _Made:
    """What comes of a record: to be told now, and as things stand later."""

    now: list[Notice]
    later: list[Notice]


_NOTHING = _Made([], [])


class Owing:
    """Of several that look at once one writes each slice down. May raise StoreUnavailable."""

    def __init__(self, crew: Crew, outbox: Outbox, digests: Digests | None = None) -> None:
        self._ledger, self._outbox = crew.ledger, outbox
        self._digests, self._clock = digests, crew.clock
        self._follower = Follower(crew.catalogue, crew.ledger)
        self._games: LRUCache[str, Known] = LRUCache(KEEP)
        self._server = ""
        self._pruned = 0.0

    def look(self) -> None:
        """Write down what is owed for what has come into the log, and for challenges."""
        if time.monotonic() > self._pruned + REST:
            self._outbox.prune()
            self._pruned = time.monotonic()
        if self._digests:
            self._digests.look(self._clock())
        since = self._outbox.since()
        if since is None:
            return
        self._challenges()
        for _ in range(SLICES):
            if not self._slice(since):
                return

    def _slice(self, since: int) -> bool:
        """Whether there may be more."""
        kept = self._outbox.position()
        entries = self._ledger.log(max(kept, since), SLICE)
        if self._server != self._ledger.server:  # what is remembered may be of records that it does not know
            self._server = self._ledger.server
            self._games.clear()
        if not entries:
            return False
        company: dict[str, list[Company]] = {}
        for found in self._outbox.company(sorted({entry.game for entry in entries})):
            company.setdefault(found.game, []).append(found)
        notices: list[Notice] = []
        near: dict[str, list[Notice]] = {}
        lobby = self._outbox.lobby()
        for entry in entries:
            told = company.get(entry.game, ())
            made = self._made(entry, told, lobby) if told or lobby else _NOTHING
            notices += made.now
            near[entry.game] = made.later
        notices += [n for found in near.values() for n in found]
        self._outbox.owe(notices, (kept, entries[-1].position), near)
        return True

    def _made(self, entry: LogEntry, told: Sequence[Company], lobby: Sequence[Listener]) -> _Made:
        """Nothing of a record that cannot be read, or not by this version: the views set its game aside."""
        try:
            step = self._step(entry)
            now = [*_of_lobby(step, entry, lobby), *(n for m in told for n in _of_member(step, entry, m))]
            later = [n for m in told if signals(m.hook, "deadline.near") for n in _near(step, m)]
        except (StoreUnavailable, WrongKey):
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one game, the others go on
            log.warning("nobody is told of %s, version %s: %s", entry.game, entry.version, type(error).__name__)
            return _NOTHING
        return _Made(now, later)

    def _step(self, entry: LogEntry) -> _Step:
        before = self._follower.before(self._games.get(entry.game), entry)
        known = self._games[entry.game] = self._follower.after(before, entry)
        return _Step(entry.record, before, known)

    def _challenges(self) -> None:
        found = [
            Notice(
                hook.webhook,
                "challenge.made",
                (game, str(at)),
                at,
                {"game": game, "seat": None if seat < 0 else seat, "until": until},
                game,
            )
            for hook, game, seat, at, until in self._outbox.challenged()
            if signals(hook, "challenge.made")
        ]
        known = self._outbox.known([notice.id for notice in found])
        if new := [notice for notice in found if notice.id not in known]:
            self._outbox.owe(new)


def _of_lobby(step: _Step, entry: LogEntry, lobby: Sequence[Listener]) -> Iterator[Notice]:
    """What whoever looks for tables is told."""
    type_ = _TABLE.get(step.record.kind)
    if type_ is None or step.known.listing != "public" or not outsiders_know(step.known):
        return
    for found in lobby:
        if signals(found, type_) and entry.position > found.since:
            yield _notice(found.webhook, type_, step)


def _of_member(step: _Step, entry: LogEntry, member: Company) -> Iterator[Notice]:
    """What somebody is told who has a role there."""
    hook = member.hook
    if entry.position <= hook.since:
        return
    if signals(hook, "table.changed"):
        yield _notice(hook.webhook, "table.changed", step, kind=step.record.kind)
    if signals(hook, "game.over") and _ends(step):
        yield _notice(hook.webhook, "game.over", step)
    if signals(hook, "turn.due") and (seat := _seat(member)) is not None:
        before = _owed(step.before, member, seat) if step.before else {}
        for decision, due in _owed(step.known, member, seat).items():
            if decision not in before:
                yield _notice(hook.webhook, "turn.due", step, seat=seat, decision=decision, deadline=due)


def _near(step: _Step, member: Company) -> Iterator[Notice]:
    """What is to be told of deadlines later, as things stand."""
    game, seat = step.known.game, _seat(member)
    if seat is None:
        return
    for decision, due in _owed(step.known, member, seat).items():
        if due is not None and due > game.at:
            data = {**step.data, "seat": seat, "decision": decision, "deadline": due}
            at = due - min(NEAR, (due - game.at) // 2)
            about = (game.id, decision, str(seat), str(due))
            yield Notice(member.hook.webhook, "deadline.near", about, at, data, game.id, at, due)


def _notice(hook: str, type_: str, step: _Step, **more: object) -> Notice:
    """Of a record; the same webhook may be told of several seats."""
    about = (step.known.game.id, str(step.record.version), str(more.get("seat", "")), str(more.get("decision", "")))
    at = int(step.record.public["at"])
    return Notice(hook, type_, about, at, {**step.data, **more}, step.known.game.id)


def _seat(member: Company) -> Seat | None:
    return None if member.role == DIRECTOR else int(member.role)


def _owed(known: Known, member: Company, seat: Seat) -> dict[str, int | None]:
    """The decisions that the person owes at that seat, as the seat itself sees it, and when each is due, ms."""
    player = known.game.players.get(seat)
    if player is None or player.id != member.player:
        return {}
    found = [d for d in known.open(seat) if seat in d.must]
    return {d.id: known.game.dues([seat]).get(seat) for d in found}


def _ends(step: _Step) -> bool:
    over = ("over", "closed")
    return step.known.game.status in over and (step.before is None or step.before.game.status not in over)
