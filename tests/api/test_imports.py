"""Imported games: exports of closed games, proved again, read like any game, without people and consequences."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from api.http.problems import Problem
from api.http.proof_memory import digest_of
from api.routes.game_imports import _verdicts
from deploy.cli.main import main
from domain.kernel.game.forks import check_origin
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.records.record import Record
from domain.ruleset_registry import load_shipped
from domain.types import PUBLIC
from projections import documents
from projections.loaded_game import load_game
from tests.api.conftest import CATALOGUE, Doc, Reply, Site, Table, make_site, refused
from tests.api.members import Member, register
from tests.api.oauth.browser import Browser, Form, forms
from tests.api.player import play
from tests.kernel.flows import windows

LOGS = Path(__file__).parents[1] / "logs"
GAMES = ("aor3", "egc", "imp3", "se7-3", "soe4")
"""A log of each game."""


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site, "Anne")


@pytest.fixture
def table(site: Site) -> Table:
    """A closed game."""
    table = site.table("windows@1", 3)
    play(table, random.Random(2), 6)
    assert table.post("/close", {"reason": "void", "explanation": "A storm"}, table.director).status_code == 201
    return table


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with the five games."""
    with closing(make_site(tmp_path_factory.mktemp("shipped"), load_shipped())) as site:
        yield site


def send(member: Member, data: bytes) -> Reply:
    return member.post("/imports", {"export": data.decode()})


def imported(member: Member, data: bytes) -> Table:
    made = send(member, data)
    assert made.status_code == 201, made.text
    assert made.headers["Location"] == f"/v1/games/{made.json['game']}"
    return Table(member.site, made.json["game"], "", [])


def rows(site: Site) -> dict[str, list[Any]]:
    """All rows of the ledger's database, without those of the import itself."""
    execute = site.services.ledger.execute
    names = [name for (name,) in execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: execute("SELECT * FROM " + name) for name in names if name != "imported_games"}  # noqa: S608 - our names


def unnamed(board: Doc) -> Doc:
    """A board without the members in which an imported game is another one."""
    people = [seat | {"player": None} for seat in board["seats"]]
    return {name: part for name, part in board.items() if name not in ("game", "imported")} | {"seats": people}


@pytest.mark.parametrize("name", GAMES)
def test_a_game_of_each_kind_is_read_from_its_file(shipped: Site, name: str) -> None:
    data = lzma.decompress((LOGS / f"{name}.jsonl.xz").read_bytes())
    found = export.parse(data)
    game = imported(register(shipped, f"Anne {name}"), data)
    assert game.get().json["imported"] == {"game": found.game, "head": found.records[-1].hash}
    middle = len(found.records) // 2
    loaded = load_game(load_shipped(), found.records[:middle])
    told = msgspec.json.decode(documents.build_board(loaded, PUBLIC))
    assert unnamed(game.get(f"/board?version={middle}").json) == unnamed(told)
    assert game.get(f"/digest?after={middle}").json["turns"]
    assert "event: step" in game.get(f"/replay?from={middle}&to={middle + 2}").text
    assert game.get(f"/timeline?after={middle}&limit=2").json["items"][0]["head"] == found.records[middle].hash
    if name != "egc":  # its scores need no further proof, and its timeline is long
        assert game.get("/scores").json["final"] is True


def test_a_board_at_any_version_is_that_of_the_original(table: Table, anne: Member) -> None:
    data = table.get("/export").data
    game = imported(anne, data)
    for version in range(1, table.version + 1):
        path = f"/board?version={version}"
        assert unnamed(game.get(path).json) == unnamed(table.get(path).json)
    assert unnamed(game.get("/board").json) == unnamed(table.get("/board").json)
    assert game.get("/export").data == data
    assert game.get("/records").json["items"] == table.get("/records").json["items"]
    assert game.get("/audit").json["proved"] is True
    assert game.get("/timeline").json["items"][0]["text"] == [
        "A game is read from an exported file. It is here for analysis only."
    ]


