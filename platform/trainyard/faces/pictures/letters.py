"""Letters of jobs over many hosts, none of which stand on others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.faces.pictures.svg import text, wide

LINE = 11
"""Least distance of lines of letters above each other."""

Spot = tuple[float, float]


def letters(places: Mapping[str, Sequence[Spot]]) -> Iterator[str]:
    """Yield the letters of each job in the middle of its hosts, or else on one of them.

    The job with more hosts has its place first; one without room goes without.
    """
    taken: list[tuple[Spot, float]] = []
    for tag, mine in sorted(places.items(), key=lambda pair: -len(pair[1])):
        x, y = (sum(item) / len(mine) for item in zip(*mine, strict=True))
        width = wide(tag, 11) + 2
        free = (spot for spot in [(x, y), *mine] if all(apart(spot, width, *item) for item in taken))
        if (spot := next(free, None)) is not None:
            taken.append((spot, width))
            yield text(spot[0], spot[1] + 4, tag, "l", anchor="middle")


def apart(spot: Spot, width: float, other: Spot, its: float) -> bool:
    """Whether letters of a width at one spot are beside those at another."""
    return abs(spot[0] - other[0]) >= (width + its) / 2 or abs(spot[1] - other[1]) >= LINE
