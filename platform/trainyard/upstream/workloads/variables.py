"""Environment variables that a kind's operator sets in the pods that it makes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Variables:
    """What an operator sets in the environment of pods."""

    every: frozenset[str] = frozenset()
    """In pods of every role, those apart that differ."""
    by_role: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """In pods of roles that differ, by the name of the pod set."""
    others: str = ""
    """Expression of names that it sets where the object asks for it, as a plugin, a framework or an elastic job."""

    bound: frozenset[str] = frozenset()
    """Those of them that it sets only where the object has the field `bound_to`."""
    bound_to: tuple[str, ...] = ()

    index: str = ""
    """The one of these that numbers the pods of a pod set, from 0."""

    def of(self, role: str) -> frozenset[str]:
        """Return the variables of a role's pods."""
        return self.by_role.get(role, self.every)

    def may_be(self, name: str) -> bool:
        """Whether the operator may set a variable in some pod."""
        known = self.every.union(*self.by_role.values())
        return name in known or re.fullmatch(self.others, name) is not None
