"""Makes outbox rows from the log. Rows and log position commit together.

Each record is therefore read once, and a repeated read gives rows with the same ids.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cachetools import LRUCache

from domain.errors import StoreUnavailable, WrongKey
from domain.kernel.game.proposals import SILENCE_MS
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import Decision
from domain.ledger import LogEntry
from domain.notifications.outbox import Notice, Outbox
from domain.notifications.personal_news import PersonalNews
from domain.notifications.subscriptions import MemberSubscription, Subscription, subscribes_to
from domain.notifications.unread_messages import INTERVAL, MESSAGE, OLDEST, UnreadMessages
from domain.notifications.webhooks import OPENED
from domain.types import DIRECTOR, PUBLIC, Seat, is_tournament_id
from projections.documents import build_seats
from projections.loaded_game import LoadedGame
from projections.notice_documents import (
    AnswerNoticeDoc,
    AppealNoticeDoc,
    ChallengeNoticeDoc,
    ChangeNoticeDoc,
    MessageNoticeDoc,
    OrderNoticeDoc,
    ProposalNoticeDoc,
    SeatNoticeDoc,
    TableNoticeDoc,
    TurnNoticeDoc,
)
from workers.context import WorkerContext
from workers.notifications.digests import DigestProducer
from workers.notifications.event_notices import EventNotices

SLICE = 100
"""Log entries per read."""

MAX_SLICES = 5
"""Slices per pass, so that the views do not wait for notifications."""

CACHE_GAMES = 256
"""Games cached between records."""

NEAR_MS = 3_600_000
"""ms before a deadline at which it counts as near; at most half of the remaining time."""

PRUNE_SECONDS = 600.0
"""Seconds between two removals of old rows."""

log = logging.getLogger("annals.notices")

_LOBBY_TYPES = {"opened": "table.opened", "started": "table.started", "closed": "table.closed"}
"""Record kind -> event type for subscribers of the lobby."""


def is_visible_to_outsiders(loaded: LoadedGame) -> bool:
    """Return True if people outside the table may already see its newest record.

    They get no notifications of delayed tables.
    """
    return not loaded.game.delay


@dataclass(frozen=True)
class _RecordStep:
    """A record with the game before and after it."""

    record: Record
    before: LoadedGame | None
    after: LoadedGame
    is_by_order: bool = False
    """Whether a standing order made the move."""

    @property
    def public_data(self) -> TableNoticeDoc:
        """Public data about the record."""
        game = self.after.game
        return {"game": game.id, "ruleset": game.ruleset, "version": self.record.version, "status": game.status}

    def is_own_move(self, seat: Seat) -> bool:
        """Return whether the player of the seat has just moved: they are there, and see the next decision."""
        return (
            self.record.kind == "moved" and not self.is_by_order and seat in {mover for mover, _ in self.record.moves()}
        )


@dataclass(frozen=True)
class _Produced:
    """Notifications of a record: immediate ones, and deadline warnings for later."""

    now: list[Notice]
    deadline_notices: list[Notice]


_NO_NOTICES = _Produced([], [])


@dataclass(frozen=True)
class _Subscribers:
    """Subscriptions that a record of a table may concern."""

    members: Sequence[MemberSubscription]
    lobby: Sequence[Subscription]
    chat: Subscription | None

    @property
    def exist(self) -> bool:
        """True if there are any."""
        return bool(self.members or self.lobby or self.chat)


class NotificationProducer:
    """Writes notifications; of several producers, one writes each slice. May raise StoreUnavailable."""

    def __init__(self, context: WorkerContext, outbox: Outbox, digests: DigestProducer | None = None) -> None:
        self._ledger, self._orders, self._outbox = context.ledger, context.orders, outbox
        self._digests, self._clock = digests, context.clock
        self._history = context.history
        self._rulesets: LRUCache[str, str] = LRUCache(CACHE_GAMES)
        self._events = EventNotices(context.ledger, outbox, self._find_due)
        self._log_id = ""
        self._pruned = 0.0

    def produce(self) -> None:
        """Write notifications for new records, challenges, proposals and messages."""
        if time.monotonic() > self._pruned + PRUNE_SECONDS:
            self._outbox.prune()
            self._pruned = time.monotonic()
        if self._digests:
            self._digests.enqueue_due(self._clock())
        start = self._outbox.first_position()
        if start is None:
            return
        self._enqueue_requests()
        self._tell_of_messages()
        self._tell_people()
        self._tell_of_orders()
        for _ in range(MAX_SLICES):
            if not self._read_slice(start):
                return

    def _read_slice(self, start: int) -> bool:
        """Write notifications for one slice; return True if there may be more."""
        reached = self._outbox.log_position()
        entries = self._ledger.log(max(reached, start), SLICE)
        if self._log_id != self._ledger.log_id:  # the new log may lack games of the old one
            self._log_id = self._ledger.log_id
            self._rulesets.clear()
            self._events.clear()
        if not entries:
            return False
        by_game: dict[str, list[MemberSubscription]] = {}
        for subscription in self._outbox.list_member_subscriptions(sorted({entry.game for entry in entries})):
            by_game.setdefault(subscription.game, []).append(subscription)
        notices: list[Notice] = []
        left: list[tuple[str, str]] = []
        warnings: dict[str, list[Notice]] = {}
        lobby = self._outbox.list_lobby_subscriptions()
        chats = self._outbox.list_chat_subscriptions(sorted({entry.game for entry in entries}))
        for entry in entries:
            subscribers = _Subscribers(by_game.get(entry.game, ()), lobby, chats.get(entry.game))
            if is_tournament_id(entry.game):
                left += self._tell_of_event(entry, notices, lobby)
                continue
            produced = self._notices_of(entry, subscribers) if subscribers.exist else _NO_NOTICES
            notices += produced.now
            warnings[entry.game] = produced.deadline_notices
        notices += [n for warning_list in warnings.values() for n in warning_list]
        self._outbox.enqueue(notices, (reached, entries[-1].position), warnings, left)
        return True

    def _notices_of(self, entry: LogEntry, subscribers: _Subscribers) -> _Produced:
        """Return the notifications of a record; none of a fork, or for an unreadable one, which is quarantined."""
        try:
            step, members = self._load_step(entry), subscribers.members
            if "origin" in step.after.game.terms:
                return _NO_NOTICES
            now = [*_lobby_notices(step, entry, subscribers.lobby), *_chat_notices(step, entry, subscribers.chat)]
            now += [n for m in members for n in _member_notices(step, entry, m)]
            later = [
                n for m in members if subscribes_to(m.subscription, "deadline.near") for n in _deadline_notices(step, m)
            ]
        except (StoreUnavailable, WrongKey):
            raise
        except Exception as error:  # noqa: BLE001 - one bad game must not stop the others
            log.warning("nobody is told of %s, version %s: %s", entry.game, entry.version, type(error).__name__)
            return _NO_NOTICES
        return _Produced(now, later)

    def _tell_of_event(
        self, entry: LogEntry, notices: list[Notice], lobby: Sequence[Subscription]
    ) -> list[tuple[str, str]]:
        """Add the notices of a tournament's record; return its id with webhooks of leavers.

        Notices of these, not stored yet, are taken out, except those for followers of the series.
        """
        try:
            found = self._events.collect(entry, lobby)
        except (StoreUnavailable, WrongKey):
            raise
        except Exception as error:  # noqa: BLE001 - one bad tournament must not stop the others
            log.warning("nobody is told of %s, version %s: %s", entry.game, entry.version, type(error).__name__)
            return []
        gone = {(entry.game, webhook) for webhook in found.left}
        if gone:
            notices[:] = [each for each in notices if each.type == OPENED or (each.game, each.webhook) not in gone]
        notices += found.notices
        return sorted(gone)

    def _find_due(self, game: str, player: str) -> tuple[bool, int | None]:
        """Return whether a player owes a decision at a table now, and until when, ms since 1970 UTC."""
        try:
            loaded = self._history.load_whole(game, self._ledger.version(game))
        except (StoreUnavailable, WrongKey):
            raise
        except Exception as error:  # noqa: BLE001 - the table is told without its deadline
            log.warning("no deadline is told of %s: %s", game, type(error).__name__)
            return False, None
        for seat, found in loaded.game.players.items():
            if found.id == player:
                is_owed = any(seat in decision.must for decision in loaded.open_decisions(seat))
                return is_owed, loaded.game.due_times([seat]).get(seat) if is_owed else None
        return False, None

    def _load_step(self, entry: LogEntry) -> _RecordStep:
        before = self._history.load_before(entry)
        after = self._history.next_game(before, entry.record)
        self._history.remember(after.game)
        return _RecordStep(entry.record, before, after, self._is_by_order(entry))

    def _is_by_order(self, entry: LogEntry) -> bool:
        acted = self._orders.list_acted(entry.game) if entry.record.kind == "moved" else []
        return any(act.version == entry.version for order in acted for act in order.acts)

    def _enqueue_requests(self) -> None:
        """Write notifications for open challenges and proposals, which are no records."""
        notices = [*self._challenge_notices(), *self._proposal_notices()]
        existing = self._outbox.find_existing([notice.id for notice in notices])
        if new := [notice for notice in notices if notice.id not in existing]:
            self._outbox.enqueue(new)

    def _tell_of_messages(self) -> None:
        """Write notifications for waiting letters and treaties: one for each table until something is read there."""
        finder = self._outbox.unread_messages
        after, upto = finder.find_span()
        if after < upto < after + INTERVAL:
            return
        notices = list(self._message_notices(finder.list_waiting(after, upto)))
        existing = self._outbox.find_existing([notice.id for notice in notices])
        if new := [notice for notice in notices if notice.id not in existing]:
            self._outbox.enqueue(new)
        finder.mark_told(upto)

    def _tell_people(self) -> None:
        """Write notifications for news beside the records."""
        table = self._outbox.personal_news
        if not (waiting := table.list_waiting()):
            return
        hooks: dict[str, list[Subscription]] = {}
        for each in self._outbox.list_person_subscriptions(sorted({news.player for news in waiting})):
            hooks.setdefault(each.player, []).append(each.subscription)
        notices = {
            notice.id: notice
            for news in waiting
            for hook in hooks.get(news.player, ())
            if subscribes_to(hook, news.type)
            for notice in [_make_personal_notice(hook, news)]
        }
        existing = self._outbox.find_existing(list(notices))
        if new := [notice for id_, notice in notices.items() if id_ not in existing]:
            self._outbox.enqueue(new)
        table.forget(waiting)

    def _message_notices(self, waiting: Sequence[UnreadMessages]) -> Iterator[Notice]:
        for found in waiting:
            wanted = subscribes_to(found.subscription, MESSAGE)
            if not wanted or not (ruleset := self._find_ruleset(found.game)):
                continue
            data: MessageNoticeDoc = {"game": found.game, "ruleset": ruleset, "seat": found.seat}
            subject, until = (found.game, str(found.seat), str(found.read)), found.at + OLDEST
            yield Notice(found.subscription.webhook, MESSAGE, subject, found.at, data, found.game, until=until)

    def _tell_of_orders(self) -> None:
        """Write notifications for the moves and ends of standing orders."""
        finder = self._outbox.order_news
        after, upto = finder.find_span()
        notices = []
        for found in finder.list_changes(after, upto):
            if subscribes_to(found.subscription, found.type) and (ruleset := self._find_ruleset(found.game)):
                data: OrderNoticeDoc = {
                    "game": found.game,
                    "ruleset": ruleset,
                    "seat": found.seat,
                    "order": found.order,
                    "acts": found.number,
                    "reason": found.reason,
                }
                subject = (found.game, found.order, str(found.number), found.reason)
                notices.append(Notice(found.subscription.webhook, found.type, subject, found.at, data, found.game))
        existing = self._outbox.find_existing([notice.id for notice in notices])
        if new := [notice for notice in notices if notice.id not in existing]:
            self._outbox.enqueue(new)
        finder.mark_told(upto)

    def _challenge_notices(self) -> list[Notice]:
        notices = []
        for subscription, game, seat, at, until in self._outbox.list_open_challenges():
            if subscribes_to(subscription, "challenge.made"):
                data: ChallengeNoticeDoc = {"game": game, "seat": None if seat < 0 else seat, "until": until}
                notices.append(Notice(subscription.webhook, "challenge.made", (game, str(at)), at, data, game))
        return notices

    def _proposal_notices(self) -> Iterator[Notice]:
        """Yield a notice for each seat with a vote; none of a fork, or of an unreadable game."""
        for found in self._outbox.list_open_proposals():
            wanted = subscribes_to(found.subscription, "proposal.made")
            ruleset = self._find_ruleset(found.game) if wanted else ""
            if not ruleset:
                continue
            until = found.at + SILENCE_MS
            data: ProposalNoticeDoc = {
                "game": found.game,
                "ruleset": ruleset,
                "version": found.version,
                "status": "running",
                "seat": found.seat,
                "proposal": found.id,
                "act": found.act,
                "deadline": until,
            }
            subject = (found.game, found.id, str(found.seat))
            yield Notice(found.subscription.webhook, "proposal.made", subject, found.at, data, found.game, until=until)

    def _find_ruleset(self, game: str) -> str:
        """Return the ruleset of a game, read once; an empty string for a fork, or for an unreadable game."""
        if (found := self._rulesets.get(game)) is None:
            try:
                opened = self._ledger.read(game, 0, 1)[0].body
            except (StoreUnavailable, WrongKey):
                raise
            except Exception as error:  # noqa: BLE001 - one bad game must not stop the others
                log.warning("nobody is told of requests at %s: %s", game, type(error).__name__)
                return ""
            found = self._rulesets[game] = "" if "origin" in opened else opened["ruleset"]
        return found


def _lobby_notices(step: _RecordStep, entry: LogEntry, lobby: Sequence[Subscription]) -> Iterator[Notice]:
    """Yield notifications for subscribers of the lobby."""
    type_ = _LOBBY_TYPES.get(step.record.kind)
    if type_ is None or step.after.listing != "public" or not is_visible_to_outsiders(step.after):
        return
    for subscription in lobby:
        if subscribes_to(subscription, type_) and entry.position > subscription.since:
            yield _make_notice(subscription.webhook, type_, step, step.public_data)


def _chat_notices(step: _RecordStep, entry: LogEntry, chat: Subscription | None) -> Iterator[Notice]:
    """Yield notifications for the table's group chat: seats left, seats that now must play, and the end."""
    if chat is None or entry.position <= chat.since or not is_visible_to_outsiders(step.after):
        return
    if _is_game_end(step):
        yield _make_notice(chat.webhook, "game.over", step, step.public_data)
    if left := _find_departure(step):
        yield _make_notice(chat.webhook, "seat.left", step, left.data)
    before = {seat for d in _public_decisions(step.before) for seat in d.must}
    for decision in _public_decisions(step.after):
        if set(decision.must) - before:
            due = min(step.after.game.due_times(decision.must).values(), default=None)
            data = {**step.public_data, "seats": list(decision.must), "decision": decision.id, "deadline": due}
            yield _make_notice(chat.webhook, "turn.due", step, data, "", decision.id)