def test_its_people_are_nobody_here_and_nothing_follows(site: Site, table: Table, anne: Member) -> None:
    """Even of people and texts that are known here, since the file may come from this service."""
    data, before, size = table.get("/export").data, rows(site), site.get("/log").json["size"]
    game = imported(anne, data)
    site.ring()
    site.work()
    assert rows(site) == before
    assert site.get("/log").json["size"] == size
    refused(game.get("/records/3/proof"), 404, "not_found")
    texts = "".join(game.get(path).text for path in ("", "/board", "/timeline", "/digest", "/scores", "/feed"))
    players = [seat["player"] for seat in table.get().json["seats"]]
    assert not [each for each in (*players, "Player 0", "A storm") if each in texts]
    assert "A storm" in table.get("/timeline").text
    assert game.get().json["names"] == {}
    assert game.get().json["listing"] == "unlisted"
    listed = site.get("/games").json["items"] + anne.get("/me/games").json["items"] + anne.get("/me/desk").json["items"]
    listed += site.get(f"/players/{players[0]}/results").json["items"]
    assert game.game not in {each["game"] for each in listed}


def test_nobody_can_change_it(table: Table, anne: Member) -> None:
    game = imported(anne, table.get("/export").data)
    refused(anne.post(f"{game.path}/seats", {}), 409, "game_over")
    refused(anne.post(f"{game.path}/close", {"reason": "void"}), 403, "not_at_table")
    refused(anne.post(f"{game.path}/rewinds", {"to": 5}, If_Match='"12"'), 403, "not_at_table")


def test_a_fork_of_it_is_played_and_proved_against_the_file(site: Site, table: Table, anne: Member) -> None:
    data = table.get("/export").data
    game = imported(anne, data)
    made = anne.post(f"{game.path}/forks", {"version": table.version - 2})
    assert made.status_code == 201, made.text
    assert made.json["origin"] | {"head": ""} == {
        "game": table.game,
        "version": table.version - 2,
        "head": "",
        "imported": True,
    }
    path = f"/games/{made.json['game']}"
    (decision,) = site.get(f"{path}/decisions").json["decisions"]
    choice = anne.post(f"{path}/choices", {}, Annals_Role=str(decision["must"][0]))
    assert choice.json["choice"] is not None
    assert anne.post(f"{path}/close", {"reason": "void"}, Annals_Role="director").status_code == 201
    whole, rules = export.parse(site.get(f"{path}/export").data), CATALOGUE.get("windows@1")
    assert verify.verify(rules, whole).closed
    check_origin(rules, whole.records, export.parse(data).records)


def test_a_file_that_names_a_running_game_tells_nothing_of_it(site: Site, anne: Member) -> None:
    """A fork of a real game could not be closed before it."""
    running = site.table("windows@1", 3)
    forged = InMemoryGame(windows.RULESET, 3, bytes(32), game=running.game)
    version = len(forged.records)
    forged.close("void")
    game = imported(anne, export.dump(forged.records))
    made = anne.post(f"{game.path}/forks", {"version": version, "seat": 1})
    assert made.status_code == 201, made.text
    closed = anne.post(f"/games/{made.json['game']}/close", {"reason": "void"}, Annals_Role="director")
    assert closed.status_code == 201, closed.text
    assert running.get().json["status"] == "running"


def test_the_same_file_is_the_same_game_of_its_importer(site: Site, table: Table, anne: Member) -> None:
    data, bert = table.get("/export").data, register(site, "Bert")
    first, again, other = send(anne, data), send(anne, data), send(bert, data)
    assert first.data == again.data
    assert first.json["game"] != other.json["game"]
    assert anne.get("/imports").json["items"] == [first.json]
    assert anne.get("/me/data").json["imports"] == [first.json]


def test_only_its_importer_deletes_it_also_with_the_account(site: Site, table: Table, anne: Member) -> None:
    data, bert = table.get("/export").data, register(site, "Bert")
    game, other = imported(anne, data), imported(bert, data)
    refused(bert.delete(f"/imports/{game.game}"), 404, "unknown_game")
    paths = ("", "/board", "/board?version=5", "/timeline", "/scores", "/export", "/digest", "/replay")
    assert {game.get(path).status_code for path in paths} == {200}
    assert anne.delete(f"/imports/{game.game}").status_code == 204
    assert {game.get(path).status_code for path in paths} == {404}
    refused(anne.post(f"{game.path}/forks", {"version": 6}), 404, "unknown_game")
    bert.prove()
    assert bert.delete("/me").status_code == 204
    refused(other.get(), 404, "unknown_game")


