"""The numbers that the pages name are those by which the service goes; that it goes by them is shown elsewhere."""

from __future__ import annotations

import re

import pytest

from api.http.login_throttle import FREE_FAILURES, LONGEST_WAIT
from api.http.rate_limits import ADDRESS_FACTOR, READ_COSTS, Gate
from api.schemas.request_bodies import MOST_AT_ONCE
from api.services import ApiSettings
from domain import queries
from domain.accounts import audit_log, passwords, social
from domain.accounts.account_tables import DAY
from domain.accounts.accounts import FREED
from domain.accounts.personal_tokens import LONGEST_TOKEN
from domain.accounts.recovery_codes import CODES
from domain.accounts.sessions import ABSOLUTE, FRESH, IDLE, MOST_SESSIONS
from domain.service.stream_tickets import COOKIE_SECONDS, TICKET_SECONDS
from tests.api.conftest import ROOT

WORDS = {1: "one", 2: "two", 5: "five", 10: "ten", 30: "thirty", 50: "fifty"}
QUARTER = 900

HTTP = {
    f"opens one stream within a {'minute' if TICKET_SECONDS == 60 else '?'}",
    f"for a quarter of an hour it opens the streams{'' if COOKIE_SECONDS == QUARTER else '?'}",
    f"{queries.MAX_QUESTIONS:,} answers of the builder",
    f"opens {ApiSettings.tables} tables in an hour at most",
    f"its body of at most {ApiSettings.max_body // 1024} KiB",
    f"A token may have {ApiSettings.streams_each} streams, an address {ApiSettings.streams_address}",
    f"a token and an address have {WORDS[Gate()._each]} at once",
    f'"caller";q={ApiSettings.burst};w={ApiSettings.burst / ApiSettings.rate:.0f}',
    f'"address";q={ApiSettings.burst * ADDRESS_FACTOR};w={ApiSettings.burst / ApiSettings.rate:.0f}',
    f"open up to {WORDS[MOST_AT_ONCE]} tables of one kind",
}

ACCOUNTS = {
    f"keeps the former name from others for {FREED // DAY} days",
    f"An address, and an account, asks for {WORDS[ApiSettings.accounts]} names an hour at most",
    f"A password has {passwords.SHORTEST} to {passwords.LONGEST} characters",
    f"after {WORDS[FREE_FAILURES]} failures each next one twice as long",
    f"up to a quarter of an hour (429{'' if LONGEST_WAIT == QUARTER else '?'}",
    f"It lasts for {ABSOLUTE // DAY} days, and ends if nobody uses it for two weeks{'' if IDLE == 14 * DAY else '?'}",
    f"account has {MOST_SESSIONS} sessions at most",
    f"returns {WORDS[CODES]} recovery codes",
    f"in the last {WORDS[FRESH // 60_000]} minutes",
    f"last up to a year{'' if LONGEST_TOKEN == 365 * DAY else '?'}",
    f"is kept for {audit_log.KEPT // DAY} days",
}

COMPANY = {f"after {social.DEFAULT_LIFETIME // DAY} days unless it says otherwise"}


@pytest.mark.parametrize(
    ("page", "told"),
    [
        *(("http.md", told) for told in sorted(HTTP)),
        *(("api/accounts.md", told) for told in sorted(ACCOUNTS)),
        *(("api/company.md", told) for told in sorted(COMPANY)),
    ],
)
def test_a_page_names_the_number(page: str, told: str) -> None:
    text = " ".join((ROOT / "docs" / page).read_text("utf-8").split())
    assert told in text


def test_what_costs_is_told_with_its_cost() -> None:
    """Each word of an address that costs stands in the table, with what it costs."""
    text = (ROOT / "docs/http.md").read_text("utf-8")
    table = text.partition("What costs, in writes:")[2].partition("| all else that is read |")[0]
    told = {name: float(row[1]) for row in re.findall(r"\| (.+) \| ([0-9.]+) \|", table) for name in row[0].split(", ")}
    by_name = {name.strip("`"): cost for name, cost in told.items()}
    others = {
        "past": "past boards",
        "games/board/changes": "differences of boards",
        "games/choices": "all moves at once",
        "tournaments": "an event",
        "tournaments/explain": "reasons",
        "tournaments/export": "records of an event",
        "tournaments/export.csv": "sheets of an event",
        "tournaments/rulings": "rulings",
        "tournaments/stages/rounds": "its rounds",
        "tournaments/progress": "progress",
        "games/stream": "a stream",
        "me/data": "all data of an account",
        "players/games": "tables of a player",
        "players/results": "results of a player",
    }
    names = {path: others.get(path, path.rpartition("/")[2]) for path in READ_COSTS}
    assert {path: by_name[name] for path, name in names.items()} == dict(READ_COSTS)
