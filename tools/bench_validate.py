"""Measures `trainyard validate`: start, documents a second and memory, beside other validators on the same file."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bench_manifests
from trainyard.base.errors import ToolError
from trainyard.base.system import kubeconform as program
from trainyard.base.system.data import schemas_dir
from trainyard.judge.checks import kubeconform
from trainyard.upstream.apiserver import catalog

ROOT = Path(__file__).resolve().parent.parent
OBJECTS = 650
OLDER = "1.30"
"""Release of Kubernetes whose core types kubectl-validate brings; it needs a server for later ones."""

TREE = 6500


@dataclass(frozen=True)
class Cost:
    """What a process and its children took: seconds on the clock and of processor; MiB at the peak of the largest."""

    wall: float
    cpu: float
    memory: float


def main() -> None:
    """Generate the files, measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="the best of so many")
    parser.add_argument("--tree", action="store_true", help="also a tree of 50 MB, with a process for each core")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        for line in table(Path(scratch), runs=options.runs, tree=options.tree):
            print(line, flush=True)


def table(folder: Path, *, runs: int, tree: bool) -> Iterator[str]:
    """Yield the lines of the table."""
    one, many = folder / "one.yaml", folder / "many.yaml"
    bench_manifests.write_file(one, objects=1)
    bench_manifests.write_file(many, objects=OBJECTS)
    size = many.stat().st_size / 1e6
    yield f"{size:.1f} MB, {OBJECTS} documents; best of {runs}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    yield ""
    yield "| what | wall s | CPU s | documents/s after start, of the clock | of CPU | peak MiB |"
    yield "|---|---|---|---|---|---|"
    for name, command in validators(folder):
        start = best([*command, str(one)], folder, runs)
        yield row(f"{name}, one small file", start)
        whole = best([*command, str(many)], folder, runs)
        yield row(name, whole, after=start, documents=OBJECTS)
    if tree:
        bench_manifests.write_tree(folder / "tree", objects=TREE)
        cost = best([*ours(), str(folder / "tree")], folder, runs=1)
        yield row(f"trainyard, a tree of {TREE} documents", cost, documents=TREE)
        together = folder / "together.yaml"
        together.write_bytes(b"---\n".join(path.read_bytes() for path in sorted((folder / "tree").rglob("*.yaml"))))
        cost = best([*ours(), str(together)], folder, runs=1)
        yield row("trainyard, the same in one file", cost, documents=TREE)


def row(name: str, cost: Cost, *, after: Cost | None = None, documents: int = 0) -> str:
    """Return one line of the table; rates are over what a command takes after its start, or in all."""
    wall, cpu = (cost.wall - after.wall, cost.cpu - after.cpu) if after else (cost.wall, cost.cpu)
    rates = [f"{documents / max(seconds, 1e-3):.0f}" if documents else "" for seconds in (wall, cpu)]
    return f"| {name} | {cost.wall:.2f} | {cost.cpu:.2f} | {rates[0]} | {rates[1]} | {cost.memory:.0f} |"


def validators(folder: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the commands to compare, on the same schemas where they can read them."""
    yield "trainyard", ours()
    try:
        binary = program.find(ROOT)
    except ToolError as error:
        print(f"left out: {error}", file=sys.stderr)
    else:
        known, _ = catalog.load(schemas_dir(ROOT))
        places = kubeconform.locations(known, folder / "schemas")
        yield (
            "kubeconform",
            [str(binary), "-strict", *(word for place in places for word in ("-schema-location", place))],
        )
    if other := shutil.which("kubectl-validate"):
        write_crds(folder / "crds")
        yield "kubectl-validate", [other, "--version", OLDER, "--local-crds", str(folder / "crds")]


def write_crds(folder: Path) -> None:
    """Write CRDs of the custom resources in the file, for a validator that reads nothing else; closed as a CRD is."""
    folder.mkdir()
    known, _ = catalog.load(schemas_dir(ROOT))
    for kind in known.served():
        if not kind.typed and kind.kind in bench_manifests.CUSTOM and kind.storage:
            properties = {**kind.schema["properties"], "metadata": {"type": "object"}}
            schema = structural({**kind.schema, "properties": properties})
            version = {"name": kind.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
            names = {"kind": kind.kind, "plural": kind.plural, "singular": kind.kind.lower()}
            spec = {"group": kind.group, "scope": kind.scope, "names": names, "versions": [version]}
            crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
            crd["metadata"] = {"name": f"{kind.plural}.{kind.group}"}
            (folder / f"{kind.plural}.{kind.group}.yaml").write_text(json.dumps(crd), encoding="utf-8")


def structural(node: Any) -> Any:
    """Return a schema as a CRD has it: open where a CRD prunes, and without what we note in it."""
    if isinstance(node, list):
        return [structural(element) for element in node]
    if not isinstance(node, dict):
        return node
    return {
        key: structural(entry)
        for key, entry in node.items()
        if entry is not False and key != "$schema" and not key.startswith("x-trainyard")
    }


def ours() -> Sequence[str]:
    """Return our own command."""
    return [sys.executable, "-m", "trainyard", "validate"]


def best(command: Sequence[str], folder: Path, runs: int) -> Cost:
    """Run a command once to warm what it keeps, then so many times, and return the least of each cost."""
    settings = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    settings |= {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "XDG_CACHE_HOME": str(folder / "cache")}
    settings["KUBECONFIG"] = os.devnull
    found = [measure(command, folder, settings) for _ in range(runs + 1)][1:]
    return Cost(*(min(getattr(cost, name) for cost in found) for name in ("wall", "cpu", "memory")))


def measure(command: Sequence[str], folder: Path, settings: dict[str, str]) -> Cost:
    """Run a command and return what it took."""
    started = time.perf_counter()
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=folder, env=settings)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command[0]} failed: {(folder / 'out').read_text(errors='replace')[-2000:]}")
    return Cost(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