def test_unproved_file_is_refused_with_its_first_fault(table: Table, anne: Member) -> None:
    data = table.get("/export").data
    lines = data.splitlines(keepends=True)

    def fault(data: bytes) -> tuple[str, int]:
        found = refused(send(anne, data), 422, "import_not_proved")["fault"]
        return found["code"], found["version"]

    assert fault(data.replace(b'"at":5000', b'"at":5001', 1)) == ("chain_broken", 5)
    sealed = next(n for n, line in enumerate(lines) if n and b'"pad":".' in line)
    lines[sealed] = lines[sealed].replace(b'"pad":".', b'"pad":"-', 1)
    assert fault(b"".join(lines)) == ("pack_changed", sealed)
    assert fault(data[:-1])[0] == "cut_off"
    assert fault(b"{}\n{}\n")[0] in ("version_gap", "header_mismatch")
    *records, last = export.parse(data).records
    endless = Record({**last.public, "at": 2**53 - 1}, last.packs)
    assert fault(export.dump([*records, endless])) == ("malformed", last.version)  # no calendar could write it
    assert anne.get("/imports").json["items"] == []


def test_only_whole_exports_of_closed_games_are_taken(site: Site, table: Table, anne: Member) -> None:
    running = site.table("windows@1", 3)
    refused(send(anne, running.get("/export").data), 422, "import_not_closed")
    unknown = table.get("/export").data.replace(b"windows@1", b"unknown@1")
    assert send(anne, unknown).status_code in (404, 422)
    refused(anne.post("/imports", {}), 422, "invalid_body")
    refused(site.post("/imports", {"export": "x"}, running.director), 403, "accounts_only")
    refused(anne.post("/imports", {"export": "x" * (6 * 2**20 + 1)}), 413, "body_too_large")
    refused(anne.post("/imports", {"export": '"' * (7 * 2**20)}), 413, "body_too_large")


def test_file_up_to_limit_is_taken_in_whatever_form_it_is_sent(site: Site, table: Table, anne: Member) -> None:
    """As JSON each of its quotation marks takes two bytes, and a form has parts of its own."""
    data = table.get("/export").data
    assert len(json.dumps({"export": data.decode()})) > len(data) * 1.05
    site.remake(max_import=len(data), max_import_body=2 * len(data) + 4096)
    assert send(anne, data).status_code == 201
    refused(send(anne, data + b"\n"), 413, "body_too_large")
    browser = Browser(site)
    assert browser.log_in("Anne").status_code == 303
    form = forms(browser.get("/games/imports"))["/games/imports"]
    answer = browser.client.post(form.action, data={**form.fields, "file": (BytesIO(data), "game.annals")})
    assert answer.headers["Location"].startswith("/games/")