def _public_decisions(loaded: LoadedGame | None) -> list[Decision]:
    """Return the open decisions as spectators see them."""
    return loaded.open_decisions(PUBLIC) if loaded else []


def _member_notices(step: _RecordStep, entry: LogEntry, member: MemberSubscription) -> Iterator[Notice]:
    """Yield notifications for a person with a role in the game."""
    subscription = member.subscription
    if entry.position <= subscription.since:
        return
    if subscribes_to(subscription, "table.changed"):
        change: ChangeNoticeDoc = {**step.public_data, "kind": step.record.kind, "head": step.record.hash}
        yield _make_notice(subscription.webhook, "table.changed", step, change)
    if subscribes_to(subscription, "game.over") and _is_game_end(step):
        yield _make_notice(subscription.webhook, "game.over", step, step.public_data)
    if (notice := _appeal_notice(step, member)) is not None:
        yield notice
    if subscribes_to(subscription, "seat.left") and (left := _find_departure(step)) and member.player != left.player:
        yield _make_notice(subscription.webhook, "seat.left", step, left.data)
    if subscribes_to(subscription, "turn.due") and (seat := _seat_of(member)) is not None:
        yield from _turn_notices(step, member, seat)


def _turn_notices(step: _RecordStep, member: MemberSubscription, seat: Seat) -> Iterator[Notice]:
    """Yield a notification for each decision that a seat owes since the record."""
    if member.is_read and step.is_own_move(seat):
        return
    before = _owed_decisions(step.before, member, seat) if step.before else {}
    for decision, due in _owed_decisions(step.after, member, seat).items():
        if decision not in before:
            data: TurnNoticeDoc = {**step.public_data, "seat": seat, "decision": decision, "deadline": due}
            yield _make_notice(member.subscription.webhook, "turn.due", step, data, str(seat), decision)


