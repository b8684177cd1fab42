"""Notices of tournaments: the news of a record, for all subscribers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cachetools import LRUCache

from domain.ledger import Ledger, LogEntry
from domain.notifications.outbox import Notice, Outbox
from domain.notifications.subscriptions import PersonSubscription, Subscription, subscribes_to
from domain.notifications.webhooks import OPENED
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_fold import fold_tournament
from domain.tournaments.aggregate.tournament_replay import is_ruling
from domain.tournaments.records import FAMILY
from domain.types import Doc
from projections.notice_documents import EventNoticeDoc
from projections.tournament_views import TournamentLoader
from workers.notifications.event_news import EventNews, EventStep, list_digest_news, list_leavers, list_news

CACHE_EVENTS = 64
"""Tournaments cached between records."""

DueFinder = Callable[[str, str], tuple[bool, int | None]]
"""Return whether a player owes a decision at a game, and until when, ms since 1970 UTC."""


class EventTold(NamedTuple):
    """Notices of a record, and the webhooks of those leaving with it."""

    notices: list[Notice]
    left: list[str]


class EventNotices:
    """Notices of tournaments, record by record. May raise StoreUnavailable."""

    def __init__(self, ledger: Ledger, outbox: Outbox, find_due: DueFinder) -> None:
        self._ledger, self._outbox, self._find_due = ledger, outbox, find_due
        self._loader = TournamentLoader(ledger)
        self._cache: LRUCache[str, Tournament] = LRUCache(CACHE_EVENTS)

    def clear(self) -> None:
        """Forget all tournaments."""
        self._cache.clear()

    def collect(self, entry: LogEntry, lobby: Sequence[Subscription]) -> EventTold:
        """Return the notices of a record; raise VerificationError for an unreadable tournament."""
        step = self._load_step(entry)
        news, leavers = list_news(step), list_leavers(step)
        if step.kind == "succeeded":  # followers have gone over to the next event with this record
            following = step.body["tournament"]
            followers = self._outbox.list_followers(following, step.record.time)
            news += [EventNews(OPENED, {"next": following}, player) for player in followers]
        players = sorted({each.player for each in news if each.player}.union(leavers))
        persons: dict[str, list[PersonSubscription]] = {}
        for found in self._outbox.list_person_subscriptions(players):
            persons.setdefault(found.player, []).append(found)
        left = [found.subscription.webhook for player in leavers for found in persons.get(player, ())]
        feeds = self._list_feeds(step.after) if any(not each.player and not each.in_lobby for each in news) else []
        notices: dict[str, Notice] = {}
        for each in news:
            for notice in self._address(step, each, persons, lobby if each.in_lobby else feeds):
                if entry.position > notice.since:
                    notices.setdefault(notice.notice.id, notice.notice)
        told, digests_left = self._keep_for_digests(step, news, leavers, entry.position)
        invited = {notice.webhook for notice in notices.values() if notice.type == OPENED}  # a digest tells only others
        told = [notice for notice in told if notice.type != OPENED or notice.webhook not in invited]
        return EventTold([*notices.values(), *told], [*left, *digests_left])

    def _keep_for_digests(
        self, step: EventStep, news: Sequence[EventNews], leavers: Sequence[str], position: int
    ) -> tuple[list[Notice], list[str]]:
        """Return the notices for the next digests, and the mailboxes of leavers."""
        told = list_digest_news(step, news)
        boxes: dict[str, list[Subscription]] = {}
        for player, found in self._outbox.list_digest_subscriptions(sorted({*leavers, *(n.player for n in told)})):
            boxes.setdefault(player, []).append(found)
        notices = {
            notice.id: notice
            for each in reversed(told)  # the first one of a type is told
            for box in boxes.get(each.player, ())
            if position > box.since
            for notice in [replace(_make_notice(box, step, each), is_kept=True)]
        }
        return list(notices.values()), [box.webhook for player in leavers for box in boxes.get(player, ())]

    def _load_step(self, entry: LogEntry) -> EventStep:
        before, version = self._cache.get(entry.game), entry.version
        if version == 1:
            before = None
        elif before is None or before.version != version - 1:
            before = fold_tournament(self._ledger.read(entry.game, upto=version - 1))
        after = self._cache[entry.game] = self._loader.load(before, entry)
        return EventStep(entry.record, before, after, self._follows_ruling(entry))

    def _follows_ruling(self, entry: LogEntry) -> bool:
        """Return whether official standings follow from the ruling of the record before."""
        if "replaces" not in entry.record.body:
            return False
        (earlier,) = self._ledger.read(entry.game, entry.version - 2, entry.version - 1)
        return is_ruling(earlier.kind.removeprefix(FAMILY), earlier.body)

    def _list_feeds(self, t: Tournament) -> list[Subscription]:
        """Return the subscriptions to a tournament; its chats while the person is an officer."""
        found = self._outbox.list_feed_subscriptions([t.id])
        officers = {t.director, *t.officers}
        feeds = {each.subscription.webhook: each for each in found if not each.is_chat or each.player in officers}
        return [each.subscription for each in feeds.values()]

    def _address(
        self,
        step: EventStep,
        news: EventNews,
        persons: Mapping[str, Sequence[PersonSubscription]],
        feeds: Sequence[Subscription],
    ) -> Iterator[_Addressed]:
        """Yield the notice for each subscription with this type."""
        if not news.player:
            for feed in feeds:
                if subscribes_to(feed, news.type):
                    yield _Addressed(_make_notice(feed, step, news), feed.since)
        for person in persons.get(news.player, ()) if news.player else ():
            is_followed = news.type == OPENED and person.is_read  # to follow is to ask for it
            if not is_followed and not subscribes_to(person.subscription, news.type):
                continue
            own: Doc = {}
            if news.type == "event.round":
                is_owed, due = self._find_due(news.more["game"], news.player) if news.more["game"] else (False, None)
                if is_owed and person.is_read and subscribes_to(person.subscription, "turn.due"):
                    continue  # the mail of the table tells it
                own = {"deadline": due}
            yield _Addressed(_make_notice(person.subscription, step, news, own), person.subscription.since)


class _Addressed(NamedTuple):
    notice: Notice
    since: int


def _make_notice(subscription: Subscription, step: EventStep, news: EventNews, own: Doc | None = None) -> Notice:
    """Return a notice; the same record gives a webhook one of each type."""
    t = step.after
    base: EventNoticeDoc = {
        "tournament": t.id,
        "ruleset": t.terms.ruleset,
        "version": step.record.version,
        "status": t.status,
    }
    about, data = (t.id, str(step.record.version)), {**base, **news.more, **(own or {})}
    return Notice(subscription.webhook, news.type, about, step.record.time, data, t.id, until=news.until)
