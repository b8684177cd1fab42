"""The worked event of the specification (section 7), and stages for properties."""

from __future__ import annotations

from hypothesis import strategies as st

from domain.tournaments.results import Stage, TableResult

TABLES = """
1.1 0 3 6; 1.2 4 1 7; 1.3 2 8 5; 2.1 8 4 0; 2.2 1 5 6; 2.3 2 7 3; 3.1 7 5 0; 3.2 8 3 1; 3.3 2 4 6; 4.1 0 1 2; 4.2 5 3 4;
4.3 7 8 6
"""


def worked_event() -> Stage:
    """Nine entrants, threes, four rounds of the affine plane; each table from first to third."""
    tables = []
    for line in TABLES.split(";"):
        name, *entrants = line.split()
        round_, pod = map(int, name.split("."))
        tables.append(TableResult(round_, pod, tuple(map(int, entrants)), (1, 2, 3)))
    return Stage(9, tuple(tables), 4)


@st.composite
def stages(draw: st.DrawFn) -> Stage:
    """A stage of up to 12 entrants with shared places, byes, absent players, annulled and running tables."""
    entrants = draw(st.integers(2, 12))
    tables, byes = [], set()
    rounds = draw(st.integers(1, 4))
    for round_ in range(1, rounds + 1):
        order = draw(st.permutations(range(entrants)))
        size = draw(st.integers(2, min(5, entrants)))
        starts = range(0, entrants - size + 1, size)
        for pod, start in enumerate(starts):
            points = tuple(draw(st.lists(st.integers(-2, 4), min_size=size, max_size=size)))
            places = tuple(1 + sum(other > own for other in points) for own in points)
            tables.append(
                TableResult(
                    round_,
                    pod + 1,
                    tuple(order[start : start + size]),
                    places if draw(st.integers(0, 9)) else (),
                    points,
                    absent=frozenset({0} if not draw(st.integers(0, 5)) else ()),
                    lapses=tuple(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))),
                    annulled=draw(st.sampled_from(["", "", "", "", "void", "average"])),
                )
            )
        byes |= {(round_, entrant) for entrant in order[len(starts) * size :] if draw(st.booleans())}
    return Stage(
        entrants,
        tuple(tables),
        rounds,
        frozenset(byes),
        total=draw(st.sampled_from(["sum", "mean", "best:2", "weights:100,80,40"])),
        key=draw(st.sampled_from([b"", b"k" * 32])),
    )
