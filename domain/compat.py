"""`cached_property` without a lock, as in the standard library from Python 3.12 on.

The lock doubles the time of an access, and a game makes some ten thousand of them. Two threads may both compute a
value; either counts.
"""

from __future__ import annotations

import sys

if sys.version_info >= (3, 12):
    from functools import cached_property
else:
    from collections.abc import Callable
    from typing import Any, Generic, TypeVar, overload

    T = TypeVar("T")

    class cached_property(Generic[T]):  # noqa: N801 - the name of the library's
        """Property computed on first access and stored in the object's own dict."""

        def __init__(self, make: Callable[[Any], T]) -> None:
            self._make, self.__doc__ = make, make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        @overload
        def __get__(self, thing: None, owner: type | None = None) -> cached_property[T]: ...
        @overload
        def __get__(self, thing: object, owner: type | None = None) -> T: ...
        def __get__(self, thing: object | None, owner: type | None = None) -> cached_property[T] | T:
            if thing is None:
                return self
            value = thing.__dict__[self._name] = self._make(thing)
            return value


__all__ = ["cached_property"]
