"""The stream of a tournament: what it is, then each record by its kind and place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deploy.runtime import nginx as front_module
from tests.api.conftest import Site, refused
from tests.api.members import register
from tests.api.streaming import Answer
from tests.api.test_stream_tables import LINES, Events, of
from tests.api.test_tournaments import done, drawn, opened

STREAM = "text/event-stream"
SECRETS = ("nonce", "key", "by", "entrant", "bid")


def follow(site: Site, path: str, **headers: str) -> Answer:
    return site.follow(f"{path}/stream", "", Accept=LINES, **headers)


def test_it_begins_with_tournament_and_names_each_record(site: Site) -> None:
    director = register(site, "Organiser")
    path = opened(site, director)
    with follow(site, path) as answer:
        events = Events(answer)
        first = events.next()
        assert (first["event"], first["id"]) == ("tournament", 1)
        read = site.get(path).json
        assert first["data"] == {name: read[name] for name in first["data"]}
        done(register(site, "Anne").post(f"{path}/entrants"))
        entered = events.until(of("record"))
        assert entered["data"] | {"at": 0} == {"version": 2, "kind": "entered", "at": 0}
        assert entered["id"] == 2


def test_a_reader_who_comes_back_has_missed_nothing(site: Site) -> None:
    director = register(site, "Organiser")
    path = opened(site, director)
    for name in ("Anne", "Bert"):
        done(register(site, name).post(f"{path}/entrants"))
    with follow(site, path, Last_Event_ID="2") as answer:
        events = Events(answer)
        assert events.next()["event"] == "tournament"
        assert events.next()["data"]["version"] == 3


def test_a_round_has_a_stream_with_its_own_records(site: Site) -> None:
    _, members, path = drawn(site)
    with follow(site, f"{path}", Last_Event_ID="1") as answer:
        every = Events(answer)
        every.next()
        kinds = [every.until(of("record", version=v))["data"] for v in range(2, site.get(path).json["version"] + 1)]
    assert {event.get("stage") for event in kinds} == {None, 1}
    assert not [event for event in kinds if set(SECRETS) & set(event)]
    assert members[0].delete(f"{path}/entrants/me").status_code in (200, 204)
    with site.follow(f"{path}/stream?stage=2", "", Accept=LINES, Last_Event_ID="1") as answer:
        events = Events(answer)
        events.next()
        named = [events.next()["data"] for _ in [kind for kind in kinds if "stage" not in kind]]
        assert not [event for event in named if "stage" in event]
        assert events.next()["data"]["kind"] == "withdrew"


@pytest.mark.parametrize("query", ["stage=-1", "round=x", "from=-1", "other=1"])
def test_a_wrong_query_and_an_unknown_tournament_are_refused(site: Site, query: str) -> None:
    path = opened(site, register(site, "Organiser"))
    refused(site.follow(f"{path}/stream?{query}", "", Accept=LINES), 422, "invalid_query")
    refused(site.follow("/tournaments/00000000-0000-8000-8000-000000000000/stream", ""), 404, "unknown_tournament")


def test_the_front_sends_each_stream_to_the_process_for_streams(site: Site) -> None:
    front = (Path(front_module.__file__).parent / "front.conf").read_text("utf-8")
    (pattern,) = [line.split()[2] for line in front.splitlines() if "location ~ " in line and "/stream" in line]
    paths = site.get("/openapi.json").json["paths"]
    streams = [
        path for path, item in paths.items() if STREAM in str(item.get("get", {}).get("responses", {}).get("200"))
    ]
    ours = [path for path in streams if path.endswith("/stream")]
    assert len(ours) == 4
    assert [path for path in ours if re.match(pattern, re.sub(r"{\w+}", "x", path))] == ours
