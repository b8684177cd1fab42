"""Names that the service publishes or stores, as texts to compare with the files beside this module."""

from __future__ import annotations

import argparse
import ast
import functools
import itertools
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import fields, is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import psycopg
from prometheus_client.parser import text_string_to_metric_families

from api.http.security_log import EVENTS
from deploy.cli import main as cli
from domain import record_writer
from domain.accounts.audit_log import AuditEntry
from domain.accounts.oauth_clients import ClientRegistration
from domain.accounts.oauth_grants import OAuthGrant
from domain.accounts.second_factors import SecondFactor, TotpSetup
from domain.kernel.game.appeal_commands import AnswerAppeals, AppealAct
from domain.kernel.game.command import Command
from domain.kernel.game.command_of_record import _RULED
from domain.kernel.game.director_commands import Depute, Extend, Hold, Look, Reissue, Rewind, SetPace, Shift
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.play_commands import Lapse, Play, Resolve, Rest
from domain.kernel.game.ruling_commands import RuleEnding, WithdrawRuling
from domain.kernel.game.table_commands import Close, Join, Leave, Reveal, Start, Vacate
from domain.kernel.narration.turn_digests import Digest
from domain.kernel.schema.json_codec import field_types
from domain.ledger import mapper
from domain.notifications.deliveries import DeliveryAttempt
from domain.notifications.email_subscriptions import EmailPreferences
from domain.notifications.outbox import Delivery
from domain.ruleset_registry import load_shipped
from domain.types import Doc, Json
from projections.schema import schema_name
from tests.api.conftest import ROOT, make_site
from tests.api.promise import bare

HERE = Path(__file__).parent
SOURCES = ("api", "deploy", "domain", "projections", "workers")


