"""Where in its variables the parts of an expression come from: `self`, `items`, then any element of them.

The server keeps a path in a growing slice that several parts share, so that a later part may change the end of an
earlier one's path. Its estimates follow from that, and so do these.
Source: google/cel-go v0.26.0 checker/cost.go addPath, getPath; the Go specification on append.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

ITEMS, VALUES, KEYS, PLACES = "@items", "@values", "@keys", "@indices"


@dataclass(frozen=True, slots=True)
class Path:
    """The first names of a list of cells that others may share."""

    cells: list[str] = field(default_factory=list)
    length: int = 0
    room: int = 0
    """How many cells there are to be had before all of them are copied."""

    @classmethod
    def of(cls, name: str) -> Path:
        """Return the path of a variable."""
        return cls([name], 1, 1)

    def then(self, name: str) -> Path:
        """Return the path that goes on to a name: in the same cells, as long as these have room."""
        if self.length < self.room:
            self.cells[self.length :] = [name, *self.cells[self.length + 1 :]]
            return Path(self.cells, self.length + 1, self.room)
        room = max(1, 2 * self.room)
        return Path([*self.cells[: self.length], name], self.length + 1, room)

    def __len__(self) -> int:
        """How many names there are."""
        return self.length

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self.cells[: self.length])


NOWHERE = Path()
"""The path of what was made by the expression itself."""
