"""Pages of talk: forms that work without scripts, in both languages."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import pytest

from tests.api.conftest import Site
from tests.api.game_pages import Page, Person
from tests.api.members import promoted, register
from tests.api.oauth.browser import Browser

WORD = "Zanzibar"
REGIONS = (("region", "baltic"), ("region", "india"))


@dataclass
class Evening:
    """A table with talk, and the people who play there by its pages."""

    site: Site
    game: str
    people: list[Person]

    @property
    def path(self) -> str:
        return f"/games/{self.game}/talk"

    def page(self, who: int, query: str = "") -> str:
        got = self.people[who].read(self.path + query)
        assert got.status_code == 200, got.text
        return str(got.text)

    def write(self, who: int, text: str, *to: str, query: str = "") -> str:
        """Fill in a form of the page, and read the page after it."""
        form = Page(self.page(who, query)).act("say")
        answer = self.people[who].send(form, ("text", text), *(("to", seat) for seat in to))
        assert answer.status_code == 303, answer.text
        return str(self.people[who].follow(answer).text)


@pytest.fixture
def evening(site: Site) -> Evening:
    """Three people at a table with talk."""
    return open_evening(site, "orders@1")


def open_evening(site: Site, ruleset: str) -> Evening:
    """Three people at a table with talk."""
    people = []
    for name in ("Anne", "Bruno", "Clara"):
        member, browser = register(site, name), Browser(site)
        assert browser.log_in(name).status_code == 303
        people.append(Person(site, browser, member))
    game = people[0].api.post("/games", {"ruleset": ruleset, "seats": 3, "talk": "free"}).json["game"]
    for seat, person in enumerate(people):
        assert person.api.post(f"/games/{game}/seats", {"seat": seat}).status_code == 201
    assert people[0].api.post(f"/games/{game}/start", Annals_Role="director").status_code == 201
    return Evening(site, game, people)


class TestThePage:
    def test_a_letter_is_written_read_and_answered_by_forms(self, evening: Evening) -> None:
        assert WORD in evening.write(0, f"Meet me in {WORD}.", "1")
        listed = evening.page(1)
        assert f"Meet me in {WORD}." in listed
        assert "1 new" in listed
        conversation = evening.people[1].api.get(f"{evening.path}").json["conversations"][0]["conversation"]
        query = f"?conversation={conversation}"
        assert f"Meet me in {WORD}." in evening.page(1, query)
        assert "1 new" not in evening.page(1)  # a look is enough
        assert "I shall come." in evening.write(1, "I shall come.", query=query)
        assert WORD not in evening.page(2)

    def test_the_page_of_the_table_counts_what_is_new(self, evening: Evening) -> None:
        evening.write(0, f"Meet me in {WORD}.", "1")
        for who, count in ((1, '<span class="count">1</span>'), (2, '<span class="count" hidden>0</span>')):
            table = evening.people[who].read(f"/games/{evening.game}").text
            assert count in table
            assert WORD not in table

    def test_it_speaks_french_and_shows_text_as_text(self, evening: Evening) -> None:
        evening.write(0, "<b>bold</b> \u05d0", "1")
        shown = evening.people[1].read(evening.path, Accept_Language="fr").text
        assert "&lt;b&gt;bold&lt;/b&gt;" in shown
        assert "<b>bold" not in shown
        assert "Lettre" in shown

    def test_a_refused_text_stays_in_its_form(self, evening: Evening) -> None:
        form = Page(evening.page(0)).act("say")
        answer = evening.people[0].send(form, ("text", f"{WORD} \u202e"), ("to", "1"))
        assert answer.status_code == 422
        assert WORD in answer.text

    def test_a_second_click_sends_nothing_more(self, evening: Evening) -> None:
        form = Page(evening.page(0)).act("say")
        for _ in range(2):
            assert evening.people[0].send(form, ("text", WORD), ("to", "1")).status_code == 303
        assert len(evening.people[1].api.get(f"{evening.path}/messages").json["items"]) == 1

    def test_a_reply_quotes_its_message_and_regions_lead_to_the_map(self, site: Site) -> None:
        evening = open_evening(site, "struggle_of_empires@1")
        written = evening.page(0, "?to=1&region=baltic")
        assert 'name="region" value="baltic" checked' in written
        form = Page(written).act("say")
        sent = evening.people[0].send(form, ("text", "Leave it to me?"), ("to", "1"), *REGIONS)
        assert sent.status_code == 303
        conversation = evening.people[1].api.get(f"{evening.path}").json["conversations"][0]["conversation"]
        shown = evening.page(1, f"?conversation={conversation}")
        for _, region in REGIONS:
            assert f'/games/{evening.game}/regions/{region}?as=1" data-show="{region}"' in shown
        evening.write(1, "You may.", query=f"?conversation={conversation}&reply=1")
        found = evening.people[1].api.get(f"{evening.path}/messages").json["items"][-1]
        assert (found["text"], found["quotes"]) == ("You may.", [1])
        assert evening.page(1, f"?conversation={conversation}").count("<blockquote>") == 1

    def test_notes_are_kept_for_oneself(self, evening: Evening) -> None:
        form = Page(evening.page(0)).act("note")
        assert evening.people[0].send(form, ("text", f"Trust nobody in {WORD}.")).status_code == 303
        assert f"Trust nobody in {WORD}." in evening.page(0)
        assert WORD not in evening.page(1)

    def test_the_mailbox_is_a_file(self, evening: Evening) -> None:
        evening.write(0, WORD, "1")
        got = evening.people[1].read(f"{evening.path}/mailbox")
        assert (got.status_code, got.mimetype) == (200, "application/x-ndjson")
        assert got.text.startswith('{"annals_mailbox":1,')

    def test_a_spectator_reads_the_table_alone_and_writes_nothing(self, evening: Evening) -> None:
        evening.write(0, WORD, "1")
        evening.people[0].api.post(f"{evening.path}/messages", {"to": [], "text": "Hello."}, Annals_Role="0")
        shown = Person(evening.site, Browser(evening.site)).read(evening.path).text
        assert "Hello." in shown
        assert WORD not in shown
        assert "<textarea" not in shown


class TestTreaties:
    def test_proposal_is_countered_and_accepted_in_two_languages(self, site: Site) -> None:
        evening = open_evening(site, "struggle_of_empires@1")
        kinds = evening.page(0, "?propose=list&to=1")
        assert "propose=keep_out_of" in kinds
        assert "nobody" in kinds
        form = Page(evening.page(0, "?propose=keep_out_of&to=1")).act("say")
        answer = evening.people[0].send(form, ("n.who", "1"), ("w.region", "baltic"), ("n.turn", "2"), ("text", ""))
        assert answer.status_code == 303, answer.text
        assert (
            "Anne proposes that Bruno keeps out of the Baltic until the end of War 2."
            in evening.people[0].follow(answer).text
        )
        conversation = evening.people[1].api.get(f"{evening.path}").json["conversations"][0]["conversation"]
        query = f"?conversation={conversation}"
        shown = evening.people[1].read(evening.path + query, Accept_Language="fr").text
        assert "Anne propose que Bruno reste hors de la Baltique" in shown
        form = Page(evening.page(1, f"{query}&propose=truce_until&counter=1")).act("say", answer="counter")
        assert evening.people[1].send(form, ("n.turn", "1"), ("text", "Rather this.")).status_code == 303
        theirs = evening.people[0].api.get(evening.path, Annals_Role="0").json["conversations"][0]["conversation"]
        page = evening.page(0, f"?conversation={theirs}")
        assert "proposes something else" in page
        form = next(form for form in Page(page).forms if ("entry", "2") in form.fields)
        assert evening.people[0].send(form, ("answer", "accept")).status_code == 303
        assert "Kept so far." in evening.page(1, query)
        assert "Kept so far." in evening.page(0, f"?conversation={theirs}")

    def test_a_refused_field_is_told_and_the_form_stays(self, site: Site) -> None:
        evening = open_evening(site, "struggle_of_empires@1")
        form = Page(evening.page(0, "?propose=truce_until&to=1")).act("say")
        answer = evening.people[0].send(form, ("n.turn", "9"), ("text", WORD))
        assert answer.status_code == 422
        assert WORD in answer.text
        assert 'name="n.turn"' in answer.text


class TestDisclosures:
    def test_a_letter_is_shown_to_the_table_by_a_form_and_proved(self, evening: Evening) -> None:
        evening.write(0, WORD, "1")
        conversation = evening.people[1].api.get(evening.path).json["conversations"][0]["conversation"]
        form = Page(evening.page(1, f"?conversation={conversation}")).act("disclose")
        assert WORD not in evening.page(2)
        assert evening.people[1].send(form, ("audience", "table")).status_code == 303
        shown = evening.page(2)
        assert WORD in shown
        assert "Shown by Bruno to the table." in shown
        assert "Proved by the records of the game." in shown
        (address,) = re.findall(r"talk/disclosures/[0-9a-f]{24}", shown)
        assert WORD in evening.people[2].read(f"/games/{evening.game}/{address}").text


class TestConduct:
    def test_letter_is_reported_by_form_and_settled_by_a_moderator(self, site: Site, evening: Evening) -> None:
        evening.write(0, "Before it.", "1")
        evening.write(0, WORD, "1")
        conversation = evening.people[1].api.get(evening.path).json["conversations"][0]["conversation"]
        page = Page(evening.page(1, f"?conversation={conversation}"))
        forms = [form for form in page.forms if ("act", "report") in form.fields]
        sent = evening.people[1].send(forms[-1], ("reported", "1"), ("reported", "2"), ("said", "A threat."))
        assert sent.status_code == 303
        assert "Your report is sent." in evening.people[1].follow(sent).text
        judge, browser = promoted(site, "Judge", "moderator"), Browser(site)
        assert browser.log_in("Judge").status_code == 303
        person = Person(site, browser, judge)
        read = person.read("/moderation").text
        assert WORD in read
        assert "Before it." in read
        assert "Proved by the records of the game." in read
        settled = person.send(Page(read).form("/settle"), ("outcome", "Erased."), ("erase", "yes"))
        assert settled.status_code in (200, 303), settled.text
        assert "Erased after a report." in evening.page(0)

    def test_officer_settles_report_and_stops_the_words_of_a_player(self, site: Site) -> None:
        evening = open_evening(site, "orders@1")
        member, browser = register(site, "Dora"), Browser(site)
        assert browser.log_in("Dora").status_code == 303
        host = Person(site, browser, member)
        game = host.api.post("/games", {"ruleset": "orders@1", "seats": 3, "talk": "free"}).json["game"]
        for seat, person in enumerate(evening.people):
            assert person.api.post(f"/games/{game}/seats", {"seat": seat}).status_code == 201
        assert host.api.post(f"/games/{game}/start").status_code == 201
        evening = replace(evening, game=game)
        evening.write(0, WORD, query="?conversation=table")
        form = Page(evening.page(1, "?conversation=table")).act("report")
        assert evening.people[1].send(form, ("reported", "1"), ("said", "A threat.")).status_code == 303
        address = f"/games/{game}/talk?as=director"
        shown = host.read(address).text
        assert "A threat." in shown
        assert "A player has reported messages." in host.read("/desk").text
        done = host.send(Page(shown).act("settle"), ("outcome", "He is warned."))
        assert done.status_code == 303
        form = Page(host.read(address).text).act("silence")
        done = host.send(form, ("seat", "0"), ("hours", "24"), ("reason", "Threats."))
        assert done.status_code == 303
        assert "He is warned." in host.read(address).text
        assert "You write no words to the table until" in evening.page(0, "?conversation=table")
        assert "Anne writes no words to the table until" in evening.page(2)
        lifted = host.send(Page(host.read(address).text).act("silence"), ("seat", "0"), ("hours", "0"))
        assert lifted.status_code == 303
        assert "writes no words" not in evening.page(2)
