"""Reads the protocol-buffer encoding, which is how the parser hands over its syntax tree.

Source: protobuf.dev/programming-guides/encoding; only the wire types that cel.expr.ParsedExpr uses.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

Field: TypeAlias = tuple[int, "int | bytes"]
"""A field's number and its value: an unsigned varint, the eight bytes of a double, or a nested message's bytes."""

VARINT, FIXED64, BYTES = 0, 1, 2
MORE = 0x80
"""The bit of a byte of a varint that says that another one follows."""

SIGN_BIT, TWO_TO_64 = 1 << 63, 1 << 64


def fields(data: bytes) -> list[Field]:
    """Return the fields of one message in order; raises ValueError for a wire type that the parser never writes.

    Nearly all numbers take one byte, which is read in place: a syntax tree has a hundred thousand of them.
    """
    found: list[Field] = []
    at, end = 0, len(data)
    while at < end:
        key = data[at]
        at += 1
        if key >= MORE:
            key, at = varint(data, at - 1)
        number, wire = key >> 3, key & 7
        if wire == FIXED64:
            found.append((number, data[at : at + 8]))
            at += 8
            continue
        if wire not in (VARINT, BYTES):
            raise ValueError(f"unexpected wire type {wire}")
        value = data[at]
        at += 1
        if value >= MORE:
            value, at = varint(data, at - 1)
        if wire == VARINT:
            found.append((number, value))
        else:
            found.append((number, data[at : at + value]))
            at += value
    return found


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Decode one variable-length integer; return it and where the next field starts."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < MORE:
            return value, at
        shift += 7


def read_signed(value: int | bytes) -> int:
    """Read a varint as a 64-bit two's complement number."""
    number = integer(value)
    return number - TWO_TO_64 if number >= SIGN_BIT else number


def integer(value: int | bytes) -> int:
    """Return a varint field's value."""
    if isinstance(value, bytes):
        raise TypeError("expected a number")
    return value


def raw(value: int | bytes) -> bytes:
    """Return a length-delimited field's bytes."""
    if isinstance(value, int):
        raise TypeError("expected bytes")
    return value


def text(value: int | bytes) -> str:
    """Return a length-delimited field as text."""
    return raw(value).decode("utf-8")


def double(value: int | bytes) -> float:
    """Return the eight bytes of a double as a number."""
    number: float = struct.unpack("<d", raw(value))[0]
    return number
