"""What Chromium's EventSource makes of a stream: rows of docs/clients/behaviour.md."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

import pytest

from tests.browser.conftest import run_node
from tests.deploy.harness import Doc

pytestmark = [
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there"),
    pytest.mark.xdist_group("browser"),  # one service and one browser at a time
]


@pytest.fixture(scope="module")
def streams(program: tuple[str, str], tools: Path) -> Doc:
    """What each stream of a stand-in server gave: events, end, and the ids and gap of its requests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    asked = {"url": url, "modules": str(tools.parent), "browser": program[0], "libraries": program[1]}
    found: Doc = json.loads(run_node("streaming", tools.parent, said=json.dumps(asked)))
    assert not found["faults"], "\n".join(found["faults"])
    seen: Doc = found["streams"]
    return seen


def test_an_id_counts_without_data_and_an_empty_one_resets_it(streams: Doc) -> None:
    assert streams["ids"]["events"] == [["a", "7"], ["b", "8"], ["c", ""]]
    assert streams["ids"]["ids"] == [None, "8", None]
    assert (streams["id_alone"]["events"], streams["id_alone"]["ids"][1]) == ([], "8")


def test_retry_alone_is_no_event_and_counts(streams: Doc) -> None:
    assert streams["retry_alone"]["events"] == []
    assert streams["retry_alone"]["gap"] >= 290


@pytest.mark.parametrize("name", ["refused", "refused_later", "empty", "json"])
def test_an_answer_that_is_no_stream_ends_it_for_good(streams: Doc, name: str) -> None:
    assert streams[name]["closed"]
    assert streams[name]["asked"] == (2 if name == "refused_later" else 1)


def test_a_server_that_restarts_is_found_again(streams: Doc) -> None:
    assert streams["restarted"]["events"][:2] == [["a", ""], ["a", ""]]


def test_an_event_that_is_cut_is_dropped(streams: Doc) -> None:
    assert streams["cut"]["events"] == [["whole", ""]]


def test_gzip_a_mark_and_a_line_separator_are_read(streams: Doc) -> None:
    assert streams["packed"]["events"] == streams["mark"]["events"] == [["a", ""]]
    assert streams["separator"]["events"] == [["a\u2028b", ""]]
