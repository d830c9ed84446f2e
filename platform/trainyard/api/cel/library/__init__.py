"""The functions that expressions may call: CEL's own, and what each release of Kubernetes adds.

Source: kubernetes/apiserver v0.35.4 pkg/cel/environment/base.go; mutating policies' JSON patch is left out.
"""

from __future__ import annotations

from functools import lru_cache

from trainyard.api.cel.functions import Overload, by_name
from trainyard.api.cel.library import (
    arithmetic,
    authorizer,
    formats,
    lists,
    network,
    operators,
    optionals,
    quantity,
    regex,
    semver,
    sets,
    standard,
    strings,
    times,
    urls,
)

LIBRARIES = (
    operators.FUNCTIONS,
    arithmetic.FUNCTIONS,
    operators.CROSS_TYPE,
    operators.OPTIONALS,
    standard.FUNCTIONS,
    times.FUNCTIONS,
    urls.FUNCTIONS,
    regex.FUNCTIONS,
    lists.FUNCTIONS,
    authorizer.FUNCTIONS,
    optionals.FUNCTIONS,
    quantity.FUNCTIONS,
    strings.FUNCTIONS,
    sets.FUNCTIONS,
    network.FUNCTIONS,
    formats.FUNCTIONS,
    authorizer.SELECTORS,
    semver.FUNCTIONS,
    lists.SLICES,
)


@lru_cache(maxsize=8)
def functions(minor: int) -> dict[str, tuple[Overload, ...]]:
    """Return the functions of a minor release of Kubernetes, by name."""
    return by_name(LIBRARIES, minor)
