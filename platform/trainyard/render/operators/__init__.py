"""Cluster software: facts in `releases/`, and a module here, or an entry point, where there is more to say."""

from __future__ import annotations

import sys
from functools import cache

from trainyard.base.system.registry import registered_modules
from trainyard.render.operators.base import Conflict, Operator, Plain, Site
from trainyard.render.operators.storage_driver import StorageDriver
from trainyard.specs.releases import releases

__all__ = ["Conflict", "Operator", "Site", "operators"]


@cache
def operators() -> dict[str, Operator]:
    """Return every operator that can be installed, by name.

    A module's `OPERATOR`, or an entry point of the group `trainyard.operators`, says what an operator renders. Without
    one, the facts are enough where they name a chart or manifests.
    """
    plain = {
        name: StorageDriver(name) if facts.provisions else Plain(name)
        for name, facts in releases().items()
        if facts.installs_alone
    }
    written = registered_modules(sys.modules[__name__], "OPERATOR", Operator, group="trainyard.operators")
    return dict(sorted({**plain, **written}.items()))
