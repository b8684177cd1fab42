"""Tournaments on pages: the list, one tournament with a round and its standings, and the reason of a place."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import urlencode

from flask import Response, g, request
from markupsafe import Markup

from api.documents.standings_memory import find_round, make_key
from api.event_stakes import has_stake_in_stage
from api.http import i18n, public_url
from api.http.problems import Problem
from api.pages.common import clocks
from api.pages.common.form_keys import new_form_key
from api.pages.common.in_process import Answer, RefusedCall, read_document, require
from api.pages.common.labels import Labels
from api.pages.common.numbers import parse_number
from api.pages.common.qr_codes import QrCode, build_qr_code
from api.pages.common.session import localize_problem, render_fragment, render_games_page, session_owner
from api.pages.tournaments.kept_fragments import keep_fragment
from api.pages.tournaments.standings_shown import StandingsShown, show_standings
from api.pages.tournaments.tournament_charts import LEAST_ROUNDS, draw_progress
from api.pages.tournaments.tournament_terms import TermsShown, tell_changes
from api.schemas.history_responses import RulesetsDoc
from api.schemas.tournament_responses import AnnouncementDoc, AnnouncementsDoc, FollowedSeriesDoc
from api.services import services
from api.tournament_rights import list_rights
from domain.compat import cached_property
from domain.kernel.text.message_catalog import Message
from domain.tournaments.aggregate.point_parts import write_points
from domain.tournaments.aggregate.tournament import LEAST_TABLES, Tournament
from domain.types import Doc
from projections.tournament_documents import PodDoc, RoundDoc
from projections.tournament_views import build_progress, has_round

MOST_RENDERED = 4
"""Renderings of the same standings that are kept: after a name has changed, another one takes their place."""


@dataclass(frozen=True)
class TournamentShown:
    """A tournament with the words of its game."""

    doc: Doc
    labels: Labels
    players: Sequence[str] = ()
    """Player ids of the visitor."""
    rights: Collection[str] = ()
    """Operations of officers that the visitor may do."""
    has_stake: bool = False
    """True if the visitor, or a related person, has a place in the current stage, or decides for an entrant there."""

    @property
    def address(self) -> str:
        """Return the address of the page."""
        return f"/tournaments/{self.doc['tournament']}"

    @property
    def name(self) -> str:
        """Return the title of the tournament, or of its game."""
        return str(self.doc.get("title") or self.labels.title())

    @property
    def organiser(self) -> str:
        """Return the name of the organiser, or an empty text."""
        return str(self.doc["names"].get(self.doc["director"], ""))

    @property
    def is_organiser(self) -> bool:
        """Return True if the visitor is the organiser, who directs the tables too."""
        return self.doc["director"] in self.players

    @property
    def is_over(self) -> bool:
        """Return True if the tournament is finished or cancelled."""
        return self.doc["status"] in ("finished", "cancelled")

    @property
    def term_changes(self) -> list[tuple[Doc, list[str]]]:
        """Return the changes of the terms, each with its sentences."""
        return [(each, tell_changes(each, self.labels)) for each in self.doc.get("amendments", ())]

    @property
    def goes_on(self) -> bool:
        """Return True if another event will follow."""
        schedule = self.doc["schedule"]
        return bool(schedule and schedule["next_at"] and not schedule["next"] and not self.is_over)

    def may(self, *acts: str) -> bool:
        """Return True if the visitor has the office for one of these operations."""
        return any(act in self.rights for act in acts)

    @property
    def entry(self) -> Doc | None:
        """Return the visitor's entry, or None."""
        own = [each for each in self.doc["people"] if each["player"] in self.players and not each["withdrawn"]]
        return own[-1] if own else None

    @property
    def helped(self) -> list[Doc]:
        """Return the entries with the visitor as a substitute."""
        return [each for each in self.doc["people"] if not {*each["substitutes"]}.isdisjoint(self.players)]

    def list_own(self, pod: Doc) -> list[int]:
        """Return the visitor's own entrants of a pod, also as a substitute."""
        own = [self.entry] if self.entry else []
        return [each["entrant"] for each in (*own, *self.helped) if each["entrant"] in pod["entrants"]]

    def may_confirm(self, pod: Doc) -> bool:
        """Return True if the visitor may confirm the scores of a table elsewhere."""
        return any(entrant in pod["scores"]["missing"] for entrant in self.list_own(pod))

    def may_enter_scores(self, pod: Doc) -> bool:
        """Return True if the visitor may enter scores of a table elsewhere."""
        return bool(self.list_own(pod)) or self.may("enter_scores")

    @property
    def is_waiting(self) -> bool:
        """Return True if the visitor waits for a table of a ladder or arena."""
        return self.entry is not None and bool(self.entry["queued"])

    least_tables: ClassVar[int] = LEAST_TABLES
    """Tables needed for a place in a ladder or arena."""

    @property
    def may_wait(self) -> bool:
        """Return True if the visitor may wait for a table: the queue is open, and the visitor plays too few tables."""
        return self.entry is not None and bool(self.entry["may_queue"])

    @property
    def has_left(self) -> bool:
        """Return True if the visitor has withdrawn, and may come back."""
        own = [each for each in self.doc["people"] if each["player"] in self.players]
        return bool(own) and all(each["withdrawn"] and not each["excluded"] for each in own)

    @property
    def may_return(self) -> bool:
        """Return True if the visitor may enter while rounds are played."""
        return self.doc["status"] == "running" and (self.has_left or self.doc["takes_late"])

    def entrant(self, number: int) -> str:
        """Return the name of an entrant."""
        return self.labels_of_entrants[number]

    @cached_property
    def labels_of_entrants(self) -> list[str]:
        """The names of the entrants by their numbers."""
        names, lang = self.doc["names"], self.labels.texts.lang
        return [
            str(names.get(each["player"]) or _name_entrant(number, lang))
            for number, each in enumerate(self.doc["people"])
        ]

    def card(self, entrant: int, view: Mapping[str, int] = MappingProxyType({})) -> str:
        """Return the address of an entrant's page, with the stage and round of the standings."""
        return f"{self.address}/entrants/{entrant}" + (f"?{urlencode(view)}" if view else "")

    def status_words(self, entrant: Doc) -> str:
        """Return what has become of an entrant who gets no further table, or an empty text."""
        said = Message("excluded") if entrant["excluded"] else Message("has withdrawn")
        is_out = entrant["withdrawn"] or entrant["excluded"]
        return i18n.translate(said, self.labels.texts.lang) if is_out else ""

    @staticmethod
    def pod_size(shown: Doc, entrant: int) -> int:
        """Return the number of seats of an entrant's pod in a round, or 0."""
        return next((len(pod["entrants"]) for pod in shown["pods"] if entrant in pod["entrants"]), 0)

    def places(self, a: int, b: int, stage: int, after: int) -> str:
        """Return the address of the reason of two places, after a round or (0) as of now."""
        of_stage = f"&stage={stage}" if len(self.doc["stages"]) > 1 else ""
        return f"{self.address}/places?a={a}&b={b}{of_stage}" + (f"&after={after}" if after else "")

    def ask_why(self, entrant: int) -> str:
        """Return the question why somebody stands behind an entrant."""
        return _ask_why(self.entrant(entrant), self.labels.texts.lang)

    def tell_result(self, pod: PodDoc, seat: int) -> str:
        """Return place and game points of a seat with a result."""
        points = pod["points"][seat] if seat < len(pod["points"]) else None
        return _tell_result(pod["places"][seat], points, self.labels.texts.lang)

    def points(self, ticks: int) -> str:
        """Return ticks as points."""
        return write_points(ticks, self.labels.texts)