def lines(doc: Mapping[str, Json]) -> str:
    """A JSON object with one member a line, sorted."""
    members = (f"{json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in sorted(doc.items()))
    return "{\n" + ",\n".join(members) + "\n}\n"


# --- by HTTP -------------------------------------------------------------------------------------------------------


def ruleset(name: str) -> str:
    """The answer of `/v1/rulesets/{name}` without its words, and the names of all moves and members of the state.

    A line for each move, fact, decision, sight, option, code and part of the state.
    """
    with TemporaryDirectory() as folder, closing(make_site(Path(folder), load_shipped())) as site:
        doc = bare(site.get(f"/rulesets/{name}").json)
    doc["codes"] = {each.pop("code"): each for each in doc["codes"]}
    rules = load_shipped().get(name)
    doc["all_moves"], doc["state"] = sorted(rules.moves), {}
    for place, names in _states(rules.state, ""):
        doc["state"][place] = sorted({*names, *doc["state"].get(place, ())})
    told: Doc = {}
    for key, value in doc.items():
        told |= {f"{key}/{k}": v for k, v in value.items()} if isinstance(value, dict) else {key: value}
    for value in told.values():
        if isinstance(value, dict):
            value.pop("text", None)
    told.pop("title")
    return lines(told)


def _states(hint: Any, at: str) -> Iterator[tuple[str, Iterable[str]]]:
    """Place in a state's JSON -> its members, which scenario files name."""
    if isinstance(hint, type) and is_dataclass(hint):
        known = field_types(hint)
        yield at, known
        for key, inner in known.items():
            yield from _states(inner, f"{at}{key}/")
    for inner in get_args(hint):
        yield from _states(inner, at)


MEMBERS: Mapping[str, type] = {
    "an attempt in deliveries.log": DeliveryAttempt,
    "a client": ClientRegistration,
    "a delivery": Delivery,
    "a factor": SecondFactor,
    "a grant": OAuthGrant,
    "a line of the account's log": AuditEntry,
    "a secret of an authenticator": TotpSetup,
    "a turn of a digest": Digest,
    "wishes for mail": EmailPreferences,
}
"""Object in JSON that is stored or answered -> the dataclass whose fields are its members."""


def members() -> str:
    """Members of the objects that are made from the fields of a dataclass."""
    return lines({name: [f.name for f in fields(kind)] for name, kind in MEMBERS.items()})


def routes() -> str:
    """The addresses as the log and the figures have them, with their methods."""
    with TemporaryDirectory() as folder, closing(make_site(Path(folder))) as site:
        rules = list(site.app.url_map.iter_rules())
    return "\n".join(sorted(f"{rule.rule} {' '.join(sorted(rule.methods or ()))}" for rule in rules)) + "\n"


def metrics() -> str:
    """Name, type and labels of each figure."""
    with TemporaryDirectory() as folder, closing(make_site(Path(folder))) as site:
        site.get("/games/none")
        site.services.ledger.execute("INSERT INTO clocks VALUES ('', 'machine', 0, 0, 0)")
        said = site.client.get("/metrics").text
    families = text_string_to_metric_families(said)
    told = {f.name: [f.type, *sorted({name for s in f.samples for name in s.labels})] for f in families}
    return lines({name: each for name, each in told.items() if not name.endswith("_created")})


# --- in the stores -------------------------------------------------------------------------------------------------


def sqlite() -> str:
    """Statements that make the tables, indexes and triggers of both files."""
    with TemporaryDirectory() as folder, closing(make_site(Path(folder))):
        found: list[str] = []
        for name in ("ledger", "views"):
            with closing(sqlite3.connect(Path(folder) / name)) as db:
                rows = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name")
                found += [f"-- {name}", *(sql + ";" for (sql,) in rows)]
    return "\n".join(found) + "\n"


_POSTGRESQL = (
    """SELECT format('%s.%s %s%s%s', table_name, column_name, data_type, CASE is_nullable WHEN 'NO'
    THEN ' NOT NULL' END, ' DEFAULT ' || column_default) FROM information_schema.columns
    WHERE table_schema IN ('public', '{views}')""",
    "SELECT indexdef FROM pg_indexes WHERE schemaname IN ('public', '{views}')",
    """SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    AND tgrelid::regclass::text NOT LIKE 'pg_%'""",
    "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
)


def postgresql(url: str) -> str:
    """Columns, indexes, triggers and functions of a database of both stores.

    The schema of the views has another name whenever documents change: it is left out.
    """
    views = schema_name()
    with psycopg.connect(url) as db:
        found = [
            sorted(
                str(value).replace(f"nextval('{views}.", "nextval('").replace(views, "public")
                for (value,) in db.execute(query.replace("{views}", views))
            )
            for query in _POSTGRESQL
        ]
    return "\n".join(itertools.chain(*found)) + "\n"


def topics() -> str:
    """Topics of records in the log, and words for rulings."""
    kinds = [mapper._topic_of(kind, number) for kind, number in mapper.SCHEMAS.items()]
    return "\n".join([*kinds, *(f"ruled {act}" for act in _RULED)]) + "\n"


def hashes() -> str:
    """Arguments of an act of each kind as they are hashed, and the hash that is stored with its command."""
    samples = (
        Join(None, "p1"),
        Reveal(1, "ab" * 16),
        Leave(1),
        Leave(1, 60),
        Vacate(1),
        Start(),
        Close("abandoned", "director"),
        Play(0, [{"type": "pass"}], "0-1"),
        Lapse("0-1", (0, 2)),
        Resolve("0-1"),
        Rest(1, 2),
        Rewind(3, "seat", 1, (0, 2), "00", True),
        Look(),
        Extend("0-1", 60_000),
        Shift(60_000),
        SetPace({"seconds": {"move": 60}, "grace": 0}),
        Hold(1, 60),
        PauseGame(),
        ResumeGame(),
        RuleEnding("forfeited", (), (1,), {"0": 2}),
        WithdrawRuling(9),
        AppealAct(9, 1, "ab"),
        AnswerAppeals(9, "upheld"),
        Reissue(1),
        Depute("p1", "deputy"),
        Depute("p1", "owner", "p0", "inherited"),
    )
    assert {type(act) for act in samples} == set(Command.__subclasses__())
    found: Doc = {}
    for act in samples:
        args = record_writer.hash_fields(act)
        for expected in (None, 7):
            command = record_writer.make_idempotency_key("id", act.verb, args, expected)
            assert command
            found[f"{act.verb} {json.dumps(args, sort_keys=True)} {expected}"] = command.fingerprint
    return lines(found)


# --- words in the source -------------------------------------------------------------------------------------------

WORDS = {
    "variables": re.compile(r"\bANNALS_[A-Z_]*[A-Z]\b"),
    "queues, channels, loggers, cookies, functions of PostgreSQL": re.compile(
        r"\bannals(?:[._-][a-z_]+|:[a-z:]+)|^__(?:Host|Secure)-"
    ),
    "prefixes of tokens": re.compile(r"\ban[a-z]_(?=\{)|\bmsg_(?=\{)|^an[lprsx]$|^whsec_$"),
    "labels of sealed or derived bytes, and first bytes": re.compile(
        r"^[a-z ]+\|[a-z0-9{}|]*$|^b'(?:[a-z]|[a-z]+(?: [a-z]+)+|.x0.)'$"
    ),
}
"""Kind of name -> pattern of the literals that hold it. A placeholder of a format string is `{}`."""

DERIVING = (
    "_derive",
    "_derive_bytes",
    "_derive_cipher",
    "_keyed_hash",
    "_seal",
    "command_id",
    "make_token",
    "open",
    "seal",
)
"""Functions whose literal arguments are hashed or sealed. A function that is renamed is renamed here too."""


@functools.cache
def _trees() -> list[ast.Module]:
    paths = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]
    return [ast.parse(path.read_bytes()) for path in paths if "games" not in path.parts]


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "{}" for part in node.values)
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return node.value if isinstance(node.value, str) else repr(node.value)
    return None


