"""A record as people read it."""

from __future__ import annotations

from domain.kernel.narration.sentences import SeatNames, record_sentences
from domain.kernel.text.message_catalog import Texts

TEXTS = Texts(
    "en",
    {
        "fact.lost": "{seat:seat} loses an army.",
        "fact.met": "{seat:seat} fights.",
        "move.pass": "Pass",
        "move.hide": "Hide a card, or none",
        "made.hide": "{seat:seat} has answered.",
        "record.moved.x": "{seat:seat} is busy.",
        "line.move": "{seat:seat}: {move}.",
        "line.times": "{times} times:",
        "line.times.2": "twice:",
        "word.seat": "seat",
        "word.france": "France",
    },
)
WHO = SeatNames(TEXTS, {1: "france"}, {0: "alice", 1: "bob"})


def test_powers_act_else_people_else_seats() -> None:
    facts = [{"t": "lost", "seat": seat} for seat in (0, 1, 2)]
    assert record_sentences(TEXTS, WHO, "moved", facts=facts) == [
        "alice loses an army.",
        "France loses an army.",
        "Seat 3 loses an army.",
    ]


def test_repeated_tellings_are_counted_shared_ones_said_once() -> None:
    lost, met = {"t": "lost", "seat": 1}, {"t": "met", "seat": 1}
    facts = [lost, lost, {**met, "reader": 0}, {**met, "reader": 1}]
    assert record_sentences(TEXTS, WHO, "moved", facts=facts) == ["Twice: France loses an army.", "France fights."]
    assert record_sentences(TEXTS, WHO, "moved", facts=[lost] * 3) == ["3 times: France loses an army."]


def test_a_move_is_named_where_nothing_else_is_said() -> None:
    """Its type where it has no text; nothing where it is hidden."""
    acts = [(1, {"type": "pass"}), (2, {"type": "wait"}), (0, {})]
    assert record_sentences(TEXTS, WHO, "moved", moves=acts) == ["France: Pass.", "Seat 3: wait."]
    assert record_sentences(TEXTS, WHO, "moved", moves=acts, facts=[{"t": "met", "seat": 1}]) == ["France fights."]


def test_silent_move_is_told_as_made_where_it_has_a_sentence() -> None:
    acts = [(1, {"type": "hide"})]
    assert record_sentences(TEXTS, WHO, "moved", moves=acts) == ["France has answered."]
    assert record_sentences(TEXTS, WHO, "moved", moves=acts, facts=[{"t": "lost", "seat": 1}]) == [
        "France loses an army."
    ]


def test_what_the_record_is_comes_first() -> None:
    assert (
        record_sentences(TEXTS, WHO, "moved", 1, {"act": "x"}, facts=[{"t": "met", "seat": 1}])[0] == "France is busy."
    )