@functools.lru_cache(2000)
def _name_entrant(number: int, lang: str) -> str:
    """Return what an entrant without a name is called. Kept: 200 of them took a twelfth of their page's time."""
    return i18n.translate(Message("entrant {number}", number=number), lang)


@functools.lru_cache(2000)
def _tell_result(place: int, points: int | None, lang: str) -> str:
    """Return place and game points in words. Kept: 200 took a tenth of the first view after a result."""
    said = i18n.translate(Message("at place {place}", place=place), lang)
    return said if points is None else f"{said}, {i18n.translate(Message('{points} game points', points=points), lang)}"


@functools.lru_cache(2000)
def _ask_why(name: str, lang: str) -> str:
    """Return the question why somebody stands behind. Kept: 200 took a sixth of the first view after a result."""
    return i18n.translate(Message("Why behind {name}?", name=name), lang)


def show_tournament_doc(
    doc: Doc, players: Sequence[str] = (), rights: Collection[str] = (), *, has_stake: bool = False
) -> TournamentShown:
    """Return a tournament with its words."""
    lang = i18n.request_language()
    return TournamentShown(doc, Labels.of_table({**doc, "names": {}, "seats": []}, lang), players, rights, has_stake)


def load_tournament(tournament: str) -> TournamentShown:
    """Return a tournament as the visitor may read it. Raise RefusedCall."""
    doc, owner = require("GET", f"/tournaments/{tournament}"), session_owner()
    if owner is None:
        return show_tournament_doc(doc)
    players = services().account_store.accounts.list_players(owner.account)
    is_party = has_stake_in_stage(services().tournaments.load(tournament), players)
    return show_tournament_doc(doc, players, list_rights(tournament, players, owner), has_stake=is_party)


