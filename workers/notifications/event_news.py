"""News of tournaments: for each record, the people and the feeds to tell, and the figures.

Records of tournaments are public, but for sealed bids, and nothing here reads those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from domain.kernel.records.record import Record
from domain.tournaments.aggregate.clock_commands import find_round_end
from domain.tournaments.aggregate.pairing import build_official, find_nearest_numbers
from domain.tournaments.aggregate.queue_commands import QUEUE_ROUND
from domain.tournaments.aggregate.result_commands import changes_standings
from domain.tournaments.aggregate.stage import QUEUE_PLANS, OfficerRuling
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_appeal_commands import list_ruled
from domain.tournaments.aggregate.tournament_replay import is_ruling
from domain.tournaments.aggregate.tournament_ruling_commands import DEPUTY
from domain.tournaments.records import FAMILY, RecordDraft
from domain.tournaments.results import VOID
from domain.types import Doc, Json
from projections.notice_documents import (
    EventChangedNewsDoc,
    EventDrawnNewsDoc,
    EventDueNewsDoc,
    EventLeaderDoc,
    EventLeftNewsDoc,
    EventOpenedNewsDoc,
    EventOverNewsDoc,
    EventPlaceNewsDoc,
    EventRankedNewsDoc,
    EventReportedNewsDoc,
    EventRuledNewsDoc,
    EventSeatNewsDoc,
    EventVoidedNewsDoc,
)

LEADERS = 3
"""Entrants at the head of a list, for feeds."""


class _RulingFacts(TypedDict):
    table: str | None
    players: list[str]
    places: list[int]
    ticks: int | None
    reason: str | None


class EventNews(NamedTuple):
    """An event for one person, or for the feeds of the tournament, or for the lobby."""

    type: str
    more: Mapping[str, Json]
    """Members of its data, beside those of the tournament."""
    player: str = ""
    """Player id of the person; empty for the feeds."""
    until: int = 0
    """End of its usefulness, ms since 1970 UTC; 0 for never."""
    in_lobby: bool = False


@dataclass(frozen=True)
class EventStep:
    """A record with the tournament before and after it."""

    record: Record
    before: Tournament | None
    after: Tournament
    follows_ruling: bool = False
    """Whether the record before was a ruling: it has told of the places."""

    @property
    def kind(self) -> str:
        """Kind of the record without its family."""
        return self.record.kind.removeprefix(FAMILY)

    @property
    def body(self) -> Doc:
        """Body of the record."""
        return self.record.body

    @property
    def former(self) -> Tournament:
        """The tournament before the record; the same as after it, for the first."""
        return self.before or self.after

    @property
    def place(self) -> EventPlaceNewsDoc:
        """Stage, round and table of the record."""
        body = self.body
        return {"stage": body["stage"], "round": body["round"], "table": f"{body['round']}.{body['pod']}"}

    def list_officers(self) -> list[str]:
        """Return the organiser and the deputies."""
        t = self.after
        return [t.director, *(player for player, office in sorted(t.officers.items()) if office == DEPUTY)]

    def tell_entrants(
        self, entrants: Sequence[int], type_: str, more: Mapping[str, Json], until: int = 0
    ) -> Iterator[EventNews]:
        """Yield the same news for each of these entrants, without leavers."""
        for entrant in entrants:
            if self.after.entrants[entrant].is_active:
                yield EventNews(type_, more, self.after.entrants[entrant].player, until)


def list_leavers(step: EventStep) -> list[str]:
    """Return the player ids of people leaving with the record; officers stay."""
    if step.kind not in ("withdrew", "excluded"):
        return []
    player = step.after.entrants[step.body["entrant"]].player
    return [] if player in (step.after.director, *step.after.officers) else [player]


def list_news(step: EventStep) -> list[EventNews]:
    """Return everything to tell of a record."""
    found = list(_TELLERS[step.kind](step)) if step.kind in _TELLERS else []
    return [*found, *_tell_rank(step)]


def list_digest_news(step: EventStep, news: Sequence[EventNews]) -> list[EventNews]:
    """Return the news for digests: each for one person, about the own events, without acts that wait."""
    officers = [step.after.director, *sorted(step.after.officers)]
    found = [each for each in news if each.player and each.type != "event.due"]
    for each in news:
        if each.type == "event.reported":
            table = step.after.stages[step.body["stage"] - 1].tables[step.body["round"], step.body["pod"]]
            for entrant, place in zip(table.entrants, each.more["places"], strict=True):
                found += step.tell_entrants([entrant], each.type, {**step.place, "place": place})
        elif each.type == "event.drawn" or (each.type == "event.opened" and each.more["next"] and not each.player):
            found += [each._replace(player=player) for player in officers]
    return found


def _due(act: str, stage: int, round_: int | None) -> EventDueNewsDoc:
    return {
        "act": act,
        "stage": stage,
        "round": round_,
        "table": None,
        "ruling": None,
        "until": None,
        "again": False,
    }


# --- for everybody


def _tell_opened(step: EventStep) -> Iterator[EventNews]:
    if step.after.terms.listing == "public":
        opened: EventOpenedNewsDoc = {"next": None}
        yield EventNews("event.opened", opened, in_lobby=True)


def _tell_next(step: EventStep) -> Iterator[EventNews]:
    opened: EventOpenedNewsDoc = {"next": step.body["tournament"]}
    yield EventNews("event.opened", opened)


def _tell_drawn(step: EventStep) -> Iterator[EventNews]:
    body = step.body
    if body["plan"] in QUEUE_PLANS:
        table: EventDrawnNewsDoc = {**step.place, "tables": 1, "byes": 0}
        yield EventNews("event.drawn", table)
        return
    round_ = body.get("round", 1)
    drawn = step.after.stages[body["stage"] - 1].rounds[round_ - 1]
    more: EventDrawnNewsDoc = {
        "stage": body["stage"],
        "round": round_,
        "table": None,
        "tables": len(drawn.pods),
        "byes": len(drawn.byes),
    }
    yield EventNews("event.drawn", more)


# --- an act is asked


def _tell_checkin(step: EventStep) -> Iterator[EventNews]:
    t = step.after
    invited = [entrant for entrant in range(len(t.entrants)) if t.may_check_in(entrant)]
    stage, round_ = t.next_draw or (len(t.stages), None)
    table = t.timetables.get(stage)
    is_timed = table is not None and round_ is not None and table.find_start(round_) is not None
    until = table.find_close(round_, t.checkin_opened_at) if table and round_ and is_timed else 0
    due: EventDueNewsDoc = {**_due("check_in", stage, round_), "until": until or None}
    yield from step.tell_entrants(invited, "event.due", due, until)


def _tell_checked(step: EventStep) -> Iterator[EventNews]:
    """Yield news for entrants with a nonce to show, and for those left out by the next draw."""
    t = step.after
    stage, round_ = t.next_draw or (len(t.stages), None)
    out = [entrant for entrant in range(len(t.entrants)) if t.may_check_in(entrant) and entrant not in t.participants]
    yield from step.tell_entrants(out, "event.due", _due("come_back", stage, round_))
    due: EventDueNewsDoc = {**_due("nonce", stage, round_), "until": t.nonces_end}
    yield from step.tell_entrants(t.hidden_nonces, "event.due", due, t.nonces_end)
    yield from _tell_officers_of_few(step)


def _tell_officers_of_few(step: EventStep) -> Iterator[EventNews]:
    """Yield news for officers if the timetable stops because those present make no tables."""
    t = step.after
    number = sum(t.entrants[entrant].is_active for entrant in t.participants)
    if step.record.public["by"] == "service" and find_nearest_numbers(t, number) != [number]:
        stage, round_ = t.next_draw or (len(t.stages), None)
        for player in step.list_officers():
            yield EventNews("event.due", _due("too_few", stage, round_), player)


# --- changes


def _tell_changed(step: EventStep) -> Iterator[EventNews]:
    """Yield news of other times or terms for all entrants, officers and feeds; a first timetable is for them too."""
    act = {"timetabled": "timetable"}.get(step.kind, step.kind)
    stage = step.body.get("stage")
    starts = [start for start in step.body.get("starts", ()) if start > step.record.time]
    more: EventChangedNewsDoc = {"act": act, "stage": stage, "round": None, "until": min(starts, default=None)}
    people = {each.player for each in step.after.entrants if each.is_active}
    for player in dict.fromkeys((*sorted(people), *step.list_officers())):
        if player != step.body.get("officer"):
            yield EventNews("event.changed", more, player)
    yield EventNews("event.changed", more)


def _tell_warning(step: EventStep) -> Iterator[EventNews]:
    """Yield news of the end of a round for the entrants with a table in play there."""
    t, stage, round_ = step.after, step.body["stage"], step.body["round"]
    until = find_round_end(t, stage, round_)
    act = "extended" if "extended" in step.body else "round_ends"
    more: EventChangedNewsDoc = {"act": act, "stage": stage, "round": round_, "until": until}
    for table in t.stages[stage - 1].list_playing(round_):
        yield from step.tell_entrants(table.entrants, "event.changed", more, until)


def _tell_bidding(step: EventStep) -> Iterator[EventNews]:
    stage, round_ = step.body["stage"], step.body["round"]
    play = step.after.stages[stage - 1]
    until = play.bidding[round_]
    for number, pod in enumerate(play.rounds[round_ - 1].pods, 1):
        due: EventDueNewsDoc = {**_due("bid", stage, round_), "table": f"{round_}.{number}", "until": until}
        yield from step.tell_entrants(pod, "event.due", due, until)


def _tell_rank(step: EventStep) -> Iterator[EventNews]:
    """Yield news for officers once standings can be made official, or official ones must be replaced."""
    if step.kind not in ("reported", "settled", "annulled", "ranked", "queue_closed") or is_ruling(
        step.kind, step.body
    ):
        return
    stage, round_ = step.body["stage"], step.body.get("round", QUEUE_ROUND)
    before, after = (_find_due_ranking(t, stage, round_) for t in (step.former, step.after))
    if after is not None and after != before:
        again = after <= len(step.after.stages[stage - 1].rankings)
        due: EventDueNewsDoc = {**_due("rank", stage, after), "again": again}
        for player in step.list_officers():
            yield EventNews("event.due", due, player)


def _find_due_ranking(t: Tournament, stage: int, changed: int) -> int | None:
    """Return the round with standings to make official, or None: not of an open queue.

    After a change in an earlier round the last official standings may be others: then it is theirs.
    """
    play = t.stages[stage - 1]
    ended, ranked = _count_ended(t, stage), len(play.rankings)
    if t.has_queue and stage == len(t.stages) and not play.queue_closed:
        return None
    if ended > ranked:
        return ranked + 1
    is_concerned = ended == ranked >= changed
    official = RecordDraft("ranked", build_official(t, stage, ranked)) if is_concerned else None
    return ranked if official and changes_standings(t, official) else None


def _count_ended(t: Tournament, stage: int) -> int:
    """Return the number of rounds from the first one on that have ended."""
    play = t.stages[stage - 1]
    open_rounds = (n for n in range(1, len(play.rounds) + 1) if not play.has_round_ended(n))
    return next(open_rounds, len(play.rounds) + 1) - 1


def _tell_appeal(step: EventStep) -> Iterator[EventNews]:
    """Yield news for the officers with a right to answer, and for the organiser, to name another one."""
    t, ruling = step.after, _find_ruling(step.after, step.body["ruling"])
    stage = ruling.body["stage"]
    due: EventDueNewsDoc = {**_due("answer", stage, None), "ruling": ruling.version}
    for player in dict.fromkeys((t.director, *sorted(t.officers))):
        may_answer = player != ruling.body["officer"] and not t.has_stake(stage, [player])
        if player == t.director or may_answer:
            yield EventNews("event.due", due, player)


# --- departures


def _tell_left(step: EventStep) -> Iterator[EventNews]:
    """Yield news for officers, for the entrants whose table is not made yet, and for feeds."""
    entrant, t = step.body["entrant"], step.after
    player, stage = t.entrants[entrant].player, len(t.stages)
    place = _find_open_pod(t, entrant)
    round_, pod = place or (None, 0)
    more: EventLeftNewsDoc = {
        "player": player,
        "how": step.kind,
        "stage": stage if place else None,
        "round": round_,
        "table": f"{round_}.{pod}" if place else None,
    }
    for officer in step.list_officers():
        if officer != player:
            yield EventNews("event.left", more, officer)
    if place and place not in t.play.tables:
        yield from step.tell_entrants(t.play.list_pod(place), "event.left", more)
    yield EventNews("event.left", more)


def _find_open_pod(t: Tournament, entrant: int) -> tuple[int, int] | None:
    """Return round and number of the entrant's first drawn pod without a result, or None."""
    for round_, drawn in enumerate(t.play.rounds, 1):
        for number, members in enumerate(drawn.pods, 1):
            table = t.play.tables.get((round_, number))
            if entrant in members and (table is None or not (table.result or table.annulled)):
                return round_, number
    return None


