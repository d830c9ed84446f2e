"""The functions that expressions may call: CEL's own, and what each release of Kubernetes adds.

Source: kubernetes/apiserver v0.35.4 pkg/cel/environment/base.go; mutating policies' JSON patch is left out.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from trainyard.upstream.apiserver.cel.functions import Functions, Overload, by_name

LIBRARIES = (
    "operators.FUNCTIONS",
    "arithmetic.FUNCTIONS",
    "operators.CROSS_TYPE",
    "operators.OPTIONALS",
    "standard.FUNCTIONS",
    "times.FUNCTIONS",
    "urls.FUNCTIONS",
    "regex.FUNCTIONS",
    "lists.FUNCTIONS",
    "authorizer.FUNCTIONS",
    "optionals.FUNCTIONS",
    "quantity.FUNCTIONS",
    "strings.FUNCTIONS",
    "sets.FUNCTIONS",
    "network.FUNCTIONS",
    "formats.FUNCTIONS",
    "authorizer.SELECTORS",
    "semver.FUNCTIONS",
    "lists.SLICES",
)
"""Modules of this package and the libraries in them, in the order in which their forms are tried."""


@lru_cache(maxsize=8)
def functions(minor: int) -> dict[str, tuple[Overload, ...]]:
    """Return the functions of a minor release of Kubernetes, by name."""
    return by_name(map(library, LIBRARIES), minor)


@lru_cache(maxsize=64)
def library(name: str) -> Functions:
    """Return a library by its name in `LIBRARIES`, importing its module."""
    module, _, attribute = name.partition(".")
    found: Functions = getattr(import_module(f"{__name__}.{module}"), attribute)
    return found


def find(reference: str) -> Overload:
    """Return the form of a function that a reference names; raises ValueError where there is none."""
    name, _, place = reference.partition(" ")
    if name not in LIBRARIES or not 0 <= int(place) < len(library(name).defined):
        raise ValueError(f"{reference!r} names no function")
    return library(name).overload(int(place))


def reference(overload: Overload) -> str:
    """Return the name of a form of a function: its library and its place in it."""
    return _references()[id(overload)]


@lru_cache(maxsize=1)
def _references() -> dict[int, str]:
    return {
        id(overload): f"{name} {place}" for name in LIBRARIES for place, overload in enumerate(library(name).overloads)
    }
