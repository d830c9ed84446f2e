"""What other engines say of the same cases, so that the table has somebody to compare with."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from apiserver.agreement.verdicts import Case, Ours
from trainyard.base.system import kubeconform as program
from trainyard.base.system import process
from trainyard.faces.live.server import Server
from trainyard.judge.checks import kubeconform
from trainyard.upstream.apiserver import Catalog

SHOWN = 600
"""Characters of an engine's words that are kept."""

BATCH = 500
"""Cases that one process of kubectl-validate judges; reading the CRDs takes it seconds, and a panic ends it."""

SECONDS = 900
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def kubeconform_verdicts(cases: Sequence[Case], known: Catalog, root: Path) -> list[Ours]:
    """Return kubeconform's verdict on each case: strict, on the schemas that we use."""
    with tempfile.TemporaryDirectory(prefix="kubeconform-") as scratch:
        places = kubeconform.locations(known, Path(scratch) / "schemas")
        engine = kubeconform.Engine(program.find(root), places, Path(scratch) / "files")
        found = engine.run({index: case.source for index, case in enumerate(cases)})
    return [told([item["msg"] for item in found[index]]) for index in range(len(cases))]


def told(complaints: Sequence[str]) -> Ours:
    """Return a verdict: what has no complaint is valid."""
    return Ours(not complaints, "schema" if complaints else "", "; ".join(complaints)[:SHOWN])


def kubectl_validate_verdicts(cases: Sequence[Case], server: Server, binary: str) -> list[Ours]:
    """Return kubectl-validate's verdict on each case, on the CRDs and the core types of the server that labels them."""
    with tempfile.TemporaryDirectory(prefix="kubectl-validate-") as scratch:
        folder = Path(scratch)
        write_types(server, folder)
        command = [binary, "--local-crds", str(folder / "crds"), "--local-schemas", str(folder / "types"), "-o", "json"]
        found: list[Ours] = []
        for start in range(0, len(cases), BATCH):
            found += judged(cases[start : start + BATCH], command, folder)
    return found


def write_types(server: Server, folder: Path) -> None:
    """Write what a server serves: each CRD as a file, and the OpenAPI of the groups of its own."""
    (folder / "crds").mkdir()
    _, listed = server.request("GET", CRDS)
    groups = set()
    for item in listed["items"]:
        groups.add(item["spec"]["group"])
        crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **item}
        crd["metadata"] = {"name": item["metadata"]["name"]}
        del crd["status"]
        (folder / "crds" / f"{item['metadata']['name']}.json").write_text(json.dumps(crd))
    _, paths = server.request("GET", "/openapi/v3")
    for name, entry in paths["paths"].items():
        group = name.split("/")[1:2]
        if name.count("/") == (2 if name.startswith("apis/") else 1) and not groups & set(group):
            address, _, query = entry["serverRelativeURL"].partition("?")
            _, types = server.request("GET", address, query=[tuple(part.split("=", 1)) for part in query.split("&")])
            target = folder / "types" / f"{name}.json"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(types))


def judged(cases: Sequence[Case], command: Sequence[str], folder: Path) -> list[Ours]:
    """Judge cases with one process; one that makes it panic is refused, and found by halving."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        for index, case in enumerate(cases):
            Path(scratch, f"{index}.yaml").write_bytes(case.source)
        env = process.environment(KUBECONFIG=os.devnull)
        done = process.run([*command, scratch], cwd=folder, env=env, timeout_seconds=SECONDS)
        try:
            statuses = json.loads(done.out)
        except ValueError:
            if len(cases) == 1:
                return [Ours(False, "schema", f"panics: {done.complaint}"[:SHOWN])]
            half = len(cases) // 2
            return judged(cases[:half], command, folder) + judged(cases[half:], command, folder)
        return [verdict(statuses.get(f"{scratch}/{index}.yaml")) for index in range(len(cases))]


def verdict(statuses: Sequence[dict[str, str]] | None) -> Ours:
    """Return the verdict on a file: every document has a status, and a file without any holds nothing."""
    failed = [status.get("message", "") for status in statuses or () if status.get("status") != "Success"]
    return told(failed if statuses else ["holds no object"])
