"""Whether the objects of a run are what its team's runs may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.manifests import identity_of
from trainyard.tenancy.allowance import Allowance
from trainyard.tenancy.objects import shape
from trainyard.tenancy.shapes import About, Breach


def breaches(value: Mapping[str, Any], allowance: Allowance, *, run: str) -> Iterator[Breach]:
    """Yield what of one object is not what a run of that name may be."""
    identity = identity_of(value)
    known = shape(identity.group, identity.kind)
    if known is None or f"{identity.group}/{identity.kind}" not in allowance.kinds:
        message = f"{identity.kind[:63] or 'an object'} is no kind that runs on the cluster are made of; move it out"
        yield Breach("object", ("kind",), message)
        return
    yield from known.breaches(value, (), "object", About(allowance, identity.name, run))
