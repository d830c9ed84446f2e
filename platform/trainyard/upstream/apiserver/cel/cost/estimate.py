"""The walk over an expression: what each part costs at most, and how large its value may be.

Source: google/cel-go v0.26.0 checker/cost.go; k8s.io/apiserver v0.35.4 pkg/cel/environment/base.go (has() is free).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from trainyard.upstream.apiserver.cel.checked import Checked
from trainyard.upstream.apiserver.cel.cost.called import Called
from trainyard.upstream.apiserver.cel.cost.calls import cost_call
from trainyard.upstream.apiserver.cel.cost.folds import cost_fold
from trainyard.upstream.apiserver.cel.cost.parts import Entries, Local, Part
from trainyard.upstream.apiserver.cel.cost.paths import ITEMS, KEYS, NOWHERE, VALUES, Path
from trainyard.upstream.apiserver.cel.cost.ranges import ANY, Range, exactly
from trainyard.upstream.apiserver.cel.cost.shapes import Shape
from trainyard.upstream.apiserver.cel.syntax import (
    Bind,
    Call,
    Constant,
    Fold,
    Ident,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
)
from trainyard.upstream.apiserver.cel.types import DYN, Type, is_optional

NOTHING, ONE = exactly(0), exactly(1)
LIST, MAP = exactly(10), exactly(30)
"""What it costs to make a list, and a map (google/cel-go v0.26.0 common/cost.go)."""

_HAS_FIELDS = frozenset({"map", "object"})
_SCALARS = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})


def estimate(checked: Checked, shape: Shape) -> int:
    """Return the most that an evaluation costs, in the units of the server; `self` and `oldSelf` have the shape."""
    return Estimator(checked, shape).cost(checked.root).most


class Estimator:
    """What is known of the parts of one expression so far."""

    def __init__(self, checked: Checked, shape: Shape) -> None:
        self.checked = checked
        self.shape = shape
        self.paths: dict[int, Path] = {}
        self.sizes: dict[int, Range] = {}
        self.entries: dict[int, Entries] = {}
        self.locals: defaultdict[str, list[Local]] = defaultdict(list)

    def cost(self, node: Node) -> Range:
        """Return the cost of a part with all beneath it."""
        if node.id in self.checked.qualified:
            return self.named(node, self.checked.qualified[node.id])
        found: Range = _COSTS[type(node)](self, node)
        return found

    def constant(self, _: Constant) -> Range:
        """Return that a constant is free."""
        return NOTHING

    def ident(self, node: Ident) -> Range:
        """Return the cost of a name, and remember its path."""
        return self.named(node, node.name)

    def named(self, node: Node, name: str) -> Range:
        """Return the cost of a name that may have dots."""
        local = self.local(name)
        self.paths[node.id] = Path.of(name) if local is None else local.path
        return ONE

    def select(self, node: Select) -> Range:
        """Return the cost of selecting a field: nothing where `has` only tests it."""
        cost = self.cost(node.operand)
        if node.test:
            return cost
        if self.type(node.operand).kind in _HAS_FIELDS:
            cost += ONE
        self.paths[node.id] = self.path(node.operand).then(node.field)
        return cost

    def call(self, node: Call) -> Range:
        """Return the cost of a call: its arguments, and the widest range of the forms that it may take."""
        if node.function == "dyn" and node.target is None:
            cost = self.cost(node.arguments[0]) + ONE
            self.copy(node, node.arguments[0])
            return cost
        costs, parts = [], []
        for argument in node.arguments:
            costs.append(self.cost(argument))
            parts.append(self.part(argument))
        beside, target = NOTHING, None
        function = node.function
        if node.target is not None:
            if not self.is_method(node):
                function = f"{self.checked.qualified[node.target.id]}.{function}"
            else:
                beside, target = self.cost(node.target), self.part(node.target)
        found, size = self.forms(node, Called(self, node, function, target, parts, costs))
        if size is not None:
            self.sizes[node.id] = size
        return beside + found

    def is_method(self, node: Call) -> bool:
        """Whether a call is on a value, not of a function whose name has dots."""
        return any(overload.member for overload in self.checked.overloads.get(node.id, ()))

    def forms(self, node: Call, called: Called) -> tuple[Range, Range | None]:
        """Return cost and size over all forms that a call may take; an element of something is followed on its path."""
        if node.function == "_?._":
            return called.costs[0] + ONE, None
        cost: Range | None = None
        size: Range | None = None
        for overload in self.checked.overloads.get(node.id, ()):
            one, result = cost_call(called, overload)
            cost = one if cost is None else cost | one
            if result is not None:
                size = result if size is None else size | result
            if node.function == "_[_]" and (kind := overload.parameters[0].kind) in ("list", "map"):
                container = node.arguments[0]
                within = self.entries_of(container)
                size = within.value if within else None
                self.paths[node.id] = self.path(container).then(ITEMS if kind == "list" else VALUES)
            if size is None:
                size = self.size(node)
        return cost or NOTHING, size

    def list(self, node: ListLiteral) -> Range:
        """Return the cost of a list; the sizes of its elements are kept."""
        cost, sizes = NOTHING, []
        for element in node.elements:
            cost += self.cost(element)
            sizes.append(self.size_or_any(element))
        self.entries[node.id] = Entries("list", ONE, _union(sizes))
        return cost + LIST

    def map(self, node: MapLiteral) -> Range:
        """Return the cost of a map; the sizes of its keys and values are kept."""
        cost, keys, values = NOTHING, [], []
        for entry in node.entries:
            cost += self.cost(entry.key) + self.cost(entry.value)
            keys.append(self.size_or_any(entry.key))
            values.append(self.size_or_any(entry.value))
        self.entries[node.id] = Entries("map", _union(keys), _union(values))
        return cost + MAP

    def bind(self, node: Bind) -> Range:
        """Return the cost of a local name: an empty list that the macro makes, its value, and the body."""
        cost = LIST + self.cost(node.value)
        self.push(node.variable, Local(self.path(node.value), self.size(node.value), self.entries_of(node.value)))
        cost += self.cost(node.body)
        self.pop(node.variable)
        self.copy(node, node.body)
        return cost

    def push(self, name: str, local: Local) -> None:
        """Begin the scope of a local name."""
        self.locals[name].append(local)

    def pop(self, name: str) -> None:
        """End the scope of a local name."""
        self.locals[name].pop()

    def local(self, name: str) -> Local | None:
        """Return the path and size of a local name, None for a name that is not local."""
        found = self.locals.get(name)
        return found[-1] if found else None

    def iterated(self, source: Node, *, step: str, key: bool) -> Local:
        """Return the path and size of a macro's variable: of the keys or values that it iterates over."""
        within = self.entries_of(source)
        size = None if within is None else within.key if key else within.value
        return Local(self.path(source).then(step), size, None)

    def container(self, source: Node) -> str:
        """Return whether a macro goes through a list or something else."""
        within = self.entries_of(source)
        return within.kind if within else self.type(source).kind

    def type(self, node: Node) -> Type:
        """Return the type of a part."""
        return self.checked.types.get(node.id, DYN)

    def path(self, node: Node) -> Path:
        """Return where a part comes from."""
        if isinstance(node, Ident) and (local := self.local(node.name)) is not None:
            return local.path
        return self.paths.get(node.id, NOWHERE)

    def part(self, node: Node) -> Part:
        """Return the path, type, node and size of an argument."""
        return Part(self.path(node), self.type(node), node, self.size(node))

    def copy(self, to: Node, source: Node) -> None:
        """Give a part the sizes of another."""
        size, entries = self.size(source), self.entries_of(source)
        if size is not None:
            self.sizes[to.id] = size
        if entries is not None:
            self.entries[to.id] = entries

    def size(self, node: Node) -> Range | None:
        """Return the size of a part's value, None where nothing is known."""
        if node.id in self.sizes:
            return self.sizes[node.id]
        written = _written(node)
        if written is not None:
            return exactly(written)
        found = self.size_at(self.path(node))
        if found is not None:
            self.sizes[node.id] = found
            return found
        if is_scalar(self.type(node)):
            return ONE
        local = self.local(node.name) if isinstance(node, Ident) else None
        return None if local is None else local.size

    def size_or_any(self, node: Node) -> Range:
        """Return the size of a part's value, or that it may have any."""
        found = self.size(node)
        return ANY if found is None else found

    def size_at(self, path: Path) -> Range | None:
        """Return the size of what the schema has at a path; the first name is a variable, whichever it is."""
        if not len(path):
            return None
        _, *names = path
        at: Shape | None = self.shape
        for name in names:
            if at is None:
                return None
            at = at.element if name in (ITEMS, VALUES) else at.key if name == KEYS else at.fields.get(name)
        return None if at is None else Range(0, at.most)

    def entries_of(self, node: Node) -> Entries | None:
        """Return the sizes of the elements of a part's value."""
        if node.id in self.entries:
            return self.entries[node.id]
        local = self.local(node.name) if isinstance(node, Ident) else None
        return None if local is None else local.entries


def is_scalar(given: Type) -> bool:
    """Whether all values of a type have one size."""
    return given.kind in _SCALARS or (is_optional(given) and is_scalar(given.element))


def _union(sizes: list[Range]) -> Range:
    found = NOTHING if not sizes else sizes[0]
    for size in sizes[1:]:
        found |= size
    return found


def _written(node: Node) -> int | None:
    """Return the size of what the expression itself spells out."""
    if isinstance(node, Constant):
        return len(node.value) if isinstance(node.value, str | bytes) else 1
    if isinstance(node, ListLiteral):
        return len(node.elements)
    return len(node.entries) if isinstance(node, MapLiteral) else None


_COSTS: dict[type[Node], Callable[[Estimator, Any], Range]] = {
    Constant: Estimator.constant,
    Ident: Estimator.ident,
    Select: Estimator.select,
    Call: Estimator.call,
    ListLiteral: Estimator.list,
    MapLiteral: Estimator.map,
    Bind: Estimator.bind,
    Fold: cost_fold,
}
