"""Documents of talk: conversations and messages as one reader knows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from api import authorization
from api.documents.treaty_teller import TreatyTeller
from api.response_builders import load_table
from api.schemas.talk_responses import ConversationDoc, MessageDoc, OwnSilenceDoc, SilenceDoc, TalkDoc, Withheld
from api.services import ApiServices, services
from api.visibility import visibility_of
from domain.accounts.credential_tables import CredentialOwner
from domain.kernel.game.game import AnyGame
from domain.kernel.game.record_builder import has_talk
from domain.kernel.rules.ruleset import AnyRuleset
from domain.service.principals import Principal
from domain.talk.message_rules import TALK_AFTER_CLOSE, may_write_letters
from domain.talk.silences import Silence
from domain.talk.talk_store import PUBLISHED, SPECTATORS, TABLE, ConversationSummary, Entry, MailboxReader
from domain.types import Seat

LAST = 1 << 53
"""A place after every message."""


def find_reader(game: str, now: AnyGame, *, own: bool = False) -> MailboxReader:
    """Return the caller as a reader of the table's talk: of the own mailbox, a former one, or as a spectator.

    With `own` not of a closed game's published letters.
    """
    principal, players = authorization.optional_principal(), authorization.player_ids()
    upto = _find_limit(game, now)
    if not own and now.terms.get("after") == "published" and now.status == "closed" and upto is None:
        return MailboxReader(game, PUBLISHED, passed_on=True)
    owner = authorization.optional_owner()
    blocked = [p for p, _ in services().account_store.social_graph.list_blocks(owner.account)] if owner else []
    seat = find_seat(principal)
    if seat is not None and principal is not None:
        return seat_reader(now, principal, players, blocked)
    for former in services().talk.list_mailboxes(game, players) if players else ():
        return MailboxReader(game, former, players, blocked=blocked, upto=upto)
    return MailboxReader(game, SPECTATORS, upto=upto)


def may_read_talk(owner: CredentialOwner | None) -> bool:
    """Return whether an account's token has a scope for talk; a seat's token needs none."""
    return owner is None or bool({"talk:read", "talk:write"} & {*owner.scopes})


def find_stream_reader(game: str, caller: Principal | None) -> MailboxReader | None:
    """Return the caller as a reader in a stream of the table; None if the account's token lacks the scope.

    The caller may be the owner of a ticket, without an account.
    """
    owner = authorization.optional_owner()
    if not may_read_talk(owner):
        return None
    _, now = load_table(game)
    seat = find_seat(caller)
    if seat is None or caller is None:
        return MailboxReader(game, SPECTATORS)
    players = authorization.player_ids()
    blocked = [p for p, _ in services().account_store.social_graph.list_blocks(owner.account)] if owner else []
    return seat_reader(now, caller, players, blocked)


def seat_reader(now: AnyGame, principal: Principal, players: list[str], blocked: list[str]) -> MailboxReader:
    """Return the holder of a seat as the reader of its mailbox."""
    own = (principal.player, *(p for p in players if p != principal.player))
    passed_on = now.terms.get("papers") == "pass_on"
    return MailboxReader(now.id, int(principal.viewer), own, passed_on=passed_on, blocked=tuple(blocked))


def find_seat(principal: Principal | None) -> Seat | None:
    """Return the seat held by the caller: a token replaced by a director opens no mailbox."""
    return None if principal is None or principal.lent else principal.seat


def _find_limit(game: str, now: AnyGame) -> tuple[int, int] | None:
    """Return the newest version and time of messages for a spectator of a table with a delay."""
    upto = visibility_of(game).upto
    is_shown = upto is None or (now.status == "closed" and upto >= now.version)
    return None if is_shown or upto is None else (upto, services().clock() - int(now.terms.get("delay", 0)) * 1000)


def build_talk(s: ApiServices, rules: AnyRuleset, now: AnyGame, reader: MailboxReader, lang: str) -> TalkDoc:
    """Return the terms, the rights of the reader to write, and the conversations with their last messages."""
    is_seat, at = reader.mailbox >= 0 and reader.players and _holds(now, reader), s.clock()
    items = _build_conversations(s, now, reader, lang) if has_talk(now.terms) else []
    return {
        "talk": now.terms.get("talk", "none"),
        "papers": now.terms.get("papers", "own"),
        "after": now.terms.get("after", "kept"),
        "seat": reader.mailbox if is_seat else None,
        "public": bool(is_seat and _may_write_to_table(now, at)),
        "private": bool(is_seat and may_write_letters(rules.meta.talk, now, at)),
        "silenced": _build_own_silence(s, now, reader) if is_seat else None,
        "silences": _build_silences(s, now, reader) if has_talk(now.terms) else [],
        "unread": sum(each["unread"] for each in items if not each["muted"]),
        "conversations": items,
    }


def _build_own_silence(s: ApiServices, now: AnyGame, reader: MailboxReader) -> OwnSilenceDoc | None:
    found = _find_silence(s, now.id, reader.players[0])
    return found and {"until": found.until, "reason": found.reason, "letters": found.stops_letters}


def check_silence(now: AnyGame, player: str, *, private: bool) -> None:
    """Raise RuleError `silenced` if the caller, who plays at a table, writes no words there for a time."""
    found = _find_silence(services(), now.id, player)
    if found is not None and (found.stops_letters or not private):
        raise found.refusal


def _find_silence(s: ApiServices, game: str, player: str) -> Silence | None:
    caller = authorization.optional_principal()
    return s.silences.find(game, player, caller.account if caller else "")


def _build_silences(s: ApiServices, now: AnyGame, reader: MailboxReader) -> list[SilenceDoc]:
    seats = {holder.id: seat for seat, holder in now.players.items() if holder.id}
    newest = reader.upto[1] if reader.upto else LAST
    found = [each for each in s.silences.list_by_table(now.id) if each.person in seats and each.at <= newest]
    return [{"seat": seats[each.person], "until": each.until, "reason": each.reason} for each in found]


def _may_write_to_table(now: AnyGame, at: int) -> bool:
    is_over = now.status == "closed" and at > now.time + TALK_AFTER_CLOSE
    return has_talk(now.terms) and not is_over


def _build_conversations(s: ApiServices, now: AnyGame, reader: MailboxReader, lang: str) -> list[ConversationDoc]:
    """Return the conversations with their last messages; that of the table also without any."""
    known = {each.conversation: each for each in s.talk.list_conversations(reader)}
    known.setdefault(TABLE, ConversationSummary(TABLE, 0, 0, muted=False))
    found = {name: entry for name, each in known.items() if (entry := _find_last(s, reader, each))}
    last = dict(zip(found, build_messages(s, now, reader, list(found.values()), lang), strict=True))
    return [_conversation_to_json(s, now, reader, each, last.get(each.conversation)) for each in known.values()]


def _find_last(s: ApiServices, reader: MailboxReader, known: ConversationSummary) -> Entry | None:
    found = s.talk.list_entries(reader, known.conversation, before=LAST, limit=1) if known.last else []
    return found[0] if found else None


def _holds(now: AnyGame, reader: MailboxReader) -> bool:
    holder = now.players.get(reader.mailbox)
    return holder is not None and holder.id in reader.players


def list_seats(now: AnyGame, conversation: str) -> list[Seat]:
    """Return the seats of a conversation."""
    return list(range(now.table.seats)) if conversation == TABLE else [int(each) for each in conversation.split("-")]


def _conversation_to_json(
    s: ApiServices, now: AnyGame, reader: MailboxReader, known: ConversationSummary, last: MessageDoc | None
) -> ConversationDoc:
    return {
        "conversation": s.talk.conversation_id(reader, known.conversation),
        "kind": "table" if known.conversation == TABLE else "private",
        "seats": list_seats(now, known.conversation),
        "unread": known.unread,
        "muted": known.muted,
        "last": last,
    }


def build_messages(
    s: ApiServices, now: AnyGame, reader: MailboxReader, entries: Sequence[Entry], lang: str
) -> list[MessageDoc]:
    """Return messages as their reader knows them; treaties are told in a language."""
    treaties = TreatyTeller(s, now, reader, lang)
    numbers = [each.number for each in entries if each.message and "treaty" in each.message]
    answers = s.talk.list_answers(reader, numbers)
    answered = s.talk.list_answered(
        reader, [each.number for each in entries if each.message and "answer" in each.message]
    )
    places = s.talk.find_places(reader, sorted({number for each in entries for number in each.quotes}))
    docs = []
    for each in entries:
        doc = _message_to_json(s, now, reader, each)
        doc["quotes"] = [places[number] for number in each.quotes if number in places]
        message = each.message or {}
        if "treaty" in message:
            seats = list_seats(now, each.conversation)
            doc["treaty"] = treaties.to_json(each, seats, message["treaty"], answers.get(each.number, []))
        if "answer" in message:
            doc["answer"] = {"entry": answered.get(each.number), "answer": message["answer"]["answer"]}
        docs.append(doc)
    return docs


def _message_to_json(s: ApiServices, now: AnyGame, reader: MailboxReader, entry: Entry) -> MessageDoc:
    message = entry.message or {}
    version = message.get("version", entry.version)
    newest = reader.upto[0] if reader.upto else now.version
    spans = now.lasting.rewinds.undone_spans
    return {
        "entry": entry.entry,
        "conversation": s.talk.conversation_id(reader, entry.conversation),
        "kind": "table" if entry.conversation == TABLE else "private",
        "seats": list_seats(now, entry.conversation),
        "seat": entry.seat,
        "own": entry.author in reader.players if entry.author else False,
        "at": entry.at,
        "version": version,
        "undone": any(to < version < at <= newest for to, at in spans),
        "text": message.get("text"),
        "withheld": "" if message else _why_withheld(reader, entry),
        "references": message.get("references", []),
        "regions": message.get("regions", []),
        "quotes": [],
        "treaty": None,
        "answer": None,
        "commitment": entry.commitment,
    }


def _why_withheld(reader: MailboxReader, entry: Entry) -> Withheld:
    if entry.author and entry.author in reader.blocked:
        return "blocked"
    if not reader.may_read(entry):
        return "former"
    return cast(Withheld, entry.erased or "damaged")
