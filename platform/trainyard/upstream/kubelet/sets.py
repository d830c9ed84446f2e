"""Sets of small numbers (CPUs, NUMA nodes) as the bits of an int, which are quick to cut and join."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations


def mask(numbers: Iterable[int]) -> int:
    """Return the set of the numbers, none of them negative."""
    result = 0
    for number in numbers:
        result |= 1 << number
    return result


def union(sets: Iterable[int]) -> int:
    """Return the numbers that any of the sets has."""
    result = 0
    for one in sets:
        result |= one
    return result


def members(bits: int) -> Iterator[int]:
    """Yield the numbers in a set, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def text(bits: int) -> str:
    """Return a set as Linux and the kubelet write it: `0-3,8`; the empty set is the empty text."""
    ranges: list[list[int]] = []
    for number in members(bits):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


@lru_cache(maxsize=64)
def subsets(bits: int) -> tuple[int, ...]:
    """Return all subsets but the empty one, small ones first, in the order in which the kubelet walks through them."""
    bits_ = [1 << number for number in members(bits)]
    return tuple(sum(chosen) for size in range(1, len(bits_) + 1) for chosen in combinations(bits_, size))


def subset_sums(amounts: Mapping[int, int]) -> dict[int, int]:
    """Return the sum of amounts for each set of the numbers they are given for, in the order of `subsets`."""
    sums = {0: 0}
    for chosen in subsets(mask(amounts)):
        lowest = chosen & -chosen
        sums[chosen] = sums[chosen ^ lowest] + amounts[lowest.bit_length() - 1]
    del sums[0]
    return sums