# --- pages -----------------------------------------------------------------------------------------------------


def list_tournaments() -> Response:
    """Show the public tournaments, the newest change first."""
    wanted = {name: request.args.get(name, "") for name in ("status", "ruleset", "cursor")}
    found = require("GET", "/tournaments?" + urlencode({name: value for name, value in wanted.items() if value}))
    following = found.get("next") or ""
    return render_games_page(
        "tournaments",
        wide=True,
        shown=[show_tournament_doc(each) for each in found["items"]],
        rulesets=read_document(RulesetsDoc, "/rulesets")["items"],
        wanted=wanted,
        more=following.partition("?")[2],
        times=clocks.Times.of_visitor(),
    )


def show_tournament(tournament: str) -> Response:
    """Show a tournament, with one round of it."""
    return render_tournament(load_tournament(tournament))


def render_tournament(page: TournamentShown, refused: Answer | None = None) -> Response:
    """Render a tournament, with the refusal of an act if there is one."""
    if refused:
        g.problem = refused.code
    stage, number, last = _choose_round(page.doc)
    path = page.address
    t = services().tournaments.load(page.doc["tournament"])
    after = _read_small("after")
    ranked = page.doc["ranked"] if stage == page.doc["stage"] else last
    after = after if after <= ranked else 0
    is_begun = page.doc["plan"] or page.doc["ranked"]
    standings = show_standings(t, stage, after, i18n.request_language()) if is_begun else None
    drawn = find_round(make_key(t, stage, number)) if page.doc["plan"] and has_round(t, stage, number) else None
    times = clocks.Times.of_visitor(services().clock())
    shown_at = _find_public_address(path)
    return render_games_page(
        "tournament",
        refused.status if refused else 200,
        wide=True,
        shown_at=shown_at,
        code=_draw_code(shown_at) if shown_at else None,
        page=page,
        doc=page.doc,
        terms=TermsShown(page.doc, page.labels),
        divisions=_list_divisions(page.doc),
        stage=stage,
        number=number,
        last=last,
        round=drawn,
        pods=_show_pods(page, t, drawn, times) if drawn else Markup(),
        standings=standings,
        standing_rows=_show_rows(page, standings, stage, after),
        chart=_show_progress(page, t, stage, number),
        people=_show_people(page),
        checks_others=page.may("check_in_entrant"),
        after=after,
        ranked=ranked,
        followed=_find_followed(page),
        questions=_list_questions(page),
        offers=_list_offers(page),
        announcements=_list_announcements(page),
        done=request.args.get("done", ""),
        sent=request.form if refused else {},
        key=new_form_key(),
        times=times,
        problem=localize_problem(RefusedCall(refused)) if refused else None,
    )


def _list_divisions(doc: Doc) -> list[Doc]:
    """Return all divisions of an event with some, the first one first."""
    head = require("GET", f"/tournaments/{doc['division_of']}") if doc["division_of"] else doc
    first = {"tournament": head["tournament"], "name": head["division"]}
    return [first, *head["divisions"]] if head["divisions"] else []


def _show_rows(page: TournamentShown, standings: StandingsShown | None, stage: int, after: int) -> Markup:
    """Return the rows of standings, the visitor's own marked; they are rendered once for each version and language."""
    if standings is None:
        return Markup()
    view = ({"stage": stage} if len(page.doc["stages"]) > 1 else {}) | ({"after": after} if after else {})
    key = (i18n.request_language(), stage, after, tuple(page.labels_of_entrants))
    if key not in standings.rendered:
        fragment = render_fragment(
            "tournament_rows", key[0], page=page, standings=standings, stage=stage, after=after, view=view
        )
        if len(standings.rendered) > MOST_RENDERED:
            standings.rendered.clear()
        standings.rendered[key] = fragment
    html = standings.rendered[key]
    if page.entry:
        own = f'<tr id="entrant-{page.entry["entrant"]}"'
        html = html.replace(f"{own}>", f'{own} class="due">')
    return Markup(html)  # noqa: S704 - by a template that has escaped


