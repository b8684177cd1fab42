"""`annals seed-event` fills a service with an event in play."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from deploy.cli.main import main
from deploy.simulation import demo
from deploy.simulation.demo import run_service


def test_an_event_is_in_play_afterwards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with run_service(tmp_path / "data") as address:
        assert main(["seed-event", "--url", address, "--tables", "2"]) == 0
        told = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
        path = told["event"].strip().removeprefix(address)
        with urllib.request.urlopen(f"{address}/v1{path}") as answer:  # noqa: S310 - our own service
            event = json.load(answer)
        with urllib.request.urlopen(f"{address}/v1{path}/stages/1/rounds/2") as answer:  # noqa: S310 - our own service
            pods = json.load(answer)["pods"]
        with urllib.request.urlopen(f"{address}/v1{path}/standings") as answer:  # noqa: S310 - our own service
            standings = json.load(answer)["standings"]
    assert event["status"] == "running"
    assert [bool(pod["game"]) for pod in pods] == [True, True]
    assert sum(row["ticks"] for row in standings) > 0


def test_a_service_that_does_not_answer_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "RETRIES", demo.RETRIES.new(total=0))
    assert main(["seed-event", "--url", "http://127.0.0.1:1"]) == 1
    assert "does not answer" in capsys.readouterr().err
