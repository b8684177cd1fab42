"""Arithmetic of finite fields of prime powers, for nets.

An element is a number: its coefficients in base p, the constant lowest.
"""

from __future__ import annotations

import functools

MODULI = {
    4: (2, (1, 1, 1)),
    8: (2, (1, 1, 0, 1)),
    9: (3, (1, 0, 1)),
    16: (2, (1, 1, 0, 0, 1)),
    25: (5, (2, 0, 1)),
    27: (3, (1, 2, 0, 1)),
    32: (2, (1, 0, 1, 0, 0, 1)),
    49: (7, (1, 0, 1)),
}
"""Order of a field -> characteristic, and coefficients of its monic modulus, the constant first."""

Operation = tuple[tuple[int, ...], ...]


def is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def is_field_order(order: int) -> bool:
    """Return whether nets know a field of this order: a prime, or a listed prime power."""
    return order in MODULI or is_prime(order)


def _to_digits(number: int, base: int, count: int) -> list[int]:
    digits = []
    for _ in range(count):
        number, digit = divmod(number, base)
        digits.append(digit)
    return digits


def _to_number(digits: list[int], base: int) -> int:
    number = 0
    for digit in reversed(digits):
        number = number * base + digit
    return number


def _multiply(left: list[int], right: list[int], base: int, modulus: tuple[int, ...]) -> list[int]:
    degree = len(modulus) - 1
    product = [0] * (2 * degree)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] = (product[i + j] + a * b) % base
    for power in range(len(product) - 1, degree - 1, -1):
        lead = product[power]
        for i, coefficient in enumerate(modulus):
            place = power - degree + i
            product[place] = (product[place] - lead * coefficient) % base
    return product[:degree]


@functools.cache
def field_tables(order: int) -> tuple[Operation, Operation]:
    """Return the tables of addition and multiplication of the field of this order."""
    elements = range(order)
    if order not in MODULI:
        return (
            tuple(tuple((a + b) % order for b in elements) for a in elements),
            tuple(tuple(a * b % order for b in elements) for a in elements),
        )
    base, modulus = MODULI[order]
    digits = [_to_digits(element, base, len(modulus) - 1) for element in elements]
    sums = tuple(
        tuple(_to_number([(x + y) % base for x, y in zip(a, b, strict=True)], base) for b in digits) for a in digits
    )
    products = tuple(tuple(_to_number(_multiply(a, b, base, modulus), base) for b in digits) for a in digits)
    return sums, products
