"""The kubelets' own programs by minor of Kubernetes, where they are at hand, and how they are asked."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any

import pytest

from trainyard.upstream.kubelet.releases import MEASURED, RELEASE, minor_of


def variable(minor: str) -> str:
    """The variable that names the program of a minor."""
    return "TRAINYARD_KUBELET_ORACLE" if minor == RELEASE else f"TRAINYARD_KUBELET_{MEASURED[minor].replace('.', '_')}"


def program(minor: str) -> str:
    """The program of a minor; skips the test where there is none."""
    if not (found := os.environ.get(variable(minor))):
        if minor == RELEASE:
            pytest.skip("TRAINYARD_KUBELET_ORACLE names no program that answers for the kubelet")
        pytest.skip(
            f"kubelet {MEASURED[minor]} by its own code: set {variable(minor)} to a program that answers for it"
        )
    return found


def asked(cases: Sequence[dict[str, Any]], *, repeat: int = 1) -> list[dict[str, Any]]:
    """The answers to cases, each by the program of its minor; what is asked several times may be `unstable`."""
    answers: dict[int, dict[str, Any]] = {}
    for minor in sorted({minor_of(case.get("kubernetes", RELEASE)) for case in cases}):
        numbers = [index for index, case in enumerate(cases) if minor_of(case.get("kubernetes", RELEASE)) == minor]
        plain = [{key: value for key, value in cases[index].items() if key != "kubernetes"} for index in numbers]
        lines = "\n".join(map(json.dumps, plain))
        asking = [program(minor), *(["-repeat", str(repeat)] if repeat > 1 else [])]
        said = subprocess.run(asking, input=lines, capture_output=True, text=True, check=True).stdout
        answers |= zip(numbers, map(json.loads, said.splitlines()), strict=True)
    return [answers[index] for index in range(len(cases))]