def _tell_excluded(step: EventStep) -> Iterator[EventNews]:
    yield from _tell_left(step)
    yield from _tell_ruled(step)


# --- tables


def _tell_tabled(step: EventStep) -> Iterator[EventNews]:
    yield from _tell_byes(step)
    people = [step.after.entrants[entrant].player for entrant in step.body["entrants"]]
    for seat, entrant in enumerate(step.body["entrants"]):
        others = [player for other, player in enumerate(people) if other != seat]
        own: EventSeatNewsDoc = {**step.place, "game": step.body.get("game"), "seat": seat, "opponents": others}
        yield from step.tell_entrants([entrant], "event.round", own)


def _tell_byes(step: EventStep) -> Iterator[EventNews]:
    """Yield news of the byes of a round with its first table: before, it may be drawn again."""
    stage, round_ = step.body["stage"], step.body["round"]
    play = step.former.stages[stage - 1]
    if not play.has_tables(round_) and not any(place[0] == round_ for place in play.attempts):
        none: EventSeatNewsDoc = {
            "stage": stage,
            "round": round_,
            "table": None,
            "game": None,
            "seat": None,
            "opponents": [],
        }
        yield from step.tell_entrants(play.rounds[round_ - 1].byes, "event.round", none)


def _tell_reported(step: EventStep) -> Iterator[EventNews]:
    table = step.after.stages[step.body["stage"] - 1].tables[step.body["round"], step.body["pod"]]
    if not (table.result or {})["places"]:
        yield from _tell_voided(step, VOID, table.entrants)
        return
    people = [step.after.entrants[entrant].player for entrant in table.entrants]
    more: EventReportedNewsDoc = {**step.place, "players": people, "places": list((table.result or {})["places"])}
    yield EventNews("event.reported", more)


