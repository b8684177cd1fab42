"""The command `annals rotate-key`: change the master key in two steps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from deploy.backup.key_rotation import begin, finish
from deploy.cli.arguments import DONE, settings_of
from deploy.runtime.supervisor import alone
from domain.ruleset_registry import RulesetRegistry


def add_command(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Its arguments."""
    one = add("rotate-key", help="change the master key; with --finish once all processes have been started anew")
    one.set_defaults(command=rotate)
    one.add_argument("--finish", action="store_true", help="from now on the old key opens nothing")
    one.add_argument("--data", metavar="DIR", help="data folder (var unless given)")
    one.add_argument("--log-level", choices=("debug", "info", "warning", "error"), dest="log_level")


def rotate(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Either step; says what comes next."""
    settings = settings_of(args)
    settings.held()
    with alone(settings.data / "rotation.lock"):  # two at once could put a key in place that was never admitted
        said = finish(settings) if args.finish else begin(settings)
    print(f"annals: {said}", file=sys.stderr)
    return DONE
