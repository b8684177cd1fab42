"""The command `annals rotate-key`: change the master key in two steps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from deploy.backup.key_rotation import begin_rotation, finish_rotation, rotate_push_key
from deploy.cli.arguments import DONE, load_settings_of
from deploy.runtime.supervisor import hold_lock
from domain.ruleset_registry import RulesetRegistry


def add_command(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command and its arguments."""
    parser = add("rotate-key", help="change the master key; run again with --finish after all processes have restarted")
    parser.set_defaults(command=rotate)
    parser.add_argument("--finish", action="store_true", help="revoke the old key")
    parser.add_argument("--push", action="store_true", help="instead make another key for web push to new browsers")
    parser.add_argument("--data", metavar="DIR", help="data folder (default: var)")
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"), dest="log_level")


def rotate(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Do one step, and print the next one to do."""
    settings = load_settings_of(args)
    settings.require_service()
    with hold_lock(settings.data / "rotation.lock"):  # two at once could install a key that was never admitted
        if args.push:
            message = rotate_push_key(settings)
        else:
            message = finish_rotation(settings) if args.finish else begin_rotation(settings)
    print(f"annals: {message}", file=sys.stderr)
    return DONE
