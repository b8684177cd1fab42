"""Views as numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deploy.environments.view_features import hash_features

DOCS = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(DOCS)
def test_they_are_bounded_and_repeat(doc: object) -> None:
    found = hash_features(doc, 64)
    assert found.shape == (64,)
    assert found.dtype == np.dtype(np.float32)
    assert np.all(np.abs(found) <= 1)
    assert np.array_equal(found, hash_features(doc, 64))


def test_values_places_and_signs_tell_apart() -> None:
    docs = [{"a": 1}, {"a": 2}, {"a": -1}, {"b": 1}, {"a": "1"}, {"a": True}, {"a": [1]}, {"a": [0, 1]}, {"a": None}]
    found = {hash_features(doc, 4096).tobytes() for doc in docs}
    assert len(found) == len(docs)


def test_the_order_of_members_does_not_matter() -> None:
    assert np.array_equal(hash_features({"a": 1, "b": 2}, 64), hash_features({"b": 2, "a": 1}, 64))


def test_numbers_are_those_of_every_machine() -> None:
    """They are part of what a trained agent learned."""
    assert np.flatnonzero(hash_features({"gold": 7, "name": "x"}, 4096)).tolist() == [96, 3409]
