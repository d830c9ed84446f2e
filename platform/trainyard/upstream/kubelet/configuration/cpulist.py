"""Lists of CPUs as Linux and the kubelet write them (k8s.io/utils cpuset.go Parse)."""

from __future__ import annotations

import re

NUMBER = re.compile(r"[+-]?[0-9]+", re.ASCII)


FARTHEST = 2**20
"""The kubelet itself would count up to any number, until its node has no memory left."""


def parse(text: str) -> int:
    """Return the set of the CPUs in a list like `0-3,8`; raises ValueError with the kubelet's words."""
    found = 0
    for part in text.split(",") if text else ():
        low, dash, high = part.partition("-")
        first = parse_number(low)
        last = parse_number(high) if dash else first
        if first > last:
            raise ValueError(f'invalid range "{part}" ({first} > {last})')
        if last > FARTHEST:
            raise ValueError(f'invalid range "{part}" (no machine has CPU {last})')
        found |= (1 << (last + 1)) - (1 << first)
    return found


def parse_number(text: str) -> int:
    """Read a number as Go's strconv.Atoi does."""
    if not NUMBER.fullmatch(text):
        raise ValueError(f'strconv.Atoi: parsing "{text}": invalid syntax')
    number = int(text) if len(text) < 4000 else 2**63
    if not -(2**63) <= number < 2**63:
        raise ValueError(f'strconv.Atoi: parsing "{text}": value out of range')
    return number