def _tell_scored(step: EventStep) -> Iterator[EventNews]:
    """Yield news for the seats of a table elsewhere before their confirmation of its scores."""
    table = step.after.stages[step.body["stage"] - 1].tables[step.body["round"], step.body["pod"]]
    confirmed = table.scores.confirmed if table.scores else ()
    missing = [entrant for entrant in table.entrants if entrant not in confirmed]
    place = step.place
    due: EventDueNewsDoc = {**_due("confirm", place["stage"], place["round"]), "table": place["table"]}
    yield from step.tell_entrants(missing, "event.due", due)


def _tell_annulled(step: EventStep) -> Iterator[EventNews]:
    if is_ruling(step.kind, step.body):
        yield from _tell_ruled(step)
        return
    yield from _tell_byes(step)
    table = step.after.stages[step.body["stage"] - 1].tables[step.body["round"], step.body["pod"]]
    yield from _tell_voided(step, step.body["how"], table.entrants)


def _tell_voided(step: EventStep, how: str, entrants: Sequence[int]) -> Iterator[EventNews]:
    more: EventVoidedNewsDoc = {**step.place, "how": how}
    yield from step.tell_entrants(entrants, "event.voided", more)
    for player in step.list_officers():
        yield EventNews("event.voided", more, player)
    yield EventNews("event.voided", more)


