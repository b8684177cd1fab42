"""Tuples by seat, and the order round the table."""

from __future__ import annotations

from typing import TypeVar

from domain.types import Seat

T = TypeVar("T")


def put(values: tuple[T, ...], seat: Seat, value: T) -> tuple[T, ...]:
    """The tuple with another value for one seat."""
    return (*values[:seat], value, *values[seat + 1 :])


def clockwise(first: Seat, seats: int) -> list[Seat]:
    """All seats once, from `first` on to the left."""
    return [(first + i) % seats for i in range(seats)]