def test_files_are_bounded_by_time_and_number(table: Table, anne: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    data = table.get("/export").data
    monkeypatch.setattr("api.routes.game_imports.MAX_SECONDS", -1.0)
    refused(send(anne, data), 422, "import_too_long")
    monkeypatch.undo()
    monkeypatch.setattr("domain.ledger.imported_games.MOST_EACH", 0)
    refused(send(anne, data), 409, "too_many")


def test_command_line_sends_a_file_and_names_its_first_fault(
    site: Site,
    table: Table,
    anne: Member,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def request(method: str, url: str, *, body: bytes, headers: Doc, **_: Any) -> Any:
        path = url.removeprefix("https://annals.example")
        answer = site.client.open(path, method=method, data=body, headers=headers)
        return SimpleNamespace(status=answer.status_code, data=answer.data)

    monkeypatch.setattr("urllib3.request", request)
    monkeypatch.setenv("ANNALS_TOKEN", anne.token)
    file = tmp_path / "game.annals"
    file.write_bytes(table.get("/export").data)
    command = ["import", str(file), "--url", "https://annals.example/"]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == anne.get("/imports").json["items"][0]
    file.write_bytes(file.read_bytes().replace(b'"at":5000', b'"at":5001', 1))
    assert main(command) == 1
    assert "chain_broken" in capsys.readouterr().err


def test_a_person_looks_at_a_file_by_a_form(site: Site, table: Table, anne: Member) -> None:
    browser = Browser(site)
    assert browser.log_in("Anne").status_code == 303
    assert 'href="/games/imports"' in browser.get("/games").text

    def send_file(data: bytes) -> Any:
        form = forms(browser.get("/games/imports"))["/games/imports"]
        file = (BytesIO(data), "game.annals")
        return browser.client.post(form.action, data={**form.fields, "file": file})

    data = table.get("/export").data
    answer = send_file(data.replace(b'"at":5000', b'"at":5001', 1))
    assert (answer.status_code, "chain_broken" in answer.text) == (422, True)
    path = send_file(data).headers["Location"]
    assert "A game from an exported file, for analysis only." in browser.get(path).text
    assert browser.get(f"{path}/replay?version=5").status_code == 200
    assert browser.get(f"{path}/chronicle").status_code == 200
    form = forms(browser.get("/games/imports"))["/games/imports"]
    deleted = browser.send(Form(form.action, {"form": form.fields["form"]}), delete=path.rpartition("/")[2])
    assert deleted.headers["Location"] == "/games/imports"
    assert browser.get(path).status_code == 404


class TestProofs:
    """A proof takes seconds: a file has one."""

    @pytest.fixture
    def proofs(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """Games of the files that are proved."""
        found, prove = list[str](), verify.verify

        def counted(rules: Any, proved: export.Export, **more: Any) -> Any:
            found.append(proved.game)
            return prove(rules, proved, **more)

        monkeypatch.setattr("api.routes.game_imports.verify.verify", counted)
        return found

    def test_a_file_that_was_proved_is_not_proved_again(
        self, site: Site, anne: Member, table: Table, proofs: list[str]
    ) -> None:
        data = table.get("/export").data
        berta = register(site, "Berta")
        games = [imported(member, data).game for member in (anne, anne, berta, anne, berta)]
        assert (len(set(games)), len(proofs)) == (2, 1)
        assert anne.delete(f"/imports/{games[0]}").status_code == 204
        assert imported(anne, data).game == games[0]
        assert len(proofs) == 1

    def test_nor_is_a_false_one(self, anne: Member, table: Table, proofs: list[str]) -> None:
        """The answer is the same, with the fault."""
        lines = table.get("/export").data.splitlines(keepends=True)
        lines[3] = lines[3].replace(b'"at":', b'"at":9', 1)
        answers = [send(anne, b"".join(lines)) for _ in range(3)]
        for answer in answers:
            refused(answer, 422, "import_not_proved")
        assert len({answer.text for answer in answers}) == 1
        assert len(proofs) <= 1

    def test_a_remembered_fault_holds_no_file(self, site: Site, anne: Member) -> None:
        """A raised error keeps the frames that it went through, and these the whole file."""
        data = b"nothing\n"
        for _ in range(2):
            refused(send(anne, data), 422, "import_not_proved")
        with site.app.app_context():
            kept = _verdicts().find(digest_of(data))
        assert isinstance(kept, Problem)
        assert (kept.__traceback__, kept.__cause__, kept.__context__) == (None, None, None)

    def test_one_that_took_too_long_is_tried_again(
        self, anne: Member, table: Table, proofs: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("api.routes.game_imports.MAX_SECONDS", -1.0)
        for _ in range(2):
            refused(send(anne, table.get("/export").data), 422, "import_too_long")
        assert len(proofs) == 2

    def test_it_costs_more_than_a_move(self, anne: Member, table: Table) -> None:
        data = table.get("/export").data
        anne.site.remake(rate=0.001, burst=40)
        assert [send(anne, data).status_code for _ in range(3)] == [201, 201, 429]