# --- rulings and standings


def _find_ruling(t: Tournament, version: int) -> OfficerRuling:
    return next(each for each in t.rulings if each.version == version)


def _tell_ruled(step: EventStep) -> Iterator[EventNews]:
    """Yield news for the entrants in a ruling, and for those with another official place."""
    t, former, stage = step.after, step.former, step.body["stage"]
    ruling = _find_ruling(t, step.body.get("ruling", step.record.version))
    before, after = _read_places(former, stage), _compute_places(t, stage)
    concerned = list_ruled(former if "pod" in ruling.body else t, ruling)
    moved = {entrant for entrant in {*before, *after} if before.get(entrant) != after.get(entrant)}
    for entrant in sorted(concerned | moved):
        more: EventRuledNewsDoc = {
            "ruling": ruling.version,
            "act": step.kind,
            "outcome": None,
            "stage": stage,
            "place": after.get(entrant),
            "former": before.get(entrant),
            **_describe_ruling(step, ruling),
        }
        person, is_out = t.entrants[entrant], step.kind == "excluded" and entrant == step.body["entrant"]
        if person.is_active or (is_out and not person.withdrawn):
            yield EventNews("event.ruled", more, person.player)


def _describe_ruling(step: EventStep, ruling: OfficerRuling) -> _RulingFacts:
    """Return the table of a ruling, its effect there if the record is its own, and the reason of the record."""
    body, is_own = ruling.body, step.record.version == ruling.version
    table = f"{body['round']}.{body['pod']}" if "pod" in body else None
    places = list(body["places"]) if is_own and ruling.kind == "placed" else []
    seated = step.former.stages[body["stage"] - 1].tables[body["round"], body["pod"]].entrants if places else ()
    return {
        "table": table,
        "players": [step.after.entrants[entrant].player for entrant in seated],
        "places": places,
        "ticks": body["ticks"] if is_own and ruling.kind == "penalised" else None,
        "reason": step.record.public.get("reason"),
    }


