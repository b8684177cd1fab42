"""SE7-8.7: passing."""

from __future__ import annotations

from tests.games.seven_empires.board import army, asked, kinds_of, moving, offers, there

GO = army("strasbourg", "infantry", "palatinate", "bavaria")
GRANT, REFUSE = ({"type": "answer_passage", "grant": yes} for yes in (True, False))
UNITS = {"strasbourg": "france infantry infantry artillery", "palatinate": "habsburg infantry"}


def test_the_monarch_of_the_army_in_the_way_is_asked() -> None:
    """SE7-8.7, SE7-3.4: the decision is that seat's; granted, the move is carried out as announced."""
    game = moving("france", UNITS)
    assert kinds_of(game.when(0, GO)) == ["fleets_done", "passage_asked"]
    assert asked(game) == ("passage", 2)
    assert game.decision.context == {
        "empire": "france",
        "from": "strasbourg",
        "unit": "infantry",
        "steps": [{"to": "palatinate"}, {"to": "bavaria"}],
        "target": None,
        "through": "palatinate",
        "blocking": "habsburg",
        "to": "bavaria",
    }
    assert offers(game, 2) == [False, True]
    game.refused(0, GRANT, "not_your_decision")
    assert kinds_of(game.when(2, GRANT)) == ["passage_granted", "army_moved"]
    assert there(game, "bavaria") == {"france": {"infantry": 1}}
    assert asked(game) == ("movement", 0)


def test_the_monarch_is_told_what_would_be_fought() -> None:
    """SE7-3.4: the target is shown also where it is the only type there and was not named."""
    game = moving("france", {**UNITS, "bavaria": "prussia artillery"})
    game.when(0, GO)
    assert game.decision.context["target"] == "artillery"
    assert kinds_of(game.when(2, GRANT)) == ["passage_granted", "army_moved", "fought"]


def test_a_refusal_holds_for_the_action_while_an_army_is_there() -> None:
    """SE7-8.7: the unit is unmoved; a later request is refused; once the army is beaten, passing is free."""
    game = moving("france", UNITS)
    game.when(0, GO)
    game.when(2, REFUSE)
    assert there(game, "strasbourg") == {"france": {"infantry": 2, "artillery": 1}}
    game.refused(0, GO, "passage_refused", "SE7-8.7")
    game.when(0, army("strasbourg", "artillery", "palatinate", target="infantry"))
    game.when(0, GO)
    assert there(game, "bavaria") == {"france": {"infantry": 1}}


def test_a_grant_covers_only_the_announced_move() -> None:
    """SE7-8.7: the next unit asks again."""
    game = moving("france", UNITS)
    game.when(0, GO)
    game.when(2, GRANT)
    game.when(0, GO)
    assert asked(game) == ("passage", 2)


def test_transports_of_a_refused_move_are_unused() -> None:
    """SE7-8.7: by transport the same holds as over land."""
    units = {
        "paris": "france infantry",
        "english_channel": "france two_master",
        "london": "great_britain infantry",
    }
    game = moving("france", units)
    game.when(0, army("paris", "infantry", "london via english_channel", "york"))
    assert asked(game) == ("passage", 1)
    game.when(1, REFUSE)
    assert game.state.movement.used == ()
    game.when(0, army("paris", "infantry", "southern_netherlands"))


def test_passing_is_free_without_a_foreign_army() -> None:
    """SE7-8.7: an empty foreign city, own units, or foreign ships alone; nothing is occupied and no flag set."""
    game = moving("france", {"marseille": "france infantry", "barcelona": "spain two_master"})
    facts = game.when(0, army("marseille", "infantry", "barcelona", "madrid"))
    assert kinds_of(facts) == ["fleets_done", "army_moved"]
    assert there(game, "barcelona") == {"spain": {"two_master": 1}}


def test_permission_is_automatic_for_neutral_and_oneself() -> None:
    """SE7-8.7, SE7-3.3: no monarch, or the actor is the monarch."""
    for monarch in (None, 0):
        game = moving("france", UNITS, monarchs={"habsburg": monarch})
        game.when(0, GO)
        assert asked(game) == ("movement", 0)
        assert there(game, "bavaria") == {"france": {"infantry": 1}}
