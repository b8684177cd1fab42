"""AOR-21.2: invariants, true after every fact."""

from __future__ import annotations

from collections.abc import Iterator

from domain.games.age_of_reason.data import ALL_SLOTS, CARDS, MARKERS, POWERS, SCORING, UNREST_MAX
from domain.games.age_of_reason.id_checks import find_unknown_ids
from domain.games.age_of_reason.state import AgeOfReason
from domain.kernel.rules.flow import assign


def check(s: AgeOfReason) -> list[str]:
    """Return the broken invariants, in words. Unknown ids are reported alone, as no other check works with them."""
    return list(find_unknown_ids(s)) or [
        *_seats(s),
        *_tokens(s),
        *_cards(s),
        *_missing_cards(s),
        *_markers(s),
        *_display(s),
        *_flow(s),
    ]


def fill(s: AgeOfReason) -> AgeOfReason:
    """Derive the rest of a state from the table: the bag, and the size of each discard."""
    out = {*s.lying(), *s.gone}
    sizes = zip(s.empires, s.discards, strict=True)
    return assign(
        s,
        bag=tuple(marker for marker in MARKERS if marker not in out),
        empires=tuple(assign(empire, discard_size=len(cards)) for empire, cards in sizes),
    )


def _seats(s: AgeOfReason) -> Iterator[str]:
    for seat, empire in enumerate(s.empires):
        if empire.gold < 0 or empire.vp < 0:
            yield f"seat {seat}: gold {empire.gold}, points {empire.vp}"
        if not 0 <= empire.unrest <= UNREST_MAX:
            yield f"seat {seat}: unrest {empire.unrest}"
        if s.reserve(seat) < 0:
            yield f"seat {seat}: {-s.reserve(seat)} tokens too many"
    taken = [empire.power for empire in s.empires if empire.power]
    if len(set(taken)) < len(taken):
        yield "powers: two seats have the same"


def _tokens(s: AgeOfReason) -> Iterator[str]:
    for power, tokens in s.tokens.items():
        bad = {region: n for region, n in tokens.items() if region not in SCORING or n < 1}
        yield from (f"{power}: {n} tokens in {region}" for region, n in bad.items())
    for space, seats in s.spaces.items():
        if not 0 < len(seats) <= s.places(space):
            yield f"{space}: {len(seats)} tokens"


def _cards(s: AgeOfReason) -> Iterator[str]:
    """AOR-9.10.1: force cards alone are discarded; no card is in two places."""
    for seat, (discard, empire) in enumerate(zip(s.discards, s.empires, strict=True)):
        sealed, shown = s.sealed[seat], s.battle.card_of(seat) if s.battle else None
        away = [*discard, *([sealed.card] if sealed and sealed.card else []), *([shown] if shown else [])]
        if len(set(away)) < len(away) or any(CARDS[card].power != empire.power for card in away):
            yield f"seat {seat}: cards {away}"
        if any(CARDS[card].kind != "force" for card in discard):
            yield f"seat {seat}: discard {discard}"
        if len(discard) != empire.discard_size:
            yield f"seat {seat}: {len(discard)} cards in the discard, {empire.discard_size} counted"


def _missing_cards(s: AgeOfReason) -> Iterator[str]:
    """AOR-9.5.1: before the reveal, attacker and defender have laid a card if they have answered."""
    battle = s.battle
    if battle is None or battle.cards is not None:
        return
    for seat in (battle.attacker, battle.defender):
        sealed = None if seat is None else s.sealed[seat]
        if sealed and not sealed.card:
            yield f"seat {seat}: no card is sealed"


def _markers(s: AgeOfReason) -> Iterator[str]:
    if sorted([*s.bag, *s.lying(), *s.gone]) != sorted(MARKERS):
        yield "markers: some are missing or doubled"
    if any(MARKERS[marker].region != region for region, markers in s.markers.items() for marker in markers):
        yield "markers: one lies in another region"


def _display(s: AgeOfReason) -> Iterator[str]:
    if len(set(s.slots.values())) < len(s.slots):
        yield "slots: a power stands twice"
    if s.turn_order and sorted(s.slots.values()) != sorted(POWERS):
        yield "slots: a power is missing"
    seated = [seat for slot in ALL_SLOTS if (seat := s.seat_of(s.slots.get(slot))) is not None]
    if s.turn_order and list(s.turn_order) != seated:
        yield f"turn order {list(s.turn_order)}, slots {seated}"


def _flow(s: AgeOfReason) -> Iterator[str]:
    if not s.over and not s.top.owing:
        yield "nobody decides"
    if not s.over and s.top.kind not in ("commit", "hire") and len(s.top.owing) != 1:
        yield f"{len(s.top.owing)} seats decide"
