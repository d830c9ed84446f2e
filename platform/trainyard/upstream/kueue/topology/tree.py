"""The domains of one flavor's topology: which nodes it has, and how they stand together. Never changes.

Source: kueue v0.19.2 pkg/cache/scheduler/tas_topology_tree.go, tas_nodes_cache.go, pkg/util/tas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from trainyard.base.labels import HOSTNAME
from trainyard.upstream.kueue.model.nodes import Node

Values = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """Domains as numbers: level by level, each level in the order of its values, so that children are a range."""

    levels: Values
    """Labels of the levels, the widest first."""
    at: tuple[range, ...]
    """The domains of each level."""
    values: tuple[Values, ...]
    """By domain, the values of its level and of all above."""
    parent: tuple[int, ...]
    """By domain, the one above; -1 at the top."""
    children: tuple[range, ...]
    """By domain, those below."""
    nodes: tuple[tuple[Node, ...], ...]
    """By leaf, its nodes: one where the lowest level is the host."""
    place: Mapping[Values, int]
    """Domain of a leaf by the values that assignments name: the host alone where that is the lowest level."""

    @property
    def by_host(self) -> bool:
        """Whether a leaf is a node."""
        return ends_at_hosts(self.levels)

    @property
    def leaves(self) -> range:
        """The domains of the lowest level."""
        return self.at[-1]

    def named(self, domain: int) -> Values:
        """Return how assignments name a leaf."""
        return self.values[domain][-1:] if self.by_host else self.values[domain]

    def identifier(self, domain: int) -> str:
        """Return Kueue's name of a domain, which is the bare host name for hosts."""
        return ",".join(self.named(domain) if domain in self.leaves else self.values[domain])

    def above(self, domain: int, level: int) -> int:
        """Return the domain of a level that a leaf is in."""
        for _ in range(len(self.levels) - 1 - level):
            domain = self.parent[domain]
        return domain

    def below(self, domains: Iterable[int]) -> list[int]:
        """Return the children of domains, in their order."""
        return list(chain.from_iterable(self.children[domain] for domain in domains))


def ends_at_hosts(levels: Sequence[str]) -> bool:
    """Whether the lowest level is the host."""
    return bool(levels) and levels[-1] == HOSTNAME


def plant(levels: Values, nodes: Iterable[Node], selector: Mapping[str, str]) -> Tree:
    """Return the tree of the nodes that can run pods, have a flavor's labels and carry the labels of all levels."""
    members: dict[Values, list[Node]] = {}
    hosts: dict[str, Values] = {}
    for node in sorted(nodes, key=lambda one_node: one_node.name):
        if is_member(node, levels, selector):
            values = tuple(node.labels[level] for level in levels)
            if ends_at_hosts(levels):
                values = hosts.setdefault(values[-1], values)
            members.setdefault(values, []).append(node)
    return grow_tree(levels, members)


def is_member(node: Node, levels: Values, selector: Mapping[str, str]) -> bool:
    """Whether a node counts for a flavor."""
    labels = node.labels
    return (
        node.ready
        and not node.unschedulable
        and all(labels.get(key, "") == value for key, value in selector.items())
        and all(level in labels for level in levels)
    )


def grow_tree(levels: Values, members: Mapping[Values, Sequence[Node]]) -> Tree:
    """Return the tree over leaves, given their nodes by the values of all levels."""
    leaves = sorted(members)
    rows = [sorted({values[: depth + 1] for values in leaves}) for depth in range(len(levels))]
    values = tuple(chain.from_iterable(rows))
    at, start = [], 0
    for row in rows:
        at.append(range(start, start + len(row)))
        start += len(row)
    number = {value: index for index, value in enumerate(values)}
    parent = tuple(number[value[:-1]] if len(value) > 1 else -1 for value in values)
    first: dict[int, int] = {}
    count: dict[int, int] = {}
    for domain, above in enumerate(parent):
        first.setdefault(above, domain)
        count[above] = count.get(above, 0) + 1
    children = tuple(
        range(first[domain], first[domain] + count[domain]) if domain in first else range(0)
        for domain in range(len(values))
    )
    hosts = ends_at_hosts(levels)
    place = {(leaf[-1:] if hosts else leaf): number[leaf] for leaf in leaves}
    return Tree(levels, tuple(at), values, parent, children, tuple(tuple(members[leaf]) for leaf in leaves), place)
