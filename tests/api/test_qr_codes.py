"""QR codes on pages: drawn by the service, without a request to others."""

from __future__ import annotations

import re

import pytest
import segno

from api.pages.common.qr_codes import BORDER, build_qr_code
from tests.api.conftest import Site
from tests.api.members import register
from tests.api.test_tournaments import opened

ADDRESS = "https://play.example/tournaments/27e43ee1-7e0f-81c0-b9eb-7ffcfa93e284"


def dark_squares(path: str) -> set[tuple[int, int]]:
    runs = re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", path)
    return {(int(x) + step, int(y)) for x, y, width in runs for step in range(int(width))}


@pytest.mark.parametrize("text", ["a", ADDRESS, "otpauth://totp/Annals:anne?secret=JBSWY3DPEHPK3PXP&issuer=Annals"])
def test_a_path_draws_the_dark_squares_inside_a_border(text: str) -> None:
    code = build_qr_code(text)
    rows = segno.make_qr(text, error="m", boost_error=False).matrix
    wanted = {(x + BORDER, y + BORDER) for y, row in enumerate(rows) for x, dark in enumerate(row) if dark}
    assert dark_squares(code.path) == wanted
    assert code.side == len(rows) + 2 * BORDER


def test_a_printed_tournament_has_its_address_as_a_code(site: Site) -> None:
    path = opened(site, register(site, "Organiser"))
    page = site.client.get(path, headers={"Host": "localhost"})
    assert 'class="printed"' in page.text
    assert f"http://localhost{path}" in page.text
    elsewhere = site.client.get(path, headers={"Host": "attacker.example"})
    assert elsewhere.status_code == 200
    assert 'class="printed"' not in elsewhere.text
