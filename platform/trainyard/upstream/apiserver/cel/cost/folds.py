"""What macros over lists and maps cost: as many rounds as there may be elements, and what a round does beside its body.

Source: google/cel-go v0.26.0 checker/cost.go costComprehension, parser/macro.go, ext/comprehensions.go, ext/lists.go.
"""

from __future__ import annotations

from trainyard.upstream.apiserver.cel.cost.parts import Entries, Known, Local
from trainyard.upstream.apiserver.cel.cost.paths import ITEMS, KEYS, PLACES, VALUES
from trainyard.upstream.apiserver.cel.cost.ranges import Range, exactly
from trainyard.upstream.apiserver.cel.syntax import Fold, FoldKind
from trainyard.upstream.apiserver.cel.types import Type

_START: dict[FoldKind, int] = {"list": 10, "sort": 10, "map": 30, "entries": 30}
"""What it costs to make the empty list or map that a macro fills; a bool or number is free."""
_LOOP: dict[FoldKind, int] = {"all": 2, "exists": 3}
"""What it costs to ask whether to go on."""
_RESULT: dict[FoldKind, int] = {"existsOne": 2}
_ADDED: dict[FoldKind, int] = {"list": 12, "sort": 12, "map": 3, "entries": 2}
"""What it costs to add one element, beside making it."""
_TEXTS = frozenset({"string", "bytes"})
_EMPTY = exactly(0)


def cost_fold(known: Known, node: Fold) -> Range:
    """Return the cost of a macro, and remember how large its result may be."""
    if node.kind == "sort":
        return _sort(known, node)
    cost = known.cost(node.source) + exactly(_START.get(node.kind, 0))
    names = _enter(known, node)
    found = _step(known, node) + exactly(_LOOP.get(node.kind, 0))
    within = known.size_or_any(node.body) if node.kind == "list" else None
    for name in names:
        known.pop(name)
    cost += exactly(_RESULT.get(node.kind, 1))
    rounds = known.size_or_any(node.source)
    known.sizes[node.id] = rounds if node.kind in _START else exactly(1)
    if within is not None:
        known.entries[node.id] = Entries("list", exactly(1), _EMPTY | within)
    return cost + rounds * found


def _enter(known: Known, node: Fold) -> tuple[str, ...]:
    """Begin the scope of the variables."""
    is_list = known.container(node.source) == "list"
    if len(node.variables) == 2:
        first, second = node.variables
        known.push(first, known.iterated(node.source, step=PLACES if is_list else KEYS, key=True))
        known.push(second, known.iterated(node.source, step=ITEMS if is_list else VALUES, key=False))
    else:
        known.push(node.variables[0], known.iterated(node.source, step=ITEMS if is_list else KEYS, key=not is_list))
    return node.variables


def _step(known: Known, node: Fold) -> Range:
    """Return the cost of one round, without the test whether to go on."""
    condition = None if node.condition is None else known.cost(node.condition)
    body = known.cost(node.body)
    if node.kind in ("all", "exists"):
        return Range(1, (body + exactly(1)).most)
    if node.kind == "existsOne":
        return body + Range(1, 2)
    added = body + exactly(_ADDED[node.kind])
    return added if condition is None else condition + (added | exactly(1))


def _sort(known: Known, node: Fold) -> Range:
    """Return the cost of `sortBy`: a list of keys, and comparing all of them with one another.

    The server binds the list to a name of its own, and takes the square of its length for the length of the result.
    """
    cost = exactly(10) + known.cost(node.source)
    path, within = known.path(node.source), known.entries_of(node.source)
    rounds = known.size_or_any(node.source)
    is_list = known.container(node.source) == "list"
    size = None if within is None else within.value if is_list else within.key
    known.push(node.variables[0], Local(path.then(ITEMS if is_list else KEYS), size, None))
    body = known.cost(node.body)
    key = known.type(node.body)
    known.pop(node.variables[0])
    keys = exactly(1) + exactly(_START["sort"]) + exactly(1) + rounds * (body + exactly(_ADDED["sort"]))
    square = rounds * rounds
    known.sizes[node.id] = square
    return cost + exactly(1) + keys + sort_cost(square, key)


def sort_cost(square: Range, key: Type) -> Range:
    """Return the cost of comparing keys, texts and bytes a tenth more."""
    widest = key.kind in _TEXTS or key.kind == "dyn"
    least, most = square.scaled(2.1 if key.kind in _TEXTS else 2.0), square.scaled(2.1 if widest else 2.0)
    return Range(least.least, most.most) + exactly(11)
