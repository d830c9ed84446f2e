"""Health scripts, run by Argo CD itself on every state that the tests know.

Needs TRAINYARD_ARGOCD_PROGRAM, the program `argocd`; `make agreement A=argocd` names the one that it builds.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from argocd_site import RELEASE
from oracles import paths
from parts.test_health_of_kinds import RECORDED, SAID, SCRIPTS, STATES
from trainyard.base.documents import dump
from trainyard.render.clusters.settings import data

pytestmark = pytest.mark.argocd


def program() -> str:
    """Return the path of the program, or skip loudly."""
    if named := os.environ.get("TRAINYARD_ARGOCD_PROGRAM"):
        return named
    if not os.environ.get("TRAINYARD_ARGOCD"):
        pytest.skip("health as Argo CD tells it: set TRAINYARD_ARGOCD_PROGRAM")
    return str(paths.BIN / f"argocd-{RELEASE}")


def objects() -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every object of a known state with what Argo CD must say of it."""
    for kind, states in STATES.items():
        group, _, name = kind.partition("/")
        for state in states:
            head = {"apiVersion": f"{group}/v1", "kind": name, "metadata": {"name": "x"}}
            yield head | {"status": state.get("status", {})}, f"{state['is']}: {state['says']}"
    for name, said in SAID.items():
        if name.replace("_", "/").rpartition(".")[0] in SCRIPTS:
            yield json.loads((RECORDED / f"{name}.json").read_bytes()), said


def ask(argocd: str, settings: Path, file: Path) -> str:
    """Return what Argo CD says of the object in a file."""
    line = [argocd, "admin", "settings", "resource-overrides", "health", str(file), "--argocd-cm-path", str(settings)]
    environment = {**os.environ, "ARGOCD_BINARY_NAME": "argocd"}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
    said = dict(words.partition(": ")[::2] for words in done.stdout.splitlines() if ": " in words)
    return f"{said['STATUS']}: {said.get('MESSAGE', '')}".rstrip(": ")


def test_argo_cd_says_the_same(tmp_path: Path) -> None:
    """Its own Lua has fewer functions than others, and its own code may come before a script."""
    argocd, settings = program(), tmp_path / "argocd-cm.yaml"
    labels = {"app.kubernetes.io/part-of": "argocd"}
    head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm", "labels": labels}}
    settings.write_text(dump(head | {"data": data()}))
    asked = list(objects())
    files = [tmp_path / f"{number}.yaml" for number in range(len(asked))]
    for file, (value, _) in zip(files, asked, strict=True):
        file.write_text(json.dumps(value))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda file: ask(argocd, settings, file), files))
    expected = [said for _, said in asked]
    differ = [
        (value["kind"], said, right)
        for (value, _), said, right in zip(asked, found, expected, strict=True)
        if said != right
    ]
    assert len(asked) > 200
    assert differ == []