def _literals(tree: ast.Module) -> Iterator[str]:
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) not in docs | parts and (text := _text(node)) is not None:
            yield text


def words() -> str:
    """Words of each kind that literals hold, and the events of the log that docs/operations.md lists."""
    literals = {text for tree in _trees() for text in _literals(tree)}
    found = {kind: {m[0] for text in literals for m in form.finditer(text)} for kind, form in WORDS.items()}
    return _sections(found | {"events": set(EVENTS)})


def labels() -> str:
    """Labels of derived secrets, ids and marks, and of sealed bytes: the literals in calls of DERIVING."""
    found: set[str] = set()
    for tree in _trees():
        assigned = [(node.targets[0], node.value) for node in tree.body if isinstance(node, ast.Assign)]
        constants = {name.id: _text(value) for name, value in assigned if isinstance(name, ast.Name)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in DERIVING:
                texts = [constants.get(arg.id) if isinstance(arg, ast.Name) else _text(arg) for arg in node.args]
                if any(texts) and len(texts) > 1:
                    found.add(", ".join(text or "{}" for text in texts))
    return "\n".join(sorted(found)) + "\n"


def _sections(found: Mapping[str, set[str]]) -> str:
    return "\n".join(f"# {kind}\n" + "".join(f"{word}\n" for word in sorted(found[kind])) for kind in sorted(found))


def command_line() -> str:
    """Commands with their arguments, and the exit statuses."""
    status = [f"status {name} {getattr(cli, name)}" for name in ("DONE", "FAILED", "USAGE", "INTERRUPTED")]
    return "\n".join([*_arguments("annals", cli.build_parser()), *status]) + "\n"


def _arguments(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, inner in action.choices.items():
                yield from _arguments(f"{name} {command}", inner)
        else:
            told = "|".join(action.option_strings) or str(action.metavar or action.dest)
            choices = f" {sorted(map(str, action.choices))}" if action.choices else ""
            yield f"{name} {told}{choices}{' required' if action.required else ''}"


LISTS: Mapping[str, Callable[[], str]] = {
    "command-line.txt": command_line,
    "hashes.json": hashes,
    "labels.txt": labels,
    "members.json": members,
    "metrics.json": metrics,
    "routes.txt": routes,
    "sqlite.sql": sqlite,
    "topics.txt": topics,
    "words.txt": words,
    **{f"rulesets/{name}.json": functools.partial(ruleset, name) for name in load_shipped().names()},
}
"""File -> function that returns its text."""
