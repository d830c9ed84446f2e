"""Taints of nodes, and what pods tolerate (k8s.io/api v0.35 core/v1/toleration.go)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

HARD = ("NoSchedule", "NoExecute")
"""Effects of taints that keep pods away."""


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node, or of all nodes of a flavor."""

    key: str
    value: str = ""
    effect: str = ""

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration as it is written; what is not said is empty."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""

    @staticmethod
    def read(value: Mapping[str, Any]) -> Toleration:
        """Return a toleration as it stands in an object."""
        return Toleration(*(str(value.get(field) or "") for field in ("key", "operator", "value", "effect")))

    def tolerates(self, taint: Taint) -> bool:
        """Say whether the taint does no harm (k8s.io/api v0.35 core/v1/toleration.go)."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator in ("", "Equal"):
            return self.value == taint.value
        if self.operator in ("Lt", "Gt"):
            return self._compares(taint.value)
        return self.operator == "Exists"

    def _compares(self, value: str) -> bool:
        if not (_whole(self.value) and _whole(value)):
            return False
        return int(value) < int(self.value) if self.operator == "Lt" else int(value) > int(self.value)


def untolerated_taint(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> Taint | None:
    """Return the first taint that keeps pods with these tolerations away, None where none does."""
    every = tuple(tolerations)
    hard = (taint for taint in taints if taint.effect in HARD)
    return next((taint for taint in hard if not any(toleration.tolerates(taint) for toleration in every)), None)


def _whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and (digits == "0" or digits[0] != "0")
