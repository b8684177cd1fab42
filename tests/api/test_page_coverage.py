"""Everything that an account may do by the API, a person may do by the pages: the two lists are compared.

A page reaches an operation by a call of the API in its own process, by a link to it, or by the same function as its
route. The source of the pages names the calls and links; the rest stands here.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from tests.api.conftest import ROOT, Site

PAGES = ROOT / "api/pages"
METHODS = ("GET", "POST", "PUT", "DELETE")

BELOW = {
    "officer_desk.py": "/games/{}",
    "tournament_acts.py": "/tournaments/{}",
    "tournament_rulings_page.py": "/tournaments/{}",
}
"""Modules whose acts name paths below their table or tournament."""

BY_FUNCTION = {
    "/account": ("sessions", "factors", "my_settings", "change_settings", "me"),
    "/account/end": ("log_out", "remove_totp", "remove_passkey"),
    "/account/totp": ("new_totp", "confirm_totp"),
    "/account/passkeys": ("new_passkey", "new_passkey_challenge"),
    "/account/security": ("passkey_challenge",),
    "/account/notices": ("calendar_key", "webhook"),
    "/account/programs": ("get_client",),
    "/login": ("log_in",),
    "/login/passkey": ("log_in_with_passkey",),
    "/recovery": ("recover", "mail_recovery_code"),
    "/register": ("open_account",),
    "/proof": ("prove",),
    "/games/imports": ("imports", "import_game", "delete_import"),
    "/games/<game:game>": ("resume", "rewinds", "proposals", "get_rewind", "get_proposal", "decisions", "watch"),
    "/games/<game:game>/play": ("choices",),
    "/games/<game:game>/commands": ("rewind", "consent", "answer_proposal", "job"),
    "/games/<game:game>/replay": ("game_replay",),
    "/games/<game:game>/live": ("stream",),
    "/games/mine/live": ("lobby_stream", "my_stream"),
    "/desk": ("accept_office", "give_up_office"),
    "/tournaments/<tournament:tournament>/acts": (
        *("open_bids", "file_bid", "draw_round", "make_tables", "report_results", "rank_round"),
        *("move_table_elsewhere", "enter_scores", "confirm_scores", "settle_scores"),
        *("accept_substitution", "end_substitution"),
        *("accept_event_offer", "decline_event_offer"),
    ),
    "/tournaments/<tournament:tournament>": ("get_round", "standings", "places_by_round"),
    "/tournaments/<tournament:tournament>/places": ("explain_places",),
    "/tournaments/<tournament:tournament>/meetings": ("meetings",),
    "/tournaments/<tournament:tournament>/desk": ("tournament_desk",),
    "/tournaments/<tournament:tournament>/import": ("import_entrants",),
    "/ratings/<family:family>": ("ratings",),
    "/tournaments/<tournament:tournament>/rulings": (
        *("tournament_rulings", "rule_on_tournament", "appeal_in_tournament", "answer_in_tournament"),
    ),
}
"""Page -> operations that it reaches by a function, or by a path that its source puts together."""

FOR_PROGRAMS = {
    "calendar": "the calendar program reads it, at the address that /account/notices gives",
    "my_calendar": "likewise",
    "stream_cookie": "a script on another site opens streams with it",
    "forget_stream_cookie": "likewise",
    "stream_ticket": "likewise",
    "tournament_stream": "pages of tournaments are loaded anew",
    "board_parts": "a client saves bytes with it; the page shows the whole board",
    "ruleset_data": "figures for clients; people have the rules",
    "ruleset_geometry": "shapes for clients; people have the map",
    "ruleset_help": "help for clients; people have it beside each question",
    "ruleset_presentation": "names of members for clients",
    "ruleset_texts": "sentences for clients",
    "problem": "a program looks a code up; a page shows the problem itself",
    "records": "the stored records; people have chronicle and export",
    "exports": "a copy of all games, for mirrors",
    "proof": "a proof for verifiers",
    "tournament_proof": "likewise",
    "log_head": "for verifiers and witnesses",
    "log_checkpoint": "likewise",
    "log_tile": "likewise",
    "add_checkpoint": "witnesses of other logs",
    "witnessed_checkpoint": "likewise",
    "verifier": "the program with which a verifier begins",
    "open_games": "organisers' programs open hundreds of tables; people open a tournament",
    "show_nonce": "only a program gives its seat a nonce, and only it can show it",
    "forget": "for guests, who have a token and no account; an account is erased at /account/security",
}
"""Operations without a page -> why a person does not miss one."""


def _read_path(node: ast.expr) -> str:
    """The path in the source, with `{}` for what the program puts in, without its query; empty for anything else."""
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values)
    elif isinstance(node, ast.BinOp):
        text = _read_path(node.left)
    else:
        text = str(node.value) if isinstance(node, ast.Constant) else ""
    return text.partition("?")[0] if text.startswith("/") else ""


def _list_calls(path: Path) -> Iterator[tuple[str, str]]:
    """Method and path of each call and of each act in a module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        items = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
        pairs = [(getattr(one, "value", ""), _read_path(other)) for one, other in itertools.pairwise(items)]
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("read_document", "ask_publicly"):
            pairs += [("GET", _read_path(each)) for each in items]
        if isinstance(node, ast.Assign):  # the path of a later call
            pairs.append(("GET", re.sub(r"(?<=[a-z])\{\}$", "", _read_path(node.value))))
        known = [(method, found) for method, found in pairs if method in METHODS and found]
        yield from [*known, *((method, BELOW.get(path.name, "") + found) for method, found in known)]


def _list_links(path: Path) -> Iterator[tuple[str, str]]:
    text = re.sub(r"\{\{.*?\}\}", "{}", path.read_text("utf-8")).replace("/v1{}", "/v1/tournaments/{}")
    yield from (("GET", found) for found in re.findall(r'"/v1(/[^"? ]*)', text))


def test_whatever_an_account_may_do_has_a_page(site: Site) -> None:
    operations = {
        (method.upper(), re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/v1"))): operation["operationId"]
        for path, methods in site.get("/openapi.json").json["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/v1/") and method.upper() in METHODS
    }
    calls = {call for path in PAGES.rglob("*.py") for call in _list_calls(path)}
    calls |= {call for path in PAGES.rglob("*.html") for call in _list_links(path)}
    called = {operations[call] for call in calls & operations.keys()}
    by_function = [each for some in BY_FUNCTION.values() for each in some]
    missing = sorted(set(operations.values()) - called - {*by_function, *FOR_PROGRAMS})
    assert not missing, "no page: " + ", ".join(missing)
    assert sorted(called & FOR_PROGRAMS.keys()) == [], "these have a page now"
    assert {*by_function, *FOR_PROGRAMS} <= set(operations.values())
    assert set(BY_FUNCTION) <= {rule.rule for rule in site.app.url_map.iter_rules()}
