"""The level that a namespace enforces, and the version of the rules that it asks for.

Source: k8s.io/pod-security-admission v0.35.4 api/helpers.go PolicyToEvaluate, policy/registry.go EvaluatePod.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trainyard.upstream.apiserver.admission.podsecurity import LABEL
from trainyard.upstream.apiserver.core.shapes import Object, inner

BASELINE, RESTRICTED = "baseline", "restricted"
_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)")


class Level(NamedTuple):
    """A level other than privileged, with the minor release whose rules count; None is the newest."""

    name: str
    minor: int | None = None

    def __str__(self) -> str:
        return f"{self.name}:{'latest' if self.minor is None else f'v1.{self.minor}'}"

    def rules(self, kubernetes: int) -> int:
        """Return the minor release whose rules a cluster of some minor release applies: at most its own."""
        return kubernetes if self.minor is None else min(self.minor, kubernetes)


def enforced_level(namespace: Object) -> Level | None:
    """Return the level that a Namespace enforces; None for privileged, and for labels that cannot be created."""
    labels = inner(namespace, "metadata", "labels")
    level, version = labels.get(LABEL), labels.get(f"{LABEL}-version", "latest")
    if level not in (BASELINE, RESTRICTED) or not isinstance(version, str):
        return None
    match = _VERSION.fullmatch(version)
    if match is None and version != "latest":
        return None
    return Level(level, None if match is None else int(match[1]))
