"""What every game declares holds together: facts with their sentences, moves, schemas, and the logs of real games."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import jsonschema
import pytest

from domain.kernel.game.game_fold import apply_record, apply_rewind, initial_game
from domain.kernel.narration.template_context import FINISHED
from domain.kernel.records import export
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.flow import FLOW, State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.declarations import doc, member_names
from domain.kernel.schema.json_schema import schema_of
from domain.kernel.text.message_catalog import LANGUAGES, PLACE, load_texts
from domain.ruleset_registry import load_shipped
from domain.types import DIRECTOR, PUBLIC, Doc

CATALOGUE = load_shipped()
GAMES = CATALOGUE.names()
LOGS = sorted((Path(__file__).parents[1] / "logs").glob("*.xz"))
RULE = re.compile(r"\b[A-Z][A-Z\d]{2}-\d+(\.\d+)*\b")


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_sentence_names_only_what_its_fact_has(name: str, lang: str) -> None:
    rules = CATALOGUE.get(name)
    catalogue = load_texts(rules.package, lang)
    for kind, fact in rules.fact_kinds.items():
        template = catalogue.get(f"fact.{kind}")
        if template is not None:
            named = {place["member"].partition(".")[0] for place in PLACE.finditer(template)}
            assert (
                named <= member_names(fact)
                or kind == FINISHED
                or kind in {*rules.context_builders, *rules.roll_readers, *rules.sentence_mergers}
            ), kind


@pytest.mark.parametrize("name", GAMES)
def test_facts_and_moves_say_what_they_mean_and_by_which_rule(name: str) -> None:
    rules = CATALOGUE.get(name)
    for kind in rules.facts.values():
        assert kind.__doc__, kind
    for move in rules.moves.values():
        assert move.__doc__, move
        assert RULE.fullmatch(move.admission.rule), move


@pytest.mark.parametrize("name", GAMES)
def test_a_game_and_the_kernel_use_a_word_once(name: str) -> None:
    assert not CATALOGUE.get(name).facts.keys() & FLOW.keys()


@pytest.mark.parametrize("name", GAMES)
def test_frames_are_declared_wherever_they_are_named(name: str) -> None:
    rules = CATALOGUE.get(name)
    named = {*rules.continuations, *rules.meta.clocks, *(at for m in rules.moves.values() for at in m.admission.at)}
    assert named <= rules.frames.keys()
    assert all(RULE.search(kind.__doc__ or "") for kind in rules.frames.values())


@pytest.mark.parametrize("name", GAMES)
def test_what_is_shown_says_what_it_means(name: str) -> None:
    for kind in CATALOGUE.get(name).view_types.values():
        schema = schema_of(kind)
        for part in (schema, *schema.get("$defs", {}).values()):
            assert part.get("description"), part["title"]


def logged(path: Path) -> tuple[str, Iterator[Doc]]:
    found = export.parse(lzma.decompress(path.read_bytes()))
    return found.ruleset, (fact for r in found.records for fact in facts_for(r, DIRECTOR))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_facts_of_real_games_come_out_as_they_went_in(path: Path) -> None:
    """Member by member: what was absent stays absent, and what stood there as null or false stands there."""
    name, facts = logged(path)
    docs = list(facts)
    assert [doc(fact) for fact in CATALOGUE.get(name).decode_facts(docs)] == docs


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_the_published_schemas_are_those_of_real_games(path: Path) -> None:
    name, facts = logged(path)
    kinds = CATALOGUE.get(name).fact_kinds
    of = {kind: jsonschema.Draft202012Validator(schema_of(fact)) for kind, fact in kinds.items()}
    seen: dict[str, int] = {}
    for fact in facts:
        kind = fact["t"]
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= 20:  # validating takes long
            of[kind].validate(fact)
            assert not of[kind].is_valid({**fact, "no_such_member": 1})
    assert len(seen) >= 10


def states(rules: AnyRuleset, records: Sequence[Record]) -> list[State]:
    """The state after each record."""
    games = [initial_game(rules, records[0])]
    for r in records[1:]:
        back = games[r.body["to"] - 1] if r.kind == "rewound" else None
        games.append(apply_rewind(rules, games[-1], back, r) if back else apply_record(rules, games[-1], r))
    return [game.state for game in games]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_the_published_schemas_are_those_of_what_is_shown(path: Path) -> None:
    """Boards, what each seat sees, decisions and scores, at some twenty versions of a real game."""
    found = export.parse(lzma.decompress(path.read_bytes()))
    rules = CATALOGUE.get(found.ruleset)
    sights = {name: jsonschema.Draft202012Validator(schema_of(kind)) for name, kind in rules.view_types.items()}
    contexts = {kind: jsonschema.Draft202012Validator(schema_of(frame)) for kind, frame in rules.frames.items()}
    after = states(rules, found.records)
    for state in after[5 :: max(25, len(after) // 20)]:
        sights["board"].validate(rules.player_view(state, PUBLIC))
        everything = rules.player_view(state, DIRECTOR)
        sights["hidden"].validate(everything["hidden"])
        for own in everything["seats"].values():
            sights["own"].validate(own)
        for score in rules.scores(state):
            sights["detail"].validate(score.to_json()["detail"])
        for frame in state.frames:
            contexts[frame.kind].validate(frame.data)
