"""The command `annals import`: send an export to a running service, as a game for analysis."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import urllib3

from deploy.cli.arguments import DONE, FAILED
from deploy.cli.output import print_error, print_figures, print_json
from deploy.runtime.given_files import read_export
from domain.errors import AnnalsError, VerificationError
from domain.ruleset_registry import RulesetRegistry
from domain.types import Doc

TOKEN = "ANNALS_TOKEN"  # noqa: S105 - the name of a variable
SECONDS = 60.0
"""Longest wait for the service, which proves the whole file."""


def add_command(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command and its arguments."""
    parser = add("import", help="send an export to a running service, as a game for analysis")
    parser.set_defaults(command=import_file)
    parser.add_argument("file", metavar="FILE", type=Path, help="- for standard input")
    parser.add_argument("--url", required=True, help=f"address of the service; {TOKEN} holds an account's token")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def import_file(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Import an export, and print the game, or the first fault of the file."""
    data = read_export(args.file)
    try:
        status, answer = _send(args.url.rstrip("/"), data.decode())
    except (urllib3.exceptions.HTTPError, ValueError) as error:  # also a file, or an answer, of something else
        return print_error(error, FAILED)
    if args.json:
        print_json(answer)
    if status != 201:
        return print_error(_describe_refusal(status, answer), FAILED)
    if not args.json:
        print_figures(answer)
    return DONE


def _describe_refusal(status: int, answer: Doc) -> AnnalsError:
    """Return the error for a refusal, with the first fault of a file that does not verify."""
    if fault := answer.get("fault"):
        return VerificationError(fault["code"], fault["version"], fault["detail"])
    return AnnalsError(f"{answer.get('code', status)}: {answer.get('detail') or answer.get('title', '')}")


def _send(url: str, text: str) -> tuple[int, Doc]:
    """Return the service's answer. It may be repeated: the same file is the same game."""
    token = os.environ.get(TOKEN, "")
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    answer = urllib3.request(
        "POST",
        f"{url}/v1/imports",
        body=msgspec.json.encode({"export": text}),
        headers=headers,
        timeout=SECONDS,
        retries=urllib3.Retry(3, redirect=0, allowed_methods=None, status_forcelist=[429, 503], raise_on_status=False),
    )
    return answer.status, msgspec.json.decode(answer.data, type=dict)
