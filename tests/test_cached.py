"""A cached property is made once for an object, and stands in its dict."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from domain.compat import cached_property
from domain.kernel.schema.canonical_json import struct_digest


@dataclass(frozen=True)
class Thing:
    """One that counts how often its value was made."""

    name: str
    made: list[str] = field(default_factory=list, compare=False)

    @cached_property
    def loud(self) -> str:
        """The name, louder."""
        self.made.append(self.name)
        return self.name.upper()


def test_a_value_is_made_once_for_each_object() -> None:
    one, other = Thing("one"), Thing("other")
    assert [one.loud, one.loud, other.loud] == ["ONE", "ONE", "OTHER"]
    assert one.made == ["one"]
    assert one.__dict__["loud"] == "ONE"
    assert one == Thing("one")


def test_value_made_is_no_part_of_what_digest_goes_over() -> None:
    one, other = Thing("one"), Thing("one")
    assert one.loud == "ONE"
    one.made.clear()
    assert struct_digest(one) == struct_digest(other)


def test_a_value_that_cannot_be_made_is_tried_again() -> None:
    class Odd:
        tries = 0

        @cached_property
        def value(self) -> int:
            self.tries += 1
            return 1 // (self.tries - 1)

    odd = Odd()
    with pytest.raises(ZeroDivisionError):
        odd.value  # noqa: B018
    assert odd.value == 1


def test_the_class_gives_what_describes_it() -> None:
    assert Thing.loud.__doc__ == "The name, louder."
