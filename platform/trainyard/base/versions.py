"""Releases of software: their order, and which known one is nearest to one that is not known."""

from __future__ import annotations

from collections.abc import Iterable

Numbers = tuple[int, int, int, int]


def order(release: str) -> Numbers:
    """Return a release as numbers, so that 1.10 comes after 1.9 and 3.2 is 3.2.0; a suffix does not count.

    >>> order("v0.19.2-rc.1")
    (0, 19, 2, 0)
    """
    plain = release.strip().removeprefix("v").partition("-")[0].partition("+")[0]
    first, second, third, fourth, *_ = (
        *(int(part[:18]) for part in plain.split(".") if part.isascii() and part.isdigit()),
        0,
        0,
        0,
        0,
    )
    return first, second, third, fourth


def same(one: str, other: str) -> bool:
    """Whether two spellings name one release; what a dash adds makes it another, what a plus adds does not.

    >>> same("v1.9", "1.9.0"), same("1.9.0-rc.1", "1.9.0")
    (True, False)
    """
    return order(one) == order(other) and _suffix(one) == _suffix(other)


def exact(one: str, other: str) -> bool:
    """Whether two spellings name one published thing: all that is added to the numbers counts.

    >>> exact("v1.9", "1.9.0"), exact("1.9.0+k3s1", "1.9.0")
    (True, False)
    """
    return order(one) == order(other) and _added(one) == _added(other)


def begun(prefix: str, known: Iterable[str]) -> str | None:
    """Return the newest known release of a line, None where none is in it; `1` and `1.9` name lines, `1.9.0-rc` none.

    >>> begun("0.18", ["0.18.6", "0.18.12", "0.19.2"])
    '0.18.12'
    """
    asked = prefix.strip().removeprefix("v").split(".")
    found = [name for name in known if name.split(".")[: len(asked)] == asked and not _added(name)]
    return max(found, key=order) if found else None


def is_since(release: str, *firsts: str) -> bool:
    """Whether a release has a change; `firsts` are the first with it, one a line of patches, the oldest first.

    >>> is_since("0.18.6", "0.18.5", "0.19.1"), is_since("0.19.0", "0.18.5", "0.19.1"), is_since("0.20", "0.18.5")
    (True, False, True)
    """
    lines = {order(first)[:2]: order(first) for first in firsts}
    return order(release) >= lines.get(order(release)[:2], order(firsts[0]))


def line(release: str) -> str:
    """Return the line of patches that a release belongs to, which of Kubernetes is the minor release.

    >>> line("v1.35.4-gke.1")
    '1.35'
    """
    return ".".join(map(str, order(release)[:2]))


def minor(release: str) -> int:
    """Return the second number of a release, by which rules of Kubernetes come and go: 35 of 1.35.4."""
    return order(release)[1]


def nearest(release: str, known: Iterable[str]) -> str:
    """Return the known release with the least distance, the first number weighing most; of two, the newer.

    Beyond all known ones that is the last or the first of them. Raises ValueError where none is known.

    >>> nearest("1.0.0", ["0.18.6", "0.19.2"])
    '0.19.2'
    """
    numbers = {name: order(name) for name in known}
    asked = max(min(numbers.values()), min(order(release), max(numbers.values())))

    def distance(name: str) -> tuple[Numbers, Numbers]:
        first, second, third, fourth = (abs(one - two) for one, two in zip(numbers[name], asked, strict=True))
        newest_first = tuple(-number for number in numbers[name])
        return (first, second, third, fourth), (newest_first[0], newest_first[1], newest_first[2], newest_first[3])

    return min(numbers, key=distance)


def _added(release: str) -> str:
    numbers = release.strip().removeprefix("v")
    return next((numbers[at:] for at, sign in enumerate(numbers) if sign in "-+"), "")


def _suffix(release: str) -> str:
    return release.partition("+")[0].partition("-")[2]
