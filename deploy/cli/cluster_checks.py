"""Checks for services on several machines: standbys, poolers, an evicting Redis, nodes of different versions."""

from __future__ import annotations

from typing import cast

from redis import RedisError
from redis.exceptions import ResponseError

from deploy.runtime import embedded_redis
from deploy.runtime.wiring import ServiceContainer
from domain.service.replication import read_replication
from workers.redis_address import SentinelAddress, parse_sentinel_url
from workers.signals import connect

MIN_SENTINELS = 3
"""Fewest Sentinels of which a majority is left after the loss of one."""


class CheckError(Exception):
    """A check found a fault; the message describes it."""


def check_version(services: ServiceContainer) -> str:
    """Return whether there are views of this version, and whether others are at work; raise CheckError."""
    if not services.views.is_current():
        raise CheckError(
            "the views are of another version of the service than this node: update this node, or let `annals migrate`"
            " of its version make views for it"
        )
    others = services.views.count_other_versions()
    return "the tables are those of this version" + (f"; other versions at work: {others}" if others else "")


def check_replication(services: ServiceContainer) -> str:
    """Describe how standbys follow; raise CheckError if one could take over without the newest commits."""
    if services.settings.sqlite:
        return "one machine"
    found = read_replication(services.ledger)
    if found.may_lose:
        consequence = (
            "and may contradict checkpoints, since ANNALS_SIGNING=always"
            if services.settings.signing == "always"
            else "so no checkpoint is signed"
        )
        raise CheckError(
            f"standbys are asynchronous: a failover loses the newest moves, {consequence}. Make one synchronous"
            " (Patroni: `synchronous_mode`; else `synchronous_standby_names`)"
        )
    if found.is_confirmed:
        return "a synchronous standby confirms each commit"
    return "no standby: the server is alone"


def check_pooler(services: ServiceContainer) -> str:
    """Return whether a pooler lies before PostgreSQL; raise CheckError if it breaks transactions."""
    mode = services.ledger.admin.find_pooler()
    if mode == "statement":
        raise CheckError("a pooler breaks transactions: set its `pool_mode` to `transaction` or `session`")
    return "one keeps transactions together" if mode else "none"


def check_redis(services: ServiceContainer) -> str:
    """Return whether Redis answers; raise CheckError if not, if it drops keys when it is full, or lacks a stand-in."""
    url = services.settings.redis_url
    address = parse_sentinel_url(url)
    sentinels = _check_sentinels(address) if address else ""
    if not embedded_redis.is_up(url):
        raise CheckError("does not answer; is the service running?")
    client = connect(url)
    try:
        memory = client.info("memory")
    except RedisError:  # a user with few rights
        memory = {}
    finally:
        client.close()
    policy, limit = str(memory.get("maxmemory_policy", "noeviction")), int(memory.get("maxmemory", 0))
    if policy != "noeviction" and limit:
        raise CheckError(
            f"drops keys when it is full ({policy}): jobs would wait for an hour. Set `maxmemory-policy noeviction`"
        )
    return f"answers{sentinels}"


def _check_sentinels(address: SentinelAddress) -> str:
    """Describe the Sentinels; raise CheckError if they could not replace a lost Redis."""
    states, strangers, silent = list[dict[str, int]](), 0, 0
    for url in address.sentinel_urls:
        sentinel = connect(url)
        try:
            states.append(cast(dict[str, int], sentinel.sentinel_master(address.service)))
        except ResponseError:
            strangers += 1
        except RedisError:
            silent += 1
        finally:
            sentinel.close()
    count = len(address.sentinel_urls)
    if strangers:
        raise CheckError(
            f"{strangers} of {count} Sentinels know no `{address.service}`, or do not let us ask: compare the name in"
            " ANNALS_REDIS_URL with their `sentinel monitor`"
        )
    if silent:
        raise CheckError(f"{silent} of {count} Sentinels do not answer: start them, or correct ANNALS_REDIS_URL")
    replicas = min(state["num-slaves"] for state in states)
    if not replicas:
        raise CheckError("has no replica: if it is lost, Sentinels have nothing to put in its place. Start one")
    known = 1 + min(state["num-other-sentinels"] for state in states)
    if known < MIN_SENTINELS:
        raise CheckError(f"has {known} Sentinels: they agree on a loss only if most are left, so start at least three")
    return f", with {known} Sentinels and {replicas} {'replica' if replicas == 1 else 'replicas'}"
