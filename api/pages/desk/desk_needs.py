"""The needs of a table on the desk of an officer: a sentence for each, and a link to the form or page for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from api.documents.desk_rights import allows
from api.http import i18n
from api.pages.common.clocks import Times
from api.pages.common.labels import Labels
from api.pages.lobby.lobby import TableShown
from domain.kernel.text.message_catalog import Message
from domain.types import DIRECTOR, Doc


@dataclass(frozen=True)
class Need:
    """A need of a table in sentences, with the address and the name of the form or page for it."""

    sentences: Sequence[Message]
    address: str
    link: Message


@dataclass(frozen=True)
class DeskRow:
    """A table of the desk: its entry in the API's document, and its summary as a list shows it."""

    entry: Doc
    table: TableShown
    times: Times

    @property
    def labels(self) -> Labels:
        """Return the words of the table."""
        return self.table.labels

    @property
    def address(self) -> str:
        """Return the address of the table."""
        return f"/games/{self.entry['game']}"

    def list_needs(self) -> list[tuple[str, str, str]]:
        """Return the needs of the table: for each a text, and the address and the text of a link."""
        found = [shown for need in self.entry["needs"] for shown in _NEEDS[need](self)]
        return [(" ".join(map(self.say, each.sentences)), each.address, self.say(each.link)) for each in found]

    def say(self, message: Message) -> str:
        """Return a message in the visitor's language."""
        return i18n.translate(message, self.times.lang)

    def name(self, seats: Iterable[int]) -> str:
        """Return the names of seats as a list in words."""
        return self.labels.texts.grammar.join_list([self.labels.seat(seat) for seat in seats])

    def need(self, act: str, link: Message, *sentences: Message) -> list[Need]:
        """Return a need with a link to its act on the table's desk, or to the table for an office without the act."""
        if allows(self.entry["office"], act):
            return [Need(sentences, f"{self.address}/desk#act-{act}", link)]
        return [self.see_table(*sentences)]

    def see_table(self, *sentences: Message) -> Need:
        """Return a need with a link to the table alone."""
        return Need(sentences, f"{self.address}?as={DIRECTOR}", Message("To the table"))


def _tell_late(row: DeskRow) -> list[Need]:
    decision = row.entry["decision"]
    time = row.times.point(decision["deadline"])
    late = Message("The deadline was {time}: waiting for {names}.", time=time, names=row.name(decision["seats"]))
    if decision["engine"]:
        late = Message("The deadline was {time}: the service works out the turn.", time=time)
    return row.need("extend", Message("Move the deadline"), late)


def _tell_empty(row: DeskRow) -> list[Need]:
    free = [each["seat"] for each in row.entry["empty"] if not each["absent"]]
    absent = [each["seat"] for each in row.entry["empty"] if each["absent"]]
    found: list[Need] = []
    if free:
        names = row.name(free)
        told = Message("{count} {count#seat has|seats have} no player: {names}.", count=len(free), names=names)
        found += row.need("bot", Message("Give a seat to a bot"), told)
    if absent:
        told = Message("Too many deadlines were missed by {names}: the service plays.", names=row.name(absent))
        found += row.need("remove", Message("Remove a player"), told)
    return found


def _tell_pending(row: DeskRow) -> list[Need]:
    return [_tell_request(row, each) for each in row.entry["pending"]]


def _tell_request(row: DeskRow, request: Doc) -> Need:
    seat = request["seat"]
    name = row.labels.said_seat(seat, begins=True) if seat is not None else Message("The director")
    act = _PROPOSALS.get(request["act"] or "", Message("to go back to an earlier version"))
    told = [Message("{name} asks the others {act}.", name=name, act=act)]
    if request["missing"]:
        told.append(Message("Still to answer: {names}.", names=row.name(request["missing"])))
    return Need(told, f"{row.address}?as={DIRECTOR}#vote-{request['id']}", Message("To the question"))


