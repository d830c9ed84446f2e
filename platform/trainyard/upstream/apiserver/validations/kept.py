"""The rules of kinds, read, type-checked and compiled once, and kept by whoever can remember: by the schema's content.

What is kept is plain data that is built anew: nothing in it is run. What cannot be read is compiled and kept again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from trainyard.upstream.apiserver.catalog.served import Kind

if TYPE_CHECKING:
    from trainyard.upstream.apiserver.validations.tree import Node


class RuleStore(Protocol):
    """Keeps plain data by what it was made from; whoever has one knows whether our code is still the same."""

    def get(self, *inputs: str | bytes) -> Any:
        """Return the kept rules, None if there are none."""

    def put(self, value: Any, *inputs: str | bytes) -> None:
        """Keep plain data."""


@dataclass(slots=True, eq=False)
class Rulebook:
    """The rules that one run needs; without a store they last as long as the process."""

    store: RuleStore | None = None
    trees: dict[tuple[Kind, int], Node | None] = field(default_factory=dict)

    def tree(self, kind: Kind, minor: int) -> Node | None:
        """Return the rules of a kind for a minor release of Kubernetes, None where it has none."""
        key = kind, minor
        if key not in self.trees:
            self.trees[key] = self._kept(kind, minor) or _found(kind)
        return self.trees[key]

    def keep(self) -> None:
        """Keep what was compiled since it was read; what cannot be kept is compiled again next time."""
        if self.store is None:
            return
        changed = {key: tree for key, tree in self.trees.items() if tree is not None and tree.shared.changed}
        for (kind, minor), tree in changed.items():
            tree.shared.changed = False
            self.store.put(tree.kept(minor), *_inputs(kind, minor))

    def _kept(self, kind: Kind, minor: int) -> Node | None:
        data = None if self.store is None else self.store.get(*_inputs(kind, minor))
        if data is None:
            return None
        from trainyard.upstream.apiserver.validations.tree import restore_tree

        try:
            return restore_tree(data, kind.schema, minor)
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
            return None


def _inputs(kind: Kind, minor: int) -> tuple[str, bytes]:
    return str(minor), kind.content


def _found(kind: Kind) -> Node | None:
    from trainyard.upstream.apiserver.validations.tree import tree

    return tree(kind)