def _show_pods(page: TournamentShown, t: Tournament, drawn: RoundDoc, times: clocks.Times) -> Markup:
    """Return the rows of a round, one a pod."""
    key = (t.hash, drawn["stage"], drawn["round"], page.is_organiser, times.zone.key, tuple(page.labels_of_entrants))
    return keep_fragment("tournament_pods", i18n.request_language(), key, page=page, round=drawn, times=times)


@functools.lru_cache(256)
def _draw_code(address: str) -> QrCode:
    """Return the QR code of a public address."""
    return build_qr_code(address)


def _list_questions(page: TournamentShown) -> Doc:
    """Return the open questions of this tournament, to the visitor (`offers`) and by the visitor (`asked`)."""
    found = require("GET", "/me/substitutions") if session_owner() else {"offers": [], "asked": []}
    own = page.doc["tournament"]
    return {name: [each for each in found[name] if each["tournament"] == own] for name in ("offers", "asked")}


def _list_offers(page: TournamentShown) -> list[Doc]:
    """Return the open offers to the visitor: an invitation, or an office."""
    found = require("GET", "/me/event-offers")["items"] if session_owner() else []
    return [each for each in found if each["tournament"] == page.doc["tournament"]]


def _list_announcements(page: TournamentShown) -> Sequence[AnnouncementDoc]:
    """Return what the officers have said to all. Few events have any, and asking takes as long as an empty request."""
    if not services().seat_tokens.announcements.list_newest(page.doc["tournament"]):
        return []
    return read_document(AnnouncementsDoc, f"{page.address}/announcements")["items"]


def _find_followed(page: TournamentShown) -> bool | None:
    """Return whether the visitor follows the series of the tournament, or None where nobody can."""
    if session_owner() is None:
        return None
    is_followed = page.doc["tournament"] in [
        each["tournament"] for each in read_document(FollowedSeriesDoc, "/me/series")["items"]
    ]
    return is_followed if is_followed or page.goes_on else None


def _show_progress(page: TournamentShown, t: Tournament, stage: int, number: int) -> Markup:
    """Return the chart of places by round with its table, or nothing before there are two rounds of standings."""
    if stage > len(t.stages) or len(t.stages[stage - 1].rankings) < LEAST_ROUNDS:
        return Markup()
    own, is_all = page.entry["entrant"] if page.entry else None, request.args.get("progress") == "all"
    names, lang = page.labels_of_entrants, i18n.request_language()
    digests = tuple(ranking["digest"] for ranking in t.stages[stage - 1].rankings)
    key = (page.address, stage, number, own, is_all, tuple(names), digests)
    return keep_fragment(
        "tournament_progress",
        lang,
        key,
        draw=lambda: draw_progress(build_progress(t, stage), own, page.entrant, is_all=is_all),
        page=page,
        stage=stage,
        number=number,
        own=own,
    )


_PART = itemgetter("withdrawn", "excluded", "waiting", "takes_part", "checked_in", "left_out")
"""What the list of entrants tells of each."""


def _show_people(page: TournamentShown) -> Markup | None:
    """Return the list of entrants, or None where it has forms for an officer."""
    people = page.doc["people"]
    if page.may("check_in_entrant"):
        return None
    own = page.entry["entrant"] if page.entry else None
    is_checking = page.doc["status"] == "checking"
    key = (page.address, is_checking, own, tuple(page.labels_of_entrants), tuple(map(_PART, people)))
    values = {"page": page, "doc": page.doc, "entry": page.entry, "checks_others": False}
    return keep_fragment("tournament_people", i18n.request_language(), key, **values)


def _find_public_address(path: str) -> str:
    """Return the address of a page for its print, or an empty text if the service does not know its own."""
    with suppress(Problem):
        return public_url.base_url() + path
    return ""


def _choose_round(doc: Doc) -> tuple[int, int, int]:
    """Return stage and number of the round to show, and the last round: by default the first without a ranking."""
    now = doc.get("stage", 1)
    stage = min(_read_small("stage") or now, len(doc["stages"])) or 1
    last = max((doc["rounds"] if stage == now else 0) or 1, doc["stages"][stage - 1]["rounds"] or 1)
    return stage, _read_small("round") or (min(doc["ranked"] + 1, last) if stage == now else 1), last


def _read_small(name: str) -> int:
    return parse_number(request.values.get(name, ""), 999) or 0
