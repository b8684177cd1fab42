"""Subscriptions: active webhooks with their events."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Subscription:
    """The events of an active webhook, and its start in the log."""

    webhook: str
    since: int
    events: tuple[str, ...]


@dataclass(frozen=True)
class MemberSubscription:
    """A subscription whose owner has a role at a table."""

    game: str
    role: str
    """A seat's number, or `director`."""
    player: str
    subscription: Subscription
    is_read: bool = False
    """Whether a person reads it: a program needs to know of every decision."""


@dataclass(frozen=True)
class PersonSubscription:
    """A subscription of the person with a player id."""

    player: str
    subscription: Subscription
    is_read: bool


@dataclass(frozen=True)
class FeedSubscription:
    """A subscription to a tournament; `player` is an id of its owner."""

    tournament: str
    player: str
    subscription: Subscription
    is_chat: bool
    """Whether it ends with the owner's office."""


def subscribes_to(subscription: Subscription, type_: str) -> bool:
    """Return whether a subscription includes events of that type."""
    return type_ in subscription.events


def parse_subscription(webhook: str, since: int, events: str) -> Subscription:
    return Subscription(webhook, int(since), tuple(events.split()))
