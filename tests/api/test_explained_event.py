"""Somebody who did not run an event explains each place of it from its pages alone."""

from __future__ import annotations

import html
import re
from itertools import pairwise

import pytest

from tests.api.conftest import Site
from tests.api.test_tournament_pages import person
from tests.tournaments.aggregates import tournament_id
from tests.tournaments.test_timed_event import PEOPLE, play_event

FIGURE = re.compile(r"([-\N{MINUS SIGN}]?)(\d+)[.,](\d{3})")
PARTS = re.compile(r'<ul class="parts">(.*?)</ul>\s*<p>(.*?)</p>', re.DOTALL)
CAUSES = {
    "en": ("not checked in", "withdrawn at the time", "that the entrant wanted", "by ruling", "A penalty", "elsewhere"),
    "fr": ("présence non confirmée", "retiré", "exemption demandée", "décision", "pénalité", "ailleurs"),
}
"""Words for all that went wrong in the event."""


def read_ticks(sentence: str) -> int:
    """The last figure of points in a sentence, in thousandths."""
    found = FIGURE.findall(sentence)
    sign, whole, parts = found[-1] if found else ("", "0", "0")
    return int(whole + parts) * (-1 if sign else 1)


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_every_place_is_explained_by_the_pages_alone(site: Site, lang: str) -> None:
    event, _ = play_event()
    site.services.ledger.append(tournament_id(), event.records, 0)
    site.ring()
    reader, path = person(site, "Anne"), f"/tournaments/{tournament_id()}"
    shown = html.unescape(reader.read(path, Accept_Language=lang).text)
    totals = list[int]()
    for parts, total in PARTS.findall(shown):
        sentences = re.findall(r"<li>(.*?)</li>", parts, re.DOTALL)
        assert len(sentences) >= 4, sentences
        assert abs(sum(map(read_ticks, sentences)) - read_ticks(total)) <= len(sentences), (sentences, total)
        totals.append(read_ticks(total))
    assert len(totals) == PEOPLE
    assert totals == sorted(totals, reverse=True)
    assert [word for word in CAUSES[lang] if word not in shown] == []
    rows = site.get(f"{path}/standings").json["standings"]
    order = [row["entrant"] for row in rows]
    for (one, other), (more, less) in zip(pairwise(order), pairwise(totals), strict=True):
        if more == less:
            why = reader.read(f"{path}/places?a={one}&b={other}", Accept_Language=lang).text
            (said,) = re.findall(r'<p class="lead">(.*?)</p>', why)
            assert min(said.count(str(one)), said.count(str(other))) >= 1, said


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_who_has_left_or_was_out_is_compared_as_everybody(site: Site, lang: str) -> None:
    """Entrant 11 has withdrawn after two rounds, and 3 has missed a check-in."""
    event, _ = play_event()
    site.services.ledger.append(tournament_id(), event.records, 0)
    site.ring()
    path = f"/tournaments/{tournament_id()}"
    rows = {row["entrant"]: row for row in site.get(f"{path}/standings").json["standings"]}
    for one, cause in (
        (11, {"en": "withdrawn at the time", "fr": "retrait"}),
        (3, {"en": "not checked in", "fr": "non confirmée"}),
    ):
        for other in rows.keys() - {one}:
            told = site.get(f"{path}/explain?a={one}&b={other}&lang={lang}").json
            assert {told["first"], told["second"]} == {one, other}
            assert rows[told["first"]]["place"] <= rows[told["second"]]["place"]
            assert told["sentences"]
            parts = {each["entrant"]: each for each in told["points"]}
            assert {entrant: each["ticks"] for entrant, each in parts.items()} == {
                n: rows[n]["ticks"] for n in (one, other)
            }
            assert cause[lang] in " ".join(part["sentence"] for part in parts[one]["parts"])
