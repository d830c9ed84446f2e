"""The feature gates of a kubelet: which there are, what they are by default, and what a configuration makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from trainyard.upstream.kubelet.releases import RELEASE

FACTS = Path(__file__).with_name("gates.json")
"""All gates with their states by minor, and what they need: as `kubelet-oracle -gates` of each release prints them.

Those of logging are of cmd/kubelet (component-base logs/api/v1/kube_features.go, the same in all four minors).
"""


class Gate(NamedTuple):
    """A feature gate: its stage, whether it is on unless told otherwise, and whether it can be told otherwise."""

    stage: str
    default: bool
    locked: bool = False
    needs: tuple[str, ...] = ()
    """Gates without which it cannot be on."""


@cache
def gates_of(minor: str) -> Mapping[str, Gate]:
    """Return the gates of a kubelet of a minor by name."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    needs = facts["needs"]
    found = {}
    for name, states in facts["gates"].items():
        if minor in states:
            stage, default, *locked = states[minor].split()
            found[name] = Gate(stage, default == "on", bool(locked), tuple(needs.get(name, {}).get(minor, ())))
    return found


ALL = {"AllAlpha": "alpha", "AllBeta": "beta"}
"""Gates that stand for all others of a stage that are not named."""


class Gates:
    """The gates of a kubelet after its configuration has set some of them."""

    def __init__(self, told: Mapping[str, bool], minor: str = RELEASE) -> None:
        self.told = told
        self.minor = minor
        self.known = gates_of(minor)
        self.problems = tuple(self._wrong()) or tuple(self._lacking())

    def on(self, name: str) -> bool:
        """Whether a gate is on."""
        if name in self.told:
            return self.told[name]
        gate = self.known[name]
        for every, stage in ALL.items():
            if gate.stage == stage and every in self.told:
                return self.told[every]
        return gate.default

    def _wrong(self) -> Iterator[str]:
        """Yield the problems with gates one by one (component-base v0.35.4 featuregate/feature_gate.go)."""
        for name, value in sorted(self.told.items()):
            gate = self.known.get(name)
            if gate is None:
                yield f"unrecognized feature gate: {name}"
                return
            if gate.locked and gate.default != value:
                yield (f"cannot set feature gate {name} to {_text(value)}, feature is locked to {_text(gate.default)}")

    def _lacking(self) -> Iterator[str]:
        """Yield the gates that are on without one that they need; before 1.35 no gate needs another."""
        for name, gate in self.known.items():
            if gate.needs and self.on(name) and (off := [needed for needed in gate.needs if not self.on(needed)]):
                yield f"{name} is enabled, but depends on features that are disabled: [{' '.join(off)}]"


def _text(value: bool) -> str:
    return str(value).lower()
