"""What makes the pages an application of a phone: manifest, icons, addresses by content, and the service worker."""

from __future__ import annotations

import re
import struct

import pytest

from api.pages.common.static_files import FOLDER, SHELL, STATIC, hash_build
from tests.api.conftest import Site


@pytest.mark.parametrize(("lang", "shortcut"), [("en", "Tournaments"), ("fr", "Tournois")])
def test_a_manifest_names_the_pages_in_its_language(site: Site, lang: str, shortcut: str) -> None:
    manifest = site.client.get(f"/pages/{lang}.webmanifest")
    assert manifest.content_type == "application/manifest+json"
    doc = manifest.json
    assert doc is not None
    assert (doc["lang"], doc["start_url"], doc["scope"], doc["display"]) == (lang, "/", "/", "standalone")
    assert [each["url"] for each in doc["shortcuts"]] == ["/play", "/tournaments"]
    assert doc["shortcuts"][1]["name"] == shortcut
    assert {(each["type"], each["purpose"]) for each in doc["icons"]} == {
        (media, purpose) for media in ("image/svg+xml", "image/png") for purpose in ("any", "maskable")
    }
    for icon in doc["icons"]:
        picture = site.client.get(icon["src"])
        assert picture.content_type == icon["type"]
        assert "immutable" in picture.headers["Cache-Control"]
        if icon["type"] == "image/png":
            assert "{}x{}".format(*struct.unpack(">II", picture.data[16:24])) == icon["sizes"]


def test_a_language_without_texts_has_no_manifest(site: Site) -> None:
    assert site.client.get("/pages/de.webmanifest").status_code == 404


def test_a_file_is_kept_under_the_hash_of_its_content_alone(site: Site) -> None:
    page = site.client.get("/", headers={"Accept": "text/html"})
    address = re.search(r'href="(/pages/style\.css\?v=[0-9a-f]{16})"', page.text)
    assert address is not None
    assert "immutable" in site.client.get(address[1]).headers["Cache-Control"]
    assert site.client.get("/pages/style.css?v=0000000000000000").headers["Cache-Control"] == "no-store"
    assert site.client.get("/pages/style.css").headers["Cache-Control"] == "public, max-age=300"


class TestTheWorker:
    def test_knows_its_build_and_its_files(self, site: Site) -> None:
        worker = site.client.get("/worker.js")
        assert worker.headers["Cache-Control"] == "no-cache"
        assert worker.headers["Content-Security-Policy"].startswith("default-src 'none'; connect-src 'self'; ")
        assert f'const BUILD = "{hash_build()}";' in worker.text
        for name in SHELL:
            assert f'"/pages/{name}?v=' in worker.text
        assert "/*" not in worker.text.split("const SHELL", 1)[1].split("\n", 1)[0]

    def test_is_short(self) -> None:
        assert len((FOLDER / "static/worker.js").read_text("utf-8").splitlines()) < 200

    def test_is_switched_off_by_the_service(self, site: Site) -> None:
        site.remake(worker=False)
        worker = site.client.get("/worker.js").text
        assert "registration.unregister()" in worker
        assert "fetch" not in worker
        assert "data-worker" not in site.client.get("/", headers={"Accept": "text/html"}).text

    def test_pages_of_games_tell_whose_they_are_and_their_build(self, site: Site) -> None:
        page = site.client.get("/", headers={"Accept": "text/html"})
        assert page.headers["Annals-Build"] == hash_build()
        assert re.fullmatch(r"[0-9a-f]{32}", page.headers["Annals-Reader"])
        assert 'data-worker="on"' in page.text
        policy = page.headers["Content-Security-Policy"]
        assert "worker-src 'self'" in policy
        assert "manifest-src 'self'" in policy


def test_every_static_file_has_an_address() -> None:
    workers = {"worker.js", "worker_off.js"}
    assert {path.name for path in (FOLDER / "static").iterdir()} == {*STATIC, *workers}
