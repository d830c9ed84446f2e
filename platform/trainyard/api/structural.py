"""Judges an object by the schema of its kind, as the API server's decoding and structural validation do.

The value is one to which `defaults.apply` has been applied. Where create and server-side apply differ, what either
refuses is refused, and the message says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from trainyard.api.problems import Problem
from trainyard.api.served import Kind
from trainyard.api.shelf import numbers
from trainyard.api.structure import custom, typed
from trainyard.api.structure.walk import Check

RANGED = (1, 36)
"""Kubernetes release from which a CRD's int32 and int64 are checked (kube-openapi 43fb72c5454a)."""


def check(value: Any, kind: Kind, *, kubernetes: str) -> Iterator[Problem]:
    """Yield what the server refuses in an object before any rule of its own: fields, types, values, lists."""
    for fault in compiled(kind, ranged=numbers(kubernetes)[:2] >= RANGED)(value) or ():
        yield fault.problem()


@lru_cache(maxsize=1024)
def compiled(kind: Kind, *, ranged: bool) -> Check:
    """Compile a kind's schema; fields are compiled when an object first has them."""
    if kind.typed:
        return typed.Compiler().root(kind.schema, drops_status=kind.status)
    return custom.Compiler(ranged=ranged).root(kind.schema, drops_status=kind.status)
