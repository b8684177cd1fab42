"""Tuples by seat, and the order round the table."""

from __future__ import annotations

from typing import TypeVar

from domain.types import Seat

T = TypeVar("T")


def replace_at(values: tuple[T, ...], seat: Seat, value: T) -> tuple[T, ...]:
    """Return the tuple with another value for one seat."""
    return (*values[:seat], value, *values[seat + 1 :])


def clockwise(first: Seat, seats: int) -> list[Seat]:
    """Return all seats once, from `first` on to the left."""
    return [(first + i) % seats for i in range(seats)]
