"""Mail of a whole service: a turn comes to a server that listens, also after its sender was killed."""

from __future__ import annotations

import os
import re
import signal
from functools import partial
from pathlib import Path

import httpx
import pytest

from deploy.config.settings import SettingsError, load_settings
from tests.deploy.harness import Service, call, serving, until
from tests.deploy.test_webhooks import account, table
from tests.notifications.mailserver import MailServer, mail_server, text

FROM = "annals@play.example"
PUBLIC = {"ANNALS_PUBLIC_URL": "https://play.example", "ANNALS_MAIL_FROM": FROM}


def games_told(server: MailServer) -> set[str]:
    found = [re.search("/games/([0-9a-f-]{36})", text(mail)) for mail in server.mails]
    return {each[1] for each in found if each}


def all_told(server: MailServer, games: set[str]) -> bool:
    return games_told(server) == games


def ended(service: Service, headers: dict[str, str]) -> bool:
    return bool(service.http.get("/me/mail", headers=headers).json()["state"] == "off")


def test_turn_is_told_though_its_sender_is_killed(tmp_path: Path) -> None:
    with mail_server(user=("annals", "s3cret-w0rd")) as server:
        env = PUBLIC | {"ANNALS_SMTP": f"smtp://annals:s3cret-w0rd@127.0.0.1:{server.port}", "ANNALS_WEBHOOKS": "none"}
        with serving(tmp_path / "data", "--log-level", "debug", **env) as service:
            anne = account(service, "Anne")
            kept = service.http.put(
                "/me/mail", json={"address": "anne@example.org", "events": ["turn.due"]}, headers=anne
            )
            assert kept.status_code == 200, kept.text
            until(lambda: server.mails)
            code = re.search("[A-Z2-9]{10}", text(server.mails[0]))
            assert code
            shown = service.http.post("/me/mail/confirmations", json={"code": code[0]}, headers=anne)
            assert shown.status_code == 200, shown.text
            games = {table(service, anne)}
            until(partial(all_told, server, games))
            pid = service.pid("annals-worker-1")
            games.add(table(service, anne))
            os.kill(pid, signal.SIGKILL)
            games.add(table(service, anne))
            until(partial(all_told, server, games))
            link = str(server.mails[-1]["List-Unsubscribe"]).strip("<>")
            path = link.removeprefix("https://play.example")
            assert httpx.post(f"{service.url}{path}", data={"List-Unsubscribe": "One-Click"}).status_code == 200
            assert ended(service, anne)
            errors = service.errors.read_text()
            for secret in ("s3cret-w0rd", path.rpartition("=")[2], code[0], "anne@example.org"):
                assert secret not in errors


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"ANNALS_SMTP": "http://u:s3cret@mail.example"} | PUBLIC, "ANNALS_SMTP"),
        ({"ANNALS_SMTP": "smtp://u:s3cret@mail.example:s3cret"} | PUBLIC, "ANNALS_SMTP"),
        ({"ANNALS_SMTP": "smtp://s3cret@mail.example"} | PUBLIC, "ANNALS_SMTP"),
        ({"ANNALS_SMTP": "smtps://u:s3cret@mail.example?starttls=no"} | PUBLIC, "ANNALS_SMTP"),
        ({"ANNALS_SMTP": "smtp://u:s3cret@mail.example/path"} | PUBLIC, "ANNALS_SMTP"),
        ({"ANNALS_SMTP": "smtp://u:s3cret@"} | PUBLIC, "ANNALS_SMTP"),
        ({"ANNALS_SMTP": "smtp://u:s3cret@mail.example"} | PUBLIC | {"ANNALS_MAIL_FROM": "x"}, "ANNALS_MAIL_FROM"),
        (
            {"ANNALS_SMTP": "smtp://u:s3cret@mail.example"}
            | PUBLIC
            | {"ANNALS_MAIL_FROM": "=?utf-8?q?a?=@play.example"},
            "ANNALS_MAIL_FROM",
        ),
        ({"ANNALS_SMTP": "smtp://u:s3cret@mail.example", "ANNALS_MAIL_FROM": FROM}, "ANNALS_PUBLIC_URL"),
    ],
)
def test_wrong_settings_stop_the_start_and_tell_no_secret(tmp_path: Path, env: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings({}, env)
    assert said in str(refused.value)
    assert "s3cret" not in str(refused.value)
    done = call("serve", "--data", str(tmp_path / "data"), "--port", "0", **env)
    assert (done.returncode, "s3cret" in done.stderr + done.stdout) == (2, False)


def test_child_is_told_server_and_nobody_is_shown_its_password() -> None:
    found = load_settings({}, PUBLIC | {"ANNALS_SMTP": "smtps://u:s3cret@mail.example"})
    assert load_settings({}, found.to_environ()) == found
    assert "s3cret" not in repr(found)
