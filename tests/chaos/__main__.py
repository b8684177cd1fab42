"""Runs of `./run chaos NAME`: real servers in networks of their own, lost under load. Never a part of CI."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

RUNS = {
    "partitions": "two nodes, PostgreSQL and Redis, with each link cut in turn",
    "sentinel": "the master of a Redis with Sentinels is lost, emptied or set back under a burst of turns",
    "failovers": "the primary of PostgreSQL is lost ten times under load, and Patroni makes another one",
    "upgrade": "nodes of version 0.1.0 are replaced by this one under load, and back",
    "recovery": "a database goes back to moments before and after a failover, from its archive",
    "image": "the image is built and run as the compose file and the manifests do",
}


def main(argv: Sequence[str]) -> int:
    """Run one of them."""
    if not argv or argv[0] not in RUNS:
        print("./run chaos NAME [--help]\n", *(f"{name:12}{said}" for name, said in RUNS.items()), sep="\n")
        return 0 if not argv or argv[0] in ("-h", "--help") else 2
    status: int = import_module(f"tests.chaos.{argv[0]}").main(argv[1:])
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
