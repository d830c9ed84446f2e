"""What calls cost: operators here, functions by name. What is not named costs 1 beside its arguments.

Source: google/cel-go v0.26.0 checker/cost.go functionCost; k8s.io/apiserver v0.35.4 pkg/cel/library/cost.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.upstream.apiserver.cel.cost import lists, texts
from trainyard.upstream.apiserver.cel.cost.called import ONE, READ, Called, Cost, Found, always, read_cost, size_of
from trainyard.upstream.apiserver.cel.cost.parts import Part
from trainyard.upstream.apiserver.cel.cost.ranges import Range, exactly
from trainyard.upstream.apiserver.cel.functions import Overload

AUTHORIZED = 350_000
"""The cost of asking what somebody may do."""
_FORMAT_SIZE = 64


def cost_call(called: Called, overload: Overload) -> Found:
    """Return cost and size of a call in one of its forms, its arguments with it."""
    if called.function in ("_&&_", "_||_"):
        left, right = called.costs
        return Range(left.least, (left + right).most), None
    if called.function == "_?_:_":
        return conditional(called)
    function = _FUNCTIONS.get(called.function)
    cost, size = (ONE, None) if function is None else function(called, overload) or (ONE, None)
    for one_range in called.costs:
        cost += one_range
    return cost, size


def conditional(called: Called) -> Found:
    """Return the cost of the condition and the dearer branch."""
    condition, then, otherwise = called.costs
    _, one, two = called.parts
    called.keep_either(one, two)
    return condition + (then | otherwise), size_of(one) | size_of(two)


def equal(called: Called, _: Overload) -> Found:
    """Cost equality: the smaller of the two, and 1 of most of what libraries have."""
    one, two = called.parts
    if called.function == "_==_" and one.type == two.type and (fixed := _EQUAL.get(one.type.name)):
        return (fixed, None) if one.type.name != "kubernetes.URL" else (_equal_urls(two), None)
    return smaller(one, two), None


def _equal_urls(part: Part) -> Range:
    """Return the cost of comparing URLs; the server looks at the second alone."""
    return Range(1, ONE.most if part.size is None else part.size.most).scaled(READ)


def compare(called: Called, overload: Overload) -> Found | None:
    """Cost the order of texts and bytes; that of all else is 1."""
    if overload.parameters[0].kind not in ("string", "bytes"):
        return None
    return smaller(*called.parts), None


def smaller(one: Part, two: Part) -> Range:
    """Return the cost of comparing two values."""
    most = min(size_of(one).most, size_of(two).most)
    return Range(1 if most else 0, most).scaled(READ)


def within(called: Called, overload: Overload) -> Found | None:
    """Cost `in` a list: all of its elements."""
    return (size_of(called.parts[1]), None) if overload.parameters[1].kind == "list" else None


def add(called: Called, overload: Overload) -> Found | None:
    """Cost joining two lists or texts."""
    kind = overload.parameters[0].kind
    if kind not in ("list", "string", "bytes"):
        return None
    one, two = called.parts
    size = size_of(one) + size_of(two)
    called.keep_either(one, two)
    return (ONE if kind == "list" else size.scaled(READ)), size


_EQUAL: Mapping[str, Range] = {
    **dict.fromkeys(("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver", "kubernetes.URL"), ONE),
    **{
        f"kubernetes.authorization.{name}": ONE
        for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
    },
    "kubernetes.NamedFormat": Range(1, _FORMAT_SIZE).scaled(READ),
}
_TRIVIAL = (
    "serviceAccount path group resource subresource namespace name allowed reason error errored "
    "masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast "
    "sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch "
    "getScheme getHostname getHost getPort getEscapedPath getQuery format.named"
)
_FUNCTIONS: Mapping[str, Cost] = {
    **dict.fromkeys(_TRIVIAL.split(), always(ONE)),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), compare),
    **dict.fromkeys(("_==_", "_!=_"), equal),
    **dict.fromkeys(("startsWith", "endsWith"), texts.over_argument),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), lists.scan),
    **dict.fromkeys(
        ("url", "jsonpatch.escapeKey", "lowerAscii", "upperAscii", "substring", "trim"), read_cost(READ, sized=True)
    ),
    **dict.fromkeys(
        ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver", "format"), read_cost(READ)
    ),
    **dict.fromkeys(("find", "findAll"), texts.find),
    **dict.fromkeys(("fieldSelector", "labelSelector"), texts.selector),
    "@in": within,
    "_+_": add,
    "bytes": texts.to_bytes,
    "check": always(exactly(AUTHORIZED)),
    "contains": texts.contains,
    "containsCIDR": texts.holds(ranges=True),
    "containsIP": texts.holds(ranges=False),
    "distinct": lists.distinct,
    "flatten": lists.flatten,
    "ip": texts.address,
    "ip.isCanonical": read_cost(2 * READ),
    "join": texts.join,
    "lists.range": lists.numbers,
    "matches": texts.matches,
    "replace": texts.replace,
    "reverse": lists.reverse,
    "sets.contains": lists.sets(1),
    "sets.equivalent": lists.sets(2),
    "sets.intersects": lists.sets(1),
    "slice": lists.slices,
    "sort": lists.sort,
    "split": texts.split,
    "string": texts.to_text,
    "strings.quote": texts.quote,
    "validate": texts.format_check,
}
