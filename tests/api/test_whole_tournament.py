"""A Swiss event with late entrants, drop-outs, adopted seats and rulings, from its opening to its proof."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from deploy.cli.main import main
from domain.errors import VerificationError
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.draw import commit_nonce
from domain.transparency.signed_note import VerifierKey
from tests.api.conftest import Doc, Site, Table
from tests.api.members import Member, register
from tests.api.player import play
from tests.api.test_checkpoints import publish, vkeys
from tests.api.test_tournaments import NONCE, done
from workers.maintenance import checkpoint_publisher

CHANGES = 12
"""Changed bytes, one at a time, all over the export."""


class Event:
    """The people of an event, and what its organiser does."""

    def __init__(self, site: Site, entrants: int, rounds: int) -> None:
        self.site, self.chance, self.rounds = site, random.Random(entrants), rounds
        self.director = register(site, "Organiser")
        self.members = [register(site, f"Anne {number}") for number in range(entrants)]
        self.absent = set[int]()
        terms: Doc = {
            "title": "Two hundred",
            "ruleset": "orders@1",
            "options": {"turns": 1},
            "table": {"undo": "none"},
            "seats": {"least": 2, "most": 3, "preferred": 3},
            "stages": [{"format": "swiss", "rounds": rounds}],
        }
        self.path = f"/tournaments/{self.act('/tournaments', terms)['tournament']}"

    def act(self, path: str, body: Doc | None = None, **headers: str) -> Doc:
        """What the organiser asks for."""
        return done(self.director.post(path, body, **headers))

    def enter(self, entrants: range) -> None:
        for number in entrants:
            done(self.members[number].post(f"{self.path}/entrants"))

    def start(self, entrants: range) -> None:
        """Everybody checks in, every third with a nonce; one is never shown."""
        self.enter(entrants)
        self.act(f"{self.path}/phases", {"phase": "checking"})
        for number in entrants:
            body = {} if number % 3 else {"nonce_hash": commit_nonce(NONCE.format(number))}
            done(self.members[number].post(f"{self.path}/checkin", body))
        self.act(f"{self.path}/phases", {"phase": "drawing"})
        for number in entrants[::3]:
            done(self.members[number].post(f"{self.path}/nonce", {"nonce": NONCE.format(number)}))

    def begin(self, number: int) -> list[Doc]:
        """Draw a round and make its tables; its pods."""
        round_ = f"{self.path}/stages/1/rounds/{number}"
        self.act(f"{round_}/draw")
        while self.act(f"{round_}/tables")["left"]:
            pass
        pods: list[Doc] = done(self.site.get(round_))["pods"]
        return [pod for pod in pods if pod["game"]]

    def finish(self, number: int, pods: list[Doc]) -> None:
        """Play the tables of a round to their ends, and rank it."""
        for pod in pods:
            tokens = [pod.get("tokens", {}).get(e, self.members[e].token) for e in pod["entrants"]]
            play(Table(self.site, pod["game"], self.director.token, tokens), self.chance, 200)
        round_ = f"{self.path}/stages/1/rounds/{number}"
        assert done(self.director.post(f"{round_}/reports"))["pods"]
        self.act(f"{round_}/rank")

    def adopt(self, pod: Doc, seat: int, person: Member) -> None:
        """Somebody else takes a seat whose player has left."""
        entrant, game = pod["entrants"][seat], f"/games/{pod['game']}"
        done(self.members[entrant].delete(f"{game}/seats/{seat}"))
        done(person.post(f"{game}/seats", {"seat": seat}))
        pod.setdefault("tokens", {})[entrant] = person.token

    def rule(self, **ruling: object) -> Doc:
        """See what a ruling would do, and rule."""
        path = f"{self.path}/rulings"
        preview = self.director.post(f"{path}?dry_run=1", ruling)
        assert done(preview)["moved"]
        assert all(each["sentences"] for each in preview.json["moved"])
        return self.act(path, ruling, If_Match=preview.headers["ETag"])


def run_event(site: Site, entrants: int, rounds: int) -> Event:
    """An eighth comes late, an eighth leaves; a substitute and a stranger take seats; tables are ruled on."""
    event = Event(site, entrants, rounds)
    early, few = range(entrants - entrants // 8), entrants // 8
    event.start(early)
    pods = event.begin(1)
    substitute, stranger = register(site, "Claire"), register(site, "Denise")
    helped, left = pods[0]["entrants"][1], pods[1]["entrants"][0]
    named = {"player": substitute.doc["player"]}
    done(event.members[helped].post(f"{event.path}/entrants/me/substitutes", named))
    event.adopt(pods[0], 1, substitute)
    event.adopt(pods[1], 0, stranger)
    event.finish(1, pods)
    first = {row["entrant"]: row["ticks"] for row in done(site.get(f"{event.path}/standings"))["standings"]}
    assert first[left] == 0
    event.enter(range(len(early), entrants))
    for number in event.chance.sample([e for e in early if e not in (helped, left)], few):
        done(event.members[number].delete(f"{event.path}/entrants/me"))
    for number in range(2, rounds + 1):
        event.finish(number, event.begin(number))
    event.rule(act="annulled", table="1.3", how="average", reason="The wrong set-up.")
    order = {row["entrant"]: row["place"] for row in done(site.get(f"{event.path}/standings"))["standings"]}
    last = done(site.get(f"{event.path}/stages/1/rounds/{rounds}"))["pods"][0]["entrants"]
    ranked = sorted(last, key=order.__getitem__, reverse=True)
    event.rule(act="placed", table=f"{rounds}.1", places=[ranked.index(e) + 1 for e in last], reason="Rule 4.2.")
    event.act(f"{event.path}/close")
    return event


def check_sentences(event: Event) -> None:
    """Every two neighbours of every list have their sentences, in both languages."""
    for after in range(1, event.rounds + 1):
        found = done(event.site.get(f"{event.path}/standings?after_round={after}"))["standings"]
        order = [row["entrant"] for row in found]
        for first, second in pairwise(order):
            for lang, verb in (("en", "before|share"), ("fr", "devant|partag")):
                query = f"a={second}&b={first}&after_round={after}&lang={lang}"
                told = done(event.site.get(f"{event.path}/explain?{query}"))
                assert (told["first"], told["second"], told["running"]) == (first, second, [])
                assert re.search(verb, told["sentences"][-1]), told
                assert all("Anne" in sentence for sentence in told["sentences"])
    assert event.site.get(f"{event.path}/explain?a=0&b=1&after_round={event.rounds + 1}").status_code == 404


def check_export(event: Event, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The export proves itself to both verifiers against the signed log; a changed byte does not."""
    site, export = event.site, folder / "event.annals"
    export.write_bytes(data := site.get(f"{event.path}/export").data)
    assert main(["tournament", "verify", str(export)]) == 0
    assert "status: finished" in capsys.readouterr().out
    publish(site)
    last, proof, file = len(parse_export(data)), folder / "proof", folder / "annals_verify.py"
    proof.write_text(site.get(f"{event.path}/records/{last}/proof", Accept="text/plain").text)
    file.write_bytes(site.get("/verifier.py").data)
    key = next(vkey for vkey in vkeys(site) if VerifierKey.parse(vkey).kind == 1)
    command = [sys.executable, "-I", "-S", str(file), str(export), "--proof", str(proof), "--key", key]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout
    assert f"record {last} is in the log of" in told.stdout
    assert f"the secrets and keys of {event.rounds} draws" in told.stdout
    changed = data
    for place in range(7, len(data), len(data) // CHANGES):
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(VerificationError):
            verify_tournament(parse_export(changed))
    export.write_bytes(changed)
    assert main(["tournament", "verify", str(export)]) == 1
    assert "version" in capsys.readouterr().err
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout[:6]) == (1, "FALSE:")


@pytest.mark.parametrize(("entrants", "rounds"), [(24, 4), (200, 6)])
def test_every_place_of_a_whole_event_is_told_and_proved(
    site: Site,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    entrants: int,
    rounds: int,
) -> None:
    monkeypatch.setattr(checkpoint_publisher, "INTERVAL", 0)
    event = run_event(site, entrants, rounds)
    check_sentences(event)
    check_export(event, tmp_path, capsys)
