"""The chronicle names the people of its time, and marks what was undone."""

from __future__ import annotations

from tests.api.conftest import Doc, Site, Table


def texts(table: Table) -> dict[int, list[str]]:
    return {entry["version"]: entry["text"] for entry in table.get("/timeline?limit=200").json["items"]}


def test_a_substitute_is_not_named_for_what_happened_before(site: Site) -> None:
    table = site.table("struggle_of_empires@1", 3)
    before = texts(table)
    assert any("Player 1" in line for lines in before.values() for line in lines)
    site.delete(f"{table.path}/seats/1?hold=0", table.tokens[1])
    left = table.version
    assert table.post("/seats", {"seat": 1, "name": "Substitute"}).status_code == 201
    after = texts(table)
    assert {version: after[version] for version in before} == before
    assert "Player 1" in " ".join(after[left])
    assert "Substitute" in " ".join(after[left + 1])


def test_undone_entries_carry_a_mark(site: Site) -> None:
    table = site.table("orders@1", 3)
    version = table.version
    assert table.move(0, {"type": "submit"}).status_code == 201
    head = table.version
    asked = table.post("/rewinds", {"to": version, "reason": "slip"}, table.director, If_Match=f'"{head}"')
    assert asked.status_code == 202
    entries: list[Doc] = table.get("/timeline?limit=200").json["items"]
    assert [entry["version"] for entry in entries if entry.get("undone")] == list(range(version + 1, head + 1))
    assert table.get().json["undone"] == [[version, head + 1]]
