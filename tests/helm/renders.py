"""What Helm makes of cases: recorded answers, which are asked afresh where TRAINYARD_HELM_ORACLE names its program."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
VARIABLE = "TRAINYARD_HELM_ORACLE"
Case = dict[str, Any]


def ask(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Return the answers of Helm's program, in the order of the cases."""
    program = os.environ.get("TRAINYARD_HELM_ORACLE")
    if program is None:
        pytest.skip(f"{VARIABLE} names no program that answers for Helm")
    lines = "\n".join(json.dumps(case) for case in cases)
    said = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in said.splitlines()]


def recorded(name: str) -> list[tuple[Case, dict[str, Any]]]:
    """Return the recorded cases of a file, each with its answer."""
    lines = gzip.decompress((HERE / name).read_bytes()).splitlines()
    return [(line["case"], line["answer"]) for line in map(json.loads, lines)]


def record(name: str, pairs: Sequence[tuple[Case, dict[str, Any]]]) -> None:
    """Write cases with their answers."""
    lines = [json.dumps({"case": case, "answer": answer}) for case, answer in pairs]
    (HERE / name).write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


def leaves(value: Any, *path: str) -> dict[tuple[str, ...], Any]:
    """Return what is not empty in an object, by path; lists are leaves."""
    if isinstance(value, dict):
        inner = [leaves(entry, *path, str(key)) for key, entry in value.items()]
        return {key: entry for found in inner for key, entry in found.items()}
    return {} if value in (None, "", []) else {path: value}