def _appeal_notice(step: _RecordStep, member: MemberSubscription) -> Notice | None:
    """Return the notice of an appeal, for officers, or of an answer, for players."""
    body, kind = step.record.body, step.record.kind
    type_ = {"appeal": "appeal.made", "answer": "appeal.answered"}.get(body.get("act", "")) if kind == "ruled" else None
    is_officer, subscription = _seat_of(member) is None, member.subscription
    if type_ is None or is_officer != (type_ == "appeal.made") or not subscribes_to(subscription, type_):
        return None
    if is_officer:
        answer_by = step.after.game.lasting.appeals.appeals[-1].answer_by
        made: AppealNoticeDoc = {**step.public_data, "contested": body["version"], "deadline": answer_by}
        return _make_notice(subscription.webhook, type_, step, made)
    answered: AnswerNoticeDoc = {**step.public_data, "contested": body["version"], "outcome": body["outcome"]}
    return _make_notice(subscription.webhook, type_, step, answered)


class _Departure(NamedTuple):
    """A seat left empty by a record."""

    player: str
    """Player id of the leaver."""
    data: SeatNoticeDoc


def _make_personal_notice(hook: Subscription, news: PersonalNews) -> Notice:
    about = str(news.data.get("game") or news.data.get("tournament"))
    return Notice(hook.webhook, news.type, (news.subject,), news.at, news.data, about, until=news.at + OLDEST)


