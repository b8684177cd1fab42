"""Divisions and rating bands: each division is an event of its own, and nobody enters two of them."""

from __future__ import annotations

import pytest

from domain.errors import StoreUnavailable
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from tests.api.conftest import Site, refused
from tests.api.test_event_desk import opened
from tests.api.test_tournament_pages import person
from tests.api.test_tournaments import done


def test_divisions_have_the_same_terms_and_people_of_their_own(site: Site) -> None:
    host, (anne,), path = opened(site, 1)
    assert host.api.put(f"{path}/card", {"title": "Genoa Open"}).status_code == 204
    made = done(host.api.post(f"{path}/divisions", {"name": "B", "band": {"most": 1000}}))["division"]
    second = done(site.get(f"/tournaments/{made}"))
    first = done(site.get(path))
    assert first["divisions"] == [{"tournament": made, "name": "B"}]
    assert (second["division"], second["division_of"], second["title"]) == ("B", first["tournament"], "Genoa Open")
    assert second["stages"] == first["stages"]
    told = refused(anne.api.post(f"/tournaments/{made}/entrants"), 409, "division_entered")
    assert told["title"]
    newcomer = person(site, "Bertrand")
    done(newcomer.api.post(f"/tournaments/{made}/entrants"))
    refused(newcomer.api.post(f"{path}/entrants"), 409, "division_entered")
    for address in (path, f"/tournaments/{made}"):
        assert f'href="/tournaments/{made}"' in site.client.get(address).text
    refused(host.api.post(f"{path}/divisions", {"name": "B"}), 409, "division_known")
    refused(host.api.post(f"/tournaments/{made}/divisions", {"name": "C"}), 409, "division_nested")
    refused(anne.api.post(f"{path}/divisions", {"name": "C"}), 403, "directors_only")
    verify_tournament(parse_export(site.get(f"{path}/export").data))


def test_a_band_takes_some_people_and_tells_the_others_why(site: Site) -> None:
    _, people, path = opened(site, 0, band={"least": 100, "tables": 2})
    assert not people
    newcomer = person(site, "Bertrand")
    told = refused(newcomer.api.post(f"{path}/entrants"), 409, "rating_barred")
    assert told["title"]
    page = newcomer.read(path).text
    assert "a rating from 1.00, 2 rated tables at least" in page


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "division-b-of-genoa"}])
def test_repetition_finishes_a_division_cut_between_writes(
    site: Site, monkeypatch: pytest.MonkeyPatch, key: dict[str, str]
) -> None:
    host, _, path = opened(site, 0)
    with monkeypatch.context() as cut:

        def fail(*_: object, **__: object) -> None:
            raise StoreUnavailable

        cut.setattr(type(site.services.tournaments), "open", fail)
        assert host.api.post(f"{path}/divisions", {"name": "B"}, **key).status_code == 503
    (division,) = done(site.get(path))["divisions"]
    assert site.get(f"/tournaments/{division['tournament']}").status_code == 404
    assert done(host.api.post(f"{path}/divisions", {"name": "B"}, **key))["division"] == division["tournament"]
    assert done(site.get(f"/tournaments/{division['tournament']}"))["division"] == "B"
    assert len(done(site.get(path))["divisions"]) == 1


def test_code_and_an_office_of_substitute_lead_nobody_into_two(site: Site) -> None:
    host, (anne,), path = opened(site, 1)
    made = done(host.api.post(f"{path}/divisions", {"name": "B"}))["division"]
    lines = done(host.api.post(f"/tournaments/{made}/entrants/imports", {"csv": "name\nSomebody\n"}))["lines"]
    refused(anne.api.post("/me/entries", {"code": lines[0]["code"]}), 409, "division_entered")
    newcomer = person(site, "Bertrand")
    done(newcomer.api.post(f"/tournaments/{made}/entrants"))
    asked = newcomer.api.post(f"/tournaments/{made}/entrants/me/substitutes", {"player": anne.api.doc["player"]})
    assert asked.status_code < 300, asked.text
    refused(anne.api.put(f"/me/substitutions/{made}/{newcomer.api.doc['player']}"), 409, "division_entered")