def _read_places(t: Tournament, stage: int) -> dict[int, int]:
    """Return entrant -> place of the last official standings of a stage; empty without any."""
    rankings = t.stages[stage - 1].rankings
    return {row["entrant"]: row["place"] for row in rankings[-1]["standings"]} if rankings else {}


def _compute_places(t: Tournament, stage: int) -> dict[int, int]:
    """Return the same as the results are now, once all of those rounds have ended."""
    last = len(t.stages[stage - 1].rankings)
    if not last or _count_ended(t, stage) < last:
        return _read_places(t, stage)
    return {row["entrant"]: row["place"] for row in build_official(t, stage, last)["standings"]}


def _tell_answered(step: EventStep) -> Iterator[EventNews]:
    t, ruling = step.after, _find_ruling(step.after, step.body["ruling"])
    places = _read_places(t, ruling.body["stage"])
    entrant = step.body.get("entrant", ruling.appeals[0].entrant if ruling.appeals else None)
    if entrant is None or t.entrants[entrant].withdrawn:
        return
    place = places.get(entrant)
    more: EventRuledNewsDoc = {
        "ruling": ruling.version,
        "act": "answered",
        "outcome": step.body["outcome"],
        "stage": ruling.body["stage"],
        "place": place,
        "former": place,
        **_describe_ruling(step, ruling),
    }
    yield EventNews("event.ruled", more, t.entrants[entrant].player)


def _tell_ranked(step: EventStep) -> Iterator[EventNews]:
    t, body = step.after, step.body
    rows = body["standings"]
    feeds: EventRankedNewsDoc = {
        "stage": body["stage"],
        "round": body["round"],
        "digest": body["digest"],
        "place": None,
        "leaders": _list_leaders(t, rows),
    }
    for row in rows if not step.follows_ruling else ():
        own: EventRankedNewsDoc = {**feeds, "place": row["place"], "leaders": []}
        yield from step.tell_entrants([row["entrant"]], "event.ranked", own)
    yield EventNews("event.ranked", feeds)


def _list_leaders(t: Tournament, rows: Sequence[Doc]) -> list[EventLeaderDoc]:
    return [{"player": t.entrants[row["entrant"]].player, "place": row["place"]} for row in rows[:LEADERS]]


def _tell_over(step: EventStep) -> Iterator[EventNews]:
    t = step.after
    last = next((n for n in range(len(t.stages), 0, -1) if t.stages[n - 1].rankings), 0)
    rankings = t.stages[last - 1].rankings if last else ()
    rows = rankings[-1]["standings"] if rankings else ()
    places = {row["entrant"]: row["place"] for row in rows}
    for entrant in range(len(t.entrants)):
        own: EventOverNewsDoc = {"place": places.get(entrant), "leaders": []}
        yield from step.tell_entrants([entrant], "event.over", own)
    for player in (t.director, *sorted(t.officers)):  # of an entrant, only the first is sent
        officers: EventOverNewsDoc = {"place": None, "leaders": []}
        yield EventNews("event.over", officers, player)
    feeds: EventOverNewsDoc = {"place": None, "leaders": _list_leaders(t, rows)}
    yield EventNews("event.over", feeds)


_TELLERS: Mapping[str, Callable[[EventStep], Iterator[EventNews]]] = {
    "opened": _tell_opened,
    "succeeded": _tell_next,
    "paired": _tell_drawn,
    "checkin_opened": _tell_checkin,
    "checkin_closed": _tell_checked,
    "bidding_opened": _tell_bidding,
    "appealed": _tell_appeal,
    "tabled": _tell_tabled,
    "elsewhere": _tell_tabled,
    "scored": _tell_scored,
    "settled": _tell_reported,
    "reported": _tell_reported,
    "annulled": _tell_annulled,
    "placed": _tell_ruled,
    "penalised": _tell_ruled,
    "excluded": _tell_excluded,
    "withdrew": _tell_left,
    "restored": _tell_ruled,
    "answered": _tell_answered,
    "ranked": _tell_ranked,
    "timetabled": _tell_changed,
    "amended": _tell_changed,
    "paused": _tell_changed,
    "resumed": _tell_changed,
    "warned": _tell_warning,
    "closed": _tell_over,
    "cancelled": _tell_over,
}
"""Kind of a record -> everything to tell of it."""