def _find_departure(step: _RecordStep) -> _Departure | None:
    """Return the seat that was left with the record, or whose hold has ended without a substitute; None for others."""
    record, body, seat = step.record, step.record.body, step.record.head.seat
    is_vacated = record.kind == "ruled" and body.get("act") == "vacate"
    if seat is None or step.before is None or not (record.kind == "left" or is_vacated):
        return None
    how = "vacated" if is_vacated else "conceded" if body.get("conceded") else "left"
    how = "removed" if record.public.get("by") == "director" else how
    until = build_seats(step.after)[seat]["held"]
    player = step.before.game.players.get(seat)
    data: SeatNoticeDoc = {**step.public_data, "leaver": seat, "how": how, "until": until}
    return _Departure(player.id if player else "", data)


def _deadline_notices(step: _RecordStep, member: MemberSubscription) -> Iterator[Notice]:
    """Yield later warnings of deadlines as they are now."""
    game, seat = step.after.game, _seat_of(member)
    if seat is None:
        return
    for decision, due in _owed_decisions(step.after, member, seat).items():
        if due is not None and due > game.time:
            data: TurnNoticeDoc = {**step.public_data, "seat": seat, "decision": decision, "deadline": due}
            at = due - min(NEAR_MS, (due - game.time) // 2)
            subject = (game.id, decision, str(seat), str(due))
            yield Notice(member.subscription.webhook, "deadline.near", subject, at, data, game.id, at, due)


def _make_notice(
    webhook: str, type_: str, step: _RecordStep, data: Mapping[str, object], seat: str = "", decision: str = ""
) -> Notice:
    """Return a notification of a record. One webhook may get several, for different seats."""
    game = step.after.game.id
    subject = (game, str(step.record.version), seat, decision)
    return Notice(webhook, type_, subject, int(step.record.public["at"]), data, game)


def _seat_of(member: MemberSubscription) -> Seat | None:
    return None if member.role == DIRECTOR else int(member.role)


def _owed_decisions(loaded: LoadedGame, member: MemberSubscription, seat: Seat) -> dict[str, int | None]:
    """Return decision -> due time (ms) that the person owes in this seat, in the seat's own view."""
    player = loaded.game.players.get(seat)
    if player is None or player.id != member.player:
        return {}
    owed = [d for d in loaded.open_decisions(seat) if seat in d.must]
    return {d.id: loaded.game.due_times([seat]).get(seat) for d in owed}


def _is_game_end(step: _RecordStep) -> bool:
    return _is_over(step.after) and not (step.before and _is_over(step.before))


def _is_over(loaded: LoadedGame) -> bool:
    """Return whether the game is over for good: a ruling can be withdrawn before the game is closed."""
    return loaded.game.status in ("over", "closed") and loaded.game.pending_ruling is None