def _tell_unstarted(row: DeskRow) -> list[Need]:
    if row.entry["empty"]:
        told = Message("The game can start once every seat has a player.")
        return [Need([told], f"{row.address}?as={DIRECTOR}#seats", Message("To the table"))]
    told = Message("Every seat has a player, and the game has not started.")
    return row.need("start", Message("Start the game"), told)


def _tell_broken(row: DeskRow) -> list[Need]:
    version = row.entry["damaged"]
    if version is None:
        told = Message("The service cannot read the newest records: only its operator can repair them.")
    else:
        told = Message("The record of version {version} is damaged: only the operator can repair it.", version=version)
    return [row.see_table(told)]


def _tell_silent(row: DeskRow) -> list[Need]:
    since = (row.entry["decision"] or {}).get("since") or row.table.doc["at"]
    told = Message("Nobody has moved since {time}.", time=row.times.point(since))
    return [Need([told], f"{row.address}/desk", Message("Direct this table"))]


def _tell_pause(row: DeskRow) -> list[Need]:
    until = row.entry["pause"]["until"]
    told = Message("The game is paused until somebody resumes it.")
    if until is not None:
        told = Message("The game is paused until {time}.", time=row.times.point(until))
    return row.need("resume", Message("End the pause"), told)


def _tell_ruling(row: DeskRow) -> list[Need]:
    until = Message("It can be withdrawn until {time}.", time=row.times.point(row.entry["ruling"]["final_at"]))
    return row.need("withdraw", Message("Withdraw the ruling"), Message("A ruling has ended the game."), until)


def _tell_appeals(row: DeskRow) -> list[Need]:
    return [need for each in row.entry["appeals"] if each["status"] == "open" for need in _tell_appeal(row, each)]


def _tell_appeal(row: DeskRow, appeal: Doc) -> list[Need]:
    told = Message(
        "{name} appeals against the decision of version {version}: an answer is possible until {time}.",
        name=row.labels.said_seat(appeal["seat"], begins=True),
        version=appeal["version"],
        time=row.times.point(appeal["answer_by"]),
    )
    return row.need("answer", Message("Answer the appeal"), told)


def _tell_reported(row: DeskRow) -> list[Need]:
    address = f"{row.address}/talk?as={DIRECTOR}#reports"
    return [Need([Message("A player has reported messages.")], address, Message("To the reports"))]


_PROPOSALS: Mapping[str, Message] = {
    "close": Message("to end the game"),
    "extend": Message("for a later deadline"),
    "hold": Message("to stop the time of a seat"),
    "remove": Message("to remove a player"),
    "seat_bot": Message("to give a seat to a bot"),
    "appoint": Message("for another officer"),
    "pace": Message("for another pace"),
    "pause": Message("for a pause"),
    "resume": Message("to go on after the pause"),
}
"""Act of a proposal -> the words for it after "asks the others". """

_NEEDS: Mapping[str, Callable[[DeskRow], list[Need]]] = {
    "late": _tell_late,
    "empty": _tell_empty,
    "pending": _tell_pending,
    "unstarted": _tell_unstarted,
    "broken": _tell_broken,
    "silent": _tell_silent,
    "paused": _tell_pause,
    "ruled": _tell_ruling,
    "appealed": _tell_appeals,
    "reported": _tell_reported,
}

NEED_TITLES: Mapping[str, Message] = {
    "late": Message("a deadline has passed"),
    "empty": Message("a seat has no player"),
    "pending": Message("players are asked to agree"),
    "unstarted": Message("the game has not started"),
    "broken": Message("a record is damaged"),
    "silent": Message("nobody has moved for a week"),
    "paused": Message("a pause is on"),
    "ruled": Message("a ruling can still be withdrawn"),
    "appealed": Message("an appeal waits for an answer"),
    "reported": Message("messages are reported"),
}
"""Need -> its title in the list of filters."""
