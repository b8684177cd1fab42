"""A stream, a download and a form go past the service worker, in Chromium and in Firefox."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from tests.api.conftest import ROOT

pytestmark = [
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there"),
    pytest.mark.xdist_group("browser"),  # one service and one browser at a time
]

PATIENCE = 60
WORKER = ROOT / "api/pages/static/worker.js"
LAST = "7"
GAME = "/games/00000000-0000-4000-8000-000000000000"
NOTES = """
const answered = [];
const { respondWith } = FetchEvent.prototype;
FetchEvent.prototype.respondWith = function (answer) {
  answered.push(new URL(this.request.url).pathname);
  return respondWith.call(this, answer);
};
self.addEventListener("message", ({ source }) => source.postMessage(answered));
"""
"""A beginning of the worker that notes what it answers."""
PAGE = """<!doctype html><title>x</title><link rel=icon href=data:,><script type=module>
const { serviceWorker } = navigator;
await serviceWorker.register("/worker.js");
while (!serviceWorker.controller) await new Promise((done) => setTimeout(done, 50));
const last = await new Promise((done) => {
  const stream = new EventSource("GAME/live");
  stream.onmessage = ({ data }) => data === "first" || done(data, stream.close());
});
await fetch("GAME", { headers: { Accept: "text/html" } });
for (const path of ["GAME/moves", "/login"]) await fetch(path, { method: "POST" });
for (const path of ["/v1GAME/export", "GAME/talk/file"]) await fetch(path);
const told = new Promise((done) => (serviceWorker.onmessage = ({ data }) => done(data)));
serviceWorker.startMessages();
serviceWorker.controller.postMessage("");
await fetch("/found", { method: "POST", body: JSON.stringify({ last, answered: await told }) });
</script>""".replace("GAME", GAME)
PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.connection.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.enabled": False,
}


class Streams(BaseHTTPRequestHandler):
    """A stand-in: a page, the worker, and a stream that tells the last event from which it shall go on."""

    found: Queue[Any]
    begun: list[str]

    def do_GET(self) -> None:
        if self.path == f"{GAME}/live":
            last = self.headers.get("Last-Event-ID", "none")
            text = f"data: {last}\n\n" if self.begun else f"retry: 50\nid: {LAST}\ndata: first\n\n"
            self.begun.append(last)
            return self.send(text, "text/event-stream")
        if self.path == "/worker.js":
            return self.send(NOTES + WORKER.read_text("utf-8"), "text/javascript")
        return self.send(PAGE, "text/html")

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/found":
            self.found.put(json.loads(sent))
        self.send("", "text/plain")

    def send(self, text: str, type_: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", type_)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None: ...


@contextmanager
def running(command: list[str], **env: str) -> Iterator[None]:
    """A program with its children, ended afterwards."""
    quiet = subprocess.DEVNULL
    started = subprocess.Popen(command, env={**os.environ, **env}, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def follow(command: list[str], **env: str) -> Any:
    """Return with which last event a browser comes back, and what its worker has answered."""

    class Handler(Streams):
        found, begun = Queue(), []

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with running([*command, f"http://127.0.0.1:{server.server_port}/"], **env):
            return Handler.found.get(timeout=PATIENCE)
    finally:
        server.shutdown()
        server.server_close()


def test_chromium_comes_back_with_the_last_event(program: tuple[str, str], tools: Path, tmp_path: Path) -> None:
    browser, libraries = program
    command = [browser, "--headless", "--no-sandbox", "--no-zygote", "--disable-gpu", "--remote-debugging-port=0"]
    fonts = str(tools.parents[1] / "browser" / "fonts.conf")
    found = follow([*command, f"--user-data-dir={tmp_path}"], LD_LIBRARY_PATH=libraries, FONTCONFIG_FILE=fonts)
    assert found == {"last": LAST, "answered": [GAME]}


def test_firefox_comes_back_with_the_last_event(tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("firefox", "firefox-esr"))), None)
    if browser is None:
        pytest.skip("there is no Firefox here")
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
    (tmp_path / "user.js").write_text("\n".join(lines))
    command = [browser, "--headless", "--no-remote", "--profile", str(tmp_path)]
    assert follow(command, HOME=str(tmp_path)) == {"last": LAST, "answered": [GAME]}
