"""Whether the objects of a run are what its team's runs may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.manifests import identity_of
from trainyard.render.tenancy.allowance import Allowance
from trainyard.render.tenancy.objects import shape
from trainyard.render.tenancy.shapes import About, Breach


def breaches(value: Mapping[str, Any], allowance: Allowance, *, run: str) -> Iterator[Breach]:
    """Yield the breaches of an object: fields and values that a run of that name may not have."""
    identity = identity_of(value)
    known = shape(identity.group, identity.kind)
    if known is None or f"{identity.group}/{identity.kind}" not in allowance.kinds:
        kind = identity.kind[:63] or "such an object"
        message = f"runs on this cluster may not contain {kind}; move it to platform/extra"
        yield Breach("object", ("kind",), message)
        return
    yield from known.breaches(value, (), "object", About(allowance, identity.name, run))
