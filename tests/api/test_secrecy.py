"""Nobody is told what another seat keeps secret, in whatever way it is asked."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from domain import game_history
from domain.games import imperunde
from domain.kernel.game.game_fold import fold, state_known_to
from domain.kernel.game.table_commands import Start
from domain.kernel.records.record import facts_for
from domain.ruleset_registry import RulesetRegistry
from domain.service import keyring, seat_tokens, seed_store
from tests.api import conftest
from tests.api.conftest import CATALOGUE, Doc, Site, Table, make_site
from tests.api.player import build, kinds, play
from tests.games.imperunde.rare import RARE
from tests.kernel.flows import windows

LISTS = ("/rewinds", "/timeline?limit=200", "/records?limit=200")
PATHS = (
    "",
    "/board",
    "/decisions",
    *LISTS,
    "/scores",
    "/resume",
    "/export",
    "/feed",
    "/calendar",
    "/digest",
    "/board/changes?from=1",
    "/proposals",
)
HASH = re.compile(r"[0-9a-f]{32,64}")


def documents(table: Table, who: int | None) -> dict[str, str]:
    """All that a viewer can read, hashes apart."""
    found = {path: table.get(path, who).text for path in PATHS}
    found |= {f"board {v}": table.get(f"/board?version={v}", who).text for v in range(1, table.version + 1)}
    stream = table.get("/stream", who, Last_Event_ID="1")
    found["stream"] = stream.until("event: board")
    stream.close()
    if who is not None:
        found["choices"] = table.post("/choices", {}, table.tokens[who]).text
        found["dry run"] = table.post("/moves?dry_run=1", {"move": {"type": "pass"}}, table.tokens[who]).text
        match = {"If_Match": f'"{table.version}"'}
        match["Idempotency_Key"] = f"motion-of-{who}-at-{table.version}"
        asked = table.post("/rewinds", {"to": 5}, table.tokens[who], **match)
        found["motion"] = asked.text
        if asked.status_code == 202:  # withdrawn, so that the next one may ask
            consents = asked.headers["Location"].removeprefix(f"/v1{table.path}") + "/consents"
            found["withdrawn"] = table.post(consents, {"agrees": False}, table.tokens[who]).text
    now = re.compile(r'"now":\d+')
    return {k: now.sub("", HASH.sub("#", text)) for k, text in found.items()}


@pytest.mark.parametrize("ruleset", ["sealed@1", "orders@1", "windows@1"])
def test_every_document_is_made_of_what_its_viewer_may_read(site: Site, ruleset: str) -> None:
    """Boards from the facts of its audiences alone, entries with no others, for every version of a random game."""
    table = site.table(ruleset, 3)
    rules = CATALOGUE.get(ruleset)
    rng = random.Random(11)
    for _ in range(30):
        if not play(table, rng, 1):
            break
        records = site.services.ledger.read(table.game)
        if records[-1].kind == "closed":
            break
        for who in (None, 0, 1, 2):
            viewer = "public" if who is None else who
            state = state_known_to(rules, records, viewer)
            doc = table.get("/board", who).json
            assert doc["public"] == rules.player_view(state, "public")
            assert doc.get("own") == (None if who is None else rules.player_view(state, who))
            for entry, record in zip(table.get("/timeline?limit=200", who).json["items"], records, strict=True):
                told = entry["facts"] + [f for own in entry.get("own", ()) for f in own["facts"]]
                assert sorted(map(str, told)) == sorted(map(str, facts_for(record, viewer)))


class Twins:
    """Two sites where all chance is the same."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = folder, monkeypatch
        self.count = itertools.count()
        self.sites: list[Site] = []

    def site(self) -> Site:
        folder = self.folder / str(next(self.count))
        folder.mkdir()
        given = itertools.count()
        self.patch.setattr(
            seat_tokens, "secrets", SimpleNamespace(token_bytes=lambda n: next(given).to_bytes(8) * (n // 8))
        )
        for each in (seed_store, keyring):
            self.patch.setattr(each, "secrets", SimpleNamespace(token_bytes=bytes))
        self.sites.append(make_site(folder))
        return self.sites[-1]


@pytest.fixture
def twins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Twins]:
    monkeypatch.setattr(game_history, "SPACING", 3)
    made = Twins(tmp_path, monkeypatch)
    yield made
    for site in made.sites:
        site.close()


def order(place: str) -> Doc:
    return {"type": "order", "to": place, "units": 2}


def filed(table: Table, move: Doc) -> int:
    """Seat 0 files something."""
    assert table.move(0, move).status_code == 201
    return 0


def committed(table: Table, card: str | None) -> int:
    """Seat 1 is attacked and commits to a card."""
    attack = build(table, 0, random.Random(1), ["attack"])
    assert table.move(0, attack).status_code == 201
    seat = next(s for s in table.get("/decisions").json["decisions"][0]["must"])
    hand = table.get("/board", seat).json["own"]["hand"]
    cards = [c for c in hand if c != "alliance"] if attack["target"] == seat else [None, *hand]
    move = {"type": "commit", "card": cards[0] if card == "first" else cards[-1]}
    assert table.move(seat, move).status_code == 201, move
    return int(seat)


def windowed(table: Table, answers: bool) -> int:
    """A window opens; one seat passes by itself, or for this time, or lets the others wait."""
    rng = random.Random(1)
    while len(table.get("/decisions").json["decisions"][0]["must"]) < 2:
        seat = table.get("/decisions").json["decisions"][0]["must"][0]
        table.move(seat, build(table, seat, rng, ["attack"] if "attack" in kinds(table, seat) else []))
    seat = table.get("/decisions").json["decisions"][0]["must"][0]
    moved = table.move(seat, {"type": "pass"} if answers else {"type": "set_auto", "on": True})
    assert moved.status_code == 201, moved.text
    return int(seat)


@pytest.mark.parametrize(
    ("ruleset", "act", "secrets"),
    [
        ("orders@1", filed, (order("t01"), order("t02"))),
        ("orders@1", filed, (order("t01"), {"type": "spy", "to": "t05"})),
        ("sealed@1", committed, ("first", "last")),
        ("windows@1", windowed, (True, False)),
    ],
)
def test_games_that_differ_in_secret_look_same_to_all_others(
    twins: Twins, ruleset: str, act: Any, secrets: tuple[Any, Any]
) -> None:
    """The same bytes in every document, hashes apart, that any other viewer can get."""
    seen = []
    for secret in secrets:
        site = twins.site()
        table = site.table(ruleset, 3)
        seat = act(table, secret)
        records = site.services.ledger.read(table.game)
        state = str(fold(CATALOGUE.get(ruleset), records).state)
        seen.append((state, {who: documents(table, who) for who in (None, 0, 1, 2) if who != seat}))
        site.services.ledger.close()
        site.services.reader._views.close()
    (one, first), (other, second) = seen
    assert one != other
    for who, found in first.items():
        for name, text in found.items():
            assert text == second[who][name], (who, name)


HEAD = re.compile(r'"head":"[0-9a-f]{64}",?')
"""The hash of a record differs with what is sealed in it, which a salt from the seed keeps from being guessed."""


def test_a_secret_that_was_undone_is_in_no_past_of_others(twins: Twins) -> None:
    """The same boards of all versions and the same keyframes, from the store and from a process that has just begun."""
    seen = []
    for place in ("t01", "t02"):
        site = twins.site()
        table = site.table("orders@1", 3)
        filed(table, order(place))
        went = table.post("/rewinds", {"to": table.version - 1}, table.director, If_Match=f'"{table.version}"')
        assert went.status_code == 202, went.text
        assert site.services.ledger.read(table.game)[-1].kind == "rewound"
        filed(table, order("t01"))
        assert table.move(1, order("t05")).status_code == 201
        found: dict[tuple[str, object, int], str] = {}
        for who, version in itertools.product((None, 1, 2), range(1, table.version + 1)):
            first = table.get(f"/board?version={version}", who).text
            site.services.history.after_fork()
            assert table.get(f"/board?version={version}", who).text == first
            found["shown", who, version] = HEAD.sub("", first)
        for who in (None, 1, 2):
            assert table.get("/digest?level=full", who).status_code == 200
            stored = site.services.outlines._find(CATALOGUE.get("orders@1"), table.game, str(who or "public"))
            found["outline", who, 0] = str(stored and stored.outline)
        rules, store = CATALOGUE.get("orders@1"), site.services.history.keyframes
        for version, viewers in store.list_viewers(table.game).items():
            for viewer in viewers:
                past = store.find(rules, table.game, version, viewer)
                assert past is not None
                found["stored", viewer, version] = str(past.known)
        seen.append(found)
    first, second = seen
    assert len({key for key in first if key[0] == "stored"}) >= 9
    assert first == second


PASS: Doc = {"type": "pass"}
OFF: dict[str, Doc] = {
    "windows@1": {"type": "set_auto", "on": False},
    "imperunde@1": {"type": "set_auto_pass", "windows": ["open"], "until": "off"},
}
"""A move in a window that stores a record like an answer, and answers nothing."""
AUTO: dict[str, Doc] = {
    "windows@1": {"type": "set_auto", "on": True},
    "imperunde@1": {"type": "set_auto_pass", "windows": ["open"], "until": "turn_end"},
}
"""A move in a window that answers it besides."""
ENDS: tuple[Doc, ...] = (
    PASS,
    {"type": "end"},
    {"type": "nonsense"},
    {"type": "attack", "target": 99},
    {"type": "play_card", "card": "ambush"},
    {"type": "play_card"},
    *AUTO.values(),
    {},
)
"""What may come after an answer: another one, what fits elsewhere, what fits nowhere."""


def in_window(twins: Twins, monkeypatch: pytest.MonkeyPatch, ruleset: str) -> Table:
    """A table where all seats are asked in secret."""
    monkeypatch.setattr(conftest, "CATALOGUE", RulesetRegistry([windows.RULESET, imperunde.RULESET]))
    site = twins.site()
    if ruleset == "windows@1":
        table = site.table(ruleset, 3)
        assert table.move(0, {"type": "attack", "target": 1}).status_code == 201
        return table
    rare = RARE[0]
    table = site.table(ruleset, int(rare["seats"]), start=False, options=rare["options"])
    site.services.commands.handle(table.game, Start(rare["patch"]))
    site.ring()
    return table


def tried(table: Table, seat: int, lists: Iterable[Sequence[Doc]]) -> dict[tuple[str, str], str]:
    """What a seat is told of lists that are refused, and of dry runs."""
    found, before = {}, table.version
    for moves in lists:
        for body in ({"moves": moves, "decision": table.decision}, {"moves": moves}):
            found["dry run", str(body)] = table.post("/moves?dry_run=1", body, table.tokens[seat]).text
            if len(moves) > 1:  # one move alone would be stored
                match = {"If_Match": f'"{before}"'}
                found["list", str(body)] = table.post("/moves", body, table.tokens[seat], **match).text
    assert table.version == before
    return found


def closed(table: Table) -> None:
    table.site.services.ledger.close()
    table.site.services.reader._views.close()


@pytest.mark.parametrize("ruleset", ["windows@1", "imperunde@1"])
def test_list_hides_whether_all_others_answered_in_secret(
    twins: Twins, monkeypatch: pytest.MonkeyPatch, ruleset: str
) -> None:
    """The list ends with the seat's answer; what follows is refused in one way, before anything is looked at."""
    told = []
    for all_others in (False, True):
        table = in_window(twins, monkeypatch, ruleset)
        last, *others = reversed(table.get("/decisions").json["decisions"][0]["must"])
        for seat in others:
            passes = all_others or seat != others[0]
            assert table.move(seat, PASS if passes else OFF[ruleset]).status_code == 201
        answers = ([PASS], [AUTO[ruleset]], [OFF[ruleset], PASS])
        lists = [[*answer, *more] for answer in answers for more in ([PASS, PASS], *([end] for end in ENDS))]
        told.append(tried(table, last, [*([one] for one in ENDS), *lists]))
        closed(table)
    assert told[0] == told[1]
    refusals = {json.loads(text)["code"] for (how, _), text in told[0].items() if how == "list"}
    assert refusals == {"barrier_in_list"}


def test_a_list_does_not_tell_who_passes_in_advance(twins: Twins) -> None:
    """A window that closes at once, since all pass in advance, ends the list like one that waits."""
    told = []
    for on in (False, True):
        table = twins.site().table("windows@1", 3)
        for seat, auto in ((0, True), (1, True), (2, on)):
            assert table.move(seat, AUTO["windows@1"] | {"on": auto}).status_code == 201
        attack: Doc = {"type": "attack", "target": 1}
        told.append(tried(table, 0, [[attack], *([attack, end] for end in ENDS)]))
        closed(table)
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("ruleset", "act", "secrets", "seat", "answer"),
    [
        ("orders@1", filed, (order("t01"), {"type": "spy", "to": "t05"}), 1, {"type": "submit"}),
        ("sealed@1", committed, ("first", "last"), 2, {"type": "commit", "card": None}),
    ],
)
def test_a_list_does_not_tell_what_others_have_answered(
    twins: Twins, ruleset: str, act: Any, secrets: tuple[Any, Any], seat: int, answer: Doc
) -> None:
    """Where all may see who has answered, and nobody what."""
    told = []
    for secret in secrets:
        table = twins.site().table(ruleset, 3)
        act(table, secret)
        told.append(tried(table, seat, [[answer], *([answer, end] for end in (answer, *ENDS))]))
        closed(table)
    assert told[0] == told[1]


def test_no_token_stands_in_any_document_or_log(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor does a secret of a ticket, an invitation or a key."""
    made = site.post("/games", {"ruleset": "orders@1", "seats": 3, "listing": "invitation"}, Idempotency_Key="k" * 40)
    table = site.table("orders@1", 3)
    table.move(0, order("t01"), Idempotency_Key="a-key-nobody-reads")
    ticket = site.post("/stream-tickets", token=table.tokens[0]).json["ticket"]
    table.get(f"/stream?ticket={ticket}").close()
    site.get(table.path + "/board", "anl_wrong_token")
    texts = [text for who in (None, 0, 1) for text in documents(table, who).values()]
    texts += [site.get("/games").text, site.client.get("/metrics").text, capsys.readouterr().out]
    secrets = [made.json["token"], made.json["invitation"], ticket, table.director, *table.tokens]
    secrets += ["k" * 40, "a-key-nobody-reads", "wrong_token"]
    assert not [s for s in secrets for text in texts if s[-20:] in text]
