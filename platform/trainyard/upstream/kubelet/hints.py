"""Hints of where a request fits, as the managers give them and the topology manager merges them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hints:
    """Sets of NUMA nodes where one resource's request fits: `preferred` are the smallest that could ever hold it.

    Both empty: it fits nowhere. A resource without an opinion has None in place of hints.
    """

    preferred: tuple[int, ...] = ()
    other: tuple[int, ...] = ()

    @staticmethod
    def sorted(fits: Iterable[int], prefer: Callable[[int], bool]) -> Hints:
        """Return hints of sets where the request fits."""
        kinds: tuple[list[int], list[int]] = ([], [])
        for nodes in fits:
            kinds[not prefer(nodes)].append(nodes)
        return Hints(tuple(kinds[0]), tuple(kinds[1]))

    @property
    def masks(self) -> tuple[int, ...]:
        """Return all sets."""
        return self.preferred + self.other


Opinion = Hints | None


@dataclass(frozen=True, slots=True)
class Affinity:
    """The NUMA nodes that a merge settled on (None: any), and whether all hints preferred them."""

    nodes: int | None = None
    preferred: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge of hints: of a container, or of a pod as a whole (then `container` is empty).

    `permutations` is the number of combinations that the kubelet walks through for it.
    """

    container: str
    permutations: int
    hints: Mapping[str, Opinion]
